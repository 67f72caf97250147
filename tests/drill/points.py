"""The named points of a launch at which a process is killed, and the verdicts that are right afterwards.

A point is (who dies, how, where): `before`/`after` an append that holds a certain event, or around the create call.
"""

from __future__ import annotations

from dataclasses import dataclass

ANY = frozenset(("job", "absent", "withheld"))
JOB = frozenset(("job",))
NO_JOB = frozenset(("absent", "withheld"))


@dataclass(frozen=True)
class Point:
    """`when` is before | after; `what` an event's name, or `create`. `how`: kill, stop, or kill-server."""

    worker: str
    when: str
    what: str
    how: str = "kill"
    expected: frozenset[str] = ANY

    @property
    def name(self) -> str:
        return f"{self.worker}/{self.when}-{self.what}/{self.how}"


POINTS: tuple[Point, ...] = (
    Point("intake", "before", "LaunchAccepted"),
    Point("intake", "after", "LaunchAccepted"),
    Point("preflight", "before", "PreflightPassed"),
    Point("preflight", "after", "PreflightPassed"),
    Point("placeholder_manager", "before", "QueueCleared"),
    Point("placeholder_manager", "after", "QueueCleared"),
    Point("submitter", "before", "SubmissionIntended", expected=JOB),
    Point("submitter", "after", "SubmissionIntended", expected=NO_JOB),
    Point("submitter", "before", "create", expected=NO_JOB),
    Point("submitter", "before", "create", how="stop"),
    Point("submitter", "after", "create", expected=JOB),
    Point("submitter", "before", "SubmissionAccepted", expected=JOB),
    Point("submitter", "after", "SubmissionAccepted", expected=JOB),
    Point("submitter", "before", "SubmissionIntended", how="kill-server"),
    Point("submitter", "after", "create", how="kill-server", expected=JOB),
    Point("watcher", "before", "JobSucceeded", expected=ANY),
    Point("watcher", "after", "JobSucceeded", expected=ANY),
    Point("notifier", "before", "NotificationIntended"),
    Point("notifier", "after", "NotificationDelivered"),
)
