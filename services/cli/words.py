"""The later words of people: approve, decline, cancel, detach, recheck, attest, resolve."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from gonogo.events.request import Problem
from gonogo.services.cli.advice import next_commands
from gonogo.services.cli.output import NO, OK, UNKNOWN, CommandError, print_json
from gonogo.services.cli.session import fold_launch, full_id, place_of, reading, speaking
from gonogo.services.client import UnansweredError

FIELDS = {
    "approve": {"digest": "plan_digest", "basis": "basis"},
    "decline": {"digest": "plan_digest", "basis": "basis"},
    "cancel": {"reason": "reason"},
    "detach": {},
    "recheck": {"fixed": "fixed"},
    "attest": {"check": "check", "evidence": "evidence"},
    "resolve": {"job": "job_id", "absent": "absent", "evidence": "evidence"},
}
"""A command's flags and the fields of the word they become."""


def say(arguments: argparse.Namespace) -> int:
    """Say the word and show the verdict."""
    return asyncio.run(_say(arguments))


async def _say(arguments: argparse.Namespace) -> int:
    place, word = place_of(arguments), arguments.command
    launch = full_id(place, arguments.launch)
    body: dict[str, Any] = {"launch": launch}
    given = {"by": arguments.by} | {f: getattr(arguments, flag) for flag, f in FIELDS[word].items()}
    body.update({field: value for field, value in given.items() if value not in (None, False)})
    async with speaking(place) as client:
        try:
            answer = await client.say(word, body)
        except UnansweredError as error:
            problem = Problem(path="", problem=str(error), fix="say it again")
            raise CommandError(UNKNOWN, problem) from error
    if not answer.ok:
        raise CommandError(NO, *answer.problems)
    async with reading(place) as log:
        state = await fold_launch(log, launch)
    if arguments.json:
        print_json(
            {"verdict": answer.verdict, "launch": launch, "standing": state.standing, "next": next_commands(state)}
        )
    else:
        print(f"{answer.verdict}: {word} of launch {launch} ({state.standing})")
    return OK
