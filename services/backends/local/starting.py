"""How a run is started: the one place of this backend that makes something exist.

Until its supervisor runs, every failure proves that nothing was created. From then on only the supervisor's own word counts.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from gonogo.events.launch import Rendering
from gonogo.services.backends.local.identity import boot_time
from gonogo.services.backends.local.rendering import Order
from gonogo.services.backends.local.run_dir import RunDir
from gonogo.services.backends.port import Accepted, PlatformError, Refused, Reply, Unclear

SUPERVISOR = Path(__file__).with_name("supervisor.py")
ANSWER_WITHIN_S = 0.3
"""How long after the deadline of its birth a supervisor's word is waited for."""
NOT_MADE = "its run directory was never made, and without one there is no job"
NOT_STARTED = "its supervisor was never started, and nothing else starts a command"


def start(run: RunDir, rendering: Rendering, secrets: Mapping[str, str], *, python: str, deadline: float) -> Reply:
    """Make the run directory, start the supervisor with its order and its secrets, wait for its birth."""
    body = rendering.body.encode()
    order = msgspec.json.decode(body, type=Order)
    if order.run_dir != str(run.path):
        reason = f"the order was made for {order.run_dir}, and this backend keeps its runs in {run.path.parent}"
        return Refused("RunDirectory", reason, NOT_MADE)
    missing = sorted(name for name, reference in order.secrets.items() if reference not in secrets)
    if missing:
        return Refused("SecretMissing", f"no value was given for {', '.join(missing)}", NOT_MADE)
    refusal = _make(run)
    if refusal is not None:
        return refusal
    values = {name: secrets[reference] for name, reference in order.secrets.items()}
    ticket = msgspec.json.encode({"secrets": values, "deadline": deadline})
    try:
        _write_private(run.path / "rendering.json", body)
        with _open_private(run.path / "supervisor.log") as log:
            supervisor = _spawn(run, python=python, log=log.fileno())
    except OSError as error:
        reason = f"its supervisor cannot be started: {error.strerror} ({error.filename or run.path})"
        return Refused("Supervisor", reason, NOT_STARTED)
    with supervisor:
        return _await_birth(supervisor, run, ticket, deadline)


def _make(run: RunDir) -> Refused | Unclear | None:
    try:
        run.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        return Refused("RunDirectory", f"{run.path.parent} cannot be made: {error.strerror}", NOT_MADE)
    try:
        run.path.mkdir(mode=0o700)
    except FileExistsError:
        return Unclear(f"a run directory {run.path} exists already: look its job up")
    except OSError as error:
        return Refused("RunDirectory", f"{run.path} cannot be made: {error.strerror}", NOT_MADE)
    return None


def _spawn(run: RunDir, *, python: str, log: int) -> subprocess.Popen[bytes]:
    _sync_folder(run.path.parent)
    return subprocess.Popen(
        [python, "-I", "-S", str(SUPERVISOR), str(run.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd="/",
        env={"PATH": os.defpath},
        start_new_session=True,
    )


def _await_birth(supervisor: subprocess.Popen[bytes], run: RunDir, ticket: bytes, deadline: float) -> Reply:
    try:
        answer, _ = supervisor.communicate(ticket, timeout=max(0.0, deadline + ANSWER_WITHIN_S - boot_time()))
    except subprocess.TimeoutExpired:
        supervisor.kill()
        return Unclear(f"the supervisor did not report its birth in time; see {run.path}")
    try:
        job = run.job()
    except PlatformError as error:
        return Unclear(str(error))
    if job is None or b"born" not in answer:
        return Unclear(f"the supervisor ended without reporting its birth; see {run.path / 'supervisor.log'}")
    return Accepted(job)


def _open_private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def _write_private(path: Path, content: bytes) -> None:
    with _open_private(path) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
