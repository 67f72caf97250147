"""What the notifier does next. Pure.

In a launch's history it opens one notice per told event and channel; in a notice's history it sends until the channel
confirms, refuses for good, or the attempts are used up. Every attempt's result is on the record before the next.
"""

from __future__ import annotations

from datetime import datetime

from gonogo.events.base import Event
from gonogo.events.envelope import Said
from gonogo.events.ids import notice_history
from gonogo.events.notification import (
    NotificationDelivered,
    NotificationIntended,
    NotificationRecordedLocally,
    NotificationUnconfirmed,
    NotificationUndeliverable,
)
from gonogo.projections.notifications import Notice, State, Telling
from gonogo.services.notifier.wording import lines_of, title_of
from gonogo.services.runtime.decision import Decision, Repeatable, Trigger

ATTEMPTS_MAX = 8
"""With the delays below, about half an hour of trying."""
DELAYS_S = (2.0, 5.0, 15.0, 60.0, 180.0, 600.0, 900.0)
NOBODY = "nobody"
"""The channel of notices that have none: they are recorded, and nobody is told."""


class Open(Repeatable, frozen=True):
    """Begin the history of a notice, if it has not begun yet."""

    notice: str
    intended: NotificationIntended
    recorded_locally: bool


class Send(Repeatable, frozen=True):
    """Give the notice to its channel, under its key."""

    notice: str
    intended: NotificationIntended
    attempt: int


class Delivered(Repeatable, frozen=True):
    """The channel confirmed the attempt."""

    attempt: int
    receipt: str


class Failed(Repeatable, frozen=True):
    """The attempt did not get a confirmation. `again`: another attempt is right."""

    attempt: int
    cause: str
    again: bool


NotifierEffect = Open | Send
NOTHING: Decision[Event, NotifierEffect] = Decision()


def decide(state: State, trigger: Trigger) -> Decision[Event, NotifierEffect]:
    """Open what is to be told; send what is open and due."""
    match state:
        case Telling():
            return Decision(then=tuple(_openings(state)))
        case Notice(intended=NotificationIntended() as intended, over=False):
            if state.retry_at is not None and trigger.now < state.retry_at:
                return NOTHING
            key = notice_history(intended.launch, intended.event_id, intended.channel).id
            return Decision(then=(Send(key, intended, state.attempts + 1),))
        case _:
            return NOTHING


def due(state: State, now: datetime) -> datetime | None:
    """When the next attempt of an open notice is due."""
    _ = now
    return state.retry_at if isinstance(state, Notice) and not state.over else None


def conclude(state: State, result: object) -> tuple[Event, ...]:
    """What an attempt means, if its notice is still open."""
    if not isinstance(state, Notice) or state.over or state.intended is None:
        return ()
    match result:
        case Delivered(attempt=attempt, receipt=receipt):
            return (NotificationDelivered(receipt=receipt, attempts=attempt),)
        case Failed(attempt=attempt) if attempt <= state.attempts:
            return ()
        case Failed(attempt=attempt, cause=cause, again=True) if attempt < ATTEMPTS_MAX:
            delay = DELAYS_S[min(attempt, len(DELAYS_S)) - 1]
            return (NotificationUnconfirmed(attempt=attempt, cause=cause, retry_after_s=delay),)
        case Failed(attempt=attempt, cause=cause):
            return (NotificationUndeliverable(attempts=attempt, cause=cause),)
        case _:
            return ()


def _openings(state: Telling) -> list[Open]:
    channels = state.channels or (NOBODY,)
    return [_opening(state, said, channel) for said in state.tellable for channel in channels]


def _opening(state: Telling, said: Said, channel: str) -> Open:
    launch = state.launch
    intended = NotificationIntended(
        launch=launch,
        event_id=said.id,
        event_type=type(said.event).__name__,
        channel=channel,
        title=title_of(state.name, said),
        lines=lines_of(launch, said),
    )
    notice = notice_history(launch, said.id, channel).id
    return Open(notice, intended, recorded_locally=channel == NOBODY)


def recorded_locally() -> NotificationRecordedLocally:
    """What is said instead of sending where no channel is named."""
    return NotificationRecordedLocally(why="the request names no channel, so nobody was told")
