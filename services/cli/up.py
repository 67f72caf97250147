"""`gonogo up` and `gonogo work`: the processes of an installation."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast

from pydantic import ValidationError

from gonogo.events.log import LogDamagedError, LogUnavailableError
from gonogo.events.request import Problem
from gonogo.services.cli.output import NOT_SENT, OK, USAGE, CommandError, print_json, stop
from gonogo.services.cli.session import place_of
from gonogo.services.runtime.crew import WORKERS, Post, work_until_signalled
from gonogo.services.runtime.data_dir import DataDir, DataDirError
from gonogo.services.runtime.logging import configure_logging
from gonogo.services.runtime.nats_admin import ServerUnfitError, verify
from gonogo.services.runtime.nats_connect import Access, NotConnectedError, connect, hang_up
from gonogo.services.runtime.nats_server import Credentials, read_credentials
from gonogo.services.runtime.places import Place
from gonogo.services.runtime.settings import Settings, load_settings
from gonogo.services.runtime.supervise import Tree


def settings_of(place: Place) -> Settings:
    """The settings, or every wrong one by name."""
    try:
        return load_settings(place.data_dir, nats_url=place.nats_url)
    except ValidationError as error:
        problems = (
            Problem(path=".".join(map(str, wrong["loc"])), problem=wrong["msg"], fix="see: gonogo config")
            for wrong in error.errors(include_input=False)
        )
        raise CommandError(USAGE, *problems) from error


def chosen(workers: str | None) -> tuple[str, ...]:
    """The workers that a flag names."""
    if workers is None:
        return tuple(WORKERS)
    names = tuple(name.strip() for name in workers.split(",") if name.strip())
    unknown = [name for name in names if name not in WORKERS]
    if unknown or not names:
        stop(
            USAGE,
            f"there is no worker {', '.join(unknown) or '(none given)'}",
            fix=f"choose from: {', '.join(WORKERS)}",
            path="workers",
        )
    return names


def up(arguments: argparse.Namespace) -> int:
    """Run until SIGTERM: the whole tree, or the named workers at a broker of one's own."""
    place = place_of(arguments)
    settings = settings_of(place)
    configure_logging(level=settings.log_level, form=settings.log_format)
    workers = chosen(arguments.workers)
    if place.nats_url is not None:
        return _at_broker(settings, place, workers)
    tree = Tree(DataDir(place.data_dir), workers, port=arguments.port)

    def ready(credentials: Credentials) -> None:
        if arguments.json:
            print_json({"ready": True, "nats": credentials.url, "data_dir": str(place.data_dir), "workers": workers})
        else:
            print(f"ready: {credentials.url}, data dir {place.data_dir}, workers {', '.join(workers)}", flush=True)

    return run_until_signalled(tree, ready)


def run_until_signalled(tree: Tree, ready: Callable[[Credentials], None]) -> int:
    """Run a tree until SIGTERM or SIGINT, and turn what cannot be into a sentence."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(tree.run(ready))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, task.cancel)
        with suppress(asyncio.CancelledError):
            await task

    try:
        asyncio.run(main())
    except (BaseExceptionGroup, *TOLD) as error:
        tell_or_raise(error, fix="nobody acts until that is mended")
    return OK


TOLD = (DataDirError, ServerUnfitError, LogDamagedError, LogUnavailableError, NotConnectedError)
"""What is told as a sentence; anything else is our own mistake and shows its trace."""


def tell_or_raise(error: BaseException, *, fix: str) -> None:
    """End the command with the sentence of the first plain error inside groups of groups, if it is one to tell."""
    first: BaseException = error
    while isinstance(first, BaseExceptionGroup):
        first = cast("tuple[BaseException, ...]", first.exceptions)[0]
    if isinstance(first, TOLD):
        stop(NOT_SENT, str(first), fix=fix)
    raise error


def _at_broker(settings: Settings, place: Place, workers: Sequence[str]) -> int:
    DataDir(place.data_dir).prepare()

    access = Access(
        url=settings.nats_url or "",
        user=settings.nats_user,
        password=settings.nats_password.get_secret_value() if settings.nats_password else None,
    )

    async def main() -> None:
        await _demand_fit(access, inbox="intake" in workers)
        print(f"ready: {access.shown}, data dir {place.data_dir}, workers {', '.join(workers)}", flush=True)
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                post = Post(worker=worker, settings=settings, access=access, sole=False, environment=dict(os.environ))
                group.create_task(work_until_signalled(post))

    try:
        asyncio.run(main())
    except (BaseExceptionGroup, *TOLD) as error:
        tell_or_raise(error, fix="check the broker, its URL and the credentials")
    return OK


async def _demand_fit(access: Access, *, inbox: bool) -> None:
    client = await connect(access)
    try:
        await verify(client, inbox=inbox)
    finally:
        await hang_up(client)


def work(arguments: argparse.Namespace) -> int:
    """One worker of an embedded tree, in this process."""
    place = place_of(arguments)
    settings = settings_of(place)
    (worker,) = chosen(arguments.worker)
    configure_logging(level=settings.log_level, form=settings.log_format, role=worker)
    credentials = read_credentials(DataDir(place.data_dir))
    if credentials is None:
        stop(NOT_SENT, f"no gonogo runs in {place.data_dir}", fix="start it with: gonogo up")
    post = Post(
        worker=worker,
        settings=settings,
        access=credentials.access(WORKERS[worker]),
        sole=True,
        environment=dict(os.environ),
    )
    try:
        asyncio.run(work_until_signalled(post))
    except NotConnectedError as error:
        stop(NOT_SENT, str(error), fix="start it with: gonogo up")
    return OK
