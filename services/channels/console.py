"""Notices on a stream: the terminal of whoever runs the workers.

A stream confirms that the bytes were taken, nothing more; the receipt says just that.
"""

from __future__ import annotations

from typing import TextIO

from gonogo.services.channels.port import Confirmed, Delivery, NotDelivered, Notice


class Console:
    """Writes notices to one stream."""

    name = "console"

    def __init__(self, stream: TextIO) -> None:
        """`stream` is where people look, e.g. stderr of the supervisor."""
        self._stream = stream

    async def send(self, notice: Notice) -> Delivery:
        """Write it in one go."""
        text = "\n".join((f"● {notice.title}", *(f"    {line}" for line in notice.lines))) + "\n"
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError) as error:
            return NotDelivered(f"the console cannot be written to: {error}", retryable=True)
        return Confirmed("written to the console")

    async def seen(self, key: str) -> str | None:
        """A stream cannot tell."""
        _ = key
        return None
