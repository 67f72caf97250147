"""Each invariant is kept by good histories, and broken by a history made for it."""

from __future__ import annotations

import msgspec
import pytest

from gonogo.events.base import Event
from gonogo.events.ids import digest_of
from gonogo.events.launch import Rendering, plan_digest
from gonogo.projections.invariants import (
    LAUNCH_INVARIANTS,
    NOTICE_INVARIANTS,
    Violation,
    a_job_is_accepted_before_it_is_watched,
    a_notice_is_delivered_once,
    a_terminal_state_stays,
    absence_has_evidence,
    acceptance_comes_first,
    no_intent_before_go,
    one_intent,
    outcomes_follow_the_intent,
    the_plan_is_what_was_reviewed,
    violations,
)
from tests import examples as ex
from tests.spec import At, at, history

PLANNED = (ex.launch_accepted, ex.launch_planned)
READY = (*PLANNED, ex.preflight_passed, ex.review_confirmed, ex.queue_cleared)
INTENDED = (*READY, ex.submission_intended)
DOUBT = (*INTENDED, at(ex.submission_unresolved, 1))
ACCEPTED = (*INTENDED, ex.submission_accepted)
LOOK = ex.submission_looked_up
FAILED_LOOK = msgspec.structs.replace(LOOK, complete=False, cause="no answer")
FULL_LOOK = msgspec.structs.replace(LOOK, found=(ex.SIGHTING,))
BLIND_LOOK = msgspec.structs.replace(LOOK, control=None)
DECLARED = msgspec.structs.replace(ex.submission_absent, declared=True)
ENDS = (ex.job_succeeded, ex.job_failed, ex.job_cancelled, ex.job_stopped, ex.duplicate_stopped)
SECOND_ACCEPTED = msgspec.structs.replace(ex.submission_accepted, job=ex.SECOND_JOB)
SECOND_STATUS = msgspec.structs.replace(ex.job_status_changed, job=ex.SECOND_JOB)
NOTICE = (ex.notification_intended, ex.notification_unconfirmed, ex.notification_delivered)

KEPT: dict[str, tuple[Event | At, ...]] = {
    "nothing": (),
    "a smooth launch": (*ACCEPTED, ex.submission_verified, ex.job_status_changed, ex.job_restarted, ex.job_succeeded),
    "a second round": (
        *PLANNED,
        ex.preflight_failed,
        ex.recheck_requested,
        *READY[2:],
        ex.preflight_expired,
        at(ex.preflight_passed, 700),
        ex.submission_intended,
    ),
    "proven absence": (*DOUBT, at(LOOK, 30), at(LOOK, 61), at(LOOK, 71), ex.submission_absent),
    "absence after a failed look-up": (
        *(*DOUBT, at(LOOK, 61), at(FAILED_LOOK, 65), at(LOOK, 70)),
        *(at(LOOK, 80), ex.submission_absent),
    ),
    "declared absence": (*DOUBT, ex.settlement_declared, DECLARED),
    "an adopted job": (*DOUBT, at(FULL_LOOK, 2), ex.submission_accepted, ex.job_succeeded),
    "a settled conflict": (*INTENDED, ex.submission_conflicted, SECOND_STATUS, ex.job_succeeded),
    "two jobs, each with its end": (*ACCEPTED, ex.job_failed, SECOND_ACCEPTED, SECOND_STATUS),
    "a cancelled launch": (*PLANNED, ex.cancel_requested, ex.launch_cancelled),
    "a cancel after the intent": (*INTENDED, ex.cancel_requested, ex.submission_accepted, ex.job_cancelled),
    "what is said after an end, but not of the job": (*ACCEPTED, ex.job_succeeded, ex.watch_detached),
}


def found(invariant: object, *events: Event | At) -> list[tuple[int, str]]:
    wrong = list(invariant(history(*events)))  # type: ignore[operator]
    assert all(one.invariant == invariant.__name__ for one in wrong)  # type: ignore[attr-defined]
    return [(one.sequence, one.what) for one in wrong]


@pytest.mark.parametrize("name", KEPT)
def test_a_good_history_breaks_no_invariant(name: str) -> None:
    assert violations("launch", history(*KEPT[name])) == ()


def test_a_good_notice_breaks_no_invariant() -> None:
    assert violations("notice", history(*NOTICE)) == ()


def test_every_invariant_has_a_sentence() -> None:
    for invariant in (*LAUNCH_INVARIANTS, *NOTICE_INVARIANTS):
        assert (invariant.__doc__ or "").strip().endswith(".")


def test_a_history_is_judged_by_every_invariant_of_its_kind() -> None:
    nothing_accepted = history(ex.job_succeeded, ex.job_succeeded)
    assert [one.invariant for one in violations("launch", nothing_accepted)] == [
        "acceptance_comes_first",
        "a_terminal_state_stays",
        "a_job_is_accepted_before_it_is_watched",
        "a_job_is_accepted_before_it_is_watched",
    ]
    assert violations("notice", nothing_accepted) == ()
    assert violations("queue", nothing_accepted) == ()
    undelivered = "delivered before it was intended"
    assert violations("notice", history(ex.notification_delivered)) == (
        Violation(invariant="a_notice_is_delivered_once", sequence=1, what=undelivered),
    )


def test_all_invariants_are_asked_in_this_order() -> None:
    assert (
        acceptance_comes_first,
        the_plan_is_what_was_reviewed,
        no_intent_before_go,
        one_intent,
        outcomes_follow_the_intent,
        absence_has_evidence,
        a_terminal_state_stays,
        a_job_is_accepted_before_it_is_watched,
    ) == LAUNCH_INVARIANTS
    assert (a_notice_is_delivered_once,) == NOTICE_INVARIANTS


def test_acceptance_comes_first_and_once() -> None:
    assert found(acceptance_comes_first, *PLANNED, ex.launch_accepted) == [(3, "accepted a second time")]
    assert found(acceptance_comes_first, ex.check_passed) == [(1, "begins with CheckPassed")]
    assert found(acceptance_comes_first, ex.launch_planned) == []
    assert found(acceptance_comes_first, ex.check_passed, ex.launch_accepted) == [
        (1, "begins with CheckPassed"),
        (2, "accepted a second time"),
    ]


def test_an_accepted_request_hashes_to_its_digest() -> None:
    other = msgspec.structs.replace(ex.launch_accepted, digest=ex.OTHER_DIGEST)
    assert found(acceptance_comes_first, other, ex.launch_planned) == [(1, "the request does not hash to its digest")]


def test_a_launch_id_is_derived_from_who_asked_under_which_key() -> None:
    wrong = [(2, "the launch id is not that of its client and key")]
    key = msgspec.structs.replace(ex.launch_accepted, key="another")
    client = msgspec.structs.replace(ex.launch_accepted, person=msgspec.structs.replace(ex.ANN, client="another"))
    claimed = msgspec.structs.replace(ex.launch_accepted, person=msgspec.structs.replace(ex.ANN, claimed="bob"))
    assert found(acceptance_comes_first, key, ex.launch_planned) == wrong
    assert found(acceptance_comes_first, client, ex.launch_planned) == wrong
    assert found(acceptance_comes_first, claimed, ex.launch_planned) == []


def test_a_plan_hashes_to_its_digest() -> None:
    other = msgspec.structs.replace(ex.launch_planned, plan_digest=ex.OTHER_DIGEST)
    wrong = (2, "the plan does not hash to its digest")
    assert found(the_plan_is_what_was_reviewed, ex.launch_accepted, other) == [wrong]


def test_a_rendering_hashes_to_its_digest() -> None:
    forged = msgspec.structs.replace(ex.PLAN, rendering=Rendering(body="rm -rf /", digest=digest_of(b"ls")))
    honest = msgspec.structs.replace(ex.launch_planned, plan=forged, plan_digest=plan_digest(forged))
    wrong = (2, "the rendering does not hash to its digest")
    assert found(the_plan_is_what_was_reviewed, ex.launch_accepted, honest) == [wrong]
    both = msgspec.structs.replace(honest, plan_digest=ex.OTHER_DIGEST)
    assert [sequence for sequence, _ in found(the_plan_is_what_was_reviewed, ex.launch_accepted, both)] == [2, 2]


def intending(*events: Event | At) -> list[str]:
    wrong = found(no_intent_before_go, *events)
    assert {sequence for sequence, _ in wrong} <= {len(events)}
    return [what for _, what in wrong]


def test_an_intent_before_anything_has_everything_against_it() -> None:
    assert intending(ex.launch_accepted, ex.submission_intended) == [
        "the intent's plan digest is not that of the plan",
        "nobody confirmed this plan",
        "the queue was not cleared",
        "there is no go, or it had expired",
    ]


@pytest.mark.parametrize(
    ("gate", "what"),
    [
        (ex.preflight_passed, "there is no go, or it had expired"),
        (ex.review_confirmed, "nobody confirmed this plan"),
        (ex.queue_cleared, "the queue was not cleared"),
    ],
    ids=["go", "yes", "clear"],
)
def test_an_intent_needs_each_gate_for_exactly_its_plan(gate: Event, what: str) -> None:
    other = msgspec.structs.replace(gate, plan_digest=ex.OTHER_DIGEST)
    assert intending(*(event for event in INTENDED if event is not gate)) == [what]
    assert intending(*(other if event is gate else event for event in INTENDED)) == [what]
    too_late = found(no_intent_before_go, *(event for event in INTENDED if event is not gate), gate)
    assert too_late == [(5, what)]


def test_an_intent_is_for_the_plan_and_the_rendering_that_were_planned() -> None:
    digest = msgspec.structs.replace(ex.submission_intended, plan_digest=ex.OTHER_DIGEST)
    rendering = msgspec.structs.replace(ex.submission_intended, rendering_digest=ex.OTHER_DIGEST)
    assert intending(*READY, digest)[0] == "the intent's plan digest is not that of the plan"
    assert intending(*READY, rendering) == ["the intent's rendering is not the planned one"]


def test_the_last_plan_is_the_plan() -> None:
    plan = msgspec.structs.replace(ex.PLAN, queue="day")
    later = msgspec.structs.replace(ex.launch_planned, plan=plan, plan_digest=plan_digest(plan))
    assert intending(later, *INTENDED[1:]) == []
    assert intending(*READY, later, ex.submission_intended) == ["the intent's plan digest is not that of the plan"]


def test_the_rendering_of_the_last_plan_is_the_rendering() -> None:
    plan = msgspec.structs.replace(ex.PLAN, rendering=Rendering(body="ls", digest=digest_of(b"ls")))
    earlier = msgspec.structs.replace(ex.launch_planned, plan=plan, plan_digest=plan_digest(plan))
    assert intending(earlier, *INTENDED[1:]) == []


def test_an_intent_is_decided_while_the_go_holds() -> None:
    on_time = (*READY, at(ex.submission_intended, 601))
    too_late = (*READY, at(ex.submission_intended, 601.1))
    assert intending(*on_time) == []
    assert intending(*too_late) == ["there is no go, or it had expired"]


@pytest.mark.parametrize(
    "word", [ex.preflight_failed, ex.preflight_expired, ex.recheck_requested], ids=lambda event: type(event).__name__
)
def test_a_go_that_was_taken_back_is_none(word: Event) -> None:
    assert intending(*READY, word, ex.submission_intended) == ["there is no go, or it had expired"]
    assert intending(*PLANNED, word, *INTENDED[2:]) == []


@pytest.mark.parametrize("what_is_between", [ex.check_passed, ex.check_attested], ids=["check", "attestation"])
def test_what_is_said_after_the_go_does_not_take_it_back(what_is_between: Event) -> None:
    assert intending(*READY, what_is_between, ex.submission_intended) == []


@pytest.mark.parametrize(
    "word", [ex.cancel_requested, ex.review_declined, ex.launch_superseded], ids=lambda event: type(event).__name__
)
def test_no_intent_stands_after_a_word_against_it(word: Event) -> None:
    assert intending(*READY, word, ex.submission_intended) == [f"{type(word).__name__} stands before it"]
    assert intending(*PLANNED, word, *INTENDED[2:]) == [f"{type(word).__name__} stands before it"]
    assert found(no_intent_before_go, *INTENDED, word) == []


def test_a_launch_has_one_intent() -> None:
    again = (*INTENDED, ex.submission_unresolved, ex.submission_intended, ex.submission_intended)
    what = "a second intent in one launch"
    assert found(one_intent, *again) == [(8, what), (9, what)]
    assert found(one_intent, *INTENDED) == []


@pytest.mark.parametrize(
    "outcome",
    [
        ex.submission_accepted,
        ex.submission_rejected,
        ex.submission_unresolved,
        ex.submission_absent,
        ex.submission_withheld,
        ex.submission_looked_up,
    ],
    ids=lambda event: type(event).__name__,
)
def test_no_outcome_stands_before_the_intent(outcome: Event) -> None:
    what = f"{type(outcome).__name__} without an intent: something was done before it was recorded"
    assert found(outcomes_follow_the_intent, *READY, outcome, ex.submission_intended) == [(6, what)]
    assert found(outcomes_follow_the_intent, *INTENDED, outcome, outcome) == []


def weakness(*events: Event | At, terms: dict[str, object] | None = None) -> str | None:
    intent = msgspec.structs.replace(ex.submission_intended, terms=msgspec.structs.replace(ex.TERMS, **(terms or {})))
    told = (*READY, intent, *events, ex.submission_absent)
    wrong = found(absence_has_evidence, *told)
    assert {sequence for sequence, _ in wrong} <= {len(told)}
    return wrong[0][1] if wrong else None


UNRESOLVED = at(ex.submission_unresolved, 1)
NO_LOOK_UP = "no complete look-up with a control after the grace"


def test_absence_needs_a_doubt() -> None:
    assert weakness() == "absent without a recorded doubt"
    assert weakness(at(LOOK, 61), at(LOOK, 71)) == "absent without a recorded doubt"


def test_absence_needs_look_ups_that_count() -> None:
    assert weakness(UNRESOLVED) == NO_LOOK_UP
    assert weakness(UNRESOLVED, at(LOOK, 50), at(LOOK, 60.9)) == NO_LOOK_UP
    for useless in (FAILED_LOOK, FULL_LOOK, BLIND_LOOK):
        assert weakness(UNRESOLVED, at(LOOK, 61), at(useless, 71)) == NO_LOOK_UP


def test_absence_needs_look_ups_a_settle_time_apart() -> None:
    assert weakness(UNRESOLVED, at(LOOK, 61), at(LOOK, 71)) is None
    close = weakness(UNRESOLVED, at(LOOK, 61), at(LOOK, 65), at(LOOK, 70.5))
    assert close == "its look-ups are 9.5 s apart, less than the settle time of 10 s"
    assert weakness(UNRESOLVED, at(LOOK, 61)) == "its look-ups are 0 s apart, less than the settle time of 10 s"


def test_a_look_up_that_proves_nothing_starts_the_count_again() -> None:
    what = "its look-ups are 5 s apart, less than the settle time of 10 s"
    for useless in (FAILED_LOOK, FULL_LOOK, BLIND_LOOK):
        assert weakness(UNRESOLVED, at(LOOK, 61), at(useless, 66), at(LOOK, 67), at(LOOK, 72)) == what


def test_a_doubt_that_starts_again_needs_look_ups_of_its_own() -> None:
    told = (UNRESOLVED, at(LOOK, 61), at(LOOK, 71), at(ex.submission_unresolved, 72))
    assert weakness(*told) == NO_LOOK_UP
    assert (
        weakness(*told, at(LOOK, 131), at(LOOK, 142)) == "its look-ups are 0 s apart, less than the settle time of 10 s"
    )
    assert weakness(*told, at(LOOK, 132), at(LOOK, 142)) is None


def test_one_look_up_is_proof_where_the_platforms_own_negative_is() -> None:
    authoritative = {"authoritative_negative": True}
    assert weakness(UNRESOLVED, at(BLIND_LOOK, 61), terms=authoritative) is None
    for useless in (at(BLIND_LOOK, 60.9), at(FAILED_LOOK, 61), at(FULL_LOOK, 61)):
        assert weakness(UNRESOLVED, useless, terms=authoritative) == NO_LOOK_UP


def test_a_persons_word_needs_no_look_up() -> None:
    assert found(absence_has_evidence, *INTENDED, DECLARED) == []
    assert found(absence_has_evidence, *READY, ex.submission_absent) == []


@pytest.mark.parametrize("end", ENDS, ids=lambda event: type(event).__name__)
def test_after_the_end_of_a_job_nothing_more_is_said_of_it(end: Event) -> None:
    for late in (*ENDS, ex.job_status_changed, ex.job_restarted):
        what = f"{type(late).__name__} after the job's end"
        assert found(a_terminal_state_stays, *ACCEPTED, end, late) == [(9, what)]
        assert found(a_terminal_state_stays, *ACCEPTED, end, ex.check_passed, late) == [(10, what)]
    other = msgspec.structs.replace(ex.job_failed, job=ex.SECOND_JOB)
    assert found(a_terminal_state_stays, *ACCEPTED, other, end) == []


def test_a_status_is_no_end() -> None:
    assert found(a_terminal_state_stays, *ACCEPTED, ex.job_status_changed, ex.job_restarted, ex.job_failed) == []


@pytest.mark.parametrize(
    "event", [*ENDS, ex.job_status_changed, ex.job_restarted], ids=lambda event: type(event).__name__
)
def test_nothing_is_said_of_a_job_that_no_submission_produced(event: Event) -> None:
    what = f"{type(event).__name__} of a job that was never accepted"
    assert found(a_job_is_accepted_before_it_is_watched, *INTENDED, event, ex.submission_accepted) == [(7, what)]
    assert found(a_job_is_accepted_before_it_is_watched, *INTENDED, SECOND_ACCEPTED, event) == [(8, what)]
    assert found(a_job_is_accepted_before_it_is_watched, *ACCEPTED, SECOND_ACCEPTED, event) == []
    assert found(a_job_is_accepted_before_it_is_watched, *INTENDED, ex.submission_conflicted, event) == []


def test_a_notice_is_delivered_once_and_after_its_intent() -> None:
    assert found(a_notice_is_delivered_once, *NOTICE, ex.notification_delivered) == [(4, "delivered twice")]
    assert found(a_notice_is_delivered_once, ex.notification_delivered) == [(1, "delivered before it was intended")]
    late = (ex.notification_delivered, ex.notification_intended, ex.notification_delivered)
    assert found(a_notice_is_delivered_once, *late) == [
        (1, "delivered before it was intended"),
        (3, "delivered twice"),
    ]
