"""A role lease on a real broker: one holder, renewed, handed over, lost in time, and found out by a holder that was paused."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from nats.aio.client import Client

from gonogo.services.runtime import leases_nats
from gonogo.services.runtime.clock import SystemClock, new_instance
from gonogo.services.runtime.leases_nats import MARGIN_S, NatsLease
from gonogo.services.runtime.nats_admin import LEASE_TTL_S
from tests.conftest import Nats

pytestmark = pytest.mark.real_nats
ROLE = "submitter"


class JumpingClock(SystemClock):
    """The machine's clock, after a pause that only the monotonic clock has seen."""

    def __init__(self) -> None:
        self.jumped = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.jumped


def a_lease(client: Client, clock: SystemClock | None = None, *, role: str = ROLE) -> NatsLease:
    return NatsLease(client, role, instance=new_instance(), clock=clock or SystemClock(), ttl_s=LEASE_TTL_S)


@asynccontextmanager
async def running(lease: NatsLease) -> AsyncIterator[NatsLease]:
    task = asyncio.create_task(lease.run())
    try:
        yield lease
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
async def clients(own_nats: Nats) -> AsyncIterator[tuple[Client, Client]]:
    async with own_nats.connected(ROLE) as one, own_nats.connected(ROLE) as other:
        yield one, other


async def test_of_two_who_want_it_one_has_it_and_keeps_it(clients: tuple[Client, Client]):
    async with running(a_lease(clients[0])) as first:
        await asyncio.wait_for(first.wait_held(), 3)
        async with running(a_lease(clients[1])) as second:
            for _ in range(int((LEASE_TTL_S + 1.5) / 0.1)):
                await asyncio.sleep(0.1)
                assert (first.held(), second.held()) == (True, False)


async def test_it_is_handed_over_at_a_clean_stop_without_waiting_for_its_end(clients: tuple[Client, Client]):
    first, second = a_lease(clients[0]), a_lease(clients[1])
    async with running(first):
        await asyncio.wait_for(first.wait_held(), 3)
    async with running(second):
        await asyncio.sleep(0.3)
        assert (first.held(), second.held()) == (True, False)
        await first.release()
        assert not first.held()
        await asyncio.wait_for(second.wait_held(), LEASE_TTL_S / 3)


async def test_what_a_dead_holder_had_is_free_after_its_time_and_not_before(clients: tuple[Client, Client]):
    async with running(a_lease(clients[0])) as first:
        await asyncio.wait_for(first.wait_held(), 3)
    async with running(a_lease(clients[1])) as second:
        gained = asyncio.ensure_future(second.wait_held())
        while first.held():
            assert not second.held()
            await asyncio.sleep(0.02)
        await asyncio.wait_for(gained, LEASE_TTL_S + 2)


async def test_a_holder_that_was_paused_finds_out_by_itself(clients: tuple[Client, Client]):
    clock = JumpingClock()
    lease = a_lease(clients[0], clock)
    assert await lease._renew()
    clock.jumped = LEASE_TTL_S - MARGIN_S - 0.5
    assert lease.held()
    clock.jumped = LEASE_TTL_S - MARGIN_S + 0.001
    assert not lease.held()


async def test_a_holder_that_was_overtaken_does_not_get_it_back_by_renewing(clients: tuple[Client, Client]):
    paused, successor = a_lease(clients[0]), a_lease(clients[1])
    assert await paused._renew()
    await paused._put(b"", headers={"KV-Operation": "DEL"})
    assert await successor._renew()
    assert not await paused._renew()
    assert not await paused._renew()
    assert successor.held()


async def test_a_renewal_whose_answer_was_lost_does_not_cost_the_lease(
    clients: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch
):
    lease, real = a_lease(clients[0]), leases_nats.request
    assert await lease._renew()

    async def lose_the_answer(*args: object, **more: object):
        await real(*args, **more)  # type: ignore[arg-type]
        raise leases_nats.LogUnavailableError("held back by the test")

    monkeypatch.setattr(leases_nats, "request", lose_the_answer)
    assert not await lease._renew()
    monkeypatch.setattr(leases_nats, "request", real)
    assert await lease._renew()
    assert lease.held()


async def test_a_holder_whose_broker_is_silent_gives_up_in_time_and_takes_it_again_later(
    own_nats: Nats, clients: tuple[Client, Client]
):
    async with running(a_lease(clients[0])) as lease:
        await asyncio.wait_for(lease.wait_held(), 3)
        os.kill(own_nats.server.pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(LEASE_TTL_S - MARGIN_S + 0.1)
            assert not lease.held()
            await asyncio.wait_for(lease.wait_lost(), 4)
        finally:
            os.kill(own_nats.server.pid, signal.SIGCONT)
        await asyncio.wait_for(lease.wait_held(), 20)
        assert lease.held()


async def test_each_role_has_a_lease_of_its_own(own_nats: Nats):
    async with own_nats.connected("submitter") as one, own_nats.connected("watcher") as other:
        assert await a_lease(one)._renew()
        assert await a_lease(other, role="watcher")._renew()
