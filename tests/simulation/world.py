"""One simulated world: clients and people, all six workers, one log, one lying platform, one seed."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from gonogo.events.envelope import Entry
from gonogo.events.memory import MemoryLog
from gonogo.events.memory_inbox import MemoryInbox
from gonogo.projections.launches import INITIAL, Launch, evolve
from gonogo.services.backends.scripted import Journal, Script, ScriptedBackend
from gonogo.services.intake.effects import Registry
from gonogo.services.intake.worker import Intake
from gonogo.services.notifier import worker as notifier
from gonogo.services.placeholder_manager import worker as placeholder_manager
from gonogo.services.preflight import worker as preflight
from gonogo.services.runtime.loop import Loop
from gonogo.services.runtime.secrets import secret_reader
from gonogo.services.submitter import worker as submitter
from gonogo.services.watcher import worker as watcher
from tests.simulation.faults import Faults
from tests.simulation.invariants import Judge
from tests.simulation.processes import LEASE_S, LyingBackend, LyingChannel, LyingLog, Process
from tests.simulation.virtual_time import VirtualClock

FAULTS_UNTIL = 240.0
SLOW_REVIEW_S = 900.0
HORIZON = 26 * 3600.0
CLIENTS = ("ana", "bo")
CANARY = "hf_" + "canary" * 6


@dataclass
class Outcome:
    """What one world showed."""

    seed: int
    launches: int
    with_job: int
    violations: list[str]
    events: Counter[str]
    pairs: Counter[tuple[str, str]]
    standings: Counter[str]
    trace: tuple[tuple[str, bytes], ...]


@dataclass
class World:
    """Built from a seed; `run` plays it to the end."""

    seed: int
    launches: int = 25
    intensity: float | None = None
    long_pauses: bool | None = None
    build_submitter: Callable = submitter.build
    loop_class: type = Loop
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        if self.intensity is None:
            self.intensity = 0.0 if self.seed % 10 == 0 else self.rng.choice((0.03, 0.08, 0.15))
        if self.long_pauses is None:
            self.long_pauses = self.rng.random() < 0.35
        if self.seed % 6 == 1:
            self.launches = 2  # so few that a look-up often has no positive control

    async def run(self) -> Outcome:
        self.clock = VirtualClock()
        self.log = MemoryLog(self.clock)
        self.inbox = MemoryInbox(self.clock)
        self.faults = Faults(random.Random(self.seed ^ 0xFA17), self.intensity)
        self.journal = Journal(creates=[], jobs=[], stops=[])
        self.shown: dict[str, int] = {}
        self.judge = Judge(self.log, self.journal, self.shown, strict_absence=not self.long_pauses)
        self.views: dict[str, Launch] = {}
        self.folded = 0
        self.outage = None
        if self.intensity and self.rng.random() < 0.4:
            begin = self.rng.uniform(20, 150)
            self.outage = (begin, begin + self.rng.uniform(30, 300))
        self.scripts = random.Random(self.seed ^ 0x5C1)
        processes = self._processes()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(process.live()) for process in processes]
            tasks.append(group.create_task(self._leases(processes)))
            tasks.append(group.create_task(self._clients()))
            tasks.append(group.create_task(self._people()))
            tasks.append(group.create_task(self.judge.watch()))
            await asyncio.sleep(FAULTS_UNTIL)
            self.faults.active = False
            await self._settle()
            for task in tasks:
                task.cancel()
        return self._outcome()

    async def _settle(self) -> None:
        while asyncio.get_running_loop().time() < HORIZON:
            await asyncio.sleep(600)
            if self._quiet():
                break
        # the names of jobless launches stay on watch for a day: a late copy must be said to be a conflict
        if self.long_pauses:
            await asyncio.sleep(25 * 3600)

    def _quiet(self) -> bool:
        self._fold()
        return bool(self.views) and all(view.ended for view in self.views.values())

    def _fold(self) -> None:
        for item in self.log.items[self.folded :]:
            if isinstance(item, Entry) and item.history.kind == "launch":
                for said in item.said:
                    self.views[item.history.id] = evolve(self.views.get(item.history.id, INITIAL), said)
        self.folded = len(self.log.items)

    def _backend(self, process: Process) -> LyingBackend:
        backend = ScriptedBackend(self.clock, fault=self._platform_fault, script=self._script, journal=self.journal)
        return LyingBackend(backend, process.seam)

    def _platform_fault(self, call: str, name: str) -> str | None:
        if self.outage and call != "create" and self.outage[0] <= self.clock.monotonic() < self.outage[1]:
            self.faults.counts[f"platform.{call}", "error"] += 1
            return "error"
        fault = self.faults.of_platform(call, name)
        if fault in ("late-create", "lose-request") and self.long_pauses:
            return "very-late-create"  # after the grace: no wait excludes it, so it must end as a visible conflict
        return fault

    def _script(self, name: str) -> Script:
        rng = random.Random(f"{self.seed}{name}")
        end = rng.choices(("SUCCEEDED", "FAILED", "STOPPED"), (8, 1, 1))[0]
        return Script(start_s=rng.uniform(0, 10), run_s=rng.uniform(0.5, 120), end=end)

    def _processes(self) -> list[Process]:
        def loop(process: Process, worker, log) -> object:
            return self.loop_class(
                worker, log=log, clock=self.clock, lease=process.lease, spool=process.spool, author=process.author()
            )

        def make_intake(process: Process) -> object:
            log = LyingLog(self.log, process.seam)
            registry = Registry(log, author=process.author(), clock=self.clock)
            backends = {"scripted": self._backend(process)}
            return Intake(self.inbox, registry, backends, lease=process.lease, approvers=("*",))

        def make_preflight(process: Process) -> object:
            backends = {"scripted": self._backend(process)}
            return loop(process, preflight.build(backends, {"HF_TOKEN": CANARY}), LyingLog(self.log, process.seam))

        def make_placeholder(process: Process) -> object:
            return loop(process, placeholder_manager.build(), LyingLog(self.log, process.seam))

        def make_submitter(process: Process) -> object:
            backends = {"scripted": self._backend(process)}
            worker = self.build_submitter(backends, secret_reader({"HF_TOKEN": CANARY}))
            return loop(process, worker, LyingLog(self.log, process.seam))

        def make_watcher(process: Process) -> object:
            worker = watcher.build({"scripted": self._backend(process)}, self.clock)
            return loop(process, worker, LyingLog(self.log, process.seam))

        def make_notifier(process: Process) -> object:
            log = LyingLog(self.log, process.seam)
            channels = {"file": LyingChannel(self.shown, process.seam)}
            worker = notifier.build(channels, log=log, author=Author2(process), clock=self.clock)
            return loop(process, worker, log)

        plan = (
            ("intake", make_intake, 1),
            ("preflight", make_preflight, 1),
            ("placeholder", make_placeholder, 1),
            ("submitter", make_submitter, 2),
            ("watcher", make_watcher, 2),
            ("notifier", make_notifier, 1),
        )
        pause_max = 60.0 if self.long_pauses else 6.0
        processes = []
        for role, make, number in plan:
            for index in range(number):
                process = Process(
                    name=f"{role}{chr(97 + index)}-",
                    make=make,
                    clock=self.clock,
                    faults=self.faults,
                    pause_max=pause_max,
                    restarts_after=lambda: 0.2 + self.rng.random() * 4,
                )
                process.on_pause = self._pauser(process)
                processes.append(process)
        return processes

    def _pauser(self, process: Process) -> Callable[[float], None]:
        def paused(seconds: float) -> None:
            if seconds > LEASE_S:
                asyncio.get_running_loop().call_later(LEASE_S, process.lease.take)

        return paused

    async def _leases(self, processes: list[Process]) -> None:
        """Hand each role's lease to one of its processes; a paused one loses it and the standby takes over."""
        roles: dict[str, list[Process]] = {}
        for process in processes:
            roles.setdefault(process.name[:-2], []).append(process)
        while True:
            for candidates in roles.values():
                if not any(process.lease.held() for process in candidates):
                    chosen = self.rng.choice(candidates)
                    chosen.lease.give()
            await asyncio.sleep(1.0)

    async def _clients(self) -> None:
        for number in range(self.launches):
            await asyncio.sleep(self.rng.random() * 4)
            client = self.rng.choice(CLIENTS)
            body = json.dumps(self._request(number)).encode()
            self.inbox.publish(f"in.{client}.launch", body)
            if self.rng.random() < 0.15:
                self.inbox.publish(f"in.{client}.launch", body)
            if self.rng.random() < 0.1:
                other = {**self._request(number), "key": f"k{number}", "env": {"OTHER": "1"}}
                self.inbox.publish(f"in.{client}.launch", json.dumps(other).encode())
            if self.rng.random() < 0.05:
                self.inbox.publish(f"in.{client}.launch", b'{"name": 3, "secret": "' + CANARY.encode() + b'"}')

    def _request(self, number: int) -> dict:
        rng = random.Random(self.seed * 1000 + number)
        request = {
            "schema": "gonogo/v1",
            "name": f"run-{number}",
            "purpose": "smoke",
            "platform": "scripted",
            "run": {"command": ["train", str(number)]},
            "key": f"k{number}",
            "secrets": {"HF_TOKEN": "env:HF_TOKEN"},
            "monitor": {"poll": rng.choice(("2s", "10s", "60s"))},
        }
        request["notify"] = ["file"] if rng.random() < 0.9 else []
        if rng.random() < 0.3:
            request["code"] = "/code"
        if rng.random() < 0.8:
            request["authorize"] = {"may": ["submit"], "basis": "simulated"}
        return request

    async def _people(self) -> None:
        """People who answer what waits for them, cancel now and then, and recover what was proven to have no job."""
        answered: Counter[tuple[str, str]] = Counter()
        recovered: set[str] = set()
        while True:
            await asyncio.sleep(self.rng.uniform(5, 20) if self.faults.active else 400)
            self._fold()
            for launch in sorted(self.views):
                self._answer(self.views[launch], answered, recovered)

    def _age(self, view: Launch) -> float:
        return (self.clock.now() - view.accepted_at).total_seconds() if view.accepted_at else 0.0

    def _answer(self, view: Launch, answered: Counter, recovered: set[str]) -> None:
        def say(word: str, **fields: object) -> None:
            body = {"launch": view.id, "by": "a person", **fields}
            self.inbox.publish(f"in.{self.rng.choice(CLIENTS)}.{word}", json.dumps(body).encode())

        count = answered[view.id, view.standing]
        answered[view.id, view.standing] += 1
        match view.standing:
            case "awaiting-review" if int(view.digest[-2:], 16) < 100 and self._age(view) < SLOW_REVIEW_S:
                return  # this reviewer takes a quarter of an hour, so the evidence grows old
            case "awaiting-review":
                say("approve" if self.rng.random() < 0.9 else "decline", plan_digest=view.plan_digest)
            case "no-go":
                say("recheck", fixed="looked again")
                blind = "cannot be seen" in view.detail
                say("attest", check="code" if blind else "access", evidence="seen by eye")
            case "in-doubt" if count > 15:
                say("resolve", absent=True, evidence="looked everywhere")
            case "conflict" if view.id:
                jobs = [job for job in self.journal.jobs if job.token == view.id]
                if jobs:
                    say("resolve", job_id=jobs[0].ref.id, evidence="seen on the console")
                else:
                    say("resolve", absent=True, evidence="seen on the console")
            case "running" | "go" | "cleared" | "submitting" if self.rng.random() < 0.04:
                say("cancel", reason="changed my mind")
            case "pending" if self.rng.random() < 0.02:
                say("detach")
            case "absent" | "rejected" | "withheld" if view.id not in recovered and self.rng.random() < 0.5:
                recovered.add(view.id)
                number = int(view.name.rpartition("-")[2])
                recovery = {"launch": view.id, "reason": "again", "evidence": view.detail[:200] or "none"}
                request = {**self._request(number), "key": f"r-{view.id}", "recovery_of": recovery}
                self.inbox.publish(f"in.{self.rng.choice(CLIENTS)}.launch", json.dumps(request).encode())

    def _outcome(self) -> Outcome:
        self._fold()
        self.judge.final(self.views, faultless=self.intensity == 0.0)
        events = Counter(
            type(said.event).__name__ for item in self.log.items if isinstance(item, Entry) for said in item.said
        )
        tokens = {job.token for job in self.journal.jobs}
        return Outcome(
            seed=self.seed,
            launches=len(self.views),
            with_job=len(tokens & set(self.views)),
            violations=self.judge.found,
            events=events,
            pairs=self.faults.counts,
            standings=Counter(view.standing for view in self.views.values()),
            trace=tuple(self.log.bodies),
        )


def Author2(process: Process):
    from gonogo.services.runtime.author import Author

    return Author(instance=f"{process.name}n{process.starts}", clock=process.clock)
