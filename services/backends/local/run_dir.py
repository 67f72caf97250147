"""What a run directory says: the files the supervisor leaves, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from gonogo.events.job import JobRef, JobState
from gonogo.services.backends.local.identity import identity_of, is_alive
from gonogo.services.backends.port import JobStatus, PlatformError

GUARD_EXIT = 79
"""The exit code of a copy that the start guard turned away."""

T = TypeVar("T")


class Born(msgspec.Struct, frozen=True):
    """A process as it was recorded: the supervisor at its birth, or its child."""

    pid: int
    start: int
    boot: str
    name: str = ""
    token: str = ""

    @property
    def alive(self) -> bool:
        """Whether exactly this process still lives."""
        return is_alive(self.pid, self.start, self.boot)


class Ended(msgspec.Struct, frozen=True):
    """How the command ended, by the supervisor's record."""

    code: int | None
    reason: str | None
    stopped: bool
    late: bool
    at: float


class RunDir:
    """One run directory, perhaps of a job."""

    def __init__(self, path: Path) -> None:
        """`path` need not exist."""
        self.path = path

    @property
    def birth(self) -> Born | None:
        """The birth record; without one there is no job."""
        return _read(self.path / "birth.json", Born)

    @property
    def child(self) -> Born | None:
        """The command's process."""
        return _read(self.path / "child.json", Born)

    @property
    def exit(self) -> Ended | None:
        """The exit record."""
        return _read(self.path / "exit.json", Ended)

    @property
    def stop_asked(self) -> bool:
        """Whether a stop was asked for here."""
        return (self.path / "stop.json").exists()

    def rendering(self) -> bytes:
        """The rendering that the supervisor was given."""
        try:
            return (self.path / "rendering.json").read_bytes()
        except OSError as error:
            message = f"the run directory {self.path} cannot be read: {error.strerror}"
            raise PlatformError(message) from error

    def job(self) -> JobRef | None:
        """The job in this directory; a supervisor that came too late is none."""
        birth, ended = self.birth, self.exit
        if birth is None or (ended is not None and ended.late):
            return None
        return JobRef(id=str(birth.pid), name=self.path.name, identity=identity_of(birth.boot, birth.start))

    def status(self) -> JobStatus:
        """What is known of the job. The exit record is read again after a look at the process: it may just have ended."""
        ended = self.exit
        if ended is None and not self._lives():
            ended = self.exit
            if ended is None:
                reason = "its supervisor vanished (killed, or the machine restarted); the exit code is unknown"
                return JobStatus(state="STOPPED", raw="vanished", reason=reason)
        if ended is not None:
            return self._ended(ended)
        birth = self.birth
        supervised = birth is not None and birth.alive
        return JobStatus(state="RUNNING", raw="running" if supervised else "running, unsupervised")

    def _lives(self) -> bool:
        birth, child = self.birth, self.child
        return (birth is not None and birth.alive) or (child is not None and child.alive)

    def _ended(self, ended: Ended) -> JobStatus:
        raw = f"exit {ended.code}"
        if ended.code == GUARD_EXIT and ended.reason and "start guard" in ended.reason:
            return JobStatus(state="STOPPED", raw=raw, exit_code=ended.code, reason=ended.reason, duplicate=True)
        if ended.stopped:
            return JobStatus(state="STOPPED", raw=raw, exit_code=ended.code, reason=ended.reason)
        state: JobState = "SUCCEEDED" if ended.code == 0 else "FAILED"
        return JobStatus(state=state, raw=raw, exit_code=ended.code, reason=ended.reason)


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        message = f"{path} cannot be read: {error}"
        raise PlatformError(message) from error
