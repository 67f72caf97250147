"""The tiny process that stands between gonogo and a local job. Standard library only; run as a script, never imported.

It outlives gonogo, records its birth before it does anything, claims the start guard, runs the command, and records how it
ended. Secrets come over stdin and go nowhere but into the command's environment.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

OUTPUT_EXIT = 73
GUARD_EXIT = 79
NOT_RUNNABLE_EXIT = 126
NOT_FOUND_EXIT = 127
KILL_AFTER_S = 10.0
LOOK_S = 2.0
"""How often it looks whether a stop was left in the run directory; a signal wakes it at once."""
RECORD_TRIES_MAX = 600
"""How often the end is recorded again, a second apart, while the disk is full."""


class NotStartedError(Exception):
    """The command will not be started."""

    def __init__(self, reason: str, *, code: int | None, how: str = "not started") -> None:
        super().__init__(reason)
        self.reason, self.code, self.how = reason, code, how


def boot_time() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def itself() -> dict[str, object]:
    """This process, in a way that no other process can be mistaken for it."""
    return {
        "pid": os.getpid(),
        "start": int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]),
        "boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "space": str(Path("/proc/self/ns/pid").readlink()),
        "machine": os.uname().nodename,
    }


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def record(path: Path, content: dict[str, object]) -> None:
    """Whole and durable or not at all, and never over an earlier record; a hard link is exclusive over networks too."""
    part = path.with_name(f"{path.name}.{os.getpid()}-{time.monotonic_ns()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, path)
    finally:
        part.unlink()
    sync_folder(path.parent)


class Supervisor:
    def __init__(self, run_dir: Path, ticket: dict[str, Any]) -> None:
        self.run_dir = run_dir
        self.secrets: dict[str, str] = ticket["secrets"]
        self.deadline: float = ticket["deadline"]
        self.order: dict[str, Any] = json.loads((run_dir / "rendering.json").read_bytes())
        self.identity = itself()
        self.signalled = False
        self.wakes, self.waker = os.pipe()

    def live(self, acknowledge: int) -> None:
        self.listen()
        if not self.be_born():
            return
        with contextlib.suppress(OSError):  # whoever made this job is dead; the job is not
            os.write(acknowledge, b"born\n")
        os.close(acknowledge)
        try:
            self.claim_guard()
            self.make_output()
            child = self.start()
        except NotStartedError as error:
            self.end(how=error.how, code=error.code, reason=error.reason)
        else:
            self.wait(child)

    def listen(self) -> None:
        """Handlers, not ignored signals: those would be inherited by the command."""
        os.set_blocking(self.wakes, False)
        os.set_blocking(self.waker, False)
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self.on_signal)

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        _ = frame
        self.signalled = self.signalled or number == signal.SIGTERM

    def be_born(self) -> bool:
        """The arrival makes a look-up wait; the clock is read after it, so nobody born has ever been called absent."""
        if boot_time() > self.deadline:
            return False
        arrival = self.run_dir / "arrival.json"
        record(arrival, {**self.identity, "name": self.order["name"], "token": self.order["token"]})
        if boot_time() > self.deadline:
            return False
        os.link(arrival, self.run_dir / "birth.json")
        sync_folder(self.run_dir)
        return True

    def claim_guard(self) -> None:
        """Once per job: only the first identity may run; a second copy is turned away."""
        guard = self.order["guard"]
        if guard is None:
            return
        path, mine = Path(guard["claim_path"]), {**self.identity, "job": self.order["name"]}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                record(path, mine)
            theirs = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise NotStartedError(f"the start guard {path} cannot be claimed: {error}", code=OUTPUT_EXIT) from error
        if theirs != mine:
            reason = f"another copy of this launch has claimed the start guard {path}"
            raise NotStartedError(reason, code=GUARD_EXIT, how="duplicate")

    def make_output(self) -> None:
        output = self.order["output"]
        if output is None:
            return
        try:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
            Path(output).mkdir()
        except OSError as error:
            raise NotStartedError(f"the output {output} cannot be made: {error.strerror}", code=OUTPUT_EXIT) from error

    def start(self) -> subprocess.Popen[bytes]:
        if self.asked_to_stop() is not None:
            raise NotStartedError("stopped before the command was started", code=None, how="stopped")
        log = os.open(self.run_dir / "output.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return subprocess.Popen(
                self.order["argv"],
                cwd=self.order["cwd"],
                env={**self.order["env"], **self.secrets},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                preexec_fn=self.become_child,  # noqa: PLW1509 - this process has one thread
            )
        except FileNotFoundError as error:
            reason = f"the command could not be started: there is no {error.filename}"
            raise NotStartedError(reason, code=NOT_FOUND_EXIT) from error
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            reason = f"the command could not be started: {getattr(error, 'strerror', None) or error}"
            raise NotStartedError(reason, code=NOT_RUNNABLE_EXIT) from error
        finally:
            os.close(log)

    def become_child(self) -> None:
        """Recorded by the child itself: a command never runs unrecorded, whenever its supervisor is killed."""
        record(self.run_dir / "child.json", itself())
        if os.getppid() != self.identity["pid"]:
            os._exit(1)

    def wait(self, child: subprocess.Popen[bytes]) -> None:
        limit = self.order["time_limit_s"]
        ends_at = boot_time() + limit if limit else None
        kill_at: float | None = None
        how, reason = "exited", None
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            now = boot_time()
            if kill_at is None:
                how, reason = self.reason_to_end(ends_at, now)
                if reason is not None:
                    self.signal_group(child.pid, signal.SIGTERM)
                    kill_at = now + KILL_AFTER_S
            elif now >= kill_at:
                self.signal_group(child.pid, signal.SIGKILL)
            self.sleep(min(due - now for due in (now + LOOK_S, kill_at, ends_at) if due is not None and due > now))
        self.signal_group(child.pid, signal.SIGKILL)  # what it left behind; its corpse still holds the group's number
        code = child.wait()
        if code < 0 and reason is None:
            reason = f"ended by signal {-code}"
        self.end(how=how, code=code, reason=reason)

    def reason_to_end(self, ends_at: float | None, now: float) -> tuple[str, str | None]:
        asked = self.asked_to_stop()
        if asked is not None:
            return "stopped", asked
        if ends_at is not None and now >= ends_at:
            return "timed out", f"its time limit of {self.order['time_limit_s']:g} s was reached"
        return "exited", None

    def asked_to_stop(self) -> str | None:
        if (self.run_dir / "stop.json").exists():
            return "stopped by request"
        return "its supervisor was told to stop, not through gonogo" if self.signalled else None

    def sleep(self, seconds: float) -> None:
        if select.select([self.wakes], [], [], seconds)[0]:
            os.read(self.wakes, 4096)

    def signal_group(self, group: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

    def end(self, *, how: str, code: int | None, reason: str | None) -> None:
        for _ in range(RECORD_TRIES_MAX):
            with contextlib.suppress(OSError):
                record(self.run_dir / "exit.json", {"how": how, "code": code, "reason": reason, "at": time.time()})
                return
            time.sleep(1)


def main() -> None:
    run_dir = Path(sys.argv[1])
    try:
        ticket = json.loads(sys.stdin.buffer.read())
    except ValueError:
        sys.exit("the creator ended before it had handed over the whole order: nothing was started")
    acknowledge = os.dup(1)
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    if os.fork():
        os._exit(0)  # the job belongs to init now, whatever becomes of gonogo
    os.umask(0o022)
    Supervisor(run_dir, ticket).live(acknowledge)


if __name__ == "__main__":
    main()
