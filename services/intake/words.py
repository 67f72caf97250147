"""The later words of people: their shape on the wire, and how one that stands the check becomes an event. Pure."""

from __future__ import annotations

from datetime import datetime

import msgspec

from gonogo.events.base import Event
from gonogo.events.job import CancelRequested, WatchDetached
from gonogo.events.launch import Person
from gonogo.events.preflight import CheckAttested, RecheckRequested, ReviewConfirmed, ReviewDeclined
from gonogo.events.submission import SettlementDeclared


class _Word(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    launch: str
    by: str | None = None
    said_at: datetime | None = None
    expires_at: datetime | None = None


class Approve(_Word, frozen=True, kw_only=True):
    """Yes to exactly this plan."""

    plan_digest: str
    basis: str | None = None


class Decline(_Word, frozen=True, kw_only=True):
    """No to this plan."""

    plan_digest: str
    basis: str | None = None


class Cancel(_Word, frozen=True, kw_only=True):
    """End the launch."""

    reason: str | None = None


class Recheck(_Word, frozen=True, kw_only=True):
    """Run the checks again."""

    fixed: str | None = None


class Attest(_Word, frozen=True, kw_only=True):
    """Vouch for what a check cannot see."""

    check: str
    evidence: str


class Resolve(_Word, frozen=True, kw_only=True):
    """Settle a doubt: this is the job, or there is none."""

    evidence: str
    job_id: str | None = None
    absent: bool = False


class Detach(_Word, frozen=True, kw_only=True):
    """End the watch; the job goes on."""


Word = Approve | Decline | Cancel | Recheck | Attest | Resolve | Detach

WORDS: dict[str, type[Word]] = {
    "approve": Approve,
    "decline": Decline,
    "cancel": Cancel,
    "recheck": Recheck,
    "attest": Attest,
    "resolve": Resolve,
    "detach": Detach,
}
"""The last part of the subject → the shape of the body. `launch` is the one word not in here."""


def event_of(word: Word, *, client: str, sequence: int) -> Event:
    """The event that this word is, once it stood the check."""
    person = Person(client=client, claimed=word.by)
    match word:
        case Approve(plan_digest=digest, basis=basis):
            return ReviewConfirmed(
                plan_digest=digest, person=person, how="review", basis=basis, inbox_sequence=sequence
            )
        case Decline(plan_digest=digest, basis=basis):
            return ReviewDeclined(plan_digest=digest, person=person, basis=basis, inbox_sequence=sequence)
        case Cancel(reason=reason):
            return CancelRequested(person=person, reason=reason, inbox_sequence=sequence)
        case Recheck(fixed=fixed):
            return RecheckRequested(person=person, fixed=fixed, inbox_sequence=sequence)
        case Attest(check=check, evidence=evidence):
            return CheckAttested(check=check, person=person, evidence=evidence, inbox_sequence=sequence)
        case Resolve(job_id=job_id, absent=absent, evidence=evidence):
            return SettlementDeclared(
                job_id=job_id, absent=absent, evidence=evidence, person=person, inbox_sequence=sequence
            )
        case Detach():
            return WatchDetached(person=person, inbox_sequence=sequence)
