"""What one worker is: what it hears, how it folds, decides, acts and concludes. `loop` runs it.

    wake → state and version of that history → decide → append(record, expected version) → perform(effects)
         → conclude → append(outcome)

A crash anywhere is cured by `Recovered`, decided for every history at start and at every take-over; redelivery is never
relied on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from gonogo.events.base import Event, HistoryKind, Role
from gonogo.events.envelope import Said
from gonogo.events.ids import History
from gonogo.services.runtime.decision import AtMostOnce, Decision, Repeatable, Trigger

S = TypeVar("S")


class Permit(Protocol):
    """The right to perform one at-most-once effect.

    Made by the loop, only in the continuation of the append that stored the intent, and worthless in any other process.
    """

    async def refusal(self, *, start_deadline_s: float) -> str | None:
        """Why the effect must not be performed now, or None. Asks the leader, the lease and the monotonic clock."""
        ...


Effect = AtMostOnce | Repeatable
Result = object
Perform = Callable[[Effect, Permit | None], Awaitable[Result]]


@dataclass(frozen=True, kw_only=True)
class Worker(Generic[S]):
    """One of the six.

    `due(state, now)` names the next instant worth deciding at, or None. `perform` must not raise for what the outside
    does; `conclude(state, result)` turns its result into events against the state at the moment of the append, so a
    stale reading says nothing.
    """

    role: Role
    kinds: frozenset[HistoryKind]
    initial: Callable[[History], S]
    evolve: Callable[[S, Said], S]
    decide: Callable[[S, Trigger], Decision[Event, Effect]]
    due: Callable[[S, datetime], datetime | None]
    perform: Perform
    conclude: Callable[[S, Result], tuple[Event, ...]]
