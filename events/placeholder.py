"""What is said about placeholders: yielded before a submission, restored after it; and that a queue is clear.

Placeholder events stand in the history of their queue, because two launches that want the same queue must be decided in
one place. `QueueCleared` stands in the launch's own history.
"""

from __future__ import annotations

from typing import ClassVar

from gonogo.events.base import Event, Spoken, spoken
from gonogo.events.job import JobRef


class QueueCleared(Event, frozen=True, kw_only=True):
    """Nothing stands between this launch and its submission; said also when there was nothing to clear."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "placeholder")

    queue: str | None
    queue_version: int
    plan_digest: str


class PlaceholderBackedUp(Event, frozen=True, kw_only=True):
    """The placeholder's configuration is sealed and was read back: it can be restored."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef
    sealed_digest: str


class PlaceholderStopIntended(Event, frozen=True, kw_only=True):
    """About to stop a placeholder that bears exactly the configured name."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef
    launch: str


class PlaceholderStopped(Event, frozen=True, kw_only=True):
    """The platform's own record says the placeholder is stopped."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef


class PlaceholderStopUnresolved(Event, frozen=True, kw_only=True):
    """Nobody can tell yet whether the placeholder stopped."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef
    cause: str


class PlaceholderDeleteIntended(Event, frozen=True, kw_only=True):
    """About to delete the stopped placeholder's old record."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef


class PlaceholderDeleted(Event, frozen=True, kw_only=True):
    """The old record is gone, confirmed by a read."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef


class PlaceholderDeleteUnresolved(Event, frozen=True, kw_only=True):
    """Nobody can tell yet whether the old record is gone."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef
    cause: str


class PlaceholderRestoreIntended(Event, frozen=True, kw_only=True):
    """About to bring a yielded placeholder back: one attempt of a chain."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef
    attempt: int
    token: str


class PlaceholderRestored(Event, frozen=True, kw_only=True):
    """The placeholder is back, as this job."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef
    job: JobRef


class PlaceholderRestoreUnresolved(Event, frozen=True, kw_only=True):
    """Nobody can tell yet whether the restore took; the next attempt waits for proof."""

    SPOKEN: ClassVar[Spoken] = spoken("queue", "placeholder")

    placeholder: JobRef
    attempt: int
    cause: str
