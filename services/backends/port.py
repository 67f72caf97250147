"""What a platform must be able to tell and do for gonogo. Every backend passes the same numbered contract cards.

The words matter more than the calls: what cannot be proven refused is `Unclear`; a search is complete or it is an error,
never a partial list; a status the platform does not state is `UNKNOWN`, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from gonogo.events.job import JobRef, JobState
from gonogo.events.launch import CreateTerms, Guard, Rendering
from gonogo.events.request import Problem, Request
from gonogo.events.submission import Sighting


class PlatformError(Exception):
    """The platform could not be asked, or answered something unreadable. Proves nothing about any job."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a backend claims. The contract suite holds it to every claim.

    `terms` are the published numbers that the submitter waits by. `proves_refusal`: some answers of create prove that
    nothing was created; without it every failed create is in doubt. `place`: where alone these jobs exist and can be seen
    (one host, one folder); empty for a platform that is the same from everywhere. A worker at another place sees nothing,
    and must not take that for absence.
    """

    platform: str
    terms: CreateTerms
    guard: bool
    guard_note: str
    can_delete: bool
    proves_refusal: bool
    place: str = ""


class RenderWish(msgspec.Struct, frozen=True, kw_only=True):
    """What a rendering is made from: the request, the unique name and token, and the guard if there is one."""

    request: Request
    launch: str
    job_name: str
    token: str
    guard: Guard | None


class Accepted(msgspec.Struct, frozen=True):
    """The platform answered with the job."""

    job: JobRef


class Refused(msgspec.Struct, frozen=True):
    """The platform proved that it created nothing; `proof` says how."""

    code: str
    reason: str
    proof: str


class Unclear(msgspec.Struct, frozen=True):
    """Nobody can tell. A timeout, a non-zero exit, a missing id, an unreadable answer."""

    cause: str


Reply = Accepted | Refused | Unclear


class Sightings(msgspec.Struct, frozen=True, kw_only=True):
    """A complete search by exact name. `control` names any job that this very query showed."""

    found: tuple[Sighting, ...]
    control: str | None


class JobStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The platform's present word on a job. `raw` is its own word; `duplicate` marks a copy the start guard turned away."""

    state: JobState
    raw: str
    exit_code: int | None = None
    reason: str | None = None
    restarts: int = 0
    duplicate: bool = False


class JobFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A job read back by id, in the plan's own terms, to be compared with it."""

    job: JobRef
    differences: tuple[str, ...]
    facts: dict[str, str]


class StopAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the platform said to a stop or delete. `taken=False`: refused or unclear, see `answer`."""

    taken: bool
    answer: str


class PathFact(msgspec.Struct, frozen=True, kw_only=True):
    """What a path is, as seen from `viewpoint`."""

    path: str
    exists: bool
    is_dir: bool
    writable: bool
    viewpoint: str


class LogTail(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a job's output. `truncated` when there is more before it."""

    text: str
    truncated: bool


class Backend(Protocol):
    """One platform. Reads raise PlatformError when they cannot see; only create, stop and delete change anything."""

    @property
    def capabilities(self) -> Capabilities:
        """What this backend claims."""
        ...

    async def probe(self) -> str:
        """Prove read access; the evidence as a sentence. Raises PlatformError."""
        ...

    async def check_paths(self, paths: Sequence[str]) -> tuple[PathFact, ...]:
        """Look at paths from where the job would see them, or from as near as this backend can stand."""
        ...

    def problems(self, request: Request) -> tuple[Problem, ...]:
        """What this platform cannot do of the request. Pure."""
        ...

    def guard_for(self, request: Request, root: str) -> Guard | None:
        """The start guard for a launch whose guard root is `root`; None where no exclusive create is proven. Pure."""
        ...

    def render(self, wish: RenderWish) -> Rendering:
        """The exact request that create would send, secrets by reference. Pure; the digest covers every byte."""
        ...

    async def find(self, name: str) -> Sightings:
        """Search completely for jobs with exactly this name: live and past, every status, every page."""
        ...

    async def create(self, rendering: Rendering, secrets: Mapping[str, str]) -> Reply:
        """Create the job, once. `secrets` maps reference to value and is substituted only here."""
        ...

    async def read_back(self, job: JobRef, rendering: Rendering) -> JobFacts | None:
        """Read the job by id and compare it with its rendering; None when the platform has no such job."""
        ...

    async def status(self, jobs: Sequence[JobRef]) -> Mapping[JobRef, JobStatus]:
        """The status of many jobs in as few questions as the platform allows. A job it does not state is UNKNOWN."""
        ...

    async def stop(self, job: JobRef) -> StopAnswer:
        """Ask the platform to end the job. Idempotent."""
        ...

    async def delete(self, job: JobRef) -> StopAnswer:
        """Remove a terminal job's record where the platform keeps one."""
        ...

    async def logs(self, job: JobRef, *, bytes_max: int) -> LogTail:
        """The end of the job's output."""
        ...


def elsewhere(backend: Backend, target: str) -> str | None:
    """Why this backend cannot see jobs of that target, or None."""
    place = backend.capabilities.place
    if not place or place == target:
        return None
    return f"these jobs exist only at {target!r}, and this worker stands at {place!r}: run all workers at one place"
