"""What intake answers: the same word twice is one, a key belongs to one request, and everything wrong is told at once."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import msgspec
import pytest

from gonogo.events.base import Event
from gonogo.events.job import CancelRequested, WatchDetached
from gonogo.events.launch import LaunchAccepted, Person
from gonogo.events.preflight import CheckAttested, RecheckRequested, ReviewConfirmed, ReviewDeclined
from gonogo.events.request import Authorize, Problem, Recovery, Request, request_digest
from gonogo.events.submission import SettlementDeclared
from gonogo.projections.launches import INITIAL, Launch, evolve
from gonogo.services.intake.decider import (
    FUTURE_MAX,
    Accept,
    Deduplicate,
    Inbound,
    Silent,
    Turn,
    Verdict,
    accept,
    hear,
    key_of,
    known,
    recovery_problems,
)
from gonogo.services.intake.words import (
    WORDS,
    Approve,
    Attest,
    Cancel,
    Decline,
    Detach,
    Recheck,
    Resolve,
    Word,
    event_of,
)
from tests import examples as ex
from tests.spec import fold, history, second

ANYONE = frozenset("*")
PLANNED = (ex.launch_accepted, ex.launch_planned)
ASKED = (*PLANNED, ex.preflight_passed, ex.review_requested)
NO_GO = (*PLANNED, ex.preflight_failed)
INTENDED = (*ASKED, ex.review_confirmed, ex.queue_cleared, ex.submission_intended)
DOUBT = (*INTENDED, ex.submission_unresolved)
CONFLICT = (*INTENDED, ex.submission_conflicted)
RUNNING = (*INTENDED, ex.submission_accepted, ex.job_status_changed)
SUCCEEDED = (*RUNNING, ex.job_succeeded)
REJECTED = (*INTENDED, ex.submission_rejected)
DETACHED = (*RUNNING, ex.watch_detached)
CANCELLED = (*PLANNED, ex.cancel_requested, ex.launch_cancelled)
STANDINGS = {
    "checking": PLANNED,
    "awaiting-review": ASKED,
    "no-go": NO_GO,
    "submitting": INTENDED,
    "in-doubt": DOUBT,
    "conflict": CONFLICT,
    "running": RUNNING,
    "succeeded": SUCCEEDED,
    "rejected": REJECTED,
    "unwatched": DETACHED,
    "cancelled": CANCELLED,
}

APPROVE = Approve(launch=ex.LAUNCH, plan_digest=ex.DIGEST, by="ann", basis="looks right")
DECLINE = Decline(launch=ex.LAUNCH, plan_digest=ex.DIGEST, by="ann", basis="wrong dataset")
CANCEL = Cancel(launch=ex.LAUNCH, by="ann", reason="wrong dataset")
RECHECK = Recheck(launch=ex.LAUNCH, by="ann", fixed="freed 30 GB")
ATTEST = Attest(launch=ex.LAUNCH, by="ann", check="image", evidence="pulled it by hand")
RESOLVE = Resolve(launch=ex.LAUNCH, by="ann", job_id="17", evidence="seen in the console")
DETACH = Detach(launch=ex.LAUNCH, by="ann")


def launch(*events: Event) -> Launch:
    return fold(INITIAL, evolve, history(*events))


WHEN_TAKEN = {
    APPROVE: {"awaiting-review", "checking", "no-go"},
    DECLINE: {"awaiting-review", "checking", "no-go"},
    CANCEL: set(STANDINGS) - {"succeeded", "cancelled"},
    RECHECK: {"awaiting-review", "checking", "no-go"},
    ATTEST: {"no-go"},
    RESOLVE: {"in-doubt", "conflict"},
    DETACH: {name for name, told in STANDINGS.items() if name not in ("succeeded", "unwatched") and launch(*told).job},
}


def inbound(word: str = "launch", *, sequence: int = 20, client: str = "cli") -> Inbound:
    return Inbound(sequence=sequence, client=client, word=word, body=b"{}", stored_at=second(0))


def heard(word: Word, *events: Event, client: str = "cli", approvers: frozenset[str] = ANYONE) -> Verdict:
    return hear(inbound(client=client), word, launch(*events), approvers=approvers)


def problems(verdict: Verdict | tuple[object, ...]) -> list[tuple[str, str]]:
    found = verdict.problems if isinstance(verdict, Turn) else verdict
    assert isinstance(found, tuple), f"taken: {verdict}"
    return [(problem.path, problem.problem) for problem in found]


def fixes(verdict: Verdict | tuple[Problem, ...]) -> list[str]:
    found = verdict.problems if isinstance(verdict, Turn) else verdict
    assert isinstance(found, tuple)
    return [problem.fix for problem in found]


def test_a_new_launch_is_accepted_and_planned_in_one_breath() -> None:
    accepted = msgspec.structs.replace(ex.launch_accepted, inbox_sequence=20, person=Person(client="cli"))
    assert accept(inbound(), ex.REQUEST, ex.PLAN) == Accept(launch=ex.LAUNCH, events=(accepted, ex.launch_planned))


def test_a_launch_names_who_the_authorization_says_speaks() -> None:
    request = msgspec.structs.replace(ex.REQUEST, authorize=Authorize(may=("submit",), basis="yes", by="ann"))
    accepted = accept(inbound(), request, ex.PLAN).events[0]
    assert isinstance(accepted, LaunchAccepted)
    assert accepted.person == ex.ANN


def test_a_request_without_a_key_is_its_own_key() -> None:
    keyless = msgspec.structs.replace(ex.REQUEST, key=None)
    assert key_of(ex.REQUEST) == ex.KEY
    assert key_of(keyless) == request_digest(keyless)
    accepted = accept(inbound(), keyless, ex.PLAN).events[0]
    assert isinstance(accepted, LaunchAccepted)
    assert accepted.key == request_digest(keyless)


def test_the_same_message_again_is_silent() -> None:
    assert known(inbound(sequence=5), ex.REQUEST, launch(*PLANNED)) == Silent(launch=ex.LAUNCH)


def test_the_same_request_again_is_the_earlier_launch() -> None:
    verdict = known(inbound(), ex.REQUEST, launch(*PLANNED))
    assert verdict == Deduplicate(launch=ex.LAUNCH, digest=request_digest(ex.REQUEST))


def test_another_request_under_the_same_key_is_declined_by_name() -> None:
    other = msgspec.structs.replace(ex.REQUEST, output="/shared/runs/other")
    verdict = known(inbound(), other, launch(*PLANNED))
    assert isinstance(verdict, Turn)
    assert verdict.launch == ex.LAUNCH
    what = f"the key 'tiny-train-1' was used for another request: launch {ex.LAUNCH}, accepted 2026-03-01 12:00:00 UTC"
    assert problems(verdict) == [("key", what)]
    assert verdict.problems[0].fix == "give this request a key of its own, or send exactly the earlier request"


def recovering(*, of: str = ex.LAUNCH) -> Request:
    recovery = Recovery(launch=of, reason="the queue is open again", evidence="two look-ups")
    return msgspec.structs.replace(ex.REQUEST, recovery_of=recovery)


def not_recovered(*events: Event, request: Request | None = None) -> list[tuple[str, str]]:
    found = recovery_problems(request or recovering(), launch(*events), new=ex.OTHER_LAUNCH)
    assert all(problem.fix for problem in found)
    return problems(found)


@pytest.mark.parametrize(
    "verdict",
    [ex.submission_rejected, ex.submission_absent, ex.submission_withheld],
    ids=lambda event: type(event).__name__,
)
def test_a_launch_proven_to_have_no_job_may_be_recovered(verdict: Event) -> None:
    assert not_recovered(*INTENDED, verdict) == []


def test_a_request_that_recovers_nothing_has_nothing_to_prove() -> None:
    assert not_recovered(*RUNNING, request=ex.REQUEST) == []


@pytest.mark.parametrize("standing", sorted(set(STANDINGS) - {"rejected"}))
def test_a_launch_that_may_have_a_job_is_not_recovered(standing: str) -> None:
    what = f"launch {ex.LAUNCH} is {standing}: only a launch proven to have no job can be recovered"
    assert not_recovered(*STANDINGS[standing]) == [("recovery_of.launch", what)]


def test_a_launch_that_does_not_exist_is_not_recovered() -> None:
    assert not_recovered() == [("recovery_of.launch", f"there is no launch {ex.LAUNCH}")]


def test_a_launch_is_recovered_once() -> None:
    other = msgspec.structs.replace(ex.launch_superseded, by="third")
    what = f"launch {ex.LAUNCH} is recovered already, by launch third"
    assert not_recovered(*REJECTED, other) == [("recovery_of.launch", what)]
    assert not_recovered(*REJECTED, ex.launch_superseded) == []


def test_a_word_taken_before_is_silent_even_if_it_would_be_declined_now() -> None:
    assert hear(inbound(sequence=7), APPROVE, launch(*INTENDED), approvers=ANYONE) == Silent(launch=ex.LAUNCH)


def test_a_word_about_no_launch_is_declined_and_names_none() -> None:
    assert problems(heard(CANCEL)) == [("launch", f"there is no launch {ex.LAUNCH}")]
    verdict = heard(CANCEL)
    assert isinstance(verdict, Turn)
    assert verdict.launch is None


def test_a_declined_word_names_the_launch_it_was_about() -> None:
    verdict = heard(CANCEL, *SUCCEEDED)
    assert isinstance(verdict, Turn)
    assert verdict.launch == ex.LAUNCH


@pytest.mark.parametrize("standing", STANDINGS)
@pytest.mark.parametrize("word", WHEN_TAKEN, ids=lambda word: type(word).__name__)
def test_a_word_is_taken_where_it_means_something(word: Word, standing: str) -> None:
    state = launch(*STANDINGS[standing])
    assert state.standing == standing
    verdict = heard(word, *STANDINGS[standing])
    if standing in WHEN_TAKEN[word]:
        assert verdict == Accept(launch=ex.LAUNCH, events=(event_of(word, client="cli", sequence=20),))
    else:
        assert isinstance(verdict, Turn)
        assert verdict.problems
        assert all(problem.fix for problem in verdict.problems)


@pytest.mark.parametrize(
    ("word", "standing", "done"),
    [
        (CANCEL, "succeeded", "cancelled"),
        (RECHECK, "rejected", "checked again"),
        (RECHECK, "running", "checked again"),
        (DETACH, "succeeded", "detached"),
    ],
)
def test_a_word_that_comes_too_late_says_what_the_launch_is(word: Word, standing: str, done: str) -> None:
    what = f"launch {ex.LAUNCH} is {standing} and cannot be {done}"
    assert problems(heard(word, *STANDINGS[standing])) == [("launch", what)]


def test_an_attestation_that_nothing_waits_for_says_so() -> None:
    what = f"launch {ex.LAUNCH} is checking: nothing waits for an attestation"
    assert problems(heard(ATTEST, *PLANNED)) == [("launch", what)]


def test_a_yes_to_another_plan_is_declined() -> None:
    other = msgspec.structs.replace(APPROVE, plan_digest=ex.OTHER_DIGEST)
    what = f"{ex.OTHER_DIGEST!r} is not the digest of this launch's plan ({ex.DIGEST})"
    assert problems(heard(other, *ASKED)) == [("plan_digest", what)]


def test_only_approvers_answer_reviews() -> None:
    few = frozenset(("zoe", "bob"))
    verdict = heard(APPROVE, *ASKED, approvers=few)
    assert problems(verdict) == [("client", "the client 'cli' may not answer reviews")]
    assert fixes(verdict) == ["ask one of: bob, zoe"]
    many = frozenset("hgfedcba")
    assert fixes(heard(APPROVE, *ASKED, approvers=many)) == ["ask one of: a, b, c, d, e, f, g, h"]
    assert isinstance(heard(APPROVE, *ASKED, client="bob", approvers=few), Accept)
    assert isinstance(heard(CANCEL, *ASKED, approvers=few), Accept)


@pytest.mark.parametrize(
    ("answer", "review"), [(ex.review_confirmed, "confirmed"), (ex.review_declined, "declined")], ids=["yes", "no"]
)
def test_a_review_is_answered_once(answer: Event, review: str) -> None:
    what = f"the review of launch {ex.LAUNCH} is {review} already"
    for word in (APPROVE, DECLINE):
        assert problems(heard(word, *ASKED, answer)) == [("launch", what)]


def test_a_review_of_a_launch_that_is_over_is_declined() -> None:
    what = f"launch {ex.LAUNCH} is cancelled and cannot be reviewed"
    assert problems(heard(APPROVE, *CANCELLED)) == [("launch", what)]


def test_everything_wrong_with_a_yes_is_told_at_once() -> None:
    wrong = msgspec.structs.replace(APPROVE, plan_digest="x", said_at=second(301), expires_at=second(0))
    verdict = heard(wrong, *CANCELLED, approvers=frozenset(("bob",)))
    assert [path for path, _ in problems(verdict)] == ["said_at", "expires_at", "plan_digest", "client", "launch"]


@pytest.mark.parametrize("job_id", ["17", None])
def test_a_declaration_names_a_job_or_says_that_there_is_none(job_id: str | None) -> None:
    word = msgspec.structs.replace(RESOLVE, job_id=job_id, absent=job_id is not None)
    what = "say either which job it is (job_id) or that there is none (absent), not both"
    assert problems(heard(word, *DOUBT)) == [("job_id", what)]
    right = msgspec.structs.replace(word, absent=not word.absent)
    assert isinstance(heard(right, *DOUBT), Accept)


@pytest.mark.parametrize("evidence", ["", " \n"])
def test_a_declaration_without_evidence_is_declined(evidence: str) -> None:
    word = msgspec.structs.replace(RESOLVE, evidence=evidence)
    what = "a declaration without evidence is worth nothing in an audit"
    assert problems(heard(word, *CONFLICT)) == [("evidence", what)]


def test_where_there_is_no_doubt_there_is_nothing_to_settle() -> None:
    what = f"launch {ex.LAUNCH} is running: there is no doubt to settle"
    assert problems(heard(RESOLVE, *RUNNING)) == [("launch", what)]
    declared = msgspec.structs.replace(RESOLVE, job_id=None, evidence="")
    assert [path for path, _ in problems(heard(declared, *RUNNING))] == ["job_id", "evidence", "launch"]


def test_a_doubt_that_a_cancel_has_ended_is_not_settled_again() -> None:
    ended = msgspec.structs.replace(launch(*DOUBT), standing="cancelled")
    verdict = hear(inbound(), RESOLVE, ended, approvers=ANYONE)
    assert [path for path, _ in problems(verdict)] == ["launch"]


def said_at(moment: datetime) -> Verdict:
    return heard(msgspec.structs.replace(CANCEL, said_at=moment), *PLANNED)


def expiring_at(moment: datetime) -> Verdict:
    return heard(msgspec.structs.replace(CANCEL, expires_at=moment), *PLANNED)


def test_a_word_from_a_clock_far_ahead_is_declined() -> None:
    assert timedelta(minutes=5) == FUTURE_MAX
    assert isinstance(said_at(second(300)), Accept)
    what = "said at 2026-03-01T12:05:01+00:00, but it arrived at 2026-03-01T12:00:00+00:00"
    assert problems(said_at(second(301))) == [("said_at", what)]


def test_a_word_that_had_expired_when_it_arrived_is_declined() -> None:
    assert isinstance(expiring_at(second(1)), Accept)
    what = "expired at 2026-03-01T12:00:00+00:00, before it arrived"
    assert problems(expiring_at(second(0))) == [("expires_at", what)]


def test_a_time_without_a_zone_is_utc_and_any_other_is_what_it_says() -> None:
    assert isinstance(said_at(second(300).replace(tzinfo=None)), Accept)
    assert isinstance(said_at(second(301).replace(tzinfo=None)), Turn)
    assert isinstance(expiring_at(second(1).replace(tzinfo=None)), Accept)
    assert isinstance(said_at(second(300).astimezone(timezone(timedelta(hours=2)))), Accept)
    assert isinstance(expiring_at(second(1).astimezone(timezone(timedelta(hours=-2)))), Accept)
    assert isinstance(expiring_at(second(0).replace(tzinfo=None)), Turn)


LATE = {"by": "ann", "said_at": second(301), "expires_at": second(0)}
NOTHING_RIGHT = Resolve(launch=ex.LAUNCH, evidence="")
NEXT: list[tuple[Word, tuple[Event, ...], list[str]]] = [
    (CANCEL, (), ["see: gonogo list"]),
    (CANCEL, SUCCEEDED, ["see: gonogo show; a new attempt is a new launch"]),
    (ATTEST, PLANNED, ["see: gonogo show"]),
    (
        msgspec.structs.replace(APPROVE, plan_digest="x"),
        (*ASKED, ex.review_confirmed),
        ["read the review again and give its digest", "nothing to do; cancel it if it must not run"],
    ),
    (
        msgspec.structs.replace(CANCEL, **LATE),
        PLANNED,
        ["set the client's clock, or leave said_at out", "look at the launch again, then say it anew"],
    ),
    (
        NOTHING_RIGHT,
        RUNNING,
        ["gonogo resolve LAUNCH --job ID, or --absent", "say where you looked and what you saw", "see: gonogo show"],
    ),
]


@pytest.mark.parametrize(("word", "standing", "what_next"), NEXT)
def test_a_declined_word_says_what_to_do_next(word: Word, standing: tuple[Event, ...], what_next: list[str]) -> None:
    assert fixes(heard(word, *standing)) == what_next


def test_a_declined_recovery_says_what_to_do_next() -> None:
    other = msgspec.structs.replace(ex.launch_superseded, by="third")
    nexts: list[tuple[tuple[Event, ...], str]] = [
        ((), "name the launch to recover by its full id"),
        ((*REJECTED, other), "recover third instead, if that one has no job"),
        (RUNNING, "wait for its verdict, or settle it with: gonogo resolve"),
    ]
    for told, what_next in nexts:
        assert fixes(recovery_problems(recovering(), launch(*told), new=ex.OTHER_LAUNCH)) == [what_next]


BY_ANN = {"person": ex.ANN, "inbox_sequence": 20}
EVENTS: dict[Word, Event] = {
    APPROVE: ReviewConfirmed(plan_digest=ex.DIGEST, how="review", basis="looks right", **BY_ANN),
    DECLINE: ReviewDeclined(plan_digest=ex.DIGEST, basis="wrong dataset", **BY_ANN),
    CANCEL: CancelRequested(reason="wrong dataset", **BY_ANN),
    RECHECK: RecheckRequested(fixed="freed 30 GB", **BY_ANN),
    ATTEST: CheckAttested(check="image", evidence="pulled it by hand", **BY_ANN),
    RESOLVE: SettlementDeclared(job_id="17", absent=False, evidence="seen in the console", **BY_ANN),
    DETACH: WatchDetached(**BY_ANN),
}


@pytest.mark.parametrize("word", EVENTS, ids=lambda word: type(word).__name__)
def test_a_word_becomes_the_event_it_is_with_who_said_it_and_where(word: Word) -> None:
    assert event_of(word, client="cli", sequence=20) == EVENTS[word]


def test_there_is_a_shape_and_an_event_for_every_word() -> None:
    assert {type(word) for word in EVENTS} == set(WORDS.values())
    assert all(shape.__name__.lower() == word for word, shape in WORDS.items())


def test_two_launches_do_not_interfere() -> None:
    other = msgspec.structs.replace(CANCEL, launch=ex.OTHER_LAUNCH)
    assert isinstance(heard(CANCEL, *PLANNED), Accept)
    assert problems(hear(inbound(), other, launch(), approvers=ANYONE)) == [
        ("launch", f"there is no launch {ex.OTHER_LAUNCH}")
    ]
