"""The tiny process that stands between gonogo and a local job. Standard library only; run as a script, never imported.

It outlives gonogo, records its birth before it does anything, claims the start guard, runs the command, and records how it
ended. Secrets come over stdin and go nowhere but into the command's environment.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

GUARD_EXIT = 79
OUTPUT_EXIT = 73
NOT_FOUND_EXIT = 127
KILL_AFTER_S = 10.0
POLL_S = 0.05


def boot_time() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def start_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[19])


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def write_synced(path: Path, content: dict[str, object]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())


def record(path: Path, content: dict[str, object]) -> None:
    """Whole or not at all, and never over an earlier record."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    write_synced(part, content)
    try:
        os.link(part, path)
    finally:
        part.unlink()
    sync_folder(path.parent)


class Supervisor:
    def __init__(self, run_dir: Path, ticket: dict[str, Any]) -> None:
        self.run_dir = run_dir
        self.secrets: dict[str, str] = ticket["secrets"]
        self.deadline: float = ticket["deadline"]
        self.order: dict[str, Any] = json.loads((run_dir / "rendering.json").read_text())
        self.identity: dict[str, object] = {"pid": os.getpid(), "start": start_ticks(os.getpid()), "boot": boot_id()}
        self.stop_asked = False

    def live(self, acknowledge: int) -> None:
        signal.signal(signal.SIGTERM, self.on_stop)
        if boot_time() > self.deadline:
            return
        record(self.run_dir / "birth.json", {**self.identity, "name": self.order["name"], "token": self.order["token"]})
        if boot_time() > self.deadline:
            self.end(code=None, reason="born after its deadline; nothing was started", late=True)
            return
        os.write(acknowledge, b"born\n")
        os.close(acknowledge)
        refusal = self.claim_guard() or self.make_output()
        if refusal is None:
            self.run()

    def on_stop(self, number: int, frame: FrameType | None) -> None:
        _ = number, frame
        self.stop_asked = True

    def claim_guard(self) -> bool | None:
        """Once per job: only the first identity may run; a second copy is turned away."""
        guard = self.order["guard"]
        if guard is None:
            return None
        claim = Path(guard["claim_path"])
        claim.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            record(claim, self.identity)
        except FileExistsError:
            if json.loads(claim.read_text()) == self.identity:
                return None
            self.end(code=GUARD_EXIT, reason="another copy of this launch has claimed the start guard")
            return True
        return None

    def make_output(self) -> bool | None:
        output = self.order["output"]
        if output is None:
            return None
        try:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
            Path(output).mkdir()
        except OSError as error:
            self.end(code=OUTPUT_EXIT, reason=f"the output {output} could not be made: {error.strerror}")
            return True
        return None

    def run(self) -> None:
        environment = {**self.order["env"], **self.secrets}
        log = os.open(self.run_dir / "output.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            child = subprocess.Popen(
                self.order["argv"],
                cwd=self.order["cwd"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        except OSError as error:
            self.end(code=NOT_FOUND_EXIT, reason=f"the command could not be started: {error.strerror}")
            return
        finally:
            os.close(log)
        record(self.run_dir / "child.json", {"pid": child.pid, "start": start_ticks(child.pid), "boot": boot_id()})
        self.wait(child)

    def wait(self, child: subprocess.Popen[bytes]) -> None:
        limit = self.order["time_limit_s"]
        ends_at = boot_time() + limit if limit else None
        kill_at: float | None = None
        reason = None
        while child.poll() is None:
            now = boot_time()
            if kill_at is None and (self.stop_asked or (ends_at is not None and now >= ends_at)):
                reason = "stopped on request" if self.stop_asked else f"its time limit of {limit:g} s was reached"
                self.signal_group(child.pid, signal.SIGTERM)
                kill_at = now + KILL_AFTER_S
            if kill_at is not None and now >= kill_at:
                self.signal_group(child.pid, signal.SIGKILL)
            time.sleep(POLL_S)
        if kill_at is not None:
            self.signal_group(child.pid, signal.SIGKILL)
        code = child.returncode
        self.end(
            code=code,
            reason=reason or (f"ended by signal {-code}" if code < 0 else None),
            stopped=self.stop_asked and kill_at is not None,
        )

    def signal_group(self, group: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

    def end(self, *, code: int | None, reason: str | None, stopped: bool = False, late: bool = False) -> None:
        record(
            self.run_dir / "exit.json",
            {"code": code, "reason": reason, "stopped": stopped, "late": late, "at": time.time()},
        )


def main() -> None:
    run_dir = Path(sys.argv[1])
    ticket = json.load(sys.stdin)
    acknowledge = os.dup(1)
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    if os.fork():
        os._exit(0)  # the job belongs to init now, whatever becomes of gonogo
    os.setsid()
    os.umask(0o022)
    Supervisor(run_dir, ticket).live(acknowledge)


if __name__ == "__main__":
    main()
