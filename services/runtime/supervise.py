"""One process tree: the embedded server, a process per worker, the projections. What dies is started again.

A worker's successor is started only after its predecessor is known to be dead, and all of them die with this process, so in
this tree each role exists at most once and needs no lease.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import structlog

from gonogo.events.envelope import LogItem
from gonogo.events.jetstream import JetStreamLog
from gonogo.projections.store import Store
from gonogo.services.runtime.checkpoints import Checkpoints
from gonogo.services.runtime.children import die_with, wait_dead
from gonogo.services.runtime.clock import SystemClock, new_instance
from gonogo.services.runtime.crew import DRAIN_S
from gonogo.services.runtime.data_dir import DataDir, DataDirLock
from gonogo.services.runtime.nats_connect import Access, connect, hang_up
from gonogo.services.runtime.nats_server import Credentials, NatsServer
from gonogo.services.runtime.viewer import Viewer

RESTART_S = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Pauses before a worker that died is started again; the first is short, a worker that keeps dying does not spin."""
STEADY_S = 30.0

logger: structlog.stdlib.BoundLogger = structlog.get_logger()

Command = Callable[[str], Sequence[str]]
"""From a worker's name to the command line of its process."""


def worker_command(data_dir: Path) -> Command:
    """How a worker process of this tree is started."""

    def command(worker: str) -> Sequence[str]:
        return (sys.executable, "-m", "gonogo.services.cli.main", "work", worker, "--data-dir", str(data_dir))

    return command


class Tree:
    """The embedded installation of one data dir."""

    def __init__(
        self,
        data_dir: DataDir,
        workers: Sequence[str],
        *,
        port: int | None,
        command: Command | None = None,
        pauses_s: Sequence[float] = RESTART_S,
    ) -> None:
        """`command` may be replaced by whoever wants to start the workers differently, e.g. to kill them at chosen points."""
        self._pauses_s = pauses_s
        self._data_dir = data_dir
        self._workers = workers
        self._command = command or worker_command(data_dir.root)
        self._server = NatsServer(data_dir, port=port, new_password=lambda: secrets.token_urlsafe(24))
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._stopping = False

    @property
    def server(self) -> NatsServer:
        """The embedded server."""
        return self._server

    @property
    def children(self) -> dict[str, subprocess.Popen[bytes]]:
        """The worker processes by name."""
        return self._children

    async def run(self, ready: Callable[[Credentials], None]) -> None:
        """Run until cancelled. `ready` is called once, when words can be sent.

        Raises DataDirError, ServerUnfitError, LogDamagedError.
        """
        self._data_dir.prepare()
        async with AsyncExitStack() as stack:
            stack.enter_context(DataDirLock(self._data_dir))
            credentials = await self._server.start()
            stack.push_async_callback(self._server.stop)
            viewer = await self._viewer(stack, credentials)
            stack.callback(viewer.remember)
            stack.push_async_callback(self._stop_children)
            for worker in self._workers:
                self._start(worker)
            ready(credentials)
            async with asyncio.TaskGroup() as group:
                group.create_task(viewer.run())
                group.create_task(self._keep_server())
                for worker in self._workers:
                    group.create_task(self._keep(worker))

    async def _viewer(self, stack: AsyncExitStack, credentials: Credentials) -> Viewer:
        clock = SystemClock()
        client = await connect(credentials.access("reader"))
        stack.push_async_callback(hang_up, client)
        log = JetStreamLog(client, reader=f"viewer-{new_instance()}", monotonic=clock.monotonic, sleep=clock.sleep)
        checkpoints = Checkpoints(self._data_dir.checkpoints)
        await demand_same_past(log, checkpoints)
        store = Store(self._data_dir.views)
        await store.open()
        stack.push_async_callback(store.close)
        return Viewer(log, store, checkpoints)

    def _start(self, worker: str) -> None:
        process = subprocess.Popen(
            list(self._command(worker)),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with(os.getpid()),  # noqa: PLW1509 - nothing holds a lock that prctl needs
        )
        self._children[worker] = process

    async def _keep(self, worker: str) -> None:
        deaths = 0
        while True:
            process, began = self._children[worker], asyncio.get_running_loop().time()
            code = await wait_dead(process)
            if self._stopping:
                return
            deaths = 0 if asyncio.get_running_loop().time() - began > STEADY_S else deaths + 1
            pause = self._pauses_s[min(deaths, len(self._pauses_s) - 1)]
            logger.warning("worker died: starting it again", worker=worker, exit=code, pause_s=pause)
            await asyncio.sleep(pause)
            self._start(worker)

    async def _keep_server(self) -> None:
        while True:
            code = await self._server.wait_dead()
            if self._stopping:
                return
            logger.warning("nats-server died: starting it again", exit=code)
            await asyncio.sleep(self._pauses_s[0])
            await self._server.start()

    async def _stop_children(self) -> None:
        self._stopping = True
        living = [process for process in self._children.values() if process.poll() is None]
        for process in living:
            process.send_signal(signal.SIGTERM)
        for process in living:
            try:
                async with asyncio.timeout(DRAIN_S + 5):
                    await wait_dead(process)
            except TimeoutError:
                process.kill()


async def demand_same_past(log: JetStreamLog, checkpoints: Checkpoints) -> None:
    """See that the log is still the one that is remembered. Raises LogDamagedError."""
    last = checkpoints.last
    if last is None:
        return
    tail = await log.tail()
    at: LogItem | None = None
    if tail >= last.sequence:
        async for batch in log.follow(after=last.sequence - 1):
            at = batch[0]
            break
    checkpoints.demand(tail=tail, at=at)


async def sole_server(data_dir: DataDir, stack: AsyncExitStack) -> Access:
    """A server for one visit, where nobody runs one: for commands that only read."""
    data_dir.prepare()
    stack.enter_context(DataDirLock(data_dir))
    server = NatsServer(data_dir, port=None, new_password=lambda: secrets.token_urlsafe(24))
    credentials = await server.start()
    stack.push_async_callback(server.stop)
    return credentials.access("reader")
