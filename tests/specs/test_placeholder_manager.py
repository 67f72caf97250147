"""The placeholder_manager: says that the queue is clear once the go and the yes stand, and only then."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from gonogo.events.base import Event, UnknownEvent
from gonogo.projections.placeholders import INITIAL, evolve
from gonogo.services.placeholder_manager.decider import conclude, decide, due
from tests import examples as ex
from tests.spec import Spec, history, recovered, second, woken

manager = Spec(INITIAL, evolve, decide)

READY = (ex.launch_planned, ex.preflight_passed, ex.review_confirmed)
UNKNOWN = UnknownEvent(type="QueueClosed", dataschema="urn:gonogo:QueueClosed:1", raw="{}")


@pytest.mark.parametrize("order", list(permutations(READY[1:])))
def test_a_queue_without_placeholders_to_yield_is_clear_once_the_go_and_the_yes_stand(order: tuple[Event, ...]) -> None:
    manager.given(ex.launch_planned, *order).when(woken()).then(record=(ex.queue_cleared,))


def test_a_launch_without_a_queue_is_clear_too() -> None:
    plan = msgspec.structs.replace(ex.PLAN, queue=None)
    planned = msgspec.structs.replace(ex.launch_planned, plan=plan)
    cleared = msgspec.structs.replace(ex.queue_cleared, queue=None)
    manager.given(planned, *READY[1:]).when(recovered()).then(record=(cleared,))


def test_nothing_is_said_in_a_history_without_a_plan() -> None:
    manager.given(*READY[1:]).when(woken()).then_nothing()


@pytest.mark.parametrize("missing", READY[1:], ids=lambda event: type(event).__name__)
def test_nothing_is_clear_before_both_the_go_and_the_yes(missing: Event) -> None:
    manager.given(*(event for event in READY if event is not missing)).when(woken()).then_nothing()


def test_a_queue_is_cleared_once() -> None:
    manager.given(*READY, ex.queue_cleared).when(recovered()).then_nothing()


def test_nothing_is_clear_once_the_go_has_expired() -> None:
    manager.given(*READY).when(woken(599)).then(record=(ex.queue_cleared,))
    manager.given(*READY).when(woken(600)).then_nothing()


@pytest.mark.parametrize(
    "word",
    [ex.cancel_requested, ex.review_declined, ex.launch_superseded, ex.preflight_failed, ex.recheck_requested, UNKNOWN],
    ids=lambda event: type(event).__name__,
)
def test_nothing_is_clear_for_a_launch_with_a_word_against_it(word: Event) -> None:
    manager.given(*READY, word).when(woken()).then_nothing()


def test_nothing_here_waits_for_a_time_or_has_a_result() -> None:
    state = manager.state(*READY)
    assert due(state, second(0)) is None
    assert conclude(state, ex.queue_cleared) == ()


def test_two_launches_do_not_interfere() -> None:
    mine, theirs = INITIAL, INITIAL
    for event in history(*READY):
        mine = evolve(mine, event)
        theirs = theirs if event.event is ex.review_confirmed else evolve(theirs, event)
    assert decide(mine, woken()).record == (ex.queue_cleared,)
    assert decide(theirs, woken()).record == ()
