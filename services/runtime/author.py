"""Turns events into utterances: who, when, because of what, under which ids. Ids are never reused across process starts."""

from __future__ import annotations

from itertools import count

from gonogo.events.base import Event, Role
from gonogo.events.envelope import Said, TriggerWord, Utterance
from gonogo.events.ids import History
from gonogo.services.runtime.clock import Clock


class Author:
    """One process start, speaking."""

    def __init__(self, *, instance: str, clock: Clock) -> None:
        """`instance` is new for every process start."""
        self.instance = instance
        self._clock = clock
        self._numbers = count(1)

    def utter(
        self, history: History, role: Role, events: tuple[Event, ...], *, trigger: TriggerWord, caused_by: str
    ) -> Utterance:
        """One message for one decision. `stored_at` and `sequence` are the log's to give; here they are placeholders."""
        now = self._clock.now()
        said = tuple(
            Said(
                id=f"{self.instance}-{next(self._numbers)}",
                event=event,
                role=role,
                instance=self.instance,
                observed_at=now,
                recorded_at=now,
                stored_at=now,
                sequence=0,
                caused_by=caused_by,
                trigger=trigger,
            )
            for event in events
        )
        return Utterance(history=history, role=role, said=said)
