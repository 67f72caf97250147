"""The log in memory keeps the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gonogo.events.log import EventLog
from gonogo.events.memory import MemoryLog
from gonogo.services.runtime.clock import SystemClock
from tests.contracts.event_log import EventLogContract, LogWorld


class MemoryWorld(LogWorld):
    def __init__(self) -> None:
        self.memory = MemoryLog(SystemClock())
        self.log = self.memory

    @asynccontextmanager
    async def another(self) -> AsyncIterator[EventLog]:
        yield self.memory

    async def store(self, subject: str, body: bytes) -> int:
        return self.memory.store(subject, body)


class TestMemoryLog(EventLogContract):
    @pytest.fixture
    def world(self) -> LogWorld:
        return MemoryWorld()
