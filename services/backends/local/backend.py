"""The local platform behind the backend port."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
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
from gonogo.services.backends.local.identity import boot_time
from gonogo.services.backends.local.rendering import Order
from gonogo.services.backends.local.run_dir import RunDir
from gonogo.services.backends.port import (
    Accepted,
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
    Unclear,
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
SUPERVISOR = Path(__file__).with_name("supervisor.py")


class LocalBackend:
    """Jobs of this machine under one folder of run directories."""

    def __init__(self, runs_dir: Path, *, base_env: Mapping[str, str], python: str = sys.executable) -> None:
        """`base_env`: what every job inherits (PATH, HOME, LANG, …); it is part of the rendering, so it is reviewed."""
        self._runs_dir = runs_dir
        self._base_env = base_env
        self._python = python

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
        )

    async def probe(self) -> str:
        """See that run directories can be made."""
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
        """Make the run directory, start the supervisor, wait for its birth."""
        if digest_of(rendering.body.encode()) != rendering.digest:
            return Refused("DigestMismatch", "the order is not the reviewed one", "checked before anything was made")
        order = msgspec.json.decode(rendering.body, type=Order)
        deadline = boot_time() + BIRTH_WITHIN_S
        return await asyncio.to_thread(self._create, order, rendering.body.encode(), secrets, deadline)

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

    def _run(self, name: str) -> RunDir:
        if "/" in name or name in ("", ".", ".."):
            message = f"{name!r} is not a job name"
            raise PlatformError(message)
        return RunDir(self._runs_dir / name)

    def _find(self, name: str) -> Sightings:
        try:
            others = (entry.name for entry in os.scandir(self._runs_dir) if entry.name != name)
            control = next(others, None)
        except FileNotFoundError:
            control = None
        except OSError as error:
            message = f"{self._runs_dir} cannot be read: {error.strerror}"
            raise PlatformError(message) from error
        run = self._run(name)
        job = run.job()
        found = () if job is None else (Sighting(job=job, state=run.status().state),)
        return Sightings(found=found, control=control)

    def _create(self, order: Order, body: bytes, secrets: Mapping[str, str], deadline: float) -> Reply:
        run = self._run(order.name)
        try:
            self._runs_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            run.path.mkdir(mode=0o700)
        except FileExistsError:
            return Unclear(f"the run directory {run.path} exists already")
        except OSError as error:
            proof = "its run directory was never made, and without one there is no job"
            return Refused("RunDirectory", f"{run.path} cannot be made: {error.strerror}", proof)
        _write_private(run.path / "rendering.json", body)
        values = {name: secrets[reference] for name, reference in order.secrets.items()}
        ticket = msgspec.json.encode({"secrets": values, "deadline": deadline})
        return self._start(run, ticket)

    def _start(self, run: RunDir, ticket: bytes) -> Reply:
        with os.fdopen(_open_private(run.path / "supervisor.log"), "wb") as log:
            process = subprocess.Popen(
                [self._python, "-I", "-S", str(SUPERVISOR), str(run.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd="/",
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        try:
            answer, _ = process.communicate(ticket, timeout=BIRTH_WITHIN_S + 0.3)
        except subprocess.TimeoutExpired:
            process.kill()
            return Unclear("the supervisor did not report its birth in time")
        job = run.job()
        if job is None or b"born" not in answer:
            return Unclear("the supervisor ended without reporting its birth")
        return Accepted(job)

    def _read_back(self, job: JobRef, rendering: Rendering) -> JobFacts | None:
        run = self._run(job.name)
        there = run.job()
        if there is None:
            return None
        differences: list[str] = []
        if there != job:
            differences.append(f"the run directory belongs to job {there.id} ({there.identity})")
        if digest_of(run.rendering()) != rendering.digest:
            differences.append("the supervisor's order is not the planned one")
        facts = {"id": there.id, "name": there.name, "order": rendering.digest}
        return JobFacts(job=job, differences=tuple(differences), facts=facts)

    def _status(self, job: JobRef) -> JobStatus:
        run = self._run(job.name)
        if run.job() != job:
            return JobStatus(
                state="UNKNOWN", raw="not there", reason=f"no run directory of this job in {self._runs_dir}"
            )
        return run.status()

    def _stop(self, job: JobRef) -> StopAnswer:
        run = self._run(job.name)
        birth = run.birth
        if run.job() != job or birth is None:
            return StopAnswer(taken=False, answer=f"there is no job {job.id} ({job.name}) here")
        if run.exit is not None:
            return StopAnswer(taken=True, answer="it has ended already")
        child = run.child
        if birth.alive:
            os.kill(birth.pid, signal.SIGTERM)
            return StopAnswer(taken=True, answer="its supervisor was asked to stop it")
        if child is not None and child.alive:
            os.killpg(child.pid, signal.SIGTERM)
            return StopAnswer(taken=True, answer="it was asked to stop; it has no supervisor any more")
        return StopAnswer(taken=True, answer="it is gone")

    def _logs(self, job: JobRef, bytes_max: int) -> LogTail:
        path = self._run(job.name).path / "output.log"
        try:
            with path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - bytes_max))
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return LogTail(text="", truncated=False)
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            raise PlatformError(message) from error
        return LogTail(text=text, truncated=size > bytes_max)


def _look(path: str) -> PathFact:
    exists = os.path.lexists(path)
    return PathFact(
        path=path,
        exists=exists,
        is_dir=os.path.isdir(path),  # noqa: PTH112 - a broken link is not a folder and must not raise
        writable=exists and os.access(path, os.W_OK),
        viewpoint=HERE,
    )


def _open_private(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _write_private(path: Path, content: bytes) -> None:
    descriptor = _open_private(path)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
