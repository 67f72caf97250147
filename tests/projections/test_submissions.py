"""Where the one submission of a launch stands: from "maybe" only evidence or a person's word leads on."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from gonogo.events.base import Event
from gonogo.events.submission import SubmissionAccepted
from gonogo.projections.gates import CLOSED, evolve_gates
from gonogo.projections.submissions import (
    INITIAL,
    Awaiting,
    Cancelled,
    Conflicted,
    Contradicted,
    Created,
    InDoubt,
    Intended,
    Look,
    Settled,
    Stage,
    Submission,
    evolve,
)
from tests import examples as ex
from tests.spec import At, at, fold, history, second

INTENT = ex.submission_intended
INTENDED = (INTENT,)
DOUBT = (INTENT, at(ex.submission_unresolved, 30))
CREATED = (INTENT, at(ex.submission_accepted, 30))
CONFLICT = (INTENT, at(ex.submission_conflicted, 30))
FOUND = msgspec.structs.replace(ex.submission_looked_up, found=(ex.SIGHTING, ex.SECOND_SIGHTING))
IN_DOUBT = InDoubt(intent=INTENT, since=second(30), cause="no answer within 25 s")
LOOK = Look(at=second(40), complete=True, found=(), control="xx")
SETTLED_BY = {ex.submission_rejected: "rejected", ex.submission_absent: "absent", ex.submission_withheld: "withheld"}
SECOND = SubmissionAccepted(job=ex.SECOND_JOB)
STAGES: dict[str, tuple[Event | At, ...]] = {
    "awaiting": (),
    "intended": INTENDED,
    "in-doubt": DOUBT,
    "created": CREATED,
    "settled": (INTENT, ex.submission_rejected),
    "contradicted": (*CREATED, SECOND),
    "conflicted": CONFLICT,
}
CONTRADICTED = Contradicted(intent=INTENT, jobs=(ex.JOB, ex.SECOND_JOB), why="two jobs were accepted for one intent")


def submission(*events: Event | At) -> Submission:
    return fold(INITIAL, evolve, history(*events))


def stage(*events: Event | At) -> Stage:
    return submission(*events).stage


def test_nothing_is_intended_at_the_beginning() -> None:
    assert Submission(gates=CLOSED, stage=Awaiting()) == INITIAL


def test_the_gates_are_folded_beside_the_stage() -> None:
    told = (ex.launch_planned, ex.preflight_passed, ex.review_confirmed, ex.submission_intended, ex.queue_cleared)
    assert submission(*told).gates == fold(CLOSED, evolve_gates, history(*told))
    assert stage(*told) == Intended(intent=INTENT, at=second(0))


def test_an_intent_stands_from_its_storage() -> None:
    assert stage(at(INTENT, 7)) == Intended(intent=INTENT, at=second(7))


def test_no_outcome_counts_before_there_is_an_intent() -> None:
    for event in ex.EXAMPLES.values():
        if event not in (INTENT, ex.launch_cancelled):
            assert stage(event) == Awaiting(), event


@pytest.mark.parametrize("before", STAGES)
def test_a_cancelled_launch_is_over_whatever_it_was(before: str) -> None:
    assert stage(*STAGES[before], ex.launch_cancelled) == Cancelled()
    for event in ex.EXAMPLES.values():
        assert stage(*STAGES[before], ex.launch_cancelled, event) == Cancelled(), event


@pytest.mark.parametrize("before", sorted(set(STAGES) - {"awaiting"}))
def test_a_second_intent_changes_nothing(before: str) -> None:
    other = msgspec.structs.replace(INTENT, job_name="other")
    assert stage(*STAGES[before], other) == stage(*STAGES[before])


def test_a_doubt_stands_from_its_storage_and_names_its_cause() -> None:
    assert stage(*DOUBT) == IN_DOUBT


def test_a_doubt_that_starts_again_forgets_its_look_ups_and_keeps_a_persons_word() -> None:
    again = msgspec.structs.replace(ex.submission_unresolved, cause="again")
    told = (*DOUBT, at(ex.submission_looked_up, 40), ex.settlement_declared, at(again, 50))
    restarted = InDoubt(intent=INTENT, since=second(50), cause="again", declared=ex.settlement_declared)
    assert stage(*told) == restarted


def test_look_ups_of_a_doubt_are_kept_in_their_order() -> None:
    failed = msgspec.structs.replace(ex.submission_looked_up, complete=False, control=None, cause="no answer")
    told = (*DOUBT, at(ex.submission_looked_up, 40), at(FOUND, 50), at(failed, 60))
    looks = (
        LOOK,
        Look(at=second(50), complete=True, found=(ex.SIGHTING, ex.SECOND_SIGHTING), control="xx"),
        Look(at=second(60), complete=False, found=(), control=None),
    )
    assert stage(*told) == msgspec.structs.replace(IN_DOUBT, looks=looks)


def test_a_look_up_and_a_persons_word_say_nothing_where_there_is_no_doubt() -> None:
    for event in (ex.submission_looked_up, ex.settlement_declared):
        assert stage(*INTENDED, event) == stage(*INTENDED)
        assert stage(*CREATED, event) == stage(*CREATED)


@pytest.mark.parametrize("order", list(permutations((ex.submission_looked_up, ex.settlement_declared))))
def test_a_look_up_and_a_persons_word_count_in_either_order(order: tuple[Event, ...]) -> None:
    told = (*DOUBT, *(at(event, 40) for event in order))
    assert stage(*told) == msgspec.structs.replace(IN_DOUBT, looks=(LOOK,), declared=ex.settlement_declared)


@pytest.mark.parametrize("before", ["intended", "in-doubt", "conflicted"])
def test_an_accepted_job_is_created_from_then_on(before: str) -> None:
    created = Created(intent=INTENT, job=ex.JOB, at=second(40), read_back=False)
    assert stage(*STAGES[before], at(ex.submission_accepted, 40)) == created


@pytest.mark.parametrize("read", [ex.submission_verified, ex.submission_mismatched], ids=["verified", "mismatched"])
def test_a_created_job_is_read_back_once_either_reading_is_there(read: Event) -> None:
    created = stage(*CREATED)
    assert created == Created(intent=INTENT, job=ex.JOB, at=second(30))
    assert stage(*CREATED, read) == msgspec.structs.replace(created, read_back=True)
    for before in set(STAGES) - {"created"}:
        assert stage(*STAGES[before], read) == stage(*STAGES[before])


@pytest.mark.parametrize("before", ["intended", "in-doubt"])
@pytest.mark.parametrize("verdict", SETTLED_BY, ids=lambda event: type(event).__name__)
def test_a_verdict_settles_what_was_maybe(before: str, verdict: Event) -> None:
    settled = Settled(intent=INTENT, how=SETTLED_BY[verdict], at=second(40))
    assert stage(*STAGES[before], at(verdict, 40)) == settled


@pytest.mark.parametrize("before", ["created", "settled", "contradicted"])
@pytest.mark.parametrize("verdict", [*SETTLED_BY, ex.submission_unresolved], ids=lambda event: type(event).__name__)
def test_a_late_verdict_changes_nothing(before: str, verdict: Event) -> None:
    assert stage(*STAGES[before], at(verdict, 40)) == stage(*STAGES[before])


def test_the_same_job_accepted_again_changes_nothing() -> None:
    assert stage(*CREATED, at(ex.submission_accepted, 40)) == stage(*CREATED)
    assert stage(*CREATED, ex.submission_verified, ex.submission_accepted) == stage(*CREATED, ex.submission_verified)


def test_another_job_for_the_same_intent_is_a_contradiction() -> None:
    assert stage(*CREATED, SECOND) == CONTRADICTED
    assert stage(*CREATED, SECOND, ex.submission_accepted) == CONTRADICTED


@pytest.mark.parametrize("verdict", SETTLED_BY, ids=lambda event: type(event).__name__)
def test_a_job_after_a_verdict_is_a_contradiction(verdict: Event) -> None:
    how = SETTLED_BY[verdict]
    accepted = Contradicted(intent=INTENT, jobs=(ex.JOB,), why=f"a job was accepted after the verdict '{how}'")
    appeared = Contradicted(
        intent=INTENT, jobs=(ex.JOB, ex.SECOND_JOB), why=f"a job appeared after the verdict '{how}'"
    )
    assert stage(INTENT, verdict, ex.submission_accepted) == accepted
    assert stage(INTENT, verdict, FOUND) == appeared


def test_look_ups_of_a_settled_name_are_counted() -> None:
    settled = stage(INTENT, ex.submission_rejected)
    told = (INTENT, ex.submission_rejected, ex.submission_looked_up)
    assert stage(*told) == msgspec.structs.replace(settled, looks=1)
    assert stage(*told, ex.submission_looked_up) == msgspec.structs.replace(settled, looks=2)


@pytest.mark.parametrize("before", sorted(set(STAGES) - {"awaiting", "conflicted"}))
def test_a_conflict_that_is_said_waits_for_a_person(before: str) -> None:
    conflicted = Conflicted(intent=INTENT, jobs=(ex.JOB, ex.SECOND_JOB))
    assert stage(*STAGES[before], ex.submission_conflicted) == conflicted


def test_a_persons_word_on_a_conflict_is_kept() -> None:
    declared = Conflicted(intent=INTENT, jobs=(ex.JOB, ex.SECOND_JOB), declared=ex.settlement_declared)
    assert stage(*CONFLICT, ex.settlement_declared) == declared


def test_a_conflict_is_settled_by_absence_and_by_nothing_less() -> None:
    assert stage(*CONFLICT, at(ex.submission_absent, 40)) == Settled(intent=INTENT, how="absent", at=second(40))
    for event in (ex.submission_rejected, ex.submission_withheld, ex.submission_unresolved, FOUND, INTENT):
        assert stage(*CONFLICT, event) == stage(*CONFLICT)


def test_a_contradiction_moves_on_only_by_being_said() -> None:
    told = (*CREATED, SECOND)
    for event in ex.EXAMPLES.values():
        if event not in (ex.submission_conflicted, ex.launch_cancelled):
            assert stage(*told, event) == CONTRADICTED, event


def test_what_is_said_of_the_job_does_not_move_the_submission() -> None:
    for before in STAGES.values():
        for event in ex.EXAMPLES.values():
            if type(event).__module__.endswith((".job", ".preflight", ".placeholder", ".notification")):
                assert stage(*before, event) == stage(*before), event
