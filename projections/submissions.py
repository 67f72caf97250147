"""Where the one submission of a launch stands. The stages are types: "in doubt without an intent" cannot be written.

An intent without an outcome means "maybe". From there only evidence leads on: the platform's own answer, a look-up that
found the job, look-ups that prove its absence, or a person's declaration.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from gonogo.events.envelope import Said
from gonogo.events.job import JobRef
from gonogo.events.launch import LaunchCancelled
from gonogo.events.submission import (
    SettlementDeclared,
    Sighting,
    SubmissionAbsent,
    SubmissionAccepted,
    SubmissionConflicted,
    SubmissionIntended,
    SubmissionLookedUp,
    SubmissionMismatched,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionVerified,
    SubmissionWithheld,
)
from gonogo.projections.gates import CLOSED, Gates, evolve_gates


class Awaiting(msgspec.Struct, frozen=True):
    """Nothing is intended yet."""


class Intended(msgspec.Struct, frozen=True, kw_only=True):
    """The intent is on the log; its writer may be creating right now, or be dead."""

    intent: SubmissionIntended
    at: datetime


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One look-up, as far as a verdict needs it."""

    at: datetime
    complete: bool
    found: tuple[Sighting, ...]
    control: str | None


class InDoubt(msgspec.Struct, frozen=True, kw_only=True):
    """Maybe created. `since` is when the doubt was last (re)started; look-ups before its grace prove no absence."""

    intent: SubmissionIntended
    since: datetime
    cause: str
    looks: tuple[Look, ...] = ()
    declared: SettlementDeclared | None = None


class Created(msgspec.Struct, frozen=True, kw_only=True):
    """The platform has the job. `read_back` once it was compared with the plan."""

    intent: SubmissionIntended
    job: JobRef
    at: datetime
    read_back: bool = False


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """There is no job: rejected, absent or withheld (`how`). Its name stays on watch for a while."""

    intent: SubmissionIntended
    how: str
    at: datetime
    looks: int = 0


class Contradicted(msgspec.Struct, frozen=True, kw_only=True):
    """Two facts that cannot both be right; to be said out loud as a conflict."""

    intent: SubmissionIntended
    jobs: tuple[JobRef, ...]
    why: str


class Conflicted(msgspec.Struct, frozen=True, kw_only=True):
    """Said to be in conflict; waits for a person."""

    intent: SubmissionIntended
    jobs: tuple[JobRef, ...]
    declared: SettlementDeclared | None = None


class Cancelled(msgspec.Struct, frozen=True):
    """Ended before anything was sent, or after it was established that nothing exists."""


Stage = Awaiting | Intended | InDoubt | Created | Settled | Contradicted | Conflicted | Cancelled


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """One launch as the submitter sees it."""

    gates: Gates = CLOSED
    stage: Stage = Awaiting()


INITIAL = Submission()


def evolve(state: Submission, said: Said) -> Submission:
    """Fold one event."""
    return Submission(gates=evolve_gates(state.gates, said), stage=_evolve_stage(state.stage, said))


def _evolve_stage(stage: Stage, said: Said) -> Stage:
    match stage, said.event:
        case _, LaunchCancelled():
            return Cancelled()
        case Awaiting(), SubmissionIntended() as intent:
            return Intended(intent=intent, at=said.stored_at)
        case ((Awaiting() | Cancelled()), _):
            return stage
        case _, SubmissionAccepted(job=job):
            return _accepted(stage, job, said)
        case ((Intended() | InDoubt()), _):
            return _evolve_doubt(stage, said)
        case Created(), (SubmissionVerified() | SubmissionMismatched()):
            return msgspec.structs.replace(stage, read_back=True)
        case ((Created() | Settled() | Contradicted()), SubmissionConflicted(jobs=jobs)):
            return Conflicted(intent=stage.intent, jobs=jobs)
        case Settled(), SubmissionLookedUp(found=found):
            return _looked_again(stage, found)
        case Conflicted(), SettlementDeclared() as declared:
            return msgspec.structs.replace(stage, declared=declared)
        case Conflicted(), SubmissionAbsent():
            return Settled(intent=stage.intent, how="absent", at=said.stored_at)
        case _:
            return stage


def _evolve_doubt(stage: Intended | InDoubt, said: Said) -> Stage:
    intent, at = stage.intent, said.stored_at
    match said.event:
        case SubmissionUnresolved(cause=cause):
            declared = stage.declared if isinstance(stage, InDoubt) else None
            return InDoubt(intent=intent, since=at, cause=cause, declared=declared)
        case SubmissionRejected():
            return Settled(intent=intent, how="rejected", at=at)
        case SubmissionAbsent():
            return Settled(intent=intent, how="absent", at=at)
        case SubmissionWithheld():
            return Settled(intent=intent, how="withheld", at=at)
        case SubmissionConflicted(jobs=jobs):
            return Conflicted(intent=intent, jobs=jobs)
        case SubmissionLookedUp(complete=complete, found=found, control=control) if isinstance(stage, InDoubt):
            look = Look(at=at, complete=complete, found=found, control=control)
            return msgspec.structs.replace(stage, looks=(*stage.looks, look))
        case SettlementDeclared() as declared if isinstance(stage, InDoubt):
            return msgspec.structs.replace(stage, declared=declared)
        case _:
            return stage


def _accepted(stage: Stage, job: JobRef, said: Said) -> Stage:
    match stage:
        case Intended(intent=intent) | InDoubt(intent=intent) | Conflicted(intent=intent):
            return Created(intent=intent, job=job, at=said.stored_at)
        case Created(intent=intent, job=known) if known != job:
            return Contradicted(intent=intent, jobs=(known, job), why="two jobs were accepted for one intent")
        case Settled(intent=intent, how=how):
            return Contradicted(intent=intent, jobs=(job,), why=f"a job was accepted after the verdict {how!r}")
        case _:
            return stage


def _looked_again(stage: Settled, found: tuple[Sighting, ...]) -> Stage:
    if found:
        jobs = tuple(sighting.job for sighting in found)
        return Contradicted(intent=stage.intent, jobs=jobs, why=f"a job appeared after the verdict {stage.how!r}")
    return msgspec.structs.replace(stage, looks=stage.looks + 1)
