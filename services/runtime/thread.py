"""What the loop remembers of one history between turns: its state, its version, what woke it, its timer."""

from __future__ import annotations

import asyncio
from typing import Generic

from gonogo.events.ids import History
from gonogo.services.runtime.decision import Due, Recovered, Trigger, Woken
from gonogo.services.runtime.worker import S

_RANK: dict[type[Trigger], int] = {Woken: 0, Due: 1, Recovered: 2}


class Thread(Generic[S]):
    """One history in one worker. Triggers only wake, so waiting ones merge into the weightiest."""

    def __init__(self, history: History, state: S) -> None:
        """Start before the first event."""
        self.history = history
        self.state = state
        self.version = 0
        self.last_id = ""
        self.running = False
        self.parked: str | None = None
        self._trigger: Trigger | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._moved = asyncio.Event()

    def offer(self, trigger: Trigger) -> bool:
        """Remember that there is something to decide; whether a turn has to be started for it."""
        waiting = self._trigger
        if waiting is None or _RANK[type(trigger)] >= _RANK[type(waiting)]:
            self._trigger = trigger
        return not self.running

    def take(self) -> Trigger | None:
        """The waiting trigger, if any; it is then no longer waiting."""
        trigger, self._trigger = self._trigger, None
        return trigger

    def move_to(self, version: int) -> None:
        """The history has this version now."""
        self.version = version
        self._moved.set()

    async def reached(self, version: int) -> None:
        """Wait until the history has been folded up to `version`."""
        while self.version < version:
            self._moved.clear()
            await self._moved.wait()

    def arm(self, timer: asyncio.TimerHandle) -> None:
        """Replace the timer."""
        self.disarm()
        self._timer = timer

    def disarm(self) -> None:
        """Forget the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
