"""What is remembered of the log outside the log, and when nobody may act any more."""

from __future__ import annotations

import stat
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from gonogo.events import codec
from gonogo.events.envelope import Entry, Unreadable
from gonogo.events.log import LogDamagedError
from gonogo.events.subjects import event_subject
from gonogo.services.runtime.checkpoints import EVERY, Checkpoints
from tests.contracts.speech import AT, new_history, remark

HISTORY = new_history()
SUBJECT = event_subject(HISTORY, "submitter")
BODY = codec.encode(remark(HISTORY))


def entry(sequence: int, body: bytes = BODY) -> Entry:
    item = codec.decode(SUBJECT, body, sequence=sequence, stored_at=AT)
    assert isinstance(item, Entry)
    return item


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.jsonl"


def remembering(path: Path, item: Entry) -> Checkpoints:
    """A later process that finds what an earlier one remembered."""
    Checkpoints(path).note(item, force=True)
    return Checkpoints(path)


def lines(path: Path) -> int:
    return len(path.read_bytes().splitlines())


def test_without_a_checkpoint_any_log_will_do(path: Path):
    Checkpoints(path).demand(tail=0, at=None)
    assert not path.exists()


def test_the_log_that_is_remembered_is_let_through_however_far_it_has_gone_on(path: Path):
    checkpoints = remembering(path, entry(7))
    checkpoints.demand(tail=7, at=entry(7))
    checkpoints.demand(tail=900, at=entry(7))


def test_a_log_that_ends_before_what_is_remembered_is_damaged(path: Path):
    with pytest.raises(LogDamagedError, match=f"ends at 6, but it had reached 7. Nobody acts .* or move {path} away"):
        remembering(path, entry(7)).demand(tail=6, at=None)


@pytest.mark.parametrize(
    "other",
    [
        None,
        entry(7, codec.encode(remark(HISTORY))),
        msgspec.structs.replace(entry(7), stored_at=AT + timedelta(microseconds=1)),
        msgspec.structs.replace(entry(7), history=new_history()),
        msgspec.structs.replace(entry(7), role="watcher"),
        Unreadable(history=HISTORY, subject=SUBJECT, sequence=7, reason="not JSON"),
    ],
    ids=["none", "another id", "another time", "another history", "another role", "unreadable"],
)
def test_another_message_under_a_remembered_sequence_is_damage(path: Path, other: Entry | Unreadable | None):
    with pytest.raises(LogDamagedError, match="message 7 of the log is not the one that was there before"):
        remembering(path, entry(7)).demand(tail=9, at=other)


def test_a_newer_program_that_reads_more_into_an_old_message_still_knows_it(path: Path):
    as_unknown = entry(7, BODY.replace(b"SubmissionUnresolved:1", b"SubmissionUnresolved:2"))
    remembering(path, as_unknown).demand(tail=7, at=entry(7))


def test_only_so_often_is_something_remembered_and_always_at_a_clean_stop(path: Path):
    checkpoints = Checkpoints(path)
    for sequence in range(1, 2 * EVERY + 10):
        checkpoints.note(entry(sequence))
    assert lines(path) == 2
    checkpoints.note(entry(2 * EVERY + 9), force=True)
    assert lines(path) == 3
    checkpoints.note(entry(2 * EVERY + 9), force=True)
    assert lines(path) == 3
    assert Checkpoints(path).last == checkpoints.last


def test_what_is_older_than_the_newest_checkpoint_is_not_remembered_again(path: Path):
    checkpoints = remembering(path, entry(7))
    checkpoints.note(entry(3), force=True)
    assert Checkpoints(path).last == checkpoints.last


def test_a_message_that_cannot_be_read_is_no_checkpoint(path: Path):
    Checkpoints(path).note(Unreadable(history=None, subject="x", sequence=EVERY, reason="x"), force=True)
    assert not path.exists()


def test_a_line_that_was_cut_off_by_a_crash_costs_only_itself(path: Path):
    remembering(path, entry(7))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"sequence":9,"iden')
    checkpoints = Checkpoints(path)
    assert checkpoints.last is not None
    assert checkpoints.last.sequence == 7
    checkpoints.note(entry(12), force=True)
    found = Checkpoints(path).last
    assert found is not None
    assert found.sequence == 12


def test_nobody_else_can_read_the_file(path: Path):
    remembering(path, entry(7))
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
