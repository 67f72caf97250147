"""The right to perform one at-most-once effect.

It is made by the loop from the answer to the very append that stored the intent, in the process that made it; it is never
derived from a history. A process that was paused, lost its lease, or was overtaken by a recoverer is refused here.
"""

from __future__ import annotations

from collections.abc import Callable

from gonogo.events.base import Role
from gonogo.events.envelope import Entry
from gonogo.events.ids import History
from gonogo.events.log import EventLog, LogUnavailableError
from gonogo.services.runtime.leases import Lease


class LoopPermit:
    """The continuation of one append."""

    def __init__(
        self,
        log: EventLog,
        *,
        lease: Lease,
        monotonic: Callable[[], float],
        history: History,
        role: Role,
        intent_sequence: int,
        began: float,
    ) -> None:
        """`began` is the monotonic instant *before* the append was sent, so the deadline errs to the safe side."""
        self._log = log
        self._lease = lease
        self._monotonic = monotonic
        self._history = history
        self._role = role
        self._intent_sequence = intent_sequence
        self._began = began

    async def refusal(self, *, start_deadline_s: float) -> str | None:
        """Why the effect must not be performed now, or None. Asks the leader, the lease and the monotonic clock."""
        try:
            later = await self._log.read(self._history, after=self._intent_sequence)
        except LogUnavailableError as error:
            return f"the log could not be asked whether the intent still stands ({error})"
        for item in later:
            if not isinstance(item, Entry):
                return f"message {item.sequence} after the intent cannot be read"
            if item.role == self._role:
                return f"another {self._role} spoke after the intent (sequence {item.sequence})"
        if not self._lease.held():
            return f"this process no longer holds the lease of the {self._role}"
        elapsed = self._monotonic() - self._began
        if elapsed > start_deadline_s:
            return f"{elapsed:.1f} s passed since the intent, more than its start deadline of {start_deadline_s:g} s"
        return None
