"""How a command reaches the installation: its place, the broker, the log."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from gonogo.events.jetstream import JetStreamLog
from gonogo.projections.launches import INITIAL, Launch, evolve
from gonogo.services.cli.output import NOT_SENT, USAGE, stop
from gonogo.services.client import Client
from gonogo.services.runtime.clock import SystemClock, new_instance
from gonogo.services.runtime.data_dir import DataDir, DataDirError
from gonogo.services.runtime.nats_connect import Access, NotConnectedError, hang_up
from gonogo.services.runtime.nats_connect import connect as connect_to_broker
from gonogo.services.runtime.nats_server import read_credentials
from gonogo.services.runtime.places import Place, find_place

ID_LENGTH = 26

structlog.configure(
    wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
    logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
)
"""A client command's own words are its output; the workers configure their logs themselves."""


def place_of(arguments: argparse.Namespace) -> Place:
    """The place that the flags and variables name."""
    return find_place(os.environ, data_dir=arguments.data_dir, nats_url=arguments.nats)


def access_of(place: Place) -> Access | None:
    """How this command line reaches the broker; None where no embedded server has ever run."""
    if place.nats_url is not None:
        return Access(url=place.nats_url, user=place.user, password=place.password)
    credentials = read_credentials(DataDir(place.data_dir))
    return credentials.access("local") if credentials else None


@asynccontextmanager
async def speaking(place: Place) -> AsyncIterator[Client]:
    """A client's voice; where nobody listens, nothing was sent."""
    access = access_of(place)
    fix = "start it with: gonogo up"
    if access is None:
        stop(NOT_SENT, f"no gonogo has run in {place.data_dir}, so nothing was sent", fix=fix)
    try:
        connection = await connect_to_broker(access, timeout_s=3.0)
    except NotConnectedError as error:
        stop(NOT_SENT, f"nothing was sent: {error}", fix=fix)
    try:
        client = Client(connection, place.client)
        await client.listen()
        yield client
    finally:
        await hang_up(connection)


@asynccontextmanager
async def reading(place: Place) -> AsyncIterator[JetStreamLog]:
    """The log, read through the running server, or through one started for this visit."""
    from gonogo.services.runtime.supervise import sole_server

    async with AsyncExitStack() as stack:
        access = access_of(place)
        try:
            if access is None:
                stop(USAGE, f"no gonogo has run in {place.data_dir}", fix="start it with: gonogo up")
            try:
                connection = await connect_to_broker(access, timeout_s=1.0)
            except NotConnectedError as error:
                if place.nats_url is not None:
                    stop(NOT_SENT, str(error), fix="check the URL and the broker")
                access = await sole_server(DataDir(place.data_dir), stack)
                connection = await connect_to_broker(access)
        except (NotConnectedError, DataDirError) as error:
            stop(NOT_SENT, str(error), fix="start it with: gonogo up")
        stack.push_async_callback(hang_up, connection)
        clock = SystemClock()
        yield JetStreamLog(connection, reader=f"cli-{new_instance()}", monotonic=clock.monotonic, sleep=clock.sleep)


async def fold_launch(log: JetStreamLog, launch: str) -> Launch:
    """One launch as the log has it."""
    from gonogo.events.envelope import Entry
    from gonogo.events.ids import launch_history

    state = INITIAL
    for item in await log.read(launch_history(launch)):
        if isinstance(item, Entry):
            for said in item.said:
                state = evolve(state, said)
    return state


def full_id(place: Place, given: str) -> str:
    """The full id of a launch given by id, by a unique beginning of it, or by the name of its job."""
    from gonogo.projections.store import read_launches

    given = given.rpartition("-")[2] if len(given) > ID_LENGTH else given
    if len(given) == ID_LENGTH:
        return given
    found = [launch.id for launch in read_launches(DataDir(place.data_dir).views) if launch.id.startswith(given)]
    if len(found) == 1:
        return found[0]
    if not found:
        stop(USAGE, f"there is no launch {given!r}", fix="see: gonogo list", path="launch")
    told = ", ".join(found[:5])
    return stop(
        USAGE, f"{given!r} is the beginning of {len(found)} launches: {told}", fix="give more of it", path="launch"
    )
