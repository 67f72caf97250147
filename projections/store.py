"""The folds on disk: launches as people see them, and the log position they stand for, always in one transaction.

Nothing here is the truth. The file may be deleted at any time, and a broken or older one is simply made anew from the log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import aiosqlite
import msgspec

from gonogo.events.envelope import Entry, LogItem, Unreadable
from gonogo.projections.launches import INITIAL, Launch, evolve

SCHEMA = 2
"""Raised whenever a fold or a table changes: an older file is made anew."""
_TABLES = """
create table if not exists position (schema integer not null, sequence integer not null);
create table if not exists launches (
  id text primary key, standing text not null, accepted_at text, version integer not null, body blob not null
) without rowid;
create table if not exists unreadable (sequence integer primary key, history text, reason text not null);
"""


class StoreBrokenError(Exception):
    """The file cannot be read as projections; the message says what to do."""


class Store:
    """Keeps one file of projections up to date."""

    def __init__(self, path: Path) -> None:
        """The file is made on `open` if it is missing, broken or of another schema."""
        self._path = path
        self._database: aiosqlite.Connection | None = None
        self._launches: dict[str, Launch] = {}
        self.position = 0

    async def open(self) -> None:
        """Open the file and read the state it stands for."""
        try:
            await self._open()
        except (sqlite3.DatabaseError, msgspec.MsgspecError):
            await self.close()
            self._forget()
            await self._open()

    async def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            await self._database.close()
            self._database = None

    async def reset(self) -> None:
        """Forget everything and begin again at the start of the log."""
        await self.close()
        self._forget()
        self._launches = {}
        await self._open()

    async def apply(self, items: Sequence[LogItem]) -> None:
        """Fold these messages and store the rows with the new position, together or not at all."""
        if not items:
            return
        touched: set[str] = set()
        unreadable: list[tuple[int, str, str]] = []
        for item in items:
            if item.sequence <= self.position:
                continue
            if isinstance(item, Unreadable):
                unreadable.append((item.sequence, str(item.history), item.reason))
            elif item.history.kind == "launch":
                self._fold(item)
                touched.add(item.history.id)
        await self._write(touched, unreadable, max(self.position, items[-1].sequence))

    def _fold(self, entry: Entry) -> None:
        launch = self._launches.get(entry.history.id, INITIAL)
        for said in entry.said:
            launch = evolve(launch, said)
        self._launches[entry.history.id] = launch

    async def _write(self, touched: Iterable[str], unreadable: list[tuple[int, str, str]], sequence: int) -> None:
        assert self._database is not None
        rows = [_row(id_, self._launches[id_]) for id_ in touched]
        await self._database.execute("begin immediate")
        await self._database.executemany("insert or replace into launches values (?, ?, ?, ?, ?)", rows)
        await self._database.executemany("insert or replace into unreadable values (?, ?, ?)", unreadable)
        await self._database.execute("update position set sequence = ?", (sequence,))
        await self._database.commit()
        self.position = sequence

    async def _open(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        self._database = await aiosqlite.connect(self._path, isolation_level=None)
        await self._database.execute("pragma journal_mode = wal")
        await self._database.execute("pragma synchronous = normal")
        await self._database.executescript(_TABLES)
        row = await (await self._database.execute("select schema, sequence from position")).fetchone()
        if row is None:
            await self._database.execute("insert into position values (?, 0)", (SCHEMA,))
        schema, self.position = (SCHEMA, 0) if row is None else (int(row[0]), int(row[1]))
        if schema != SCHEMA:
            message = "another schema"
            raise sqlite3.DatabaseError(message)
        bodies = await (await self._database.execute("select id, body from launches")).fetchall()
        self._launches = {id_: msgspec.json.decode(body, type=Launch) for id_, body in bodies}

    def _forget(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)


def _row(id_: str, launch: Launch) -> tuple[str, str, str | None, int, bytes]:
    accepted = launch.accepted_at.isoformat() if launch.accepted_at else None
    return id_, launch.standing, accepted, launch.version, msgspec.json.encode(launch)


def read_launches(path: Path, *, standings: Sequence[str] = ()) -> list[Launch]:
    """The launches in a file of projections, newest first. Raises StoreBrokenError."""
    where = f"where standing in ({', '.join('?' * len(standings))})" if standings else ""
    query = f"select body from launches {where} order by accepted_at desc, id"  # noqa: S608 - only question marks go in
    rows = _query(path, query, tuple(standings))
    return [msgspec.json.decode(row[0], type=Launch) for row in rows]


def read_position(path: Path) -> int:
    """The log position that a file of projections stands for; 0 when it does not exist."""
    rows = _query(path, "select sequence from position", ())
    return int(rows[0][0]) if rows else 0


def read_unreadable(path: Path) -> list[tuple[int, str, str]]:
    """Messages that nobody could read: (sequence, history, reason)."""
    rows = _query(path, "select sequence, history, reason from unreadable", ())
    return [(int(sequence), str(history), str(reason)) for sequence, history, reason in rows]


def _query(path: Path, query: str, values: tuple[str, ...]) -> list[tuple[Any, ...]]:
    if not path.exists():
        return []
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()
    except sqlite3.DatabaseError as error:
        message = f"{path} is broken ({error}): delete it; gonogo up makes it anew from the log"
        raise StoreBrokenError(message) from error
