"""What is said about telling people: one history per notice, so a notice is told once."""

from __future__ import annotations

from typing import ClassVar

from gonogo.events.base import Event, Spoken, spoken


class NotificationIntended(Event, frozen=True, kw_only=True):
    """A notice is due: which launch and event it is about, and for whom."""

    SPOKEN: ClassVar[Spoken] = spoken("notice", "notifier")

    launch: str
    event_id: str
    event_type: str
    channel: str
    title: str
    lines: tuple[str, ...] = ()


class NotificationDelivered(Event, frozen=True, kw_only=True):
    """The channel itself confirmed it."""

    SPOKEN: ClassVar[Spoken] = spoken("notice", "notifier")

    receipt: str
    attempts: int


class NotificationUnconfirmed(Event, frozen=True, kw_only=True):
    """An attempt was made and nobody can tell whether people saw it; tried again only where that is safe."""

    SPOKEN: ClassVar[Spoken] = spoken("notice", "notifier")

    attempt: int
    cause: str
    retry_after_s: float | None = None


class NotificationUndeliverable(Event, frozen=True, kw_only=True):
    """The channel refused it for good, or every attempt failed."""

    SPOKEN: ClassVar[Spoken] = spoken("notice", "notifier")

    attempts: int
    cause: str


class NotificationRecordedLocally(Event, frozen=True, kw_only=True):
    """No channel is configured, so this is only on the record; nobody was told."""

    SPOKEN: ClassVar[Spoken] = spoken("notice", "notifier")

    why: str
