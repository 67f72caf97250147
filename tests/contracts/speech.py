"""Short things to say in tests that are not about what is said."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count

from gonogo.events.base import Event, Role
from gonogo.events.envelope import Said, Utterance
from gonogo.events.ids import History
from gonogo.events.job import JobRef
from gonogo.events.launch import LaunchCancelled
from gonogo.events.preflight import CheckPassed
from gonogo.events.submission import SubmissionAccepted, SubmissionIntended, SubmissionUnresolved
from gonogo.services.backends.scripted import TERMS
from gonogo.services.runtime.clock import new_instance

AT = datetime(2026, 3, 1, 12, 0, 0, 123456, UTC)
_INSTANCE = new_instance()
_NUMBERS = count(1)

INTENT = SubmissionIntended(token="t", job_name="t", plan_digest="sha256:p", rendering_digest="sha256:r", terms=TERMS)
OUTCOME = SubmissionAccepted(job=JobRef(id="17", name="t", identity="cluster-a"))


def new_history() -> History:
    """A launch that no other test of any run speaks about."""
    return History("launch", f"l{_INSTANCE}{next(_NUMBERS)}")


def utter(history: History, *events: Event, role: Role = "submitter") -> Utterance:
    """One message of these events, each under an id of its own."""
    said = tuple(
        Said(
            id=f"{_INSTANCE}-{next(_NUMBERS)}",
            event=event,
            role=role,
            instance=_INSTANCE,
            observed_at=AT,
            recorded_at=AT,
            stored_at=AT,
            sequence=0,
            caused_by="",
            trigger="woken",
        )
        for event in events
    )
    return Utterance(history=history, role=role, said=said)


def remark(history: History, text: str = "why not") -> Utterance:
    """Any small utterance that is no intent."""
    return utter(history, SubmissionUnresolved(cause=text))


def check(history: History, number: int) -> Utterance:
    """A numbered utterance."""
    return utter(history, CheckPassed(round=number, check="disk", evidence="e", viewpoint="here"), role="preflight")


def cancelled(history: History) -> Utterance:
    """An utterance that only the submitter may make."""
    return utter(history, LaunchCancelled(reason="asked for"))
