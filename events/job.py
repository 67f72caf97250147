"""What is said about the job on its platform, from its first status to the end of the watch."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from gonogo.events.base import Event, Spoken, spoken
from gonogo.events.launch import Person

JobState = Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "STOPPED", "UNKNOWN"]
"""Our words for a job's state. The platform's own word is always kept beside it."""


class JobRef(msgspec.Struct, frozen=True, kw_only=True):
    """A job is its id **and** its name **and** the identity of the platform that gave the id: ids are reused."""

    id: str
    name: str
    identity: str


class JobStatusChanged(Event, frozen=True, kw_only=True):
    """The platform's word on the job changed. Unknown words are kept and are never terminal."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    state: JobState
    raw: str
    reason: str | None = None


class JobRestarted(Event, frozen=True, kw_only=True):
    """The platform started the same job again (a requeue); counted by the start guard."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    count: int


class JobSucceeded(Event, frozen=True, kw_only=True):
    """The platform's own record says the job ended well. It says nothing about the training's metrics."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    raw: str
    exit_code: int | None = None


class JobFailed(Event, frozen=True, kw_only=True):
    """The platform's own record says the job failed."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    raw: str
    exit_code: int | None = None
    reason: str | None = None


class JobCancelled(Event, frozen=True, kw_only=True):
    """The job ended because a person asked for it here."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    raw: str


class JobStopped(Event, frozen=True, kw_only=True):
    """The job was ended by someone or something else; the cause is as far as the platform states it."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    raw: str
    reason: str | None = None


class DuplicateStopped(Event, frozen=True, kw_only=True):
    """A second copy of the launch was turned away by the start guard. Not this launch's failure."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    raw: str


class JobStopIntended(Event, frozen=True, kw_only=True):
    """The watcher is about to ask the platform to stop the job, because a person cancelled it."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    number: int


class JobStopAnswered(Event, frozen=True, kw_only=True):
    """What the platform answered to the stop. Only the job's own record ends the watch."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    number: int
    taken: bool
    answer: str


class WatchDegraded(Event, frozen=True, kw_only=True):
    """The platform cannot be seen; says nothing about the job. Once per episode."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef
    failures: int
    cause: str


class WatchRecovered(Event, frozen=True, kw_only=True):
    """The platform can be seen again."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "watcher")

    job: JobRef


class CancelRequested(Event, frozen=True, kw_only=True):
    """A person asks for the launch to end. Before the intent nothing is sent; after it the job is stopped."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "request")

    person: Person
    reason: str | None = None
    inbox_sequence: int | None = None


class WatchDetached(Event, frozen=True, kw_only=True):
    """A person ends the watch; the job goes on unwatched."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "request")

    person: Person
    inbox_sequence: int | None = None
