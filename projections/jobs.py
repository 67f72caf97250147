"""Where the watch over a launch's job stands."""

from __future__ import annotations

from datetime import datetime

import msgspec

from gonogo.events.envelope import Said
from gonogo.events.job import (
    CancelRequested,
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
    WatchDetached,
    WatchRecovered,
)
from gonogo.events.launch import LaunchAccepted, LaunchPlanned
from gonogo.events.submission import SubmissionAccepted


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """The last request to stop the job: its number, when it was intended, and whether the platform took it."""

    number: int
    at: datetime
    answered: bool = False
    taken: bool = False


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """One launch as the watcher sees it. Without a job there is nothing to watch; the job's end makes it `over`.

    A `detached` job is not looked at, until a person cancels it: then it is stopped and watched to its end.
    """

    platform: str = ""
    target: str = ""
    poll_s: float = 60.0
    job: JobRef | None = None
    state: JobState | None = None
    raw: str = ""
    restarts: int = 0
    cancel_wanted: bool = False
    stop: Stop | None = None
    degraded_at: datetime | None = None
    detached: bool = False
    over: bool = False

    @property
    def watching(self) -> bool:
        """Whether there is a job whose end has to be seen."""
        return self.job is not None and not self.over and (self.cancel_wanted or not self.detached)


INITIAL = Watch()


def evolve(watch: Watch, said: Said) -> Watch:
    """Fold one event."""
    match said.event:
        case LaunchAccepted(request=request):
            return msgspec.structs.replace(watch, poll_s=request.monitor.poll_s, detached=request.monitor.detach)
        case LaunchPlanned(plan=plan):
            return msgspec.structs.replace(watch, platform=plan.platform, target=plan.target)
        case CancelRequested():
            return msgspec.structs.replace(watch, cancel_wanted=True)
        case WatchDetached():
            return msgspec.structs.replace(watch, detached=True)
        case SubmissionAccepted(job=job):
            return watch if watch.job == job else _watch_job(watch, job)
        case _:
            return _evolve_job(watch, said)


def _watch_job(watch: Watch, job: JobRef) -> Watch:
    return msgspec.structs.replace(
        watch, job=job, state=None, raw="", restarts=0, stop=None, degraded_at=None, over=False
    )


def _evolve_job(watch: Watch, said: Said) -> Watch:
    if getattr(said.event, "job", watch.job) != watch.job:
        return watch  # of a job that is not watched any more
    match said.event:
        case JobStatusChanged(state=state, raw=raw):
            return msgspec.structs.replace(watch, state=state, raw=raw)
        case JobRestarted(count=count):
            return msgspec.structs.replace(watch, restarts=count)
        case JobStopIntended(number=number):
            return msgspec.structs.replace(watch, stop=Stop(number=number, at=said.stored_at))
        case JobStopAnswered(number=number, taken=taken):
            if watch.stop is None or watch.stop.number != number:
                return watch
            return msgspec.structs.replace(
                watch, stop=Stop(number=number, at=said.stored_at, answered=True, taken=taken)
            )
        case WatchDegraded():
            return msgspec.structs.replace(watch, degraded_at=said.stored_at)
        case WatchRecovered():
            return msgspec.structs.replace(watch, degraded_at=None)
        case JobSucceeded() | JobFailed() | JobCancelled() | JobStopped() | DuplicateStopped():
            return msgspec.structs.replace(watch, over=True, degraded_at=None)
        case _:
            return watch
