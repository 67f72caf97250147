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

from gonogo.services.runtime.nats_connect import Access, NotConnectedError, connect
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
    async with own_nats.connected("watcher") as client:
        os.kill(own_nats.server.pid, signal.SIGKILL)
        await own_nats.server.wait_dead()
        while client.is_connected:
            await asyncio.sleep(0.02)
        with pytest.raises(Exception, match="outbound buffer limit"):
            await client.publish("ev.launch.late.watcher", b"{}")


async def test_a_client_that_the_broker_closes_for_good_is_reported(own_nats: Nats) -> None:
    closed = asyncio.Event()
    client = await connect(own_nats.credentials.access("watcher"), on_closed=closed.set)
    await own_nats.server.stop()
    own_nats.data_dir.credentials.unlink()
    own_nats.server.credentials = None
    own_nats.server = type(own_nats.server)(
        own_nats.data_dir, port=int(client.connected_url.netloc.rpartition(":")[2]), new_password=lambda: "new-" * 8
    )
    await own_nats.start()
    async with asyncio.timeout(15):
        await closed.wait()
    await client.close()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with")
async def test_a_broker_with_its_own_certificate_is_believed_by_its_ca_alone(tmp_path: Path, nats_server: Nats) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
    command = [*made.split(), "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = tmp_path / "tls.conf"
    configuration.write_text(f'listen: "127.0.0.1:{port}"\ntls {{ cert_file: "{certificate}", key_file: "{key}" }}\n')
    server = subprocess.Popen([find_binary(), "-c", configuration], stderr=subprocess.DEVNULL)
    try:
        url = f"tls://127.0.0.1:{port}"
        client = await connect(Access(url=url, ca=certificate))
        await client.close()
        with pytest.raises(NotConnectedError, match="certificate verify failed"):
            await connect(Access(url=url), timeout_s=1.5)
        with pytest.raises(NotConnectedError, match=r"none\.pem: No such file"):
            await connect(Access(url=url, ca=tmp_path / "none.pem"))
    finally:
        server.terminate()
        server.wait()
