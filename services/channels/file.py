"""Notices as JSON lines in a file: for machines that read, and for people who want to keep them.

The key stands in every line, so an attempt whose answer was lost is found again instead of being written twice.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec

from gonogo.services.channels.port import Confirmed, Delivery, NotDelivered, Notice


class File:
    """Appends notices to one private file."""

    name = "file"

    def __init__(self, path: Path) -> None:
        """`path` is made when the first notice comes."""
        self._path = path

    async def send(self, notice: Notice) -> Delivery:
        """Append one line and sync it."""
        try:
            place = await asyncio.to_thread(self._append, msgspec.json.encode(notice) + b"\n")
        except OSError as error:
            return NotDelivered(f"{self._path} cannot be written to: {error}", retryable=True)
        return Confirmed(f"{self._path} at byte {place}")

    async def seen(self, key: str) -> str | None:
        """Look for the key in the file."""
        return await asyncio.to_thread(self._find, key)

    def _append(self, line: bytes) -> int:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            place = file.tell()
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        return place

    def _find(self, key: str) -> str | None:
        if not self._path.exists():
            return None
        needle = b'"key":"' + key.encode() + b'"'
        with self._path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if needle in line and line.endswith(b"\n"):
                    return f"{self._path} line {number}"
        return None
