"""What every inbox promises, written once and run on each of them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import aclosing

from gonogo.events.inbox import Inbox, InboxMessage
from gonogo.services.runtime.clock import new_instance


class InboxWorld(ABC):
    """An inbox that holds nothing yet, clients who speak, and readers that come and go."""

    @abstractmethod
    def reader(self) -> Inbox:
        """The inbox, as a new process would open it."""

    @abstractmethod
    async def say(self, subject: str, body: bytes) -> int:
        """Put a word in; its sequence."""

    @abstractmethod
    async def answers(self) -> list[bytes]:
        """What the client `ana` was answered."""


async def take(inbox: Inbox, number: int, *, done: bool) -> list[InboxMessage]:
    """The next words that a reader is given; it is closed after them."""
    taken: list[InboxMessage] = []
    async with asyncio.timeout(20), aclosing(inbox.messages()) as messages:  # type: ignore[type-var]
        async for message in messages:
            taken.append(message)
            if done:
                await message.done()
            if len(taken) == number:
                break
    return taken


class InboxContract:
    """Subclass it and give it a `world`."""

    async def test_words_are_given_in_their_order_of_arrival_as_they_were_said(self, world: InboxWorld):
        bodies = [f"{new_instance()} grüße\n".encode() for _ in range(5)]
        sequences = [await world.say("in.ana.launch", body) for body in bodies]
        taken = await take(world.reader(), 5, done=True)
        assert [message.body for message in taken] == bodies
        assert [message.sequence for message in taken] == sequences == sorted(sequences)
        assert {message.subject for message in taken} == {"in.ana.launch"}
        assert sorted(message.stored_at for message in taken) == [message.stored_at for message in taken]

    async def test_a_word_that_is_said_later_reaches_a_waiting_reader(self, world: InboxWorld):
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(take(world.reader(), 1, done=True))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            sequence = await world.say("in.bo.cancel", b"x")
        assert [message.sequence for message in waiting.result()] == [sequence]

    async def test_what_is_not_done_is_given_to_the_next_reader_and_what_is_done_is_not(self, world: InboxWorld):
        first, second = [await world.say("in.ana.launch", body) for body in (b"1", b"2")]
        taken = await take(world.reader(), 2, done=False)
        await taken[0].done()
        (again,) = await take(world.reader(), 1, done=True)
        assert (again.sequence, again.body) == (second, b"2")
        third = await world.say("in.ana.launch", b"3")
        (fresh,) = await take(world.reader(), 1, done=True)
        assert fresh.sequence == third
        assert first < second < third

    async def test_a_word_may_be_done_twice(self, world: InboxWorld):
        await world.say("in.ana.launch", b"1")
        (message,) = await take(world.reader(), 1, done=True)
        await message.done()
        later = await world.say("in.ana.launch", b"2")
        (fresh,) = await take(world.reader(), 1, done=True)
        assert fresh.sequence == later

    async def test_the_client_is_answered(self, world: InboxWorld):
        sequence = await world.say("in.ana.launch", b"1")
        await take(world.reader(), 1, done=True)
        await world.reader().answer("in.ana.launch", sequence, b"verdict")
        assert await world.answers() == [b"verdict"]
