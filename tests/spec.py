"""Given what was said, when something happens, then exactly this is recorded and performed.

Equality is of the whole decision, so an effect too many fails. `then` also decides once more on the new history and insists
that nothing more is recorded: every spec proves idempotence, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from gonogo.events.base import Event
from gonogo.events.envelope import Said
from gonogo.services.runtime.decision import AtMostOnce, Decision, Due, Recovered, Repeatable, Trigger, Woken
from tests.examples import START

S = TypeVar("S")


@dataclass(frozen=True)
class At:
    """An event, and the second of the history at which it was stored."""

    event: Event
    seconds: float


def at(event: Event, seconds: float) -> At:
    return At(event, seconds)


def second(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def woken(seconds: float = 0) -> Woken:
    return Woken(second(seconds))


def due(seconds: float) -> Due:
    return Due(second(seconds))


def recovered(seconds: float = 0) -> Recovered:
    return Recovered(second(seconds))


def said(event: Event, seconds: float = 0, *, sequence: int = 1) -> Said:
    """Observed two seconds and recorded one second before it was stored: a fold that mixes up the clocks shows."""
    role = min(event.SPOKEN.roles)
    stored_at = second(seconds)
    return Said(
        id=f"{role}-{sequence}",
        event=event,
        role=role,
        instance="one",
        observed_at=stored_at - timedelta(seconds=2),
        recorded_at=stored_at - timedelta(seconds=1),
        stored_at=stored_at,
        sequence=sequence,
        caused_by="",
        trigger="woken",
    )


def history(*events: Event | At) -> tuple[Said, ...]:
    """What was said, in order. An event without a time was stored together with the one before it."""
    told: list[Said] = []
    now = 0.0
    for sequence, one in enumerate(events, start=1):
        event, now = (one.event, one.seconds) if isinstance(one, At) else (one, now)
        told.append(said(event, now, sequence=sequence))
    return tuple(told)


def fold(state: S, evolve: Callable[[S, Said], S], told: Iterable[Said]) -> S:
    for one in told:
        state = evolve(state, one)
    return state


@dataclass(frozen=True)
class Spec(Generic[S]):
    """The specification of one decider over one fold."""

    initial: S
    evolve: Callable[[S, Said], S]
    decide: Callable[[S, Trigger], Decision[Any, Any]]

    def given(self, *events: Event | At) -> Given[S]:
        return Given(self, history(*events))

    def state(self, *events: Event | At) -> S:
        return fold(self.initial, self.evolve, history(*events))


@dataclass(frozen=True)
class Given(Generic[S]):
    spec: Spec[S]
    told: tuple[Said, ...]

    @property
    def state(self) -> S:
        return fold(self.spec.initial, self.spec.evolve, self.told)

    def when(self, trigger: Trigger) -> When[S]:
        return When(self, trigger)


@dataclass(frozen=True)
class When(Generic[S]):
    given: Given[S]
    trigger: Trigger
    decision: Decision[Event, AtMostOnce | Repeatable] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "decision", self.given.spec.decide(self.given.state, self.trigger))

    def then(
        self, *, record: tuple[Event, ...] = (), perform: tuple[AtMostOnce | Repeatable, ...] = (), once: bool = True
    ) -> None:
        """`once=False`: a rule that on purpose records the same again each time."""
        wanted = Decision(record=record, then=perform)
        assert self.decision == wanted, f"decided {self.decision}\nwanted  {wanted}"
        again = self.given.spec.decide(self._afterwards(), self.trigger)
        assert bool(again.record) != once, f"decided again, it records {again.record}"

    def then_nothing(self) -> None:
        self.then()

    def _afterwards(self) -> S:
        seconds = (self.trigger.now - START).total_seconds()
        first = len(self.given.told) + 1
        news = [said(event, seconds, sequence=first + i) for i, event in enumerate(self.decision.record)]
        return fold(self.given.state, self.given.spec.evolve, news)
