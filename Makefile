# Everything a person needs here. Each target makes its own virtual environment: only python3 >= 3.11 and make must be there.
SHELL := /bin/bash
UV_VERSION := 0.13.9
VENV := .venv
BIN := $(VENV)/bin
UV := $(VENV)/tools/bin/uv
STAMP := $(VENV)/.synced
CA_BUNDLE := $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt)
# The machine's own certificates, where it has any: behind a company's proxy nothing else can be verified.
UV_CERTS := $(if $(CA_BUNDLE),--system-certs)
# A person's own settings must not steer the tests or the demo, nor another active environment the sync.
unexport UV_INDEX UV_DEFAULT_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS
unexport GONOGO_DATA_DIR GONOGO_NATS_URL VIRTUAL_ENV PYTHONHOME PYTHONPATH

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types imports simulate drill bench docs mutate sizes fmt lock clean

help:
	@echo "make demo      a real small training run through everything, a crash in the middle, the audit at the end"
	@echo "make test      the tests"
	@echo "make check     lint, types, import contracts, tests: what must be green before a commit"
	@echo "make simulate  10,000 histories under faults (SEED=n for one world, N=n for how many)"
	@echo "make drill     real processes killed at every named point (EACH=kills at each)"
	@echo "make bench     figures as ratios, also in build/bench.json"
	@echo "make mutate    mutants of the deciders and folds"
	@echo "make docs      generate docs/events.md, schemas and docs/backends.md"
	@echo "make sizes     medians and largest files of each room"
	@echo "make fmt       format, and fix what can be fixed"
	@echo "make lock      write uv.lock after a change of the dependencies"
	@echo "make clean     remove what was built, the virtual environment too"

# Without the machine's own uv settings: the lock names the public index only, and a sync installs the lock.
UV_RUN := UV_PROJECT_ENVIRONMENT=$(VENV) $(UV) --no-config $(UV_CERTS)

# uv lives beside the environment, not in it: a sync removes from the environment whatever is not locked.
$(STAMP): pyproject.toml uv.lock
	@python=$$(for p in python3.13 python3.12 python3.11 python3; do \
	    "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done); \
	if [ -z "$$python" ]; then \
	    echo "gonogo needs Python 3.11 or newer, and finds none as python3.13, python3.12, python3.11 or python3." >&2; \
	    echo "Install one (Debian, Ubuntu: apt-get install python3 python3-venv), then run make again." >&2; exit 1; fi; \
	for venv in $(VENV) $(VENV)/tools; do \
	    if ! "$$venv/bin/python" -c '' 2>/dev/null && ! said=$$("$$python" -m venv --clear "$$venv" 2>&1); then \
	        rm -rf "$$venv"; echo "$$said" >&2; \
	        echo "$$python cannot make a virtual environment." >&2; \
	        echo "Install its venv module (Debian, Ubuntu: apt-get install python3-venv), then run make again." >&2; exit 1; fi; \
	done
	@$(UV) --version 2>/dev/null | grep -q '^uv $(subst .,\.,$(UV_VERSION)) ' || \
	    $(VENV)/tools/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(UV_RUN) sync --quiet --frozen --all-groups --python $(BIN)/python
	@touch $@

demo: $(STAMP)
	@$(BIN)/gonogo demo

test: $(STAMP)
	@$(BIN)/python -m pytest -q

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/codespell events projections services tests docs README.md CONTRIBUTING.md CHANGELOG.md

types: $(STAMP)
	@$(BIN)/mypy
	@$(BIN)/pyright --warnings

imports: $(STAMP)
	@$(BIN)/lint-imports

check: lint types imports test

simulate: $(STAMP)
	@N=$(N) $(BIN)/python -W error -m tests.simulation.run $(SEED)

drill: $(STAMP)
	@N=$(N) $(BIN)/python -m tests.drill.run

bench: $(STAMP)
	@$(BIN)/python -m tests.bench.run

mutate: $(STAMP)
	@$(BIN)/python -m tests.mutation.run

docs: $(STAMP)
	@$(BIN)/python -m tests.generate_docs

sizes: $(STAMP)
	@$(BIN)/python -m tests.sizes

fmt: $(STAMP)
	@$(BIN)/ruff check --fix-only -q .
	@$(BIN)/ruff format .

lock: $(STAMP)
	@$(UV_RUN) lock

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache mutants
