"""The local platform as the contract cards and the local specs use it: real processes in a folder of the test."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from gonogo.events.launch import Rendering
from gonogo.services.backends.local.backend import BIRTH_WITHIN_S, LocalBackend
from gonogo.services.backends.local.run_dir import RunDir
from gonogo.services.backends.port import Backend, Reply
from tests.contracts.creator import POINTS
from tests.contracts.harness import BackendHarness, Shows

ROOT = Path(__file__).resolve().parents[2]
BASE_ENV = {"PATH": os.environ["PATH"]}
CREATORS_MAX = 3
"""Creators at a time: a machine too busy to start a supervisor within its deadline would make no job, rightly."""


class LocalHarness(BackendHarness):
    label = "local (real)"
    shows: frozenset[Shows] = frozenset(("names", "digest", "commands", "environment", "host", "creator"))

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.runs = folder / "runs"
        self.local = LocalBackend(self.runs, base_env=BASE_ENV)

    @property
    def backend(self) -> Backend:
        return self.local

    async def refused(self, rendering: Rendering) -> Reply:
        """A file where the run directories should be."""
        self.runs.write_text("in the way")
        reply = await self.local.create(rendering, {})
        self.runs.unlink()
        return reply

    async def unanswered(self, rendering: Rendering, *, taken: bool) -> Reply:
        """A Python that runs the supervisor and loses its answer, or does not run it at all."""
        python = self.folder / f"python-{taken}"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@" >/dev/null\n' if taken else "#!/bin/sh\n")
        python.chmod(0o755)
        deaf = LocalBackend(self.runs, base_env=BASE_ENV, python=str(python))
        reply = await deaf.create(rendering, {})
        await asyncio.sleep(0.5 if taken else 0)
        return reply

    def command_lines(self) -> str:
        lines = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                lines.append((process / "cmdline").read_bytes().decode(errors="replace"))
        return "\n".join(lines)

    def files_holding(self, text: str) -> list[Path]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return [path for path in files if text.encode() in path.read_bytes()]

    def readable_by_others(self) -> list[Path]:
        return [path for path in (self.runs, *self.runs.rglob("*")) if path.stat().st_mode & 0o077]

    async def kill_creators(self) -> Mapping[str, bool]:
        born_from = POINTS.index("handed-over")
        cases = [(point, "kill") for point in POINTS] + [("after-mkdir", "pause"), ("after-spawn", "pause")]
        expected = {f"{how}-{point}": POINTS.index(point) >= born_from for point, how in cases}
        few = asyncio.Semaphore(CREATORS_MAX)
        async with asyncio.TaskGroup() as group:
            for point, how in cases:
                group.create_task(self._doomed(point, how, few))
        await asyncio.sleep(BIRTH_WITHIN_S + 0.5)
        return expected

    async def _doomed(self, point: str, how: str, few: asyncio.Semaphore) -> None:
        name = f"{how}-{point}"
        command = ("sh", "-c", f"echo once >> {self.folder}/ran-{name}")
        request = self.request(command, output=self.output(name), secrets={"S": "env:S"})
        file = self.folder / f"{name}.json"
        file.write_bytes(msgspec.json.encode(self.rendering(request, name=name, root=name)))
        async with few:
            creator = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "tests.contracts.creator", str(self.runs), str(file), point, how),
                cwd=ROOT,
                env={"PYTHONPATH": ".dev:."},
                stdout=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
            if how == "pause":
                await self._resume_after_deadline(creator.pid)
            code = await creator.wait()
        assert code == (0 if how == "pause" else -signal.SIGKILL), f"{name} did not come to its point: exit {code}"

    async def _resume_after_deadline(self, pid: int) -> None:
        async with asyncio.timeout(20):
            while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
                await asyncio.sleep(0.02)
        await asyncio.sleep(BIRTH_WITHIN_S)
        os.killpg(pid, signal.SIGCONT)

    @asynccontextmanager
    async def lifetime(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for path in self.runs.glob("*/"):
                end(RunDir(path))


def end(run: RunDir) -> None:
    """Leave no process behind."""
    if run.birth is not None:
        run.birth.signal(signal.SIGKILL)
    child = run.child
    if child is not None and child.life == "alive":
        os.killpg(child.pid, signal.SIGKILL)
