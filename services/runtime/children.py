"""Children that die with their parent, and whose death is told by the kernel: no thread waits for them.

A waiting thread per child would use up the small pool that everything else blocking shares; on two cores it has six.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> Callable[[], None]:
    """A child's last step before it begins: ask the kernel to end it when its parent dies."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare_child() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return prepare_child


async def wait_dead(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code once `process` has ended."""
    if process.poll() is not None:
        return process.returncode
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    descriptor = os.pidfd_open(process.pid)
    try:
        loop.add_reader(descriptor, ended.set)
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return process.wait()
