"""Who may act for a role right now. A lease is courtesy: the log decides; but without it two instances would race all day.

`held()` is answered from the monotonic clock with a margin, so a paused process finds out that it no longer holds it.
"""

from __future__ import annotations

import asyncio
from typing import Protocol


class Lease(Protocol):
    """The right to act for one role."""

    def held(self) -> bool:
        """Whether this process certainly holds it now."""
        ...

    async def wait_held(self) -> None:
        """Return once it is held."""
        ...

    async def wait_lost(self) -> None:
        """Return once it is no longer held."""
        ...


class AlwaysHeld:
    """For a process that is alone by construction: it holds the lock of its data dir."""

    def held(self) -> bool:
        """Always."""
        return True

    async def wait_held(self) -> None:
        """At once."""

    async def wait_lost(self) -> None:
        """Never."""
        await asyncio.Event().wait()
