"""Connecting: a refusal is told at once and without a secret, silence is told in time, and a lost broker is waited for."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from nats.aio.client import Client

from gonogo.services.runtime.nats_connect import Access, NotConnectedError, _Callbacks, connect, hang_up
from gonogo.services.runtime.nats_server import find_binary
from tests.conftest import Nats

SECRET = "canary-5f1d"


async def test_a_wrong_password_is_told_at_once_and_not_repeated(nats_server: Nats) -> None:
    access = Access(url=nats_server.credentials.url, user="watcher", password=SECRET)
    async with asyncio.timeout(2):
        with pytest.raises(NotConnectedError, match="does not accept the user watcher with this password") as told:
            await connect(access)
    assert SECRET not in str(told.value)


async def test_nobody_there_is_told_with_the_reason_and_what_to_do() -> None:
    with pytest.raises(NotConnectedError, match=r"no connection within 0\.3 s \(.*Connect call failed.*gonogo up"):
        await connect(Access(url="nats://127.0.0.1:1"), timeout_s=0.3)


async def test_one_that_takes_the_call_and_stays_silent_is_told_too() -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        url = f"nats://127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(NotConnectedError, match="it is silent"):
            await connect(Access(url=url), timeout_s=0.3)


async def test_a_password_in_the_url_is_never_shown() -> None:
    access = Access(url=f"nats://ana:{SECRET}@127.0.0.1:1", user="ana", password=SECRET)
    with pytest.raises(NotConnectedError, match=r"nats://127\.0\.0\.1:1 ") as told:
        await connect(access, timeout_s=0.2)
    assert SECRET not in str(told.value) + repr(access) + access.shown


async def test_a_cancelled_connect_leaves_nothing_behind() -> None:
    connecting = asyncio.ensure_future(connect(Access(url="nats://127.0.0.1:1")))
    await asyncio.sleep(0.05)
    before = asyncio.all_tasks()
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert asyncio.all_tasks() < before


async def test_answers_arrive_under_the_users_own_name(nats_server: Nats) -> None:
    async with nats_server.connected("watcher") as client:
        assert client.new_inbox().startswith("_INBOX_watcher.")


async def test_nothing_is_kept_to_be_sent_later(own_nats: Nats) -> None:
    client = await connect(own_nats.credentials.access("watcher"))
    try:
        os.kill(own_nats.server.pid, signal.SIGKILL)
        await own_nats.server.wait_dead()
        while client.is_connected:
            await asyncio.sleep(0.02)
        with pytest.raises(Exception, match="outbound buffer limit"):
            await client.publish("ev.launch.late.watcher", b"{}")
    finally:
        await hang_up(client)


class Closing:
    """A connection whose close is cancelled: by the library, or while it waits."""

    def __init__(self, *, by_library: bool) -> None:
        self._by_library = by_library

    async def close(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        if self._by_library:
            waiter.cancel()
        await waiter


async def test_hanging_up_ends_quietly_where_the_library_cancels_itself() -> None:
    await hang_up(Closing(by_library=True))


async def test_hanging_up_is_cancelled_when_its_caller_is() -> None:
    task = asyncio.ensure_future(hang_up(Closing(by_library=False)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_client_that_the_broker_throws_out_is_closed_for_good_and_reported(nats_server: Nats) -> None:
    closed = asyncio.Event()
    client = await connect(nats_server.credentials.access("watcher"), on_closed=closed.set)
    await client._send_command(b"NONSENSE\r\n")
    await client._flush_pending()
    async with asyncio.timeout(5):
        await closed.wait()
    assert client.is_closed


def test_a_callback_that_fails_fails_alone() -> None:
    def broken() -> None:
        raise RuntimeError("broken")

    asyncio.run(_Callbacks(Client(), broken).on_close())


def make_certificate(folder: Path) -> tuple[Path, Path]:
    key, certificate = folder / "key.pem", folder / "cert.pem"
    made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
    command = [*made.split(), "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return key, certificate


def start_with_tls(folder: Path, key: Path, certificate: Path) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = folder / "tls.conf"
    configuration.write_text(f'listen: "127.0.0.1:{port}"\ntls {{ cert_file: "{certificate}", key_file: "{key}" }}\n')
    server = subprocess.Popen([find_binary(), "-c", configuration], stderr=subprocess.DEVNULL)
    return server, f"tls://127.0.0.1:{port}"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with")
async def test_a_broker_with_its_own_certificate_is_believed_by_its_ca_alone(tmp_path: Path, nats_server: Nats) -> None:
    key, certificate = make_certificate(tmp_path)
    server, url = start_with_tls(tmp_path, key, certificate)
    try:
        client = await connect(Access(url=url, ca=certificate))
        await client.close()
        with pytest.raises(NotConnectedError, match="certificate verify failed"):
            await connect(Access(url=url), timeout_s=1.5)
        with pytest.raises(NotConnectedError, match=r"none\.pem: No such file"):
            await connect(Access(url=url, ca=tmp_path / "none.pem"))
    finally:
        server.terminate()
        server.wait()
