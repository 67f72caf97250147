"""What is kept beside the log: outcomes that it may not have yet, and what is remembered of its past."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from gonogo.events.envelope import Entry, Utterance
from gonogo.events.ids import History
from gonogo.events.log import Appended, EventLogError, LogDamagedError
from gonogo.events.memory import MemoryLog
from gonogo.events.submission import SubmissionUnresolved
from gonogo.services.runtime.checkpoints import EVERY, Checkpoints, identity_of
from gonogo.services.runtime.clock import SystemClock
from gonogo.services.runtime.spool import FileSpool, MemorySpool
from gonogo.services.runtime.supervise import demand_same_past
from tests.contracts.speech import AT, OUTCOME, new_history, remark, utter

ROOT = Path(__file__).parents[2]


def same(one: Utterance, other: Utterance) -> bool:
    """The same words under the same ids; the log's own stamps are not kept."""
    return (one.history, one.role, [(s.id, s.event, s.recorded_at) for s in one.said]) == (
        (other.history, other.role, [(s.id, s.event, s.recorded_at) for s in other.said])
    )


def spool_of(kind: str, folder: Path) -> FileSpool | MemorySpool:
    return FileSpool(folder / "spool") if kind == "file" else MemorySpool()


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_a_kept_outcome_is_pending_until_it_is_forgotten(tmp_path: Path, kind: str):
    spool = spool_of(kind, tmp_path)
    assert spool.pending() == ()
    outcome = utter(new_history(), OUTCOME)
    spool.keep(outcome)
    spool.keep(outcome)
    (pending,) = spool.pending()
    assert same(pending, outcome)
    spool.forget(outcome)
    spool.forget(outcome)
    assert spool.pending() == ()


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_outcomes_are_pending_in_the_order_in_which_they_were_kept(tmp_path: Path, kind: str):
    spool, history = spool_of(kind, tmp_path), new_history()
    said = [remark(history, str(number)) for number in range(60)]
    for utterance in said:
        spool.keep(utterance)
    assert [pending.id for pending in spool.pending()] == [utterance.id for utterance in said]


def test_a_successor_goes_on_in_the_order_of_its_predecessor(tmp_path: Path):
    history = new_history()
    said = [remark(history, str(number)) for number in range(20)]
    for utterance in said:
        FileSpool(tmp_path / "spool").keep(utterance)
    assert [pending.id for pending in FileSpool(tmp_path / "spool").pending()] == [each.id for each in said]


def test_an_outcome_survives_the_death_of_the_process_that_kept_it(tmp_path: Path):
    script = (
        "import os, sys; from pathlib import Path\n"
        "from gonogo.services.runtime.spool import FileSpool\n"
        "from tests.contracts.speech import *\n"
        "FileSpool(Path(sys.argv[1])).keep(utter(History('launch', 'abc'), OUTCOME))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = os.environ | {"PYTHONPATH": f"{ROOT / '.dev'}:{ROOT}"}
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "spool"], check=False, env=environment)
    assert done.returncode == -signal.SIGKILL
    (pending,) = FileSpool(tmp_path / "spool").pending()
    assert [said.event for said in pending.said] == [OUTCOME]


async def test_what_is_pending_can_be_appended_and_is_stored_once_even_if_the_log_had_it(tmp_path: Path):
    log, spool, history = MemoryLog(SystemClock()), FileSpool(tmp_path / "spool"), new_history()
    outcome = utter(history, OUTCOME)
    spool.keep(outcome)
    assert await log.append(outcome, expected=0) == Appended(1)
    (pending,) = FileSpool(tmp_path / "spool").pending()
    assert await log.append(pending, expected=0) == Appended(1)
    assert await log.tail() == 1


def test_nobody_else_can_read_the_spool(tmp_path: Path):
    FileSpool(tmp_path / "spool").keep(utter(new_history(), OUTCOME))
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "spool", *(tmp_path / "spool").iterdir()))


def test_a_half_written_outcome_is_none(tmp_path: Path):
    spool = FileSpool(tmp_path / "spool")
    (tmp_path / "spool" / "x-1.part").write_bytes(b'{"subject":"ev.la')
    assert spool.pending() == ()


@pytest.mark.parametrize("content", [b"", b"{", b'{"subject":"ev.launch.a.submitter","body":[]}'])
def test_a_damaged_outcome_is_never_passed_over(tmp_path: Path, content: bytes):
    spool = FileSpool(tmp_path / "spool")
    path = tmp_path / "spool" / "x-1.json"
    path.write_bytes(content)
    with pytest.raises(EventLogError, match=rf"{path} .*keep the file, move it away"):
        spool.pending()


class StoppedClock:
    """The broker stored it then, whenever the log is read."""

    def now(self) -> datetime:
        return AT


async def log_of(number: int, *, changed: int | None = None) -> MemoryLog:
    """A log of `number` messages, one of them perhaps not the one that others have."""
    log = MemoryLog(StoppedClock())
    history = History("launch", "abc")
    version = 0
    for index in range(1, number + 1):
        utterance = utter(history, SubmissionUnresolved(cause=f"number {index}"))
        said = msgspec.structs.replace(utterance.said[0], id=f"i-{index}{'x' if index == changed else ''}")
        fixed = Utterance(history=history, role="submitter", said=(said,))
        answer = await log.append(fixed, expected=version)
        assert isinstance(answer, Appended)
        version = answer.sequence
    return log


def noted(log: MemoryLog, path: Path, *, force: bool = False) -> Checkpoints:
    checkpoints = Checkpoints(path)
    for item in log.items:
        checkpoints.note(item, force=force)
    return checkpoints


async def demand(log: MemoryLog, path: Path) -> None:
    """As a start does, on what the file says."""
    await demand_same_past(log, Checkpoints(path))  # type: ignore[arg-type]


async def test_a_log_that_only_grew_is_the_same(tmp_path: Path):
    noted(await log_of(EVERY + 3), tmp_path / "c")
    await demand(await log_of(EVERY + 3), tmp_path / "c")
    await demand(await log_of(EVERY * 2), tmp_path / "c")


async def test_nothing_is_demanded_of_a_log_of_which_nothing_is_remembered(tmp_path: Path):
    await demand(await log_of(0), tmp_path / "c")


async def test_a_truncated_log_is_noticed(tmp_path: Path):
    noted(await log_of(EVERY), tmp_path / "c")
    with pytest.raises(LogDamagedError, match=rf"ends at {EVERY - 1}, but it had reached {EVERY}\..*from its backup"):
        await demand(await log_of(EVERY - 1), tmp_path / "c")


async def test_an_emptied_log_is_noticed(tmp_path: Path):
    noted(await log_of(1), tmp_path / "c", force=True)
    with pytest.raises(LogDamagedError, match="ends at 0, but it had reached 1"):
        await demand(await log_of(0), tmp_path / "c")


async def test_another_message_in_the_place_of_the_remembered_one_is_noticed(tmp_path: Path):
    noted(await log_of(5), tmp_path / "c", force=True)
    await demand(await log_of(9, changed=6), tmp_path / "c")
    with pytest.raises(LogDamagedError, match="message 5 of the log is not the one that was there before"):
        await demand(await log_of(9, changed=5), tmp_path / "c")


async def test_an_unreadable_message_in_the_place_of_the_remembered_one_is_noticed(tmp_path: Path):
    noted(await log_of(5), tmp_path / "c", force=True)
    log = await log_of(4)
    log.store("ev.launch.abc.submitter", b"broken")
    with pytest.raises(LogDamagedError, match="message 5"):
        await demand(log, tmp_path / "c")


async def test_a_checkpoint_is_made_now_and_then_and_when_it_is_asked_for(tmp_path: Path):
    log = await log_of(EVERY + 5)
    checkpoints = noted(log, tmp_path / "c")
    assert checkpoints.last is not None
    assert checkpoints.last.sequence == EVERY
    assert len((tmp_path / "c").read_bytes().splitlines()) == 1
    checkpoints.note(log.items[-1], force=True)
    checkpoints.note(log.items[-1], force=True)
    checkpoints.note(log.items[0], force=True)
    assert len((tmp_path / "c").read_bytes().splitlines()) == 2
    assert Checkpoints(tmp_path / "c").last == checkpoints.last
    assert checkpoints.last.sequence == EVERY + 5


async def test_a_torn_last_line_leaves_the_checkpoint_before_it(tmp_path: Path):
    noted(await log_of(3), tmp_path / "c", force=True)
    with (tmp_path / "c").open("ab") as file:
        file.write(b'{"sequence":4,"id')
    last = Checkpoints(tmp_path / "c").last
    assert last is not None
    assert last.sequence == 3


async def test_a_checkpoint_after_a_torn_line_is_read(tmp_path: Path):
    log = await log_of(4)
    noted(await log_of(3), tmp_path / "c", force=True)
    with (tmp_path / "c").open("ab") as file:
        file.write(b'{"sequence":4,"id')
    Checkpoints(tmp_path / "c").note(log.items[3], force=True)
    last = Checkpoints(tmp_path / "c").last
    assert last is not None
    assert last.sequence == 4


async def test_nobody_else_can_read_the_checkpoints(tmp_path: Path):
    noted(await log_of(1), tmp_path / "c", force=True)
    assert (tmp_path / "c").stat().st_mode & 0o077 == 0


async def test_a_message_is_told_from_every_other_by_where_when_and_by_whom_it_was_said():
    first, second = (item for item in (await log_of(2)).items if isinstance(item, Entry))
    others = (
        msgspec.structs.replace(first, sequence=2),
        msgspec.structs.replace(first, history=first.history._replace(id="abd")),
        msgspec.structs.replace(first, role="watcher"),
        msgspec.structs.replace(first, said=second.said),
        msgspec.structs.replace(first, stored_at=first.stored_at + timedelta(microseconds=1)),
    )
    assert len({identity_of(first), *map(identity_of, others)}) == len(others) + 1
