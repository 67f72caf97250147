"""Writes docs/backends.md from the contract classes: what each backend claims, and which cards are held against it. Run by `make docs`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.contracts.backend import BackendContract, cards
from tests.contracts.test_backend_local import TestLocal
from tests.contracts.test_backend_scripted import TestScripted

CONTRACTS: tuple[type[BackendContract], ...] = (TestLocal, TestScripted)
PAGE = Path(__file__).resolve().parent.parent / "docs" / "backends.md"
HEAD = """# Backends

Generated from the contract cards by `make docs`; do not edit. Each card is a test that runs on every platform marked ✓,
with `make test`. A platform without the mark cannot show it here and does not claim it.
"""


def page() -> str:
    """The whole page."""
    labels = [contract.harness_class.label for contract in CONTRACTS]
    claims = [_claims(contract) for contract in CONTRACTS]
    rows = [[name, *(claim[name] for claim in claims)] for name in claims[0]]
    held = [
        [
            test.card,
            name.removeprefix("test_").replace("_", " "),
            *("✓" if getattr(c, name) else "–" for c in CONTRACTS),
        ]
        for name, test in cards(BackendContract).items()
    ]
    claimed, carded = _table(["claim", *labels], rows), _table(["card", "rule", *labels], held)
    return f"{HEAD}\n## What each claims\n\n{claimed}\n\n## The cards\n\n{carded}\n"


def _claims(contract: type[BackendContract]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        can = contract.harness_class(Path(folder)).backend.capabilities
    terms = can.terms
    return {
        "start guard": can.guard_note,
        "a refusal can be proven": _word(can.proves_refusal),
        "records of ended jobs can be deleted": _word(can.can_delete),
        "“no such name” is proof by itself": _word(terms.authoritative_negative),
        "its jobs can be seen": "from one place alone" if can.place else "from everywhere",
        "create starts within, after the intent": f"{terms.start_deadline_s:g} s",
        "create ends within": f"{terms.create_timeout_s:g} s",
        "a look-up counts after": f"{terms.grace_s:g} s",
        "between two look-ups": f"{terms.settle_s:g} s ({terms.settle_source})",
    }


def _word(claim: bool) -> str:
    return "yes" if claim else "no"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
