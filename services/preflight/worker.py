"""Wiring of preflight."""

from __future__ import annotations

from collections.abc import Mapping

from gonogo.projections.preflights import INITIAL, Preflight, evolve
from gonogo.services.backends.port import Backend
from gonogo.services.preflight.decider import conclude, decide, due
from gonogo.services.preflight.effects import Checking
from gonogo.services.runtime.worker import Worker


def build(backends: Mapping[str, Backend], environment: Mapping[str, str]) -> Worker[Preflight]:
    """Preflight over these backends; `environment` is where `env:` secrets are looked for."""
    return Worker(
        role="preflight",
        kinds=frozenset(("launch",)),
        initial=lambda _history: INITIAL,
        evolve=evolve,
        decide=decide,
        due=due,
        perform=Checking(backends, environment).perform,
        conclude=conclude,
    )
