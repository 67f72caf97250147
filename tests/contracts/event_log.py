"""What every event log promises, written once and run on each of them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import cast

import pytest

from gonogo.events import codec
from gonogo.events.base import UnknownEvent
from gonogo.events.envelope import Entry, LogItem, Unreadable, Utterance
from gonogo.events.ids import History
from gonogo.events.log import Appended, Conflict, EventLog, UnreadableEventError
from gonogo.events.subjects import event_subject
from gonogo.events.submission import SubmissionUnresolved
from tests.contracts.speech import cancelled, check, new_history, remark, utter

WRITERS = 8
HISTORIES = 50


class LogWorld(ABC):
    """A log, other writers of the same log, and a way to store what none of ours would say."""

    log: EventLog

    @abstractmethod
    def another(self) -> AbstractAsyncContextManager[EventLog]:
        """The same log, as another process would open it."""

    @abstractmethod
    async def store(self, subject: str, body: bytes) -> int:
        """Store bytes as they are."""


def of_history(items: Sequence[LogItem], history: History) -> list[str]:
    """What was said in a history, by event id."""
    return [said.id for item in items if isinstance(item, Entry) and item.history == history for said in item.said]


async def follow_until(log: EventLog, *, after: int, sequence: int) -> list[LogItem]:
    """Everything that a follower is given up to and including `sequence`."""
    seen: list[LogItem] = []
    async with (
        asyncio.timeout(20),
        aclosing(cast("AsyncIterator[Sequence[LogItem]]", log.follow(after=after))) as batches,
    ):  # type: ignore[type-var]
        async for batch in batches:
            seen.extend(batch)
            if seen[-1].sequence >= sequence:
                break
    return seen


async def stored(log: EventLog, utterance: Utterance, *, expected: int) -> int:
    """The sequence of an append that must succeed."""
    answer = await log.append(utterance, expected=expected)
    assert isinstance(answer, Appended), answer
    return answer.sequence


class EventLogContract:
    """Subclass it and give it a `world`."""

    async def test_a_fresh_history_is_at_version_zero_and_empty(self, world: LogWorld):
        history = new_history()
        assert await world.log.read(history) == ()
        assert await stored(world.log, remark(history), expected=0) > 0

    async def test_what_was_said_is_read_back_exactly(self, world: LogWorld):
        history = new_history()
        utterance = utter(history, SubmissionUnresolved(cause='grüße 🚀\n"q"'), SubmissionUnresolved(cause=""))
        sequence = await stored(world.log, utterance, expected=0)
        (entry,) = await world.log.read(history)
        assert isinstance(entry, Entry)
        assert (entry.history, entry.role, entry.sequence) == (history, "submitter", sequence)
        assert [(said.id, said.event) for said in entry.said] == [(said.id, said.event) for said in utterance.said]
        assert all(said.sequence == sequence and said.stored_at == entry.stored_at for said in entry.said)

    async def test_a_conflict_names_the_version_that_the_history_has(self, world: LogWorld):
        history = new_history()
        sequence = await stored(world.log, remark(history), expected=0)
        assert await world.log.append(remark(history), expected=0) == Conflict(sequence)
        second = await stored(world.log, remark(history), expected=sequence)
        assert await world.log.append(remark(history), expected=sequence) == Conflict(second)

    async def test_a_conflict_stores_nothing(self, world: LogWorld):
        history = new_history()
        first = remark(history)
        await stored(world.log, first, expected=0)
        await world.log.append(remark(history), expected=0)
        assert of_history(await world.log.read(history), history) == [first.id]

    async def test_of_two_writers_of_one_version_exactly_one_is_stored(self, world: LogWorld):
        history = new_history()
        async with world.another() as other:
            answers = await asyncio.gather(
                world.log.append(remark(history), expected=0),
                other.append(utter(history, SubmissionUnresolved(cause="b"), role="submitter"), expected=0),
            )
        assert sorted(type(answer).__name__ for answer in answers) == ["Appended", "Conflict"]
        assert len(await world.log.read(history)) == 1

    async def test_writers_of_two_roles_meet_in_the_same_version(self, world: LogWorld):
        history = new_history()
        first = await stored(world.log, check(history, 1), expected=0)
        assert await world.log.append(remark(history), expected=0) == Conflict(first)

    async def test_a_repeated_append_gets_the_same_answer_and_is_stored_once(self, world: LogWorld):
        history, utterance = new_history(), None
        utterance = remark(history)
        sequence = await stored(world.log, utterance, expected=0)
        assert await world.log.append(utterance, expected=0) == Appended(sequence)
        assert of_history(await world.log.read(history), history) == [utterance.id]

    async def test_a_repeated_append_gets_the_same_answer_after_others_have_spoken(self, world: LogWorld):
        history = new_history()
        utterance = remark(history)
        sequence = await stored(world.log, utterance, expected=0)
        async with world.another() as other:
            await stored(other, check(history, 1), expected=sequence)
            assert await other.append(utterance, expected=0) == Appended(sequence)
        assert await world.log.append(utterance, expected=0) == Appended(sequence)
        assert len(await world.log.read(history)) == 2

    async def test_histories_do_not_interfere(self, world: LogWorld):
        one, other = new_history(), new_history()
        at = await stored(world.log, remark(one), expected=0)
        await stored(world.log, remark(other), expected=0)
        await stored(world.log, remark(one), expected=at)
        assert [len(await world.log.read(history)) for history in (one, other)] == [2, 1]

    async def test_one_histories_id_being_the_beginning_of_anothers_does_not_mix_them(self, world: LogWorld):
        one = new_history()
        longer = History(one.kind, one.id + "x")
        await stored(world.log, remark(longer), expected=0)
        assert await world.log.read(one) == ()
        await stored(world.log, remark(one), expected=0)

    async def test_sequences_of_a_history_rise_in_the_order_of_its_appends(self, world: LogWorld):
        history, version, ids = new_history(), 0, []
        for number in range(10):
            utterance = check(history, number)
            ids.append(utterance.id)
            version = await stored(world.log, utterance, expected=version)
        items = await world.log.read(history)
        assert of_history(items, history) == ids
        assert [item.sequence for item in items] == sorted({item.sequence for item in items})

    async def test_reading_after_a_version_gives_only_what_came_later(self, world: LogWorld):
        history, version, versions = new_history(), 0, []
        for number in range(4):
            version = await stored(world.log, check(history, number), expected=version)
            versions.append(version)
        assert [item.sequence for item in await world.log.read(history, after=versions[1])] == versions[2:]
        assert await world.log.read(history, after=versions[-1]) == ()

    async def test_the_tail_is_the_last_sequence_of_the_whole_log(self, world: LogWorld):
        sequence = await stored(world.log, remark(new_history()), expected=0)
        assert await world.log.tail() == sequence

    async def test_a_follower_catches_up_from_any_position_without_a_gap(self, world: LogWorld):
        start = await world.log.tail()
        last = [await stored(world.log, remark(new_history()), expected=0) for _ in range(12)][-1]
        for after in (start, start + 1, start + 7, last - 1):
            items = await follow_until(world.log, after=after, sequence=last)
            assert [item.sequence for item in items] == list(range(after + 1, last + 1))

    async def test_a_follower_at_the_tail_sees_what_is_said_later(self, world: LogWorld):
        start, history = await world.log.tail(), new_history()
        async with asyncio.TaskGroup() as group:
            follower = group.create_task(follow_until(world.log, after=start, sequence=start + 3))
            await asyncio.sleep(0.1)
            assert not follower.done()
            version = 0
            for number in range(3):
                version = await stored(world.log, check(history, number), expected=version)
        assert [item.sequence for item in follower.result()] == [start + 1, start + 2, start + 3]

    async def test_several_followers_see_the_same_while_others_write(self, world: LogWorld):
        start, number = await world.log.tail(), 60
        async with world.another() as other, asyncio.TaskGroup() as group:
            early = [
                group.create_task(follow_until(log, after=start, sequence=start + number))
                for log in (world.log, world.log, other)
            ]
            for index in range(number):
                await stored((world.log, other)[index % 2], remark(new_history()), expected=0)
        late = await follow_until(world.log, after=start, sequence=start + number)
        assert [item.sequence for item in late] == list(range(start + 1, start + number + 1))
        assert all(follower.result() == late for follower in early)

    async def test_what_a_follower_gets_is_what_a_reader_gets(self, world: LogWorld):
        start, history = await world.log.tail(), new_history()
        last = 0
        for number in range(20):
            last = await stored(world.log, check(history, number), expected=last)
        followed = await follow_until(world.log, after=start, sequence=last)
        assert tuple(followed) == await world.log.read(history)

    async def test_a_role_may_not_say_what_belongs_to_another(self, world: LogWorld):
        history = new_history()
        with pytest.raises(UnreadableEventError, match=r"LaunchCancelled may not be said by watcher"):
            await world.log.append(utter(history, cancelled(history).said[0].event, role="watcher"), expected=0)
        assert await world.log.read(history) == ()

    async def test_an_event_may_not_stand_in_another_kind_of_history(self, world: LogWorld):
        notice = History("notice", new_history().id)
        with pytest.raises(UnreadableEventError, match=r"does not belong in a notice history"):
            await world.log.append(remark(notice), expected=0)
        assert await world.log.read(notice) == ()

    async def test_an_utterance_that_is_too_big_is_refused_with_a_sentence(self, world: LogWorld):
        history = new_history()
        with pytest.raises(UnreadableEventError, match=rf"{history}: \d+ bytes in one message.*shorten"):
            await world.log.append(remark(history, "x" * codec.UTTERANCE_BYTES_MAX), expected=0)
        assert await world.log.read(history) == ()

    async def test_the_biggest_utterance_is_stored_and_comes_back_whole(self, world: LogWorld):
        history = new_history()
        envelope = len(codec.encode(remark(history, "")))
        text = "x" * (codec.UTTERANCE_BYTES_MAX - envelope - 16)
        await stored(world.log, remark(history, text), expected=0)
        (entry,) = await world.log.read(history)
        assert isinstance(entry, Entry)
        assert entry.said[0].event == SubmissionUnresolved(cause=text)

    async def test_an_event_of_an_unknown_type_is_kept_verbatim(self, world: LogWorld):
        start, history = await world.log.tail(), new_history()
        data = '{"b": 1,\t"a": [1.50, "\\u00fc"]}'
        body = codec.encode(remark(history)).decode()
        known = body[body.index('"data":') : body.index(',"datacontenttype"')]
        body = body.replace(known, f'"data":{data}').replace("SubmissionUnresolved", "SubmissionBlessed")
        sequence = await world.store(event_subject(history, "submitter"), body.encode())
        wanted = UnknownEvent(type="gonogo.SubmissionBlessed", dataschema="urn:gonogo:SubmissionBlessed:1", raw=data)
        read, followed = await world.log.read(history), await follow_until(world.log, after=start, sequence=sequence)
        for (entry,) in (read, followed):
            assert isinstance(entry, Entry)
            assert entry.said[0].event == wanted

    async def test_a_newer_version_of_a_known_event_is_not_taken_for_the_one_we_know(self, world: LogWorld):
        history = new_history()
        body = codec.encode(remark(history)).replace(b"SubmissionUnresolved:1", b"SubmissionUnresolved:2")
        await world.store(event_subject(history, "submitter"), body)
        (entry,) = await world.log.read(history)
        assert isinstance(entry, Entry)
        assert isinstance(entry.said[0].event, UnknownEvent)

    async def test_a_message_that_breaks_the_contract_is_shown_and_stops_no_follower(self, world: LogWorld):
        start, history = await world.log.tail(), new_history()
        subject, good = event_subject(history, "submitter"), codec.encode(remark(history))
        broken = (b"", b"not json", b"[]", b"{}", good[:-20], good.replace(b'"cause"', b'"because"'))
        for body in broken:
            await world.store(subject, body)
        last = await stored(world.log, remark(new_history()), expected=0)
        *bad, after = await follow_until(world.log, after=start, sequence=last)
        assert isinstance(after, Entry)
        assert len(bad) == len(broken)
        for item in bad:
            assert isinstance(item, Unreadable)
            assert item.history == history
            assert item.reason
        assert await world.log.read(history) == tuple(bad)

    async def test_what_a_role_may_not_say_is_not_believed_on_reading_either(self, world: LogWorld):
        history = new_history()
        await world.store(event_subject(history, "watcher"), codec.encode(cancelled(history)))
        (item,) = await world.log.read(history)
        assert isinstance(item, Unreadable)
        assert "LaunchCancelled may not be said by watcher" in item.reason

    async def test_nobody_overtakes_a_message_that_breaks_the_contract(self, world: LogWorld):
        history = new_history()
        sequence = await world.store(event_subject(history, "submitter"), b"not json")
        assert await world.log.append(remark(history), expected=0) == Conflict(sequence)

    async def test_in_a_race_every_version_of_every_history_has_exactly_one_winner(self, world: LogWorld):
        histories = [new_history() for _ in range(HISTORIES)]
        won: Counter[History] = Counter()

        async def write(log: EventLog) -> None:
            for history in histories:
                if isinstance(await log.append(remark(history), expected=0), Appended):
                    won[history] += 1

        async with world.another() as second, world.another() as third:
            logs = (world.log, second, third)
            async with asyncio.TaskGroup() as group:
                for index in range(WRITERS):
                    group.create_task(write(logs[index % len(logs)]))
        assert won == Counter(histories)
        assert [len(await world.log.read(history)) for history in histories] == [1] * HISTORIES
