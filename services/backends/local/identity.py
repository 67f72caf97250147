"""Which process is it? A pid is reused; a pid with its start time under one boot is not."""

from __future__ import annotations

import time
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """The id of this boot of the kernel."""
    return BOOT_ID.read_text().strip()


def start_ticks(pid: int) -> int | None:
    """When that process started, in clock ticks since boot; None when there is no such process (or only its corpse)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else int(fields[19])


def is_alive(pid: int, ticks: int, boot: str) -> bool:
    """Whether exactly that process still lives."""
    return boot == boot_id() and start_ticks(pid) == ticks


def boot_time() -> float:
    """Seconds since boot, suspended time included: one clock for two processes of one machine."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def identity_of(boot: str, ticks: int) -> str:
    """The platform identity in a JobRef."""
    return f"boot:{boot}/start:{ticks}"
