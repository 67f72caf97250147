"""What the submitter does next. Pure: no clock, no ids, no I/O.

A launch is submitted at most once. The intent is on the log before the platform is touched, so an intent without an
outcome means "maybe": it is looked up, never submitted again. Create is decided in one line only, together with the intent
that it belongs to.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from gonogo.events.base import Event
from gonogo.events.job import JobRef
from gonogo.events.launch import LaunchCancelled, Plan
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
from gonogo.projections.submissions import (
    Awaiting,
    Conflicted,
    Contradicted,
    Created,
    InDoubt,
    Intended,
    Look,
    Settled,
    Submission,
)
from gonogo.services.runtime.decision import AtMostOnce, Decision, Recovered, Repeatable, Trigger
from gonogo.services.submitter.evidence import absence_evidence, lineages, next_look_at, next_name_watch_at


class Create(AtMostOnce, frozen=True):
    """Call the platform's create with exactly the rendering of the plan."""

    intent: SubmissionIntended
    plan: Plan


class LookUp(Repeatable, frozen=True):
    """Search completely for the exact job name."""

    plan: Plan


class ReadBack(Repeatable, frozen=True):
    """Read the job by id and compare it with the plan."""

    job: JobRef
    plan: Plan


SubmitterEffect = Create | LookUp | ReadBack
SubmitterDecision = Decision[Event, SubmitterEffect]
NOTHING: SubmitterDecision = Decision()

DIED = "the process that intended it ended before it recorded an outcome"
READ_BACK_MAX = timedelta(hours=1)
"""A job that cannot be read back for this long is left to the watcher, visibly unverified."""


def decide(state: Submission, trigger: Trigger) -> SubmitterDecision:
    """Decide from the stage; the trigger only tells the time and whether another process's work is over."""
    gates, now = state.gates, trigger.now
    if gates.plan is None or gates.unknown:
        return NOTHING
    match state.stage:
        case Awaiting():
            return _await(state, gates.plan, now)
        case Intended() as stage if isinstance(trigger, Recovered) or now >= _overdue_at(stage):
            return Decision(record=(SubmissionUnresolved(cause=DIED),))
        case InDoubt() as stage:
            return _resolve(stage, gates.plan, now)
        case Created(job=job, read_back=False, at=at) if now < at + READ_BACK_MAX:
            return Decision(then=(ReadBack(job, gates.plan),))
        case Contradicted(jobs=jobs, why=why):
            return Decision(record=(SubmissionConflicted(jobs=jobs, why=why),))
        case Conflicted(jobs=jobs, declared=SettlementDeclared() as declared):
            return Decision(record=(_declared(declared, gates.plan.job_name, jobs),))
        case Settled() as stage:
            return _after(stage, state, now)
        case _:
            return NOTHING


def due(state: Submission, now: datetime) -> datetime | None:
    """The next instant at which `decide` may say something new."""
    if state.gates.plan is None:
        return None
    match state.stage:
        case Intended() as stage:
            return _overdue_at(stage)
        case InDoubt() as stage:
            return next_look_at(stage)
        case Created(read_back=False, at=at) if now < at + READ_BACK_MAX:
            return now + max(timedelta(seconds=1), (now - at) / 2)
        case Settled() as stage:
            return next_name_watch_at(stage)
        case _:
            return None


def _await(state: Submission, plan: Plan, now: datetime) -> SubmitterDecision:
    gates = state.gates
    if gates.cancelled is not None:
        return Decision(record=(LaunchCancelled(reason=gates.cancelled),))
    if not gates.may_submit(now):
        return NOTHING
    intent = SubmissionIntended(
        token=plan.token,
        job_name=plan.job_name,
        plan_digest=gates.plan_digest or "",
        rendering_digest=plan.rendering.digest,
        terms=plan.terms,
    )
    return Decision(record=(intent,), then=(Create(intent, plan),))


def _overdue_at(stage: Intended) -> datetime:
    """When the intent's writer is certainly done, so silence means that it died."""
    return stage.at + timedelta(seconds=stage.intent.terms.grace_s)


def _resolve(stage: InDoubt, plan: Plan, now: datetime) -> SubmitterDecision:
    found = _last_found(stage.looks)
    if len(lineages(found)) > 1:
        jobs = tuple(sighting.job for sighting in found)
        return Decision(record=(SubmissionConflicted(jobs=jobs, why="more than one job bears the launch's name"),))
    if found:
        return Decision(record=(SubmissionAccepted(job=found[0].job, found_by_lookup=True),))
    if stage.declared is not None:
        return Decision(record=(_declared(stage.declared, plan.job_name, ()),))
    evidence = absence_evidence(stage)
    if evidence is not None:
        return Decision(record=(evidence,))
    return Decision(then=(LookUp(plan),)) if now >= next_look_at(stage) else NOTHING


def _last_found(looks: tuple[Look, ...]) -> tuple[Sighting, ...]:
    return looks[-1].found if looks else ()


def _declared(
    declared: SettlementDeclared, job_name: str, jobs: tuple[JobRef, ...]
) -> SubmissionAccepted | SubmissionAbsent:
    """A person's word, marked as theirs: it is not evidence."""
    if declared.absent or declared.job_id is None:
        evidence = f"declared by {declared.person}, not proven: {declared.evidence}"
        return SubmissionAbsent(evidence=evidence, declared=True)
    known = next((job for job in jobs if job.id == declared.job_id), None)
    job = known or JobRef(id=declared.job_id, name=job_name, identity=f"declared by {declared.person}")
    return SubmissionAccepted(job=job, found_by_lookup=False)


def _after(stage: Settled, state: Submission, now: datetime) -> SubmitterDecision:
    if state.gates.cancelled is not None:
        return Decision(record=(LaunchCancelled(reason=state.gates.cancelled),))
    watch_at = next_name_watch_at(stage)
    if state.gates.plan is not None and watch_at is not None and now >= watch_at:
        return Decision(then=(LookUp(state.gates.plan),))
    return NOTHING


def conclude(state: Submission, result: object) -> tuple[Event, ...]:
    """What a result means now. An outcome of create is a fact whatever the state; a reading speaks only to its stage."""
    match result:
        case SubmissionAccepted() | SubmissionRejected() | SubmissionUnresolved() | SubmissionWithheld():
            return (result,)
        case SubmissionLookedUp() if isinstance(state.stage, InDoubt | Settled):
            return (result,)
        case SubmissionVerified() | SubmissionMismatched():
            unread = isinstance(state.stage, Created) and not state.stage.read_back
            return (result,) if unread else ()
        case _:
            return ()
