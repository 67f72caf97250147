"""What a channel must answer when it is given a notice: the channel knows whether trying again is safe.

`Confirmed` is the channel's own word that it has the notice. Anything less is not "sent".
"""

from __future__ import annotations

from typing import Protocol

import msgspec


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What people are told. `key` is the same for every attempt, so a channel that can refuse a second copy does."""

    key: str
    launch: str
    target: str
    title: str
    lines: tuple[str, ...]


class Confirmed(msgspec.Struct, frozen=True):
    """The channel has it; `receipt` is its own evidence."""

    receipt: str


class NotDelivered(msgspec.Struct, frozen=True):
    """The channel proved that it did not take it; another attempt is safe when `retryable`."""

    cause: str
    retryable: bool


class Unconfirmed(msgspec.Struct, frozen=True):
    """Nobody can tell whether people saw it. Another attempt may show it twice."""

    cause: str


Delivery = Confirmed | NotDelivered | Unconfirmed


class Channel(Protocol):
    """One way to reach people."""

    @property
    def name(self) -> str:
        """The channel's name in requests, e.g. `console` or `file`."""
        ...

    async def send(self, notice: Notice) -> Delivery:
        """Send once. Never raises for what the outside does."""
        ...

    async def seen(self, key: str) -> str | None:
        """The receipt of an earlier attempt with this key, where the channel can tell; else None."""
        ...
