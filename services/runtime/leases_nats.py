"""Role leases on a key-value bucket: create, renew with the last revision, give up before it could have expired.

The bucket's age limit expires a lease whose holder is gone. `held()` uses the monotonic clock from *before* each renewal was
sent, so that a paused holder finds out by itself.
"""

from __future__ import annotations

import asyncio

import structlog
from nats.aio.client import Client

from gonogo.events.jetstream_wire import PubAck, StoredMessage, last_message, read_answer, request
from gonogo.events.log import LogUnavailableError
from gonogo.services.runtime.clock import Clock
from gonogo.services.runtime.nats_config import LEASES

MARGIN_S = 1.0
"""A lease counts as lost this long before the broker would expire it."""

logger: structlog.stdlib.BoundLogger = structlog.get_logger()


class NatsLease:
    """The lease of one role for one process start."""

    def __init__(self, client: Client, role: str, *, instance: str, clock: Clock, ttl_s: float) -> None:
        """`ttl_s` is the bucket's age limit."""
        self._client = client
        self._subject = f"$KV.{LEASES}.{role}"
        self._role = role
        self._body = instance.encode()
        self._clock = clock
        self._ttl_s = ttl_s
        self._revision = 0
        self._held_until = 0.0
        self._gained = asyncio.Event()
        self._lost = asyncio.Event()

    def held(self) -> bool:
        """Whether this process certainly holds it now."""
        return self._clock.monotonic() < self._held_until

    async def wait_held(self) -> None:
        """Return once it is held."""
        await self._gained.wait()

    async def wait_lost(self) -> None:
        """Return once it is no longer held."""
        await self._lost.wait()

    async def run(self) -> None:
        """Acquire and renew for ever; cancel to let it expire."""
        while True:
            if await self._renew():
                self._lost.clear()
                self._gained.set()
            elif self._gained.is_set() and not self.held():
                logger.warning("lease lost", role=self._role)
                self._revision = 0
                self._gained.clear()
                self._lost.set()
            await self._clock.sleep(self._ttl_s / 6)

    async def release(self) -> None:
        """Hand it over at once, at a clean stop."""
        if self.held():
            self._held_until = 0.0
            await self._put(b"", headers={"KV-Operation": "DEL"})

    async def _renew(self) -> bool:
        ack = await self._claim()
        if ack is not None and ack.error is not None:
            self._revision = await self._free_revision()
            ack = await self._claim() if self._revision else None
        return ack is not None and ack.error is None

    async def _claim(self) -> PubAck | None:
        began = self._clock.monotonic()
        ack = await self._put(self._body, headers={})
        if ack is not None and ack.error is None:
            self._revision = ack.seq
            self._held_until = began + self._ttl_s - MARGIN_S
        return ack

    async def _free_revision(self) -> int:
        """The revision that the next try has to name: of a lease that was handed over, or our own of which no answer came.

        0 where someone else holds it: then only its expiry makes it free.
        """
        try:
            message = await last_message(self._client, f"KV_{LEASES}", subject=self._subject)
        except LogUnavailableError:
            return 0
        return message.seq if message is not None and (message.data == self._body or _handed_over(message)) else 0

    async def _put(self, body: bytes, *, headers: dict[str, str]) -> PubAck | None:
        expected = {**headers, "Nats-Expected-Last-Subject-Sequence": str(self._revision)}
        try:
            message = await request(self._client, self._subject, body, headers=expected)
            return read_answer(message, self._subject, PubAck)
        except LogUnavailableError:
            return None


def _handed_over(message: StoredMessage) -> bool:
    return b"KV-Operation: DEL" in message.hdrs
