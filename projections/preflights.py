"""Where the poll of a launch stands: which checks of the present round have spoken, and what is still open."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

import msgspec

from gonogo.events.base import UnknownEvent
from gonogo.events.envelope import Said
from gonogo.events.job import CancelRequested
from gonogo.events.launch import LaunchAccepted, LaunchPlanned, LaunchSuperseded, Person, Plan
from gonogo.events.preflight import (
    CheckAttested,
    CheckFailed,
    CheckPassed,
    CheckUnverifiable,
    PreflightExpired,
    PreflightFailed,
    PreflightPassed,
    RecheckRequested,
    ReviewConfirmed,
    ReviewDeclined,
    ReviewRequested,
)
from gonogo.events.request import Request
from gonogo.events.submission import SubmissionIntended

Verdict = CheckPassed | CheckFailed | CheckUnverifiable
Stage = Literal["unplanned", "checking", "go", "no-go", "over"]


class Preflight(msgspec.Struct, frozen=True, kw_only=True):
    """One launch as preflight sees it. `over`: nothing it could say would change anything any more."""

    request: Request | None = None
    person: Person | None = None
    plan: Plan | None = None
    plan_digest: str = ""
    stage: Stage = "unplanned"
    round: int = 1
    verdicts: tuple[Verdict, ...] = ()
    attested: frozenset[str] = frozenset()
    go_until: datetime | None = None
    review_requested: bool = False
    confirmed: bool = False

    @property
    def blockers(self) -> tuple[str, ...]:
        """Every check of this round that says no, or cannot see and was not attested, as a sentence."""
        return tuple(_blocker(v) for v in self.verdicts if self._blocks(v))

    def _blocks(self, verdict: Verdict) -> bool:
        match verdict:
            case CheckPassed():
                return False
            case CheckFailed():
                return True
            case CheckUnverifiable(check=check):
                return check not in self.attested


INITIAL = Preflight()


def _blocker(verdict: Verdict) -> str:
    match verdict:
        case CheckFailed(check=check, problem=problem, fix=fix):
            return f"{check}: {problem}: {fix}"
        case CheckUnverifiable(check=check, why=why):
            return f"{check}: cannot be seen from here ({why}): attest it, naming your evidence"
        case CheckPassed(check=check):
            return check


def evolve(state: Preflight, said: Said) -> Preflight:
    """Fold one event."""
    match said.event:
        case UnknownEvent() | CancelRequested() | LaunchSuperseded() | SubmissionIntended():
            return msgspec.structs.replace(state, stage="over")
        case _ if state.stage == "over":
            return state
        case LaunchAccepted(request=request, person=person):
            return msgspec.structs.replace(state, request=request, person=person)
        case LaunchPlanned(plan=plan, plan_digest=digest):
            return msgspec.structs.replace(state, plan=plan, plan_digest=digest, stage="checking")
        case _:
            return _evolve_poll(state, said)


def _evolve_poll(state: Preflight, said: Said) -> Preflight:
    match said.event:
        case (CheckPassed() | CheckFailed() | CheckUnverifiable()) as verdict:
            if verdict.round != state.round or any(v.check == verdict.check for v in state.verdicts):
                return state
            return msgspec.structs.replace(state, verdicts=(*state.verdicts, verdict))
        case PreflightPassed(valid_for_s=valid_for_s):
            until = said.stored_at + timedelta(seconds=valid_for_s)
            return msgspec.structs.replace(state, stage="go", go_until=until)
        case PreflightFailed():
            return msgspec.structs.replace(state, stage="no-go")
        case PreflightExpired() | RecheckRequested():
            return msgspec.structs.replace(state, stage="checking", round=state.round + 1, verdicts=(), go_until=None)
        case CheckAttested(check=check):
            stage = "checking" if state.stage == "no-go" else state.stage
            return msgspec.structs.replace(state, attested=state.attested | {check}, stage=stage)
        case ReviewRequested():
            return msgspec.structs.replace(state, review_requested=True)
        case ReviewConfirmed(plan_digest=digest):
            return msgspec.structs.replace(state, confirmed=state.confirmed or digest == state.plan_digest)
        case ReviewDeclined(plan_digest=digest):
            return msgspec.structs.replace(state, stage="over") if digest == state.plan_digest else state
        case _:
            return state
