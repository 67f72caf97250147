"""Which process is it, and does it live? A pid is reused; a pid with its start time under one boot is not.

Where the process cannot be looked for, because it belongs to another machine or to another container's process ids, the
answer is that it is out of sight. Not seen is never gone.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Literal

import msgspec

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

Life = Literal["alive", "gone", "out of sight"]


class Process(msgspec.Struct, frozen=True):
    """A process as it recorded itself. `space`: the namespace its pid counts in; `machine`: the host's name."""

    pid: int
    start: int
    boot: str
    space: str
    machine: str

    @property
    def identity(self) -> str:
        """The platform identity in a JobRef."""
        return f"boot:{self.boot}/start:{self.start}"

    @property
    def life(self) -> Life:
        """Whether exactly this process still lives."""
        if self.boot != boot_id():
            return "gone" if self.machine == os.uname().nodename else "out of sight"
        if self.space != pid_space():
            return "out of sight"
        return "alive" if start_ticks(self.pid) == self.start else "gone"

    def signal(self, number: int) -> bool:
        """Signal exactly this process; False when it is gone. The descriptor cannot come to mean another process."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            if self.life != "alive":
                return False
            signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return False
        finally:
            os.close(descriptor)
        return True


def boot_id() -> str:
    """The id of this boot of the kernel."""
    return BOOT_ID.read_text().strip()


def pid_space() -> str:
    """The namespace in which this process sees pids."""
    return str(Path("/proc/self/ns/pid").readlink())


def start_ticks(pid: int) -> int | None:
    """When that process started, in clock ticks since boot; None when there is no such process (or only its corpse)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else int(fields[19])


def boot_time() -> float:
    """Seconds since boot, suspended time included: one clock for all processes of one machine."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
