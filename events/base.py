"""What every event is, and where it may be said.

An event class states in `SPOKEN` which kinds of history it belongs to and which roles may say it. The codec holds both
the writer and the reader to that statement, so a compromised or confused worker cannot speak with another's voice even
where the broker's permissions are missing.
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import msgspec

HistoryKind = Literal["launch", "queue", "batch", "inbox", "notice"]
Role = Literal["request", "intake", "preflight", "placeholder", "submitter", "watcher", "notifier"]

HISTORY_KINDS: tuple[HistoryKind, ...] = ("launch", "queue", "batch", "inbox", "notice")
ROLES: tuple[Role, ...] = (
    "request",
    "intake",
    "preflight",
    "placeholder",
    "submitter",
    "watcher",
    "notifier",
)


class Spoken(NamedTuple):
    """Where an event may stand and who may say it."""

    kinds: frozenset[HistoryKind]
    roles: frozenset[Role]


def spoken(kind: HistoryKind, *roles: Role) -> Spoken:
    """State that an event belongs to histories of `kind` and may be said by `roles`."""
    return Spoken(frozenset((kind,)), frozenset(roles))


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fact, past tense, immutable. Names and meanings of fields never change; new fields have defaults."""

    SPOKEN: ClassVar[Spoken]
    VERSION: ClassVar[int] = 1


class UnknownEvent(Event, frozen=True, kw_only=True):
    """An event of a type or version this program does not know, kept verbatim.

    A worker does not act on a history that holds one: a newer writer may have said something that forbids it.
    """

    SPOKEN: ClassVar[Spoken] = Spoken(frozenset(HISTORY_KINDS), frozenset(ROLES))

    type: str
    dataschema: str
    raw: str
