"""What is said about go and no-go: each check, the poll's result, and the review by a person."""

from __future__ import annotations

from typing import ClassVar, Literal

from gonogo.events.base import Event, Spoken, spoken
from gonogo.events.launch import Person

Basis = Literal["review", "authorization"]


class CheckPassed(Event, frozen=True, kw_only=True):
    """A check says go. `viewpoint` names from where it looked."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "preflight")

    round: int
    check: str
    evidence: str
    viewpoint: str


class CheckFailed(Event, frozen=True, kw_only=True):
    """A check says no-go, and what to do about it."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "preflight")

    round: int
    check: str
    problem: str
    fix: str
    viewpoint: str


class CheckUnverifiable(Event, frozen=True, kw_only=True):
    """A check cannot see what it needs to see from here; a named person may attest it."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "preflight")

    round: int
    check: str
    why: str
    viewpoint: str


class PreflightPassed(Event, frozen=True, kw_only=True):
    """Go: every check of the round passed or was attested. Holds for `valid_for_s` seconds from its storage."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "preflight")

    round: int
    plan_digest: str
    valid_for_s: float


class PreflightFailed(Event, frozen=True, kw_only=True):
    """No-go, with every blocker. A recheck may turn it."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "preflight")

    round: int
    blockers: tuple[str, ...]


class PreflightExpired(Event, frozen=True, kw_only=True):
    """The evidence is too old to act on; it is looked at again without asking people again."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "preflight")

    round: int


class ReviewRequested(Event, frozen=True, kw_only=True):
    """The plan waits for a person's yes to exactly this digest."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "preflight")

    plan_digest: str


class ReviewConfirmed(Event, frozen=True, kw_only=True):
    """Someone with the right to say so said yes to exactly this digest.

    `how` is `review` for a person's own word and `authorization` for the one that came with the request; `basis` is the
    text they gave.
    """

    SPOKEN: ClassVar[Spoken] = spoken("launch", "request", "preflight")

    plan_digest: str
    person: Person
    how: Basis
    basis: str | None = None
    inbox_sequence: int | None = None


class ReviewDeclined(Event, frozen=True, kw_only=True):
    """A person said no. The launch ends without anything sent."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "request")

    plan_digest: str
    person: Person
    basis: str | None = None
    inbox_sequence: int | None = None


class RecheckRequested(Event, frozen=True, kw_only=True):
    """A person asks for the checks to be run again, naming what was fixed."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "request")

    person: Person
    fixed: str | None = None
    inbox_sequence: int | None = None


class CheckAttested(Event, frozen=True, kw_only=True):
    """A named person vouches for what a check cannot see from here."""

    SPOKEN: ClassVar[Spoken] = spoken("launch", "request")

    check: str
    person: Person
    evidence: str
    inbox_sequence: int | None = None
