"""What people are to be told, and where each notice stands."""

from __future__ import annotations

import msgspec
import pytest

from gonogo.events.base import Event
from gonogo.projections.notifications import (
    INITIAL_NOTICE,
    INITIAL_TELLING,
    Notice,
    Telling,
    evolve_notice,
    evolve_telling,
    is_told,
)
from tests import examples as ex
from tests.spec import At, at, fold, history, second

PLANNED = (ex.launch_accepted, ex.launch_planned)
OPEN = (ex.notification_intended,)
TRIED = (*OPEN, at(ex.notification_unconfirmed, 10))


TOLD_NAMES = (
    *("PreflightFailed", "ReviewRequested", "ReviewDeclined", "LaunchCancelled"),
    *("SubmissionAccepted", "SubmissionRejected", "SubmissionUnresolved", "SubmissionAbsent", "SubmissionWithheld"),
    *("SubmissionConflicted", "SubmissionMismatched", "JobStatusChanged", "JobRestarted", "JobSucceeded"),
    *("JobFailed", "JobCancelled", "JobStopped", "DuplicateStopped", "WatchDegraded", "WatchRecovered"),
)


def telling(*events: Event) -> Telling:
    return fold(INITIAL_TELLING, evolve_telling, history(*events))


def notice(*events: Event | At) -> Notice:
    return fold(INITIAL_NOTICE, evolve_notice, history(*events))


def changed(*events: Event | At, **fields: object) -> Notice:
    return msgspec.structs.replace(notice(*events), **fields)


def test_nothing_is_known_at_the_beginning() -> None:
    assert Telling(launch="", channels=(), name="", tellable=()) == INITIAL_TELLING
    assert Notice(intended=None, attempts=0, retry_at=None, over=False) == INITIAL_NOTICE


def test_the_request_names_the_channels_and_the_plan_the_launch() -> None:
    known = msgspec.structs.replace(INITIAL_TELLING, channels=("console",), name="tiny-train")
    assert telling(ex.launch_accepted) == known
    assert telling(*PLANNED) == msgspec.structs.replace(known, launch=ex.LAUNCH)


@pytest.mark.parametrize("name", TOLD_NAMES)
def test_everything_that_is_told_is_kept_in_order(name: str) -> None:
    told = history(*PLANNED, ex.submission_accepted, ex.EXAMPLES[name])
    assert telling(*(one.event for one in told)).tellable == told[2:]
    assert is_told(ex.EXAMPLES[name])


def test_nothing_else_is_told() -> None:
    for event in ex.EXAMPLES.values():
        if type(event).__name__ not in TOLD_NAMES:
            assert telling(*PLANNED, event) == telling(*PLANNED)
            assert not is_told(event)


def test_a_notice_is_open_from_its_intent() -> None:
    assert not INITIAL_NOTICE.over
    assert notice(*OPEN) == msgspec.structs.replace(INITIAL_NOTICE, intended=ex.notification_intended)


def test_an_unconfirmed_attempt_is_counted_and_repeated_after_its_delay() -> None:
    assert notice(*TRIED) == changed(*OPEN, attempts=1, retry_at=second(12))
    again = msgspec.structs.replace(ex.notification_unconfirmed, attempt=2, retry_after_s=5.0)
    assert notice(*TRIED, at(again, 12)) == changed(*OPEN, attempts=2, retry_at=second(17))


def test_an_unconfirmed_attempt_that_is_not_safe_to_repeat_ends_the_notice() -> None:
    last = msgspec.structs.replace(ex.notification_unconfirmed, attempt=2, retry_after_s=None)
    assert notice(*TRIED, last) == changed(*OPEN, attempts=2, over=True)


@pytest.mark.parametrize(
    "end",
    [ex.notification_delivered, ex.notification_undeliverable, ex.notification_recorded_locally],
    ids=lambda event: type(event).__name__,
)
def test_an_ended_notice_waits_for_nothing(end: Event) -> None:
    assert notice(*TRIED, end) == changed(*TRIED, over=True, retry_at=None)


def test_nothing_else_moves_a_notice() -> None:
    for event in ex.EXAMPLES.values():
        if not type(event).__name__.startswith("Notification"):
            assert notice(*TRIED, event) == notice(*TRIED)
