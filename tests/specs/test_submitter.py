"""The submitter: the intent before the call, one call a launch, and from "maybe" only evidence leads on."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gonogo.events.base import Event, UnknownEvent
from gonogo.events.job import CancelRequested, JobRef
from gonogo.events.submission import SettlementDeclared, SubmissionAbsent, SubmissionAccepted, SubmissionConflicted
from gonogo.projections.submissions import INITIAL, Awaiting, Submission, evolve
from gonogo.services.submitter.decider import DIED, Create, LookUp, ReadBack, conclude, decide, due
from tests import examples as ex
from tests.spec import At, Spec, at, fold, history, recovered, said, second, woken
from tests.spec import due as due_at

submitter = Spec(INITIAL, evolve, decide)

HOUR = 3600.0
CREATE = Create(ex.submission_intended, ex.PLAN)
LOOK_UP = LookUp(ex.PLAN)
READ_BACK = ReadBack(ex.JOB, ex.PLAN)
GATES = (ex.preflight_passed, ex.review_confirmed, ex.queue_cleared)
READY = (ex.launch_accepted, ex.launch_planned, *GATES)
INTENDED = (*READY, ex.submission_intended)
DOUBT = (*INTENDED, ex.submission_unresolved)
FOUND = msgspec.structs.replace(ex.submission_looked_up, found=(ex.SIGHTING,))
FOUND_TWO = msgspec.structs.replace(ex.submission_looked_up, found=(ex.SIGHTING, ex.SECOND_SIGHTING))
PROVEN_ABSENT = (*DOUBT, at(ex.submission_looked_up, 60), at(ex.submission_looked_up, 70))
UNKNOWN = UnknownEvent(type="SubmissionForbidden", dataschema="urn:gonogo:SubmissionForbidden:1", raw="{}")
CONFLICT = (*INTENDED, ex.submission_conflicted)
JOBLESS = (ex.submission_rejected, ex.submission_absent, ex.submission_withheld)
DECLARED_ABSENT = SettlementDeclared(job_id=None, absent=True, evidence="the console is empty", person=ex.ANN)
DECLARED_BY_ANN = "declared by ann (claimed) via cli"


def test_the_intent_is_recorded_before_create_and_together_with_it() -> None:
    submitter.given(*READY).when(woken()).then(record=(ex.submission_intended,), perform=(CREATE,))


def test_an_empty_history_submits_nothing() -> None:
    submitter.given().when(recovered()).then_nothing()


@pytest.mark.parametrize("order", list(permutations(GATES)))
def test_the_gates_may_open_in_any_order(order: tuple[Event, ...]) -> None:
    submitter.given(ex.launch_planned, *order).when(woken()).then(record=(ex.submission_intended,), perform=(CREATE,))


@pytest.mark.parametrize("missing", GATES, ids=lambda event: type(event).__name__)
def test_one_closed_gate_is_enough_to_submit_nothing(missing: Event) -> None:
    opened = tuple(gate for gate in GATES if gate is not missing)
    submitter.given(ex.launch_planned, *opened).when(woken()).then_nothing()


@pytest.mark.parametrize("gate", GATES, ids=lambda event: type(event).__name__)
def test_a_gate_opened_for_another_plan_opens_nothing(gate: Event) -> None:
    other = msgspec.structs.replace(gate, plan_digest=ex.OTHER_DIGEST)
    opened = tuple(other if one is gate else one for one in GATES)
    submitter.given(ex.launch_planned, *opened).when(woken()).then_nothing()


def test_a_go_that_has_expired_submits_nothing() -> None:
    submitter.given(*READY).when(woken(600)).then_nothing()


@pytest.mark.parametrize("word", [ex.review_declined, ex.launch_superseded], ids=lambda event: type(event).__name__)
def test_a_word_against_it_submits_nothing(word: Event) -> None:
    submitter.given(*READY, word).when(woken()).then_nothing()


def test_a_cancel_before_the_intent_ends_the_launch_with_its_reason() -> None:
    submitter.given(*READY, ex.cancel_requested).when(woken()).then(record=(ex.launch_cancelled,))


def test_a_cancel_before_the_gates_are_open_ends_the_launch_too() -> None:
    submitter.given(ex.launch_planned, ex.cancel_requested).when(woken()).then(record=(ex.launch_cancelled,))


def test_a_cancel_without_a_reason_says_so() -> None:
    cancel = CancelRequested(person=ex.ANN)
    ended = msgspec.structs.replace(ex.launch_cancelled, reason="no reason given")
    submitter.given(*READY, cancel).when(woken()).then(record=(ended,))


@pytest.mark.parametrize("order", list(permutations((ex.cancel_requested, *GATES))))
def test_a_cancel_wins_against_the_gates_in_any_order(order: tuple[Event, ...]) -> None:
    submitter.given(ex.launch_planned, *order).when(woken()).then(record=(ex.launch_cancelled,))


def test_a_cancelled_launch_stays_cancelled() -> None:
    submitter.given(*READY, ex.launch_cancelled).when(recovered()).then_nothing()


def test_nothing_is_done_in_a_history_without_a_plan() -> None:
    submitter.given(ex.launch_accepted, ex.cancel_requested).when(recovered()).then_nothing()


@pytest.mark.parametrize("before", [READY, DOUBT, CONFLICT], ids=["ready", "in-doubt", "conflict"])
def test_nothing_is_done_in_a_history_with_an_event_of_a_newer_version(before: tuple[Event, ...]) -> None:
    submitter.given(*before, ex.settlement_declared, UNKNOWN).when(recovered()).then_nothing()


def test_an_intent_of_a_living_process_is_left_alone() -> None:
    submitter.given(*INTENDED).when(woken(59.9)).then_nothing()


def test_an_intent_found_at_a_start_is_in_doubt_and_never_created_again() -> None:
    unresolved = msgspec.structs.replace(ex.submission_unresolved, cause=DIED)
    submitter.given(*INTENDED).when(recovered()).then(record=(unresolved,))


def test_a_doubt_about_a_dead_process_says_so() -> None:
    assert DIED == "the process that intended it ended before it recorded an outcome"


def test_an_intent_that_is_silent_for_the_whole_grace_is_in_doubt() -> None:
    unresolved = msgspec.structs.replace(ex.submission_unresolved, cause=DIED)
    submitter.given(*INTENDED).when(due_at(60)).then(record=(unresolved,))


def test_a_doubt_is_looked_up_at_once_because_a_job_may_be_there_to_adopt() -> None:
    submitter.given(*DOUBT).when(woken()).then(perform=(LOOK_UP,))


def test_a_doubt_is_looked_up_again_after_the_grace() -> None:
    submitter.given(*DOUBT, at(ex.submission_looked_up, 1)).when(due_at(60)).then(perform=(LOOK_UP,))


def test_a_doubt_is_not_looked_up_before_it_is_due() -> None:
    submitter.given(*DOUBT, at(ex.submission_looked_up, 1)).when(woken(59)).then_nothing()


def test_a_job_that_is_found_is_adopted() -> None:
    adopted = SubmissionAccepted(job=ex.JOB, found_by_lookup=True)
    submitter.given(*DOUBT, FOUND).when(woken()).then(record=(adopted,))


def test_what_the_last_look_up_shows_counts() -> None:
    adopted = SubmissionAccepted(job=ex.JOB, found_by_lookup=True)
    submitter.given(*DOUBT, ex.submission_looked_up, FOUND).when(woken()).then(record=(adopted,))
    submitter.given(*DOUBT, FOUND, ex.submission_looked_up).when(woken()).then_nothing()


def test_two_jobs_under_one_name_are_a_conflict() -> None:
    submitter.given(*DOUBT, FOUND_TWO).when(woken()).then(record=(ex.submission_conflicted,))


def test_copies_that_the_platform_made_of_one_job_are_one_job() -> None:
    copies = tuple(msgspec.structs.replace(one, lineage="17") for one in FOUND_TWO.found)
    adopted = SubmissionAccepted(job=ex.JOB, found_by_lookup=True)
    look = msgspec.structs.replace(FOUND_TWO, found=copies)
    submitter.given(*DOUBT, look).when(woken()).then(record=(adopted,))


def test_two_look_ups_a_settle_time_apart_after_the_grace_prove_absence() -> None:
    given = submitter.given(*PROVEN_ABSENT)
    absent = SubmissionAbsent(
        evidence=(
            "two complete look-ups, 10 s apart (settle time 10 s: measured), "
            f"show no {ex.JOB_NAME!r} but do show xx and xx"
        ),
        looked_up_at=(second(60), second(70)),
    )
    given.when(woken(70)).then(record=(absent,))


def test_a_persons_word_settles_a_doubt_and_is_marked_as_theirs() -> None:
    absent = SubmissionAbsent(evidence=f"{DECLARED_BY_ANN}, not proven: the console is empty", declared=True)
    submitter.given(*DOUBT, DECLARED_ABSENT).when(woken()).then(record=(absent,))


def test_a_declared_job_that_nobody_has_seen_bears_the_launchs_name_and_who_declared_it() -> None:
    job = JobRef(id="17", name=ex.JOB_NAME, identity=DECLARED_BY_ANN)
    submitter.given(*DOUBT, ex.settlement_declared).when(woken()).then(record=(SubmissionAccepted(job=job),))


def test_what_a_look_up_found_outweighs_a_declaration() -> None:
    adopted = SubmissionAccepted(job=ex.JOB, found_by_lookup=True)
    for order in permutations((DECLARED_ABSENT, FOUND)):
        submitter.given(*DOUBT, *order).when(woken()).then(record=(adopted,))


def test_a_declaration_survives_a_doubt_that_starts_again() -> None:
    absent = SubmissionAbsent(evidence=f"{DECLARED_BY_ANN}, not proven: the console is empty", declared=True)
    again = (*DOUBT, DECLARED_ABSENT, ex.submission_unresolved)
    submitter.given(*again).when(woken()).then(record=(absent,))


def test_a_doubt_that_starts_again_starts_its_grace_and_its_look_ups_again() -> None:
    again = (*PROVEN_ABSENT, at(ex.submission_unresolved, 71))
    submitter.given(*again).when(woken(71)).then(perform=(LOOK_UP,))


def test_a_declaration_before_there_is_a_doubt_settles_nothing() -> None:
    submitter.given(*INTENDED, DECLARED_ABSENT).when(woken()).then_nothing()
    submitter.given(*INTENDED, DECLARED_ABSENT, ex.submission_unresolved).when(woken()).then(perform=(LOOK_UP,))


def test_an_accepted_job_is_read_back() -> None:
    submitter.given(*INTENDED, ex.submission_accepted).when(woken()).then(perform=(READ_BACK,))
    submitter.given(*INTENDED, ex.submission_accepted).when(recovered(HOUR - 0.1)).then(perform=(READ_BACK,))


def test_a_job_that_cannot_be_read_back_for_an_hour_is_left_to_the_watcher() -> None:
    submitter.given(*INTENDED, ex.submission_accepted).when(due_at(HOUR)).then_nothing()


@pytest.mark.parametrize("read", [ex.submission_verified, ex.submission_mismatched], ids=["verified", "mismatched"])
def test_a_job_is_read_back_once(read: Event) -> None:
    submitter.given(*INTENDED, ex.submission_accepted, read).when(recovered()).then_nothing()


def test_an_accepted_submission_stays_accepted() -> None:
    late = (ex.submission_unresolved, ex.submission_rejected, ex.submission_looked_up, ex.submission_accepted)
    submitter.given(*INTENDED, ex.submission_accepted, *late).when(recovered()).then(perform=(READ_BACK,))


def test_a_second_accepted_job_is_a_conflict() -> None:
    second_job = SubmissionAccepted(job=ex.SECOND_JOB)
    conflict = SubmissionConflicted(jobs=(ex.JOB, ex.SECOND_JOB), why="two jobs were accepted for one intent")
    submitter.given(*INTENDED, ex.submission_accepted, second_job).when(woken()).then(record=(conflict,))


@pytest.mark.parametrize(
    ("verdict", "how"),
    list(zip(JOBLESS, ("rejected", "absent", "withheld"), strict=True)),
    ids=("rejected", "absent", "withheld"),
)
def test_a_job_that_turns_up_after_a_verdict_is_a_conflict(verdict: Event, how: str) -> None:
    accepted = SubmissionConflicted(jobs=(ex.JOB,), why=f"a job was accepted after the verdict '{how}'")
    appeared = SubmissionConflicted(jobs=(ex.JOB,), why=f"a job appeared after the verdict '{how}'")
    for before in (INTENDED, DOUBT):
        submitter.given(*before, verdict, ex.submission_accepted).when(woken()).then(record=(accepted,))
        submitter.given(*before, verdict, FOUND).when(woken()).then(record=(appeared,))


@pytest.mark.parametrize("verdict", JOBLESS, ids=lambda event: type(event).__name__)
def test_the_name_of_a_launch_without_a_job_is_looked_at_again(verdict: Event) -> None:
    given = submitter.given(*INTENDED, verdict)
    given.when(woken(59)).then_nothing()
    given.when(due_at(60)).then(perform=(LOOK_UP,))


def test_each_look_at_a_name_makes_the_next_one_later() -> None:
    given = submitter.given(*INTENDED, ex.submission_rejected, at(ex.submission_looked_up, 60))
    given.when(due_at(299)).then_nothing()
    given.when(due_at(300)).then(perform=(LOOK_UP,))


def test_the_watch_over_a_name_ends() -> None:
    looks = (ex.submission_looked_up,) * 7
    submitter.given(*INTENDED, ex.submission_rejected, *looks).when(due_at(7 * 24 * HOUR)).then_nothing()


def test_a_cancel_after_it_is_known_that_no_job_exists_ends_the_launch() -> None:
    for order in permutations((ex.cancel_requested, ex.submission_rejected)):
        submitter.given(*INTENDED, *order).when(woken()).then(record=(ex.launch_cancelled,))


@pytest.mark.parametrize(
    "standing",
    [INTENDED, (*INTENDED, ex.submission_accepted, ex.submission_verified), CONFLICT],
    ids=["intended", "created", "conflict"],
)
def test_a_cancel_while_a_job_may_exist_is_not_the_submitters(standing: tuple[Event, ...]) -> None:
    submitter.given(*standing, ex.cancel_requested).when(woken()).then_nothing()


def test_a_cancelled_doubt_is_still_looked_up() -> None:
    submitter.given(*DOUBT, ex.cancel_requested).when(woken()).then(perform=(LOOK_UP,))


def test_a_conflict_waits_for_a_person() -> None:
    submitter.given(*CONFLICT).when(recovered(HOUR)).then_nothing()
    submitter.given(*DOUBT, ex.submission_conflicted).when(recovered(HOUR)).then_nothing()


def test_a_person_settles_a_conflict_by_naming_one_of_its_jobs() -> None:
    chosen = msgspec.structs.replace(ex.settlement_declared, job_id="18")
    settled = SubmissionAccepted(job=ex.SECOND_JOB)
    submitter.given(*CONFLICT, chosen).when(woken()).then(record=(settled,))


def test_a_person_settles_a_conflict_by_declaring_that_there_is_no_job() -> None:
    absent = SubmissionAbsent(evidence=f"{DECLARED_BY_ANN}, not proven: the console is empty", declared=True)
    submitter.given(*CONFLICT, DECLARED_ABSENT).when(woken()).then(record=(absent,))
    settled = (*CONFLICT, DECLARED_ABSENT, at(absent, 100))
    submitter.given(*settled).when(woken(159)).then_nothing()
    submitter.given(*settled).when(due_at(160)).then(perform=(LOOK_UP,))


@pytest.mark.parametrize(
    "word",
    [
        msgspec.structs.replace(DECLARED_ABSENT, absent=False),
        msgspec.structs.replace(DECLARED_ABSENT, job_id="17"),
    ],
    ids=["neither", "both"],
)
def test_a_declaration_that_does_not_name_one_job_declares_absence(word: SettlementDeclared) -> None:
    absent = SubmissionAbsent(evidence=f"{DECLARED_BY_ANN}, not proven: the console is empty", declared=True)
    submitter.given(*CONFLICT, word).when(woken()).then(record=(absent,))


def test_a_settled_conflict_is_read_back_like_any_job() -> None:
    settled = (*CONFLICT, SubmissionAccepted(job=ex.SECOND_JOB))
    submitter.given(*settled).when(woken()).then(perform=(ReadBack(ex.SECOND_JOB, ex.PLAN),))


def test_a_conflict_said_after_a_contradiction_waits_for_a_person() -> None:
    for verdict in (ex.submission_rejected, ex.submission_accepted):
        told = (*INTENDED, verdict, SubmissionAccepted(job=ex.SECOND_JOB), ex.submission_conflicted)
        submitter.given(*told).when(recovered()).then_nothing()


def test_two_launches_do_not_interfere() -> None:
    mine, theirs = submitter.state(), submitter.state()
    for event in history(*DOUBT):
        mine = evolve(mine, event)
        theirs = evolve(theirs, event) if isinstance(event.event, type(ex.launch_planned)) else theirs
        decide(theirs, recovered())
    assert mine == submitter.state(*DOUBT)
    assert theirs == submitter.state(ex.launch_planned)


def due_of(*events: Event | At, now: float = 0) -> float | None:
    found = due(submitter.state(*events), second(now))
    return None if found is None else (found - second(0)).total_seconds()


def test_nothing_is_due_in_a_history_without_a_plan() -> None:
    assert due_of(ex.submission_intended) is None


@pytest.mark.parametrize(
    "standing",
    [READY, CONFLICT, (*INTENDED, ex.submission_accepted, ex.submission_verified), (*READY, ex.launch_cancelled)],
    ids=["ready", "conflict", "read-back", "cancelled"],
)
def test_nothing_is_due_where_only_a_word_moves_on(standing: tuple[Event, ...]) -> None:
    assert due_of(*standing) is None


def test_an_intent_is_due_when_its_grace_is_over() -> None:
    assert due_of(*READY, at(ex.submission_intended, 7)) == 67


def test_a_doubt_is_due_when_its_next_look_up_is() -> None:
    assert due_of(*DOUBT) == 0
    assert due_of(*DOUBT, at(ex.submission_looked_up, 1), now=1) == 60


def test_reading_back_is_due_at_ever_longer_intervals_for_an_hour() -> None:
    created = (*INTENDED, ex.submission_accepted)
    assert due_of(*created) == 1
    assert due_of(*created, now=10) == 15
    assert due_of(*created, now=HOUR - 2) == HOUR - 2 + HOUR / 2 - 1
    assert due_of(*created, now=HOUR) is None


def test_the_watch_over_a_name_is_due_until_it_ends() -> None:
    rejected = (*INTENDED, ex.submission_rejected)
    assert due_of(*rejected) == 60
    assert due_of(*rejected, *(ex.submission_looked_up,) * 7) is None


@pytest.mark.parametrize(
    "outcome",
    [ex.submission_accepted, ex.submission_rejected, ex.submission_unresolved, ex.submission_withheld],
    ids=lambda event: type(event).__name__,
)
def test_an_outcome_of_create_is_a_fact_whatever_the_state(outcome: Event) -> None:
    for standing in (READY, INTENDED, DOUBT, CONFLICT, (*INTENDED, ex.submission_accepted)):
        assert conclude(submitter.state(*standing), outcome) == (outcome,)


def test_a_look_up_speaks_to_a_doubt_and_to_a_name_on_watch_only() -> None:
    look = ex.submission_looked_up
    for standing in (DOUBT, (*INTENDED, ex.submission_rejected)):
        assert conclude(submitter.state(*standing), look) == (look,)
    for standing in (READY, INTENDED, CONFLICT, (*INTENDED, ex.submission_accepted)):
        assert conclude(submitter.state(*standing), look) == ()


@pytest.mark.parametrize("read", [ex.submission_verified, ex.submission_mismatched], ids=["verified", "mismatched"])
def test_a_reading_back_speaks_to_a_job_that_was_not_read_back(read: Event) -> None:
    assert conclude(submitter.state(*INTENDED, ex.submission_accepted), read) == (read,)
    assert conclude(submitter.state(*INTENDED, ex.submission_accepted, ex.submission_verified), read) == ()
    assert conclude(submitter.state(*DOUBT), read) == ()


def test_a_reading_back_without_an_answer_says_nothing() -> None:
    assert conclude(submitter.state(*INTENDED, ex.submission_accepted), None) == ()


def test_an_intent_without_its_gates_plan_still_names_the_digest_it_was_made_for() -> None:
    state = submitter.state(*READY)
    assert isinstance(state.stage, Awaiting)
    (intent,) = decide(state, woken()).record
    assert intent == ex.submission_intended


OUTSIDE = (
    *READY,
    ex.cancel_requested,
    ex.launch_superseded,
    ex.preflight_expired,
    ex.recheck_requested,
    ex.settlement_declared,
    DECLARED_ABSENT,
    UNKNOWN,
)
RESULTS = (
    ex.submission_accepted,
    SubmissionAccepted(job=ex.SECOND_JOB),
    ex.submission_rejected,
    ex.submission_unresolved,
    ex.submission_withheld,
    ex.submission_looked_up,
    FOUND,
    FOUND_TWO,
    ex.submission_verified,
    None,
)


class Submitter(RuleBasedStateMachine):
    """A submitter that may crash at any moment, under a log that may deliver anything again."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.log = list(history(ex.launch_accepted, ex.launch_planned))
        self.state: Submission = fold(INITIAL, evolve, self.log)
        self.creates = 0

    def _say(self, event: Event) -> None:
        self.log.append(said(event, self.now, sequence=len(self.log) + 1))
        self.state = evolve(self.state, self.log[-1])

    def _decide(self, trigger: object) -> None:
        decision = decide(self.state, trigger)  # type: ignore[arg-type]
        for effect in decision.then:
            if isinstance(effect, Create):
                assert effect.intent in decision.record
                self.creates += 1
        for event in decision.record:
            self._say(event)

    @rule(event=st.sampled_from(OUTSIDE))
    def say(self, event: Event) -> None:
        self._say(event)

    @rule()
    def open_the_gates(self) -> None:
        for gate in GATES:
            self._say(gate)

    @rule(result=st.sampled_from(RESULTS))
    def conclude(self, result: object) -> None:
        for event in conclude(self.state, result):
            self._say(event)

    @rule(seconds=st.sampled_from((0.0, 1.0, 9.0, 60.0, 601.0)))
    def wake(self, seconds: float) -> None:
        self.now += seconds
        self._decide(woken(self.now))

    @rule()
    def wait_until_due(self) -> None:
        when = due(self.state, second(self.now))
        if when is not None:
            self.now = max(self.now, (when - second(0)) / timedelta(seconds=1))
            self._decide(due_at(self.now))

    @rule()
    def crash(self) -> None:
        self.state = fold(INITIAL, evolve, self.log)
        self._decide(recovered(self.now))

    @precondition(lambda self: len(self.log) > 2)
    @rule(pick=st.integers(min_value=0))
    def deliver_again(self, pick: int) -> None:
        self.state = evolve(self.state, self.log[pick % len(self.log)])

    @invariant()
    def create_is_proposed_at_most_once(self) -> None:
        assert self.creates <= 1

    @invariant()
    def one_intent_for_each_create(self) -> None:
        intents = [one for one in self.log if isinstance(one.event, type(ex.submission_intended))]
        assert len(intents) == self.creates


Submitter.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestWhateverIsDeliveredCreateIsProposedAtMostOnce = Submitter.TestCase
