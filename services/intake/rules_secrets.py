"""Secrets have no place in a request: known formats decline it, suspicious values are pointed out in the review. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from gonogo.events.redaction import known_secret
from gonogo.events.request import Problem

_REFERENCE = re.compile(r"(?:env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:/[^\x00-\x1f]{1,500})\Z")
_TELLING = re.compile(r"(?i)(?:token|secret|passw|apikey|api_key|access_?key|credential)")
_LONG = 16
_BITS_MIN = 3.5


def is_reference(text: str) -> bool:
    """Whether this names a secret (`env:NAME`, `file:/path`) instead of carrying one."""
    return _REFERENCE.match(text) is not None


def leaks(document: object) -> tuple[Problem, ...]:
    """Every place that holds a secret in a known format. The problem names the place, never the value."""
    fix = 'take it out, change it where it was issued, and name it instead: secrets: {NAME: "env:NAME"}'
    return tuple(
        Problem(path=path, problem="holds a secret in plain text", fix=fix)
        for path, text in texts(document)
        if known_secret(text) or known_secret(path)
    )


def suspicions(document: object) -> tuple[Problem, ...]:
    """Values that look like secrets by their name and their randomness. Shown, not declined: this is a guess."""
    fix = 'if it is one, name it instead: secrets: {NAME: "env:NAME"}'
    return tuple(
        Problem(path=path, problem="looks like a secret in plain text", fix=fix)
        for path, text in texts(document)
        if not path.startswith("secrets.") and _TELLING.search(path) and _looks_random(text)
    )


def texts(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every string in a document with its path; keys are strings too and stand in the paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from texts(inner, f"{path}[{index}]")


def _looks_random(text: str) -> bool:
    if len(text) < _LONG or " " in text or is_reference(text):
        return False
    counts = Counter(text)
    bits = -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
    return bits >= _BITS_MIN
