"""Follows the log in order and without gaps, whatever happens to consumers and connections, and sees when its past changed.

A new consumer begins with the last message that was read: it has to be the very same one. A server that came back with an
older or a rewritten log would otherwise go on under sequence numbers that once meant something else.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Protocol

from gonogo.events import codec
from gonogo.events.envelope import LogItem
from gonogo.events.jetstream_pull import PullConsumer, Pulled
from gonogo.events.log import LogDamagedError

PAUSE_S = 0.1
"""Between two consumers, when the first one brought nothing."""
_HELP = "stop, restore the log from its backup, and compare it with the checkpoints"


class Source(Protocol):
    """What is followed."""

    def consumer(self, config: Mapping[str, object]) -> PullConsumer:
        """A new consumer."""
        ...

    async def tail(self) -> int:
        """The sequence of the last message."""
        ...

    async def has(self, sequence: int) -> bool:
        """Whether there is a message with that sequence."""
        ...


class Follower:
    """One reader's place in the log; it outlives consumers, connections and calls of `follow`."""

    def __init__(self, source: Source, *, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Start without having read anything."""
        self._source = source
        self._sleep = sleep
        self._last: Pulled | None = None

    async def follow(self, after: int) -> AsyncGenerator[list[LogItem], None]:
        """Everything after sequence `after`. Raises LogUnavailableError, after which the same reader may go on."""
        last = self._last if self._last is not None and self._last.sequence == after else None
        position = after
        while True:
            await self._demand_reaches(position)
            began, gap = position, False
            start = position + 1 if last is None else position
            async with aclosing(self._source.consumer(_from(start)).batches()) as batches:
                async for batch in batches:
                    if last is not None:
                        _demand_same(last, batch)
                    fresh, gap = _in_order(batch, position)
                    if fresh:
                        self._last = last = fresh[-1]
                        position = last.sequence
                        yield [_decoded(message) for message in fresh]
                    if gap:
                        break
            if gap:
                await self._demand_no_gap(position)
            if position == began:
                await self._sleep(PAUSE_S)

    async def _demand_reaches(self, position: int) -> None:
        tail = await self._source.tail()
        if tail < position:
            text = f"the log ends at sequence {tail}, but {position} was read from it: {_HELP}"
            raise LogDamagedError(text)

    async def _demand_no_gap(self, position: int) -> None:
        """A message may get lost on its way to here; the log itself never loses one."""
        if not await self._source.has(position + 1):
            text = f"the log has no message {position + 1}, but later ones: {_HELP}"
            raise LogDamagedError(text)


def _from(start: int) -> dict[str, object]:
    return {
        "deliver_policy": "by_start_sequence",
        "opt_start_seq": start,
        "ack_policy": "none",
        "replay_policy": "instant",
        "inactive_threshold": 30_000_000_000,
        "mem_storage": True,
        "num_replicas": 1,
        "max_waiting": 64,
    }


def _demand_same(last: Pulled, batch: list[Pulled]) -> None:
    for message in batch:
        if message.sequence == last.sequence and _content(message) != _content(last):
            text = f"message {last.sequence} of the log is not the one that was read before: {_HELP}"
            raise LogDamagedError(text)


def _content(message: Pulled) -> tuple[object, ...]:
    return message.subject, message.stored_at, message.data


def _in_order(batch: list[Pulled], position: int) -> tuple[list[Pulled], bool]:
    """The part of a batch that continues at `position`, and whether it breaks off with a gap."""
    fresh: list[Pulled] = []
    for message in batch:
        if message.sequence <= position:
            continue
        if message.sequence != position + 1:
            return fresh, True
        fresh.append(message)
        position = message.sequence
    return fresh, False


def _decoded(message: Pulled) -> LogItem:
    return codec.decode(message.subject, message.data, sequence=message.sequence, stored_at=message.stored_at)
