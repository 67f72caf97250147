"""A history read again, step by step, and the laws every fold keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.events.base import Event
from gonogo.events.envelope import Entry, Said, Unreadable
from gonogo.events.ids import History
from gonogo.projections import gates, jobs, launches, notifications, placeholders, preflights, submissions
from gonogo.projections.invariants import Violation
from gonogo.projections.replay import Step, all_said, by_history, steps, verify
from tests import examples as ex
from tests.spec import fold, history, said, second

LAUNCH = History("launch", ex.LAUNCH)
OTHER = History("launch", ex.OTHER_LAUNCH)
NOTICE = History("notice", "n1")
FOLDS: dict[str, tuple[Any, Callable[[Any, Said], Any]]] = {
    "gates": (gates.CLOSED, gates.evolve_gates),
    "jobs": (jobs.INITIAL, jobs.evolve),
    "launches": (launches.INITIAL, launches.evolve),
    "notices": (notifications.INITIAL_NOTICE, notifications.evolve_notice),
    "preflights": (preflights.INITIAL, preflights.evolve),
    "roster": (placeholders.EMPTY_ROSTER, placeholders.evolve_roster),
    "submissions": (submissions.INITIAL, submissions.evolve),
    "tellings": (notifications.INITIAL_TELLING, notifications.evolve_telling),
}


def entry(sequence: int, *events: Event, of: History = LAUNCH) -> Entry:
    told = tuple(said(event, sequence=sequence) for event in events)
    return Entry(history=of, role=told[0].role, sequence=sequence, stored_at=second(0), said=told)


def unreadable(sequence: int, *, of: History | None = LAUNCH) -> Unreadable:
    return Unreadable(history=of, subject="ev.x", sequence=sequence, reason="not JSON")


def test_a_step_shows_what_was_true_before_and_after_it() -> None:
    first, second_ = entry(1, ex.launch_accepted, ex.launch_planned), entry(2, ex.preflight_failed)
    planned = fold(launches.INITIAL, launches.evolve, first.said)
    failed = fold(planned, launches.evolve, second_.said)
    assert list(steps((first, second_))) == [
        Step(entry=first, before=launches.INITIAL, after=planned),
        Step(entry=second_, before=planned, after=failed),
    ]


def test_a_message_that_cannot_be_read_is_shown_and_the_rest_goes_on() -> None:
    told = (unreadable(1), entry(2, ex.launch_accepted), unreadable(3), entry(4, ex.launch_planned))
    found = list(steps(told))
    assert [found[0], found[2]] == [told[0], told[2]]
    assert isinstance(found[3], Step)
    assert found[3].before.name == "tiny-train"


def test_a_log_is_sorted_into_its_histories() -> None:
    told = (
        entry(1, ex.launch_accepted),
        entry(2, ex.launch_accepted, of=OTHER),
        unreadable(3),
        unreadable(4, of=None),
        entry(5, ex.launch_planned),
    )
    assert by_history(told) == {LAUNCH: [told[0], told[2], told[4]], OTHER: [told[1]]}


def test_everything_readable_was_said_in_order() -> None:
    told = (entry(1, ex.launch_accepted, ex.launch_planned), unreadable(2), entry(3, ex.cancel_requested))
    assert [one.event for one in all_said(told)] == [ex.launch_accepted, ex.launch_planned, ex.cancel_requested]


def test_a_good_log_has_nothing_wrong() -> None:
    told = (
        entry(1, ex.launch_accepted, ex.launch_planned),
        entry(2, ex.notification_intended, of=NOTICE),
        entry(5, ex.notification_delivered, of=NOTICE),
    )
    assert verify(told) == ()
    assert verify(()) == ()


def test_sequences_rise() -> None:
    told = (entry(2, ex.launch_accepted), entry(1, ex.launch_planned), entry(1, ex.check_passed))
    assert verify(told) == (
        Violation(invariant="sequences_rise", sequence=1, what="sequence 1 after 2"),
        Violation(invariant="sequences_rise", sequence=1, what="sequence 1 after 1"),
    )
    assert [one.sequence for one in verify((entry(0, ex.launch_accepted),))] == [0]


def test_every_message_is_readable() -> None:
    wrong = Violation(invariant="every_message_is_readable", sequence=2, what="not JSON")
    assert verify((entry(1, ex.launch_accepted), unreadable(2))) == (wrong,)
    assert verify((entry(1, ex.launch_accepted), unreadable(2, of=None))) == (wrong,)


def test_each_history_is_judged_by_itself_and_as_its_kind() -> None:
    told = (
        entry(1, ex.launch_accepted),
        entry(2, ex.check_passed, of=OTHER),
        entry(3, ex.notification_delivered, of=NOTICE),
    )
    assert [(one.invariant, one.sequence) for one in verify(told)] == [
        ("acceptance_comes_first", 2),
        ("a_notice_is_delivered_once", 3),
    ]


EVENTS = st.lists(st.sampled_from(sorted(ex.EXAMPLES)), max_size=12)


@pytest.mark.parametrize("noun", FOLDS)
@given(first=EVENTS, then=EVENTS)
def test_folding_in_two_parts_is_folding_in_one(noun: str, first: list[str], then: list[str]) -> None:
    initial, evolve = FOLDS[noun]
    told = history(*(ex.EXAMPLES[name] for name in (*first, *then)))
    halfway = fold(initial, evolve, told[: len(first)])
    assert fold(halfway, evolve, told[len(first) :]) == fold(initial, evolve, told)


@given(names=st.lists(st.sampled_from(sorted(ex.EXAMPLES)), max_size=30))
def test_no_log_whatever_it_says_can_break_the_verification(names: list[str]) -> None:
    told = [entry(number, ex.EXAMPLES[name]) for number, name in enumerate(names, start=1)]
    assert all(1 <= one.sequence <= len(names) for one in verify(told))
