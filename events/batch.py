"""What is said about launches submitted together: who belongs, and when the batch is closed."""

from __future__ import annotations

from typing import ClassVar, Literal

from gonogo.events.base import Event, Spoken, spoken


class BatchJoined(Event, frozen=True, kw_only=True):
    """A launch belongs to this batch of `of` launches."""

    SPOKEN: ClassVar[Spoken] = spoken("batch", "intake")

    launch: str
    of: int
    close_after_s: float


class BatchClosed(Event, frozen=True, kw_only=True):
    """The batch takes no more members: all are settled, or it waited long enough."""

    SPOKEN: ClassVar[Spoken] = spoken("batch", "placeholder")

    settled: int
    why: Literal["settled", "waited"]
