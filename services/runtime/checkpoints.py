"""What is remembered of the log outside the log: (sequence, hash) pairs, so that a log that lost or changed its past is seen.

A server that was restored from an old disk, truncated at a damaged block, or run twice on one store would otherwise reuse
sequence numbers, and every "at most once" would silently start again.

The hash is over who spoke where and when, and under which ids, which no two messages share. It is not over the events: a
newer program reads an old one with the defaults of its new fields, and must still know it for the same.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from gonogo.events.envelope import Entry, LogItem
from gonogo.events.log import LogDamagedError

EVERY = 200
"""Messages between two checkpoints."""


class Checkpoint(msgspec.Struct, frozen=True):
    """The hash of what identifies the message at one sequence."""

    sequence: int
    identity: str


class Checkpoints:
    """A file of checkpoints, newest last."""

    def __init__(self, path: Path) -> None:
        """`path` is made with the first checkpoint."""
        self._path = path
        self._torn = False
        self._last = self._read()

    @property
    def last(self) -> Checkpoint | None:
        """The newest one."""
        return self._last

    def note(self, item: LogItem, *, force: bool = False) -> None:
        """Remember this message if it is time to."""
        if not isinstance(item, Entry):
            return
        since = item.sequence - (self._last.sequence if self._last else 0)
        if since <= 0 or (since < EVERY and not force):
            return
        self._last = Checkpoint(item.sequence, identity_of(item))
        line = msgspec.json.encode(self._last) + b"\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(b"\n" + line if self._torn else line)
            file.flush()
            os.fsync(file.fileno())
        self._torn = False

    def demand(self, *, tail: int, at: LogItem | None) -> None:
        """Compare the log with what is remembered: its tail, and its message at the remembered sequence."""
        if self._last is None:
            return
        help_text = f"Nobody acts until this is understood: restore the log from its backup, or move {self._path} away on purpose"
        if tail < self._last.sequence:
            message = f"the log ends at {tail}, but it had reached {self._last.sequence}. {help_text}"
            raise LogDamagedError(message)
        if not isinstance(at, Entry) or identity_of(at) != self._last.identity:
            message = f"message {self._last.sequence} of the log is not the one that was there before. {help_text}"
            raise LogDamagedError(message)

    def _read(self) -> Checkpoint | None:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        lines = content.splitlines()
        self._torn = not content.endswith(b"\n")
        for line in reversed(lines):
            try:
                return msgspec.json.decode(line, type=Checkpoint)
            except msgspec.MsgspecError:
                continue
        return None


def identity_of(entry: Entry) -> str:
    """What tells this message from every other one, whatever version of the program reads it."""
    ids = [[said.id, said.instance, said.caused_by, said.observed_at, said.recorded_at] for said in entry.said]
    identity = msgspec.json.encode([entry.sequence, str(entry.history), entry.role, entry.stored_at, ids])
    return hashlib.sha256(identity).hexdigest()
