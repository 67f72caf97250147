"""Where local jobs can be seen at all: the folder's own lasting id, and the process namespace that pids count in.

A worker on another host, in another container or over another data dir sees an empty folder. That must never be taken for
the absence of a job.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def place_of(file: Path) -> str:
    """The id in `file` (made by the first who asks) and this process's namespace."""
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        with part.open("w") as written:
            written.write(secrets.token_hex(8))
            written.flush()
            os.fsync(written.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(part, file)
        part.unlink()
    return f"{file.read_text()}/{namespace}"
