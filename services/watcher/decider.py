"""What the watcher does next, and what a reading of the platform means. Pure.

Unchanged is silent. "Cannot see" says nothing about the job. Only an explicit terminal record ends the watch; the first
sight of a job may be its end, and then only that is said.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from gonogo.events.base import Event
from gonogo.events.job import (
    DuplicateStopped,
    JobCancelled,
    JobFailed,
    JobRef,
    JobRestarted,
    JobState,
    JobStatusChanged,
    JobStopAnswered,
    JobStopIntended,
    JobStopped,
    JobSucceeded,
    WatchDegraded,
    WatchRecovered,
)
from gonogo.projections.jobs import Watch
from gonogo.services.runtime.decision import (
    AtMostOnce,
    Decision,
    Due,
    Recovered,
    Repeatable,
    Trigger,
)

FAILURES_MAX = 3
"""So many queries in a row may fail before it is said, once, that the platform cannot be seen."""
BACK_OFF_MAX_S = 300.0
"""While degraded, the interval grows up to this."""
STOP_AGAIN_AFTER = timedelta(seconds=60)
"""A stop that was not taken, or never answered, is asked for again after this long. Stops are idempotent."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Query(Repeatable, frozen=True):
    """Ask the platform how the job is; queries of one moment become one question."""

    platform: str
    target: str
    job: JobRef


class StopJob(AtMostOnce, frozen=True):
    """Ask the platform to end the job."""

    platform: str
    target: str
    job: JobRef
    number: int


class Seen(Repeatable, frozen=True):
    """A reading: what the platform said of the job."""

    job: JobRef
    state: JobState
    raw: str
    exit_code: int | None = None
    reason: str | None = None
    restarts: int = 0
    duplicate: bool = False


class Unseen(Repeatable, frozen=True):
    """A failed query: how many in a row by now, and why."""

    job: JobRef
    failures: int
    cause: str


WatcherEffect = Query | StopJob
NOTHING: Decision[Event, WatcherEffect] = Decision()


def decide(watch: Watch, trigger: Trigger) -> Decision[Event, WatcherEffect]:
    """Stop what a person cancelled; look when it is time, when the job is new, and after a start."""
    if watch.job is None or not watch.watching:
        return NOTHING
    if _should_stop(watch, trigger):
        number = watch.stop.number + 1 if watch.stop else 1
        intent = JobStopIntended(job=watch.job, number=number)
        return Decision(record=(intent,), then=(StopJob(watch.platform, watch.target, watch.job, number),))
    if isinstance(trigger, Due | Recovered) or watch.state is None:
        return Decision(then=(Query(watch.platform, watch.target, watch.job),))
    return NOTHING


def _should_stop(watch: Watch, trigger: Trigger) -> bool:
    if not watch.cancel_wanted:
        return False
    if watch.stop is None:
        return True
    if watch.stop.taken:
        return False
    return isinstance(trigger, Recovered) or trigger.now >= watch.stop.at + STOP_AGAIN_AFTER


def due(watch: Watch, now: datetime) -> datetime | None:
    """The next poll, on a grid that all jobs of one interval share, so that one question answers for all of them."""
    if not watch.watching:
        return None
    interval = watch.poll_s
    if watch.degraded_at is not None:
        interval = max(interval, min((now - watch.degraded_at).total_seconds(), BACK_OFF_MAX_S))
    ticks = math.floor((now - _EPOCH).total_seconds() / interval) + 1
    return _EPOCH + timedelta(seconds=ticks * interval)


def conclude(watch: Watch, result: object) -> tuple[Event, ...]:
    """What a reading means against what is known now."""
    match result:
        case JobStopAnswered():
            return (result,)
        case Seen(job=job) as seen if watch.watching and job == watch.job:
            return _seen(watch, seen)
        case Unseen(job=job) as unseen if watch.watching and job == watch.job:
            tell = unseen.failures >= FAILURES_MAX and watch.degraded_at is None
            degraded = WatchDegraded(job=job, failures=unseen.failures, cause=unseen.cause)
            return (degraded,) if tell else ()
        case _:
            return ()


def _seen(watch: Watch, seen: Seen) -> tuple[Event, ...]:
    events: list[Event] = []
    if watch.degraded_at is not None:
        events.append(WatchRecovered(job=seen.job))
    end = _end(watch, seen)
    if end is not None:
        return (*events, end)
    if seen.restarts > watch.restarts:
        events.append(JobRestarted(job=seen.job, count=seen.restarts))
    if (seen.state, seen.raw) != (watch.state, watch.raw):
        changed = JobStatusChanged(job=seen.job, state=seen.state, raw=seen.raw, reason=seen.reason)
        events.append(changed)
    return tuple(events)


def _end(watch: Watch, seen: Seen) -> Event | None:
    job, raw = seen.job, seen.raw
    if seen.duplicate:
        return DuplicateStopped(job=job, raw=raw)
    match seen.state:
        case "SUCCEEDED":
            return JobSucceeded(job=job, raw=raw, exit_code=seen.exit_code)
        case "FAILED":
            return JobFailed(job=job, raw=raw, exit_code=seen.exit_code, reason=seen.reason)
        case "CANCELLED" | "STOPPED" if watch.stop is not None:
            return JobCancelled(job=job, raw=raw)
        case "CANCELLED" | "STOPPED":
            return JobStopped(job=job, raw=raw, reason=seen.reason)
        case "PENDING" | "RUNNING" | "UNKNOWN":
            return None
