"""Role leases on a key-value bucket: create, renew with the last revision, give up before it could have expired.

The bucket's age limit expires a lease whose holder is gone. `held()` uses the monotonic clock from *before* each renewal was
sent, so that a paused holder finds out by itself.
"""

from __future__ import annotations

import asyncio

import structlog
from nats.aio.client import Client

from gonogo.events.jetstream_wire import PubAck, read_answer, request
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
        began = self._clock.monotonic()
        ack = await self._put(self._body, headers={})
        if ack is None:
            return False
        if ack.error is not None:
            if self._revision and not self.held():
                self._revision = 0
            elif not self._revision:
                self._revision = await self._deleted_revision()
            return False
        self._revision = ack.seq
        self._held_until = began + self._ttl_s - MARGIN_S
        return True

    async def _deleted_revision(self) -> int:
        """The revision of a lease that was handed over (a delete marker), so that it can be taken without waiting."""
        try:
            message = await request(
                self._client,
                f"$JS.API.STREAM.MSG.GET.KV_{LEASES}",
                b'{"last_by_subj":"' + self._subject.encode() + b'"}',
            )
        except LogUnavailableError:
            return 0
        return _deleted(message.data)

    async def _put(self, body: bytes, *, headers: dict[str, str]) -> PubAck | None:
        expected = {**headers, "Nats-Expected-Last-Subject-Sequence": str(self._revision)}
        try:
            message = await request(self._client, self._subject, body, headers=expected)
            return read_answer(message, self._subject, PubAck)
        except LogUnavailableError:
            return None


def _deleted(data: bytes) -> int:
    import base64  # noqa: PLC0415 - only on this rare path
    import json  # noqa: PLC0415

    message = json.loads(data).get("message", {})
    headers = base64.b64decode(message.get("hdrs", "") or "")
    return int(message.get("seq", 0)) if b"KV-Operation: DEL" in headers else 0
