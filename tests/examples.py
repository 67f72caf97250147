"""One good example of every event, and the request and plan they are about. Specs change only the field they speak of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gonogo.events.base import Event
from gonogo.events.batch import BatchClosed, BatchJoined
from gonogo.events.ids import digest_of, launch_id
from gonogo.events.job import (
    CancelRequested,
    DuplicateStopped,
    JobCancelled,
    JobFailed,
    JobRef,
    JobRestarted,
    JobStatusChanged,
    JobStopAnswered,
    JobStopIntended,
    JobStopped,
    JobSucceeded,
    WatchDegraded,
    WatchDetached,
    WatchRecovered,
)
from gonogo.events.launch import (
    CreateTerms,
    LaunchAccepted,
    LaunchCancelled,
    LaunchDeclined,
    LaunchDeduplicated,
    LaunchPlanned,
    LaunchRequested,
    LaunchSuperseded,
    Person,
    Plan,
    Rendering,
    plan_digest,
)
from gonogo.events.notification import (
    NotificationDelivered,
    NotificationIntended,
    NotificationRecordedLocally,
    NotificationUnconfirmed,
    NotificationUndeliverable,
)
from gonogo.events.placeholder import (
    PlaceholderBackedUp,
    PlaceholderDeleted,
    PlaceholderDeleteIntended,
    PlaceholderDeleteUnresolved,
    PlaceholderRestored,
    PlaceholderRestoreIntended,
    PlaceholderRestoreUnresolved,
    PlaceholderStopIntended,
    PlaceholderStopped,
    PlaceholderStopUnresolved,
    QueueCleared,
)
from gonogo.events.preflight import (
    CheckAttested,
    CheckFailed,
    CheckPassed,
    CheckUnverifiable,
    PreflightExpired,
    PreflightFailed,
    PreflightPassed,
    RecheckRequested,
    ReviewConfirmed,
    ReviewDeclined,
    ReviewRequested,
)
from gonogo.events.request import Problem, Request, Run, request_digest
from gonogo.events.submission import (
    SettlementDeclared,
    Sighting,
    SubmissionAbsent,
    SubmissionAccepted,
    SubmissionConflicted,
    SubmissionIntended,
    SubmissionLookedUp,
    SubmissionMismatched,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionVerified,
    SubmissionWithheld,
)

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
"""Second 0 of every example history."""
ANN = Person(client="cli", claimed="ann")
KEY = "tiny-train-1"
LAUNCH = launch_id(ANN.client, KEY)
OTHER_LAUNCH = launch_id(ANN.client, "tiny-train-2")
JOB_NAME = f"tiny-train-{LAUNCH}"
REQUEST = Request(
    name="tiny-train",
    purpose="train",
    platform="scripted",
    run=Run(command=("python3", "train.py")),
    target="cluster-a",
    queue="night",
    output="/shared/runs/tiny",
    notify=("console",),
    key=KEY,
)
TERMS = CreateTerms(
    start_deadline_s=5, create_timeout_s=25, settle_s=10, settle_source="measured", authoritative_negative=False
)
"""Their grace is 60 seconds, their settle time 10."""
_BODY = '{"command": ["python3", "train.py"]}'
PLAN = Plan(
    request_digest=request_digest(REQUEST),
    platform=REQUEST.platform,
    target="cluster-a",
    queue=REQUEST.queue,
    job_name=JOB_NAME,
    token=LAUNCH,
    rendering=Rendering(body=_BODY, digest=digest_of(_BODY.encode())),
    terms=TERMS,
    guard=None,
    guard_note="none here",
    output=REQUEST.output,
)
DIGEST = plan_digest(PLAN)
OTHER_DIGEST = digest_of(b"another plan")
JOB = JobRef(id="17", name=JOB_NAME, identity="cluster-a")
SECOND_JOB = JobRef(id="18", name=JOB_NAME, identity="cluster-a")
PLACEHOLDER = JobRef(id="p-1", name="xx", identity="cluster-a")

launch_requested = LaunchRequested(
    inbox_sequence=4, word="launch", person=ANN, digest=digest_of(b"{}"), original='{"name": "tiny train"}'
)
launch_accepted = LaunchAccepted(inbox_sequence=5, person=ANN, key=KEY, digest=request_digest(REQUEST), request=REQUEST)
launch_deduplicated = LaunchDeduplicated(inbox_sequence=6, launch=LAUNCH, digest=request_digest(REQUEST))
launch_declined = LaunchDeclined(
    inbox_sequence=4,
    problems=(Problem(path="name", problem="'tiny train' has a blank", fix="write tiny-train"),),
)
launch_planned = LaunchPlanned(plan=PLAN, plan_digest=DIGEST)
launch_superseded = LaunchSuperseded(by=OTHER_LAUNCH, reason="the queue is open again")
launch_cancelled = LaunchCancelled(reason="wrong dataset")

check_passed = CheckPassed(round=1, check="disk", evidence="80 GB free on /shared", viewpoint="login node")
check_failed = CheckFailed(
    round=1, check="disk", problem="1 GB free on /shared", fix="free 20 GB", viewpoint="login node"
)
check_unverifiable = CheckUnverifiable(round=1, check="image", why="the registry is private", viewpoint="login node")
preflight_passed = PreflightPassed(round=1, plan_digest=DIGEST, valid_for_s=600)
preflight_failed = PreflightFailed(round=1, blockers=("disk: 1 GB free on /shared: free 20 GB",))
preflight_expired = PreflightExpired(round=1)
review_requested = ReviewRequested(plan_digest=DIGEST)
review_confirmed = ReviewConfirmed(plan_digest=DIGEST, person=ANN, how="review", basis="looks right", inbox_sequence=7)
review_declined = ReviewDeclined(plan_digest=DIGEST, person=ANN, basis="wrong dataset", inbox_sequence=8)
recheck_requested = RecheckRequested(person=ANN, fixed="freed 30 GB", inbox_sequence=9)
check_attested = CheckAttested(check="image", person=ANN, evidence="pulled it by hand", inbox_sequence=10)

queue_cleared = QueueCleared(queue="night", queue_version=0, plan_digest=DIGEST)
placeholder_backed_up = PlaceholderBackedUp(placeholder=PLACEHOLDER, sealed_digest=digest_of(b"sealed"))
placeholder_stop_intended = PlaceholderStopIntended(placeholder=PLACEHOLDER, launch=LAUNCH)
placeholder_stopped = PlaceholderStopped(placeholder=PLACEHOLDER)
placeholder_stop_unresolved = PlaceholderStopUnresolved(placeholder=PLACEHOLDER, cause="no answer within 30 s")
placeholder_delete_intended = PlaceholderDeleteIntended(placeholder=PLACEHOLDER)
placeholder_deleted = PlaceholderDeleted(placeholder=PLACEHOLDER)
placeholder_delete_unresolved = PlaceholderDeleteUnresolved(placeholder=PLACEHOLDER, cause="no answer within 30 s")
placeholder_restore_intended = PlaceholderRestoreIntended(placeholder=PLACEHOLDER, attempt=1, token="r-1")
placeholder_restored = PlaceholderRestored(
    placeholder=PLACEHOLDER, job=JobRef(id="p-2", name="xx", identity="cluster-a")
)
placeholder_restore_unresolved = PlaceholderRestoreUnresolved(
    placeholder=PLACEHOLDER, attempt=1, cause="no answer within 30 s"
)

batch_joined = BatchJoined(launch=LAUNCH, of=3, close_after_s=600)
batch_closed = BatchClosed(settled=3, why="settled")

submission_intended = SubmissionIntended(
    token=LAUNCH, job_name=JOB_NAME, plan_digest=DIGEST, rendering_digest=PLAN.rendering.digest, terms=TERMS
)
submission_accepted = SubmissionAccepted(job=JOB)
submission_verified = SubmissionVerified(job=JOB, facts={"command": "python3 train.py"})
submission_mismatched = SubmissionMismatched(job=JOB, differences=("gpus: planned 8, found 4",))
submission_rejected = SubmissionRejected(code="quota", reason="no GPUs left", proof="answered before it was stored")
submission_unresolved = SubmissionUnresolved(cause="no answer within 25 s")
submission_looked_up = SubmissionLookedUp(complete=True, control="xx")
submission_absent = SubmissionAbsent(
    evidence="two complete look-ups show no such job",
    looked_up_at=(START + timedelta(seconds=60), START + timedelta(seconds=70)),
)
submission_conflicted = SubmissionConflicted(jobs=(JOB, SECOND_JOB), why="more than one job bears the launch's name")
submission_withheld = SubmissionWithheld(proof="create was never called: the lease was lost")
settlement_declared = SettlementDeclared(
    job_id="17", absent=False, evidence="seen in the console", person=ANN, inbox_sequence=11
)
SIGHTING = Sighting(job=JOB, state="Running")
SECOND_SIGHTING = Sighting(job=SECOND_JOB, state="Running")

job_status_changed = JobStatusChanged(job=JOB, state="RUNNING", raw="Running", reason="since 12:01")
job_restarted = JobRestarted(job=JOB, count=1)
job_succeeded = JobSucceeded(job=JOB, raw="Success", exit_code=0)
job_failed = JobFailed(job=JOB, raw="Failed", exit_code=1, reason="out of memory")
job_cancelled = JobCancelled(job=JOB, raw="Killed")
job_stopped = JobStopped(job=JOB, raw="Killed", reason="preempted")
duplicate_stopped = DuplicateStopped(job=JOB, raw="Success")
job_stop_intended = JobStopIntended(job=JOB, number=1)
job_stop_answered = JobStopAnswered(job=JOB, number=1, taken=True, answer="stopping")
watch_degraded = WatchDegraded(job=JOB, failures=3, cause="connection refused")
watch_recovered = WatchRecovered(job=JOB)
cancel_requested = CancelRequested(person=ANN, reason="wrong dataset", inbox_sequence=12)
watch_detached = WatchDetached(person=ANN, inbox_sequence=13)

notification_intended = NotificationIntended(
    launch=LAUNCH,
    event_id="submitter-1-1",
    event_type="SubmissionAccepted",
    channel="console",
    title="tiny-train: submitted",
    lines=(f"job 17 ({JOB_NAME})", f"launch {LAUNCH}", "seen 2026-03-01 12:00:00 UTC"),
)
notification_delivered = NotificationDelivered(receipt="written", attempts=1)
notification_unconfirmed = NotificationUnconfirmed(attempt=1, cause="no answer", retry_after_s=2.0)
notification_undeliverable = NotificationUndeliverable(attempts=8, cause="no such chat")
notification_recorded_locally = NotificationRecordedLocally(why="the request names no channel, so nobody was told")

EXAMPLES: dict[str, Event] = {
    type(example).__name__: example for example in tuple(globals().values()) if isinstance(example, Event)
}
"""The examples by the name of their class, complete: every event of the catalogue has one."""
