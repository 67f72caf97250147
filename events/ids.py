"""How every identity is derived from its inputs. Nothing here is random, so a replay derives the same names.

A launch id is a digest of the client's scope and its request key: the same request sent twice, by anyone, through any
retry, is the same launch.
"""

from __future__ import annotations

import base64
import hashlib
from typing import NamedTuple

from gonogo.events.base import HistoryKind

LAUNCH_ID_LENGTH = 26
"""130 bits in base32: long enough that no two launches of one log ever share an id."""

_SEPARATOR = b"\x1f"


class History(NamedTuple):
    """All events about one thing, in order. Written `kind/id`."""

    kind: HistoryKind
    id: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.id}"


def _token(*parts: str) -> str:
    digest = hashlib.sha256(_SEPARATOR.join(part.encode() for part in parts)).digest()
    return base64.b32encode(digest).decode().lower()[:LAUNCH_ID_LENGTH]


def launch_id(client: str, key: str) -> str:
    """Derive the launch id from the client scope (its subject, which the broker enforces) and the request key."""
    return _token("launch", client, key)


def attempt_token(launch: str) -> str:
    """The token that makes a platform name unique. A launch has exactly one submission, so the launch id is the token."""
    return launch


def launch_history(launch: str) -> History:
    """The history of one launch."""
    return History("launch", launch)


def inbox_history(sequence: int) -> History:
    """The history of one inbox message: what was asked, and the verdict on it."""
    return History("inbox", str(sequence))


def notice_history(launch: str, event_id: str, channel: str) -> History:
    """The history of one notice: one launch, one event, one channel with its target."""
    return History("notice", _token("notice", launch, event_id, channel))


def trace_parent(history: History, event_id: str) -> str:
    """A W3C `traceparent`: one trace per history, one span per event, derived so that every reader sees the same."""
    trace = hashlib.sha256(str(history).encode()).hexdigest()[:32]
    span = hashlib.sha256(event_id.encode()).hexdigest()[:16]
    return f"00-{trace}-{span}-01"


def digest_of(content: bytes) -> str:
    """The digest that plans, renderings and payloads are compared by."""
    return "sha256:" + hashlib.sha256(content).hexdigest()
