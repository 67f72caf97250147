"""How the placeholder_manager touches a platform: not at all where there are no placeholders."""

from __future__ import annotations

from gonogo.services.runtime.decision import AtMostOnce, Repeatable
from gonogo.services.runtime.worker import Permit


async def perform(effect: AtMostOnce | Repeatable, permit: Permit | None) -> object:
    """Refuse: the decider proposes no effects, so being asked for one is our own mistake."""
    _ = permit
    message = f"the placeholder_manager has no way to perform {type(effect).__name__}"
    raise AssertionError(message)
