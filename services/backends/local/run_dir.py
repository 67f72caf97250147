"""What a run directory says: the records its supervisor leaves, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from gonogo.events.job import JobRef
from gonogo.services.backends.local.identity import Process, boot_id
from gonogo.services.backends.port import JobStatus, PlatformError

T = TypeVar("T")


class Birth(Process, frozen=True):
    """The supervisor's arrival and birth record."""

    name: str
    token: str


class Ended(msgspec.Struct, frozen=True):
    """How it ended, by the supervisor's record. `code`: of the command, or of the refusal to start it; none if stopped before."""

    how: Literal["exited", "stopped", "timed out", "duplicate", "not started"]
    code: int | None
    reason: str | None
    at: float


class RunDir:
    """One run directory, perhaps of a job."""

    def __init__(self, path: Path) -> None:
        """`path` need not exist."""
        self.path = path

    @property
    def birth(self) -> Birth | None:
        """The birth record; without one there is no job."""
        return _read(self.path / "birth.json", Birth)

    @property
    def child(self) -> Process | None:
        """The command's process."""
        return _read(self.path / "child.json", Process)

    @property
    def exit(self) -> Ended | None:
        """The exit record."""
        return _read(self.path / "exit.json", Ended)

    @property
    def stop_asked(self) -> bool:
        """Whether a stop was asked for here."""
        return (self.path / "stop.json").exists()

    @property
    def output(self) -> Path:
        """What the command wrote."""
        return self.path / "output.log"

    def rendering(self) -> bytes:
        """The order that the supervisor was given."""
        try:
            return (self.path / "rendering.json").read_bytes()
        except OSError as error:
            message = f"the run directory {self.path} cannot be read: {error.strerror}"
            raise PlatformError(message) from error

    def job(self) -> JobRef | None:
        """The job in this directory. Raises PlatformError while its supervisor has arrived and may yet be born."""
        birth = self.birth
        if birth is None:
            birth = self._born_meanwhile()
        return None if birth is None else JobRef(id=str(birth.pid), name=self.path.name, identity=birth.identity)

    def status(self) -> JobStatus:
        """What is known of the job here. The exit record is read again after a look at the processes: it may just have ended."""
        birth, ended = self.birth, self.exit
        if birth is None:
            return JobStatus(state="UNKNOWN", raw="no birth record", reason=f"there is no job in {self.path}")
        status = None if ended is not None else self._by_processes(birth)
        ended = ended or self.exit
        if ended is not None:
            return _by_record(ended)
        return status or _vanished(birth, asked=self.stop_asked)

    def _born_meanwhile(self) -> Birth | None:
        arrival = _read(self.path / "arrival.json", Birth)
        if arrival is None:
            return None
        life = arrival.life
        birth = self.birth
        if birth is None and life != "gone":
            message = f"the supervisor in {self.path} has arrived and is not born yet: ask again"
            raise PlatformError(message)
        return birth

    def _by_processes(self, birth: Birth) -> JobStatus | None:
        supervisor = birth.life
        if supervisor == "alive":
            return JobStatus(state="RUNNING", raw="running")
        child = self.child
        command = "gone" if child is None else child.life
        if command == "alive":
            reason = "its supervisor was killed: nobody enforces its time limit, and its exit code will be unknown"
            return JobStatus(state="RUNNING", raw="running, unsupervised", reason=reason)
        if "out of sight" in (supervisor, command):
            reason = f"it was started in another container or on another machine ({birth.machine})"
            return JobStatus(state="UNKNOWN", raw="out of sight", reason=reason)
        return None


def _by_record(ended: Ended) -> JobStatus:
    raw = ended.how if ended.code is None or ended.how == "not started" else f"exit {ended.code}"
    match ended.how:
        case "duplicate":
            return JobStatus(state="STOPPED", raw=raw, exit_code=ended.code, reason=ended.reason, duplicate=True)
        case "stopped":
            return JobStatus(state="STOPPED", raw=raw, exit_code=ended.code, reason=ended.reason)
        case "exited" if ended.code == 0:
            return JobStatus(state="SUCCEEDED", raw=raw, exit_code=0, reason=ended.reason)
        case "exited" | "timed out" | "not started":
            return JobStatus(state="FAILED", raw=raw, exit_code=ended.code, reason=ended.reason)


def _vanished(birth: Birth, *, asked: bool) -> JobStatus:
    cause = "the machine restarted" if birth.boot != boot_id() else "its supervisor was killed"
    if asked:
        cause = f"a stop was asked for, and {cause}"
    return JobStatus(state="STOPPED", raw="vanished", reason=f"{cause}; the exit code is unknown")


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        message = f"{path} cannot be read: {error}"
        raise PlatformError(message) from error
