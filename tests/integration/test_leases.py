"""Role leases on a real bucket: handed over at once, taken over after an expiry, never held by two at the same time."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest
from nats.aio.client import Client

from gonogo.events.jetstream_wire import stream_info
from gonogo.services.runtime import nats_admin
from gonogo.services.runtime.clock import SystemClock, new_instance
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.leases_nats import MARGIN_S, NatsLease
from gonogo.services.runtime.nats_config import LEASES
from tests.conftest import Nats, _demand_server

pytestmark = pytest.mark.real_nats
TTL_S = 3
"""Shorter than in earnest, so that nobody waits long here; the rules are the same."""


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nats]:
    """A server whose leases expire soon."""
    _demand_server()
    nats = Nats(DataDir(tmp_path_factory.mktemp("leases")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nats_admin, "LEASE_TTL_S", TTL_S)
        try:
            asyncio.run(nats.start())
            yield nats
        finally:
            asyncio.run(nats.server.stop())


class Holder:
    """A process that wants a role."""

    def __init__(self, client: Client, role: str) -> None:
        self._client, self._role = client, role
        self.start()

    def start(self) -> None:
        """As a new process does: nothing is remembered of an earlier one."""
        self.lease = NatsLease(self._client, self._role, instance=new_instance(), clock=SystemClock(), ttl_s=TTL_S)
        self.task = asyncio.create_task(self.lease.run())

    async def die(self) -> None:
        """As after kill -9: no release."""
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def leave(self) -> None:
        await self.die()
        await self.lease.release()


@asynccontextmanager
async def holder(nats: Nats, role: str) -> AsyncIterator[Holder]:
    async with nats.connected(role) as client:
        one = Holder(client, role)
        try:
            yield one
        finally:
            await one.leave()


async def gained_within(one: Holder, seconds: float) -> float:
    """How long it took."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.timeout(seconds):
        await one.lease.wait_held()
    return loop.time() - began


async def test_the_bucket_expires_what_is_not_renewed(short: Nats):
    async with short.connected("admin") as client:
        config = (await stream_info(client, f"KV_{LEASES}")).config
    assert config["max_age"] == TTL_S * 1_000_000_000
    assert config["max_msgs_per_subject"] == 1


async def test_the_first_to_ask_holds_it_at_once_and_keeps_it(short: Nats):
    async with holder(short, "intake") as first, holder(short, "intake") as second:
        await gained_within(first, 1)
        await asyncio.sleep(TTL_S + 1)
        assert first.lease.held()
        assert not second.lease.held()


async def test_leases_of_different_roles_do_not_meet(short: Nats):
    async with holder(short, "watcher") as one, holder(short, "notifier") as other:
        await gained_within(one, 1)
        await gained_within(other, 1)
        assert one.lease.held()


async def test_a_released_lease_is_taken_over_before_it_could_have_expired(short: Nats):
    async with holder(short, "submitter") as first, holder(short, "submitter") as second:
        await gained_within(first, TTL_S + 2)
        assert not second.lease.held()
        await first.leave()
        assert not first.lease.held()
        assert await gained_within(second, 5) < TTL_S / 2


async def test_a_dead_holders_lease_is_taken_over_within_its_life_and_two_seconds(short: Nats):
    async with holder(short, "preflight") as first, holder(short, "preflight") as second:
        await gained_within(first, 1)
        await first.die()
        assert await gained_within(second, TTL_S + 2) > MARGIN_S
        assert not first.lease.held()


async def test_a_holder_that_hears_nothing_knows_that_it_lost_it_before_another_gains_it(own_nats: Nats):
    async with own_nats.connected("watcher") as client:
        one = Holder(client, "watcher")
        await gained_within(one, 1)
        os.kill(own_nats.server.pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(TTL_S - MARGIN_S + 0.1)
            assert not one.lease.held()
            async with asyncio.timeout(TTL_S + 3):
                await one.lease.wait_lost()
        finally:
            os.kill(own_nats.server.pid, signal.SIGCONT)
            await one.die()


async def test_two_never_hold_it_at_once_whatever_becomes_of_the_holder(short: Nats):
    loop, handovers = asyncio.get_running_loop(), 0
    together: list[float] = []
    async with holder(short, "placeholder") as one, holder(short, "placeholder") as two:
        holders = [one, two]

        async def watch() -> None:
            while True:
                if sum(each.lease.held() for each in holders) > 1:
                    together.append(loop.time())
                await asyncio.sleep(0.005)

        watcher = asyncio.create_task(watch())
        for end in ("leave", "die", "leave", "die"):
            async with asyncio.timeout(TTL_S + 3):
                while not (held := [each for each in holders if each.lease.held()]):
                    await asyncio.sleep(0.005)
            await getattr(held[0], end)()
            handovers += 1
            held[0].start()
        watcher.cancel()
    assert handovers == 4
    assert together == []


async def test_a_holder_that_comes_back_after_its_lease_went_to_another_does_not_take_it_away(short: Nats):
    async with holder(short, "submitter") as first, holder(short, "submitter") as second:
        await gained_within(first, TTL_S + 2)
        await first.die()
        await gained_within(second, TTL_S + 2)
        first.task = asyncio.create_task(first.lease.run())
        await asyncio.sleep(TTL_S)
        assert second.lease.held()
        assert not first.lease.held()
