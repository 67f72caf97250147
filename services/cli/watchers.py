"""Is anybody watching? Answered from the workers' own signs of life."""

from __future__ import annotations

import base64
import json
from contextlib import suppress

import msgspec

from gonogo.events.jetstream_wire import request
from gonogo.events.log import LogUnavailableError
from gonogo.services.cli.session import access_of
from gonogo.services.runtime.crew import WORKERS
from gonogo.services.runtime.nats_config import LEASES
from gonogo.services.runtime.nats_connect import NotConnectedError, connect, hang_up
from gonogo.services.runtime.places import Place


class Beat(msgspec.Struct, frozen=True):
    """A worker's last sign of life."""

    worker: str
    pid: int
    position: int = 0
    parked: dict[str, str] = {}


async def beats(place: Place) -> dict[str, Beat]:
    """The living workers by name: those who gave a sign of life within the last seconds."""
    access = access_of(place)
    if access is None:
        return {}
    try:
        client = await connect(access, timeout_s=3.0)
    except NotConnectedError:
        return {}
    found: dict[str, Beat] = {}
    try:
        for worker, role in WORKERS.items():
            body = json.dumps({"last_by_subj": f"$KV.{LEASES}.beat.{role}.*"}).encode()
            with suppress(LogUnavailableError, msgspec.MsgspecError, ValueError):
                message = await request(client, f"$JS.API.STREAM.MSG.GET.KV_{LEASES}", body)
                data = json.loads(message.data).get("message", {}).get("data", "")
                found[worker] = msgspec.json.decode(base64.b64decode(data), type=Beat)
    finally:
        await hang_up(client)
    return found


async def watched_by(place: Place) -> str:
    """Who watches, in one line; or that nobody does, and why."""
    living = await beats(place)
    watcher = living.get("watcher")
    if watcher is None:
        return "NOT watched: no watcher gives a sign of life; start it with: gonogo up"
    return f"watched by the watcher (process {watcher.pid}) of {place.nats_url or place.data_dir}"
