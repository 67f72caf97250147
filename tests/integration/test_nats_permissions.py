"""The broker itself keeps every role to its own voice, whatever the program behind it does. On the real server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import pytest
from nats import errors
from nats.aio.client import Client

from gonogo.events.base import ROLES
from gonogo.events.jetstream_wire import Plain, PubAck, ask, read_answer, request, stream_info
from gonogo.events.log import LogUnavailableError
from gonogo.services.runtime.nats_config import LEASES, USERS
from tests.conftest import Nats

WORKERS = tuple(role for role in ROLES if role != "request")
UNTRUSTED = tuple(user for user in USERS if user not in ("admin", "system"))
SILENCE_S = 0.4
T = TypeVar("T")
STREAMS = ("EVENTS", "INBOX", "SEALED", f"KV_{LEASES}")


async def stored(client: Client, subject: str) -> bool:
    """Whether a stream took it. The broker answers a forbidden publish to its sender with silence."""
    try:
        answer = await request(client, subject, b"{}", timeout_s=SILENCE_S)
    except LogUnavailableError:
        return False
    return read_answer(answer, subject, PubAck).seq > 0


async def answered(client: Client, subject: str, body: object) -> bool:
    try:
        await ask(client, subject, body, Plain, timeout_s=SILENCE_S)
    except LogUnavailableError:
        return False
    return True


async def as_each(nats: Nats, ask_as: Callable[[str, Client], Awaitable[T]]) -> list[T]:
    """What each untrusted user achieves, all of them at once."""

    async def one(user: str) -> T:
        async with nats.connected(user) as client:
            return await ask_as(user, client)

    return await asyncio.gather(*(one(user) for user in UNTRUSTED))


@pytest.mark.parametrize("user", UNTRUSTED)
async def test_a_user_speaks_as_its_own_role_and_as_no_other(nats_server: Nats, user: str) -> None:
    mine = {user} & set(WORKERS) | ({"request"} if user == "intake" else set())
    async with nats_server.connected(user) as client:
        taken = await asyncio.gather(*(stored(client, f"ev.launch.voices-{user}.{role}") for role in ROLES))
    assert {role for role, ok in zip(ROLES, taken, strict=True) if ok} == mine


async def test_only_the_command_line_speaks_for_its_client_and_for_no_other(nats_server: Nats) -> None:
    async def ask_as(user: str, client: Client) -> tuple[str, bool, bool]:
        own, others = await asyncio.gather(stored(client, "in.local.launch"), stored(client, "in.ana.approve"))
        return user, own, others

    assert await as_each(nats_server, ask_as) == [(user, user == "local", False) for user in UNTRUSTED]


@pytest.mark.parametrize("user", UNTRUSTED)
async def test_a_user_leaves_every_stream_as_it_is(nats_server: Nats, user: str) -> None:
    forbidden: list[tuple[str, object]] = [("$JS.API.STREAM.CREATE.OTHER", {"name": "OTHER", "subjects": ["other"]})]
    for stream in STREAMS:
        forbidden += [
            (f"$JS.API.STREAM.UPDATE.{stream}", {"name": stream, "max_msgs": 1}),
            (f"$JS.API.STREAM.PURGE.{stream}", {}),
            (f"$JS.API.STREAM.MSG.DELETE.{stream}", {"seq": 1}),
            (f"$JS.API.STREAM.RESTORE.{stream}", {}),
            (f"$JS.API.STREAM.DELETE.{stream}", None),
            (f"$JS.API.CONSUMER.DELETE.{stream}.intake", None),
        ]
    async with nats_server.connected(user) as client:
        done = await asyncio.gather(*(answered(client, subject, body) for subject, body in forbidden))
    assert [subject for (subject, _), ok in zip(forbidden, done, strict=True) if ok] == []


async def test_even_the_admin_cannot_take_back_what_was_said(own_nats: Nats) -> None:
    async with own_nats.connected("watcher") as watcher:
        assert await stored(watcher, "ev.launch.kept.watcher")
    async with own_nats.connected("admin") as admin:
        for subject, body in (
            ("$JS.API.STREAM.PURGE.EVENTS", {}),
            ("$JS.API.STREAM.MSG.DELETE.EVENTS", {"seq": 1}),
        ):
            answer = await ask(admin, subject, body, Plain)
            assert answer.error is not None, subject
        rollup = await request(admin, "ev.launch.kept.watcher", b"{}", headers={"Nats-Rollup": "all"})
        assert read_answer(rollup, "", PubAck).error is not None
        state = (await stream_info(admin, "EVENTS")).state
    assert state is not None
    assert state.messages == 1


@pytest.mark.parametrize("user", UNTRUSTED)
async def test_a_user_overhears_nobody(nats_server: Nats, user: str) -> None:
    async with nats_server.connected(user) as client, nats_server.connected("watcher") as speaker:
        heard: list[str] = []

        async def hear(message) -> None:
            heard.append(message.subject)

        for subject in (">", "ev.>", "in.>", "answer.>", "_INBOX_watcher.>", "$JS.API.>", "sealed.>"):
            await client.subscribe(subject, cb=hear)
        with suppress(errors.Error, TimeoutError, OSError):
            await client.flush(timeout=1)
        assert await stored(speaker, f"ev.launch.overheard-{user}.watcher")
        await asyncio.sleep(0.05)
    assert [subject for subject in heard if not subject.startswith(f"_INBOX_{user}.")] == []


@pytest.mark.parametrize(
    "into", ["in.ana.approve", f"$KV.{LEASES}.submitter", "ev.launch.forged.submitter", "sealed.x"]
)
async def test_a_reader_of_the_log_cannot_have_it_delivered_where_it_may_not_speak(own_nats: Nats, into: str) -> None:
    async with own_nats.connected("watcher") as watcher, own_nats.connected("admin") as admin:
        config = {"name": "sly", "deliver_subject": into, "ack_policy": "none", "deliver_policy": "all"}
        await ask(watcher, "$JS.API.CONSUMER.CREATE.EVENTS.sly", {"stream_name": "EVENTS", "config": config}, Plain)
        assert await stored(watcher, "ev.launch.bait.watcher")
        await asyncio.sleep(0.3)
        counts = {}
        for stream in STREAMS:
            state = (await stream_info(admin, stream)).state
            assert state is not None
            counts[stream] = state.messages
    assert counts == {"EVENTS": 1, "INBOX": 0, "SEALED": 0, f"KV_{LEASES}": 0}


async def test_a_role_holds_its_own_lease_alone(nats_server: Nats) -> None:
    async def ask_as(user: str, client: Client) -> tuple[str, set[str]]:
        taken = await asyncio.gather(*(stored(client, f"$KV.{LEASES}.{role}") for role in WORKERS))
        return user, {role for role, ok in zip(WORKERS, taken, strict=True) if ok}

    assert await as_each(nats_server, ask_as) == [(user, {user} & set(WORKERS)) for user in UNTRUSTED]


async def test_only_placeholder_seals(nats_server: Nats) -> None:
    async def ask_as(user: str, client: Client) -> tuple[str, bool, bool]:
        sealed = await stored(client, "sealed.abc")
        return user, sealed, await answered(client, "$JS.API.STREAM.MSG.GET.SEALED", {"seq": 1})

    seals = [(user, user == "placeholder", user == "placeholder") for user in UNTRUSTED]
    assert await as_each(nats_server, ask_as) == seals


async def test_only_intake_reads_the_inbox(nats_server: Nats) -> None:
    config = {"durable_name": "spy", "ack_policy": "explicit", "deliver_policy": "all"}

    async def ask_as(user: str, client: Client) -> tuple[str, bool, bool, bool]:
        made = await answered(client, "$JS.API.CONSUMER.CREATE.INBOX.spy", {"stream_name": "INBOX", "config": config})
        got = await answered(client, "$JS.API.STREAM.MSG.GET.INBOX", {"seq": 1})
        heard = await client.subscribe(inbox := client.new_inbox())
        await client.publish("$JS.API.CONSUMER.MSG.NEXT.INBOX.spy", b'{"batch":1}', reply=inbox)
        with suppress(errors.Error, TimeoutError):
            return user, made, got, (await heard.next_msg(timeout=SILENCE_S)).subject.startswith("in.")
        return user, made, got, False

    async with nats_server.connected("local") as local:
        assert await stored(local, "in.local.cancel")
    reads = [(user, user == "intake", False, user == "intake") for user in UNTRUSTED]
    assert await as_each(nats_server, ask_as) == reads


async def test_without_a_password_nobody_gets_in(nats_server: Nats) -> None:
    client = Client()
    with pytest.raises((errors.Error, OSError)):
        await client.connect(nats_server.credentials.url, allow_reconnect=False, error_cb=_quiet)
    await client.close()


async def _quiet(_: Exception) -> None:
    return
