"""From a role's name to its running worker: connections, backends, channels, lease and spool put together. Wiring only."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import structlog
from nats.aio.client import Client

from gonogo.events.base import Role
from gonogo.events.jetstream import JetStreamLog
from gonogo.events.jetstream_inbox import JetStreamInbox
from gonogo.events.log import EventLog
from gonogo.services.backends.local.backend import LocalBackend
from gonogo.services.backends.port import Backend
from gonogo.services.channels.console import Console
from gonogo.services.channels.file import File
from gonogo.services.channels.port import Channel
from gonogo.services.intake.effects import Registry
from gonogo.services.intake.worker import Intake
from gonogo.services.notifier import worker as notifier
from gonogo.services.placeholder_manager import worker as placeholder_manager
from gonogo.services.preflight import worker as preflight
from gonogo.services.runtime.author import Author
from gonogo.services.runtime.clock import SystemClock, new_instance
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.leases import AlwaysHeld, Lease
from gonogo.services.runtime.leases_nats import NatsLease
from gonogo.services.runtime.loop import Loop
from gonogo.services.runtime.nats_admin import LEASE_TTL_S
from gonogo.services.runtime.nats_config import LEASES
from gonogo.services.runtime.nats_connect import Access, NotConnectedError, connect, hang_up
from gonogo.services.runtime.secrets import secret_reader
from gonogo.services.runtime.settings import Settings
from gonogo.services.runtime.spool import FileSpool
from gonogo.services.runtime.worker import Worker
from gonogo.services.submitter import worker as submitter
from gonogo.services.watcher import worker as watcher

WORKERS: dict[str, Role] = {
    "intake": "intake",
    "preflight": "preflight",
    "placeholder_manager": "placeholder",
    "submitter": "submitter",
    "watcher": "watcher",
    "notifier": "notifier",
}
"""The six workers and the role each speaks as."""
DRAIN_S = 10.0
BEAT_S = 2.0
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TMPDIR", "SHELL")
"""What a local job inherits of the workers' environment; everything else must stand in the request."""

logger: structlog.stdlib.BoundLogger = structlog.get_logger()


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a worker needs to take up its work."""

    worker: str
    settings: Settings
    access: Access
    sole: bool
    environment: Mapping[str, str]

    @property
    def role(self) -> Role:
        """The role it speaks as."""
        return WORKERS[self.worker]

    @property
    def data_dir(self) -> DataDir:
        """Where its spool, runs and notices are."""
        return DataDir(self.settings.data_dir)


def backends_for(data_dir: DataDir, environment: Mapping[str, str]) -> dict[str, Backend]:
    """Every platform of this installation."""
    base_env = {name: environment[name] for name in INHERITED if name in environment}
    return {"local": LocalBackend(data_dir.runs, base_env=base_env)}


def channels_for(data_dir: DataDir) -> dict[str, Channel]:
    """Every channel of this installation."""
    return {"console": Console(sys.stderr), "file": File(data_dir.notices)}


async def work(post: Post, *, behind: Callable[[EventLog], EventLog] = lambda log: log) -> None:
    """Work until cancelled; then drain and hand over. `behind` may put something between the worker and its log."""
    clock, instance = SystemClock(), new_instance()
    closed = asyncio.Event()
    client = await connect(post.access, on_closed=closed.set)
    reader = f"{post.role}-{instance}"
    log = behind(JetStreamLog(client, reader=reader, monotonic=clock.monotonic, sleep=clock.sleep))
    lease: Lease = AlwaysHeld()
    shared: NatsLease | None = None
    if not post.sole:
        shared = NatsLease(client, post.role, instance=instance, clock=clock, ttl_s=LEASE_TTL_S)
        lease = shared
    runner = build(post, log=log, client=client, lease=lease, instance=instance)
    try:
        async with asyncio.TaskGroup() as group:
            if shared is not None:
                group.create_task(shared.run())
            group.create_task(_beat(client, runner, post, instance))
            group.create_task(_demand_open(closed, post))
            group.create_task(runner.run())
    except asyncio.CancelledError:
        if isinstance(runner, Loop):
            await runner.drain(within_s=DRAIN_S)
        if shared is not None:
            await shared.release()
        raise
    finally:
        with suppress(Exception):
            await hang_up(client)


def build(post: Post, *, log: EventLog, client: Client, lease: Lease, instance: str) -> Intake | Loop[Any]:
    """The runner of a worker."""
    clock = SystemClock()
    author = Author(instance=instance, clock=clock)
    backends = backends_for(post.data_dir, post.environment)
    if post.worker == "intake":
        registry = Registry(log, author=author, clock=clock)
        inbox = JetStreamInbox(client, sleep=clock.sleep)
        return Intake(inbox, registry, backends, lease=lease, approvers=post.settings.approvers)
    spool = FileSpool(post.data_dir.spool(post.role))
    worker = _worker(post, backends, log, clock)
    return Loop(worker, log=log, clock=clock, lease=lease, spool=spool, author=author)


def _worker(post: Post, backends: Mapping[str, Backend], log: EventLog, clock: SystemClock) -> Worker[Any]:
    match post.worker:
        case "preflight":
            return preflight.build(backends, post.environment)
        case "placeholder_manager":
            return placeholder_manager.build()
        case "submitter":
            return submitter.build(backends, secret_reader(post.environment))
        case "watcher":
            return watcher.build(backends, clock)
        case "notifier":
            channels = channels_for(post.data_dir)
            voice = Author(instance=new_instance(), clock=clock)
            return notifier.build(channels, log=log, author=voice, clock=clock)
        case _:
            message = f"there is no worker {post.worker!r}; there are: {', '.join(WORKERS)}"
            raise ValueError(message)


async def _demand_open(closed: asyncio.Event, post: Post) -> None:
    """A connection that was closed for good never comes back, so this process ends and its successor connects anew."""
    await closed.wait()
    message = f"the broker at {post.access.shown} closed the connection of {post.worker} for good"
    raise NotConnectedError(message)


async def _beat(client: Client, runner: Intake | Loop[Any], post: Post, instance: str) -> None:
    """Say every two seconds that this process is alive, how far it has read, and what it has parked."""
    subject = f"$KV.{LEASES}.beat.{post.role}.{instance}"
    while True:
        beat = {"worker": post.worker, "pid": os.getpid()}
        if isinstance(runner, Loop):
            beat |= {"position": runner.position, "parked": {str(h): why for h, why in runner.parked.items()}}
        with suppress(Exception):
            await client.publish(subject, msgspec.json.encode(beat))
        await asyncio.sleep(BEAT_S)


async def work_until_signalled(post: Post, *, behind: Callable[[EventLog], EventLog] = lambda log: log) -> None:
    """Work until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work(post, behind=behind))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task
