"""The embedded server as a process: it is private, it is alone on its store, it dies with its parent, it comes back."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import signal
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from gonogo.events.jetstream_wire import stream_info
from gonogo.services.runtime import nats_server as server_module
from gonogo.services.runtime.data_dir import DataDir, DataDirError, DataDirLock, lock_file, write_private
from gonogo.services.runtime.nats_admin import ServerUnfitError, demand_sync_always
from gonogo.services.runtime.nats_config import render
from gonogo.services.runtime.nats_server import NatsServer, read_credentials
from tests.conftest import Nats

PARENT = """
import asyncio, secrets, sys
from pathlib import Path
from gonogo.services.runtime.data_dir import DataDir, DataDirLock
from gonogo.services.runtime.nats_server import NatsServer

async def main():
    data_dir = DataDir(Path(sys.argv[1]))
    data_dir.prepare()
    with DataDirLock(data_dir):
        server = NatsServer(data_dir, port=None, new_password=secrets.token_hex)
        await server.start()
        print(server.pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""
STATE_OF_A_STOPPED_PROCESS = "T"


def a_server(root: Path, port: int | None = None) -> NatsServer:
    data_dir = DataDir(root)
    data_dir.prepare()
    return NatsServer(data_dir, port=port, new_password=lambda: secrets.token_urlsafe(24))


def start_parent(root: Path) -> tuple[subprocess.Popen[str], int]:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(root)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    told = parent.stdout.readline()
    if not told.strip().isdigit():
        kill_parent(parent)
        pytest.fail(f"the parent did not start its server, but said {told!r}")
    return parent, int(told)


def kill_parent(parent: subprocess.Popen[str]) -> None:
    parent.kill()
    parent.wait()
    assert parent.stdout is not None
    parent.stdout.close()


def state_of(pid: int) -> str | None:
    """The kernel's letter for what a process does; None when it is gone or only waits to be counted as gone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return None if state == "Z" else state
    return None


async def until_gone(pid: int, within_s: float = 5.0) -> bool:
    for _ in range(int(within_s / 0.05)):
        if state_of(pid) is None:
            return True
        await asyncio.sleep(0.05)
    return False


async def say(nats: Nats, launch: str) -> None:
    async with nats.connected("watcher") as client:
        await client.request(f"ev.launch.{launch}.watcher", b"{}", timeout=5)


async def heard(nats: Nats) -> int:
    async with nats.connected("reader") as client:
        info = await stream_info(client, "EVENTS")
    assert info.state is not None
    return info.state.messages


async def test_it_reports_that_it_syncs_before_it_acknowledges(nats_server: Nats) -> None:
    async with nats_server.connected("system") as system:
        await demand_sync_always(system)


async def test_whoever_may_not_ask_for_the_report_is_told_so(nats_server: Nats) -> None:
    async with nats_server.connected("reader") as reader:
        with pytest.raises(ServerUnfitError, match="ask as a system user"):
            await demand_sync_always(reader)


async def test_a_server_that_syncs_only_now_and_then_is_refused_and_not_left_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nats_server: Nats
) -> None:
    def lazy(*args, **kwargs) -> str:
        text = render(*args, **kwargs)
        assert '"always"' in text
        return text.replace('"always"', '"2m"')

    monkeypatch.setattr(server_module, "render", lazy)
    server = a_server(tmp_path / "d")
    with pytest.raises(ServerUnfitError, match="does not sync before it acknowledges"):
        await server.start()
    assert await until_gone(server.pid)


async def test_all_of_its_files_are_readable_to_this_user_alone(nats_server: Nats) -> None:
    root = nats_server.data_dir.root
    others = [path for path in (root, *root.iterdir()) if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert others == []
    assert {"credentials.json", "nats.conf", "nats.log", "store.lock"} <= {path.name for path in root.iterdir()}


async def test_no_password_stands_in_an_argument_an_environment_or_the_log(nats_server: Nats) -> None:
    process = Path(f"/proc/{nats_server.server.pid}")
    visible = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    visible += (nats_server.data_dir.root / "nats.log").read_bytes() + repr(nats_server.credentials).encode()
    assert b"nats.conf" in visible
    for user, password in nats_server.credentials.passwords.items():
        assert len(password) >= 24, user
        assert password.encode() not in visible, user
    assert len(set(nats_server.credentials.passwords.values())) == len(nats_server.credentials.passwords)


def listeners(pid: int) -> list[str]:
    """Every address a process listens on, in the kernel's spelling."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            sockets.add(str(descriptor.readlink()))
    rows = [
        line.split() for table in ("tcp", "tcp6") for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()
    ]
    return [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]


async def test_it_listens_on_one_port_and_on_loopback_alone(nats_server: Nats) -> None:
    port = int(nats_server.credentials.url.rpartition(":")[2])
    assert listeners(nats_server.server.pid) == [f"0100007F:{port:04X}"]


async def test_a_second_one_on_the_same_data_dir_is_refused_and_told_who_has_it(
    tmp_path: Path, nats_server: Nats
) -> None:
    parent, server = await asyncio.to_thread(start_parent, tmp_path / "d")
    try:
        with (
            pytest.raises(DataDirError, match=f"in use by the process {parent.pid}: use that one, or stop it"),
            DataDirLock(DataDir(tmp_path / "d")),
        ):
            pass
        assert state_of(server) is not None
    finally:
        kill_parent(parent)


async def test_it_dies_with_its_parent_even_if_that_is_killed(tmp_path: Path, nats_server: Nats) -> None:
    parent, server = await asyncio.to_thread(start_parent, tmp_path / "d")
    assert state_of(server) is not None
    kill_parent(parent)
    assert await until_gone(server)
    with DataDirLock(DataDir(tmp_path / "d")):
        again = a_server(tmp_path / "d")
        await again.start()
        await again.stop()


async def test_one_that_outlives_its_parent_keeps_its_store_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nats_server: Nats
) -> None:
    parent, orphan = await asyncio.to_thread(start_parent, tmp_path / "d")
    os.kill(orphan, signal.SIGSTOP)
    kill_parent(parent)
    assert state_of(orphan) == STATE_OF_A_STOPPED_PROCESS
    server = a_server(tmp_path / "d")
    try:
        with DataDirLock(server.data_dir):
            monkeypatch.setattr(server_module, "FREE_WITHIN_S", 0.3)
            with pytest.raises(ServerUnfitError, match=f"process {orphan}.*still holds.*End it with: kill -9 {orphan}"):
                await server.start()
            monkeypatch.setattr(server_module, "FREE_WITHIN_S", 10.0)
            os.kill(orphan, signal.SIGCONT)
            await server.start()
            assert await until_gone(orphan)
            await server.stop()
    finally:
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)


async def test_after_its_death_it_is_told_and_comes_back_on_the_same_port_with_everything_it_confirmed(
    own_nats: Nats,
) -> None:
    await say(own_nats, "a")
    before = own_nats.credentials
    async with own_nats.connected("reader") as patient:
        os.kill(own_nats.server.pid, signal.SIGKILL)
        assert await own_nats.server.wait_dead() == -signal.SIGKILL
        await own_nats.start()
        assert own_nats.credentials == before
        async with asyncio.timeout(10):
            while not patient.is_connected:
                await asyncio.sleep(0.05)
    await say(own_nats, "b")
    assert await heard(own_nats) == 2


async def test_a_clean_stop_and_start_keeps_port_passwords_and_messages(own_nats: Nats) -> None:
    await say(own_nats, "a")
    before = own_nats.credentials
    await own_nats.server.stop()
    assert state_of(own_nats.server.pid) is None
    own_nats.server = a_server(own_nats.data_dir.root)
    assert await own_nats.server.start() == before
    assert await heard(own_nats) == 1


async def test_after_its_death_it_never_moves_to_another_port(own_nats: Nats, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "FREE_WITHIN_S", 0.3)
    port = int(own_nats.credentials.url.rpartition(":")[2])
    await own_nats.server.stop()
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thief.bind(("127.0.0.1", port))
        thief.listen()
        with pytest.raises(ServerUnfitError, match=f"port {port} cannot be used"):
            await own_nats.server.start()


async def test_a_taken_port_is_named(tmp_path: Path, nats_server: Nats) -> None:
    port = int(nats_server.credentials.url.rpartition(":")[2])
    with pytest.raises(
        ServerUnfitError, match=rf"port {port} cannot be used \(another program has it\): choose another"
    ):
        await a_server(tmp_path / "d", port).start()


@pytest.mark.parametrize("port", [0, -1, 65536])
async def test_a_port_that_cannot_be_is_named(tmp_path: Path, port: int, nats_server: Nats) -> None:
    with pytest.raises(ServerUnfitError, match=f"port {port} does not exist"):
        await a_server(tmp_path / "d", port).start()


async def test_a_data_dir_may_have_any_name(tmp_path: Path, nats_server: Nats) -> None:
    server = a_server(tmp_path / 'josé\'s "new" {训练} #1 $HOME')
    await server.start()
    try:
        assert server.data_dir.store.is_dir()
    finally:
        await server.stop()


async def test_what_it_says_before_it_dies_at_once_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nats_server: Nats
) -> None:
    monkeypatch.setattr(server_module, "render", lambda *_args, **_kwargs: "listen: [")
    with pytest.raises(ServerUnfitError, match=r"ended at once \(exit 1\): nats-server: .*Mend that"):
        await a_server(tmp_path / "d").start()


@pytest.mark.parametrize("name", ["nats.conf", "credentials.json"])
async def test_a_disk_that_is_full_by_now_is_named_and_nothing_is_left_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nats_server: Nats, name: str
) -> None:
    def write(path: Path, content: bytes) -> None:
        if path.name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_private(path, content)

    monkeypatch.setattr(server_module, "write_private", write)
    server = a_server(tmp_path / "d")
    with pytest.raises(DataDirError, match=f"the disk of {tmp_path / 'd'} is full .*: free some space"):
        await server.start()
    free = lock_file(server.data_dir.store_lock)
    assert isinstance(free, int)
    os.close(free)


def test_broken_credentials_count_as_none(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    data_dir.credentials.write_text("{")
    assert read_credentials(data_dir) is None
