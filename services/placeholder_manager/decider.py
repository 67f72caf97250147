"""What the placeholder_manager does next. Pure.

A launch whose authorization does not cover its queue's placeholders has nothing to clear, so the queue is clear at once.
"""

from __future__ import annotations

from datetime import datetime

from gonogo.events.base import Event
from gonogo.events.placeholder import QueueCleared
from gonogo.projections.placeholders import Clearing
from gonogo.services.runtime.decision import AtMostOnce, Decision, Repeatable, Trigger

NOTHING: Decision[Event, AtMostOnce | Repeatable] = Decision()


def decide(gates: Clearing, trigger: Trigger) -> Decision[Event, AtMostOnce | Repeatable]:
    """Say that the queue is clear once the go and the yes stand."""
    if gates.plan is None or gates.plan_digest is None or not gates.may_clear(trigger.now):
        return NOTHING
    cleared = QueueCleared(queue=gates.plan.queue, queue_version=0, plan_digest=gates.plan_digest)
    return Decision(record=(cleared,))


def due(gates: Clearing, now: datetime) -> datetime | None:
    """Nothing here waits for a time."""
    _ = gates, now
    return None


def conclude(gates: Clearing, result: object) -> tuple[Event, ...]:
    """No effects, so nothing to conclude."""
    _ = gates, result
    return ()
