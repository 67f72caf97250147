"""The notifier: one notice per told event and channel, sent until it is confirmed, refused or tried often enough."""

from __future__ import annotations

import msgspec
import pytest

from gonogo.events.base import Event
from gonogo.events.ids import notice_history
from gonogo.events.notification import NotificationIntended
from gonogo.projections.notifications import INITIAL_NOTICE, INITIAL_TELLING, TOLD, evolve_notice, evolve_telling
from gonogo.services.notifier.decider import (
    ATTEMPTS_MAX,
    Delivered,
    Failed,
    Open,
    Send,
    conclude,
    decide,
    due,
    recorded_locally,
)
from gonogo.services.notifier.wording import LINE_MAX, lines_of, title_of
from tests import examples as ex
from tests.spec import At, Spec, at, history, recovered, said, second, woken
from tests.spec import due as due_at

telling = Spec(INITIAL_TELLING, evolve_telling, decide)
notice = Spec(INITIAL_NOTICE, evolve_notice, decide)

PLANNED = (ex.launch_accepted, ex.launch_planned)
OPEN = (ex.notification_intended,)
KEY = notice_history(ex.LAUNCH, "submitter-1-1", "console").id
TRIED = at(ex.notification_unconfirmed, 10)
SEEN = "seen 2026-03-01 11:59:58 UTC"
LAST_LINES = (f"launch {ex.LAUNCH}", SEEN)


def told_to(*channels: str) -> Event:
    request = msgspec.structs.replace(ex.REQUEST, notify=channels)
    return msgspec.structs.replace(ex.launch_accepted, request=request)


def opened(channel: str, event_id: str = "submitter-3", *, locally: bool = False) -> Open:
    intended = NotificationIntended(
        launch=ex.LAUNCH,
        event_id=event_id,
        event_type="SubmissionAccepted",
        channel=channel,
        title="tiny-train: submitted",
        lines=(f"job 17 ({ex.JOB_NAME})", *LAST_LINES),
    )
    return Open(notice_history(ex.LAUNCH, event_id, channel).id, intended, recorded_locally=locally)


def concluded(result: object, *events: Event | At) -> tuple[Event, ...]:
    return conclude(notice.state(*events), result)


def test_a_told_event_opens_one_notice() -> None:
    telling.given(*PLANNED, ex.submission_accepted).when(woken()).then(perform=(opened("console"),))


def test_a_told_event_opens_one_notice_per_channel() -> None:
    given = telling.given(told_to("console", "file:/log"), ex.launch_planned, ex.submission_accepted)
    given.when(woken()).then(perform=(opened("console"), opened("file:/log")))


def test_every_told_event_has_notices_of_its_own_in_the_order_of_the_log() -> None:
    given = telling.given(*PLANNED, ex.submission_accepted, ex.submission_verified, ex.submission_accepted)
    given.when(recovered()).then(perform=(opened("console"), opened("console", "submitter-5")))


def test_where_no_channel_is_named_the_notice_is_only_recorded() -> None:
    given = telling.given(told_to(), ex.launch_planned, ex.submission_accepted)
    given.when(woken()).then(perform=(opened("nobody", locally=True),))
    assert recorded_locally() == ex.notification_recorded_locally


def test_an_event_that_people_are_not_told_about_opens_nothing() -> None:
    telling.given(*PLANNED, ex.check_passed, ex.submission_intended).when(recovered()).then_nothing()


def test_an_open_notice_is_sent_under_its_key() -> None:
    notice.given(*OPEN).when(woken()).then(perform=(Send(KEY, ex.notification_intended, 1),))
    notice.given(*OPEN).when(recovered()).then(perform=(Send(KEY, ex.notification_intended, 1),))


def test_a_notice_that_was_not_opened_is_not_sent() -> None:
    notice.given().when(recovered()).then_nothing()


def test_an_unconfirmed_notice_is_sent_again_when_it_is_due_and_not_before() -> None:
    given = notice.given(*OPEN, TRIED)
    given.when(woken(11.9)).then_nothing()
    given.when(recovered(11.9)).then_nothing()
    given.when(due_at(12)).then(perform=(Send(KEY, ex.notification_intended, 2),))


@pytest.mark.parametrize(
    "end",
    [
        ex.notification_delivered,
        ex.notification_undeliverable,
        ex.notification_recorded_locally,
        msgspec.structs.replace(ex.notification_unconfirmed, retry_after_s=None),
    ],
    ids=["delivered", "undeliverable", "recorded-locally", "not-safe-to-repeat"],
)
def test_a_notice_that_is_over_stays_over(end: Event) -> None:
    for before in (OPEN, (*OPEN, TRIED)):
        notice.given(*before, end).when(recovered(1000)).then_nothing()
        assert due(notice.state(*before, end), second(0)) is None
        assert concluded(Delivered(2, "written"), *before, end) == ()
        assert concluded(Failed(2, "no answer", again=True), *before, end) == ()


def test_a_late_failure_does_not_open_a_notice_again() -> None:
    late = (*OPEN, ex.notification_delivered, TRIED)
    notice.given(*late).when(recovered(1000)).then_nothing()
    assert due(notice.state(*late), second(0)) is None


def test_the_next_attempt_is_due_when_its_delay_is_over() -> None:
    assert due(notice.state(*OPEN, TRIED), second(0)) == second(12)


def test_nothing_is_due_of_a_notice_that_was_not_tried_nor_of_a_launch() -> None:
    assert due(notice.state(*OPEN), second(0)) is None
    assert due(telling.state(*PLANNED, ex.submission_accepted), second(0)) is None


def test_a_confirmation_is_recorded_with_its_receipt() -> None:
    assert concluded(Delivered(1, "written"), *OPEN) == (ex.notification_delivered,)
    late = msgspec.structs.replace(ex.notification_delivered, attempts=2)
    assert concluded(Delivered(2, "written"), *OPEN, TRIED) == (late,)


def test_a_failed_attempt_is_repeated_after_growing_delays_about_half_an_hour_long() -> None:
    delays = []
    for attempt in range(1, ATTEMPTS_MAX):
        (event,) = concluded(Failed(attempt, "no answer", again=True), *OPEN)
        assert event == msgspec.structs.replace(
            ex.notification_unconfirmed, attempt=attempt, retry_after_s=event.retry_after_s
        )
        delays.append(event.retry_after_s)
    assert delays == [2, 5, 15, 60, 180, 600, 900]


def test_the_eighth_failure_is_the_last() -> None:
    undeliverable = msgspec.structs.replace(ex.notification_undeliverable, cause="no answer")
    assert concluded(Failed(8, "no answer", again=True), *OPEN) == (undeliverable,)


def test_what_a_channel_refuses_for_good_is_not_repeated() -> None:
    refused = msgspec.structs.replace(ex.notification_undeliverable, attempts=1)
    assert concluded(Failed(1, "no such chat", again=False), *OPEN) == (refused,)


def test_an_attempt_that_is_on_the_record_is_not_recorded_again() -> None:
    assert concluded(Failed(1, "no answer", again=True), *OPEN, TRIED) == ()
    assert concluded(Failed(1, "no such chat", again=False), *OPEN, TRIED) == ()
    (event,) = concluded(Failed(2, "no answer", again=True), *OPEN, TRIED)
    assert event == msgspec.structs.replace(ex.notification_unconfirmed, attempt=2, retry_after_s=5.0)


def test_a_result_without_an_open_notice_says_nothing() -> None:
    assert concluded(Delivered(1, "written")) == ()
    assert conclude(telling.state(*PLANNED), Delivered(1, "written")) == ()


def test_opening_a_notice_has_no_result() -> None:
    assert concluded(None, *OPEN) == ()


def test_two_launches_do_not_interfere() -> None:
    mine, theirs = INITIAL_TELLING, INITIAL_TELLING
    for event in history(*PLANNED, ex.submission_accepted):
        mine = evolve_telling(mine, event)
        theirs = theirs if event.event is ex.submission_accepted else evolve_telling(theirs, event)
    assert decide(mine, woken()).then == (opened("console"),)
    assert decide(theirs, woken()).then == ()


WORDING: dict[str, tuple[str, tuple[str, ...]]] = {
    "PreflightFailed": ("no-go", ("disk: 1 GB free on /shared: free 20 GB",)),
    "ReviewRequested": (
        "waits for your yes",
        (f"plan {ex.DIGEST}", "look with: gonogo show; answer with: gonogo approve or gonogo decline"),
    ),
    "ReviewDeclined": ("declined, nothing was sent", ()),
    "LaunchCancelled": ("cancelled, nothing runs", ()),
    "SubmissionAccepted": ("submitted", (f"job 17 ({ex.JOB_NAME})",)),
    "SubmissionRejected": ("submission refused by the platform", ("quota: no GPUs left",)),
    "SubmissionUnresolved": ("submission in doubt, being looked up", ("no answer within 25 s",)),
    "SubmissionAbsent": ("no job exists", ("two complete look-ups show no such job",)),
    "SubmissionWithheld": (
        "withheld, create was never called",
        ("create was never called: the lease was lost",),
    ),
    "SubmissionConflicted": (
        "conflict: needs a person",
        ("more than one job bears the launch's name", "jobs 17, 18", "settle with: gonogo resolve"),
    ),
    "SubmissionMismatched": ("the job differs from the plan", ("gpus: planned 8, found 4",)),
    "JobStatusChanged": ("running (Running)", ()),
    "JobRestarted": ("restarted by the platform (1)", ()),
    "JobSucceeded": ("succeeded", ("the platform reports success; metrics are yours to judge",)),
    "JobFailed": ("failed", ("Failed, exit code 1", "out of memory")),
    "JobCancelled": ("cancelled", ()),
    "JobStopped": ("stopped, not by us", ("Killed: preempted",)),
    "DuplicateStopped": ("a second copy was turned away", ()),
    "WatchDegraded": ("the platform cannot be seen", ("connection refused",)),
    "WatchRecovered": ("the platform can be seen again", ()),
}


def test_there_are_words_for_everything_that_is_told() -> None:
    assert set(WORDING) == {cls.__name__ for cls in TOLD}


@pytest.mark.parametrize("name", WORDING)
def test_a_notice_says_what_was_seen_when_and_what_to_do(name: str) -> None:
    title, lines = WORDING[name]
    one = said(ex.EXAMPLES[name])
    assert title_of("tiny-train", one) == f"tiny-train: {title}"
    assert lines_of(ex.LAUNCH, one) == (*lines, *LAST_LINES)


def test_a_job_found_by_look_up_says_so() -> None:
    adopted = msgspec.structs.replace(ex.submission_accepted, found_by_lookup=True)
    assert lines_of(ex.LAUNCH, said(adopted))[1] == "found by look-up"


def test_what_a_platform_does_not_state_is_said_to_be_unknown() -> None:
    failed = msgspec.structs.replace(ex.job_failed, exit_code=None, reason=None)
    stopped = msgspec.structs.replace(ex.job_stopped, reason=None)
    assert lines_of(ex.LAUNCH, said(failed)) == ("Failed, exit code unknown", *LAST_LINES)
    assert lines_of(ex.LAUNCH, said(stopped)) == ("Killed: cause unknown", *LAST_LINES)


def test_an_exit_code_of_zero_is_known() -> None:
    failed = msgspec.structs.replace(ex.job_failed, exit_code=0, reason=None)
    assert lines_of(ex.LAUNCH, said(failed))[0] == "Failed, exit code 0"


def test_a_title_names_an_event_without_words_by_its_type() -> None:
    assert title_of("tiny-train", said(ex.check_passed)) == "tiny-train: CheckPassed"


def test_a_long_line_is_cut_and_says_so() -> None:
    whole, cut = (msgspec.structs.replace(ex.submission_unresolved, cause="x" * n) for n in (LINE_MAX, LINE_MAX + 1))
    assert lines_of(ex.LAUNCH, said(whole))[0] == "x" * LINE_MAX
    assert lines_of(ex.LAUNCH, said(cut))[0] == "x" * (LINE_MAX - 1) + "…"


def test_no_secret_gets_into_a_notice() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    leaky = msgspec.structs.replace(ex.submission_unresolved, cause=f"Authorization: Bearer {secret}")
    changed = msgspec.structs.replace(ex.job_status_changed, raw=secret)
    assert not any(secret in line for line in lines_of(ex.LAUNCH, said(leaky)))
    assert secret not in title_of("tiny-train", said(changed))
