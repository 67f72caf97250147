"""What preflight does next. Pure.

All checks of a round speak together; then the poll is judged. Evidence grows old: once a launch is confirmed, expired
evidence is looked at again without asking people again. The yes is bound to the plan digest, never to evidence.
"""

from __future__ import annotations

from datetime import datetime

from gonogo.events.base import Event
from gonogo.events.launch import Person, Plan
from gonogo.events.preflight import (
    PreflightExpired,
    PreflightFailed,
    PreflightPassed,
    ReviewConfirmed,
    ReviewRequested,
)
from gonogo.events.request import Authorize, Request
from gonogo.projections.preflights import Preflight, Verdict
from gonogo.services.runtime.decision import Decision, Repeatable, Trigger

VALID_FOR_S = 600.0
"""How long a go holds. Long enough for a queue to clear, short enough that disks and credentials are still as seen."""


class RunChecks(Repeatable, frozen=True):
    """Run every check that applies, reading only."""

    request: Request
    plan: Plan
    round: int


class Verdicts(Repeatable, frozen=True):
    """What the checks of a round said."""

    round: int
    verdicts: tuple[Verdict, ...]


NOTHING: Decision[Event, RunChecks] = Decision()


def decide(state: Preflight, trigger: Trigger) -> Decision[Event, RunChecks]:
    """Run the checks, judge them, and look again at evidence that has grown old."""
    if state.plan is None or state.request is None:
        return NOTHING
    match state.stage:
        case "checking" if not state.verdicts:
            return Decision(then=(RunChecks(state.request, state.plan, state.round),))
        case "checking":
            return Decision(record=_judge(state))
        case "go" if _is_stale(state, trigger.now):
            return Decision(record=(PreflightExpired(round=state.round),))
        case _:
            return NOTHING


def due(state: Preflight, now: datetime) -> datetime | None:
    """When confirmed evidence expires. While a person is awaited nothing is checked again."""
    _ = now
    return state.go_until if state.stage == "go" and state.confirmed else None


def conclude(state: Preflight, result: object) -> tuple[Event, ...]:
    """The verdicts count for the round they were asked in."""
    match result:
        case Verdicts(round=asked, verdicts=verdicts):
            open_round = state.stage == "checking" and state.round == asked and not state.verdicts
            return verdicts if open_round else ()
        case _:
            return ()


def _is_stale(state: Preflight, now: datetime) -> bool:
    return state.confirmed and state.go_until is not None and now >= state.go_until


def _judge(state: Preflight) -> tuple[Event, ...]:
    blockers = state.blockers
    if blockers:
        return (PreflightFailed(round=state.round, blockers=blockers),)
    passed = PreflightPassed(round=state.round, plan_digest=state.plan_digest, valid_for_s=VALID_FOR_S)
    return (passed, *_ask_for_the_yes(state))


def _ask_for_the_yes(state: Preflight) -> tuple[Event, ...]:
    if state.confirmed:
        return ()
    authorize = state.request.authorize if state.request else None
    if authorize is not None and "submit" in authorize.may and state.person is not None:
        return (_authorized(state, state.person, authorize),)
    return () if state.review_requested else (ReviewRequested(plan_digest=state.plan_digest),)


def _authorized(state: Preflight, person: Person, authorize: Authorize) -> ReviewConfirmed:
    by = Person(client=person.client, claimed=authorize.by or person.claimed)
    return ReviewConfirmed(plan_digest=state.plan_digest, person=by, how="authorization", basis=authorize.basis)
