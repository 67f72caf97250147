"""What a check is given and what it may say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from gonogo.events.launch import Plan
from gonogo.events.preflight import CheckFailed, CheckPassed, CheckUnverifiable
from gonogo.events.request import Request
from gonogo.services.backends.port import Backend

HERE = "the preflight worker's host"
"""The viewpoint of checks that look from this process."""

Verdict = CheckPassed | CheckFailed | CheckUnverifiable


@dataclass(frozen=True, kw_only=True)
class Station:
    """Everything a check may look at; it changes none of it."""

    request: Request
    plan: Plan
    backend: Backend
    environment: Mapping[str, str]
    round: int

    def go(self, check: str, evidence: str, *, viewpoint: str = HERE) -> CheckPassed:
        """The check says go."""
        return CheckPassed(round=self.round, check=check, evidence=evidence, viewpoint=viewpoint)

    def no_go(self, check: str, problem: str, *, fix: str, viewpoint: str = HERE) -> CheckFailed:
        """The check says no-go, and what to do."""
        return CheckFailed(round=self.round, check=check, problem=problem, fix=fix, viewpoint=viewpoint)

    def blind(self, check: str, why: str, *, viewpoint: str = HERE) -> CheckUnverifiable:
        """The check cannot see what it needs to see from here."""
        return CheckUnverifiable(round=self.round, check=check, why=why, viewpoint=viewpoint)


Check = Callable[[Station], Awaitable[Verdict | None]]
"""None: the check does not apply to this request."""
