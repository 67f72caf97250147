"""What intake answers. Pure.

The same inbox message again is silent; the same key and payload is the earlier launch; the same key with another payload is
declined by name. Everything wrong with a word is told at once, and a declined request leaves its key free.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from gonogo.events.base import Event
from gonogo.events.ids import launch_id
from gonogo.events.launch import LaunchAccepted, LaunchPlanned, Person, Plan, plan_digest
from gonogo.events.request import Problem, Request, request_digest
from gonogo.projections.launches import JOBLESS, WAITING_FOR_A_PERSON, Launch
from gonogo.services.intake.words import (
    Approve,
    Attest,
    Cancel,
    Decline,
    Detach,
    Recheck,
    Resolve,
    Word,
    event_of,
)

FUTURE_MAX = timedelta(minutes=5)
"""A word that claims to be said this much after it arrived comes from a clock nobody can reason with."""
ANYONE = "*"


class Inbound(msgspec.Struct, frozen=True, kw_only=True):
    """One word as it arrived: the broker vouches for `client`, `sequence` and `stored_at`."""

    sequence: int
    client: str
    word: str
    body: bytes
    stored_at: datetime


class Accept(msgspec.Struct, frozen=True, kw_only=True):
    """Append these to the launch's history."""

    launch: str
    events: tuple[Event, ...]


class Silent(msgspec.Struct, frozen=True, kw_only=True):
    """This very message was taken before."""

    launch: str


class Deduplicate(msgspec.Struct, frozen=True, kw_only=True):
    """The same request was accepted before."""

    launch: str
    digest: str


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """Decline, with every problem."""

    problems: tuple[Problem, ...]
    launch: str | None = None


Verdict = Accept | Silent | Deduplicate | Turn


def key_of(request: Request) -> str:
    """The request key: the client's, or the digest of the request, so that a double Enter is one launch."""
    return request.key or request_digest(request)


def accept(inbound: Inbound, request: Request, plan: Plan) -> Accept:
    """The acceptance of a new launch, to be appended at version 0."""
    accepted = LaunchAccepted(
        inbox_sequence=inbound.sequence,
        person=Person(client=inbound.client, claimed=request.authorize.by if request.authorize else None),
        key=key_of(request),
        digest=request_digest(request),
        request=request,
    )
    planned = LaunchPlanned(plan=plan, plan_digest=plan_digest(plan))
    return Accept(launch=plan.token, events=(accepted, planned))


def known(inbound: Inbound, request: Request, existing: Launch) -> Verdict:
    """What a request means whose launch exists already."""
    launch = launch_id(inbound.client, key_of(request))
    if existing.inbox_sequence == inbound.sequence:
        return Silent(launch=launch)
    digest = request_digest(request)
    if existing.digest == digest:
        return Deduplicate(launch=launch, digest=digest)
    problem = Problem(
        path="key",
        problem=(
            f"the key {key_of(request)!r} was used for another request: launch {launch}, "
            f"accepted {existing.accepted_at:%Y-%m-%d %H:%M:%S} UTC"
        ),
        fix="give this request a key of its own, or send exactly the earlier request",
    )
    return Turn(problems=(problem,), launch=launch)


def recovery_problems(request: Request, old: Launch, *, new: str) -> tuple[Problem, ...]:
    """Why this request may not recover that launch."""
    if request.recovery_of is None:
        return ()
    name = request.recovery_of.launch
    path = "recovery_of.launch"
    if not old.exists:
        return (
            Problem(path=path, problem=f"there is no launch {name}", fix="name the launch to recover by its full id"),
        )
    if old.superseded_by == new:
        return ()
    if old.superseded_by is not None:
        problem = f"launch {name} is recovered already, by launch {old.superseded_by}"
        return (
            Problem(path=path, problem=problem, fix=f"recover {old.superseded_by} instead, if that one has no job"),
        )
    if old.standing not in JOBLESS:
        problem = f"launch {name} is {old.standing}: only a launch proven to have no job can be recovered"
        fix = "wait for its verdict, or settle it with: gonogo resolve"
        return (Problem(path=path, problem=problem, fix=fix),)
    return ()


def hear(inbound: Inbound, word: Word, launch: Launch, *, approvers: frozenset[str]) -> Verdict:
    """What a later word means for its launch."""
    if inbound.sequence in launch.words:
        return Silent(launch=word.launch)
    problems = (*_time_problems(inbound, word), *_standing_problems(word, launch, inbound.client, approvers))
    if problems:
        return Turn(problems=problems, launch=word.launch if launch.exists else None)
    event = event_of(word, client=inbound.client, sequence=inbound.sequence)
    return Accept(launch=word.launch, events=(event,))


def _time_problems(inbound: Inbound, word: Word) -> tuple[Problem, ...]:
    problems: list[Problem] = []
    if word.said_at is not None and _utc(word.said_at) > inbound.stored_at + FUTURE_MAX:
        what = f"said at {word.said_at.isoformat()}, but it arrived at {inbound.stored_at.isoformat()}"
        problems.append(Problem(path="said_at", problem=what, fix="set the client's clock, or leave said_at out"))
    if word.expires_at is not None and _utc(word.expires_at) <= inbound.stored_at:
        what = f"expired at {word.expires_at.isoformat()}, before it arrived"
        problems.append(Problem(path="expires_at", problem=what, fix="look at the launch again, then say it anew"))
    return tuple(problems)


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _standing_problems(word: Word, launch: Launch, client: str, approvers: frozenset[str]) -> tuple[Problem, ...]:
    if not launch.exists:
        return (Problem(path="launch", problem=f"there is no launch {word.launch}", fix="see: gonogo list"),)
    match word:
        case Approve() | Decline():
            return _review_problems(word, launch, client, approvers)
        case Cancel() if launch.ended and launch.standing not in (*JOBLESS, "unwatched"):
            return (_over(launch, "cancelled"),)
        case Recheck() if launch.ended or launch.submission != "none":
            return (_over(launch, "checked again"),)
        case Attest() if launch.standing != "no-go":
            problem = f"launch {launch.id} is {launch.standing}: nothing waits for an attestation"
            return (Problem(path="launch", problem=problem, fix="see: gonogo show"),)
        case Resolve():
            return _resolve_problems(word, launch)
        case Detach() if launch.ended:
            return (_over(launch, "detached"),)
        case Detach() if launch.job is None:
            problem = f"launch {launch.id} is {launch.standing} and has no job to detach from"
            fix = "gonogo cancel, or wait until it is submitted"
            return (Problem(path="launch", problem=problem, fix=fix),)
        case _:
            return ()


def _over(launch: Launch, done: str) -> Problem:
    problem = f"launch {launch.id} is {launch.standing} and cannot be {done}"
    return Problem(path="launch", problem=problem, fix="see: gonogo show; a new attempt is a new launch")


def _review_problems(
    word: Approve | Decline, launch: Launch, client: str, approvers: frozenset[str]
) -> tuple[Problem, ...]:
    problems: list[Problem] = []
    if word.plan_digest != launch.plan_digest:
        what = f"{word.plan_digest!r} is not the digest of this launch's plan ({launch.plan_digest})"
        problems.append(Problem(path="plan_digest", problem=what, fix="read the review again and give its digest"))
    if ANYONE not in approvers and client not in approvers:
        what = f"the client {client!r} may not answer reviews"
        problems.append(Problem(path="client", problem=what, fix=f"ask one of: {', '.join(sorted(approvers))}"))
    if launch.review in ("confirmed", "declined"):
        what = f"the review of launch {launch.id} is {launch.review} already"
        problems.append(Problem(path="launch", problem=what, fix="nothing to do; cancel it if it must not run"))
    elif launch.ended:
        problems.append(_over(launch, "reviewed"))
    return tuple(problems)


def _resolve_problems(word: Resolve, launch: Launch) -> tuple[Problem, ...]:
    problems: list[Problem] = []
    if (word.job_id is None) == (not word.absent):
        what = "say either which job it is (job_id) or that there is none (absent), not both"
        problems.append(Problem(path="job_id", problem=what, fix="gonogo resolve LAUNCH --job ID, or --absent"))
    if not word.evidence.strip():
        what = "a declaration without evidence is worth nothing in an audit"
        problems.append(Problem(path="evidence", problem=what, fix="say where you looked and what you saw"))
    if launch.submission not in ("in-doubt", "conflict") or launch.standing not in WAITING_FOR_A_PERSON:
        what = f"launch {launch.id} is {launch.standing}: there is no doubt to settle"
        problems.append(Problem(path="launch", problem=what, fix="see: gonogo show"))
    return tuple(problems)
