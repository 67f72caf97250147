"""The inbox on JetStream: a work queue, so that an original is gone from the disk once its verdict is in the log.

What stays for audit is the redacted copy in the message's own history.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from datetime import datetime

import nats.errors
from nats.aio.client import Client

from gonogo.events.jetstream_pull import PullConsumer, Pulled
from gonogo.events.jetstream_wire import request
from gonogo.events.log import LogUnavailableError
from gonogo.events.subjects import INBOX_STREAM, answer_subject, parse_word_subject

CONSUMER = "intake"
ACK_WAIT_NS = 30_000_000_000
BATCH = 64
PAUSE_S = 0.5
_CONFIG: dict[str, object] = {
    "durable_name": CONSUMER,
    "deliver_policy": "all",
    "ack_policy": "explicit",
    "ack_wait": ACK_WAIT_NS,
    "max_deliver": -1,
    "max_ack_pending": 1000,
    "replay_policy": "instant",
    "num_replicas": 1,
}


class JetStreamMessage:
    """One word from the stream."""

    def __init__(self, client: Client, pulled: Pulled) -> None:
        """Made by the inbox."""
        self._client = client
        self._pulled = pulled

    @property
    def sequence(self) -> int:
        """Its place in the inbox; the same at every redelivery."""
        return self._pulled.sequence

    @property
    def subject(self) -> str:
        """`in.<client>.<word>`."""
        return self._pulled.subject

    @property
    def body(self) -> bytes:
        """What was sent."""
        return self._pulled.data

    @property
    def stored_at(self) -> datetime:
        """The broker's time of arrival."""
        return self._pulled.stored_at

    async def done(self) -> None:
        """Acknowledge, confirmed by the server. A lost one means a redelivery, which finds its verdict in the log."""
        try:
            await request(self._client, self._pulled.reply, b"+ACK")
        except LogUnavailableError:
            return


class JetStreamInbox:
    """The inbox over one connection."""

    def __init__(self, client: Client, *, sleep: Callable[[float], Awaitable[None]]) -> None:
        """The stream must exist; the consumer is made here."""
        self._client = client
        self._sleep = sleep

    async def messages(self) -> AsyncIterator[JetStreamMessage]:
        """Every word not yet done, for ever."""
        while True:
            consumer = PullConsumer(self._client, INBOX_STREAM, CONSUMER, _CONFIG, batch=BATCH)
            with suppress(LogUnavailableError):
                async with aclosing(consumer.batches()) as batches:
                    async for batch in batches:
                        for pulled in batch:
                            yield JetStreamMessage(self._client, pulled)
            await self._sleep(PAUSE_S)

    async def answer(self, subject: str, sequence: int, body: bytes) -> None:
        """Tell the client, as far as anyone listens."""
        client, _ = parse_word_subject(subject)
        try:
            await self._client.publish(answer_subject(client, sequence), body)
        except (nats.errors.Error, OSError):
            return
