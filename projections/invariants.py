"""What must hold of every history, from the log alone: the claims that `gonogo replay --verify` makes.

Each invariant is a named function from what was said to what is wrong with it. They know nothing of workers or platforms,
so they judge any log, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import msgspec

from gonogo.events.envelope import Said
from gonogo.events.ids import digest_of, launch_id
from gonogo.events.job import (
    CancelRequested,
    DuplicateStopped,
    JobCancelled,
    JobFailed,
    JobRef,
    JobRestarted,
    JobStatusChanged,
    JobStopped,
    JobSucceeded,
)
from gonogo.events.launch import LaunchAccepted, LaunchPlanned, LaunchSuperseded, plan_digest
from gonogo.events.notification import NotificationDelivered, NotificationIntended
from gonogo.events.placeholder import QueueCleared
from gonogo.events.preflight import (
    PreflightExpired,
    PreflightFailed,
    PreflightPassed,
    RecheckRequested,
    ReviewConfirmed,
    ReviewDeclined,
)
from gonogo.events.request import request_digest
from gonogo.events.submission import (
    SubmissionAbsent,
    SubmissionAccepted,
    SubmissionConflicted,
    SubmissionIntended,
    SubmissionLookedUp,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionWithheld,
)

OUTCOMES = (
    SubmissionAccepted,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionAbsent,
    SubmissionWithheld,
    SubmissionLookedUp,
)
TERMINAL = (JobSucceeded, JobFailed, JobCancelled, JobStopped, DuplicateStopped)
READINGS = (JobStatusChanged, JobRestarted, *TERMINAL)


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """Something that must not be: which invariant, at which sequence, and what."""

    invariant: str
    sequence: int
    what: str


Invariant = Callable[[Sequence[Said]], Iterator[Violation]]


def _violation(invariant: str, said: Said, what: str) -> Violation:
    return Violation(invariant=invariant, sequence=said.sequence, what=what)


def acceptance_comes_first(history: Sequence[Said]) -> Iterator[Violation]:
    """A launch begins with its acceptance, whose id is derived from who asked under which key."""
    for index, said in enumerate(history):
        match said.event:
            case LaunchAccepted() if index != 0:
                yield _violation("acceptance_comes_first", said, "accepted a second time")
            case LaunchAccepted(request=request, digest=digest) if request_digest(request) != digest:
                yield _violation("acceptance_comes_first", said, "the request does not hash to its digest")
            case LaunchPlanned(plan=plan):
                yield from _identity(history[0], said, plan.token)
            case event if index == 0 and not isinstance(event, LaunchAccepted):
                yield _violation("acceptance_comes_first", said, f"begins with {type(said.event).__name__}")


def _identity(first: Said, said: Said, token: str) -> Iterator[Violation]:
    match first.event:
        case LaunchAccepted(person=person, key=key) if launch_id(person.client, key) != token:
            yield _violation("acceptance_comes_first", said, "the launch id is not that of its client and key")


def the_plan_is_what_was_reviewed(history: Sequence[Said]) -> Iterator[Violation]:
    """Digests are honest: the plan hashes to its digest and the rendering's bytes to theirs."""
    for said in history:
        match said.event:
            case LaunchPlanned(plan=plan, plan_digest=digest):
                if plan_digest(plan) != digest:
                    yield _violation("the_plan_is_what_was_reviewed", said, "the plan does not hash to its digest")
                if digest_of(plan.rendering.body.encode()) != plan.rendering.digest:
                    yield _violation("the_plan_is_what_was_reviewed", said, "the rendering does not hash to its digest")


def no_intent_before_go(history: Sequence[Said]) -> Iterator[Violation]:
    """No intent without the go, the yes and the clear queue.

    The same history must already hold them for exactly the intent's plan digest, none expired or voided, and no word
    against it.
    """
    for index, said in enumerate(history):
        if isinstance(said.event, SubmissionIntended):
            yield from _missing_before(history[:index], said, said.event)


def _missing_before(before: Sequence[Said], said: Said, intent: SubmissionIntended) -> Iterator[Violation]:
    name, digest = "no_intent_before_go", intent.plan_digest
    planned = [s.event for s in before if isinstance(s.event, LaunchPlanned)]
    if not planned or planned[-1].plan_digest != digest:
        yield _violation(name, said, "the intent's plan digest is not that of the plan")
    elif planned[-1].plan.rendering.digest != intent.rendering_digest:
        yield _violation(name, said, "the intent's rendering is not the planned one")
    if not any(isinstance(s.event, ReviewConfirmed) and s.event.plan_digest == digest for s in before):
        yield _violation(name, said, "nobody confirmed this plan")
    if not any(isinstance(s.event, QueueCleared) and s.event.plan_digest == digest for s in before):
        yield _violation(name, said, "the queue was not cleared")
    if not _go_stands(before, said, digest):
        yield _violation(name, said, "there is no go, or it had expired")
    for earlier in before:
        if isinstance(earlier.event, CancelRequested | ReviewDeclined | LaunchSuperseded):
            yield _violation(name, said, f"{type(earlier.event).__name__} stands before it")


def _go_stands(before: Sequence[Said], intent: Said, digest: str) -> bool:
    for earlier in reversed(before):
        match earlier.event:
            case PreflightFailed() | PreflightExpired() | RecheckRequested():
                return False
            case PreflightPassed(plan_digest=passed, valid_for_s=valid_for_s):
                young = intent.recorded_at <= earlier.stored_at + timedelta(seconds=valid_for_s)
                return passed == digest and young
            case _:
                continue
    return False


def one_intent(history: Sequence[Said]) -> Iterator[Violation]:
    """A launch has at most one submission."""
    intents = [said for said in history if isinstance(said.event, SubmissionIntended)]
    for said in intents[1:]:
        yield _violation("one_intent", said, "a second intent in one launch")


def outcomes_follow_the_intent(history: Sequence[Said]) -> Iterator[Violation]:
    """Nothing becomes of an intent that was never recorded."""
    intended = False
    for said in history:
        intended = intended or isinstance(said.event, SubmissionIntended)
        if isinstance(said.event, OUTCOMES) and not intended:
            what = f"{type(said.event).__name__} without an intent: something was done before it was recorded"
            yield _violation("outcomes_follow_the_intent", said, what)


def absence_has_evidence(history: Sequence[Said]) -> Iterator[Violation]:
    """Absence is said only after look-ups that prove it, or on a person's declaration."""
    intent: SubmissionIntended | None = None
    doubt: Said | None = None
    looks: list[Said] = []
    for said in history:
        match said.event:
            case SubmissionIntended() as intended:
                intent = intended
            case SubmissionUnresolved():
                doubt, looks = said, []
            case SubmissionLookedUp():
                looks.append(said)
            case SubmissionAbsent(declared=False) if intent is not None:
                what = _weakness(intent, doubt, looks)
                if what is not None:
                    yield _violation("absence_has_evidence", said, what)


def _weakness(intent: SubmissionIntended, doubt: Said | None, looks: Sequence[Said]) -> str | None:
    terms = intent.terms
    if doubt is None:
        return "absent without a recorded doubt"
    counted: list[Said] = []
    for said in looks:
        look = said.event
        assert isinstance(look, SubmissionLookedUp)
        late = said.stored_at >= doubt.stored_at + timedelta(seconds=terms.grace_s)
        good = look.complete and not look.found and (terms.authoritative_negative or look.control is not None)
        counted = [*counted, said] if late and good else []
    if not counted:
        return "no complete look-up with a control after the grace"
    apart = (counted[-1].stored_at - counted[0].stored_at).total_seconds()
    if not terms.authoritative_negative and apart < terms.settle_s:
        return f"its look-ups are {apart:g} s apart, less than the settle time of {terms.settle_s:g} s"
    return None


def a_terminal_state_stays(history: Sequence[Said]) -> Iterator[Violation]:
    """After a job's end nothing more is said of that job."""
    ended: set[JobRef] = set()
    for said in history:
        if not isinstance(said.event, READINGS):
            continue
        job = said.event.job
        if job in ended:
            yield _violation("a_terminal_state_stays", said, f"{type(said.event).__name__} after the job's end")
        if isinstance(said.event, TERMINAL):
            ended.add(job)


def a_job_is_accepted_before_it_is_watched(history: Sequence[Said]) -> Iterator[Violation]:
    """Nothing is said of a job that no submission produced."""
    known: set[JobRef] = set()
    for said in history:
        match said.event:
            case SubmissionAccepted(job=job):
                known.add(job)
            case SubmissionConflicted(jobs=jobs):
                known.update(jobs)
            case event if isinstance(event, READINGS) and event.job not in known:
                what = f"{type(event).__name__} of a job that was never accepted"
                yield _violation("a_job_is_accepted_before_it_is_watched", said, what)


def a_notice_is_delivered_once(history: Sequence[Said]) -> Iterator[Violation]:
    """A notice is confirmed at most once, and never before it was intended."""
    intended = delivered = False
    for said in history:
        match said.event:
            case NotificationIntended():
                intended = True
            case NotificationDelivered():
                if delivered or not intended:
                    what = "delivered twice" if delivered else "delivered before it was intended"
                    yield _violation("a_notice_is_delivered_once", said, what)
                delivered = True


LAUNCH_INVARIANTS: tuple[Invariant, ...] = (
    acceptance_comes_first,
    the_plan_is_what_was_reviewed,
    no_intent_before_go,
    one_intent,
    outcomes_follow_the_intent,
    absence_has_evidence,
    a_terminal_state_stays,
    a_job_is_accepted_before_it_is_watched,
)
NOTICE_INVARIANTS: tuple[Invariant, ...] = (a_notice_is_delivered_once,)


def violations(kind: str, history: Sequence[Said]) -> tuple[Violation, ...]:
    """Everything wrong with one history."""
    invariants = {"launch": LAUNCH_INVARIANTS, "notice": NOTICE_INVARIANTS}.get(kind, ())
    return tuple(found for invariant in invariants for found in invariant(history))
