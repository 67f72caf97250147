"""The generated pages are those of this code, and every event of the catalogue can be written and read."""

from __future__ import annotations

import pytest

from gonogo.events import codec
from gonogo.events.catalogue import EVENTS
from gonogo.events.envelope import Entry
from gonogo.events.ids import History
from gonogo.events.subjects import event_subject
from gonogo.services.runtime.author import Author
from tests.examples import EXAMPLES
from tests.generate_docs import stale
from tests.simulation.virtual_time import EPOCH


class _Clock:
    def now(self):
        return EPOCH

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        _ = seconds


def test_the_generated_pages_are_not_stale() -> None:
    assert stale() == []


def test_there_is_an_example_of_every_event() -> None:
    assert set(EXAMPLES) == set(EVENTS)


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_every_event_is_read_back_as_it_was_written(name: str) -> None:
    event = EXAMPLES[name]
    (kind,), role = event.SPOKEN.kinds, min(event.SPOKEN.roles)
    history = History(kind, "abc")
    utterance = Author(instance="i", clock=_Clock()).utter(history, role, (event,), trigger="woken", caused_by="x-1")
    item = codec.decode(event_subject(history, role), codec.encode(utterance), sequence=1, stored_at=EPOCH)
    assert isinstance(item, Entry)
    assert item.said[0].event == event
