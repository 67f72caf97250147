"""The watcher: unchanged is silent, "cannot see" says nothing about the job, only an explicit record ends the watch."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from gonogo.events.base import Event
from gonogo.events.job import JobRef, JobState, JobStopAnswered, JobStopIntended
from gonogo.events.request import Monitor
from gonogo.events.submission import SubmissionAccepted
from gonogo.projections.jobs import INITIAL, evolve
from gonogo.services.watcher.decider import Query, Seen, StopJob, Unseen, WatcherEffect, conclude, decide, due
from tests import examples as ex
from tests.spec import At, Spec, at, history, recovered, second, woken
from tests.spec import due as due_at

watcher = Spec(INITIAL, evolve, decide)

PLANNED = (ex.launch_accepted, ex.launch_planned)
WATCHED = (*PLANNED, ex.submission_accepted)
RUNNING = (*WATCHED, ex.job_status_changed)
CANCELLED = (*RUNNING, ex.cancel_requested)
STOPPING = (*CANCELLED, ex.job_stop_intended)
NOT_TAKEN = JobStopAnswered(job=ex.JOB, number=1, taken=False, answer="try again later")
QUERY = Query("scripted", "cluster-a", ex.JOB)
STOP = StopJob("scripted", "cluster-a", ex.JOB, 1)
SECOND_INTENT = JobStopIntended(job=ex.JOB, number=2)
SECOND_STOP = StopJob("scripted", "cluster-a", ex.JOB, 2)
ENDS = (ex.job_succeeded, ex.job_failed, ex.job_cancelled, ex.job_stopped, ex.duplicate_stopped)


def seen(state: JobState, raw: str, **facts: object) -> Seen:
    return msgspec.structs.replace(Seen(ex.JOB, state, raw), **facts)


def concluded(result: object, *events: Event | At) -> tuple[Event, ...]:
    return conclude(watcher.state(*events), result)


def watching_every(seconds: float, *, detach: bool = False) -> Event:
    request = msgspec.structs.replace(ex.REQUEST, monitor=Monitor(poll_s=seconds, detach=detach))
    return msgspec.structs.replace(ex.launch_accepted, request=request)


def due_of(*events: Event | At, now: float = 0) -> float | None:
    found = due(watcher.state(*events), second(now))
    return None if found is None else (found - second(0)).total_seconds()


def test_a_new_job_is_looked_at_at_once() -> None:
    watcher.given(*WATCHED).when(woken()).then(perform=(QUERY,))


def test_nothing_is_asked_where_there_is_no_job() -> None:
    watcher.given(*PLANNED).when(recovered()).then_nothing()
    watcher.given(*PLANNED, ex.cancel_requested).when(recovered()).then_nothing()


def test_a_known_job_is_looked_at_when_it_is_time_and_after_a_start() -> None:
    watcher.given(*RUNNING).when(due_at(60)).then(perform=(QUERY,))
    watcher.given(*RUNNING).when(recovered()).then(perform=(QUERY,))


def test_what_is_said_about_a_known_job_asks_nothing() -> None:
    watcher.given(*RUNNING).when(woken(1000)).then_nothing()


@pytest.mark.parametrize("end", [*ENDS, ex.watch_detached], ids=lambda event: type(event).__name__)
def test_a_watch_that_is_over_asks_and_stops_nothing(end: Event) -> None:
    watcher.given(*RUNNING, end).when(recovered(1000)).then_nothing()


@pytest.mark.parametrize("end", ENDS, ids=lambda event: type(event).__name__)
def test_a_cancelled_job_that_has_ended_is_not_stopped_again(end: Event) -> None:
    watcher.given(*CANCELLED, end).when(recovered(1000)).then_nothing()


def test_a_detached_job_is_stopped_when_a_person_cancels_it() -> None:
    decision = watcher.given(*RUNNING, ex.watch_detached, ex.cancel_requested).when(woken(1000)).decision
    assert [type(event).__name__ for event in decision.record] == ["JobStopIntended"]


def test_a_launch_that_asks_for_no_watch_has_none() -> None:
    detached = (watching_every(60, detach=True), ex.launch_planned, ex.submission_accepted)
    watcher.given(*detached).when(recovered()).then_nothing()


@pytest.mark.parametrize("order", list(permutations((ex.cancel_requested, ex.submission_accepted))))
def test_a_cancelled_job_is_stopped_whichever_came_first(order: tuple[Event, ...]) -> None:
    watcher.given(*PLANNED, *order).when(woken()).then(record=(ex.job_stop_intended,), perform=(STOP,))


def test_a_stop_that_is_neither_answered_nor_taken_is_asked_for_again_after_a_minute() -> None:
    again = {"record": (SECOND_INTENT,), "perform": (SECOND_STOP,)}
    for told in (STOPPING, (*STOPPING, NOT_TAKEN)):
        watcher.given(*told).when(woken(59)).then_nothing()
        watcher.given(*told).when(woken(60)).then(**again)
        watcher.given(*told).when(due_at(60)).then(**again)


def test_the_minute_begins_again_with_the_platforms_answer() -> None:
    told = (*STOPPING, at(NOT_TAKEN, 30))
    watcher.given(*told).when(woken(89)).then_nothing()
    watcher.given(*told).when(woken(90)).then(record=(SECOND_INTENT,), perform=(SECOND_STOP,))


def test_every_start_asks_for_a_stop_again_that_was_not_taken_because_its_process_may_have_died() -> None:
    given = watcher.given(*STOPPING)
    given.when(recovered()).then(record=(SECOND_INTENT,), perform=(SECOND_STOP,), once=False)


def test_a_stop_that_was_taken_is_not_asked_for_again() -> None:
    taken = (*STOPPING, ex.job_stop_answered)
    watcher.given(*taken).when(woken(1000)).then_nothing()
    watcher.given(*taken).when(recovered(1000)).then(perform=(QUERY,))


def test_an_answer_to_an_earlier_stop_says_nothing_about_the_present_one() -> None:
    told = (*STOPPING, at(SECOND_INTENT, 60), at(ex.job_stop_answered, 61))
    third = JobStopIntended(job=ex.JOB, number=3)
    watcher.given(*told).when(woken(120)).then(record=(third,), perform=(StopJob("scripted", "cluster-a", ex.JOB, 3),))


def test_a_job_that_another_look_up_replaced_is_watched_from_the_beginning() -> None:
    told = (*STOPPING, SubmissionAccepted(job=ex.SECOND_JOB))
    intent = JobStopIntended(job=ex.SECOND_JOB, number=1)
    stop = StopJob("scripted", "cluster-a", ex.SECOND_JOB, 1)
    watcher.given(*told).when(woken()).then(record=(intent,), perform=(stop,))
    query = Query("scripted", "cluster-a", ex.SECOND_JOB)
    watcher.given(*RUNNING, SubmissionAccepted(job=ex.SECOND_JOB)).when(woken()).then(perform=(query,))


def test_a_job_accepted_again_is_the_same_watch() -> None:
    watcher.given(*RUNNING, ex.submission_accepted).when(woken()).then_nothing()


def test_two_launches_do_not_interfere() -> None:
    mine, theirs = INITIAL, INITIAL
    for event in history(*CANCELLED):
        mine = evolve(mine, event)
        theirs = theirs if event.event is ex.cancel_requested else evolve(theirs, event)
    stopping: tuple[WatcherEffect, ...] = (STOP,)
    assert decide(mine, woken()).then == stopping
    assert decide(theirs, woken()).then == ()


def test_polls_are_due_on_a_grid_that_all_jobs_share() -> None:
    assert due_of(*RUNNING) == 60
    assert due_of(*RUNNING, now=0.5) == 60
    assert due_of(*RUNNING, now=59.5) == 60
    assert due_of(*RUNNING, now=60) == 120
    assert due_of(*RUNNING, now=100) == 120


def test_polls_are_as_far_apart_as_the_request_says() -> None:
    assert due_of(watching_every(7), *RUNNING[1:], now=1) is not None
    every_ten = (watching_every(10), *RUNNING[1:])
    assert due_of(*every_ten, now=1) == 10
    assert due_of(*every_ten, now=11) == 20


def test_a_grid_begins_with_the_epoch() -> None:
    seven = due(watcher.state(watching_every(7), *RUNNING[1:]), second(0))
    assert seven is not None
    assert seven.timestamp() % 7 == 0
    assert 0 < (seven - second(0)).total_seconds() <= 7


def test_nothing_is_due_without_a_job_or_after_its_end() -> None:
    assert due_of(*PLANNED) is None
    assert due_of(*RUNNING, ex.job_succeeded) is None
    assert due_of(*RUNNING, ex.watch_detached) is None


def test_a_platform_that_cannot_be_seen_is_asked_less_and_less_often() -> None:
    degraded = (watching_every(10), *RUNNING[1:], ex.watch_degraded)
    assert due_of(*degraded, now=1) == 10
    assert due_of(*degraded, now=30) == 60
    assert due_of(*degraded, now=50) == 100
    assert due_of(*degraded, now=1000) == 1200


def test_a_job_that_is_rarely_asked_about_is_not_asked_more_often_while_it_cannot_be_seen() -> None:
    hourly = (watching_every(3600), *RUNNING[1:], ex.watch_degraded)
    assert due_of(*hourly, now=1000) == 3600


def test_a_platform_that_can_be_seen_again_is_asked_as_before() -> None:
    recovered_ = (watching_every(10), *RUNNING[1:], ex.watch_degraded, ex.watch_recovered)
    assert due_of(*recovered_, now=200) == 210


def test_an_answer_to_a_stop_is_a_fact_whatever_the_state() -> None:
    for told in ((), RUNNING, STOPPING, (*RUNNING, ex.job_succeeded)):
        assert concluded(ex.job_stop_answered, *told) == (ex.job_stop_answered,)


def test_a_changed_status_is_said_with_its_reason() -> None:
    reading = seen("RUNNING", "Running", reason="since 12:01")
    assert concluded(reading, *WATCHED) == (ex.job_status_changed,)


def test_an_unchanged_status_is_silent() -> None:
    assert concluded(seen("RUNNING", "Running"), *RUNNING) == ()


@pytest.mark.parametrize("reading", [seen("PENDING", "Running"), seen("RUNNING", "Deploying")], ids=["state", "word"])
def test_a_new_state_and_a_new_word_are_both_a_change(reading: Seen) -> None:
    changed = msgspec.structs.replace(ex.job_status_changed, state=reading.state, raw=reading.raw, reason=None)
    assert concluded(reading, *RUNNING) == (changed,)


def test_an_unknown_word_is_kept_and_ends_nothing() -> None:
    changed = msgspec.structs.replace(ex.job_status_changed, state="UNKNOWN", raw="Hibernating", reason=None)
    assert concluded(seen("UNKNOWN", "Hibernating"), *RUNNING) == (changed,)


def test_a_reading_counts_no_restart_unless_it_says_so() -> None:
    assert Seen(ex.JOB, "RUNNING", "Running") == Seen(ex.JOB, "RUNNING", "Running", None, None, 0, False)


def test_a_restart_is_said_once_and_before_the_status() -> None:
    reading = seen("RUNNING", "Running", restarts=1)
    assert concluded(reading, *RUNNING) == (ex.job_restarted,)
    assert concluded(reading, *RUNNING, ex.job_restarted) == ()
    pending = msgspec.structs.replace(ex.job_status_changed, state="PENDING", raw="Queued", reason=None)
    twice = msgspec.structs.replace(ex.job_restarted, count=2)
    requeued = seen("PENDING", "Queued", restarts=2)
    assert concluded(requeued, *RUNNING, ex.job_restarted) == (twice, pending)


@pytest.mark.parametrize(
    ("reading", "end"),
    [
        (seen("SUCCEEDED", "Success", exit_code=0), ex.job_succeeded),
        (seen("FAILED", "Failed", exit_code=1, reason="out of memory"), ex.job_failed),
        (seen("STOPPED", "Killed", reason="preempted"), ex.job_stopped),
        (seen("CANCELLED", "Killed", reason="preempted"), ex.job_stopped),
        (seen("SUCCEEDED", "Success", duplicate=True), ex.duplicate_stopped),
    ],
    ids=["succeeded", "failed", "stopped", "cancelled-elsewhere", "duplicate"],
)
def test_an_end_is_said_as_the_platform_says_it(reading: Seen, end: Event) -> None:
    assert concluded(reading, *RUNNING) == (end,)


def test_the_first_sight_of_a_job_may_be_its_end_and_then_only_that_is_said() -> None:
    reading = seen("FAILED", "Failed", exit_code=1, reason="out of memory", restarts=4)
    assert concluded(reading, *WATCHED) == (ex.job_failed,)


@pytest.mark.parametrize("state", ["STOPPED", "CANCELLED"])
def test_a_job_that_ended_after_our_stop_was_cancelled(state: JobState) -> None:
    assert concluded(seen(state, "Killed", reason="by request"), *STOPPING) == (ex.job_cancelled,)


@pytest.mark.parametrize("state", ["SUCCEEDED", "FAILED"])
def test_a_job_that_ended_by_itself_before_the_stop_took_is_not_cancelled(state: JobState) -> None:
    (end,) = concluded(seen(state, "Done"), *STOPPING)
    assert type(end).__name__ == f"Job{state.title()}"


def test_a_wish_to_cancel_alone_does_not_make_an_end_ours() -> None:
    assert concluded(seen("STOPPED", "Killed", reason="preempted"), *CANCELLED) == (ex.job_stopped,)


def test_a_platform_that_cannot_be_seen_is_told_once_after_the_third_failure_in_a_row() -> None:
    assert concluded(Unseen(ex.JOB, 2, "connection refused"), *RUNNING) == ()
    assert concluded(Unseen(ex.JOB, 3, "connection refused"), *RUNNING) == (ex.watch_degraded,)
    four = msgspec.structs.replace(ex.watch_degraded, failures=4)
    assert concluded(Unseen(ex.JOB, 4, "connection refused"), *RUNNING) == (four,)
    assert concluded(Unseen(ex.JOB, 4, "connection refused"), *RUNNING, ex.watch_degraded) == ()


def test_the_first_reading_after_a_blind_time_says_so_first() -> None:
    blind = (*RUNNING, ex.watch_degraded)
    assert concluded(seen("RUNNING", "Running"), *blind) == (ex.watch_recovered,)
    assert concluded(seen("SUCCEEDED", "Success", exit_code=0), *blind) == (ex.watch_recovered, ex.job_succeeded)


@pytest.mark.parametrize("reading", [seen("FAILED", "Failed"), Unseen(ex.JOB, 3, "refused")], ids=["seen", "unseen"])
def test_a_late_reading_says_nothing_where_nothing_is_watched(reading: Seen | Unseen) -> None:
    assert concluded(reading, *PLANNED) == ()
    assert concluded(reading, *RUNNING, ex.job_succeeded) == ()
    assert concluded(reading, *RUNNING, ex.watch_detached) == ()


@pytest.mark.parametrize("field", ["id", "name", "identity"])
def test_a_reading_of_another_job_says_nothing(field: str) -> None:
    other: JobRef = msgspec.structs.replace(ex.JOB, **{field: "other"})
    assert concluded(msgspec.structs.replace(seen("FAILED", "Failed"), job=other), *RUNNING) == ()
    assert concluded(Unseen(other, 3, "refused"), *RUNNING) == ()


def test_no_answer_says_nothing() -> None:
    assert concluded(None, *RUNNING) == ()
