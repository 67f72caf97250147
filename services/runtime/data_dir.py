"""The folder that holds everything of one installation: private, locked by one process, checked before anything is done.

lock  store.lock  credentials.json  nats.conf  nats.log  jetstream/  spool/<role>/  local/<job>/  views.sqlite  checkpoints.jsonl
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

FREE_MIN = 64 * 1024 * 1024
"""Bytes. With less, the log could not even store the outcomes of what is running."""
_OTHERS = 0o077
_MARKS = frozenset({"lock", "spool", "credentials.json", "views.sqlite", "gonogo.toml", ".probe"})
"""A folder with one of these is an installation, not somebody's home that was named by mistake."""


class DataDirError(Exception):
    """The data dir cannot be used; the message says why and what to do."""


class DataDir:
    """Paths inside a data dir."""

    def __init__(self, root: Path) -> None:
        """`root` need not exist yet."""
        self.root = root.absolute()

    @property
    def lock(self) -> Path:
        """Held by the process that runs the embedded server."""
        return self.root / "lock"

    @property
    def store_lock(self) -> Path:
        """Held by the embedded server itself, for as long as it lives."""
        return self.root / "store.lock"

    @property
    def store(self) -> Path:
        """The embedded server's files."""
        return self.root / "jetstream"

    @property
    def credentials(self) -> Path:
        """Url, users and passwords of the embedded server; 0600."""
        return self.root / "credentials.json"

    @property
    def views(self) -> Path:
        """The projections; may be deleted at any time."""
        return self.root / "views.sqlite"

    @property
    def checkpoints(self) -> Path:
        """What is remembered of the log outside the log."""
        return self.root / "checkpoints.jsonl"

    @property
    def notices(self) -> Path:
        """Where the file channel writes."""
        return self.root / "notices.jsonl"

    @property
    def runs(self) -> Path:
        """The run directories of local jobs."""
        return self.root / "local"

    def spool(self, role: str) -> Path:
        """Outcomes of a role that the log may not have yet."""
        return self.root / "spool" / role

    def prepare(self) -> None:
        """Make the folder, private to this user, and see that it can be written to. Raises DataDirError."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_private()
            self._try_writing()
            free = shutil.disk_usage(self.root).free
        except OSError as error:
            raise unusable(self.root, error) from error
        if free < FREE_MIN:
            room = f"free {FREE_MIN // 2**20} MiB, or choose another --data-dir"
            message = f"the disk of {self.root} is nearly full ({free // 2**20} MiB free): {room}"
            raise DataDirError(message)

    def _make_private(self) -> None:
        """Close an own folder to others; a folder that is somebody else's, or holds other things, is not ours to close."""
        status = self.root.stat()
        if status.st_uid != os.geteuid():
            message = f"{self.root} belongs to another user (uid {status.st_uid}): choose another --data-dir"
            raise DataDirError(message)
        if not status.st_mode & _OTHERS:
            return
        inside = {entry.name for entry in self.root.iterdir()}
        if inside and not inside & _MARKS:
            message = (
                f"{self.root} is open to other users and already holds something else: "
                f"choose another --data-dir, or close it yourself with: chmod 700 {self.root}"
            )
            raise DataDirError(message)
        self.root.chmod(0o700)

    def _try_writing(self) -> None:
        probe = self.root / ".probe"
        try:
            probe.write_bytes(b"x" * 4096)
        finally:
            probe.unlink(missing_ok=True)


def write_private(path: Path, content: bytes) -> None:
    """Replace a file as a whole; only this user may read it, and it was never readable to others."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        part.unlink()
        raise
    part.rename(path)


def unusable(root: Path, error: OSError) -> DataDirError:
    """What the system's refusal means for whoever runs this."""
    if error.errno == errno.EROFS or isinstance(error, PermissionError):
        told = f"{root} cannot be written to ({error.strerror}): choose another --data-dir, or change its owner"
    elif error.errno in (errno.ENOSPC, errno.EDQUOT):
        told = f"the disk of {root} is full ({error.strerror}): free some space, or choose another --data-dir"
    else:
        told = f"{root} cannot be used as the data dir ({error.strerror}): choose another --data-dir"
    return DataDirError(told)


def lock_file(path: Path) -> int | str:
    """An exclusive lock as its descriptor; or who holds it. It lasts until the last process that has the descriptor is gone."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        os.close(descriptor)
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return holder or "unknown"
    return descriptor


def name_holder(descriptor: int, pid: int) -> None:
    """Write into a held lock file who holds it, for the sentence that refuses the next one."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{pid}\n".encode(), 0)


class DataDirLock:
    """One server per data dir: two servers on one store silently eat each other's events."""

    def __init__(self, data_dir: DataDir) -> None:
        """The dir must be prepared."""
        self._path = data_dir.lock
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock or raise DataDirError, naming who holds it."""
        try:
            taken = lock_file(self._path)
        except OSError as error:
            message = f"{self._path} cannot be locked ({error.strerror}): choose a --data-dir on a local disk"
            raise DataDirError(message) from error
        if isinstance(taken, str):
            message = f"{self._path.parent} is in use by the process {taken}: use that one, or stop it first"
            raise DataDirError(message)
        name_holder(taken, os.getpid())
        self._descriptor = taken
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it back, also on behalf of a child that is just being started and still has the descriptor."""
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = None
