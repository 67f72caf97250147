"""A process that creates one local job and is killed, or paused, at a named point of it.

Run as `python -m tests.contracts.creator RUNS_DIR RENDERING_FILE POINT kill|pause`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from gonogo.events.launch import Rendering
from gonogo.services.backends.local.backend import LocalBackend
from gonogo.services.backends.local.run_dir import RunDir

POINTS = (
    "before-mkdir",
    "after-mkdir",
    "before-spawn",
    "after-spawn",
    "half-handed-over",
    "handed-over",
    "after-birth",
    "after-reply",
)
"""In order. From `handed-over` on the job has to come to be."""


class Doom:
    """Strikes once, at its point."""

    def __init__(self, point: str, number: int, run_dir: str) -> None:
        self.point, self.number, self.run_dir = point, number, run_dir

    def strike(self, point: str) -> None:
        if point == self.point:
            self.point = ""
            os.killpg(0, self.number)
            time.sleep(0.1)  # a stop may reach this thread a moment after the call has returned

    def audit(self, event: str, args: tuple[object, ...]) -> None:
        if event == "os.mkdir" and str(args[0]) == self.run_dir:
            self.strike("before-mkdir")
        elif event == "open" and str(args[0]).endswith("rendering.json"):
            self.strike("after-mkdir")
        elif event == "subprocess.Popen":
            self.strike("before-spawn")

    def communicate(self, original):
        def doomed(process, ticket, timeout):
            self.strike("after-spawn")
            if self.point == "half-handed-over":
                os.write(process.stdin.fileno(), ticket[: len(ticket) // 2])
                self.strike("half-handed-over")
            if self.point == "handed-over":
                os.write(process.stdin.fileno(), ticket)
                process.stdin.close()
                self.strike("handed-over")
            return original(process, None if process.stdin.closed else ticket, timeout=timeout)

        return doomed

    def job(self, original):
        def doomed(run):
            self.strike("after-birth")
            return original(run)

        return doomed


def main() -> None:
    runs_dir, rendering_file, point, how = sys.argv[1:]
    rendering = msgspec.json.decode(Path(rendering_file).read_bytes(), type=Rendering)
    name = msgspec.json.decode(rendering.body)["name"]
    doom = Doom(point, {"kill": signal.SIGKILL, "pause": signal.SIGSTOP}[how], f"{runs_dir}/{name}")
    sys.addaudithook(doom.audit)
    subprocess.Popen.communicate = doom.communicate(subprocess.Popen.communicate)
    RunDir.job = doom.job(RunDir.job)
    backend = LocalBackend(Path(runs_dir), base_env={"PATH": os.defpath})
    print(asyncio.run(backend.create(rendering, {"env:S": "value"})))
    doom.strike("after-reply")


if __name__ == "__main__":
    main()
