"""Where the poll of a launch stands."""

from __future__ import annotations

import msgspec
import pytest

from gonogo.events.base import Event, UnknownEvent
from gonogo.projections.preflights import INITIAL, Preflight, evolve
from tests import examples as ex
from tests.spec import At, at, fold, history, second

PLANNED = (ex.launch_accepted, ex.launch_planned)
GO = (*PLANNED, ex.check_passed, ex.preflight_passed)
UNKNOWN = UnknownEvent(type="LaunchForbidden", dataschema="urn:gonogo:LaunchForbidden:1", raw="{}")


def poll(*events: Event | At) -> Preflight:
    return fold(INITIAL, evolve, history(*events))


def changed(*events: Event | At, **fields: object) -> Preflight:
    return msgspec.structs.replace(poll(*events), **fields)


def test_a_launch_is_checked_once_it_is_planned() -> None:
    assert poll(ex.launch_accepted) == msgspec.structs.replace(INITIAL, request=ex.REQUEST, person=ex.ANN)
    assert poll(*PLANNED) == changed(ex.launch_accepted, plan=ex.PLAN, plan_digest=ex.DIGEST, stage="checking")


def test_a_poll_begins_with_round_one_and_nothing_known() -> None:
    assert (
        Preflight(
            request=None,
            person=None,
            plan=None,
            plan_digest="",
            stage="unplanned",
            round=1,
            verdicts=(),
            attested=frozenset(),
            go_until=None,
            review_requested=False,
            confirmed=False,
        )
        == INITIAL
    )


@pytest.mark.parametrize(
    "verdict",
    [ex.check_passed, ex.check_failed, ex.check_unverifiable],
    ids=lambda event: type(event).__name__,
)
def test_a_verdict_of_the_present_round_counts_once(verdict: Event) -> None:
    assert poll(*PLANNED, verdict) == changed(*PLANNED, verdicts=(verdict,))
    assert poll(*PLANNED, verdict, verdict) == poll(*PLANNED, verdict)
    late = msgspec.structs.replace(verdict, round=2)
    assert poll(*PLANNED, late) == poll(*PLANNED)


def test_the_first_verdict_of_a_check_stands() -> None:
    assert poll(*PLANNED, ex.check_passed, ex.check_failed).verdicts == (ex.check_passed,)
    assert poll(*PLANNED, ex.check_passed, ex.check_unverifiable).verdicts == (ex.check_passed, ex.check_unverifiable)


def test_what_says_no_and_what_cannot_see_are_blockers_in_their_order() -> None:
    access = msgspec.structs.replace(ex.check_passed, check="access")
    told = (access, ex.check_unverifiable, ex.check_failed)
    assert poll(*PLANNED, *told).blockers == (
        "image: cannot be seen from here (the registry is private): attest it, naming your evidence",
        "disk: 1 GB free on /shared: free 20 GB",
    )


def test_an_attested_check_blocks_no_more_and_a_failed_one_still_does() -> None:
    told = (*PLANNED, ex.check_unverifiable, ex.check_failed)
    disk = msgspec.structs.replace(ex.check_attested, check="disk")
    assert poll(*told, ex.check_attested).blockers == ("disk: 1 GB free on /shared: free 20 GB",)
    assert poll(*told, ex.check_attested, disk).blockers == ("disk: 1 GB free on /shared: free 20 GB",)
    assert poll(*told, ex.check_attested, disk).attested == {"image", "disk"}


def test_a_go_holds_from_its_storage() -> None:
    assert poll(*PLANNED, at(ex.preflight_passed, 10)) == changed(*PLANNED, stage="go", go_until=second(610))


def test_a_no_go_waits() -> None:
    assert poll(*PLANNED, ex.preflight_failed) == changed(*PLANNED, stage="no-go")


@pytest.mark.parametrize("again", [ex.preflight_expired, ex.recheck_requested], ids=["expired", "recheck"])
def test_a_new_round_forgets_the_verdicts_and_the_go(again: Event) -> None:
    assert poll(*GO, again) == changed(*GO, stage="checking", round=2, verdicts=(), go_until=None)
    assert poll(*GO, again, again).round == 3


def test_an_attestation_opens_a_no_go_again_and_leaves_any_other_stage() -> None:
    attested = frozenset(("image",))
    no_go = (*PLANNED, ex.check_unverifiable, ex.preflight_failed)
    assert poll(*no_go, ex.check_attested) == changed(*no_go, stage="checking", attested=attested)
    assert poll(*GO, ex.check_attested) == changed(*GO, attested=attested)


def test_an_attestation_holds_for_the_next_round() -> None:
    assert poll(*PLANNED, ex.check_attested, ex.recheck_requested).attested == {"image"}


def test_a_review_is_remembered_as_requested() -> None:
    assert poll(*GO, ex.review_requested) == changed(*GO, review_requested=True)


def test_a_yes_counts_for_its_plan_only_and_for_good() -> None:
    other = msgspec.structs.replace(ex.review_confirmed, plan_digest=ex.OTHER_DIGEST)
    assert poll(*GO, ex.review_confirmed) == changed(*GO, confirmed=True)
    assert poll(*GO, other) == poll(*GO)
    assert poll(*GO, ex.review_confirmed, other).confirmed


def test_a_no_ends_the_poll_of_its_plan_only() -> None:
    other = msgspec.structs.replace(ex.review_declined, plan_digest=ex.OTHER_DIGEST)
    assert poll(*GO, ex.review_declined) == changed(*GO, stage="over")
    assert poll(*GO, other) == poll(*GO)


@pytest.mark.parametrize(
    "end",
    [UNKNOWN, ex.cancel_requested, ex.launch_superseded, ex.submission_intended],
    ids=lambda event: type(event).__name__,
)
def test_a_poll_that_is_over_stays_over(end: Event) -> None:
    over = poll(*GO, end)
    assert over == changed(*GO, stage="over")
    for event in ex.EXAMPLES.values():
        assert poll(*GO, end, event) == over, event


def test_nothing_else_moves_the_poll() -> None:
    for event in ex.EXAMPLES.values():
        if not {"preflight", "launch"} & {type(event).__module__.rpartition(".")[2]}:
            moved = event in (ex.cancel_requested, ex.submission_intended)
            assert (poll(*GO, event) == poll(*GO)) is not moved, event
