"""What the tests share: a real nats-server in a folder of its own, and connections to it that are closed again."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import hypothesis
import pytest
from nats.aio.client import Client

hypothesis.settings.register_profile(
    "shared-machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("shared-machine")
pytest.register_assert_rewrite("tests.contracts.event_log", "tests.contracts.backend")

from gonogo.events.jetstream import JetStreamLog  # noqa: E402
from gonogo.services.runtime.clock import SystemClock, new_instance  # noqa: E402
from gonogo.services.runtime.data_dir import DataDir, DataDirLock  # noqa: E402
from gonogo.services.runtime.nats_admin import ServerUnfitError  # noqa: E402
from gonogo.services.runtime.nats_connect import connect  # noqa: E402
from gonogo.services.runtime.nats_server import Credentials, NatsServer, find_binary  # noqa: E402


class Nats:
    """A running embedded server, and ways to speak to it as any of its users."""

    def __init__(self, data_dir: DataDir) -> None:
        self.data_dir = data_dir
        self.server = NatsServer(data_dir, port=None, new_password=lambda: secrets.token_urlsafe(24))

    async def start(self) -> None:
        self.data_dir.prepare()
        await self.server.start()

    @property
    def credentials(self) -> Credentials:
        assert self.server.credentials is not None
        return self.server.credentials

    @asynccontextmanager
    async def connected(self, user: str) -> AsyncIterator[Client]:
        client = await connect(self.credentials.access(user))
        try:
            yield client
        finally:
            await client.close()

    @asynccontextmanager
    async def log(self, user: str = "admin") -> AsyncIterator[JetStreamLog]:
        clock = SystemClock()
        async with self.connected(user) as client:
            yield JetStreamLog(client, reader=f"test-{new_instance()}", monotonic=clock.monotonic, sleep=clock.sleep)


def _demand_server() -> None:
    try:
        find_binary()
    except ServerUnfitError as error:
        if os.environ.get("GONOGO_REQUIRE_REAL") == "1":
            pytest.fail(f"GONOGO_REQUIRE_REAL=1, but {error}")
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nats]:
    """One server for all tests that neither hurt it nor need an empty log."""
    _demand_server()
    nats = Nats(DataDir(tmp_path_factory.mktemp("nats")))
    with _loop_of_its_own() as loop:
        try:
            asyncio.run_coroutine_threadsafe(nats.start(), loop).result()
            yield nats
        finally:
            asyncio.run_coroutine_threadsafe(nats.server.stop(), loop).result()


@contextmanager
def _loop_of_its_own() -> Iterator[asyncio.AbstractEventLoop]:
    """A thread with a loop: a test's own loop may be running when the first of them asks, and the server dies with its thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="nats", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
async def own_nats(tmp_path: Path) -> AsyncIterator[Nats]:
    """A server for one test, which may kill it, fill it or take its store away."""
    _demand_server()
    nats = Nats(DataDir(tmp_path / "own-nats"))
    nats.data_dir.prepare()
    with DataDirLock(nats.data_dir):
        try:
            await nats.start()
            yield nats
        finally:
            await nats.server.stop()
