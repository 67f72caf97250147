"""What people are to be told about a launch, and where each notice stands."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from gonogo.events.base import Event
from gonogo.events.envelope import Said
from gonogo.events.job import (
    DuplicateStopped,
    JobCancelled,
    JobFailed,
    JobRestarted,
    JobStatusChanged,
    JobStopped,
    JobSucceeded,
    WatchDegraded,
    WatchRecovered,
)
from gonogo.events.launch import LaunchAccepted, LaunchCancelled, LaunchPlanned
from gonogo.events.notification import (
    NotificationDelivered,
    NotificationIntended,
    NotificationRecordedLocally,
    NotificationUnconfirmed,
    NotificationUndeliverable,
)
from gonogo.events.preflight import PreflightFailed, ReviewDeclined, ReviewRequested
from gonogo.events.submission import (
    SubmissionAbsent,
    SubmissionAccepted,
    SubmissionConflicted,
    SubmissionMismatched,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionWithheld,
)

TOLD: tuple[type[Event], ...] = (
    PreflightFailed,
    ReviewRequested,
    ReviewDeclined,
    LaunchCancelled,
    SubmissionAccepted,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionAbsent,
    SubmissionWithheld,
    SubmissionConflicted,
    SubmissionMismatched,
    JobStatusChanged,
    JobRestarted,
    JobSucceeded,
    JobFailed,
    JobCancelled,
    JobStopped,
    DuplicateStopped,
    WatchDegraded,
    WatchRecovered,
)
"""The events that people are told about, each once per channel."""


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """One launch as the notifier sees it: whom to tell, and everything there is to tell so far."""

    launch: str = ""
    channels: tuple[str, ...] = ()
    name: str = ""
    tellable: tuple[Said, ...] = ()


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One notice: intended, perhaps tried, perhaps over."""

    intended: NotificationIntended | None = None
    attempts: int = 0
    retry_at: datetime | None = None
    over: bool = False


State = Telling | Notice
INITIAL_TELLING = Telling()
INITIAL_NOTICE = Notice()


def evolve_telling(state: Telling, said: Said) -> Telling:
    """Fold one event of a launch's history."""
    match said.event:
        case LaunchAccepted(request=request):
            return msgspec.structs.replace(state, channels=tuple(request.notify), name=request.name)
        case LaunchPlanned(plan=plan):
            return msgspec.structs.replace(state, launch=plan.token)
        case event if isinstance(event, TOLD):
            return msgspec.structs.replace(state, tellable=(*state.tellable, said))
        case _:
            return state


def evolve_notice(state: Notice, said: Said) -> Notice:
    """Fold one event of a notice's history."""
    match said.event:
        case NotificationIntended() as intended:
            return msgspec.structs.replace(state, intended=intended)
        case NotificationUnconfirmed(attempt=attempt, retry_after_s=None):
            return msgspec.structs.replace(state, attempts=attempt, retry_at=None, over=True)
        case NotificationUnconfirmed(attempt=attempt, retry_after_s=float(after)):
            retry_at = said.stored_at + timedelta(seconds=after)
            return msgspec.structs.replace(state, attempts=attempt, retry_at=retry_at)
        case NotificationDelivered() | NotificationUndeliverable() | NotificationRecordedLocally():
            return msgspec.structs.replace(state, over=True, retry_at=None)
        case _:
            return state


def is_told(event: Event) -> bool:
    """Whether people are told about this event."""
    return isinstance(event, TOLD)
