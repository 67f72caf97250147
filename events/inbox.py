"""Where people's words arrive: `in.<client>.<word>`, kept until intake has a durable verdict on each.

The broker verifies the client part of the subject; everything inside the body is a claim.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Protocol


class InboxMessage(Protocol):
    """One word of a person, as it arrived."""

    @property
    def sequence(self) -> int:
        """Its place in the inbox; the same at every redelivery."""
        ...

    @property
    def subject(self) -> str:
        """`in.<client>.<word>`."""
        ...

    @property
    def body(self) -> bytes:
        """What was sent."""
        ...

    @property
    def stored_at(self) -> datetime:
        """The broker's time of arrival."""
        ...

    async def done(self) -> None:
        """The verdict is durable; do not deliver this again."""
        ...


class Inbox(Protocol):
    """A queue of words, each delivered at least once."""

    def messages(self) -> AsyncIterator[InboxMessage]:
        """Every word not yet done, in order of arrival, for ever."""
        ...

    async def answer(self, subject: str, sequence: int, body: bytes) -> None:
        """Tell the client, as far as anyone listens. The log is the truth; this is courtesy."""
        ...
