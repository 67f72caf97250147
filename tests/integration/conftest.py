"""A real server for the tests of one file, which may say what they like to it but must leave it running."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from gonogo.services.runtime.data_dir import DataDir
from tests.conftest import Nats, _demand_server


@pytest.fixture(scope="module")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nats]:
    _demand_server()
    nats = Nats(DataDir(tmp_path_factory.mktemp("nats-server")))
    try:
        asyncio.run(nats.start())
        yield nats
    finally:
        asyncio.run(nats.server.stop())
