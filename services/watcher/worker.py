"""Wiring of the watcher."""

from __future__ import annotations

from collections.abc import Mapping

from gonogo.projections.jobs import INITIAL, Watch, evolve
from gonogo.services.backends.port import Backend
from gonogo.services.runtime.clock import Clock
from gonogo.services.runtime.worker import Worker
from gonogo.services.watcher.decider import conclude, decide, due
from gonogo.services.watcher.effects import Watching


def build(backends: Mapping[str, Backend], clock: Clock) -> Worker[Watch]:
    """The watcher over these backends."""
    return Worker(
        role="watcher",
        kinds=frozenset(("launch",)),
        initial=lambda _history: INITIAL,
        evolve=evolve,
        decide=decide,
        due=due,
        perform=Watching(backends, clock).perform,
        conclude=conclude,
    )
