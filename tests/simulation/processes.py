"""Simulated processes: a worker behind lying seams, that can be killed at any await and started again under a new id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gonogo.events.envelope import Utterance
from gonogo.events.ids import History
from gonogo.events.log import LogUnavailableError
from gonogo.events.memory import MemoryLog
from gonogo.services.backends.scripted import ScriptedBackend
from gonogo.services.channels.port import Confirmed, NotDelivered, Unconfirmed
from gonogo.services.runtime.author import Author
from gonogo.services.runtime.spool import MemorySpool
from tests.simulation.faults import Faults
from tests.simulation.virtual_time import VirtualClock

LEASE_S = 3.0


class CrashError(BaseException):
    """kill -9: nobody catches it, nothing is cleaned up on purpose."""


@dataclass
class SimLease:
    """The lease of one process: lost while it is paused for longer than the lease lasts."""

    gained: asyncio.Event = field(default_factory=asyncio.Event)
    lost: asyncio.Event = field(default_factory=asyncio.Event)

    def held(self) -> bool:
        return self.gained.is_set()

    async def wait_held(self) -> None:
        await self.gained.wait()

    async def wait_lost(self) -> None:
        await self.lost.wait()

    def give(self) -> None:
        self.lost.clear()
        self.gained.set()

    def take(self) -> None:
        self.gained.clear()
        self.lost.set()


class Seam:
    """Every await of one process on the outside goes through here."""

    def __init__(self, faults: Faults, *, pause_max: float, on_pause: Callable[[float], None]) -> None:
        self._faults = faults
        self._pause_max = pause_max
        self._on_pause = on_pause
        self.dead = False

    async def before(self, point: str) -> str | None:
        if self.dead:
            await asyncio.Event().wait()
        fault = self._faults.at(point)
        if fault == "crash-before":
            raise CrashError
        if fault == "delay":
            await asyncio.sleep(self._faults.rng.random() * 1.5)
        if fault == "pause":
            seconds = self._faults.rng.uniform(0.5, self._pause_max)
            self._on_pause(seconds)
            await asyncio.sleep(seconds)
        if self.dead:
            await asyncio.Event().wait()
        return fault

    def after(self, fault: str | None) -> None:
        if fault == "crash-after":
            raise CrashError


class LyingLog:
    """The memory log behind one process's seam."""

    def __init__(self, log: MemoryLog, seam: Seam) -> None:
        self._log = log
        self._seam = seam

    async def append(self, utterance: Utterance, *, expected: int):
        fault = await self._seam.before("append")
        if fault == "lost-request":
            message = "request lost"
            raise LogUnavailableError(message)
        answer = await self._log.append(utterance, expected=expected)
        self._seam.after(fault)
        if fault == "lost-answer":
            message = "answer lost"
            raise LogUnavailableError(message)
        return answer

    async def read(self, history: History, *, after: int = 0):
        fault = await self._seam.before("read")
        if fault == "lost-request":
            message = "request lost"
            raise LogUnavailableError(message)
        items = await self._log.read(history, after=after)
        self._seam.after(fault)
        return items

    async def tail(self) -> int:
        return await self._log.tail()

    def follow(self, *, after: int):
        return self._log.follow(after=after)


class LyingBackend:
    """A scripted backend behind one process's seam; its own lies come on top."""

    def __init__(self, backend: ScriptedBackend, seam: Seam) -> None:
        self._backend = backend
        self._seam = seam

    def __getattr__(self, name: str):
        return getattr(self._backend, name)

    async def _call(self, point: str, call):
        fault = await self._seam.before(point)
        answer = await call()
        self._seam.after(fault)
        return answer

    async def probe(self) -> str:
        return await self._call("probe", self._backend.probe)

    async def find(self, name: str):
        return await self._call("find", lambda: self._backend.find(name))

    async def create(self, rendering, secrets: Mapping[str, str]):
        return await self._call("create", lambda: self._backend.create(rendering, secrets))

    async def read_back(self, job, rendering):
        return await self._call("read_back", lambda: self._backend.read_back(job, rendering))

    async def status(self, jobs: Sequence):
        return await self._call("status", lambda: self._backend.status(jobs))

    async def stop(self, job):
        return await self._call("stop", lambda: self._backend.stop(job))


class LyingChannel:
    """A channel whose inbox the test can read. It can prove an earlier delivery by key."""

    name = "file"

    def __init__(self, shown: dict[str, int], seam: Seam) -> None:
        self._shown = shown
        self._seam = seam

    async def send(self, notice):
        fault = await self._seam.before("send")
        if fault == "refused":
            return NotDelivered("busy", retryable=True)
        if fault == "refused-for-good":
            return NotDelivered("no such person", retryable=False)
        self._shown[notice.key] = self._shown.get(notice.key, 0) + 1
        self._seam.after(fault)
        if fault == "unconfirmed":
            return Unconfirmed("answer lost")
        return Confirmed("shown")

    async def seen(self, key: str) -> str | None:
        return "shown" if key in self._shown else None


@dataclass
class Process:
    """One worker process: `make` builds what runs, from its log, backends and author."""

    name: str
    make: Callable[[Process], object]
    clock: VirtualClock
    faults: Faults
    pause_max: float
    lease: SimLease = field(default_factory=SimLease)
    spool: MemorySpool = field(default_factory=MemorySpool)
    starts: int = 0
    restarts_after: Callable[[], float] = lambda: 1.0
    seam: Seam | None = None
    on_pause: Callable[[float], None] = lambda _s: None

    def author(self) -> Author:
        return Author(instance=f"{self.name}{self.starts}", clock=self.clock)

    async def live(self) -> None:
        """Start, crash, wait, start again, for ever."""
        while True:
            self.starts += 1
            self.seam = Seam(self.faults, pause_max=self.pause_max, on_pause=self.on_pause)
            runner = self.make(self)
            try:
                await runner.run()
            except BaseExceptionGroup as group:
                self.seam.dead = True
                if group.split(CrashError)[1] is not None:
                    raise
            except CrashError:
                self.seam.dead = True
            await asyncio.sleep(self.restarts_after())
