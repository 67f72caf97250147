"""Wiring of the notifier: two kinds of history, launches (what to tell) and notices (was it told)."""

from __future__ import annotations

from collections.abc import Mapping

from gonogo.events.envelope import Said
from gonogo.events.ids import History
from gonogo.events.log import EventLog
from gonogo.projections.notifications import (
    INITIAL_NOTICE,
    INITIAL_TELLING,
    State,
    evolve_notice,
    evolve_telling,
)
from gonogo.projections.notifications import Telling as TellingState
from gonogo.services.channels.port import Channel
from gonogo.services.notifier.decider import conclude, decide, due
from gonogo.services.notifier.effects import Telling
from gonogo.services.runtime.author import Author
from gonogo.services.runtime.clock import Clock
from gonogo.services.runtime.worker import Worker


def build(channels: Mapping[str, Channel], *, log: EventLog, author: Author, clock: Clock) -> Worker[State]:
    """The notifier over these channels."""
    telling = Telling(channels, log=log, author=author, clock=clock)

    def initial(history: History) -> State:
        if history.kind == "notice":
            telling.knows(history.id)
            return INITIAL_NOTICE
        return INITIAL_TELLING

    return Worker(
        role="notifier",
        kinds=frozenset(("launch", "notice")),
        initial=initial,
        evolve=_evolve,
        decide=decide,
        due=due,
        perform=telling.perform,
        conclude=conclude,
    )


def _evolve(state: State, said: Said) -> State:
    if isinstance(state, TellingState):
        return evolve_telling(state, said)
    return evolve_notice(state, said)
