"""Whether a launch's queue is clear, and where the placeholders of a queue stand."""

from __future__ import annotations

from typing import Literal

import msgspec

from gonogo.events.envelope import Said
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
)
from gonogo.projections.gates import CLOSED, Gates, evolve_gates

INITIAL = CLOSED
evolve = evolve_gates
"""A launch as the placeholder_manager sees it is its gates."""

Clearing = Gates

Standing = Literal[
    "backed-up",
    "stopping",
    "stop-in-doubt",
    "stopped",
    "deleting",
    "delete-in-doubt",
    "owed",
    "restoring",
    "restore-in-doubt",
    "restored",
]


class Roster(msgspec.Struct, frozen=True, kw_only=True):
    """Where each placeholder of one queue stands, by its platform id."""

    standing: dict[str, Standing] = {}

    @property
    def owed(self) -> frozenset[str]:
        """Placeholders that were taken away and are not back yet."""
        settled = ("backed-up", "stopping", "stop-in-doubt", "restored")
        return frozenset(job for job, standing in self.standing.items() if standing not in settled)


EMPTY_ROSTER = Roster()


def evolve_roster(roster: Roster, said: Said) -> Roster:
    """Fold one event of a queue's history."""
    match said.event:
        case PlaceholderBackedUp(placeholder=job):
            return _stand(roster, job.id, "backed-up")
        case PlaceholderStopIntended(placeholder=job):
            return _stand(roster, job.id, "stopping")
        case PlaceholderStopUnresolved(placeholder=job):
            return _stand(roster, job.id, "stop-in-doubt")
        case PlaceholderStopped(placeholder=job):
            return _stand(roster, job.id, "stopped")
        case PlaceholderDeleteIntended(placeholder=job):
            return _stand(roster, job.id, "deleting")
        case PlaceholderDeleteUnresolved(placeholder=job):
            return _stand(roster, job.id, "delete-in-doubt")
        case PlaceholderDeleted(placeholder=job):
            return _stand(roster, job.id, "owed")
        case PlaceholderRestoreIntended(placeholder=job):
            return _stand(roster, job.id, "restoring")
        case PlaceholderRestoreUnresolved(placeholder=job):
            return _stand(roster, job.id, "restore-in-doubt")
        case PlaceholderRestored(placeholder=job):
            return _stand(roster, job.id, "restored")
        case _:
            return roster


def _stand(roster: Roster, job_id: str, standing: Standing) -> Roster:
    return Roster(standing={**roster.standing, job_id: standing})
