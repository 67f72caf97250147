"""Keeps the projections on disk up to date, and the checkpoints with them. Reads only; says nothing."""

from __future__ import annotations

import asyncio

import structlog

from gonogo.events.envelope import LogItem
from gonogo.events.log import EventLog, LogUnavailableError
from gonogo.projections.store import Store
from gonogo.services.runtime.checkpoints import Checkpoints

RETRY_S = 0.5

logger: structlog.stdlib.BoundLogger = structlog.get_logger()


class Viewer:
    """Follows the log into a store."""

    def __init__(self, log: EventLog, store: Store, checkpoints: Checkpoints | None) -> None:
        """Without checkpoints only the store is kept (a client's own cache)."""
        self._log = log
        self._store = store
        self._checkpoints = checkpoints
        self._last: LogItem | None = None

    def remember(self) -> None:
        """Remember where the log ends, at a clean stop."""
        if self._checkpoints is not None and self._last is not None:
            self._checkpoints.note(self._last, force=True)

    async def run(self) -> None:
        """Follow for ever."""
        while True:
            try:
                if await self._log.tail() < self._store.position:
                    logger.warning("views are ahead of the log: made anew", position=self._store.position)
                    await self._store.reset()
                async for batch in self._log.follow(after=self._store.position):
                    await self._store.apply(batch)
                    self._last = batch[-1]
                    if self._checkpoints is not None:
                        await asyncio.to_thread(self._checkpoints.note, batch[-1])
            except LogUnavailableError:
                await asyncio.sleep(RETRY_S)

    async def catch_up(self) -> None:
        """Follow until the store stands for everything that is in the log now."""
        tail = await self._log.tail()
        if tail < self._store.position:
            await self._store.reset()
        if self._store.position >= tail:
            return
        async for batch in self._log.follow(after=self._store.position):
            await self._store.apply(batch)
            if self._store.position >= tail:
                return
