"""The log on JetStream keeps the contract, and what only a server can break."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import cast

import nats.errors
import pytest
from nats.aio.client import Client

from gonogo.events import codec, jetstream
from gonogo.events.envelope import LogItem
from gonogo.events.jetstream import JetStreamLog
from gonogo.events.jetstream_wire import Plain, PubAck, ask, stream_info
from gonogo.events.log import Appended, EventLog, LogDamagedError, LogFullError, LogUnavailableError
from gonogo.events.subjects import EVENTS_STREAM, event_subject
from gonogo.services.runtime import nats_server
from tests.conftest import Nats
from tests.contracts.event_log import EventLogContract, LogWorld, follow_until, of_history, stored
from tests.contracts.speech import INTENT, OUTCOME, new_history, remark, utter

pytestmark = pytest.mark.real_nats
PURGE = f"$JS.API.STREAM.PURGE.{EVENTS_STREAM}"
DELETE_MESSAGE = f"$JS.API.STREAM.MSG.DELETE.{EVENTS_STREAM}"
DELETE_STREAM = f"$JS.API.STREAM.DELETE.{EVENTS_STREAM}"
UPDATE_STREAM = f"$JS.API.STREAM.UPDATE.{EVENTS_STREAM}"


class JetStreamWorld(LogWorld):
    def __init__(self, nats: Nats, log: JetStreamLog, client: Client) -> None:
        self.nats, self.log, self.client = nats, log, client

    @asynccontextmanager
    async def another(self) -> AsyncIterator[EventLog]:
        async with self.nats.log() as log:
            yield log

    async def store(self, subject: str, body: bytes) -> int:
        ack = await ask_raw(self.client, subject, body)
        assert ack.error is None, ack.error
        return ack.seq


async def ask_raw(client: Client, subject: str, body: bytes) -> PubAck:
    from gonogo.events.jetstream_wire import read_answer, request

    return read_answer(await request(client, subject, body), subject, PubAck)


class TestJetStreamLog(EventLogContract):
    @pytest.fixture
    async def world(self, nats: Nats) -> AsyncIterator[LogWorld]:
        async with nats.log() as log, nats.connected("admin") as client:
            yield JetStreamWorld(nats, log, client)


async def append_until_definite(log: EventLog, utterance, *, expected: int):
    """As a worker does: what is not definite is repeated."""
    while True:
        try:
            return await log.append(utterance, expected=expected)
        except LogUnavailableError:
            await asyncio.sleep(0.1)


async def follow_through_outages(log: EventLog, *, after: int, number: int, seen: list[LogItem]) -> None:
    """As the viewer does: an outage is waited out and the follower goes on where it stood."""
    while len(seen) < number:
        position = seen[-1].sequence if seen else after
        try:
            async for batch in log.follow(after=position):
                seen.extend(batch)
                if len(seen) >= number:
                    break
        except LogUnavailableError:
            await asyncio.sleep(0.1)


async def test_a_server_killed_in_the_middle_loses_nothing_and_doubles_nothing(own_nats: Nats):
    number, histories, seen = 120, [new_history() for _ in range(4)], cast("list[LogItem]", [])
    said: dict[object, list[str]] = {history: [] for history in histories}
    async with own_nats.log() as log, own_nats.log() as reader:

        async def write(history) -> None:
            version = 0
            for _ in range(number // len(histories)):
                utterance = remark(history)
                answer = await append_until_definite(log, utterance, expected=version)
                assert isinstance(answer, Appended), answer
                version = answer.sequence
                said[history].append(utterance.id)

        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            group.create_task(follow_through_outages(reader, after=0, number=number, seen=seen))
            for history in histories:
                group.create_task(write(history))
            while sum(map(len, said.values())) < number // 3:
                await asyncio.sleep(0.001)
            os.kill(own_nats.server.pid, signal.SIGKILL)
            await own_nats.server.wait_dead()
            assert sum(map(len, said.values())) < number
            await own_nats.server.start()
    assert [item.sequence for item in seen] == list(range(1, number + 1))
    assert {history: of_history(seen, history) for history in histories} == said


async def test_silence_of_the_server_is_no_answer_and_a_later_retry_stores_exactly_one(
    own_nats: Nats, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jetstream, "APPEND_BUDGET_S", 0.5)
    history = new_history()
    utterance = remark(history)
    async with own_nats.log() as log:
        os.kill(own_nats.server.pid, signal.SIGSTOP)
        try:
            with pytest.raises(LogUnavailableError, match="nothing is concluded"):
                await log.append(utterance, expected=0)
            with pytest.raises(LogUnavailableError):
                await log.read(history)
        finally:
            os.kill(own_nats.server.pid, signal.SIGCONT)
        async with asyncio.timeout(20):
            answer = await append_until_definite(log, utterance, expected=0)
        assert isinstance(answer, Appended)
        assert of_history(await log.read(history), history) == [utterance.id]


async def refused_by_silence(client: Client, subject: str, body: bytes = b"") -> bool:
    """A request that the broker does not permit is never answered."""
    try:
        await client.request(subject, body, timeout=0.3)
    except (nats.errors.TimeoutError, nats.errors.NoRespondersError):
        return True
    return False


async def test_the_submitter_cannot_speak_as_intake(nats: Nats):
    history = new_history()
    body = codec.encode(remark(history))
    async with nats.connected("submitter") as client, nats.log("reader") as reader:
        assert await refused_by_silence(client, event_subject(history, "intake"), body)
        assert await refused_by_silence(client, event_subject(history, "request"), body)
        assert await reader.read(history) == ()
        assert not await refused_by_silence(client, event_subject(history, "submitter"), body)
        assert len(await reader.read(history)) == 1


async def test_the_reader_cannot_speak_at_all(nats: Nats):
    history = new_history()
    async with nats.connected("reader") as client, nats.log("reader") as reader:
        for role in ("intake", "submitter", "watcher", "request"):
            assert await refused_by_silence(client, event_subject(history, role), codec.encode(remark(history)))
        assert await reader.read(history) == ()


@pytest.mark.parametrize("user", ["submitter", "intake", "local", "reader"])
async def test_no_worker_or_client_can_purge_delete_or_change_the_log(nats: Nats, user: str):
    async with nats.log("reader") as reader, nats.log("submitter") as log, nats.connected(user) as client:
        sequence = await stored(log, remark(new_history()), expected=0)
        refusals = await asyncio.gather(
            *(refused_by_silence(client, subject) for subject in (PURGE, DELETE_MESSAGE, DELETE_STREAM, UPDATE_STREAM))
        )
        assert all(refusals)
        assert await reader.tail() == sequence


async def test_not_even_the_administrator_can_purge_the_log_or_delete_from_it(nats: Nats):
    async with nats.log() as log, nats.connected("admin") as client:
        history = new_history()
        sequence = await stored(log, remark(history), expected=0)
        purged = await ask(client, PURGE, {}, Plain)
        deleted = await ask(client, DELETE_MESSAGE, {"seq": sequence}, Plain)
        assert purged.error is not None
        assert deleted.error is not None
        assert len(await log.read(history)) == 1


async def test_a_nearly_full_log_refuses_intents_and_still_takes_outcomes(
    own_nats: Nats, monkeypatch: pytest.MonkeyPatch
):
    await own_nats.server.stop()
    shutil.rmtree(own_nats.data_dir.store)
    monkeypatch.setattr(nats_server, "EVENTS_MAX", 256 * 1024)
    await own_nats.server.start()
    async with own_nats.connected("admin") as client, own_nats.log() as filler, own_nats.log() as log:
        await stored(filler, utter(new_history(), INTENT), expected=0)
        while (await fullness(client)) <= jetstream.FULL_AT:
            await stored(filler, remark(new_history(), "x" * 4000), expected=0)
        with pytest.raises(LogFullError, match="new intents wait until its stream has more room"):
            await log.append(utter(new_history(), INTENT), expected=0)
        await stored(log, utter(new_history(), OUTCOME), expected=0)
        with pytest.raises(LogFullError, match="the log is full"):
            await speak_until_refused(log)
        tail = await log.tail()
        assert len(await follow_until(log, after=0, sequence=tail)) == tail


async def speak_until_refused(log: EventLog) -> None:
    for number in count(await log.tail() + 1):
        assert await stored(log, remark(new_history(), "x" * 4000), expected=0) == number


async def fullness(client: Client) -> float:
    info = await stream_info(client, EVENTS_STREAM)
    assert info.state is not None
    return info.state.bytes / int(info.config["max_bytes"])


async def test_a_follower_that_is_ahead_of_the_log_says_so(nats: Nats):
    async with nats.log() as log:
        tail = await log.tail()
        with pytest.raises(LogDamagedError, match=rf"ends at sequence {tail}, but {tail + 3} was read"):
            async for _ in log.follow(after=tail + 3):
                pass


async def test_a_log_that_was_set_back_under_a_follower_is_noticed(own_nats: Nats):
    store, backup = own_nats.data_dir.store, own_nats.data_dir.root / "backup"
    async with own_nats.log() as log:
        await stored(log, remark(new_history()), expected=0)
    await own_nats.server.stop()
    shutil.copytree(store, backup)
    await own_nats.server.start()
    async with own_nats.log() as log:
        for _ in range(3):
            last = await stored(log, remark(new_history()), expected=0)
        seen: list[LogItem] = []
        follower = asyncio.create_task(follow_for_ever(log, seen))
        while len(seen) < last:
            await asyncio.sleep(0.01)
        await own_nats.server.stop()
        shutil.rmtree(store)
        backup.rename(store)
        await own_nats.server.start()
        with pytest.raises(LogDamagedError, match=rf"ends at sequence 1, but {last} was read from it"):
            async with asyncio.timeout(15):
                await follower


async def follow_for_ever(log: EventLog, seen: list[LogItem]) -> Sequence[LogItem]:
    while True:
        try:
            async for batch in log.follow(after=seen[-1].sequence if seen else 0):
                seen.extend(batch)
        except LogUnavailableError:
            await asyncio.sleep(0.1)


async def test_a_reader_that_is_told_to_end_ends_also_if_its_answer_comes_at_that_moment(nats: Nats):
    history = new_history()

    async def read_for_ever(log: EventLog) -> None:
        while True:
            await log.read(history)

    async with nats.log() as log:
        for index in range(60):
            task = asyncio.create_task(read_for_ever(log))
            await asyncio.sleep(index * 0.0001)
            task.cancel()
            _, running = await asyncio.wait([task], timeout=2)
            while not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=0.01)
            assert not running, "it went on after it was cancelled"
