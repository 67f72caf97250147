"""What a notice says, from the event alone. Short: name, id, what was seen and when; what to do where there is something."""

from __future__ import annotations

from gonogo.events.base import Event
from gonogo.events.envelope import Said
from gonogo.events.job import (
    DuplicateStopped,
    JobCancelled,
    JobFailed,
    JobRestarted,
    JobStatusChanged,
    JobStopped,
    JobSucceeded,
    WatchDegraded,
    WatchRecovered,
)
from gonogo.events.launch import LaunchCancelled
from gonogo.events.preflight import PreflightFailed, ReviewDeclined, ReviewRequested
from gonogo.events.redaction import mask_secrets
from gonogo.events.submission import (
    SubmissionAbsent,
    SubmissionAccepted,
    SubmissionConflicted,
    SubmissionMismatched,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionWithheld,
)

LINE_MAX = 400
"""Characters; longer texts are cut, the log has them whole."""


def title_of(name: str, said: Said) -> str:
    """The first line of a notice."""
    return _cut(f"{name}: {_what(said.event)}")


def lines_of(launch: str, said: Said) -> tuple[str, ...]:
    """The other lines."""
    detail = _detail(said.event)
    seen = f"seen {said.observed_at:%Y-%m-%d %H:%M:%S} UTC"
    return tuple(_cut(line) for line in (*detail, f"launch {launch}", seen))


def _cut(line: str) -> str:
    clean = mask_secrets(line)
    return clean if len(clean) <= LINE_MAX else clean[: LINE_MAX - 1] + "…"


def _what(event: Event) -> str:
    match event:
        case PreflightFailed():
            return "no-go"
        case ReviewRequested():
            return "waits for your yes"
        case ReviewDeclined():
            return "declined, nothing was sent"
        case LaunchCancelled():
            return "cancelled, nothing runs"
        case SubmissionAccepted():
            return "submitted"
        case SubmissionRejected():
            return "submission refused by the platform"
        case SubmissionUnresolved():
            return "submission in doubt, being looked up"
        case SubmissionAbsent():
            return "no job exists"
        case SubmissionWithheld():
            return "withheld, create was never called"
        case SubmissionConflicted():
            return "conflict: needs a person"
        case SubmissionMismatched():
            return "the job differs from the plan"
        case _:
            return _what_of_job(event)


def _what_of_job(event: Event) -> str:
    match event:
        case JobStatusChanged(state=state, raw=raw):
            return f"{state.lower()} ({raw})"
        case JobRestarted(count=count):
            return f"restarted by the platform ({count})"
        case JobSucceeded():
            return "succeeded"
        case JobFailed():
            return "failed"
        case JobCancelled():
            return "cancelled"
        case JobStopped():
            return "stopped, not by us"
        case DuplicateStopped():
            return "a second copy was turned away"
        case WatchDegraded():
            return "the platform cannot be seen"
        case WatchRecovered():
            return "the platform can be seen again"
        case _:
            return type(event).__name__


def _detail(event: Event) -> tuple[str, ...]:  # noqa: C901, PLR0912 - one case an event
    match event:
        case PreflightFailed(blockers=blockers):
            return blockers
        case ReviewRequested(plan_digest=digest):
            return (f"plan {digest}", "look with: gonogo show; answer with: gonogo approve or gonogo decline")
        case SubmissionAccepted(job=job, found_by_lookup=found):
            return (f"job {job.id} ({job.name})", *(("found by look-up",) if found else ()))
        case SubmissionRejected(code=code, reason=reason):
            return (f"{code}: {reason}",)
        case SubmissionUnresolved(cause=cause) | WatchDegraded(cause=cause):
            return (cause,)
        case SubmissionAbsent(evidence=evidence):
            return (evidence,)
        case SubmissionWithheld(proof=proof):
            return (proof,)
        case SubmissionConflicted(why=why, jobs=jobs):
            return (why, "jobs " + ", ".join(job.id for job in jobs), "settle with: gonogo resolve")
        case SubmissionMismatched(differences=differences):
            return differences
        case JobFailed(raw=raw, exit_code=code, reason=reason):
            return (f"{raw}, exit code {code if code is not None else 'unknown'}", *((reason,) if reason else ()))
        case JobStopped(raw=raw, reason=reason):
            return (f"{raw}: {reason or 'cause unknown'}",)
        case JobSucceeded():
            return ("the platform reports success; metrics are yours to judge",)
        case _:
            return ()
