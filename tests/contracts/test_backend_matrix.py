"""The cards themselves: numbered without gaps, and the page that lists them is not stale."""

from __future__ import annotations

import inspect

from tests.contracts.backend import BackendContract, cards
from tests.generate_backends import CONTRACTS, PAGE, page


def test_every_test_of_the_contract_is_a_card_and_the_numbers_have_no_gap():
    tests = {name for name, _ in inspect.getmembers(BackendContract, inspect.isfunction) if name.startswith("test_")}
    assert set(cards(BackendContract)) == tests
    numbers = [test.card for test in cards(BackendContract).values()]
    assert numbers == [f"B{number:02}" for number in range(1, len(tests) + 1)]


def test_no_platform_replaces_a_card_with_one_of_its_own():
    for contract in CONTRACTS:
        own = {name for name in cards(BackendContract) if name in vars(contract) and vars(contract)[name] is not None}
        assert not own, f"{contract.__name__} changes the rules: {own}"


def test_the_page_of_backends_is_what_the_cards_say():
    assert PAGE.read_text() == page(), "docs/backends.md is stale: run make docs"
