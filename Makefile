# Everything a person needs here. Each target makes its own virtual environment: only python3 >= 3.11 and make must be there.
SHELL := /bin/bash
UV_VERSION := 0.13.9
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.synced
export PYTHONPATH := .dev:.
unexport GONOGO_DATA_DIR GONOGO_NATS_URL

.PHONY: help demo test check lint types imports simulate drill bench docs mutate sizes fmt clean

help:
	@echo "make demo      a real small training run through everything, a crash in the middle, the audit at the end"
	@echo "make test      the tests"
	@echo "make check     lint, types, import contracts, tests: what must be green before a commit"
	@echo "make simulate  10,000 histories under faults (SEED=n for one, N=n for how many)"
	@echo "make drill     real processes killed at every named point (N=launches)"
	@echo "make bench     figures as ratios, also in build/bench.json"
	@echo "make mutate    mutants of the deciders and folds"
	@echo "make docs      generate docs/events.md, schemas and docs/backends.md"
	@echo "make sizes     medians and largest files of each room"

$(STAMP): pyproject.toml uv.lock
	@python=$$(for p in python3.13 python3.12 python3.11 python3; do \
	    command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done); \
	if [ -z "$$python" ]; then echo "gonogo needs python3 >= 3.11: install it, then run make again" >&2; exit 1; fi; \
	test -x $(BIN)/python || $$python -m venv $(VENV) || \
	    { echo "$$python cannot make a virtual environment: install the package python3-venv, then run make again" >&2; rm -rf $(VENV); exit 1; }
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@cp $(BIN)/uv $(VENV)/uv && $(VENV)/uv sync --quiet --frozen --no-config --group bench --python $(BIN)/python
	@touch $@

demo: $(STAMP)
	@$(BIN)/gonogo demo

test: $(STAMP)
	@$(BIN)/python -m pytest -q

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/codespell events projections services tests docs README.md CONTRIBUTING.md

types: $(STAMP)
	@$(BIN)/mypy
	@$(BIN)/pyright --warnings

imports: $(STAMP)
	@$(BIN)/lint-imports

check: lint types imports test

simulate: $(STAMP)
	@$(BIN)/python -W error -m tests.simulation.run $(SEED)

drill: $(STAMP)
	@$(BIN)/python -m tests.drill.run

bench: $(STAMP)
	@$(BIN)/python -m tests.bench.run

mutate: $(STAMP)
	@$(BIN)/python -m tests.mutation.run

docs: $(STAMP)
	@$(BIN)/python -m tests.generate_docs

sizes: $(STAMP)
	@$(BIN)/python -m tests.sizes

fmt: $(STAMP)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix-only -q .

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache mutants
