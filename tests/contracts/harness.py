"""What a platform's own test has to give so that the contract cards can be held against it.

A harness says what its platform can show (`shows`). A card that needs more is not run and not claimed: the matrix in
docs/backends.md says so.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from gonogo.events.job import JobRef
from gonogo.events.launch import Rendering
from gonogo.events.request import Request, Run
from gonogo.services.backends.port import Accepted, Backend, JobStatus, RenderWish, Reply

Shows = Literal["names", "digest", "commands", "environment", "host", "creator"]
"""What can be seen of a platform here.

`names`: it keeps names unique; `digest`: its adapter compares the bytes with the reviewed digest; `commands`: it runs real
commands, with exit codes; `environment`: what a command was given; `host`: processes and files of its host; `creator`: the
creating process can be killed at any point.
"""
TERMINAL = ("SUCCEEDED", "FAILED", "CANCELLED", "STOPPED")
QUICK = ("true",)
LONG = ("sleep", "300")
AWAIT_S = 20.0
POLL_S = 0.02


class BackendHarness(ABC):
    """One platform, empty at the start of each card."""

    label: str
    """What stands in the matrix: the platform, and whether it is real."""
    shows: frozenset[Shows]

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    @abstractmethod
    def backend(self) -> Backend: ...

    def request(self, command: tuple[str, ...] = QUICK, **fields: object) -> Request:
        """A request of this platform. `fields` replace those of the request."""
        platform = self.backend.capabilities.platform
        base = Request(
            name="card", purpose="smoke", platform=platform, run=Run(command=command), output=self.output("1")
        )
        return msgspec.structs.replace(base, **fields)

    def output(self, name: str) -> str:
        return str(self.folder / f"out-{name}")

    def rendering(self, request: Request, *, name: str = "card-1", root: str = "root") -> Rendering:
        guard = self.backend.guard_for(request, root)
        wish = RenderWish(request=request, launch=root, job_name=name, token=f"token-{name}", guard=guard)
        return self.backend.render(wish)

    async def created(
        self,
        command: tuple[str, ...] = QUICK,
        *,
        name: str = "card-1",
        values: Mapping[str, str] = {},
        **fields: object,
    ) -> tuple[JobRef, Rendering]:
        """A job, created without doubt. Every name gets an output and a guard of its own unless `fields` say otherwise."""
        fields = {"output": self.output(name), **fields}
        rendering = self.rendering(self.request(command, **fields), name=name, root=f"root-{name}")
        reply = await self.backend.create(rendering, values)
        assert isinstance(reply, Accepted), reply
        return reply.job, rendering

    async def status(self, job: JobRef) -> JobStatus:
        """The status; what the platform does not state is UNKNOWN."""
        answers = await self.backend.status([job])
        return answers.get(job, JobStatus(state="UNKNOWN", raw="not stated"))

    async def ended(self, job: JobRef) -> JobStatus:
        """Wait until the platform's word on the job is terminal."""
        return await self.until(job, *TERMINAL)

    async def until(self, job: JobRef, *states: str) -> JobStatus:
        """Wait until the platform's word on the job is one of `states`."""
        try:
            async with asyncio.timeout(AWAIT_S):
                while (status := await self.status(job)).state not in states:
                    await self.tick()
        except TimeoutError:
            status = await self.status(job)
            pytest.fail(f"{job.name} is not {' or '.join(states)} after {AWAIT_S:g} s: {status}")
        return status

    async def tick(self) -> None:
        """Let some of the platform's time pass."""
        await asyncio.sleep(POLL_S)

    @abstractmethod
    async def refused(self, rendering: Rendering) -> Reply:
        """Create where the platform refuses, and can prove it."""

    @abstractmethod
    async def unanswered(self, rendering: Rendering, *, taken: bool) -> Reply:
        """Create without getting the platform's answer; whether it took the job is not for the backend to know."""

    def command_lines(self) -> str:
        """The command line of every process of the host. (shows: host)"""
        raise NotImplementedError

    def files_holding(self, text: str) -> list[Path]:
        """Files of the platform that hold a text. (shows: host)"""
        raise NotImplementedError

    def readable_by_others(self) -> list[Path]:
        """Files of the platform that other users can read. (shows: host)"""
        raise NotImplementedError

    async def kill_creators(self) -> Mapping[str, bool]:
        """Create one job per point, by a process that is killed or paused there; True where it has to become a job,
        False where it may never become one. Each command appends a line to `ran-<name>`. (shows: creator)
        """
        raise NotImplementedError

    @asynccontextmanager
    async def lifetime(self) -> AsyncIterator[None]:
        """Around one card; whatever it leaves behind is ended here."""
        yield
