"""The log in memory: for specs, for the simulation, and to say in sixty lines what the log promises.

It goes through the codec like the real one, so a test sees the bytes that would be stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from gonogo.events import codec
from gonogo.events.envelope import Entry, LogItem, Utterance
from gonogo.events.ids import History
from gonogo.events.log import Appended, Conflict, LogDamagedError
from gonogo.events.subjects import event_subject, parse_event_subject


class _HasNow(Protocol):
    def now(self) -> datetime: ...


class MemoryLog:
    """An event log in memory, for one event loop."""

    def __init__(self, clock: _HasNow) -> None:
        """`clock` stands for the broker's."""
        self._clock = clock
        self._items: list[LogItem] = []
        self._bodies: list[tuple[str, bytes]] = []
        self._histories: dict[History, list[LogItem]] = {}
        self._ids: dict[tuple[History, str], int] = {}
        self._moved = asyncio.Event()

    async def append(self, utterance: Utterance, *, expected: int) -> Appended | Conflict:
        """Store `utterance` if the history's version is `expected`."""
        body = codec.encode(utterance)
        items = self._histories.get(utterance.history, [])
        version = items[-1].sequence if items else 0
        known = self._ids.get((utterance.history, utterance.id))
        if known is not None and (known > expected or version == expected):
            return Appended(known)
        if version < expected:
            message = f"{utterance.history} ends at sequence {version}, but {expected} was read from it"
            raise LogDamagedError(message)
        if version != expected:
            return Conflict(version)
        return Appended(self.store(event_subject(utterance.history, utterance.role), body))

    def store(self, subject: str, body: bytes) -> int:
        """Store bytes as they are; also what no writer of ours would say, for tests of the reader."""
        sequence = len(self._items) + 1
        item = codec.decode(subject, body, sequence=sequence, stored_at=self._clock.now())
        self._items.append(item)
        self._bodies.append((subject, body))
        history = item.history or parse_event_subject(subject)[0]
        self._histories.setdefault(history, []).append(item)
        if isinstance(item, Entry):
            self._ids[history, item.said[0].id] = sequence
        self._moved.set()
        self._moved = asyncio.Event()
        return sequence

    async def read(self, history: History, *, after: int = 0) -> tuple[LogItem, ...]:
        """Everything said in `history` after sequence `after`."""
        return tuple(item for item in self._histories.get(history, ()) if item.sequence > after)

    async def tail(self) -> int:
        """The sequence of the last message; 0 when the log is empty."""
        return len(self._items)

    async def follow(self, *, after: int) -> AsyncIterator[Sequence[LogItem]]:
        """Everything after sequence `after`, in batches, for ever."""
        position = after
        if position > len(self._items):
            message = f"the log ends at sequence {len(self._items)}, but {position} was read from it"
            raise LogDamagedError(message)
        while True:
            moved = self._moved
            if position < len(self._items):
                batch = self._items[position:]
                position = len(self._items)
                yield batch
            else:
                await moved.wait()

    @property
    def items(self) -> Sequence[LogItem]:
        """All of it, as read."""
        return self._items

    @property
    def bodies(self) -> Sequence[tuple[str, bytes]]:
        """All of it, as stored: (subject, bytes)."""
        return self._bodies
