"""`gonogo logs`: the end of a job's output, read from its platform, secrets masked."""

from __future__ import annotations

import argparse
import asyncio
import os

from gonogo.events.redaction import mask_secrets
from gonogo.services.backends.port import PlatformError
from gonogo.services.cli.output import NO, OK, UNKNOWN, print_json, stop
from gonogo.services.cli.session import fold_launch, full_id, place_of, reading
from gonogo.services.runtime.crew import backends_for
from gonogo.services.runtime.data_dir import DataDir

FOLLOW_S = 0.5


def logs(arguments: argparse.Namespace) -> int:
    """Print it, once or until the job ends."""
    return asyncio.run(_logs(arguments))


async def _logs(arguments: argparse.Namespace) -> int:
    place = place_of(arguments)
    launch = full_id(place, arguments.launch)
    shown = 0
    async with reading(place) as log:
        while True:
            state = await fold_launch(log, launch)
            if state.job is None:
                stop(NO, f"launch {launch} is {state.standing} and has no job", fix=f"see: gonogo show {launch}")
            backend = backends_for(DataDir(place.data_dir), os.environ).get(state.platform)
            if backend is None:
                stop(UNKNOWN, f"this host has no backend for {state.platform}", fix="run it where the workers run")
            try:
                tail = await backend.logs(state.job, bytes_max=arguments.bytes)
            except PlatformError as error:
                stop(UNKNOWN, f"the platform cannot be read: {error}", fix="try again later")
            text = mask_secrets(tail.text)
            if arguments.json:
                print_json({"launch": launch, "text": text, "truncated": tail.truncated})
                return OK
            print(text[shown:], end="", flush=True)
            shown = len(text)
            if not arguments.follow or state.ended:
                return OK
            await asyncio.sleep(FOLLOW_S)
