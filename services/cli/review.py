"""The review that a person confirms: the plan and its evidence, as text."""

from __future__ import annotations

import json
from typing import Any, TextIO, cast

from gonogo.events.envelope import Entry
from gonogo.events.ids import launch_history
from gonogo.events.jetstream import JetStreamLog
from gonogo.events.launch import LaunchPlanned, Plan
from gonogo.events.preflight import CheckFailed, CheckPassed, CheckUnverifiable
from gonogo.events.redaction import mask_secrets
from gonogo.projections.launches import Launch


def review_lines(plan: Plan, digest: str, evidence: list[str]) -> list[str]:
    """Everything the digest covers, and what the checks saw."""
    order = cast("dict[str, Any]", json.loads(plan.rendering.body))
    lines = [
        f"plan       {digest}",
        f"platform   {plan.platform}{' / ' + plan.target if plan.target else ''}",
        f"queue      {plan.queue or '(none)'}",
        f"job name   {plan.job_name}",
        f"output     {plan.output or '(none)'}",
        f"secrets    {', '.join(f'{k} from {v}' for k, v in plan.secrets.items()) or '(none)'}",
        f"guard      {plan.guard.claim_path if plan.guard else 'off'} ({plan.guard_note})",
        "code and data are read as they are when the job runs",
        "would be sent:",
        *(f"    {line}" for line in json.dumps(order, indent=2, ensure_ascii=False).splitlines()),
    ]
    lines += [f"change     {change}" for change in plan.changes]
    lines += [f"! {w.path}: {w.problem} → {w.fix}" for w in plan.warnings]
    return [mask_secrets(line) for line in (*lines, *evidence)]


def evidence_line(event: CheckPassed | CheckFailed | CheckUnverifiable) -> str:
    """One check, as people read it."""
    match event:
        case CheckPassed(check=check, evidence=evidence, viewpoint=viewpoint):
            return f"go      {check}: {evidence} (seen from {viewpoint})"
        case CheckFailed(check=check, problem=problem, fix=fix, viewpoint=viewpoint):
            return f"NO-GO   {check}: {problem} → {fix} (seen from {viewpoint})"
        case CheckUnverifiable(check=check, why=why, viewpoint=viewpoint):
            return f"BLIND   {check}: {why} (seen from {viewpoint})"


async def print_review(log: JetStreamLog, state: Launch, *, stream: TextIO) -> None:
    """The review of a launch, from the log."""
    plan: Plan | None = None
    evidence: dict[str, str] = {}
    for item in await log.read(launch_history(state.id)):
        for said in item.said if isinstance(item, Entry) else ():
            match said.event:
                case LaunchPlanned(plan=planned):
                    plan = planned
                case (CheckPassed() | CheckFailed() | CheckUnverifiable()) as event:
                    evidence[event.check] = evidence_line(event)
    if plan is not None:
        stream.write("\n".join(review_lines(plan, state.plan_digest, list(evidence.values()))) + "\n")
