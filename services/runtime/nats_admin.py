"""Makes the streams, and refuses a server that cannot keep a promise.

Run once at start, by the one user that may. An existing stream that is weaker than needed is an error, never an update: an
update through a client library has been seen to reset what it does not name.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any, cast

from nats.aio.client import Client

from gonogo.events.jetstream_wire import Plain, StreamInfo, ask, stream_info
from gonogo.events.subjects import EVENTS_STREAM, EVERY_EVENT, EVERY_WORD, INBOX_STREAM
from gonogo.services.runtime.nats_config import LEASES

VERSION_MIN = (2, 12)
MESSAGE_MAX = 512 * 1024
EVENTS_MAX = 8 * 1024**3
LEASE_TTL_S = 6
_NS = 1_000_000_000


class ServerUnfitError(Exception):
    """This server cannot carry the log; the message says what is wrong and what to do."""


def streams_of(events_max: int) -> dict[str, dict[str, Any]]:
    """Every stream as it must be."""
    common = {"storage": "file", "num_replicas": 1, "max_msg_size": MESSAGE_MAX, "discard": "new"}
    return {
        EVENTS_STREAM: {
            **common,
            "subjects": [EVERY_EVENT],
            "retention": "limits",
            "max_bytes": events_max,
            "max_age": 0,
            "max_msgs": -1,
            "deny_delete": True,
            "deny_purge": True,
            "allow_rollup_hdrs": False,
            "allow_direct": True,
            "duplicate_window": 3600 * _NS,
        },
        INBOX_STREAM: {
            **common,
            "subjects": [EVERY_WORD],
            "retention": "workqueue",
            "max_bytes": 256 * 1024**2,
            "duplicate_window": 120 * _NS,
        },
        f"KV_{LEASES}": {
            **common,
            "subjects": [f"$KV.{LEASES}.>"],
            "retention": "limits",
            "max_msgs_per_subject": 1,
            "max_age": LEASE_TTL_S * _NS,
            "max_bytes": 16 * 1024**2,
            "allow_rollup_hdrs": True,
            "allow_direct": True,
            "duplicate_window": LEASE_TTL_S * _NS,
        },
    }


_MATTERS = ("subjects", "retention", "storage", "discard", "deny_delete", "deny_purge", "allow_rollup_hdrs")


async def prepare(client: Client, *, events_max: int = EVENTS_MAX) -> None:
    """Make every stream that is missing; check every one that is there. Raises ServerUnfitError."""
    _demand_version(client)
    for name, wanted in streams_of(events_max).items():
        info = await stream_info(client, name)
        if info.error is not None:
            await _make(client, name, wanted)
        else:
            _demand_same(name, wanted, info)


async def verify(client: Client) -> None:
    """Check every stream without changing anything. Raises ServerUnfitError."""
    _demand_version(client)
    for name, wanted in streams_of(EVENTS_MAX).items():
        info = await stream_info(client, name)
        if info.error is not None:
            message = f"the broker has no stream {name}: start it with gonogo up, or make it as docs/operations.md says"
            raise ServerUnfitError(message)
        _demand_same(name, wanted, info)


async def _make(client: Client, name: str, wanted: dict[str, Any]) -> None:
    answer = await ask(client, f"$JS.API.STREAM.CREATE.{name}", {"name": name, **wanted}, Plain, timeout_s=10)
    if answer.error is not None:
        message = f"the broker refused the stream {name}: {answer.error.description}: give JetStream more room, or look in its log"
        raise ServerUnfitError(message)


def _demand_version(client: Client) -> None:
    version = client.connected_server_version
    if (version.major, version.minor) < VERSION_MIN:
        told = f"{version.major}.{version.minor}.{version.patch}"
        message = f"the broker is nats-server {told}; {'.'.join(map(str, VERSION_MIN))} or newer is needed"
        raise ServerUnfitError(message)


def _demand_same(name: str, wanted: dict[str, Any], info: StreamInfo) -> None:
    different = [
        f"{field} is {info.config.get(field)!r} instead of {wanted[field]!r}"
        for field in _MATTERS
        if field in wanted and info.config.get(field, False) != wanted[field]
    ]
    if info.config.get("max_age", 0) and name == EVENTS_STREAM:
        different.append("its events expire (max_age)")
    if different:
        message = f"the stream {name} is not fit to be the log: {'; '.join(different)}. Use another broker account, or mend it"
        raise ServerUnfitError(message)


async def demand_sync_always(monitor: str) -> None:
    """See in the server's own report that it syncs before it acknowledges. Raises ServerUnfitError."""

    def look() -> object:
        with urllib.request.urlopen(f"{monitor}/varz", timeout=5) as answer:  # noqa: S310 - loopback, from the server's ports file
            return json.load(answer)

    report = cast("dict[str, Any]", await asyncio.to_thread(look))
    if not report.get("jetstream", {}).get("config", {}).get("sync_always"):
        message = "the server does not sync before it acknowledges: set jetstream { sync_interval: always }"
        raise ServerUnfitError(message)
