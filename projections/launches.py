"""Where each launch stands, in one word and in detail: what `list`, `show` and intake read."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from gonogo.events.base import UnknownEvent
from gonogo.events.envelope import Said
from gonogo.events.job import (
    CancelRequested,
    DuplicateStopped,
    JobCancelled,
    JobFailed,
    JobRef,
    JobStatusChanged,
    JobStopped,
    JobSucceeded,
    WatchDegraded,
    WatchDetached,
    WatchRecovered,
)
from gonogo.events.launch import LaunchAccepted, LaunchCancelled, LaunchPlanned, LaunchSuperseded, Person
from gonogo.events.placeholder import QueueCleared
from gonogo.events.preflight import (
    CheckAttested,
    PreflightExpired,
    PreflightFailed,
    PreflightPassed,
    RecheckRequested,
    ReviewConfirmed,
    ReviewDeclined,
    ReviewRequested,
)
from gonogo.events.submission import (
    SettlementDeclared,
    SubmissionAbsent,
    SubmissionAccepted,
    SubmissionConflicted,
    SubmissionIntended,
    SubmissionMismatched,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionVerified,
    SubmissionWithheld,
)

Standing = Literal[
    "checking",
    "no-go",
    "awaiting-review",
    "go",
    "cleared",
    "submitting",
    "in-doubt",
    "conflict",
    "submitted",
    "pending",
    "running",
    "unknown",
    "succeeded",
    "failed",
    "cancelled",
    "stopped",
    "duplicate-stopped",
    "rejected",
    "absent",
    "withheld",
    "declined",
    "superseded",
    "unwatched",
    "unreadable",
]

ENDED: frozenset[Standing] = frozenset(
    (
        "succeeded",
        "failed",
        "cancelled",
        "stopped",
        "duplicate-stopped",
        "rejected",
        "absent",
        "withheld",
        "declined",
        "superseded",
        "unwatched",
    )
)
"""Standings in which nothing more happens by itself."""
JOBLESS: frozenset[Standing] = frozenset(("rejected", "absent", "withheld"))
"""Standings that a recovery may replace: proven to have no job."""
WAITING_FOR_A_PERSON: frozenset[Standing] = frozenset(
    ("no-go", "awaiting-review", "in-doubt", "conflict", "unreadable")
)


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """One launch as people see it."""

    id: str = ""
    name: str = ""
    purpose: str = ""
    platform: str = ""
    queue: str | None = None
    person: Person | None = None
    key: str = ""
    digest: str = ""
    inbox_sequence: int = 0
    words: tuple[int, ...] = ()
    standing: Standing = "checking"
    detail: str = ""
    plan_digest: str = ""
    job_name: str = ""
    output: str | None = None
    review: Literal["none", "requested", "confirmed", "declined"] = "none"
    submission: Literal["none", "intended", "in-doubt", "accepted", "jobless", "conflict"] = "none"
    job: JobRef | None = None
    raw: str = ""
    cancel_wanted: bool = False
    detached: bool = False
    degraded: str | None = None
    superseded_by: str | None = None
    recovery_of: str | None = None
    guard_root: str = ""
    accepted_at: datetime | None = None
    updated_at: datetime | None = None
    version: int = 0

    @property
    def exists(self) -> bool:
        """Whether the history begins with an acceptance."""
        return bool(self.id)

    @property
    def ended(self) -> bool:
        """Whether nothing more happens by itself."""
        return self.standing in ENDED


INITIAL = Launch()


def evolve(launch: Launch, said: Said) -> Launch:
    """Fold one event."""
    sequence = getattr(said.event, "inbox_sequence", None)
    words = (*launch.words, sequence) if isinstance(sequence, int) else launch.words
    moved = msgspec.structs.replace(launch, updated_at=said.stored_at, version=said.sequence, words=words)
    match said.event:
        case LaunchAccepted(request=request, person=person, key=key, digest=digest, inbox_sequence=inbox):
            recovery = request.recovery_of.launch if request.recovery_of else None
            return msgspec.structs.replace(
                moved,
                name=request.name,
                purpose=request.purpose,
                platform=request.platform,
                queue=request.queue,
                person=person,
                key=key,
                digest=digest,
                inbox_sequence=inbox,
                output=request.output,
                detached=request.monitor.detach,
                recovery_of=recovery,
                accepted_at=said.stored_at,
            )
        case LaunchPlanned(plan=plan, plan_digest=plan_digest):
            root = plan.guard.root if plan.guard else plan.token
            return msgspec.structs.replace(
                moved, id=plan.token, plan_digest=plan_digest, job_name=plan.job_name, guard_root=root
            )
        case UnknownEvent(type=kind):
            return _stand(moved, "unreadable", f"an event of a newer version: {kind}")
        case _:
            return _evolve_poll(moved, said)


def _stand(launch: Launch, standing: Standing, detail: str = "") -> Launch:
    return msgspec.structs.replace(launch, standing=standing, detail=detail)


def _evolve_poll(launch: Launch, said: Said) -> Launch:
    match said.event:
        case PreflightFailed(blockers=blockers):
            return _stand(launch, "no-go", "; ".join(blockers))
        case PreflightPassed():
            return _stand(launch, "go" if launch.review == "confirmed" else "awaiting-review")
        case PreflightExpired() | RecheckRequested():
            return _stand(launch, "checking")
        case CheckAttested() if launch.standing == "no-go":
            return _stand(launch, "checking")
        case ReviewRequested():
            return _stand(msgspec.structs.replace(launch, review="requested"), "awaiting-review")
        case ReviewConfirmed(plan_digest=digest) if digest == launch.plan_digest:
            standing: Standing = "go" if launch.standing == "awaiting-review" else launch.standing
            return _stand(msgspec.structs.replace(launch, review="confirmed"), standing, launch.detail)
        case ReviewDeclined(plan_digest=digest, basis=basis) if digest == launch.plan_digest:
            return _stand(msgspec.structs.replace(launch, review="declined"), "declined", basis or "")
        case QueueCleared():
            return _stand(launch, "cleared")
        case CancelRequested():
            return msgspec.structs.replace(launch, cancel_wanted=True)
        case LaunchCancelled(reason=reason):
            return _stand(launch, "cancelled", reason)
        case LaunchSuperseded(by=by, reason=reason):
            superseded = msgspec.structs.replace(launch, superseded_by=by)
            return _stand(superseded, "superseded", f"by {by}: {reason}")
        case _:
            return _evolve_submission(launch, said)


OPEN = ("intended", "in-doubt")
"""Where a submission can still become anything. A late word, e.g. out of a spool, changes nothing that is settled."""


def _evolve_submission(launch: Launch, said: Said) -> Launch:  # noqa: C901, PLR0912 - one case an event
    match said.event:
        case SubmissionIntended():
            return _stand(msgspec.structs.replace(launch, submission="intended"), "submitting")
        case SubmissionUnresolved() | SubmissionRejected() | SubmissionWithheld() if launch.submission not in OPEN:
            return launch
        case SubmissionAbsent() if launch.submission not in (*OPEN, "conflict"):
            return launch
        case SubmissionAccepted(job=job) if job == launch.job and launch.submission == "accepted":
            return launch
        case SubmissionUnresolved(cause=cause):
            return _stand(msgspec.structs.replace(launch, submission="in-doubt"), "in-doubt", cause)
        case SubmissionAccepted(job=job):
            accepted = msgspec.structs.replace(launch, submission="accepted", job=job)
            return _stand(accepted, "unwatched" if launch.detached else "submitted")
        case SubmissionRejected(code=code, reason=reason):
            return _stand(msgspec.structs.replace(launch, submission="jobless"), "rejected", f"{code}: {reason}")
        case SubmissionAbsent(evidence=evidence):
            return _stand(msgspec.structs.replace(launch, submission="jobless"), "absent", evidence)
        case SubmissionWithheld(proof=proof):
            return _stand(msgspec.structs.replace(launch, submission="jobless"), "withheld", proof)
        case SubmissionConflicted(why=why):
            return _stand(msgspec.structs.replace(launch, submission="conflict"), "conflict", why)
        case SubmissionMismatched(differences=differences):
            return msgspec.structs.replace(launch, detail="differs from the plan: " + "; ".join(differences))
        case SubmissionVerified() | SettlementDeclared():
            return launch
        case _:
            return _evolve_job(launch, said)


def _evolve_job(launch: Launch, said: Said) -> Launch:
    match said.event:
        case JobStatusChanged(state=state, raw=raw, reason=reason):
            words: dict[str, Standing] = {"PENDING": "pending", "RUNNING": "running"}
            seen = msgspec.structs.replace(launch, raw=raw)
            return _stand(seen, words.get(state, "unknown"), reason or "")
        case JobSucceeded(raw=raw):
            return _stand(msgspec.structs.replace(launch, raw=raw, degraded=None), "succeeded", raw)
        case JobFailed(raw=raw, reason=reason):
            return _stand(msgspec.structs.replace(launch, raw=raw, degraded=None), "failed", reason or raw)
        case JobCancelled(raw=raw):
            return _stand(msgspec.structs.replace(launch, raw=raw, degraded=None), "cancelled", raw)
        case JobStopped(raw=raw, reason=reason):
            return _stand(msgspec.structs.replace(launch, raw=raw, degraded=None), "stopped", reason or raw)
        case DuplicateStopped(raw=raw):
            return _stand(msgspec.structs.replace(launch, raw=raw), "duplicate-stopped", raw)
        case WatchDegraded(cause=cause):
            return msgspec.structs.replace(launch, degraded=cause)
        case WatchRecovered():
            return msgspec.structs.replace(launch, degraded=None)
        case WatchDetached() if launch.job is not None and not launch.ended:
            return _stand(launch, "unwatched", "a person ended the watch; the job goes on")
        case _:
            return launch
