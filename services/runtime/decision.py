"""What a decider returns, and what it is woken by.

`Decision(record, then)`: the events to record **before** the effects to perform. An effect says in its type whether it may
be repeated; the loop offers no way to repeat an `AtMostOnce` one, and refuses to perform it without the append that
recorded its intent.
"""

from __future__ import annotations

from datetime import datetime
from typing import Generic, TypeVar

import msgspec

from gonogo.events.base import Event


class AtMostOnce(msgspec.Struct, frozen=True):
    """An effect that changes the outside world: create, stop, delete, restore."""


class Repeatable(msgspec.Struct, frozen=True):
    """An effect that may run again: read, look up, notify under a key."""


class Woken(msgspec.Struct, frozen=True):
    """Something was said in this history. Which thing does not matter: the state decides."""

    now: datetime


class Due(msgspec.Struct, frozen=True):
    """The time that the fold named has come."""

    now: datetime


class Recovered(msgspec.Struct, frozen=True):
    """This process has just started or taken over; whatever an earlier one was doing is over or in doubt."""

    now: datetime


Trigger = Woken | Due | Recovered

E_co = TypeVar("E_co", bound=Event, covariant=True)
F_co = TypeVar("F_co", bound="AtMostOnce | Repeatable", covariant=True)


class Decision(msgspec.Struct, Generic[E_co, F_co], frozen=True):
    """Events to record, then effects to perform."""

    record: tuple[E_co, ...] = ()
    then: tuple[F_co, ...] = ()


NOTHING: Decision[Event, AtMostOnce | Repeatable] = Decision()
