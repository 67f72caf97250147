"""Every event there is, from the code. The codec, the generated docs and the JSON Schemas read this table and no other."""

from __future__ import annotations

from gonogo.events import batch, job, launch, notification, placeholder, preflight, submission
from gonogo.events.base import Event, Spoken

NOUNS = (launch, preflight, placeholder, batch, submission, job, notification)


def _events_of(module: object) -> dict[str, type[Event]]:
    return {
        name: thing
        for name, thing in vars(module).items()
        if isinstance(thing, type)
        and issubclass(thing, Event)
        and thing is not Event
        and thing.__module__ == getattr(module, "__name__", "")
    }


EVENTS: dict[str, type[Event]] = {name: cls for module in NOUNS for name, cls in _events_of(module).items()}
"""Event classes by name, in reading order."""

RESERVED: frozenset[str] = frozenset(
    name for module in (placeholder, batch) for name in _events_of(module) if name != "QueueCleared"
)
"""Events whose shape is fixed but which no worker says yet: yielding placeholders and closing batches come later."""


def dataschema_of(cls: type[Event]) -> str:
    """The CloudEvents `dataschema` of an event class: name and version."""
    return f"urn:gonogo:{cls.__name__}:{cls.VERSION}"


def spoken_of(cls: type[Event]) -> Spoken:
    """Where an event may stand and who may say it."""
    return cls.SPOKEN
