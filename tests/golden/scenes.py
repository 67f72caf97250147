"""Histories as they happen, every event at least once: the source that the recordings were made from.

`python -m tests.golden.scenes FOLDER` writes them. A recording that exists is never written again: what was once said must
stay readable as it was said. Something new to say gets a recording of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from gonogo.events import codec
from gonogo.events.base import Event, Role
from gonogo.events.batch import BatchClosed, BatchJoined
from gonogo.events.envelope import Said, TriggerWord, Utterance
from gonogo.events.ids import History, digest_of, inbox_history, launch_history, launch_id, notice_history
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
    Guard,
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
from gonogo.events.request import Data, Monitor, Problem, Request, Resources, Run, request_digest
from gonogo.events.subjects import event_subject
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

BEGIN = datetime(2026, 3, 14, 9, 26, 53, 589793, UTC)
ANA = Person(client="ana", claimed="Ana Müller")
PLACE = "cluster-a/slurmctld"
TERMS = CreateTerms(
    start_deadline_s=2.0,
    create_timeout_s=30.0,
    settle_s=10.0,
    settle_source="squeue shows a job at once; ten seconds cover a controller's failover",
    authoritative_negative=False,
)


class Recorded(msgspec.Struct, frozen=True):
    """One message as the log has it: `body` is the text of its bytes."""

    sequence: int
    subject: str
    stored_at: datetime
    body: str


class Recorder:
    """A log of one scene: seven seconds pass between two messages unless more is said."""

    def __init__(self) -> None:
        self.messages: list[Recorded] = []
        self._now = BEGIN
        self._number = 0

    def wait(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def say(self, history: History, role: Role, *events: Event, trigger: TriggerWord = "woken") -> None:
        self.wait(7)
        said = tuple(self._said(event, role, trigger) for event in events)
        body = codec.encode(Utterance(history=history, role=role, said=said)).decode()
        stored_at = self._now + timedelta(milliseconds=4)
        self.messages.append(Recorded(len(self.messages) + 1, event_subject(history, role), stored_at, body))

    def _said(self, event: Event, role: Role, trigger: TriggerWord) -> Said:
        self._number += 1
        return Said(
            id=f"5f1d0c2ab94e-{self._number}",
            event=event,
            role=role,
            instance="5f1d0c2ab94e",
            observed_at=self._now - timedelta(milliseconds=120),
            recorded_at=self._now,
            stored_at=self._now,
            sequence=0,
            caused_by=f"5f1d0c2ab94e-{self._number - 1}" if self._number > 1 else "",
            trigger=trigger,
        )


class LaunchScene(Recorder):
    """One launch, from its acceptance on."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.id = launch_id("ana", key)
        self.history = launch_history(self.id)
        self.request = _request(key)
        rendering = f'{{"argv":["python3","train.py","--note","größer 🚀"],"name":"resnet-{self.id[:8]}"}}'
        self.plan = Plan(
            request_digest=request_digest(self.request),
            platform="slurm",
            target="cluster-a",
            queue="gpu",
            job_name=f"resnet-{self.id[:8]}",
            token=self.id,
            rendering=Rendering(body=rendering, digest=digest_of(rendering.encode())),
            terms=TERMS,
            guard=Guard(root=self.id, claim_path=f"/data/runs/.gonogo/{self.id}.claim"),
            guard_note="on: exclusive create beside the output",
            output="/data/runs/resnet-7",
            image="registry.local/train@sha256:" + "0" * 64,
            datasets={"train": "/data/imagenet"},
            secrets={"WANDB_API_KEY": "env:WANDB_API_KEY"},
            may=("submit",),
            changes=("queue: debug -> gpu",),
            warnings=(Problem(path="resources.time_limit", problem="none is set", fix="set one"),),
        )
        self.digest = plan_digest(self.plan)
        self.job = JobRef(id="48151", name=self.plan.job_name, identity=PLACE)
        self.say(
            self.history,
            "intake",
            LaunchAccepted(
                inbox_sequence=4, person=ANA, key=key, digest=self.plan.request_digest, request=self.request
            ),
            LaunchPlanned(plan=self.plan, plan_digest=self.digest),
            trigger="inbox",
        )

    def on(self, role: Role, *events: Event, trigger: TriggerWord = "woken") -> None:
        self.say(self.history, role, *events, trigger=trigger)

    def go(self, number: int = 1) -> None:
        passed = CheckPassed(round=number, check="output-free", evidence="no such folder", viewpoint="login-1")
        self.on("preflight", passed, PreflightPassed(round=number, plan_digest=self.digest, valid_for_s=900.0))

    def confirm(self) -> None:
        self.on("preflight", ReviewRequested(plan_digest=self.digest))
        self.on("request", ReviewConfirmed(plan_digest=self.digest, person=ANA, how="review", inbox_sequence=5))

    def intend(self) -> None:
        self.go()
        self.confirm()
        self.on("placeholder", QueueCleared(queue="gpu", queue_version=0, plan_digest=self.digest))
        plan = self.plan
        intent = SubmissionIntended(
            token=plan.token,
            job_name=plan.job_name,
            plan_digest=self.digest,
            rendering_digest=plan.rendering.digest,
            terms=TERMS,
        )
        self.on("submitter", intent)

    def accept(self) -> None:
        self.intend()
        self.on("submitter", SubmissionAccepted(job=self.job), trigger="outcome")
        self.on("submitter", SubmissionVerified(job=self.job, facts={"partition": "gpu"}), trigger="outcome")

    def run(self) -> None:
        self.accept()
        self.on("watcher", JobStatusChanged(job=self.job, state="PENDING", raw="PENDING", reason="Resources"))
        self.on("watcher", JobStatusChanged(job=self.job, state="RUNNING", raw="RUNNING"))


def _request(key: str) -> Request:
    return Request(
        name="resnet",
        purpose="train",
        platform="slurm",
        run=Run(command=("python3", "train.py", "--note", "größer 🚀")),
        target="cluster-a",
        queue="gpu",
        code="/home/ana/project",
        data=Data(roots={"train": "/data/imagenet"}),
        output="/data/runs/resnet-7",
        env={"SEED": "7"},
        secrets={"WANDB_API_KEY": "env:WANDB_API_KEY"},
        resources=Resources(nodes=2, gpus_per_node=8, time_limit_s=86400.0),
        monitor=Monitor(poll_s=30.0, status_every_s=3600.0),
        notify=("team",),
        key=key,
    )


def succeeded() -> Recorder:
    scene = LaunchScene("monday")
    scene.run()
    scene.on("watcher", WatchDegraded(job=scene.job, failures=3, cause="squeue: connection refused"))
    scene.on("watcher", WatchRecovered(job=scene.job))
    scene.on("watcher", JobRestarted(job=scene.job, count=1))
    scene.on("watcher", JobSucceeded(job=scene.job, raw="COMPLETED", exit_code=0))
    return scene


def failed_after_a_second_round() -> Recorder:
    scene = LaunchScene("tuesday")
    scene.on(
        "preflight",
        CheckFailed(round=1, check="output-free", problem="it exists", fix="choose another", viewpoint="login-1"),
        CheckUnverifiable(round=1, check="quota", why="no such tool here", viewpoint="login-1"),
        PreflightFailed(round=1, blockers=("output-free: it exists", "quota: nobody can see it")),
    )
    scene.on("request", RecheckRequested(person=ANA, fixed="moved the old run", inbox_sequence=6))
    scene.on("request", CheckAttested(check="quota", person=ANA, evidence="asked the administrators"))
    scene.go(2)
    scene.wait(1000)
    scene.on("preflight", PreflightExpired(round=2), trigger="due")
    scene.run()
    scene.on("watcher", JobFailed(job=scene.job, raw="NODE_FAIL", exit_code=1, reason="node gpu-07 went away"))
    return scene


def absent_and_superseded() -> Recorder:
    scene = LaunchScene("wednesday")
    scene.intend()
    scene.on("submitter", SubmissionUnresolved(cause="no answer within 30 s"), trigger="recovered")
    scene.on("submitter", SubmissionLookedUp(complete=False, cause="ssh: timed out"), trigger="due")
    looks = []
    for seconds in (70, 20):
        scene.wait(seconds)
        scene.on("submitter", SubmissionLookedUp(complete=True, control="48150"), trigger="outcome")
        looks.append(scene.messages[-1].stored_at)
    absent = SubmissionAbsent(evidence="two complete look-ups, each showing another job", looked_up_at=tuple(looks))
    scene.on("submitter", absent)
    scene.on("intake", LaunchSuperseded(by=launch_id("ana", "wednesday-2"), reason="never got a job"), trigger="inbox")
    return scene


def found_by_lookup_and_cancelled() -> Recorder:
    scene = LaunchScene("thursday")
    scene.intend()
    scene.on("submitter", SubmissionUnresolved(cause="connection reset"), trigger="outcome")
    scene.wait(70)
    sighting = Sighting(job=scene.job, state="PENDING", lineage="48151")
    scene.on("submitter", SubmissionLookedUp(complete=True, found=(sighting,), control="48150"), trigger="outcome")
    scene.on("submitter", SubmissionAccepted(job=scene.job, found_by_lookup=True))
    scene.on("submitter", SubmissionMismatched(job=scene.job, differences=("partition: gpu, not long",)))
    scene.on("request", CancelRequested(person=ANA, reason="wrong partition", inbox_sequence=9))
    scene.on("watcher", JobStopIntended(job=scene.job, number=1))
    scene.on("watcher", JobStopAnswered(job=scene.job, number=1, taken=True, answer="scancel: exit 0"))
    scene.on("watcher", JobCancelled(job=scene.job, raw="CANCELLED by 1000"))
    return scene


def conflict_settled_by_a_person() -> Recorder:
    scene = LaunchScene("friday")
    scene.intend()
    other = msgspec.structs.replace(scene.job, id="48152")
    scene.on("submitter", SubmissionUnresolved(cause="two answers"), trigger="outcome")
    found = (Sighting(job=scene.job, state="RUNNING"), Sighting(job=other, state="RUNNING"))
    scene.on("submitter", SubmissionLookedUp(complete=True, found=found))
    scene.on("submitter", SubmissionConflicted(jobs=(scene.job, other), why="more than one job bears the name"))
    scene.on("request", SettlementDeclared(job_id="48151", absent=False, evidence="stopped 48152 by hand", person=ANA))
    scene.on("submitter", SubmissionAccepted(job=scene.job))
    scene.on("watcher", DuplicateStopped(job=other, raw="FAILED 79"))
    scene.on("watcher", JobStopped(job=scene.job, raw="PREEMPTED", reason="preempted by 48200"))
    return scene


def rejected() -> Recorder:
    scene = LaunchScene("saturday")
    scene.intend()
    reason = "Invalid account or account/partition combination specified"
    scene.on("submitter", SubmissionRejected(code="sbatch-1", reason=reason, proof="sbatch says so before it stores"))
    return scene


def withheld() -> Recorder:
    scene = LaunchScene("sunday")
    scene.intend()
    scene.on("submitter", SubmissionWithheld(proof="create was never called: the secret WANDB_API_KEY is not set"))
    return scene


def declined() -> Recorder:
    scene = LaunchScene("holiday")
    scene.go()
    scene.on("preflight", ReviewRequested(plan_digest=scene.digest))
    scene.on("request", ReviewDeclined(plan_digest=scene.digest, person=ANA, basis="not this week"))
    return scene


def cancelled_before_anything_was_sent() -> Recorder:
    scene = LaunchScene("night")
    scene.go()
    scene.on("request", CancelRequested(person=ANA))
    scene.on("submitter", LaunchCancelled(reason="Ana Müller (claimed) via ana asked for it"))
    return scene


def unwatched() -> Recorder:
    scene = LaunchScene("morning")
    scene.run()
    scene.on("request", WatchDetached(person=ANA, inbox_sequence=12))
    return scene


def inbox() -> Recorder:
    scene, one, two = Recorder(), inbox_history(17), inbox_history(18)
    original = '{"name":"resnet","env":{"TOKEN":"[secret]"}}'
    requested = LaunchRequested(inbox_sequence=17, word="launch", person=ANA, digest="sha256:ab", original=original)
    scene.say(one, "request", requested, trigger="inbox")
    problems = (Problem(path="env.TOKEN", problem="holds a secret", fix="give a reference: secrets: {TOKEN: env:…}"),)
    scene.say(one, "intake", LaunchDeclined(inbox_sequence=17, problems=problems), trigger="inbox")
    again = LaunchDeduplicated(inbox_sequence=18, launch=launch_id("ana", "monday"), digest="sha256:cd")
    scene.say(two, "intake", again, trigger="inbox")
    return scene


def queue() -> Recorder:
    scene, gpu = Recorder(), History("queue", "gpu")
    held = JobRef(id="7", name="placeholder-gpu", identity=PLACE)
    events: tuple[Event, ...] = (
        PlaceholderBackedUp(placeholder=held, sealed_digest="sha256:ef"),
        PlaceholderStopIntended(placeholder=held, launch=launch_id("ana", "monday")),
        PlaceholderStopUnresolved(placeholder=held, cause="no answer"),
        PlaceholderStopped(placeholder=held),
        PlaceholderDeleteIntended(placeholder=held),
        PlaceholderDeleteUnresolved(placeholder=held, cause="no answer"),
        PlaceholderDeleted(placeholder=held),
        PlaceholderRestoreIntended(placeholder=held, attempt=1, token="gpu-1"),
        PlaceholderRestoreUnresolved(placeholder=held, attempt=1, cause="no answer"),
        PlaceholderRestored(placeholder=held, job=msgspec.structs.replace(held, id="8")),
    )
    for event in events:
        scene.say(gpu, "placeholder", event)
    return scene


def batch() -> Recorder:
    scene, sweep = Recorder(), History("batch", "sweep-3")
    for key in ("monday", "tuesday"):
        joined = BatchJoined(launch=launch_id("ana", key), of=2, close_after_s=600.0)
        scene.say(sweep, "intake", joined, trigger="inbox")
    scene.say(sweep, "placeholder", BatchClosed(settled=2, why="settled"))
    return scene


def notices() -> Recorder:
    scene, launch = Recorder(), launch_id("ana", "monday")

    def about(channel: str) -> tuple[History, NotificationIntended]:
        event_id = "5f1d0c2ab94e-16"
        intended = NotificationIntended(
            launch=launch,
            event_id=event_id,
            event_type="JobSucceeded",
            channel=channel,
            title="resnet succeeded",
            lines=("job 48151 on cluster-a", "took 2 h"),
        )
        return notice_history(launch, event_id, channel), intended

    team, told = about("team")
    scene.say(team, "notifier", told)
    scene.say(team, "notifier", NotificationUnconfirmed(attempt=1, cause="no answer", retry_after_s=30.0))
    scene.say(team, "notifier", NotificationDelivered(receipt="202", attempts=2))
    pager, told = about("pager")
    scene.say(pager, "notifier", told)
    scene.say(pager, "notifier", NotificationUndeliverable(attempts=1, cause="404: no such channel"))
    nobody, told = about("none")
    scene.say(nobody, "notifier", told)
    scene.say(nobody, "notifier", NotificationRecordedLocally(why="no channel is configured"))
    return scene


SCENES = (
    succeeded,
    failed_after_a_second_round,
    absent_and_superseded,
    found_by_lookup_and_cancelled,
    conflict_settled_by_a_person,
    rejected,
    withheld,
    declined,
    cancelled_before_anything_was_sent,
    unwatched,
    inbox,
    queue,
    batch,
    notices,
)


def recordings() -> Iterator[tuple[str, bytes]]:
    """File names and contents."""
    for scene in SCENES:
        lines = [msgspec.json.encode(message) for message in scene().messages]
        yield f"{scene.__name__}.jsonl", b"\n".join(lines) + b"\n"


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, content in recordings():
        if not (folder / name).exists():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
