"""Both inboxes keep the contract, and the one on JetStream outlives its server."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from gonogo.events import jetstream_inbox
from gonogo.events.inbox import Inbox
from gonogo.events.jetstream_inbox import JetStreamInbox
from gonogo.events.jetstream_wire import PubAck, read_answer, request, stream_info
from gonogo.events.log import LogUnavailableError
from gonogo.events.memory_inbox import MemoryInbox
from gonogo.events.subjects import INBOX_STREAM
from gonogo.services.runtime.clock import SystemClock
from tests.conftest import Nats
from tests.contracts.inbox import InboxContract, InboxWorld, take

ACK_WAIT_S = 1.0


class MemoryWorld(InboxWorld):
    def __init__(self) -> None:
        self.inbox = MemoryInbox(SystemClock())

    def reader(self) -> Inbox:
        return self.inbox

    async def say(self, subject: str, body: bytes) -> int:
        return self.inbox.publish(subject, body)

    async def answers(self) -> list[bytes]:
        return [body for _, body in self.inbox.answers]


class TestMemoryInbox(InboxContract):
    @pytest.fixture
    def world(self) -> InboxWorld:
        return MemoryWorld()


class JetStreamWorld(InboxWorld):
    def __init__(self, intake: Client, client: Client) -> None:
        self.intake, self.client = intake, client
        self.heard: list[bytes] = []

    async def hear(self, message: Msg) -> None:
        self.heard.append(message.data)

    def reader(self) -> JetStreamInbox:
        return JetStreamInbox(self.intake, sleep=asyncio.sleep)

    async def say(self, subject: str, body: bytes) -> int:
        ack = read_answer(await request(self.client, subject, body), subject, PubAck)
        assert ack.error is None, ack.error
        return ack.seq

    async def answers(self) -> list[bytes]:
        async with asyncio.timeout(5):
            while not self.heard:
                await asyncio.sleep(0.01)
        return self.heard


async def waiting(client: Client) -> int:
    info = await stream_info(client, INBOX_STREAM)
    assert info.state is not None
    return info.state.messages


@pytest.fixture
async def real_world(own_nats: Nats, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[JetStreamWorld]:
    quick = {**jetstream_inbox._CONFIG, "ack_wait": int(ACK_WAIT_S * 1e9)}
    monkeypatch.setattr(jetstream_inbox, "_CONFIG", quick)
    async with own_nats.connected("intake") as intake, own_nats.connected("admin") as client:
        world = JetStreamWorld(intake, client)
        await client.subscribe("answer.ana.*", cb=world.hear)
        await client.flush()
        yield world


@pytest.mark.real_nats
class TestJetStreamInbox(InboxContract):
    @pytest.fixture
    def world(self, real_world: JetStreamWorld) -> InboxWorld:
        return real_world


@pytest.mark.real_nats
async def test_a_word_is_gone_from_the_disk_once_it_is_done(real_world: JetStreamWorld):
    await real_world.say("in.ana.launch", b"a secret by mistake")
    (message,) = await take(real_world.reader(), 1, done=False)
    assert await waiting(real_world.client) == 1
    await message.done()
    assert await waiting(real_world.client) == 0


@pytest.mark.real_nats
async def test_a_word_that_is_never_done_is_given_again_to_the_same_reader(real_world: JetStreamWorld):
    sequence = await real_world.say("in.ana.launch", b"1")
    first, second = await take(real_world.reader(), 2, done=False)
    assert (first.sequence, second.sequence) == (sequence, sequence)
    assert (first.body, first.stored_at) == (second.body, second.stored_at)


@pytest.mark.real_nats
async def test_a_reader_outlives_its_server_and_no_word_is_lost(own_nats: Nats, real_world: JetStreamWorld):
    numbers = range(30)
    seen: set[bytes] = set()

    async def read() -> None:
        # as intake does: each in a task of its own, for a server that forgot a delivery never answers its receipt
        async for message in real_world.reader().messages():
            seen.add(message.body)
            group.create_task(message.done())
            if len(seen) == len(numbers):
                return

    async def say(number: int) -> None:
        while True:
            try:
                await real_world.say("in.ana.launch", str(number).encode())
                return
            except LogUnavailableError:
                await asyncio.sleep(0.1)

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(read())
        for number in numbers:
            await say(number)
            if number == 10:
                os.kill(own_nats.server.pid, signal.SIGKILL)
                await own_nats.server.wait_dead()
                await own_nats.server.start()
    assert seen == {str(number).encode() for number in numbers}
