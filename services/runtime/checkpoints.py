"""What is remembered of the log outside the log: (sequence, hash) pairs, so that a log that lost or changed its past is seen.

A server that was restored from an old disk, truncated at a damaged block, or run twice on one store would otherwise reuse
sequence numbers, and every "at most once" would silently start again.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from gonogo.events import codec
from gonogo.events.envelope import Entry, LogItem, Utterance
from gonogo.events.log import LogDamagedError

EVERY = 200
"""Messages between two checkpoints."""


class Checkpoint(msgspec.Struct, frozen=True):
    """The hash of the message at one sequence."""

    sequence: int
    hash: str


class Checkpoints:
    """A file of checkpoints, newest last."""

    def __init__(self, path: Path) -> None:
        """`path` is made with the first checkpoint."""
        self._path = path
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
        self._last = Checkpoint(item.sequence, hash_of(item))
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(msgspec.json.encode(self._last) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def demand(self, *, tail: int, at: LogItem | None) -> None:
        """Compare the log with what is remembered: its tail, and its message at the remembered sequence."""
        if self._last is None:
            return
        help_text = f"Nobody acts until this is understood: restore the log from its backup, or move {self._path} away on purpose"
        if tail < self._last.sequence:
            message = f"the log ends at {tail}, but it had reached {self._last.sequence}. {help_text}"
            raise LogDamagedError(message)
        if not isinstance(at, Entry) or hash_of(at) != self._last.hash:
            message = f"message {self._last.sequence} of the log is not the one that was there before. {help_text}"
            raise LogDamagedError(message)

    def _read(self) -> Checkpoint | None:
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return None
        for line in reversed(lines):
            try:
                return msgspec.json.decode(line, type=Checkpoint)
            except msgspec.MsgspecError:
                continue
        return None


def hash_of(entry: Entry) -> str:
    """Over who spoke where and every byte that was said."""
    body = codec.encode(Utterance(history=entry.history, role=entry.role, said=entry.said))
    return hashlib.sha256(f"{entry.sequence}|{entry.history}|{entry.role}|".encode() + body).hexdigest()
