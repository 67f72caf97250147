"""The inbox in memory, for specs and the simulation. A message that is not done when its reader dies is delivered again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Protocol


class _HasNow(Protocol):
    def now(self) -> datetime: ...


class MemoryMessage:
    """One word in memory."""

    def __init__(self, inbox: MemoryInbox, sequence: int, subject: str, body: bytes, stored_at: datetime) -> None:
        """Made by the inbox."""
        self._inbox = inbox
        self.sequence = sequence
        self.subject = subject
        self.body = body
        self.stored_at = stored_at

    async def done(self) -> None:
        """Do not deliver this again."""
        self._inbox.forget(self.sequence)


class MemoryInbox:
    """A queue of words for one event loop. Every call of `messages` begins with everything that is not done."""

    def __init__(self, clock: _HasNow) -> None:
        """`clock` stands for the broker's."""
        self._clock = clock
        self._waiting: dict[int, MemoryMessage] = {}
        self._last = 0
        self._moved = asyncio.Event()
        self.answers: list[tuple[int, bytes]] = []

    def publish(self, subject: str, body: bytes) -> int:
        """Put a word in; its sequence."""
        self._last += 1
        self._waiting[self._last] = MemoryMessage(self, self._last, subject, body, self._clock.now())
        self._moved.set()
        self._moved = asyncio.Event()
        return self._last

    def forget(self, sequence: int) -> None:
        """The word's verdict is durable."""
        self._waiting.pop(sequence, None)

    async def messages(self) -> AsyncIterator[MemoryMessage]:
        """Every word not yet done, in order, for ever."""
        position = 0
        while True:
            moved = self._moved
            fresh = [message for sequence, message in self._waiting.items() if sequence > position]
            if not fresh:
                await moved.wait()
            for message in fresh:
                position = message.sequence
                yield message

    async def answer(self, subject: str, sequence: int, body: bytes) -> None:
        """Keep the answer for whoever asks."""
        _ = subject
        self.answers.append((sequence, body))
