"""How a run is stopped. The request is written down first; a signal only makes it be read at once."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from gonogo.services.backends.local.identity import Process, boot_time
from gonogo.services.backends.local.run_dir import RunDir
from gonogo.services.backends.port import PlatformError, StopAnswer

KILL_AFTER_S = 10.0
"""What a command without a supervisor gets to end by itself; a supervisor gives the same."""
LOOK_S = 0.1


def stop(run: RunDir) -> StopAnswer:
    """Ask the supervisor to end the command. Where it was killed, end the command's group from here."""
    birth = run.birth
    if birth is None:
        return StopAnswer(taken=False, answer=f"there is no job in {run.path}")
    if run.exit is not None:
        return StopAnswer(taken=True, answer="it has ended already")
    _ask(run)
    life = birth.life
    if life == "out of sight":
        answer = f"it was started in another container or on {birth.machine}; the request was left in {run.path}"
        return StopAnswer(taken=False, answer=answer)
    if life == "alive" and birth.signal(signal.SIGTERM):
        return StopAnswer(taken=True, answer="its supervisor was asked to stop it")
    child = run.child
    if child is None or child.life == "gone":
        return StopAnswer(taken=True, answer="it is gone")
    _end_group(child)
    return StopAnswer(taken=True, answer="it was ended from here; its supervisor had been killed")


def _ask(run: RunDir) -> None:
    try:
        descriptor = os.open(run.path / "stop.json", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.fsync(descriptor)
        os.close(descriptor)
    except OSError as error:
        message = f"the stop request cannot be left in {run.path}: {error.strerror}"
        raise PlatformError(message) from error


def _end_group(child: Process) -> None:
    """The child leads its group: while it lives, the group's number cannot mean another."""
    give_up = boot_time() + KILL_AFTER_S
    _signal_group(child, signal.SIGTERM)
    while child.life == "alive" and boot_time() < give_up:
        time.sleep(LOOK_S)
    _signal_group(child, signal.SIGKILL)


def _signal_group(child: Process, number: int) -> None:
    if child.life == "alive":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
