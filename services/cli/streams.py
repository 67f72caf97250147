"""`gonogo streams`: make the streams at a broker of one's own, once, as a user that may; check those that are there."""

from __future__ import annotations

import argparse
import asyncio

from gonogo.services.cli.output import NOT_SENT, OK, USAGE, print_json, stop
from gonogo.services.cli.session import access_of, place_of
from gonogo.services.runtime.nats_admin import EVENTS_MAX, ServerUnfitError, prepare, streams_of
from gonogo.services.runtime.nats_connect import NotConnectedError, connect, hang_up
from gonogo.services.runtime.places import Place


def streams(arguments: argparse.Namespace) -> int:
    """Make or check every stream. Repeating it changes nothing."""
    place = place_of(arguments)
    if place.nats_url is None:
        stop(USAGE, "the embedded broker makes its own streams", fix="give --nats URL, or GONOGO_NATS_URL", path="nats")
    try:
        asyncio.run(_prepare(place))
    except (NotConnectedError, ServerUnfitError) as error:
        stop(NOT_SENT, str(error), fix="mend the broker, then run this again")
    names = list(streams_of(EVENTS_MAX))
    if arguments.json:
        print_json({"streams": names})
    else:
        print(f"fit: {', '.join(names)}")
    return OK


async def _prepare(place: Place) -> None:
    access = access_of(place)
    assert access is not None
    client = await connect(access)
    try:
        await prepare(client)
    finally:
        await hang_up(client)
