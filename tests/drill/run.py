"""The drill: real processes, a real broker, real jobs; every launch has one process killed at its own named point.

`python -m tests.drill.run`; EACH (kills at each point) from the environment. Each worker is one lane: its next launch is
published when the kill of the one before has happened, so that a kill meets its own launch; lanes run side by side.

A loss is a launch without a verdict, or with one that contradicts the platform's own records. The last line counts
everything; exit 1 if anything is doubled, lost, in doubt or too easy.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from gonogo.events.envelope import Entry
from gonogo.events.ids import launch_id
from gonogo.events.jetstream import JetStreamLog
from gonogo.events.log import LogUnavailableError
from gonogo.projections.launches import INITIAL, Launch, evolve
from gonogo.projections.replay import verify
from gonogo.services.backends.local.run_dir import RunDir
from gonogo.services.client import Client, UnansweredError
from gonogo.services.runtime.clock import SystemClock
from gonogo.services.runtime.crew import WORKERS
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.logging import configure_logging
from gonogo.services.runtime.nats_connect import connect
from gonogo.services.runtime.supervise import Tree
from tests.drill.points import POINTS, Point
from tests.drill.worker import STOPPED_S

KILLS_MIN = 300
EACH_MIN = 20
TRIES_MAX = 3
"""A launch can end at another's kill before it reaches its own point; then another one is sent, this many times as many."""
WITHIN_S = 1500.0
SETTLED = {"absent": "absent", "withheld": "withheld"}


class Drill:
    def __init__(self, root: Path, each: int) -> None:
        self.root = root
        self.each = each
        self.data_dir = DataDir(root / "data")
        self.points: dict[str, Point] = {}
        self.views: dict[str, Launch] = {}
        self.items: list = []
        self.settled: dict[str, asyncio.Event] = {}

    async def run(self) -> None:
        for folder in ("plan", "done", "counts", "out"):
            (self.root / folder).mkdir(parents=True)
        here = str(Path(__file__).resolve().parents[2])
        os.environ["PYTHONPATH"] = os.pathsep.join((f"{here}/.dev", here))

        def command(worker: str):
            return (sys.executable, "-m", "tests.drill.worker", str(self.root), worker)

        tree = Tree(self.data_dir, tuple(WORKERS), port=None, command=command, pauses_s=(0.05,))
        ready: asyncio.Future = asyncio.get_running_loop().create_future()
        running = asyncio.ensure_future(tree.run(ready.set_result))
        await asyncio.wait((running, ready), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        helpers = [asyncio.ensure_future(self._raise_the_stopped(tree)), asyncio.ensure_future(self._note_server(tree))]
        try:
            async with asyncio.timeout(WITHIN_S):
                await self._fly(ready.result())
        except TimeoutError:
            print(f"not everything settled within {WITHIN_S:g} s")
        finally:
            for task in (*helpers, running):
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task

    async def _fly(self, credentials) -> None:
        reader = await connect(credentials.access("reader"))
        clock = SystemClock()
        log = JetStreamLog(reader, reader="drill", monotonic=clock.monotonic, sleep=clock.sleep)
        follower = asyncio.ensure_future(self._follow(log))
        connection = await connect(credentials.access("local"))
        client = Client(connection, "local")
        await client.listen()
        try:
            progress = asyncio.ensure_future(self._tell())
            lanes = {point.worker: [p for p in POINTS if p.worker == point.worker] for point in POINTS}
            await asyncio.gather(*(self._lane(client, points) for points in lanes.values()))
            await asyncio.gather(*(event.wait() for event in self.settled.values()))
            await asyncio.sleep(2)
        finally:
            progress.cancel()
            follower.cancel()
            await connection.close()
            await reader.close()

    async def _tell(self) -> None:
        while True:
            await asyncio.sleep(20)
            killed = sum(map(self.was_killed, self.points))
            open_ = [
                f"{k[:6]} {self.views.get(k, INITIAL).standing}" for k, v in self.settled.items() if not v.is_set()
            ]
            print(f"{len(self.points)} launches, {killed} killed, open: {open_[:8]}", flush=True)

    async def _lane(self, client: Client, points: list[Point]) -> None:
        for round_ in range(self.each * TRIES_MAX):
            for point in points:
                if self.kills_at(point) < self.each:
                    await self._launch(client, f"{point.name}-{round_}", point)

    async def _launch(self, client: Client, key: str, point: Point) -> None:
        launch = launch_id("local", key)
        self.points[launch] = point
        self.settled[launch] = asyncio.Event()
        (self.root / "plan" / launch).write_text(str(POINTS.index(point)))
        while True:
            try:
                answer = await client.launch(self._request(key, launch), timeout_s=8)
            except UnansweredError:
                await asyncio.sleep(0.3)
                continue
            assert answer.launch == launch, answer
            break
        while not self.settled[launch].is_set() and (not self.was_killed(launch) or self._is_exposed(launch)):
            await asyncio.sleep(0.05)

    def _is_exposed(self, launch: str) -> bool:
        """Whether the next launch's kill could still change what becomes of this one."""
        return self.views.get(launch, INITIAL).standing in ("checking", "go", "cleared", "submitting")

    def was_killed(self, launch: str) -> bool:
        return (self.root / "done" / launch).exists()

    def kills_at(self, point: Point) -> int:
        return sum(self.was_killed(launch) for launch, at in self.points.items() if at == point)

    def _request(self, key: str, launch: str) -> dict:
        count = self.root / "counts" / launch
        return {
            "schema": "gonogo/v1",
            "name": "drill",
            "purpose": "train",
            "platform": "local",
            "code": str(self.root),
            "run": {"command": ["sh", "-c", f"echo run >> {count}; sleep 0.2"]},
            "output": str(self.root / "out" / launch),
            "key": key,
            "monitor": {"poll": "1s"},
            "notify": ["file"],
            "authorize": {"may": ["submit"], "basis": "drill"},
        }

    async def _follow(self, log: JetStreamLog) -> None:
        position = 0
        while True:
            try:
                async for batch in log.follow(after=position):
                    position = batch[-1].sequence
                    self.items.extend(batch)
                    for item in batch:
                        self._fold(item)
            except LogUnavailableError:
                await asyncio.sleep(0.2)

    def _fold(self, item) -> None:
        if not isinstance(item, Entry) or item.history.kind != "launch":
            return
        view = self.views.get(item.history.id, INITIAL)
        for said in item.said:
            view = evolve(view, said)
        self.views[item.history.id] = view
        if view.ended and item.history.id in self.settled:
            self.settled[item.history.id].set()

    async def _raise_the_stopped(self, tree: Tree) -> None:
        """A process that was stopped goes on after a while that is shorter than the grace."""
        while True:
            await asyncio.sleep(0.1)
            for process in list(tree.children.values()):
                with suppress(OSError, IndexError):
                    state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
                    if state == "T":
                        await asyncio.sleep(STOPPED_S)
                        os.kill(process.pid, signal.SIGCONT)

    async def _note_server(self, tree: Tree) -> None:
        while True:
            with suppress(AssertionError, AttributeError):
                (self.root / "server.pid").write_text(str(tree.server.pid))
            await asyncio.sleep(0.1)

    def verdict(self, launch: str) -> str:
        view = self.views.get(launch, INITIAL)
        if view.standing in SETTLED:
            return SETTLED[view.standing]
        return "job" if view.job is not None and view.ended else "in-doubt"

    def runs(self, launch: str) -> int:
        path = self.root / "counts" / launch
        return len(path.read_text().splitlines()) if path.exists() else 0

    def has_job(self, launch: str) -> bool:
        return RunDir(self.data_dir.runs / f"drill-{launch}").job() is not None


def judge(drill: Drill) -> int:
    verdicts, kills, wrong = Counter(), Counter(), []
    doubles = losses = 0
    for launch, point in drill.points.items():
        verdict = drill.verdict(launch)
        verdicts[verdict] += 1
        killed = drill.was_killed(launch)
        kills[point] += killed
        doubles += drill.runs(launch) > 1
        contradicts = (verdict == "job") != drill.has_job(launch)
        if verdict == "in-doubt" or contradicts:
            losses += contradicts
            wrong.append(f"{launch} at {point.name}: {verdict}, job there: {drill.has_job(launch)}")
        elif killed and verdict not in point.expected:
            losses += 1
            wrong.append(f"{launch} at {point.name}: {verdict}, expected {sorted(point.expected)}")
    broken = verify(drill.items)
    _print_points(drill, kills)
    for line in (*wrong, *(f"{v.invariant} at {v.sequence}: {v.what}" for v in broken)):
        print(line)
    total = sum(kills.values())
    easy = drill.each >= EACH_MIN and (total < KILLS_MIN or min(kills[p] for p in POINTS) < EACH_MIN)
    if easy:
        print(f"too easy: {total} kills, the least at one point {min(kills[p] for p in POINTS)}")
    print(
        f"launches={len(drill.points)} kills={total} jobs={verdicts['job']} absent={verdicts['absent']} "
        f"withheld={verdicts['withheld']} in_doubt={verdicts['in-doubt']} doubles={doubles} losses={losses}"
    )
    return 1 if wrong or broken or doubles or losses or easy else 0


def _print_points(drill: Drill, kills: Counter[Point]) -> None:
    for point in POINTS:
        met = Counter(drill.verdict(launch) for launch, at in drill.points.items() if at == point)
        print(f"{point.name:<52} killed {kills[point]:>3}   {dict(met)}   right: {sorted(point.expected)}")


def main() -> int:
    configure_logging(level="error", form="json")
    each = int(os.environ.get("EACH") or EACH_MIN)
    root = Path(tempfile.mkdtemp(prefix="gonogo-drill-"))
    began = time.monotonic()
    drill_holder: list[Drill] = []

    async def fly() -> None:
        drill = Drill(root, each)
        drill_holder.append(drill)
        await drill.run()

    try:
        asyncio.run(fly())
        print(f"{time.monotonic() - began:.0f} s")
        return judge(drill_holder[0])
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
