"""What becomes of an append whose answer was lost, and of a log whose past is no longer the one that was read."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import cast

import pytest
from nats.aio.msg import Msg

from gonogo.events import codec, jetstream, jetstream_pull
from gonogo.events.envelope import LogItem, Utterance
from gonogo.events.jetstream import JetStreamLog
from gonogo.events.jetstream_pull import PullConsumer, Pulled
from gonogo.events.log import (
    Appended,
    Conflict,
    EventLog,
    EventLogError,
    LogDamagedError,
    LogFullError,
    LogUnavailableError,
)
from gonogo.events.memory import MemoryLog
from gonogo.events.subjects import event_subject
from gonogo.services.runtime.clock import SystemClock
from tests.conftest import Nats
from tests.contracts.event_log import follow_until, of_history, stored
from tests.contracts.speech import INTENT, check, new_history, remark, utter

HELD_BACK = "held back by the test"


@pytest.fixture(params=["memory", pytest.param("jetstream", marks=pytest.mark.real_nats)])
def server(request: pytest.FixtureRequest) -> Nats | None:
    """Asked for outside of any event loop: the first one who does starts it in a loop of its own."""
    return request.getfixturevalue("nats") if request.param == "jetstream" else None


@pytest.fixture
async def log(server: Nats | None, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EventLog]:
    monkeypatch.setattr(jetstream, "APPEND_BUDGET_S", 1.0)
    if server is None:
        yield MemoryLog(SystemClock())
        return
    async with server.log() as real:
        yield real


async def test_what_is_said_again_at_the_version_that_it_made_is_found_and_not_stored_twice(log: EventLog):
    history = new_history()
    utterance = remark(history)
    own = await stored(log, utterance, expected=0)
    assert await log.append(utterance, expected=own) == Appended(own)
    assert of_history(await log.read(history), history) == [utterance.id]


async def test_what_is_said_again_after_others_spoke_is_found_at_the_tail_too(log: EventLog):
    history = new_history()
    utterance = remark(history)
    own = await stored(log, utterance, expected=0)
    tail = await stored(log, check(history, 1), expected=own)
    assert await log.append(utterance, expected=own) == Conflict(tail)
    assert await log.append(utterance, expected=tail) == Appended(own)


async def test_a_version_that_the_history_never_reached_is_damage_and_stores_nothing(log: EventLog):
    history = new_history()
    own = await stored(log, remark(history), expected=0)
    with pytest.raises(LogDamagedError, match=rf"{history} ends at sequence {own}, but {own + 5} was read from it"):
        await log.append(remark(history), expected=own + 5)
    fresh = new_history()
    with pytest.raises(LogDamagedError, match="ends at sequence 0"):
        await log.append(remark(fresh), expected=own)
    assert await log.read(fresh) == ()


async def test_a_position_that_the_log_never_reached_is_damage(log: EventLog):
    tail = await log.tail()
    with pytest.raises(LogDamagedError, match=f"ends at sequence {tail}, but {tail + 1} was read from it"):
        await follow_until(log, after=tail + 1, sequence=tail + 2)


def losing(
    monkeypatch: pytest.MonkeyPatch, *, times: int, arrives: bool, then: Callable[[], object] = lambda: None
) -> list[str]:
    """The next `times` publishes go unanswered, whether or not they `arrive`; their subjects."""
    lost: list[str] = []
    real = jetstream.request

    async def request(client: object, subject: str, payload: bytes, **more: object) -> Msg:
        if subject.startswith("$JS") or len(lost) >= times:
            return await real(client, subject, payload, **more)  # type: ignore[arg-type]
        lost.append(subject)
        if arrives:
            await real(client, subject, payload, **more)  # type: ignore[arg-type]
        then()
        raise LogUnavailableError(HELD_BACK)

    monkeypatch.setattr(jetstream, "request", request)
    return lost


@pytest.mark.real_nats
@pytest.mark.parametrize("arrives", [True, False])
async def test_a_lost_answer_is_asked_for_again_until_it_is_definite(
    nats: Nats, monkeypatch: pytest.MonkeyPatch, *, arrives: bool
):
    history = new_history()
    utterance = remark(history)
    async with nats.log() as log:
        lost = losing(monkeypatch, times=2, arrives=arrives)
        answer = await log.append(utterance, expected=0)
        assert len(lost) == 2
        (item,) = await log.read(history)
        assert answer == Appended(item.sequence)


@pytest.mark.real_nats
async def test_one_whose_request_was_lost_and_who_was_overtaken_meanwhile_is_told_of_the_conflict(
    nats: Nats, monkeypatch: pytest.MonkeyPatch
):
    history, tasks = new_history(), []
    async with nats.log() as log, nats.log() as other:
        losing(
            monkeypatch,
            times=1,
            arrives=False,
            then=lambda: tasks.append(asyncio.create_task(other.append(remark(history), expected=0))),
        )
        answer = await log.append(remark(history), expected=0)
        overtaker = await tasks[0]
        assert isinstance(overtaker, Appended)
        assert answer == Conflict(overtaker.sequence)


@pytest.mark.real_nats
async def test_an_intent_that_may_be_stored_already_is_not_refused_for_want_of_room(
    nats: Nats, monkeypatch: pytest.MonkeyPatch
):
    history = new_history()
    async with nats.log() as log:

        def fill() -> None:
            monkeypatch.setattr(jetstream, "FULL_AT", -1.0)

        losing(monkeypatch, times=1, arrives=True, then=fill)
        answer = await log.append(utter(history, INTENT), expected=0)
        assert isinstance(answer, Appended)
        with pytest.raises(LogFullError):
            await log.append(utter(history, INTENT), expected=answer.sequence)


@pytest.mark.real_nats
async def test_an_id_that_was_used_for_something_else_is_an_error_and_never_taken_for_stored(nats: Nats):
    one, other = new_history(), new_history()
    first = remark(one)
    async with nats.log() as log:
        await stored(log, first, expected=0)
        with pytest.raises(EventLogError, match=f"the id {first.id} already stands for message .* used twice"):
            await log.append(Utterance(history=other, role=first.role, said=first.said), expected=0)
        assert await log.read(other) == ()


@pytest.mark.real_nats
async def test_an_error_of_the_server_that_passes_by_itself_is_waited_out(nats: Nats, monkeypatch: pytest.MonkeyPatch):
    answers = [(400, 10164), (409, 10158), (503, 10008)]
    real = jetstream.request

    async def request(client: object, subject: str, payload: bytes, **more: object) -> Msg:
        message = await real(client, subject, payload, **more)  # type: ignore[arg-type]
        if subject.startswith("ev.") and answers:
            code, number = answers.pop()
            message.data = f'{{"error":{{"code":{code},"err_code":{number},"description":"x"}}}}'.encode()
        return message

    monkeypatch.setattr(jetstream, "request", request)
    history = new_history()
    async with nats.log() as log:
        answer = await log.append(remark(history), expected=0)
        (item,) = await log.read(history)
    assert answers == []
    assert answer == Appended(item.sequence)


@pytest.mark.real_nats
async def test_an_intent_waits_for_a_server_that_is_just_starting_again(own_nats: Nats):
    history = new_history()
    async with own_nats.log() as log:
        os.kill(own_nats.server.pid, signal.SIGKILL)
        await own_nats.server.wait_dead()
        waiting = asyncio.create_task(log.append(utter(history, INTENT), expected=0))
        await asyncio.sleep(0.3)
        await own_nats.server.start()
        async with asyncio.timeout(15):
            assert await waiting == Appended(1)


@pytest.mark.real_nats
async def test_a_log_that_was_rewritten_under_a_follower_is_noticed(own_nats: Nats):
    async with own_nats.log() as log, own_nats.log() as writer:
        for _ in range(3):
            await stored(writer, remark(new_history()), expected=0)
        seen = await follow_until(log, after=0, sequence=3)
        await own_nats.server.stop()
        shutil.rmtree(own_nats.data_dir.store)
        await own_nats.server.start()
        async with own_nats.log() as liar:
            for _ in range(5):
                await stored(liar, remark(new_history()), expected=0)
        with pytest.raises(LogDamagedError, match="message 3 of the log is not the one that was read before"):
            await follow_on(log, after=seen[-1].sequence)


async def follow_on(log: EventLog, *, after: int) -> None:
    """As a worker does: an outage is waited out."""
    async with asyncio.timeout(15):
        while True:
            try:
                async for _ in log.follow(after=after):
                    pass
            except LogUnavailableError:
                await asyncio.sleep(0.1)


@pytest.mark.real_nats
async def test_a_message_that_is_gone_from_the_log_is_damage_and_one_that_got_lost_on_its_way_is_not(
    nats: Nats, monkeypatch: pytest.MonkeyPatch
):
    real, swallowed = PullConsumer.batches, set[int]()

    async def leaky(self: PullConsumer) -> AsyncIterator[list[Pulled]]:
        async with aclosing(real(self)) as batches:
            async for batch in batches:
                lost = {each.sequence for each in batch if each.sequence % 5 == 0} - swallowed
                swallowed.update(lost)
                yield [each for each in batch if each.sequence not in lost]

    monkeypatch.setattr(PullConsumer, "batches", leaky)
    async with nats.log() as log:
        start = await log.tail()
        for _ in range(20):
            last = await stored(log, remark(new_history()), expected=0)
        items = await follow_until(log, after=start, sequence=last)
        assert [item.sequence for item in items] == list(range(start + 1, last + 1))
        assert swallowed

        swallowed.clear()

        async def has_not(self: JetStreamLog, sequence: int) -> bool:
            return False

        monkeypatch.setattr(JetStreamLog, "has", has_not)
        with pytest.raises(LogDamagedError, match="has no message .*, but later ones"):
            await follow_until(log, after=start, sequence=last)


@pytest.mark.real_nats
async def test_a_reader_that_is_slow_loses_nothing_and_holds_only_so_much(nats: Nats, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jetstream_pull, "BUFFER_MAX", 20)
    monkeypatch.setattr(jetstream_pull, "EXPIRES_S", 0.5)
    monkeypatch.setattr(jetstream_pull, "HEARTBEAT_S", 0.2)
    real = PullConsumer.__init__
    monkeypatch.setattr(PullConsumer, "__init__", lambda self, *args, **_: real(self, *args, batch=10))
    async with nats.log() as log, nats.log() as writer:
        start, seen = await writer.tail(), cast("list[LogItem]", [])
        last = start + 200
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            group.create_task(_say(writer, 200))
            async with aclosing(log.follow(after=start)) as batches:  # type: ignore[type-var]
                async for batch in batches:
                    assert len(batch) <= 40
                    seen.extend(batch)
                    if seen[-1].sequence >= last:
                        break
                    await asyncio.sleep(0.8 if len(seen) < 20 else 0.01)
    assert [item.sequence for item in seen] == list(range(start + 1, last + 1))


async def _say(log: EventLog, number: int) -> None:
    for _ in range(number):
        await stored(log, remark(new_history()), expected=0)


@pytest.mark.real_nats
async def test_what_is_said_reaches_a_waiting_follower_at_once(nats: Nats):
    async with nats.log() as log, nats.log() as writer:
        start, history = await log.tail(), new_history()
        clock, arrivals = SystemClock(), cast("dict[int, float]", {})

        async def listen() -> None:
            async for batch in log.follow(after=start):
                arrivals.update((item.sequence, clock.monotonic()) for item in batch)
                if batch[-1].sequence >= start + 20:
                    return

        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            group.create_task(listen())
            await asyncio.sleep(0.3)
            version, delays = 0, cast("list[float]", [])
            for number in range(20):
                version = await stored(writer, check(history, number), expected=version)
                told = clock.monotonic()
                while version not in arrivals:
                    await asyncio.sleep(0.001)
                delays.append(arrivals[version] - told)
                await asyncio.sleep(0.01)
    assert sorted(delays)[10] < 0.1, "much less than the time between two heartbeats"


ACKS = {
    "plain": "$JS.ACK.EVENTS.r-1.1.42.7.1767225600123456789.0",
    "of a domain": "$JS.ACK.hub.ACCT.EVENTS.r-1.1.42.7.1767225600123456789.0",
    "of a domain, with a token": "$JS.ACK.hub.ACCT.EVENTS.r-1.1.42.7.1767225600123456789.0.x9",
}


@pytest.mark.parametrize("reply", ACKS.values(), ids=ACKS.keys())
def test_the_place_of_a_message_is_read_from_every_form_of_its_reply(reply: str):
    history = new_history()
    message = Msg(_client=None, subject=event_subject(history, "submitter"), reply=reply, data=b"x", headers=None)  # type: ignore[arg-type]
    pulled = jetstream_pull._pulled(message)
    assert pulled is not None
    assert pulled.sequence == 42
    assert pulled.stored_at.isoformat() == "2026-01-01T00:00:00.123457+00:00"


@pytest.mark.parametrize("reply", ["", "_INBOX.x", "$JS.ACK.EVENTS.r.1.x.7.y.0"])
def test_what_comes_from_elsewhere_is_not_taken_for_a_message_of_the_log(reply: str):
    message = Msg(_client=None, subject="ev.launch.a.submitter", reply=reply, data=codec.encode(remark(new_history())))  # type: ignore[arg-type]
    assert jetstream_pull._pulled(message) is None
