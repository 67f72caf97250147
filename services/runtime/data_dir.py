"""The folder that holds everything of one installation: private, locked by one process, checked before anything is done.

lock  credentials.json  nats.conf  nats.log  jetstream/  spool/<role>/  local/<job>/  views.sqlite  checkpoints.jsonl
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

FREE_MIN = 64 * 1024 * 1024
"""Bytes. With less, the log could not even store the outcomes of what is running."""
_OTHERS = 0o077


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
            if self.root.stat().st_mode & _OTHERS:
                self.root.chmod(0o700)
            probe = self.root / ".probe"
            probe.write_bytes(b"x" * 4096)
            probe.unlink()
        except OSError as error:
            raise DataDirError(_told(self.root, error)) from error
        free = os.statvfs(self.root)
        if free.f_bavail * free.f_frsize < FREE_MIN:
            message = (
                f"the disk of {self.root} is nearly full: free {FREE_MIN // 2**20} MiB, or choose another --data-dir"
            )
            raise DataDirError(message)


def _told(root: Path, error: OSError) -> str:
    if error.errno == errno.EROFS or isinstance(error, PermissionError):
        return f"{root} cannot be written to ({error.strerror}): choose another --data-dir, or change its owner"
    if error.errno == errno.ENOSPC:
        return f"the disk of {root} is full: free some space, or choose another --data-dir"
    return f"{root} cannot be used as the data dir ({error.strerror}): choose another --data-dir"


class DataDirLock:
    """One server per data dir: two servers on one store silently eat each other's events."""

    def __init__(self, data_dir: DataDir) -> None:
        """The dir must be prepared."""
        self._path = data_dir.lock
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock or raise DataDirError, naming who holds it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            message = f"{self._path.parent} is in use by the process {holder}: use that one, or stop it first"
            raise DataDirError(message) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
