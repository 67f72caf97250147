"""`gonogo launch --dry-run`: every check, the review, the exact request. Holds nothing that could create."""

from __future__ import annotations

import json
import os
from typing import Any

from gonogo.events.ids import launch_id
from gonogo.events.launch import Plan, plan_digest
from gonogo.events.preflight import CheckFailed, CheckUnverifiable
from gonogo.events.request import Request
from gonogo.services.cli.output import NO, OK, CommandError, print_json
from gonogo.services.cli.review import evidence_line, review_lines
from gonogo.services.intake.decider import key_of
from gonogo.services.intake.planning import plan_for
from gonogo.services.intake.reading import read_request
from gonogo.services.preflight.decider import RunChecks, Verdicts
from gonogo.services.preflight.effects import Checking
from gonogo.services.runtime.crew import backends_for
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.places import Place


async def dry_run(document: dict[str, Any], place: Place, *, as_json: bool) -> int:
    """Exit 0 on go, 1 on no-go or a request that is not in order."""
    backends = backends_for(DataDir(place.data_dir), os.environ)
    request = read_request(json.dumps(document).encode(), platforms=backends.keys())
    if not isinstance(request, Request):
        raise CommandError(NO, *request)
    launch = launch_id(place.client, key_of(request))
    plan = plan_for(request, launch, backends, guard_root=launch)
    if not isinstance(plan, Plan):
        raise CommandError(NO, *plan)
    result = await Checking(backends, os.environ).perform(RunChecks(request, plan, 1), None)
    assert isinstance(result, Verdicts)
    blocked = any(isinstance(verdict, CheckFailed | CheckUnverifiable) for verdict in result.verdicts)
    if as_json:
        print_json(
            {
                "go": not blocked,
                "launch": launch,
                "plan_digest": plan_digest(plan),
                "plan": plan,
                "checks": [{"type": type(v).__name__, "data": v} for v in result.verdicts],
                "next": ["gonogo launch FILE"] if not blocked else [],
            }
        )
    else:
        evidence = [evidence_line(verdict) for verdict in result.verdicts]
        print("\n".join(review_lines(plan, plan_digest(plan), evidence)))
        print("no-go: nothing was sent" if blocked else "go: nothing was sent, this was a dry run")
    return NO if blocked else OK
