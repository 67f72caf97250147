"""Streams are made once and never changed; what is weaker than needed, damaged or missing is refused by name."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Any

import pytest

from gonogo.events.jetstream_wire import Plain, ask, request, stream_info
from gonogo.services.runtime import nats_admin
from gonogo.services.runtime.nats_admin import (
    EVENTS_MAX,
    ServerUnfitError,
    demand_version,
    prepare,
    streams_of,
    verify,
    weaknesses,
)
from gonogo.services.runtime.nats_config import USERS
from gonogo.services.runtime.nats_server import NatsServer
from tests.conftest import Nats

STREAMS = ("EVENTS", "SEALED", "INBOX", "KV_LEASES")


async def configs(nats: Nats) -> dict[str, dict[str, Any]]:
    async with nats.connected("admin") as admin:
        return {name: (await stream_info(admin, name)).config for name in STREAMS}


async def test_every_stream_is_as_it_must_be_and_making_them_again_changes_nothing(nats_server: Nats) -> None:
    before = await configs(nats_server)
    for name, wanted in streams_of(EVENTS_MAX).items():
        assert weaknesses(name, wanted, before[name]) == []
        assert before[name]["max_bytes"] > 0, name
        assert (before[name]["storage"], before[name]["discard"]) == ("file", "new"), name
    async with nats_server.connected("admin") as admin:
        await prepare(admin)
    assert await configs(nats_server) == before


@pytest.mark.parametrize("user", [user for user in USERS if user != "system"])
async def test_every_user_can_see_that_the_streams_are_fit(nats_server: Nats, user: str) -> None:
    async with nats_server.connected(user) as client:
        await verify(client, inbox=True)


async def test_a_user_who_may_not_make_streams_is_told_so(own_nats: Nats, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nats_admin, "MAKE_WITHIN_S", 0.3)
    async with own_nats.connected("admin") as admin:
        await ask(admin, "$JS.API.STREAM.DELETE.SEALED", None, Plain)
    async with own_nats.connected("watcher") as watcher:
        with pytest.raises(ServerUnfitError, match="no stream SEALED .*gonogo streams --nats URL"):
            await verify(watcher, inbox=True)
        with pytest.raises(ServerUnfitError, match="making the stream SEALED .*: may this user make streams"):
            await prepare(watcher)


async def test_a_stream_that_was_weakened_is_refused_and_not_mended_silently(own_nats: Nats) -> None:
    async with own_nats.connected("admin") as admin:
        config = (await stream_info(admin, "EVENTS")).config
        answer = await ask(admin, "$JS.API.STREAM.UPDATE.EVENTS", {**config, "max_msgs": 1000}, Plain)
        assert answer.error is None
        for look in (partial(verify, inbox=True), prepare):
            with pytest.raises(ServerUnfitError, match=r"EVENTS is not fit: old messages are dropped .*\(max_msgs\)"):
                await look(admin)
    await own_nats.server.stop()
    again = NatsServer(own_nats.data_dir, port=None, new_password=secrets.token_hex)
    with pytest.raises(ServerUnfitError, match="EVENTS is not fit"):
        await again.start()


async def test_a_log_that_can_no_longer_be_loaded_is_damaged_not_new(own_nats: Nats) -> None:
    async with own_nats.connected("watcher") as watcher:
        await request(watcher, "ev.launch.a.watcher", b"{}")
    await own_nats.server.stop()
    stream = own_nats.data_dir.store / "jetstream" / "LAUNCH" / "streams" / "EVENTS"
    (stream / "meta.inf").write_bytes(b"broken")
    blocks = {path.name: path.read_bytes() for path in (stream / "msgs").glob("*.blk")}
    again = NatsServer(own_nats.data_dir, port=None, new_password=secrets.token_hex)
    with pytest.raises(
        ServerUnfitError, match="EVENTS is on the disk, but the server could not load it .* from its backup"
    ):
        await again.start()
    assert {path.name: path.read_bytes() for path in (stream / "msgs").glob("*.blk")} == blocks


@pytest.mark.parametrize("version", [(2, 11, 9), (1, 99, 0)])
def test_an_older_server_is_refused(version: tuple[int, int, int]) -> None:
    told = r"\.".join(map(str, version))
    with pytest.raises(ServerUnfitError, match=rf"the broker is nats-server {told}; 2\.12 or newer is needed"):
        demand_version(version, "the broker")


@pytest.mark.parametrize("version", [(2, 12, 0), (2, 15, 1), (3, 0, 0)])
def test_a_newer_server_is_taken(version: tuple[int, int, int]) -> None:
    demand_version(version, "the broker")


@pytest.mark.parametrize(
    ("stream", "change", "told"),
    [
        ("EVENTS", {"subjects": ["ev.>", "x"]}, "subjects"),
        ("EVENTS", {"retention": "interest"}, "retention"),
        ("EVENTS", {"storage": "memory"}, "storage"),
        ("EVENTS", {"discard": "old"}, "discard"),
        ("EVENTS", {"deny_delete": False}, "deny_delete"),
        ("EVENTS", {"deny_purge": None}, "deny_purge"),
        ("EVENTS", {"max_msg_size": 1024}, "max_msg_size"),
        ("EVENTS", {"duplicate_window": 1}, "duplicate_window"),
        ("EVENTS", {"max_age": 1}, "expire"),
        ("EVENTS", {"max_msgs": 5}, "max_msgs"),
        ("EVENTS", {"max_msgs_per_subject": 1}, "max_msgs_per_subject"),
        ("EVENTS", {"allow_msg_ttl": True}, "allow_msg_ttl"),
        ("EVENTS", {"allow_rollup_hdrs": True}, "allow_rollup_hdrs"),
        ("EVENTS", {"subject_transform": {"src": "ev.>", "dest": "x.>"}}, "conditional appends then always pass"),
        ("EVENTS", {"republish": {"src": "ev.>", "dest": "in.ana.>"}}, "republish"),
        ("EVENTS", {"mirror": {"name": "OTHER"}}, "mirror"),
        ("EVENTS", {"sources": [{"name": "OTHER"}]}, "sources"),
        ("EVENTS", {"persist_mode": "async"}, "confirms before it stores"),
        ("INBOX", {"persist_mode": "async"}, "confirms before it stores"),
        ("INBOX", {"retention": "limits"}, "retention"),
        ("SEALED", {"deny_purge": False}, "deny_purge"),
        ("SEALED", {"max_age": 1}, "expire"),
        ("KV_LEASES", {"max_age": 1}, "expire too early"),
    ],
)
def test_whatever_keeps_less_is_named(stream: str, change: dict[str, Any], told: str) -> None:
    wanted = streams_of(EVENTS_MAX)[stream]
    (weakness,) = weaknesses(stream, wanted, {**wanted, **change})
    assert told in weakness


@pytest.mark.parametrize(
    ("stream", "change"),
    [
        ("EVENTS", {"num_replicas": 3}),
        ("EVENTS", {"max_bytes": 2**40}),
        ("EVENTS", {"max_msg_size": -1}),
        ("EVENTS", {"duplicate_window": 10**15, "max_msgs": -1, "max_msgs_per_subject": -1, "sealed": False}),
        ("EVENTS", {"allow_direct": False, "compression": "s2"}),
        ("INBOX", {"max_age": 10**15}),
        ("KV_LEASES", {"max_age": 0}),
    ],
)
def test_whatever_keeps_as_much_or_more_is_taken(stream: str, change: dict[str, Any]) -> None:
    wanted = streams_of(EVENTS_MAX)[stream]
    assert weaknesses(stream, wanted, {**wanted, **change}) == []


@pytest.mark.parametrize("room", [64 * 1024**2, EVENTS_MAX])
def test_all_streams_together_fit_into_twice_the_room_of_the_log(room: int) -> None:
    assert sum(stream["max_bytes"] for stream in streams_of(room).values()) < 2 * room
