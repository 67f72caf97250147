"""The contract cards, held against the fake."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gonogo.events.launch import Rendering
from gonogo.services.backends.port import Backend, Reply
from gonogo.services.backends.scripted import Fault, Script, ScriptedBackend
from tests.contracts.backend import BackendContract
from tests.contracts.harness import LONG, BackendHarness, Shows

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class SteppedClock:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        await asyncio.sleep(0)


class ScriptedHarness(BackendHarness):
    label = "scripted (fake)"
    shows: frozenset[Shows] = frozenset()

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.clock = SteppedClock()
        self.long: set[str] = set()
        self.fault: Fault | None = None
        self.scripted = ScriptedBackend(
            self.clock,
            fault=lambda call, _name: self.fault if call == "create" else None,
            script=lambda name: Script(run_s=1e6 if name in self.long else 5.0),
        )

    @property
    def backend(self) -> Backend:
        return self.scripted

    def rendering(self, request, *, name="card-1", root="root") -> Rendering:
        if request.run.command == LONG:
            self.long.add(name)
        return super().rendering(request, name=name, root=root)

    async def refused(self, rendering: Rendering) -> Reply:
        return await self._create("refuse", rendering)

    async def unanswered(self, rendering: Rendering, *, taken: bool) -> Reply:
        return await self._create("lose-answer" if taken else "lose-request", rendering)

    async def tick(self) -> None:
        await self.clock.sleep(1.0)

    async def _create(self, fault: Fault, rendering: Rendering) -> Reply:
        self.fault = fault
        reply = await self.scripted.create(rendering, {})
        self.fault = None
        return reply


class TestScripted(BackendContract):
    harness_class = ScriptedHarness
