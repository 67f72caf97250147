"""Where the watch over a launch's job stands."""

from __future__ import annotations

import msgspec
import pytest

from gonogo.events.base import Event
from gonogo.events.job import JobStopAnswered
from gonogo.events.request import Monitor
from gonogo.events.submission import SubmissionAccepted
from gonogo.projections.jobs import INITIAL, Stop, Watch, evolve
from tests import examples as ex
from tests.spec import At, at, fold, history, second

WATCHED = (ex.launch_accepted, ex.launch_planned, ex.submission_accepted)
RUNNING = (*WATCHED, ex.job_status_changed)
ENDS = (ex.job_succeeded, ex.job_failed, ex.job_cancelled, ex.job_stopped, ex.duplicate_stopped)


def watch(*events: Event | At) -> Watch:
    return fold(INITIAL, evolve, history(*events))


def changed(*events: Event | At, **fields: object) -> Watch:
    return msgspec.structs.replace(watch(*events), **fields)


def test_a_watch_begins_with_nothing_known_and_a_look_every_minute() -> None:
    assert (
        Watch(
            platform="",
            target="",
            poll_s=60,
            job=None,
            state=None,
            raw="",
            restarts=0,
            cancel_wanted=False,
            stop=None,
            degraded_at=None,
            over=False,
        )
        == INITIAL
    )


def test_there_is_nothing_to_watch_without_a_job() -> None:
    assert not INITIAL.watching
    assert not watch(*WATCHED[:2]).watching
    assert watch(*WATCHED).watching


def test_the_request_says_how_often_to_look_and_the_plan_where() -> None:
    monitor = Monitor(poll_s=7, detach=False)
    request = msgspec.structs.replace(ex.REQUEST, monitor=monitor)
    accepted = msgspec.structs.replace(ex.launch_accepted, request=request)
    assert watch(accepted) == msgspec.structs.replace(INITIAL, poll_s=7)
    assert watch(accepted, ex.launch_planned) == changed(accepted, platform="scripted", target="cluster-a")


def test_a_request_may_ask_for_no_watch() -> None:
    request = msgspec.structs.replace(ex.REQUEST, monitor=Monitor(detach=True))
    accepted = msgspec.structs.replace(ex.launch_accepted, request=request)
    assert watch(accepted).detached
    assert not watch(accepted, *WATCHED[1:]).watching


def test_an_accepted_job_is_the_job_to_watch() -> None:
    assert watch(*WATCHED) == changed(*WATCHED[:2], job=ex.JOB)


def test_the_same_job_accepted_again_changes_nothing() -> None:
    told = (*RUNNING, ex.job_restarted, ex.job_stop_intended, ex.watch_degraded)
    assert watch(*told, ex.submission_accepted) == watch(*told)


def test_another_job_is_watched_from_the_beginning() -> None:
    told = (*RUNNING, ex.job_restarted, ex.cancel_requested, ex.job_stop_intended, ex.watch_degraded)
    other = SubmissionAccepted(job=ex.SECOND_JOB)
    assert watch(*told, other) == changed(*WATCHED, job=ex.SECOND_JOB, cancel_wanted=True)


def test_a_status_and_the_restarts_are_remembered() -> None:
    assert watch(*RUNNING) == changed(*WATCHED, state="RUNNING", raw="Running")
    assert watch(*RUNNING, ex.job_restarted) == changed(*RUNNING, restarts=1)


def test_a_wish_to_cancel_is_remembered() -> None:
    assert watch(*RUNNING, ex.cancel_requested) == changed(*RUNNING, cancel_wanted=True)


def test_a_stop_is_remembered_from_its_storage() -> None:
    told = (*RUNNING, at(ex.job_stop_intended, 5))
    assert watch(*told) == changed(*RUNNING, stop=Stop(number=1, at=second(5), answered=False, taken=False))


@pytest.mark.parametrize("taken", [True, False])
def test_an_answer_to_the_stop_says_whether_it_was_taken(taken: bool) -> None:
    answer = JobStopAnswered(job=ex.JOB, number=1, taken=taken, answer="so")
    told = (*RUNNING, at(ex.job_stop_intended, 5))
    stop = Stop(number=1, at=second(6), answered=True, taken=taken)
    assert watch(*told, at(answer, 6)) == changed(*told, stop=stop)


def test_an_answer_to_another_stop_changes_nothing() -> None:
    later = msgspec.structs.replace(ex.job_stop_intended, number=2)
    assert watch(*RUNNING, later, ex.job_stop_answered) == watch(*RUNNING, later)
    assert watch(*RUNNING, ex.job_stop_answered) == watch(*RUNNING)


def test_a_blind_time_begins_and_ends() -> None:
    blind = (*RUNNING, at(ex.watch_degraded, 5))
    assert watch(*blind) == changed(*RUNNING, degraded_at=second(5))
    assert watch(*blind, ex.watch_recovered) == watch(*RUNNING)


@pytest.mark.parametrize("end", ENDS, ids=lambda event: type(event).__name__)
def test_an_explicit_end_ends_the_watch_and_its_blind_time(end: Event) -> None:
    assert watch(*RUNNING, ex.watch_degraded, end) == changed(*RUNNING, over=True)
    assert not watch(*RUNNING, end).watching


def test_a_person_may_end_the_watch() -> None:
    assert watch(*RUNNING, ex.watch_detached) == changed(*RUNNING, detached=True)
    assert not watch(*RUNNING, ex.watch_detached).watching


def test_a_detached_job_that_is_cancelled_is_watched_to_its_end() -> None:
    assert watch(*RUNNING, ex.watch_detached, ex.cancel_requested).watching
    assert watch(*RUNNING, ex.cancel_requested, ex.watch_detached).watching


def test_another_accepted_job_is_watched_although_the_first_has_ended() -> None:
    other = msgspec.structs.replace(ex.submission_accepted, job=msgspec.structs.replace(ex.JOB, id="18"))
    assert watch(*RUNNING, ex.job_succeeded, other).watching


def test_what_is_said_of_a_job_that_is_not_watched_any_more_changes_nothing() -> None:
    other = msgspec.structs.replace(ex.submission_accepted, job=msgspec.structs.replace(ex.JOB, id="18"))
    assert watch(*RUNNING, other, ex.job_succeeded) == watch(*RUNNING, other)


def test_nothing_else_moves_the_watch() -> None:
    moving = {
        type(event)
        for event in (
            *RUNNING[:2],
            *ENDS,
            ex.job_status_changed,
            ex.job_restarted,
            ex.job_stop_intended,
            ex.job_stop_answered,
            ex.watch_degraded,
            ex.watch_recovered,
            ex.watch_detached,
            ex.cancel_requested,
            ex.submission_accepted,
        )
    }
    for event in ex.EXAMPLES.values():
        if type(event) not in moving:
            assert watch(*RUNNING, event) == watch(*RUNNING), event
