"""`gonogo demo`: a real small training run through all six workers, a kill -9 between create and record, and the audit.

Everything is real: the broker, the processes, the job. Exit 0 only if exactly one job ran and the log explains it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gonogo.events.envelope import Entry, LogItem
from gonogo.events.jetstream import JetStreamLog
from gonogo.projections.replay import all_said, verify
from gonogo.services.cli.demo_crash import MARK
from gonogo.services.cli.output import FAILED, OK, note, print_json
from gonogo.services.cli.replay import print_launches
from gonogo.services.cli.session import fold_launch
from gonogo.services.client import connect as connect_client
from gonogo.services.runtime.clock import SystemClock, new_instance
from gonogo.services.runtime.crew import WORKERS
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.logging import configure_logging
from gonogo.services.runtime.nats_connect import connect, hang_up
from gonogo.services.runtime.nats_server import Credentials
from gonogo.services.runtime.supervise import Tree, worker_command

WITHIN_S = 50.0


def demo(arguments: argparse.Namespace) -> int:
    """Run it in a folder of its own, removed afterwards unless one was given."""
    configure_logging(level="error", form="auto")
    os.environ.setdefault("GONOGO_LOG_LEVEL", "error")  # of the workers: the demo tells its own story
    if arguments.data_dir:
        return asyncio.run(_demo(Path(arguments.data_dir).absolute(), as_json=arguments.json))
    root = Path(tempfile.mkdtemp(prefix="gonogo-demo-"))
    try:
        return asyncio.run(_demo(root, as_json=arguments.json))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def training_script() -> Path:
    """The example's training script: beside this file in an installation, in examples/ in a checkout."""
    beside = Path(__file__).with_name("demo_train.py")
    return beside if beside.exists() else Path(__file__).resolve().parents[2] / "examples/local/train.py"


async def _demo(root: Path, *, as_json: bool) -> int:
    data_dir = DataDir(root / "data")
    code = root / "code"
    code.mkdir(parents=True, exist_ok=True)
    shutil.copy(training_script(), code / "train.py")
    ordinary = worker_command(data_dir.root)

    def command(worker: str) -> Sequence[str]:
        if worker == "submitter":
            return (sys.executable, "-m", "gonogo.services.cli.demo_crash", str(data_dir.root))
        return ordinary(worker)

    ready: asyncio.Future[Credentials] = asyncio.get_running_loop().create_future()
    tree = Tree(data_dir, tuple(WORKERS), port=None, command=command)
    running = asyncio.ensure_future(tree.run(ready.set_result))
    try:
        await asyncio.wait((running, ready), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        return await _launch(data_dir, code, ready.result(), as_json=as_json)
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await running


async def _launch(data_dir: DataDir, code: Path, credentials: Credentials, *, as_json: bool) -> int:
    note("1. six workers and a broker run; a request is published")
    access = credentials.access("local")
    async with connect_client(access.url, user=access.user, password=access.password) as client:
        answer = await client.launch(_request(code))
    if answer.launch is None:
        note(f"declined: {answer.problems}")
        return FAILED
    note(f"2. accepted as launch {answer.launch}; the submitter will be killed between create and record")
    reader = await connect(credentials.access("reader"))
    clock = SystemClock()
    log = JetStreamLog(reader, reader=f"demo-{new_instance()}", monotonic=clock.monotonic, sleep=clock.sleep)
    try:
        items = await _until_told(log, answer.launch)
        return _judge(data_dir, code, answer.launch, items, as_json=as_json)
    finally:
        await hang_up(reader)


def _request(code: Path) -> dict[str, object]:
    return {
        "schema": "gonogo/v1",
        "name": "demo-train",
        "purpose": "train",
        "platform": "local",
        "code": str(code),
        "run": {"command": [sys.executable, "train.py", "--epochs", "3"]},
        "output": str(code / "output"),
        "env": {"PATH": os.environ.get("PATH", os.defpath)},
        "monitor": {"poll": "1s"},
        "notify": ["console"],
        "authorize": {"may": ["submit"], "basis": "the demo itself"},
    }


async def _until_told(log: JetStreamLog, launch: str) -> tuple[LogItem, ...]:
    """Wait for the job's end and for the notice of it."""
    items: list[LogItem] = []
    ended: str | None = None
    async with asyncio.timeout(WITHIN_S):
        async for batch in log.follow(after=0):
            items.extend(batch)
            state = await fold_launch(log, launch) if ended is None else None
            if state is not None and state.ended:
                ended = state.standing
            told = [said.event for said in all_said(items) if type(said.event).__name__ == "NotificationDelivered"]
            intended = [said.event for said in all_said(items) if type(said.event).__name__ == "NotificationIntended"]
            if ended is not None and len(told) == len(intended) >= MILESTONES:
                break
    return tuple(items)


MILESTONES = 2
"""Notices of this run at the least: that it was submitted, and how it ended."""


def _judge(data_dir: DataDir, code: Path, launch: str, items: tuple[LogItem, ...], *, as_json: bool) -> int:
    jobs = [path for path in data_dir.runs.iterdir() if (path / "birth.json").exists()]
    metrics = sorted((code / "output").glob("*.jsonl"))
    names = [type(said.event).__name__ for said in all_said(items)]
    mine = [item for item in items if isinstance(item, Entry) and item.history.id == launch]
    checks = {
        "the submitter was killed between create and record": (data_dir.root / MARK).exists(),
        "exactly one job ran": len(jobs) == 1,
        "it was intended once and found again by look-up or spool": names.count("SubmissionIntended") == 1,
        "the training wrote its metrics": bool(metrics) and metrics[0].stat().st_size > 0,
        "the job's end was recorded": "JobSucceeded" in names,
        "people were told": "NotificationDelivered" in names,
        "every invariant of the log holds": not verify(items),
    }
    if as_json:
        print_json({"launch": launch, "checks": checks, "ok": all(checks.values())})
    else:
        note("3. the audit, from the log alone:")
        print_launches(mine)
        for what, holds in checks.items():
            print(f"{'✓' if holds else '✗'} {what}")
    return OK if all(checks.values()) else FAILED
