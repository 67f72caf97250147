"""Which known word an unknown one may have meant. Most unknown fields are misspelt or stand in the wrong place."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache
from typing import Literal

import msgspec

from gonogo.events.request import Authorize, Batch, Config, Copy, Data, Monitor, Request, Resources, Run, Tao
from gonogo.services.intake.reading_json import WHOLE, joined, shown

Fault = tuple[str, str] | None
"""What is wrong with a value and what to do about it, or nothing."""
Rule = Callable[[str], Fault]

NEAREST_CUTOFF = 0.6
"""difflib's own default: `outptu` finds `output`, `foo` finds nothing."""
ELSEWHERE_CUTOFF = 0.8
"""A field of another part is only suggested when it is nearly the same word."""
MISSPELT_CHARACTERS_MAX = 40
"""Longer names are not misspelt, and comparing them costs much."""


@cache
def written_names(part: type[msgspec.Struct]) -> tuple[str, ...]:
    """List the field names of a part as they are written: durations carry their unit in the value, not in the name."""
    return tuple(field.encode_name.removesuffix("_s") for field in msgspec.structs.fields(part))


_SYNONYMS = {
    "gpus": "resources.gpus_per_node",
    "gpu": "resources.gpus_per_node",
    "timeout": "resources.time_limit",
    "cmd": "run.command",
    "entrypoint": "run.command",
    "partition": "queue",
}
_HOMES = _SYNONYMS | {
    name: f"{prefix}{name}"
    for prefix, part in (
        ("monitor.", Monitor),
        ("resources.", Resources),
        ("run.copy.", Copy),
        ("run.tao.", Tao),
        ("run.config.", Config),
        ("data.", Data),
        ("batch.", Batch),
        ("authorize.", Authorize),
        ("run.", Run),
        ("", Request),
    )
    for name in written_names(part)
}


def word_fault(value: str, words: tuple[str, ...], *, among: Literal["one of", "any of"] = "one of") -> Fault:
    """Say what is wrong with a text that should be one of these words."""
    if value in words:
        return None
    near = difflib.get_close_matches(value[:MISSPELT_CHARACTERS_MAX], words, n=1, cutoff=NEAREST_CUTOFF)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    return f'"{shown(value)}" is not known here', f"{hint}{among}: {', '.join(words)}"


def nearest_field(name: str, names: tuple[str, ...], path: str) -> str:
    """Say which known field an unknown one may have meant: one of this part, unless one elsewhere is spelt closer."""
    here, likeness = _closest(name, names)
    elsewhere, likeness_there = _closest(name, tuple(_HOMES))
    if here and likeness >= likeness_there:
        return f'did you mean "{here}"?'
    if elsewhere and likeness_there >= ELSEWHERE_CUTOFF and _HOMES[elsewhere] != joined(path, name):
        return f'did you mean "{_HOMES[elsewhere]}"?'
    if here:
        return f'did you mean "{here}"?'
    return f"leave it out; {path or WHOLE} has: {', '.join(names)}"


def _closest(name: str, names: tuple[str, ...]) -> tuple[str | None, float]:
    near = difflib.get_close_matches(name[:MISSPELT_CHARACTERS_MAX], names, n=1, cutoff=NEAREST_CUTOFF)
    return (near[0], difflib.SequenceMatcher(None, near[0], name).ratio()) if near else (None, 0.0)
