"""The judge of a simulated world: invariants of the log after every message, and those that need the platform's journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gonogo.events.envelope import Entry, Said, Unreadable
from gonogo.events.ids import History
from gonogo.events.memory import MemoryLog
from gonogo.events.submission import SubmissionAbsent, SubmissionIntended, SubmissionRejected, SubmissionWithheld
from gonogo.projections.invariants import violations
from gonogo.projections.launches import Launch
from gonogo.services.backends.scripted import Journal

SECRET = b"canarycanary"


class Judge:
    """Follows the log and remembers everything that must not be."""

    def __init__(self, log: MemoryLog, journal: Journal, shown: Mapping[str, int], *, strict_absence: bool) -> None:
        self._log = log
        self._journal = journal
        self._shown = shown
        self._strict_absence = strict_absence
        self._histories: dict[History, list[Said]] = {}
        self.found: list[str] = []

    def _say(self, name: str, what: str) -> None:
        self.found.append(f"{name}: {what}")

    async def watch(self) -> None:
        """Check after every message."""
        async for batch in self._log.follow(after=0):
            for item in batch:
                self._step(item)

    def _step(self, item: Entry | Unreadable) -> None:
        if isinstance(item, Unreadable):
            self._say("the_log_is_readable", item.reason)
            return
        history = self._histories.setdefault(item.history, [])
        history.extend(item.said)
        for violation in violations(item.history.kind, history):
            if violation.sequence == item.sequence:
                self._say(violation.invariant, f"{item.history} {violation.what}")
        self._against_the_platform(item)

    def _against_the_platform(self, item: Entry) -> None:
        token = item.history.id
        for said in item.said:
            match said.event:
                case SubmissionAbsent(declared=False) if self._strict_absence and self._jobs(token):
                    self._say("no_absence_while_a_job_exists", f"{item.history} said absent")
                case SubmissionWithheld() if self._creates(token):
                    self._say("withheld_means_never_called", f"{item.history} said withheld")
                case SubmissionRejected() if self._jobs(token):
                    self._say("rejected_means_no_job", f"{item.history} said rejected")

    def _jobs(self, token: str) -> set[str]:
        """Distinct copies: those that the platform made of one job itself count as one."""
        return {job.lineage for job in self._journal.jobs if job.token == token}

    def _creates(self, token: str) -> int:
        return sum(1 for called, _ in self._journal.creates if called == token)

    def final(self, views: Mapping[str, Launch], *, faultless: bool) -> None:
        """What must hold once faults have stopped and time has passed."""
        self._one_create()
        self._bytes_were_reviewed()
        self._everything_settled(views, faultless=faultless)
        self._told()
        if any(SECRET in body for _, body in self._log.bodies):
            self._say("no_secret_in_the_log", "the canary stands in the log")

    def _one_create(self) -> None:
        for token, number in Counter(token for token, _ in self._journal.creates).items():
            if number > 1:
                self._say("one_create_per_token", f"{token} was created {number} times")
        for token in {job.token for job in self._journal.jobs}:
            if len(self._jobs(token)) > 1:
                self._say("one_job_per_launch", f"{token} has {len(self._jobs(token))} jobs")

    def _bytes_were_reviewed(self) -> None:
        intended = {
            history.id: said.event.rendering_digest
            for history, saids in self._histories.items()
            for said in saids
            if isinstance(said.event, SubmissionIntended)
        }
        for token, digest in self._journal.creates:
            if token not in intended:
                self._say("no_create_without_intent", f"{token} was created without an intent")
            elif intended[token] != digest:
                self._say("the_bytes_sent_were_reviewed", f"{token} was sent other bytes than intended")

    def _everything_settled(self, views: Mapping[str, Launch], *, faultless: bool) -> None:
        tokens = {job.token for job in self._journal.jobs}
        for launch, view in views.items():
            if not view.ended:
                self._say("everything_settles", f"{launch} is {view.standing} at the end")
            jobless = view.standing in ("absent", "withheld", "rejected")
            if jobless and launch in tokens:
                self._say("a_late_job_is_seen", f"{launch} is {view.standing} but has a job")
            if faultless and view.review == "confirmed" and view.standing not in GOOD:
                self._say("faultless_launches_succeed", f"{launch} is {view.standing}: {view.detail}")
            if view.standing == "succeeded" and not any(
                job.token == launch and job.end == "SUCCEEDED" for job in self._journal.jobs
            ):
                self._say("success_is_the_platforms_word", f"{launch} is said to have succeeded")

    def _told(self) -> None:
        for key, number in self._shown.items():
            if number > 1:
                self._say("told_once", f"notice {key} was shown {number} times")
        for history, saids in self._histories.items():
            if history.kind != "notice":
                continue
            names = [type(said.event).__name__ for said in saids]
            delivered = "NotificationDelivered" in names
            if delivered and history.id not in self._shown:
                self._say("told_means_shown", f"{history} is said to be delivered")
            if not delivered and not {"NotificationUndeliverable", "NotificationRecordedLocally"} & set(names):
                self._say("never_lost_silently", f"{history} was neither told nor given up: {names}")


GOOD = ("succeeded", "failed", "stopped", "cancelled", "unwatched", "superseded")
