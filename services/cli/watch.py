"""`gonogo watch`: what is said, as it is said."""

from __future__ import annotations

import argparse
import asyncio

from gonogo.events.envelope import Entry
from gonogo.projections.launches import INITIAL, Launch, evolve
from gonogo.services.cli.advice import exit_code_of
from gonogo.services.cli.output import OK, print_json
from gonogo.services.cli.session import full_id, place_of, reading


def watch(arguments: argparse.Namespace) -> int:
    """Follow one launch to its end (its exit code), or everything until interrupted."""
    return asyncio.run(_watch(arguments))


async def _watch(arguments: argparse.Namespace) -> int:
    place = place_of(arguments)
    wanted = full_id(place, arguments.launch) if arguments.launch else None
    states: dict[str, Launch] = {}
    async with reading(place) as log:
        start = 0 if wanted else await log.tail()
        async for batch in log.follow(after=start):
            for item in batch:
                if not isinstance(item, Entry) or item.history.kind != "launch":
                    continue
                if wanted is not None and item.history.id != wanted:
                    continue
                state = states.get(item.history.id, INITIAL)
                for said in item.said:
                    state = evolve(state, said)
                _tell(item, state, states.get(item.history.id, INITIAL), as_json=arguments.json)
                states[item.history.id] = state
                if wanted is not None and state.ended:
                    return exit_code_of(state)
    return OK


def _tell(item: Entry, state: Launch, before: Launch, *, as_json: bool) -> None:
    if (state.standing, state.detail) == (before.standing, before.detail):
        return
    if as_json:
        print_json(
            {"at": item.stored_at, "launch": item.history.id, "standing": state.standing, "detail": state.detail}
        )
        return
    detail = f"  {state.detail}" if state.detail else ""
    print(f"{item.stored_at:%H:%M:%S}  {item.history.id}  {state.standing}{detail}", flush=True)
