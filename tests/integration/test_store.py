"""The projections on disk are never the truth: whatever becomes of the file, the log makes it anew, the same."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gonogo.events import codec
from gonogo.events.envelope import Entry, LogItem, Unreadable
from gonogo.events.memory import MemoryLog
from gonogo.projections.launches import INITIAL, Launch, evolve
from gonogo.projections.store import Store, StoreBrokenError, read_launches, read_position, read_unreadable
from gonogo.services.runtime.clock import SystemClock
from gonogo.services.runtime.viewer import Viewer
from tests.golden.scenes import SCENES


def log_items() -> list[LogItem]:
    """All scenes as one log, a broken message in the middle of it."""
    messages = [message for scene in SCENES for message in scene().messages]
    items: list[LogItem] = [
        codec.decode(message.subject, message.body.encode(), sequence=sequence, stored_at=message.stored_at)
        for sequence, message in enumerate(messages, 1)
    ]
    items[20] = codec.decode(messages[20].subject, b"broken", sequence=21, stored_at=messages[20].stored_at)
    return items


ITEMS = log_items()
LAST = len(ITEMS)


def folded(items: Sequence[LogItem]) -> dict[str, Launch]:
    """What the launches are, without any store."""
    launches: dict[str, Launch] = {}
    for item in items:
        if isinstance(item, Entry) and item.history.kind == "launch":
            for said in item.said:
                launches[item.history.id] = evolve(launches.get(item.history.id, INITIAL), said)
    return launches


def shown(path: Path) -> tuple[list[Launch], int, list[tuple[int, str, str]]]:
    """Everything that a reader of the file sees."""
    return read_launches(path), read_position(path), read_unreadable(path)


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Store]:
    store = Store(path)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A file that stands for all of the log, written live: message by message."""
    path = tmp_path / "views.sqlite"
    async with opened(path) as store:
        for item in ITEMS:
            await store.apply([item])
    return path


async def rebuilt(path: Path) -> tuple[list[Launch], int, list[tuple[int, str, str]]]:
    async with opened(path) as store:
        await store.apply(ITEMS[store.position :])
    return shown(path)


async def test_the_file_shows_what_the_folds_say(path: Path):
    launches, position, unreadable = shown(path)
    assert {launch.id: launch for launch in launches if launch.id} == {
        id_: launch for id_, launch in folded(ITEMS).items() if launch.id
    }
    assert position == LAST
    (broken,) = [item for item in ITEMS if isinstance(item, Unreadable)]
    assert unreadable == [(21, str(broken.history), broken.reason)]


async def test_a_launch_is_found_by_where_it_stands(path: Path):
    wanted = {launch.id for launch in folded(ITEMS).values() if launch.standing == "rejected"}
    assert {launch.id for launch in read_launches(path, standings=("rejected",))} == wanted
    assert wanted
    assert read_launches(path, standings=("running",)) == []


@pytest.mark.parametrize("size", [1, 2, 7, LAST])
async def test_the_sizes_of_the_batches_do_not_matter(path: Path, tmp_path: Path, size: int):
    other = tmp_path / "other.sqlite"
    async with opened(other) as store:
        for begin in range(0, LAST, size):
            await store.apply(ITEMS[begin : begin + size])
    assert shown(other) == shown(path)


async def test_it_goes_on_where_it_stood(path: Path, tmp_path: Path):
    other = tmp_path / "other.sqlite"
    async with opened(other) as store:
        await store.apply(ITEMS[:30])
    async with opened(other) as store:
        assert store.position == 30
        await store.apply(ITEMS[30:])
    assert shown(other) == shown(path)


async def test_what_is_applied_a_second_time_changes_nothing(path: Path):
    before = shown(path)
    async with opened(path) as store:
        await store.apply(ITEMS[:25])
        assert store.position == LAST
        await store.apply(ITEMS[10:])
        await store.apply([])
    assert shown(path) == before


async def test_a_deleted_file_is_made_anew_the_same(path: Path):
    before = shown(path)
    path.unlink()
    assert await rebuilt(path) == before


@pytest.mark.parametrize("damage", ["garbage", "emptied", "cut", "overwritten", "bad-row", "other-schema"])
async def test_a_broken_file_is_made_anew_the_same(path: Path, damage: str):
    before, content = shown(path), path.read_bytes()
    match damage:
        case "garbage":
            path.write_bytes(b"no database at all" * 1000)
        case "emptied":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(content[: len(content) // 2])
        case "overwritten":
            path.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
        case "bad-row":
            change(path, "update launches set body = 'x'")
        case _:
            change(path, "update position set schema = schema + 1")
    assert await rebuilt(path) == before


def change(path: Path, statement: str) -> None:
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()


async def test_a_reader_of_a_broken_file_is_told_what_to_do(path: Path):
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreBrokenError, match=rf"{path} is broken .*delete it; gonogo up makes it anew"):
        read_launches(path)


def test_a_file_that_does_not_exist_shows_nothing(tmp_path: Path):
    assert shown(tmp_path / "none") == ([], 0, [])


async def test_nobody_else_can_read_the_file(path: Path):
    assert path.stat().st_mode & 0o077 == 0


DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.integration.test_store import ITEMS
from gonogo.projections.store import Store

async def main():
    store = Store(Path(sys.argv[1]))
    await store.open()
    await store.apply(ITEMS[:40])
    execute, commit = store._database.execute, store._database.commit
    async def dying_execute(statement, *values):
        if statement.startswith(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return await execute(statement, *values)
    async def dying_commit():
        if sys.argv[2] == "commit":
            os.kill(os.getpid(), signal.SIGKILL)
        await commit()
        os.kill(os.getpid(), signal.SIGKILL)
    store._database.execute, store._database.commit = dying_execute, dying_commit
    await store.apply(ITEMS[40:])

asyncio.run(main())
"""


@pytest.mark.parametrize(("point", "stands_for"), [("update position", 40), ("commit", 40), ("afterwards", LAST)])
async def test_rows_and_position_are_stored_together_or_not_at_all(
    path: Path, tmp_path: Path, point: str, stands_for: int
):
    complete, other = shown(path), tmp_path / "dying.sqlite"
    root = Path(__file__).parents[2]
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", DYING, str(other), point],
        check=False,
        cwd=root,
        env=os.environ | {"PYTHONPATH": f"{root / '.dev'}:{root}"},
    )
    assert done.returncode == -signal.SIGKILL
    launches, position, _ = shown(other)
    assert position == stands_for
    assert {launch.version: launch for launch in launches} == {
        launch.version: launch for launch in folded(ITEMS[:stands_for]).values()
    }
    assert await rebuilt(other) == complete


async def follow(log: MemoryLog, path: Path) -> None:
    async with opened(path) as store:
        await Viewer(log, store, None).catch_up()


def memory_log(count: int) -> MemoryLog:
    log = MemoryLog(SystemClock())
    for message in [message for scene in SCENES for message in scene().messages][:count]:
        log.store(message.subject, message.body.encode())
    return log


async def test_views_that_are_ahead_of_the_log_are_made_anew(tmp_path: Path):
    path = tmp_path / "views.sqlite"
    await follow(memory_log(60), path)
    assert read_position(path) == 60
    await follow(memory_log(25), path)
    assert read_position(path) == 25
    assert len(read_launches(path)) == len(folded(memory_log(25).items))
