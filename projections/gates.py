"""What must hold before anything is sent: the go, the yes, the clear queue, and no word against it.

Both the placeholder_manager and the submitter stand behind these gates, so they fold them in one place. Every gate is
bound to the plan digest: a yes to another plan opens nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from gonogo.events.base import UnknownEvent
from gonogo.events.envelope import Said
from gonogo.events.job import CancelRequested
from gonogo.events.launch import LaunchPlanned, LaunchSuperseded, Plan
from gonogo.events.placeholder import QueueCleared
from gonogo.events.preflight import (
    PreflightExpired,
    PreflightFailed,
    PreflightPassed,
    RecheckRequested,
    ReviewConfirmed,
    ReviewDeclined,
)


class Gates(msgspec.Struct, frozen=True, kw_only=True):
    """The gates of one launch. `unknown` closes them all: a newer writer may have said something that forbids acting."""

    plan: Plan | None = None
    plan_digest: str | None = None
    go_until: datetime | None = None
    confirmed: bool = False
    cleared: bool = False
    yielded: bool = False
    cancelled: str | None = None
    declined: bool = False
    superseded: bool = False
    unknown: bool = False

    @property
    def stopped(self) -> bool:
        """Whether a word of a person forbids sending anything."""
        return self.cancelled is not None or self.declined or self.superseded or self.unknown

    def may_clear(self, now: datetime) -> bool:
        """Whether the queue may be cleared: go, yes, and nothing against it."""
        return not self.stopped and self.confirmed and self._go_holds(now) and not self.cleared

    def may_submit(self, now: datetime) -> bool:
        """Whether the button may be pushed."""
        return not self.stopped and self.confirmed and self._go_holds(now) and self.cleared

    def _go_holds(self, now: datetime) -> bool:
        if self.go_until is None:
            return False
        return self.yielded or now < self.go_until


CLOSED = Gates()


def evolve_gates(gates: Gates, said: Said) -> Gates:
    """Fold one event into the gates."""
    match said.event:
        case LaunchPlanned(plan=plan, plan_digest=digest):
            return msgspec.structs.replace(CLOSED, plan=plan, plan_digest=digest)
        case PreflightPassed(plan_digest=digest, valid_for_s=valid_for_s):
            if digest != gates.plan_digest:
                return gates
            return msgspec.structs.replace(gates, go_until=said.stored_at + timedelta(seconds=valid_for_s))
        case PreflightFailed() | PreflightExpired():
            return msgspec.structs.replace(gates, go_until=None)
        case RecheckRequested():
            return gates if gates.yielded else msgspec.structs.replace(gates, go_until=None)
        case ReviewConfirmed(plan_digest=digest):
            return msgspec.structs.replace(gates, confirmed=gates.confirmed or digest == gates.plan_digest)
        case ReviewDeclined(plan_digest=digest):
            return msgspec.structs.replace(gates, declined=gates.declined or digest == gates.plan_digest)
        case QueueCleared(plan_digest=digest, queue_version=version) if digest == gates.plan_digest:
            return msgspec.structs.replace(gates, cleared=True, yielded=version > 0)
        case CancelRequested(reason=reason):
            return msgspec.structs.replace(gates, cancelled=gates.cancelled or reason or "no reason given")
        case LaunchSuperseded():
            return msgspec.structs.replace(gates, superseded=True)
        case UnknownEvent():
            return msgspec.structs.replace(gates, unknown=True)
        case _:
            return gates
