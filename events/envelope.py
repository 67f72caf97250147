"""Who said an event, when, and because of what: a small profile of CloudEvents 1.0.

`time` is when the world was observed, `recordedtime` the writer's clock when it decided: the pure deciders get exactly that
instant, so a replay can feed it to them again. The broker's own timestamp (`stored_at`) is the only one that is compared
across hosts.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from gonogo.events.base import Event, Role
from gonogo.events.ids import History

TriggerWord = Literal["woken", "due", "recovered", "outcome", "inbox"]


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One event with its circumstances, as a fold sees it."""

    id: str
    event: Event
    role: Role
    instance: str
    observed_at: datetime
    recorded_at: datetime
    stored_at: datetime
    sequence: int
    caused_by: str
    trigger: TriggerWord


class Utterance(msgspec.Struct, frozen=True, kw_only=True):
    """One message about to be appended: 1..n events of one decision, said by one role in one history."""

    history: History
    role: Role
    said: tuple[Said, ...]

    @property
    def id(self) -> str:
        """The id that makes a repeated append recognisable: that of its first event."""
        return self.said[0].id


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the log as read back. `sequence` orders the whole log; the last one of a history is its version."""

    history: History
    role: Role
    sequence: int
    stored_at: datetime
    said: tuple[Said, ...]


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the log that breaks the contract. Nobody acts on its history until a person has looked."""

    history: History | None
    subject: str
    sequence: int
    reason: str


LogItem = Entry | Unreadable
