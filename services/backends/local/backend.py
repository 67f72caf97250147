"""The local platform behind the backend port."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from gonogo.events.ids import digest_of
from gonogo.events.job import JobRef
from gonogo.events.launch import CreateTerms, Guard, Rendering
from gonogo.events.request import Problem, Request
from gonogo.events.submission import Sighting
from gonogo.services.backends.local import rendering as pure
from gonogo.services.backends.local.identity import BOOT_ID, boot_time
from gonogo.services.backends.local.place import place_of
from gonogo.services.backends.local.rendering import Order
from gonogo.services.backends.local.run_dir import RunDir
from gonogo.services.backends.local.starting import NOT_MADE, start
from gonogo.services.backends.local.stopping import stop
from gonogo.services.backends.port import (
    Capabilities,
    JobFacts,
    JobStatus,
    LogTail,
    PathFact,
    PlatformError,
    Refused,
    RenderWish,
    Reply,
    Sightings,
    StopAnswer,
)

TERMS = CreateTerms(
    start_deadline_s=2.0,
    create_timeout_s=3.0,
    settle_s=0.0,
    settle_source="one directory on one machine: a run exists when its birth record does",
    authoritative_negative=True,
)
BIRTH_WITHIN_S = 2.5
"""A supervisor that is not born within this time of its order never starts the command; below the create timeout."""
HERE = "this host"


class Named(msgspec.Struct, frozen=True):
    """The part of an order that says where its run directory is."""

    name: str


class LocalBackend:
    """Jobs of this machine under one folder of run directories."""

    def __init__(self, runs_dir: Path, *, base_env: Mapping[str, str], python: str = sys.executable) -> None:
        """`base_env`: what every job inherits (PATH, HOME, LANG, …); it is part of the rendering, so it is reviewed."""
        self._runs_dir = runs_dir
        self._base_env = base_env
        self._python = python
        self._place: str | None = None

    @property
    def capabilities(self) -> Capabilities:
        """Exclusive names on one file system: its "no" is proof."""
        return Capabilities(
            platform="local",
            terms=TERMS,
            guard=True,
            guard_note="on: exclusive create beside the output (a local file system; not proven on network ones)",
            can_delete=False,
            proves_refusal=True,
            place=self._here(),
        )

    async def probe(self) -> str:
        """See that run directories can be made, and processes be told apart."""
        if not BOOT_ID.exists():
            message = f"this host has no {BOOT_ID}: the local platform needs Linux with /proc mounted"
            raise PlatformError(message)
        try:
            await asyncio.to_thread(self._runs_dir.mkdir, mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            message = f"{self._runs_dir} cannot be made: {error.strerror}"
            raise PlatformError(message) from error
        if not os.access(self._runs_dir, os.W_OK):
            message = f"{self._runs_dir} cannot be written to"
            raise PlatformError(message)
        return f"{self._runs_dir} can be written to"

    async def check_paths(self, paths: Sequence[str]) -> tuple[PathFact, ...]:
        """As seen by this process; the job is another process of the same machine and user."""
        return await asyncio.to_thread(lambda: tuple(_look(path) for path in paths))

    def problems(self, request: Request) -> tuple[Problem, ...]:
        """What a local process cannot be."""
        return pure.problems(request)

    def guard_for(self, request: Request, root: str) -> Guard | None:
        """The claim beside the output."""
        return pure.guard_for(request, root)

    def render(self, wish: RenderWish) -> Rendering:
        """The supervisor's order."""
        return pure.render(wish, runs_dir=self._runs_dir.absolute(), base_env=self._base_env)

    async def find(self, name: str) -> Sightings:
        """Look for exactly this run directory."""
        return await asyncio.to_thread(self._find, name)

    async def create(self, rendering: Rendering, secrets: Mapping[str, str]) -> Reply:
        """Start the run. The deadline counts from here, also if this process is paused or its threads are all busy."""
        deadline = boot_time() + BIRTH_WITHIN_S
        if digest_of(rendering.body.encode()) != rendering.digest:
            return Refused("DigestMismatch", "the order is not the reviewed one", NOT_MADE)
        return await asyncio.to_thread(self._create, rendering, secrets, deadline)

    async def read_back(self, job: JobRef, rendering: Rendering) -> JobFacts | None:
        """Compare the order that the supervisor has with the rendering."""
        return await asyncio.to_thread(self._read_back, job, rendering)

    async def status(self, jobs: Sequence[JobRef]) -> Mapping[JobRef, JobStatus]:
        """Read the records of each."""
        return await asyncio.to_thread(lambda: {job: self._status(job) for job in jobs})

    async def stop(self, job: JobRef) -> StopAnswer:
        """Ask the supervisor to end the command; it gives ten seconds before it kills."""
        return await asyncio.to_thread(self._stop, job)

    async def delete(self, job: JobRef) -> StopAnswer:
        """Run directories are evidence and stay."""
        return StopAnswer(taken=False, answer=f"the run directory of {job.name} is kept as evidence; remove it by hand")

    async def logs(self, job: JobRef, *, bytes_max: int) -> LogTail:
        """The end of the command's output."""
        return await asyncio.to_thread(self._logs, job, bytes_max)

    def _here(self) -> str:
        if self._place is None:
            self._place = place_of(self._runs_dir.parent / "place")
        return self._place

    def _run(self, name: str) -> RunDir:
        if "/" in name or "\0" in name or name in ("", ".", ".."):
            message = f"{name!r} cannot be the name of a run directory, so no job can have it"
            raise PlatformError(message)
        return RunDir(self._runs_dir / name)

    def _find(self, name: str) -> Sightings:
        run = self._run(name)
        job = run.job()
        found = () if job is None else (Sighting(job=job, state=run.status().state),)
        try:
            return Sightings(found=found, control=_another_job(self._runs_dir, name))
        except FileNotFoundError:
            return Sightings(found=found, control=None)
        except OSError as error:
            message = f"{self._runs_dir} cannot be read: {error.strerror}"
            raise PlatformError(message) from error

    def _create(self, rendering: Rendering, secrets: Mapping[str, str], deadline: float) -> Reply:
        name = msgspec.json.decode(rendering.body, type=Named).name
        return start(self._run(name), rendering, secrets, python=self._python, deadline=deadline)

    def _read_back(self, job: JobRef, rendering: Rendering) -> JobFacts | None:
        run = self._run(job.name)
        birth, there = run.birth, run.job()
        if birth is None or there is None:
            return None
        differences = pure.differences(run.rendering(), rendering)
        if there != job:
            differences = (f"the run directory belongs to job {there.id} ({there.identity})", *differences)
        planned = msgspec.json.decode(rendering.body, type=Order)
        if birth.token != planned.token:
            differences = (f"token: planned {planned.token}, the supervisor was born with {birth.token}", *differences)
        facts = {"id": there.id, "name": there.name, "token": birth.token, "order": rendering.digest}
        return JobFacts(job=job, differences=differences, facts=facts)

    def _status(self, job: JobRef) -> JobStatus:
        """One unreadable run says nothing about the others, and nothing about itself either."""
        try:
            run = self._run(job.name)
            if run.job() == job:
                return run.status()
        except PlatformError as error:
            return JobStatus(state="UNKNOWN", raw="unreadable", reason=str(error))
        return JobStatus(state="UNKNOWN", raw="not there", reason=f"no run directory of this job in {self._runs_dir}")

    def _stop(self, job: JobRef) -> StopAnswer:
        run = self._run(job.name)
        if run.job() != job:
            return StopAnswer(taken=False, answer=f"there is no job {job.id} ({job.name}) here")
        return stop(run)

    def _logs(self, job: JobRef, bytes_max: int) -> LogTail:
        run = self._run(job.name)
        if run.job() != job:
            message = f"there is no job {job.id} ({job.name}) here"
            raise PlatformError(message)
        try:
            with run.output.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - bytes_max))
                text = file.read(bytes_max).decode(errors="replace")
        except FileNotFoundError:
            return LogTail(text="", truncated=False)
        except OSError as error:
            message = f"{run.output} cannot be read: {error.strerror}"
            raise PlatformError(message) from error
        return LogTail(text=text, truncated=size > bytes_max)


def _another_job(runs_dir: Path, name: str) -> str | None:
    with os.scandir(runs_dir) as entries:
        born = (entry.name for entry in entries if entry.name != name and (Path(entry) / "birth.json").exists())
        return next(born, None)


def _look(path: str) -> PathFact:
    exists = os.path.lexists(path)
    return PathFact(
        path=path,
        exists=exists,
        is_dir=os.path.isdir(path),  # noqa: PTH112 - a broken link is not a folder and must not raise
        writable=exists and os.access(path, os.W_OK),
        viewpoint=HERE,
    )
