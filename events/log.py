"""The log every worker reads and writes. Two implementations (memory, JetStream), one contract suite.

An append names the version it was decided on. It is stored or it conflicts; an answer in between is repeated inside the
log until it is definite, and never shown to a caller as "maybe".
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import msgspec

from gonogo.events.envelope import LogItem, Utterance
from gonogo.events.ids import History


class EventLogError(Exception):
    """Something about the log itself; the message says what, which, and what to do next."""


class LogUnavailableError(EventLogError):
    """The log cannot be reached now. Nothing may be concluded from it; try again."""


class LogFullError(EventLogError):
    """The log has no room for new intents. Outcomes are still taken."""


class LogDamagedError(EventLogError):
    """The log contradicts what was remembered of it: a gap, a regression, another hash. Nobody may act."""


class UnreadableEventError(EventLogError):
    """A message breaks the contract; the message names the field."""


class Appended(msgspec.Struct, frozen=True):
    """The utterance is stored, durably, exactly once, at this sequence."""

    sequence: int


class Conflict(msgspec.Struct, frozen=True):
    """The history had moved on to `actual`; nothing was stored."""

    actual: int


class EventLog(Protocol):
    """An append-only log of histories."""

    async def append(self, utterance: Utterance, *, expected: int) -> Appended | Conflict:
        """Store `utterance` if the history's version is `expected` (0: no such history).

        Repeating the same utterance (same id) with the same expected version is safe and answers the same.
        Raises LogUnavailableError, LogFullError (intents only), LogDamagedError.
        """
        ...

    async def read(self, history: History, *, after: int = 0) -> tuple[LogItem, ...]:
        """Everything said in `history` after sequence `after`, asked of the leader."""
        ...

    async def tail(self) -> int:
        """The sequence of the last message of the whole log; 0 when it is empty."""
        ...

    def follow(self, *, after: int) -> AsyncIterator[Sequence[LogItem]]:
        """Everything after sequence `after`, in order, without gaps, in batches, for ever."""
        ...
