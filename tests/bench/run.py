"""Speed as ratios within one run, against a named peer or limit. Also written to build/bench.json.

Machines are shared and noisy: nothing here is an assertion, and every figure stands beside the one it is compared with.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from gonogo.events.envelope import Entry
from gonogo.events.ids import History
from gonogo.events.jetstream import JetStreamLog
from gonogo.events.jetstream_inbox import JetStreamInbox
from gonogo.events.jetstream_pull import PullConsumer
from gonogo.events.placeholder import QueueCleared
from gonogo.projections.launches import INITIAL, evolve
from gonogo.services.backends.scripted import Script, ScriptedBackend
from gonogo.services.client import Client
from gonogo.services.intake.effects import Registry
from gonogo.services.intake.worker import Intake
from gonogo.services.notifier import worker as notifier
from gonogo.services.placeholder_manager import worker as placeholder_manager
from gonogo.services.preflight import worker as preflight
from gonogo.services.runtime.author import Author
from gonogo.services.runtime.clock import SystemClock, new_instance
from gonogo.services.runtime.crew import WORKERS, backends_for
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.leases import AlwaysHeld
from gonogo.services.runtime.logging import configure_logging
from gonogo.services.runtime.loop import Loop
from gonogo.services.runtime.nats_connect import connect
from gonogo.services.runtime.secrets import secret_reader
from gonogo.services.runtime.spool import FileSpool
from gonogo.services.runtime.supervise import Tree
from gonogo.services.submitter import worker as submitter
from gonogo.services.watcher import worker as watcher

ROOT = Path(__file__).resolve().parents[2]
APPENDS = 600
ACCEPTED = 600
SCRIPTED = 300
LOCAL = 40
CLOCK = SystemClock()
FROM_THE_START = {
    "deliver_policy": "all",
    "ack_policy": "none",
    "replay_policy": "instant",
    "mem_storage": True,
    "num_replicas": 1,
}


async def broker(root: Path, stack: contextlib.AsyncExitStack):
    ready: asyncio.Future = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(Tree(DataDir(root), (), port=None).run(ready.set_result))

    async def end() -> None:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    stack.push_async_callback(end)
    return await ready


async def voice(credentials, role: str, stack: contextlib.AsyncExitStack):
    client = await connect(credentials.access(role))
    stack.push_async_callback(client.close)
    log = JetStreamLog(client, reader=f"{role}-{new_instance()}", monotonic=CLOCK.monotonic, sleep=CLOCK.sleep)
    return client, log


async def bare_appends(credentials, stack) -> float:
    """The limit: conditional appends alone, synced always."""
    _, log = await voice(credentials, "placeholder", stack)
    author = Author(instance=new_instance(), clock=CLOCK)
    began = time.perf_counter()
    for number in range(APPENDS):
        event = QueueCleared(queue=None, queue_version=0, plan_digest="x" * 71)
        history = History("launch", f"bare{number}")
        await log.append(author.utter(history, "placeholder", (event,), trigger="woken", caused_by="x"), expected=0)
    return APPENDS / (time.perf_counter() - began)


def document(number: int, platform_name: str, folder: Path, command: list[str]) -> dict:
    return {
        "schema": "gonogo/v1",
        "name": "bench",
        "purpose": "train" if platform_name == "local" else "smoke",
        "platform": platform_name,
        "code": str(folder),
        "run": {"command": command},
        "key": f"{platform_name}-{number}",
        "output": str(folder / f"out-{number}") if platform_name == "local" else None,
        "monitor": {"poll": "1s"},
        "notify": [],
        "authorize": {"may": ["submit"], "basis": "bench"},
    }


async def launches(
    credentials, root: Path, stack, *, platform_name: str, number: int, full: bool
) -> tuple[float, float]:
    """(accepted per second, ended per second) with all workers in this process."""
    quick = ScriptedBackend(CLOCK, script=lambda _name: Script(start_s=0.0, run_s=0.0))
    backends = {"scripted": quick, **backends_for(DataDir(root), os.environ)}
    tasks = []
    client, log = await voice(credentials, "intake", stack)
    registry = Registry(log, author=Author(instance=new_instance(), clock=CLOCK), clock=CLOCK)
    intake = Intake(JetStreamInbox(client, sleep=CLOCK.sleep), registry, backends, lease=AlwaysHeld(), approvers=("*",))
    tasks.append(asyncio.ensure_future(intake.run()))
    for name, role in WORKERS.items() if full else ():
        if name != "intake":
            tasks.append(asyncio.ensure_future((await _loop(name, role, backends, credentials, root, stack)).run()))
    reader, follower = await voice(credentials, "reader", stack)
    connection = await connect(credentials.access("local"))
    stack.push_async_callback(connection.close)
    person = Client(connection, "local")
    await person.listen()
    start = await follower.tail()
    documents = [
        {k: v for k, v in document(n, platform_name, root, ["true"]).items() if v is not None} for n in range(number)
    ]
    began = time.perf_counter()
    room = asyncio.Semaphore(64)

    async def one(request: dict) -> None:
        async with room:
            answer = await person.launch(request, timeout_s=120)
            assert answer.ok, answer

    await asyncio.gather(*(one(request) for request in documents))
    accepted = number / (time.perf_counter() - began)
    if full:
        await _until_ended(follower, start, number)
    ended = number / (time.perf_counter() - began)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    _ = reader
    return accepted, ended


async def _loop(name, role, backends, credentials, root, stack) -> Loop:
    _, log = await voice(credentials, role, stack)
    author = Author(instance=new_instance(), clock=CLOCK)
    workers: dict[str, Callable] = {
        "preflight": lambda: preflight.build(backends, os.environ),
        "placeholder_manager": placeholder_manager.build,
        "submitter": lambda: submitter.build(backends, secret_reader({})),
        "watcher": lambda: watcher.build(backends, CLOCK),
        "notifier": lambda: notifier.build(
            {}, log=log, author=Author(instance=new_instance(), clock=CLOCK), clock=CLOCK
        ),
    }
    spool = FileSpool(root / "spool" / role)
    return Loop(workers[name](), log=log, clock=CLOCK, lease=AlwaysHeld(), spool=spool, author=author)


async def _until_ended(log: JetStreamLog, start: int, number: int) -> None:
    views, ended = {}, set()
    async for batch in log.follow(after=start):
        for item in batch:
            if isinstance(item, Entry) and item.history.kind == "launch":
                state = views.get(item.history.id, INITIAL)
                for said in item.said:
                    state = evolve(state, said)
                views[item.history.id] = state
                if state.ended:
                    ended.add(item.history.id)
        if len(ended) >= number:
            return


async def replay_rates(credentials, stack) -> tuple[float, float, int]:
    """(bare read and JSON decode, read with typed decode and fold), events per second."""
    client, log = await voice(credentials, "reader", stack)
    tail = await log.tail()

    async def bare() -> int:
        events = last = 0
        decoder = msgspec.json.Decoder(list[dict])
        async for batch in PullConsumer(client, "EVENTS", f"bench-{new_instance()}", FROM_THE_START).batches():
            for message in batch:
                events += len(decoder.decode(message.data))
                last = message.sequence
            if last >= tail:
                return events
        return events

    async def folded() -> int:
        events, views = 0, {}
        async for batch in log.follow(after=0):
            for item in batch:
                events += len(item.said)
                if item.history.kind == "launch":
                    state = views.get(item.history.id, INITIAL)
                    for said in item.said:
                        state = evolve(state, said)
                    views[item.history.id] = state
            if batch[-1].sequence >= tail:
                return events
        return events

    rates: dict[str, list[float]] = {"bare": [], "folded": []}
    events = 0
    for _ in range(5):
        for name, read in (("bare", bare), ("folded", folded)):
            began = time.perf_counter()
            events = await read()
            rates[name].append(events / (time.perf_counter() - began))
    return sorted(rates["bare"])[2], sorted(rates["folded"])[2], events


def submitit_rate(root: Path, number: int) -> float | None:
    """The peer: submitit's local executor, jobs per second from submission to result."""
    try:
        import submitit
    except ImportError:
        return None
    executor = submitit.LocalExecutor(folder=root / "submitit")
    executor.update_parameters(timeout_min=5)
    began = time.perf_counter()
    jobs = [executor.submit(os.getpid) for _ in range(number)]
    for job in jobs:
        job.result()
    return number / (time.perf_counter() - began)


def cold(*command: str, times: int = 7) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        taken.append(time.perf_counter() - began)
    return sorted(taken)[times // 2]


def install(root: Path) -> tuple[float, float]:
    """(seconds, MB) of wheel and dependencies into a fresh environment, from the local cache where there is one."""
    uv = shutil.which("uv") or str(ROOT / ".venv/tools/bin/uv")
    subprocess.run([uv, "build", "--no-config", "-q", "--wheel", "-o", root / "dist", ROOT], check=True)
    (wheel,) = (root / "dist").glob("*.whl")
    subprocess.run([uv, "venv", "--no-config", "-q", "-p", sys.executable, root / "venv"], check=True)
    began = time.perf_counter()
    python = root / "venv/bin/python"
    subprocess.run([uv, "pip", "install", "--no-config", "-q", "-p", python, wheel], check=True)
    seconds = time.perf_counter() - began
    size = sum(
        path.stat().st_size for path in (root / "venv/lib").rglob("*") if path.is_file() and not path.is_symlink()
    )
    size += (root / "venv/bin/nats-server").stat().st_size
    return seconds, size / 1e6


async def measure(root: Path) -> dict[str, object]:
    async with contextlib.AsyncExitStack() as stack:
        credentials = await broker(root / "data", stack)
        limit = await bare_appends(credentials, stack)
        accepted, _ = await launches(credentials, root, stack, platform_name="scripted", number=ACCEPTED, full=False)
    async with contextlib.AsyncExitStack() as stack:
        credentials = await broker(root / "data2", stack)
        _, scripted = await launches(credentials, root, stack, platform_name="scripted", number=SCRIPTED, full=True)
        bare, folded, events = await replay_rates(credentials, stack)
    async with contextlib.AsyncExitStack() as stack:
        credentials = await broker(root / "data3", stack)
        _, local = await launches(credentials, root, stack, platform_name="local", number=LOCAL, full=True)
    return {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "bare_conditional_appends_per_s": limit,
        "accepted_launches_per_s": accepted,
        "accepted_to_bare_appends": accepted / limit,
        "scripted_launches_per_s": scripted,
        "local_launches_per_s": local,
        "bare_read_and_decode_events_per_s": bare,
        "replay_events_per_s": folded,
        "replay_to_bare_read": folded / bare,
        "replayed_events": events,
    }


def main() -> int:
    configure_logging(level="error", form="json")
    root = Path(tempfile.mkdtemp(prefix="gonogo-bench-"))
    try:
        found = asyncio.run(measure(root))
        peer = submitit_rate(root, LOCAL)
        found["submitit_local_jobs_per_s"] = peer
        if peer:
            found["local_to_submitit"] = float(found["local_launches_per_s"]) / peer
            found["scripted_to_submitit"] = float(found["scripted_launches_per_s"]) / peer
        gonogo = str(Path(sys.executable).with_name("gonogo"))
        found["cold_python_s"] = cold(sys.executable, "-c", "pass")
        found["cold_help_s"] = cold(gonogo, "--help")
        found["cold_list_s"] = cold(gonogo, "list", "--data-dir", str(root / "data2"))
        found["install_s"], found["install_mb"] = install(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    out = ROOT / "build/bench.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(found, indent=2) + "\n")
    for name, value in found.items():
        print(f"{name:<36} {value:.3g}" if isinstance(value, float) else f"{name:<36} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
