"""Where each launch stands, in one word and in detail."""

from __future__ import annotations

from itertools import permutations
from typing import Any, get_args

import msgspec
import pytest

from gonogo.events.base import Event, UnknownEvent
from gonogo.events.launch import Guard
from gonogo.events.request import Recovery
from gonogo.projections.launches import (
    ENDED,
    INITIAL,
    JOBLESS,
    WAITING_FOR_A_PERSON,
    Launch,
    Standing,
    evolve,
)
from tests import examples as ex
from tests.spec import At, at, fold, history, second

PLANNED = (ex.launch_accepted, ex.launch_planned)
ASKED = (*PLANNED, ex.preflight_passed, ex.review_requested)
INTENDED = (*ASKED, ex.review_confirmed, ex.queue_cleared, ex.submission_intended)
RUNNING = (*INTENDED, ex.submission_accepted, ex.job_status_changed)
UNKNOWN = UnknownEvent(type="LaunchForbidden", dataschema="urn:gonogo:LaunchForbidden:1", raw="{}")


def launch(*events: Event | At) -> Launch:
    return fold(INITIAL, evolve, history(*events))


def changes(*before: Event | At, by: Event) -> dict[str, Any]:
    """What one more event changes, apart from when and where it was said."""
    old, new = launch(*before), launch(*before, at(by, 9))
    assert new.updated_at == second(9)
    assert new.version == len(before) + 1
    sequence = getattr(by, "inbox_sequence", None)
    assert new.words == (*old.words, *((sequence,) if sequence else ()))
    fields = set(Launch.__struct_fields__) - {"updated_at", "version", "words"}
    return {field: getattr(new, field) for field in fields if getattr(new, field) != getattr(old, field)}


def test_a_launch_begins_with_nothing_known() -> None:
    known = msgspec.structs.asdict(INITIAL)
    assert {known.pop(field) for field in ("standing",)} == {"checking"}
    assert (known.pop("review"), known.pop("submission")) == ("none", "none")
    assert (known.pop("inbox_sequence"), known.pop("version")) == (0, 0)
    assert [field for field, value in known.items() if value not in ("", None, False, ())] == []


def test_a_launch_exists_once_it_is_planned() -> None:
    assert not INITIAL.exists
    assert not launch(ex.launch_accepted).exists
    assert launch(*PLANNED).exists


def test_an_accepted_launch_is_what_was_asked_for() -> None:
    assert changes(by=ex.launch_accepted) == {
        "name": "tiny-train",
        "purpose": "train",
        "platform": "scripted",
        "queue": "night",
        "person": ex.ANN,
        "key": ex.KEY,
        "digest": ex.launch_accepted.digest,
        "inbox_sequence": 5,
        "output": "/shared/runs/tiny",
        "accepted_at": second(9),
    }
    assert INITIAL.standing == "checking"


def test_a_recovery_names_the_launch_it_replaces() -> None:
    recovery = Recovery(launch="old", reason="again", evidence="two look-ups")
    request = msgspec.structs.replace(ex.REQUEST, recovery_of=recovery)
    accepted = msgspec.structs.replace(ex.launch_accepted, request=request)
    assert changes(by=accepted)["recovery_of"] == "old"


def test_a_plan_gives_the_launch_its_id_and_its_guard() -> None:
    planned = {"id": ex.LAUNCH, "plan_digest": ex.DIGEST, "job_name": ex.JOB_NAME, "guard_root": ex.LAUNCH}
    assert changes(ex.launch_accepted, by=ex.launch_planned) == planned
    guarded = msgspec.structs.replace(ex.PLAN, guard=Guard(root="first", claim_path="/shared/claims/first"))
    event = msgspec.structs.replace(ex.launch_planned, plan=guarded)
    assert changes(ex.launch_accepted, by=event) == planned | {"guard_root": "first"}


def test_every_word_that_was_taken_is_remembered() -> None:
    assert launch(*PLANNED, ex.cancel_requested, ex.check_attested, ex.preflight_failed).words == (5, 12, 10)
    unnumbered = msgspec.structs.replace(ex.cancel_requested, inbox_sequence=None)
    assert launch(*PLANNED, unnumbered).words == (5,)


STANDS: list[tuple[str, tuple[Event, ...], Event, dict[str, Any]]] = [
    (
        "a no-go names its blockers",
        PLANNED,
        msgspec.structs.replace(ex.preflight_failed, blockers=("a", "b")),
        {"standing": "no-go", "detail": "a; b"},
    ),
    ("a go waits for the yes", PLANNED, ex.preflight_passed, {"standing": "awaiting-review"}),
    ("a confirmed go is a go", (*PLANNED, ex.review_confirmed), ex.preflight_passed, {"standing": "go"}),
    ("a go that has expired is checked again", ASKED, ex.preflight_expired, {"standing": "checking"}),
    (
        "a recheck checks again",
        (*PLANNED, ex.preflight_failed),
        ex.recheck_requested,
        {"standing": "checking", "detail": ""},
    ),
    (
        "an attestation turns a no-go",
        (*PLANNED, ex.preflight_failed),
        ex.check_attested,
        {"standing": "checking", "detail": ""},
    ),
    ("an attestation turns nothing else", ASKED, ex.check_attested, {}),
    (
        "a review is asked for",
        PLANNED,
        ex.review_requested,
        {"review": "requested", "standing": "awaiting-review"},
    ),
    ("a yes is a go", ASKED, ex.review_confirmed, {"review": "confirmed", "standing": "go"}),
    (
        "a yes to a no-go leaves the no-go",
        (*PLANNED, ex.preflight_failed),
        ex.review_confirmed,
        {"review": "confirmed"},
    ),
    (
        "a yes to another plan is none",
        ASKED,
        msgspec.structs.replace(ex.review_confirmed, plan_digest=ex.OTHER_DIGEST),
        {},
    ),
    (
        "a no ends the launch with its basis",
        ASKED,
        ex.review_declined,
        {"review": "declined", "standing": "declined", "detail": "wrong dataset"},
    ),
    (
        "a no without a basis ends it too",
        ASKED,
        msgspec.structs.replace(ex.review_declined, basis=None),
        {"review": "declined", "standing": "declined"},
    ),
    (
        "a no to another plan is none",
        ASKED,
        msgspec.structs.replace(ex.review_declined, plan_digest=ex.OTHER_DIGEST),
        {},
    ),
    ("a clear queue", (*ASKED, ex.review_confirmed), ex.queue_cleared, {"standing": "cleared"}),
    ("a wish to cancel is no end", RUNNING, ex.cancel_requested, {"cancel_wanted": True}),
    ("a cancel is an end", ASKED, ex.launch_cancelled, {"standing": "cancelled", "detail": "wrong dataset"}),
    (
        "a superseded launch names its successor",
        (*INTENDED, ex.submission_rejected),
        ex.launch_superseded,
        {
            "superseded_by": ex.OTHER_LAUNCH,
            "standing": "superseded",
            "detail": f"by {ex.OTHER_LAUNCH}: the queue is open again",
        },
    ),
    ("an intent", INTENDED[:-1], ex.submission_intended, {"submission": "intended", "standing": "submitting"}),
    (
        "a doubt names its cause",
        INTENDED,
        ex.submission_unresolved,
        {"submission": "in-doubt", "standing": "in-doubt", "detail": "no answer within 25 s"},
    ),
    (
        "an accepted job",
        (*INTENDED, ex.submission_unresolved),
        ex.submission_accepted,
        {"submission": "accepted", "job": ex.JOB, "standing": "submitted", "detail": ""},
    ),
    (
        "a rejection names its code and reason",
        INTENDED,
        ex.submission_rejected,
        {"submission": "jobless", "standing": "rejected", "detail": "quota: no GPUs left"},
    ),
    (
        "absence names its evidence",
        INTENDED,
        ex.submission_absent,
        {"submission": "jobless", "standing": "absent", "detail": ex.submission_absent.evidence},
    ),
    (
        "a withheld submission names its proof",
        INTENDED,
        ex.submission_withheld,
        {"submission": "jobless", "standing": "withheld", "detail": ex.submission_withheld.proof},
    ),
    (
        "a conflict says why",
        INTENDED,
        ex.submission_conflicted,
        {"submission": "conflict", "standing": "conflict", "detail": ex.submission_conflicted.why},
    ),
    (
        "a mismatch is a detail",
        (*INTENDED, ex.submission_accepted),
        msgspec.structs.replace(ex.submission_mismatched, differences=("a", "b")),
        {"detail": "differs from the plan: a; b"},
    ),
    ("a job read back as planned is no news", RUNNING, ex.submission_verified, {}),
    ("a declaration is no verdict yet", (*INTENDED, ex.submission_unresolved), ex.settlement_declared, {}),
    (
        "a running job",
        (*INTENDED, ex.submission_accepted),
        ex.job_status_changed,
        {"raw": "Running", "standing": "running", "detail": "since 12:01"},
    ),
    (
        "a waiting job",
        RUNNING,
        msgspec.structs.replace(ex.job_status_changed, state="PENDING", raw="Queued", reason=None),
        {"raw": "Queued", "standing": "pending", "detail": ""},
    ),
    (
        "a job in a state nobody knows",
        RUNNING,
        msgspec.structs.replace(ex.job_status_changed, state="UNKNOWN", raw="Hibernating"),
        {"raw": "Hibernating", "standing": "unknown"},
    ),
    (
        "a job that succeeded",
        (*RUNNING, ex.watch_degraded),
        ex.job_succeeded,
        {"raw": "Success", "standing": "succeeded", "detail": "Success", "degraded": None},
    ),
    (
        "a job that failed names the reason",
        (*RUNNING, ex.watch_degraded),
        ex.job_failed,
        {"raw": "Failed", "standing": "failed", "detail": "out of memory", "degraded": None},
    ),
    (
        "or else the platform's word",
        RUNNING,
        msgspec.structs.replace(ex.job_failed, reason=None),
        {"raw": "Failed", "standing": "failed", "detail": "Failed"},
    ),
    (
        "a job that was cancelled",
        (*RUNNING, ex.watch_degraded),
        ex.job_cancelled,
        {"raw": "Killed", "standing": "cancelled", "detail": "Killed", "degraded": None},
    ),
    (
        "a job that was stopped names the reason",
        (*RUNNING, ex.watch_degraded),
        ex.job_stopped,
        {"raw": "Killed", "standing": "stopped", "detail": "preempted", "degraded": None},
    ),
    (
        "a stop without a reason names the platform's word",
        RUNNING,
        msgspec.structs.replace(ex.job_stopped, reason=None),
        {"raw": "Killed", "standing": "stopped", "detail": "Killed"},
    ),
    (
        "a second copy that was turned away",
        RUNNING,
        ex.duplicate_stopped,
        {"raw": "Success", "standing": "duplicate-stopped", "detail": "Success"},
    ),
    ("a blind time", RUNNING, ex.watch_degraded, {"degraded": "connection refused"}),
    ("the end of a blind time", (*RUNNING, ex.watch_degraded), ex.watch_recovered, {"degraded": None}),
    (
        "the end of a watch",
        RUNNING,
        ex.watch_detached,
        {"standing": "unwatched", "detail": "a person ended the watch; the job goes on"},
    ),
    ("an end stays an end without a watch", (*RUNNING, ex.job_succeeded), ex.watch_detached, {}),
    (
        "an event of a newer version",
        RUNNING,
        UNKNOWN,
        {"standing": "unreadable", "detail": "an event of a newer version: LaunchForbidden"},
    ),
]


@pytest.mark.parametrize(("rule", "before", "event", "change"), STANDS, ids=[rule for rule, *_ in STANDS])
def test_a_launch_stands_where_its_last_event_puts_it(
    rule: str, before: tuple[Event, ...], event: Event, change: dict[str, Any]
) -> None:
    assert changes(*before, by=event) == change, rule


def test_what_says_nothing_about_the_standing_changes_nothing() -> None:
    silent = ("CheckPassed", "CheckFailed", "CheckUnverifiable", "JobRestarted", "JobStopIntended", "JobStopAnswered")
    for name in silent:
        assert changes(*RUNNING, by=ex.EXAMPLES[name]) == {}


@pytest.mark.parametrize("order", list(permutations((ex.preflight_passed, ex.review_confirmed))))
def test_the_go_and_the_yes_make_a_go_in_either_order(order: tuple[Event, ...]) -> None:
    assert launch(*PLANNED, *order).standing == "go"


def test_a_yes_keeps_the_blockers_in_sight() -> None:
    assert launch(*PLANNED, ex.preflight_failed, ex.review_confirmed).detail == ex.preflight_failed.blockers[0]


def test_a_launch_has_ended_where_nothing_more_happens_by_itself() -> None:
    going_on = {
        *("checking", "no-go", "awaiting-review", "go", "cleared", "submitting", "in-doubt", "conflict"),
        *("submitted", "pending", "running", "unknown", "unreadable"),
    }
    assert set(get_args(Standing)) - going_on == ENDED
    for standing in get_args(Standing):
        assert msgspec.structs.replace(INITIAL, standing=standing).ended == (standing in ENDED)


def test_only_a_launch_proven_to_have_no_job_is_jobless() -> None:
    assert {"rejected", "absent", "withheld"} == JOBLESS
    assert {"no-go", "awaiting-review", "in-doubt", "conflict", "unreadable"} == WAITING_FOR_A_PERSON


def test_a_late_word_of_a_settled_submission_changes_nothing() -> None:
    succeeded = (*ACCEPTED_HISTORY, ex.job_succeeded)
    for late in (ex.submission_unresolved, ex.submission_absent, ex.submission_rejected, ex.submission_withheld):
        assert standing_of(*succeeded, late) == "succeeded"
    absent = (*INTENDED_HISTORY, ex.submission_unresolved, ex.submission_absent)
    for late in (ex.submission_unresolved, ex.submission_rejected, ex.submission_withheld):
        assert standing_of(*absent, late) == "absent"


def test_the_same_job_accepted_again_does_not_reopen_what_has_ended() -> None:
    assert standing_of(*ACCEPTED_HISTORY, ex.job_succeeded, ex.submission_accepted) == "succeeded"


def test_a_launch_without_a_job_cannot_be_unwatched() -> None:
    assert standing_of(ex.launch_accepted, ex.launch_planned, ex.watch_detached) == "checking"


INTENDED_HISTORY = (ex.launch_accepted, ex.launch_planned, ex.submission_intended)
ACCEPTED_HISTORY = (*INTENDED_HISTORY, ex.submission_accepted)


def standing_of(*events: Event) -> str:
    return fold(INITIAL, evolve, history(*events)).standing
