"""Preflight: every check of a round speaks, then the poll is judged; the yes is bound to the plan, never to evidence."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from gonogo.events.base import Event, UnknownEvent
from gonogo.events.launch import Person
from gonogo.events.request import Authorize
from gonogo.projections.preflights import INITIAL, Verdict, evolve
from gonogo.services.preflight.decider import RunChecks, Verdicts, conclude, decide, due
from tests import examples as ex
from tests.spec import Spec, at, history, recovered, second, woken
from tests.spec import due as due_at

preflight = Spec(INITIAL, evolve, decide)

PLANNED = (ex.launch_accepted, ex.launch_planned)
PASSED = (*PLANNED, ex.check_passed)
GO = (*PASSED, ex.preflight_passed)
UNKNOWN = UnknownEvent(type="LaunchForbidden", dataschema="urn:gonogo:LaunchForbidden:1", raw="{}")
IMAGE_BLOCKER = "image: cannot be seen from here (the registry is private): attest it, naming your evidence"


def run_checks(round_: int = 1) -> RunChecks:
    return RunChecks(ex.REQUEST, ex.PLAN, round_)


def authorized(*may: str, by: str | None = None, person: Person = ex.ANN) -> Event:
    request = msgspec.structs.replace(ex.REQUEST, authorize=Authorize(may=may, basis="ann wrote yes", by=by))
    return msgspec.structs.replace(ex.launch_accepted, request=request, person=person)


def test_a_planned_launch_is_checked() -> None:
    preflight.given(*PLANNED).when(woken()).then(perform=(run_checks(),))
    preflight.given(*PLANNED).when(recovered()).then(perform=(run_checks(),))


@pytest.mark.parametrize("only", PLANNED, ids=lambda event: type(event).__name__)
def test_nothing_is_checked_before_both_the_request_and_its_plan_are_known(only: Event) -> None:
    preflight.given(only).when(woken()).then_nothing()


def test_a_go_asks_for_the_yes() -> None:
    preflight.given(*PASSED).when(woken()).then(record=(ex.preflight_passed, ex.review_requested))


def test_a_yes_is_asked_for_once() -> None:
    again = (*GO, ex.review_requested, ex.recheck_requested, msgspec.structs.replace(ex.check_passed, round=2))
    passed = msgspec.structs.replace(ex.preflight_passed, round=2)
    preflight.given(*again).when(woken()).then(record=(passed,))


def test_a_launch_that_is_confirmed_is_not_asked_about_again() -> None:
    preflight.given(*PLANNED, ex.review_confirmed, ex.check_passed).when(woken()).then(record=(ex.preflight_passed,))


def test_a_yes_to_another_plan_does_not_count() -> None:
    other = msgspec.structs.replace(ex.review_confirmed, plan_digest=ex.OTHER_DIGEST)
    record = (ex.preflight_passed, ex.review_requested)
    preflight.given(*PLANNED, other, ex.check_passed).when(woken()).then(record=record)
    preflight.given(*PLANNED, ex.review_confirmed, other, ex.check_passed).when(woken()).then(record=record[:1])


def test_a_yes_that_came_with_the_request_is_recorded_as_that() -> None:
    confirmed = msgspec.structs.replace(
        ex.review_confirmed, how="authorization", basis="ann wrote yes", inbox_sequence=None
    )
    given = preflight.given(authorized("submit"), ex.launch_planned, ex.check_passed)
    given.when(woken()).then(record=(ex.preflight_passed, confirmed))


def test_a_yes_that_came_with_the_request_is_that_of_whom_it_names() -> None:
    given = preflight.given(authorized("submit", by="bob"), ex.launch_planned, ex.check_passed)
    (_, confirmed) = given.when(woken()).decision.record
    assert confirmed == msgspec.structs.replace(
        ex.review_confirmed,
        person=Person(client="cli", claimed="bob"),
        how="authorization",
        basis="ann wrote yes",
        inbox_sequence=None,
    )


def test_an_authorization_of_something_else_is_no_yes() -> None:
    given = preflight.given(authorized("restore"), ex.launch_planned, ex.check_passed)
    given.when(woken()).then(record=(ex.preflight_passed, ex.review_requested))


@pytest.mark.parametrize("order", list(permutations((ex.check_passed, ex.check_failed, ex.check_unverifiable))))
def test_a_no_go_names_every_blocker_at_once(order: tuple[Verdict, ...]) -> None:
    renamed = tuple(msgspec.structs.replace(one, check=one.check + type(one).__name__) for one in order)
    blockers = tuple(
        {
            "CheckFailed": "diskCheckFailed: 1 GB free on /shared: free 20 GB",
            "CheckUnverifiable": IMAGE_BLOCKER.replace("image", "imageCheckUnverifiable"),
        }[type(one).__name__]
        for one in order
        if one is not ex.check_passed
    )
    failed = msgspec.structs.replace(ex.preflight_failed, blockers=blockers)
    preflight.given(*PLANNED, *renamed).when(woken()).then(record=(failed,))


@pytest.mark.parametrize("order", list(permutations((ex.check_attested, ex.check_unverifiable))))
def test_an_attested_check_does_not_block_whichever_came_first(order: tuple[Event, ...]) -> None:
    preflight.given(*PLANNED, *order).when(woken()).then(record=(ex.preflight_passed, ex.review_requested))


def test_a_failed_check_cannot_be_attested_away() -> None:
    attested = msgspec.structs.replace(ex.check_attested, check="disk")
    preflight.given(*PLANNED, attested, ex.check_failed).when(woken()).then(record=(ex.preflight_failed,))


def test_an_attestation_turns_a_no_go() -> None:
    no_go = (*PLANNED, ex.check_unverifiable, ex.preflight_failed)
    preflight.given(*no_go).when(woken()).then_nothing()
    record = (ex.preflight_passed, ex.review_requested)
    preflight.given(*no_go, ex.check_attested).when(woken()).then(record=record)


def test_an_attestation_of_something_else_leaves_the_no_go() -> None:
    no_go = (*PLANNED, ex.check_unverifiable, ex.preflight_failed)
    other = msgspec.structs.replace(ex.check_attested, check="access")
    failed = msgspec.structs.replace(ex.preflight_failed, blockers=(IMAGE_BLOCKER,))
    preflight.given(*no_go, other).when(woken()).then(record=(failed,))


def test_a_recheck_runs_a_new_round() -> None:
    for before in ((*PLANNED, ex.check_failed, ex.preflight_failed), GO, PASSED):
        preflight.given(*before, ex.recheck_requested).when(woken()).then(perform=(run_checks(2),))


def test_verdicts_of_an_earlier_round_do_not_count() -> None:
    preflight.given(*PLANNED, ex.recheck_requested, ex.check_passed).when(woken()).then(perform=(run_checks(2),))


def test_a_go_of_a_launch_that_waits_for_a_yes_does_not_expire() -> None:
    preflight.given(*GO).when(woken(10_000)).then_nothing()


@pytest.mark.parametrize("order", list(permutations((ex.preflight_passed, ex.review_confirmed))))
def test_a_go_that_grew_old_is_looked_at_again_once_the_launch_is_confirmed(order: tuple[Event, ...]) -> None:
    given = preflight.given(*PASSED, *order)
    given.when(woken(599)).then_nothing()
    given.when(due_at(600)).then(record=(ex.preflight_expired,))


def test_a_go_whose_round_is_over_is_expired_in_that_round() -> None:
    second_round = (
        *GO,
        ex.review_confirmed,
        ex.preflight_expired,
        msgspec.structs.replace(ex.check_passed, round=2),
        at(msgspec.structs.replace(ex.preflight_passed, round=2), 700),
    )
    expired = msgspec.structs.replace(ex.preflight_expired, round=2)
    preflight.given(*second_round).when(woken(1299)).then_nothing()
    preflight.given(*second_round).when(due_at(1300)).then(record=(expired,))


@pytest.mark.parametrize(
    "end",
    [ex.cancel_requested, ex.launch_superseded, ex.submission_intended, ex.review_declined, UNKNOWN],
    ids=lambda event: type(event).__name__,
)
def test_nothing_is_checked_where_it_would_change_nothing_any_more(end: Event) -> None:
    for before in (PLANNED, PASSED, (*GO, ex.review_confirmed)):
        preflight.given(*before, end).when(recovered(700)).then_nothing()
        preflight.given(*before, end, ex.recheck_requested).when(recovered(700)).then_nothing()


def test_a_no_to_another_plan_ends_nothing() -> None:
    other = msgspec.structs.replace(ex.review_declined, plan_digest=ex.OTHER_DIGEST)
    preflight.given(*PLANNED, other).when(woken()).then(perform=(run_checks(),))


def test_two_launches_do_not_interfere() -> None:
    mine, theirs = INITIAL, INITIAL
    for event in history(*PASSED):
        mine = evolve(mine, event)
        theirs = theirs if event.event is ex.check_passed else evolve(theirs, event)
    assert decide(theirs, woken()).then == (run_checks(),)
    assert decide(mine, woken()).record == (ex.preflight_passed, ex.review_requested)


def test_the_expiry_of_a_confirmed_go_is_due() -> None:
    assert due(preflight.state(*GO, ex.review_confirmed), second(0)) == second(600)


@pytest.mark.parametrize(
    "standing",
    [PLANNED, GO, (*GO, ex.review_confirmed, ex.recheck_requested), (*GO, ex.review_confirmed, ex.preflight_failed)],
    ids=["checking", "unconfirmed", "rechecking", "no-go"],
)
def test_nothing_else_is_due(standing: tuple[Event, ...]) -> None:
    assert due(preflight.state(*standing), second(0)) is None


def test_verdicts_are_recorded_all_together() -> None:
    said = (ex.check_passed, ex.check_unverifiable)
    assert conclude(preflight.state(*PLANNED), Verdicts(1, said)) == said


@pytest.mark.parametrize(
    "standing",
    [
        PASSED,
        GO,
        (*PLANNED, ex.recheck_requested),
        (*PLANNED, ex.cancel_requested),
        (*PLANNED, ex.check_failed, ex.preflight_failed),
    ],
    ids=["spoken", "go", "next-round", "over", "no-go"],
)
def test_verdicts_that_come_too_late_say_nothing(standing: tuple[Event, ...]) -> None:
    assert conclude(preflight.state(*standing), Verdicts(1, (ex.check_passed,))) == ()


def test_verdicts_of_a_round_that_has_not_begun_say_nothing() -> None:
    assert conclude(preflight.state(*PLANNED), Verdicts(2, (ex.check_passed,))) == ()


def test_anything_else_says_nothing() -> None:
    assert conclude(preflight.state(*PLANNED), None) == ()
