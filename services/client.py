"""For programs that ask for launches: connect, say a word, get the verdict.

    async with connect("nats://127.0.0.1:4222", user="ana", password=...) as client:
        answer = await client.launch({"schema": "gonogo/v1", "name": "tiny", ...})

Sending the same request under the same key again is safe and gives the same launch: after a timeout, just do it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from nats.aio.client import Client as NatsClient
from nats.aio.msg import Msg

from gonogo.events.jetstream_wire import PubAck, read_answer, request
from gonogo.events.request import Problem
from gonogo.events.subjects import word_subject
from gonogo.services.runtime.nats_connect import Access, hang_up
from gonogo.services.runtime.nats_connect import connect as connect_to_broker

ANSWER_WITHIN_S = 30.0
EARLY_MAX = 1000
"""Answers kept for words whose sequence is not known yet; other programs of the same client name are answered here too."""


class UnansweredError(Exception):
    """The word may or may not have arrived; the message says how to find out. Saying it again is safe."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a word: `accepted`, `deduplicated`, `taken` or `declined` with every problem."""

    verdict: str
    inbox_sequence: int
    launch: str | None = None
    plan_digest: str | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the word was taken."""
        return self.verdict != "declined"


class Client:
    """One client's voice. Its name is part of every subject, and the broker holds it to that."""

    def __init__(self, connection: NatsClient, name: str) -> None:
        """Use `connect`."""
        self._connection = connection
        self._name = name
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._early: dict[int, Answer] = {}

    async def listen(self) -> None:
        """Hear the answers. Called by `connect`."""
        await self._connection.subscribe(f"answer.{self._name}.*", cb=self._hear)
        await self._connection.flush()

    async def launch(self, document: Mapping[str, Any], *, timeout_s: float = ANSWER_WITHIN_S) -> Answer:
        """Ask for a launch. Raises UnansweredError."""
        return await self.say("launch", document, timeout_s=timeout_s)

    async def say(self, word: str, body: Mapping[str, Any], *, timeout_s: float = ANSWER_WITHIN_S) -> Answer:
        """Say any word: launch, approve, decline, cancel, recheck, attest, resolve, detach. Raises UnansweredError."""
        try:
            async with asyncio.timeout(timeout_s):
                sequence = await self._publish(word_subject(self._name, word), msgspec.json.encode(body))
                return await self._answer_to(sequence)
        except TimeoutError as error:
            message = f"no verdict within {timeout_s:g} s; it is safe to say it again, and intake answers when it runs"
            raise UnansweredError(message) from error

    async def _publish(self, subject: str, body: bytes) -> int:
        from gonogo.events.log import LogUnavailableError  # noqa: PLC0415 - keeps the import of this module light

        try:
            ack = read_answer(await request(self._connection, subject, body, timeout_s=5.0), subject, PubAck)
        except LogUnavailableError as error:
            message = f"the broker did not confirm {subject}: it is safe to say it again ({error})"
            raise UnansweredError(message) from error
        if ack.error is not None:
            message = f"the broker refused {subject}: {ack.error.description}"
            raise UnansweredError(message)
        return ack.seq

    async def _answer_to(self, sequence: int) -> Answer:
        early = self._early.pop(sequence, None)
        if early is not None:
            return early
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[sequence] = waiting
        try:
            return await waiting
        finally:
            del self._waiting[sequence]

    async def _hear(self, message: Msg) -> None:
        try:
            answer = msgspec.json.decode(message.data, type=Answer)
        except msgspec.MsgspecError:
            return
        waiting = self._waiting.get(answer.inbox_sequence)
        if waiting is None:
            self._early[answer.inbox_sequence] = answer
            while len(self._early) > EARLY_MAX:
                del self._early[next(iter(self._early))]
        elif not waiting.done():
            waiting.set_result(answer)


@asynccontextmanager
async def connect(
    url: str, *, name: str = "local", user: str | None = None, password: str | None = None
) -> AsyncIterator[Client]:
    """A client under `name`, which must be the client that the broker lets this user be. Raises NotConnectedError."""
    connection = await connect_to_broker(Access(url=url, user=user, password=password))
    try:
        client = Client(connection, name)
        await client.listen()
        yield client
    finally:
        await hang_up(connection)
