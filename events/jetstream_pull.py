"""Reads a stream through one consumer with its own pull loop: overlapping batches into one inbox, order kept, silence noticed.

The library's readers are several times slower, wait out their timeouts around a reconnect, and one of them drops messages
when its reader is slow.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from gonogo.events.jetstream_wire import Plain, ask
from gonogo.events.log import LogUnavailableError

BATCH = 1000
HEARTBEAT_S = 1.0
"""The server says that it is alive this often while there is nothing to deliver."""
SILENCE_S = 3.0
"""Without a message or heartbeat for this long, the consumer is made anew."""
EXPIRES_S = 30.0
BUFFER_MAX = 20_000
"""Messages held before the reader takes them; no more are asked for while there are so many."""
_NS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ACK_PARTS = 9
_ACK_PARTS_OF_A_DOMAIN = 11


class Pulled(msgspec.Struct, frozen=True):
    """One message of the stream. `reply` acknowledges it."""

    subject: str
    data: bytes
    sequence: int
    stored_at: datetime
    reply: str


class _Lost(Exception):  # noqa: N818 - not an error for anyone outside: the consumer is simply made anew
    pass


class PullConsumer:
    """One consumer of one stream, made by this reader."""

    def __init__(
        self, client: Client, stream: str, name: str, config: Mapping[str, object], *, batch: int = BATCH
    ) -> None:
        """`config`: the consumer as the server should have it."""
        self._client = client
        self._stream = stream
        self._name = name
        self._config = config
        self._batch = batch
        self._arrived: list[Pulled] = []
        self._signal = asyncio.Event()
        self._credit = 0
        self._lost: str | None = None

    async def batches(self) -> AsyncGenerator[list[Pulled], None]:
        """Messages as they come. Ends when the consumer is lost; raises LogUnavailableError if it cannot be made."""
        body = {"stream_name": self._stream, "config": dict(self._config), "action": ""}
        made = await ask(self._client, f"$JS.API.CONSUMER.CREATE.{self._stream}.{self._name}", body, Plain)
        if made.error is not None:
            text = f"the log refused a reader on {self._stream}: {made.error.description}"
            raise LogUnavailableError(text)
        inbox = self._client.new_inbox()
        subscription = await self._subscribe(inbox)
        try:
            while True:
                await self._pull(inbox)
                yield await self._next()
        except _Lost:
            return
        finally:
            await self._unsubscribe(subscription)

    async def _subscribe(self, inbox: str) -> Subscription:
        try:
            return await self._client.subscribe(inbox, cb=self._receive, pending_msgs_limit=-1, pending_bytes_limit=-1)
        except nats.errors.Error as error:
            text = f"the log cannot be followed: {error}"
            raise LogUnavailableError(text) from error

    async def _unsubscribe(self, subscription: Subscription) -> None:
        try:
            await subscription.unsubscribe()
        except (nats.errors.Error, OSError):
            return

    async def _pull(self, inbox: str) -> None:
        if self._credit > self._batch // 2 or len(self._arrived) > BUFFER_MAX:
            return
        wish = {"batch": self._batch, "expires": int(EXPIRES_S * _NS), "idle_heartbeat": int(HEARTBEAT_S * _NS)}
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}"
        try:
            await self._client.publish(subject, msgspec.json.encode(wish), reply=inbox)
        except (nats.errors.Error, OSError) as error:
            raise _Lost(str(error)) from error
        self._credit += self._batch

    async def _next(self) -> list[Pulled]:
        if not self._arrived:
            self._signal.clear()
            try:
                async with asyncio.timeout(SILENCE_S):
                    await self._signal.wait()
            except TimeoutError as error:
                raise _Lost("silence") from error
        if self._lost is not None and not self._arrived:
            raise _Lost(self._lost)
        arrived, self._arrived = self._arrived, []
        return arrived

    async def _receive(self, message: Msg) -> None:
        """Must not raise: an exception here would end the subscription silently."""
        self._signal.set()
        headers = message.headers
        if headers is not None and "Status" in headers and not message.reply.startswith("$JS.ACK"):
            self._status(headers)
            return
        pulled = _pulled(message)
        if pulled is not None:
            self._credit -= 1
            self._arrived.append(pulled)

    def _status(self, headers: Mapping[str, str]) -> None:
        status = headers.get("Status", "")
        if status == "100":
            return
        if status == "408":
            self._credit = max(0, self._credit - int(headers.get("Nats-Pending-Messages", self._batch)))
            return
        self._lost = f"{status} {headers.get('Description', '')}"


def _pulled(message: Msg) -> Pulled | None:
    """The reply of a message of a stream says which one it is; None for one that comes from elsewhere.

    `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>`
    """
    parts = message.reply.split(".")
    if len(parts) < _ACK_PARTS:
        return None
    places = parts[4:] if len(parts) >= _ACK_PARTS_OF_A_DOMAIN else parts[2:]
    if not (places[3].isdigit() and places[5].isdigit()):
        return None
    sequence, nanoseconds = int(places[3]), int(places[5])
    # rounded as the codec of the API answers rounds: a message has one time, however it was read
    stored_at = _EPOCH + timedelta(microseconds=(nanoseconds + 500) // 1000)
    return Pulled(message.subject, message.data, sequence, stored_at, message.reply)
