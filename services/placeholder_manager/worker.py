"""Wiring of the placeholder_manager."""

from __future__ import annotations

from gonogo.projections.placeholders import INITIAL, Clearing, evolve
from gonogo.services.placeholder_manager.decider import conclude, decide, due
from gonogo.services.placeholder_manager.effects import perform
from gonogo.services.runtime.worker import Worker


def build() -> Worker[Clearing]:
    """The placeholder_manager."""
    return Worker(
        role="placeholder",
        kinds=frozenset(("launch",)),
        initial=lambda _history: INITIAL,
        evolve=evolve,
        decide=decide,
        due=due,
        perform=perform,
        conclude=conclude,
    )
