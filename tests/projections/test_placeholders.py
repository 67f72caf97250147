"""Where the placeholders of a queue stand, and which are owed."""

from __future__ import annotations

import msgspec
import pytest

from gonogo.events.base import Event
from gonogo.projections.gates import CLOSED, evolve_gates
from gonogo.projections.placeholders import EMPTY_ROSTER, INITIAL, Roster, Standing, evolve, evolve_roster
from tests import examples as ex
from tests.spec import fold, history

STANDINGS: dict[Event, Standing] = {
    ex.placeholder_backed_up: "backed-up",
    ex.placeholder_stop_intended: "stopping",
    ex.placeholder_stop_unresolved: "stop-in-doubt",
    ex.placeholder_stopped: "stopped",
    ex.placeholder_delete_intended: "deleting",
    ex.placeholder_delete_unresolved: "delete-in-doubt",
    ex.placeholder_deleted: "owed",
    ex.placeholder_restore_intended: "restoring",
    ex.placeholder_restore_unresolved: "restore-in-doubt",
    ex.placeholder_restored: "restored",
}
NOT_OWED = {"backed-up", "stopping", "stop-in-doubt", "restored"}


def roster(*events: Event) -> Roster:
    return fold(EMPTY_ROSTER, evolve_roster, history(*events))


@pytest.mark.parametrize("event", STANDINGS, ids=lambda event: type(event).__name__)
def test_a_placeholder_stands_where_it_was_last_said_to(event: Event) -> None:
    assert roster(event).standing == {"p-1": STANDINGS[event]}
    assert roster(ex.placeholder_backed_up, event).standing == {"p-1": STANDINGS[event]}


@pytest.mark.parametrize("event", STANDINGS, ids=lambda event: type(event).__name__)
def test_a_placeholder_is_owed_from_its_stop_until_it_is_back(event: Event) -> None:
    assert roster(event).owed == (frozenset() if STANDINGS[event] in NOT_OWED else {"p-1"})


def test_each_placeholder_stands_for_itself() -> None:
    other = msgspec.structs.replace(
        ex.placeholder_deleted, placeholder=msgspec.structs.replace(ex.PLACEHOLDER, id="p-9")
    )
    both = roster(ex.placeholder_stopped, other, ex.placeholder_restored)
    assert both.standing == {"p-1": "restored", "p-9": "owed"}
    assert both.owed == {"p-9"}


def test_nothing_else_moves_a_placeholder() -> None:
    before = roster(ex.placeholder_stopped)
    for event in ex.EXAMPLES.values():
        if event not in tuple(STANDINGS):
            assert roster(ex.placeholder_stopped, event) == before


def test_a_launch_as_the_placeholder_manager_sees_it_is_its_gates() -> None:
    assert INITIAL == CLOSED
    assert evolve is evolve_gates
