"""`gonogo launch`: ask for a launch, show its review, take the answer, and say who watches it."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable

from gonogo.events.jetstream import JetStreamLog
from gonogo.projections.launches import Launch
from gonogo.services.cli.advice import exit_code_of, next_commands
from gonogo.services.cli.asking import document_of, key_of, put_in_outbox
from gonogo.services.cli.output import GOING, NO, UNKNOWN, CommandError, note, print_json
from gonogo.services.cli.review import print_review
from gonogo.services.cli.session import fold_launch, place_of, reading, speaking
from gonogo.services.cli.watchers import watched_by
from gonogo.services.client import Answer, Client, UnansweredError
from gonogo.services.runtime.places import Place

POLL_S = 0.15
REVIEW_WITHIN_S = 20.0


def launch(arguments: argparse.Namespace) -> int:
    """Ask; the exit code is the launch's."""
    document = document_of(arguments)
    if arguments.dry_run:
        from gonogo.services.cli.dry_run import dry_run

        return asyncio.run(dry_run(document, place_of(arguments), as_json=arguments.json))
    return asyncio.run(ask(document, place_of(arguments), arguments, wait=arguments.wait))


async def ask(document: dict[str, object], place: Place, arguments: argparse.Namespace, *, wait: bool) -> int:
    """Send it, and follow it as far as was asked for."""
    async with speaking(place) as client:
        key = key_of(document)
        put_in_outbox(place.data_dir, key, document)
        answer = await say_it(client, document, key)
        if not answer.ok:
            raise CommandError(NO, *answer.problems)
        async with reading(place) as log:
            state = await _settle(client, log, answer, arguments, wait=wait)
            told = await watched_by(place)
        return _report(answer, state, told, as_json=arguments.json)


async def say_it(client: Client, document: dict[str, object], key: str) -> Answer:
    """One request, one verdict; silence is told with the line that makes it safe to try again."""
    try:
        return await client.launch(document)
    except UnansweredError as error:
        from gonogo.events.request import Problem

        again = f"gonogo launch FILE --key {key}"
        problem = Problem(path="", problem=str(error), fix="run the same line again with its key")
        raise CommandError(UNKNOWN, problem, next_commands=[again]) from error


async def _settle(
    client: Client, log: JetStreamLog, answer: Answer, arguments: argparse.Namespace, *, wait: bool
) -> Launch:
    assert answer.launch is not None
    state = await _until(log, answer.launch, lambda s: s.standing != "checking", REVIEW_WITHIN_S)
    if state.standing == "awaiting-review" and sys.stdin.isatty() and not arguments.json:
        state = await _ask_person(client, log, state)
    if wait:
        state = await _until(log, answer.launch, lambda s: s.ended or s.standing in PAUSED, None)
    return state


PAUSED = ("awaiting-review", "no-go", "conflict", "unreadable")


async def _until(log: JetStreamLog, launch_id: str, enough: Callable[[Launch], bool], within_s: float | None) -> Launch:
    """Read the launch until it is far enough, telling each new standing on the way."""
    last, waited = "", 0.0
    while True:
        state = await fold_launch(log, launch_id)
        if state.standing != last:
            note(f"{state.standing}{': ' + state.detail if state.detail else ''}")
            last = state.standing
        if enough(state) or (within_s is not None and waited > within_s):
            return state
        await asyncio.sleep(POLL_S)
        waited += POLL_S


async def _ask_person(client: Client, log: JetStreamLog, state: Launch) -> Launch:
    await print_review(log, state, stream=sys.stderr)
    word = await asyncio.to_thread(input, "go? type yes to launch, no to decline, anything else to decide later: ")
    choice = {"yes": "approve", "no": "decline"}.get(word.strip().lower())
    if choice is None:
        return state
    body = {"launch": state.id, "plan_digest": state.plan_digest, "basis": "answered at the terminal"}
    answer = await client.say(choice, body)
    if not answer.ok:
        raise CommandError(NO, *answer.problems)
    return await _until(log, state.id, lambda s: s.standing != "awaiting-review", REVIEW_WITHIN_S)


def _report(answer: Answer, state: Launch, told: str, *, as_json: bool) -> int:
    code = exit_code_of(state)
    if as_json:
        print_json(
            {
                "verdict": answer.verdict,
                "launch": state.id,
                "plan_digest": state.plan_digest,
                "standing": state.standing,
                "detail": state.detail,
                "job": state.job,
                "watched": told,
                "next": next_commands(state),
            }
        )
        return code
    print(f"{answer.verdict}: launch {state.id} is {state.standing}")
    if code == GOING:
        print(told)
    for command in next_commands(state):
        print(f"    {command}")
    return code
