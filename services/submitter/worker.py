"""Wiring of the submitter."""

from __future__ import annotations

from collections.abc import Mapping

from gonogo.projections.submissions import INITIAL, Submission, evolve
from gonogo.services.backends.port import Backend
from gonogo.services.runtime.worker import Worker
from gonogo.services.submitter.decider import conclude, decide, due
from gonogo.services.submitter.effects import ReadSecrets, Submitting


def build(backends: Mapping[str, Backend], read_secrets: ReadSecrets) -> Worker[Submission]:
    """The submitter over these backends."""
    return Worker(
        role="submitter",
        kinds=frozenset(("launch",)),
        initial=lambda _history: INITIAL,
        evolve=evolve,
        decide=decide,
        due=due,
        perform=Submitting(backends, read_secrets).perform,
        conclude=conclude,
    )
