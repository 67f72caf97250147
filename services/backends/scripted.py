"""A platform that lies on request: the fake that the workers are proven against, with its own journal.

It passes the same contract cards as the real ones, and can do what real platforms do on bad days: execute a create whose
client has given up, show a job late, answer an empty list that looks complete, lose answers, requeue, reuse ids, make retry
copies. What it really did stands in `journal`; the workers never see that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from gonogo.events.ids import digest_of
from gonogo.events.job import JobRef, JobState
from gonogo.events.launch import CreateTerms, Guard, Rendering
from gonogo.events.request import Problem, Request
from gonogo.events.submission import Sighting
from gonogo.services.backends.port import (
    Accepted,
    Capabilities,
    JobFacts,
    JobStatus,
    LogTail,
    PathFact,
    PlatformError,
    Refused,
    RenderWish,
    Reply,
    Sightings,
    StopAnswer,
    Unclear,
)
from gonogo.services.runtime.clock import Clock

Call = Literal["probe", "check_paths", "find", "create", "read_back", "status", "stop"]
Fault = Literal[
    "refuse",
    "lose-answer",
    "lose-request",
    "late-create",
    "very-late-create",
    "late-visible",
    "error",
    "empty",
    "silent",
    "requeue",
    "copy",
    "differ",
    "slow",
]
NO_FAULTS: Callable[[Call, str], Fault | None] = lambda _call, _name: None  # noqa: E731

TERMS = CreateTerms(
    start_deadline_s=2.0,
    create_timeout_s=5.0,
    settle_s=10.0,
    settle_source="the script's own late-visibility bound",
    authoritative_negative=False,
)
LATE_S = 4.0
"""How late a create may execute after its client gave up; within the grace."""
VERY_LATE_S = 200.0
"""A create that executes after every wait: nothing excludes it, so it has to end as a conflict that people see."""
UNSEEN_S = 8.0
"""How long a created job may stay invisible to look-ups; within the settle time."""


class ScriptedJob(msgspec.Struct, kw_only=True):
    """A job as the platform really has it."""

    ref: JobRef
    token: str
    rendering: str
    created_at: datetime
    visible_at: datetime
    starts_at: datetime
    ends_at: datetime
    end: JobState = "SUCCEEDED"
    exit_code: int = 0
    restarts: int = 0
    lineage: str = ""
    stopped: bool = False
    differs: bool = False


class Journal(msgspec.Struct, kw_only=True):
    """What really happened, for those who judge the workers."""

    creates: list[tuple[str, str]] = []
    """(attempt token, digest of the bytes handed over), one per call of create."""
    jobs: list[ScriptedJob] = []
    stops: list[JobRef] = []


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """How jobs of this platform live: seconds until they start and how long they run, and how they end."""

    start_s: float = 1.0
    run_s: float = 5.0
    end: JobState = "SUCCEEDED"


class ScriptedBackend:
    """A platform in memory. `fault(call, job name)` is asked before each call what goes wrong with it."""

    def __init__(
        self,
        clock: Clock,
        *,
        fault: Callable[[Call, str], Fault | None] = NO_FAULTS,
        script: Callable[[str], Script] = lambda _name: Script(),
        terms: CreateTerms = TERMS,
        journal: Journal | None = None,
    ) -> None:
        """Several backends over one `journal` are several views of one platform."""
        self._clock = clock
        self._fault = fault
        self._script = script
        self._terms = terms
        self.journal = journal if journal is not None else Journal()

    @property
    def capabilities(self) -> Capabilities:
        """Like a platform without authoritative names, unless the terms say otherwise."""
        return Capabilities(
            platform="scripted",
            terms=self._terms,
            guard=False,
            guard_note="off: a scripted job runs nothing",
            can_delete=True,
            proves_refusal=True,
        )

    async def probe(self) -> str:
        """Prove read access."""
        self._may_fail("probe", "")
        return f"the script shows {len(self.journal.jobs)} jobs"

    async def check_paths(self, paths: Sequence[str]) -> tuple[PathFact, ...]:
        """Every folder exists here except outputs, which are always free."""
        self._may_fail("check_paths", "")
        last = max(paths, key=len)
        return tuple(
            PathFact(
                path=path,
                exists=path != last or len(paths) == 1,
                is_dir=True,
                writable=True,
                viewpoint="the script",
            )
            for path in paths
        )

    def problems(self, request: Request) -> tuple[Problem, ...]:
        """The script can do everything."""
        _ = request
        return ()

    def guard_for(self, request: Request, root: str) -> Guard | None:
        """No guard: nothing runs."""
        _ = request, root
        return None

    def render(self, wish: RenderWish) -> Rendering:
        """The request as it is, with the name and the token."""
        body = msgspec.json.encode(
            {"name": wish.job_name, "token": wish.token, "request": wish.request}, order="sorted"
        )
        return Rendering(body=body.decode(), digest=digest_of(body))

    async def find(self, name: str) -> Sightings:
        """Search completely by exact name."""
        fault = self._may_fail("find", name)
        now = self._clock.now()
        shown = [] if fault == "empty" else [job for job in self.journal.jobs if job.visible_at <= now]
        found = tuple(
            Sighting(job=job.ref, state=self._state(job, now), lineage=job.lineage)
            for job in shown
            if job.ref.name == name
        )
        control = next((job.ref.id for job in shown if job.ref.name != name), None)
        return Sightings(found=found, control=control)

    async def create(self, rendering: Rendering, secrets: Mapping[str, str]) -> Reply:
        """Create the job, or fail as the script says."""
        _ = secrets
        content = msgspec.json.decode(rendering.body)
        name, token = content["name"], content["token"]
        fault = self._fault("create", name)
        self.journal.creates.append((token, digest_of(rendering.body.encode())))
        if fault == "refuse":
            return Refused("QuotaExceeded", "no quota left", "the script's own refusal, before anything was stored")
        if fault == "lose-request":
            return Unclear("connection reset before an answer")
        if fault in ("late-create", "very-late-create"):
            late = LATE_S if fault == "late-create" else VERY_LATE_S
            asyncio.get_running_loop().call_later(late, self._store, name, token, rendering)
            return Unclear("no answer in time")
        if fault == "slow":
            await self._clock.sleep(self._terms.create_timeout_s * 0.9)
        job = self._store(name, token, rendering)
        if fault == "late-visible":
            job.visible_at = self._clock.now() + timedelta(seconds=UNSEEN_S)
        if fault == "copy":
            self._store(name, token, rendering).lineage = job.lineage
        job.differs = fault == "differ"
        if fault in ("lose-answer", "copy"):
            return Unclear("connection reset while waiting for the answer")
        return Accepted(job.ref)

    async def read_back(self, job: JobRef, rendering: Rendering) -> JobFacts | None:
        """Compare the stored job with its rendering."""
        self._may_fail("read_back", job.name)
        stored = self._stored(job)
        if stored is None or stored.visible_at > self._clock.now():
            return None
        same = stored.rendering == rendering.digest and not stored.differs
        differences = () if same else ("the queue is another one",)
        return JobFacts(job=job, differences=differences, facts={"id": job.id, "name": job.name})

    async def status(self, jobs: Sequence[JobRef]) -> Mapping[JobRef, JobStatus]:
        """The status of each."""
        fault = self._may_fail("status", jobs[0].name if jobs else "")
        if fault == "silent":
            return {}
        now = self._clock.now()
        answers: dict[JobRef, JobStatus] = {}
        for ref in jobs:
            job = self._stored(ref)
            if job is None or job.visible_at > now:
                continue
            if fault == "requeue" and self._state(job, now) == "RUNNING":
                job.restarts += 1
            answers[ref] = self._status(job, now)
        return answers

    async def stop(self, job: JobRef) -> StopAnswer:
        """End the job; idempotent."""
        fault = self._fault("stop", job.name)
        if fault == "error":
            message = "the script lost the connection"
            raise PlatformError(message)
        stored = self._stored(job)
        self.journal.stops.append(job)
        if stored is None:
            return StopAnswer(taken=False, answer="no such job")
        if self._state(stored, self._clock.now()) in ("PENDING", "RUNNING"):
            stored.stopped = True
            stored.ends_at = self._clock.now()
        return StopAnswer(taken=True, answer="stopping")

    async def delete(self, job: JobRef) -> StopAnswer:
        """Forget a job that has ended."""
        stored = self._stored(job)
        if stored is None:
            return StopAnswer(taken=False, answer="no such job")
        if self._state(stored, self._clock.now()) in ("PENDING", "RUNNING"):
            return StopAnswer(taken=False, answer="still alive")
        self.journal.jobs.remove(stored)
        return StopAnswer(taken=True, answer="deleted")

    async def logs(self, job: JobRef, *, bytes_max: int) -> LogTail:
        """A line of output per job."""
        text = f"{job.name} ran by script\n"
        return LogTail(text=text[-bytes_max:], truncated=len(text) > bytes_max)

    def _may_fail(self, call: Call, name: str) -> Fault | None:
        fault = self._fault(call, name)
        if fault == "error":
            message = "the script lost the connection"
            raise PlatformError(message)
        return fault

    def _store(self, name: str, token: str, rendering: Rendering) -> ScriptedJob:
        now, script, number = self._clock.now(), self._script(name), len(self.journal.jobs) + 1
        starts_at = now + timedelta(seconds=script.start_s)
        job = ScriptedJob(
            ref=JobRef(id=f"s-{number}", name=name, identity="scripted"),
            token=token,
            rendering=rendering.digest,
            created_at=now,
            visible_at=now,
            starts_at=starts_at,
            ends_at=starts_at + timedelta(seconds=script.run_s),
            end=script.end,
            exit_code=0 if script.end == "SUCCEEDED" else 1,
            lineage=f"lineage-{number}",
        )
        self.journal.jobs.append(job)
        return job

    def _stored(self, ref: JobRef) -> ScriptedJob | None:
        return next((job for job in self.journal.jobs if job.ref == ref), None)

    def _state(self, job: ScriptedJob, now: datetime) -> JobState:
        if now >= job.ends_at:
            return "STOPPED" if job.stopped else job.end
        return "RUNNING" if now >= job.starts_at else "PENDING"

    def _status(self, job: ScriptedJob, now: datetime) -> JobStatus:
        state = self._state(job, now)
        ended = state in ("SUCCEEDED", "FAILED")
        return JobStatus(
            state=state,
            raw=state.capitalize(),
            exit_code=job.exit_code if ended else None,
            restarts=job.restarts,
        )
