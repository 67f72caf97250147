"""The configuration of the embedded nats-server, as text. Pure.

Every role has a user that can speak as that role only: the broker, not good manners, keeps the submitter from approving.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gonogo.events.base import ROLES
from gonogo.events.subjects import EVENTS_STREAM, INBOX_STREAM

LEASES = "LEASES"
SEALED_STREAM = "SEALED"
EVERY_SEALED = "sealed.>"
ACCOUNT = "LAUNCH"
"""The server's account that holds the streams; its name stands in the store's folders."""
USERS: tuple[str, ...] = (*(role for role in ROLES if role != "request"), "reader", "local", "admin", "system")
"""`local` is the command line as a client; `reader` only reads; `admin` makes the streams and is used at start alone."""

_READ = (
    "$JS.API.INFO",
    *(f"$JS.API.STREAM.INFO.{stream}" for stream in (EVENTS_STREAM, INBOX_STREAM, SEALED_STREAM, f"KV_{LEASES}")),
    f"$JS.API.STREAM.MSG.GET.{EVENTS_STREAM}",
    f"$JS.API.CONSUMER.CREATE.{EVENTS_STREAM}.>",
    f"$JS.API.CONSUMER.MSG.NEXT.{EVENTS_STREAM}.>",
)
_LEASE = (
    f"$JS.API.STREAM.MSG.GET.KV_{LEASES}",
    f"$JS.API.DIRECT.GET.KV_{LEASES}.>",
)
_INBOX = (
    f"$JS.API.CONSUMER.CREATE.{INBOX_STREAM}.>",
    f"$JS.API.CONSUMER.MSG.NEXT.{INBOX_STREAM}.>",
    f"$JS.ACK.{INBOX_STREAM}.>",
    "answer.>",
    "ev.*.*.request",
)
_SEALED = (EVERY_SEALED, f"$JS.API.STREAM.MSG.GET.{SEALED_STREAM}")
_EXTRA = {"intake": _INBOX, "placeholder": _SEALED}
"""What a role needs beside its own voice: intake hears people and speaks for them, placeholder seals and opens again."""


class ServerFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where the server keeps what."""

    store: Path
    log: Path
    ports: Path


def may_publish(user: str) -> tuple[str, ...]:
    """The subjects a user may publish to."""
    if user in ("admin", "system"):
        return (">",)
    if user == "reader":
        return (*_READ, *_LEASE)
    if user == "local":
        return (*_READ, *_LEASE, "in.local.>")
    own = (*_READ, *_LEASE, f"ev.*.*.{user}", f"$KV.{LEASES}.{user}", f"$KV.{LEASES}.beat.{user}.*")
    return (*own, *_EXTRA.get(user, ()))


def may_hear(user: str) -> tuple[str, ...]:
    """The subjects a user may subscribe to."""
    if user in ("admin", "system"):
        return (">",)
    answers = ("answer.local.>",) if user == "local" else ()
    return (f"_INBOX_{user}.>", *answers)


def render(files: ServerFiles, *, port: int, passwords: Mapping[str, str], store_max: int) -> str:
    """The whole configuration file. `port` -1 lets the server choose one and report it in `files.ports`.

    There is no monitoring port, not even on loopback: every user of the machine could read subjects and addresses there.
    """
    return json.dumps(
        {
            "server_name": "gonogo",
            "listen": f"127.0.0.1:{port}",
            "ports_file_dir": str(files.ports),
            "log_file": str(files.log),
            "logfile_size_limit": 8 * 1024 * 1024,
            "logfile_max_num": 3,
            "max_payload": 512 * 1024,
            "jetstream": {"store_dir": str(files.store), "sync_interval": "always", "max_file_store": store_max},
            "system_account": "SYS",
            "accounts": {
                "SYS": {"users": [_user("system", passwords)]},
                ACCOUNT: {
                    "jetstream": "enabled",
                    "users": [_user(user, passwords) for user in USERS if user != "system"],
                },
            },
        },
        indent=1,
        ensure_ascii=False,  # the server reads JSON's quotes, but not its \u escapes
    )


def _user(user: str, passwords: Mapping[str, str]) -> dict[str, object]:
    return {
        "user": user,
        "password": passwords[user],
        "permissions": {"publish": list(may_publish(user)), "subscribe": list(may_hear(user))},
    }
