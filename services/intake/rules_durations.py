"""Durations as people write them: `30s`, `10m`, `4h`, `2d`. A bare number is refused: nobody knows its unit. Pure."""

from __future__ import annotations

import re

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d)\Z")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DURATION_MAX_S = 366 * 86400.0
HOW = "write a number and its unit: 30s, 10m, 4h or 2d"


def seconds_of(text: object) -> float | str:
    """Seconds, or why this is not a duration."""
    if not isinstance(text, str):
        return f"is {text!r}, not a duration"
    match = _DURATION.match(text.strip())
    if match is None:
        return f"{text[:40]!r} is not a duration"
    seconds = float(match[1]) * _SECONDS[match[2]]
    if not 0 < seconds <= DURATION_MAX_S:
        return f"{text!r} is not between 0 and 366 days"
    return seconds
