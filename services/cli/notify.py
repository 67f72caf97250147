"""`gonogo notify`: try a channel, or see what people would be told about a launch."""

from __future__ import annotations

import argparse
import asyncio

from gonogo.events.envelope import Entry
from gonogo.events.ids import launch_history
from gonogo.projections.notifications import INITIAL_TELLING, evolve_telling
from gonogo.services.channels.port import Confirmed, Notice
from gonogo.services.cli.output import NO, OK, USAGE, print_json, stop
from gonogo.services.cli.session import full_id, place_of, reading
from gonogo.services.notifier.wording import lines_of, title_of
from gonogo.services.runtime.clock import new_instance
from gonogo.services.runtime.crew import channels_for
from gonogo.services.runtime.data_dir import DataDir


def notify(arguments: argparse.Namespace) -> int:
    """Test a channel or preview a launch's notices."""
    return asyncio.run(_test(arguments) if arguments.what == "test" else _preview(arguments))


async def _test(arguments: argparse.Namespace) -> int:
    channels = channels_for(DataDir(place_of(arguments).data_dir))
    name, _, target = arguments.target.partition(":")
    channel = channels.get(name)
    if channel is None:
        stop(USAGE, f"there is no channel {name!r}", fix=f"use one of: {', '.join(channels)}", path="channel")
    key = f"test-{new_instance()}"
    notice = Notice(key=key, launch="none", target=target, title="a test from gonogo", lines=("you can read this",))
    delivery = await channel.send(notice)
    if arguments.json:
        print_json({"confirmed": isinstance(delivery, Confirmed), "answer": delivery})
    else:
        print(f"{type(delivery).__name__}: {getattr(delivery, 'receipt', None) or getattr(delivery, 'cause', '')}")
    return OK if isinstance(delivery, Confirmed) else NO


async def _preview(arguments: argparse.Namespace) -> int:
    place = place_of(arguments)
    launch = full_id(place, arguments.target)
    state = INITIAL_TELLING
    async with reading(place) as log:
        for item in await log.read(launch_history(launch)):
            for said in item.said if isinstance(item, Entry) else ():
                state = evolve_telling(state, said)
    notices = [(title_of(state.name, said), lines_of(launch, said)) for said in state.tellable]
    if arguments.json:
        print_json([{"title": title, "lines": lines, "channels": state.channels} for title, lines in notices])
        return OK
    for title, lines in notices:
        print("\n".join((title, *(f"    {line}" for line in lines))))
    print(f"to: {', '.join(state.channels) or 'nobody (recorded locally)'}")
    return OK
