"""What is said about a launch as a whole: asked for, accepted, planned, superseded, cancelled."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from gonogo.events.base import Event, Spoken, spoken
from gonogo.events.ids import digest_of
from gonogo.events.request import Problem, Request


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Who said something: the client subject, which the broker verified, and the name they claimed."""

    client: str
    claimed: str | None = None

    def __str__(self) -> str:
        return f"{self.claimed} (claimed) via {self.client}" if self.claimed else self.client


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """The exact request a backend would send, with secret references in place of values."""

    body: str
    digest: str


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """The in-job start guard: the file a job claims by exclusive create before it does anything."""

    root: str
    claim_path: str
    requeue: bool = False


class CreateTerms(msgspec.Struct, frozen=True, kw_only=True):
    """How long a create may live, and what a look-up proves on this platform. Published per backend, reviewed per launch.

    `start_deadline_s`: from the intent to the start of create, on the writer's monotonic clock; `create_timeout_s`: from
    there to its forced end. `settle_s`: between two look-ups; longer than the platform takes to show a created job.
    `authoritative_negative`: the platform's "no such name" is proof by itself.
    """

    start_deadline_s: float
    create_timeout_s: float
    settle_s: float
    settle_source: str
    authoritative_negative: bool

    @property
    def grace_s(self) -> float:
        """How long a recoverer waits before an empty look-up counts: longer than any create process may live."""
        return (self.start_deadline_s + self.create_timeout_s) * 2


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a reviewer confirms. Its digest covers all of it and none of the evidence."""

    request_digest: str
    platform: str
    target: str
    queue: str | None
    job_name: str
    token: str
    rendering: Rendering
    terms: CreateTerms
    guard: Guard | None
    guard_note: str
    output: str | None = None
    image: str | None = None
    datasets: dict[str, str] = {}
    secrets: dict[str, str] = {}
    may: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()


def plan_digest(plan: Plan) -> str:
    """The digest a review confirms: over the canonical JSON of the plan."""
    return digest_of(msgspec.json.encode(plan, order="sorted"))


class LaunchRequested(Event, frozen=True, kw_only=True):
    """A client asked, and intake could not accept it: the redacted original, kept for audit."""

    SPOKEN: ClassVar[Spoken] = spoken("inbox", "request")

    inbox_sequence: int
    word: str
    person: Person
    digest: str
    original: str


class LaunchAccepted(Event, frozen=True, kw_only=True):
    """This request is a launch. Always the first event of its history."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "intake")

    inbox_sequence: int
    person: Person
    key: str
    digest: str
    request: Request


class LaunchDeduplicated(Event, frozen=True, kw_only=True):
    """The same request under the same key was accepted before; `launch` is that launch."""

    SPOKEN: ClassVar[Spoken] = spoken("inbox", "intake")

    inbox_sequence: int
    launch: str
    digest: str


class LaunchDeclined(Event, frozen=True, kw_only=True):
    """A request, or a later word of a person, was not taken. All its problems at once; its key stays free."""

    SPOKEN: ClassVar[Spoken] = spoken("inbox", "intake")

    inbox_sequence: int
    problems: tuple[Problem, ...]
    launch: str | None = None


class LaunchPlanned(Event, frozen=True, kw_only=True):
    """Exactly what would be sent, and the digest a review confirms."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "intake")

    plan: Plan
    plan_digest: str


class LaunchSuperseded(Event, frozen=True, kw_only=True):
    """A recovery of this launch was accepted as the launch `by`. There can be only one."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "intake")

    by: str
    reason: str


class LaunchCancelled(Event, frozen=True, kw_only=True):
    """A cancel was asked for before anything had been sent; nothing will be."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "submitter")

    reason: str
