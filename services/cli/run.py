"""`gonogo run FILE`: the installation, the launch and the wait in one process tree; the shortest way to a real job."""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import suppress

from gonogo.services.cli.asking import document_of
from gonogo.services.cli.launch import ask
from gonogo.services.cli.output import NOT_SENT, note, stop
from gonogo.services.cli.session import access_of, place_of
from gonogo.services.cli.up import settings_of
from gonogo.services.runtime.crew import WORKERS, Post, work
from gonogo.services.runtime.data_dir import DataDir, DataDirError
from gonogo.services.runtime.logging import configure_logging
from gonogo.services.runtime.nats_admin import ServerUnfitError
from gonogo.services.runtime.nats_connect import NotConnectedError, connect, hang_up
from gonogo.services.runtime.nats_server import Credentials
from gonogo.services.runtime.places import Place
from gonogo.services.runtime.supervise import Tree


def run(arguments: argparse.Namespace) -> int:
    """Run it; the exit code is the launch's."""
    document = document_of(arguments)
    place = place_of(arguments)
    try:
        return asyncio.run(_run(document, place, arguments))
    except (DataDirError, ServerUnfitError, NotConnectedError) as error:
        stop(NOT_SENT, str(error), fix="nothing was sent")


async def _run(document: dict[str, object], place: Place, arguments: argparse.Namespace) -> int:
    if place.nats_url is not None or await _is_up(place):
        return await ask(document, place, arguments, wait=True)
    settings = settings_of(place)
    configure_logging(level="warning" if settings.log_level == "info" else settings.log_level, form=settings.log_format)
    tree = Tree(DataDir(place.data_dir), (), port=None)
    ready: asyncio.Future[Credentials] = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(tree.run(ready.set_result))
    await asyncio.wait((running, ready), return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    crew = [asyncio.ensure_future(work(post)) for post in _posts(place, ready.result())]
    try:
        return await ask(document, place, arguments, wait=True)
    finally:
        await _leave((*crew, running))


def _posts(place: Place, credentials: Credentials) -> list[Post]:
    settings = settings_of(place)
    return [
        Post(worker=worker, settings=settings, access=credentials.access(role), sole=True, environment=dict(os.environ))
        for worker, role in WORKERS.items()
    ]


async def _leave(tasks: tuple[asyncio.Future[None], ...]) -> None:
    """End the workers first, the server last. A job goes on by itself and is watched again at the next start."""
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


async def _is_up(place: Place) -> bool:
    access = access_of(place)
    if access is None:
        return False
    try:
        client = await connect(access, timeout_s=0.5)
    except NotConnectedError:
        return False
    await hang_up(client)
    note(f"using the gonogo that runs in {place.data_dir}")
    return True
