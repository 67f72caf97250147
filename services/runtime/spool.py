"""Where the outcome of an at-most-once effect waits until the log has it: an fsynced file per utterance.

A create whose answer was received must not be forgotten because the log was away or this process was killed. The spool is
emptied before the worker decides anything after a start.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from gonogo.events import codec
from gonogo.events.envelope import Unreadable, Utterance
from gonogo.events.log import EventLogError
from gonogo.events.subjects import event_subject

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class Spool(Protocol):
    """Keeps utterances until the log has them."""

    def keep(self, utterance: Utterance) -> None:
        """Store it durably before it is appended."""
        ...

    def forget(self, utterance: Utterance) -> None:
        """The log has it."""
        ...

    def pending(self) -> tuple[Utterance, ...]:
        """What the log may not have yet, oldest first."""
        ...


class _Spooled(msgspec.Struct, frozen=True):
    subject: str
    body: msgspec.Raw


class FileSpool:
    """A spool in a private folder, one file per utterance."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, made if missing, readable by this user only."""
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def keep(self, utterance: Utterance) -> None:
        """Store it durably before it is appended."""
        subject = event_subject(utterance.history, utterance.role)
        body = msgspec.json.encode(_Spooled(subject, msgspec.Raw(codec.encode(utterance))))
        path = self._path(utterance)
        part = path.with_suffix(".part")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
        self._sync_folder()

    def forget(self, utterance: Utterance) -> None:
        """The log has it."""
        self._path(utterance).unlink(missing_ok=True)

    def pending(self) -> tuple[Utterance, ...]:
        """What the log may not have yet, oldest first."""
        paths = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        return tuple(_read(path) for path in paths)

    def _path(self, utterance: Utterance) -> Path:
        return self._folder / f"{utterance.id}.json"

    def _sync_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class MemorySpool:
    """A spool for tests; it survives the simulated crash of its worker because the test holds it."""

    def __init__(self) -> None:
        """Start empty."""
        self._kept: dict[str, Utterance] = {}

    def keep(self, utterance: Utterance) -> None:
        """Store it."""
        self._kept[utterance.id] = utterance

    def forget(self, utterance: Utterance) -> None:
        """The log has it."""
        self._kept.pop(utterance.id, None)

    def pending(self) -> tuple[Utterance, ...]:
        """What the log may not have yet, oldest first."""
        return tuple(self._kept.values())


def _read(path: Path) -> Utterance:
    try:
        spooled = msgspec.json.decode(path.read_bytes(), type=_Spooled)
    except msgspec.MsgspecError as error:
        message = (
            f"spooled outcome {path} cannot be read ({error}): keep the file, move it away, and compare it with the log"
        )
        raise EventLogError(message) from error
    item = codec.decode(spooled.subject, bytes(spooled.body), sequence=0, stored_at=_NO_TIME)
    if isinstance(item, Unreadable):
        message = f"spooled outcome {path} breaks the contract ({item.reason}): keep the file, move it away, and look"
        raise EventLogError(message)
    return Utterance(history=item.history, role=item.role, said=item.said)
