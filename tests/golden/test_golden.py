"""What was said with version 1 is read, and means, the same for ever."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from gonogo.events import codec
from gonogo.events.base import UnknownEvent
from gonogo.events.catalogue import EVENTS
from gonogo.events.envelope import Entry, Said, Utterance
from gonogo.events.ids import History
from gonogo.projections.invariants import violations
from gonogo.projections.launches import INITIAL, evolve
from tests.golden.scenes import Recorded

FOLDER = Path(__file__).with_name("v1")
RECORDINGS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
STANDINGS = {
    "succeeded": "succeeded",
    "failed_after_a_second_round": "failed",
    "absent_and_superseded": "superseded",
    "found_by_lookup_and_cancelled": "cancelled",
    "conflict_settled_by_a_person": "stopped",
    "rejected": "rejected",
    "withheld": "withheld",
    "declined": "declined",
    "cancelled_before_anything_was_sent": "cancelled",
    "unwatched": "unwatched",
}


def recorded(name: str) -> list[Recorded]:
    lines = (FOLDER / f"{name}.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Recorded) for line in lines]


def read(message: Recorded) -> Entry:
    item = codec.decode(message.subject, message.body.encode(), sequence=message.sequence, stored_at=message.stored_at)
    assert isinstance(item, Entry), item
    return item


def histories(name: str) -> dict[History, list[Said]]:
    found: dict[History, list[Said]] = {}
    for message in recorded(name):
        entry = read(message)
        found.setdefault(entry.history, []).extend(entry.said)
    return found


def test_no_recording_was_changed_or_taken_away():
    sums = (FOLDER / "SHA256SUMS").read_text().splitlines()
    wanted = dict(reversed(line.split("  ")) for line in sums)
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.jsonl")} == wanted


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_message_is_read_without_loss_and_written_again_byte_for_byte(name: str):
    for message in recorded(name):
        entry = read(message)
        assert not any(isinstance(said.event, UnknownEvent) for said in entry.said)
        again = codec.encode(Utterance(history=entry.history, role=entry.role, said=entry.said))
        assert again.decode() == message.body


def test_every_event_there_is_stands_in_a_recording():
    said = {
        type(said.event).__name__ for name in RECORDINGS for history in histories(name).values() for said in history
    }
    assert said == set(EVENTS), "record a scene with the new event: python -m tests.golden.scenes tests/golden/v1"


@pytest.mark.parametrize("name", RECORDINGS)
def test_what_was_recorded_still_counts_as_right(name: str):
    for history, said in histories(name).items():
        assert violations(history.kind, said) == ()


@pytest.mark.parametrize("name", STANDINGS)
def test_every_recorded_launch_still_stands_where_it_stood(name: str):
    ((history, said),) = histories(name).items()
    launch = INITIAL
    for each in said:
        launch = evolve(launch, each)
    assert (launch.id, launch.standing) == (history.id, STANDINGS[name])
