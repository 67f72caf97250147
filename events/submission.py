"""What is said about the one create call of a launch: intended, and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

import msgspec

from gonogo.events.base import Event, Spoken, spoken
from gonogo.events.job import JobRef
from gonogo.events.launch import CreateTerms, Person


class SubmissionIntended(Event, frozen=True, kw_only=True):
    """About to create, once. On the log before the platform is touched. `terms` bound how long its create may live."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    token: str
    job_name: str
    plan_digest: str
    rendering_digest: str
    terms: CreateTerms


class SubmissionAccepted(Event, frozen=True, kw_only=True):
    """The platform has the job: by its own answer, or found by look-up (`found_by_lookup`)."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    job: JobRef
    found_by_lookup: bool = False


class SubmissionVerified(Event, frozen=True, kw_only=True):
    """The job was read back by id and is the planned one."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    job: JobRef
    facts: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class SubmissionMismatched(Event, frozen=True, kw_only=True):
    """The job was read back and differs from the plan, field by field."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    job: JobRef
    differences: tuple[str, ...]


class SubmissionRejected(Event, frozen=True, kw_only=True):
    """The platform proved that it did not create the job."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    code: str
    reason: str
    proof: str


class SubmissionUnresolved(Event, frozen=True, kw_only=True):
    """Nobody can tell whether the job exists. Looked up from here on, never created again.

    The grace of the look-ups starts when this is stored.
    """

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    cause: str


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One job with the launch's exact name, as a look-up saw it."""

    job: JobRef
    state: str
    lineage: str | None = None


class SubmissionLookedUp(Event, frozen=True, kw_only=True):
    """One look-up by exact name: complete or failed (`cause`), what it found, and its positive control.

    `control` names a job that the very same query showed: without one, an empty answer proves nothing (unless the
    backend's negative by name is authoritative).
    """

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    complete: bool
    found: tuple[Sighting, ...] = ()
    control: str | None = None
    cause: str | None = None


class SubmissionAbsent(Event, frozen=True, kw_only=True):
    """No job exists under the launch's name; the look-ups that prove it are named."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    evidence: str
    looked_up_at: tuple[datetime, ...] = ()
    declared: bool = False


class SubmissionConflicted(Event, frozen=True, kw_only=True):
    """More than one job, or a job where its absence had been established. Nothing is cancelled automatically."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    jobs: tuple[JobRef, ...]
    why: str


class SubmissionWithheld(Event, frozen=True, kw_only=True):
    """Create was never called for this intent; `proof` says how that is known."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    proof: str


class SettlementDeclared(Event, frozen=True, kw_only=True):
    """A person settles a doubt: this is the job, or there is none. Marked as declared, not proven."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "request")

    job_id: str | None
    absent: bool
    evidence: str
    person: Person
    inbox_sequence: int | None = None
