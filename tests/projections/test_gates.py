"""The gates: the go, the yes and the clear queue, each bound to the plan, and every word against them."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from gonogo.events.base import Event, UnknownEvent
from gonogo.events.job import CancelRequested
from gonogo.projections.gates import CLOSED, Gates, evolve_gates
from tests import examples as ex
from tests.spec import At, at, fold, history, second

PLANNED = (ex.launch_planned,)
CONFIRMED = (*PLANNED, ex.preflight_passed, ex.review_confirmed)
OPEN = (*CONFIRMED, ex.queue_cleared)
YIELDED = (*CONFIRMED, msgspec.structs.replace(ex.queue_cleared, queue_version=1))
UNKNOWN = UnknownEvent(type="LaunchForbidden", dataschema="urn:gonogo:LaunchForbidden:1", raw="{}")


def gates(*events: Event | At) -> Gates:
    return fold(CLOSED, evolve_gates, history(*events))


def submits(*events: Event | At, now: float = 0) -> bool:
    return gates(*events).may_submit(second(now))


def clears(*events: Event | At, now: float = 0) -> bool:
    return gates(*events).may_clear(second(now))


def other(event: Event) -> Event:
    return msgspec.structs.replace(event, plan_digest=ex.OTHER_DIGEST)


def test_no_gate_is_open_at_the_beginning() -> None:
    assert not submits()
    assert not clears()
    assert gates() == CLOSED


def test_the_gates_know_the_plan_and_its_digest() -> None:
    assert gates(*PLANNED) == msgspec.structs.replace(CLOSED, plan=ex.PLAN, plan_digest=ex.DIGEST)


@pytest.mark.parametrize("order", list(permutations(OPEN[1:])))
def test_all_three_gates_open_the_way_to_submit_in_any_order(order: tuple[Event, ...]) -> None:
    assert submits(*PLANNED, *order)
    assert not any(submits(*PLANNED, *order[:n]) for n in range(3))


@pytest.mark.parametrize("order", list(permutations(CONFIRMED[1:])))
def test_the_go_and_the_yes_open_the_way_to_clear_the_queue_in_any_order(order: tuple[Event, ...]) -> None:
    assert clears(*PLANNED, *order)
    assert not any(clears(*PLANNED, *order[:n]) for n in range(2))


def test_a_clear_queue_is_not_cleared_again() -> None:
    assert not clears(*OPEN)


def test_a_new_plan_closes_every_gate() -> None:
    assert gates(*OPEN, ex.cancel_requested, ex.launch_planned) == gates(ex.launch_planned)


@pytest.mark.parametrize("gate", OPEN[1:], ids=lambda event: type(event).__name__)
def test_a_gate_of_another_plan_stays_closed(gate: Event) -> None:
    assert gates(*PLANNED, other(gate)) == gates(*PLANNED)
    assert not submits(*(other(event) if event is gate else event for event in OPEN))


def test_what_is_said_of_another_plan_closes_no_open_gate() -> None:
    for told in (OPEN, YIELDED):
        for event in (*OPEN[1:], YIELDED[-1]):
            assert gates(*told, other(event)) == gates(*told)


def test_a_go_holds_until_its_time_is_over() -> None:
    told = (*PLANNED, at(ex.preflight_passed, 10), ex.review_confirmed)
    assert gates(*told).go_until == second(610)
    assert clears(*told, now=609.9)
    assert not clears(*told, now=610)
    assert submits(*told, ex.queue_cleared, now=609.9)
    assert not submits(*told, ex.queue_cleared, now=610)


def test_a_go_for_which_placeholders_were_yielded_does_not_grow_old() -> None:
    assert submits(*YIELDED, now=10_000)
    assert not submits(*OPEN, now=10_000)
    assert not clears(*YIELDED, now=10_000)


@pytest.mark.parametrize("end", [ex.preflight_failed, ex.preflight_expired], ids=lambda event: type(event).__name__)
def test_a_go_that_is_taken_back_is_over_even_if_placeholders_were_yielded(end: Event) -> None:
    assert not submits(*OPEN, end)
    assert not submits(*YIELDED, end)
    assert submits(*OPEN, end, ex.preflight_passed)


def test_a_recheck_takes_the_go_back_unless_placeholders_were_yielded_for_it() -> None:
    assert not submits(*OPEN, ex.recheck_requested)
    assert submits(*YIELDED, ex.recheck_requested)


@pytest.mark.parametrize(
    "word",
    [ex.review_declined, ex.cancel_requested, ex.launch_superseded, UNKNOWN],
    ids=lambda event: type(event).__name__,
)
def test_a_word_against_it_closes_every_gate_wherever_it_stands(word: Event) -> None:
    assert gates(*PLANNED, word).stopped
    assert not gates(*OPEN).stopped
    for place in range(1, 5):
        assert not submits(*OPEN[:place], word, *OPEN[place:])
        assert not clears(*CONFIRMED[:place], word, *CONFIRMED[place:])


def test_a_no_to_another_plan_stops_nothing() -> None:
    assert submits(*OPEN, other(ex.review_declined))
    assert gates(*OPEN, ex.review_declined, other(ex.review_declined)).declined


def test_the_first_reason_to_cancel_stays() -> None:
    later = CancelRequested(person=ex.ANN, reason="too slow")
    assert gates(*OPEN, ex.cancel_requested, later).cancelled == "wrong dataset"
    assert gates(*OPEN, CancelRequested(person=ex.ANN)).cancelled == "no reason given"
    assert gates(*OPEN, CancelRequested(person=ex.ANN, reason="")).cancelled == "no reason given"


def test_nothing_else_moves_the_gates() -> None:
    moving = {type(event) for event in OPEN} | {
        type(event)
        for event in (
            ex.preflight_failed,
            ex.preflight_expired,
            ex.recheck_requested,
            ex.review_declined,
            ex.cancel_requested,
            ex.launch_superseded,
        )
    }
    for event in ex.EXAMPLES.values():
        assert (gates(*OPEN, event) == gates(*OPEN)) == (type(event) not in moving or event in OPEN[1:]), event
