"""Secrets in plain text: known formats decline a request, what merely looks like one is a warning for the review.

A request is stored for ever and read by many. It names its secrets; it never carries them.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from gonogo.events.redaction import known_secret
from gonogo.events.request import Problem, Request
from gonogo.services.intake.reading_fields import Findings
from gonogo.services.intake.reading_json import Json, joined, strings_of

SUSPECT_CHARACTERS_MIN = 12
SUSPECT_BITS_MIN = 3.0
"""Bits per character. English words stay below it at this length; keys drawn by chance do not."""

_TELLING = re.compile(r"(?:^|[_.-])(?:token|key|secret|password|passwd|passphrase|credentials?)$", re.IGNORECASE)
_OPTION = re.compile(r"-{0,2}([A-Za-z0-9_.-]+)=(.*)", re.DOTALL)
_INERT = re.compile(r"(?:env:|file:|/|\$|\[secret\])")
"""References and paths name a secret, which is what they should do."""


def decline_secrets(document: Json, findings: Findings) -> None:
    """Note every known secret of a request with its path, never with its text."""
    for path, name, text in strings_of(document):
        if known_secret(text) or (name and known_secret(f"{name}: {text}")):
            fix = "take it out, replace the key it shows, and name where it is instead: secrets: {NAME: env:NAME}"
            findings.add(path, "a secret in plain text", fix)


def suspected_secrets(request: Request) -> tuple[Problem, ...]:
    """Values that look like secrets by their name and their letters."""
    suspects = [(joined("env", name), name, value) for name, value in request.env.items()]
    command = request.run.command or ()
    for index, word in enumerate(command):
        option = _OPTION.fullmatch(word)
        if option is not None:
            suspects.append((joined("run.command", index), option.group(1), option.group(2)))
        elif index and command[index - 1].startswith("-"):
            suspects.append((joined("run.command", index), command[index - 1], word))
    return tuple(
        Problem(
            path=path,
            problem="looks like a secret in plain text",
            fix="if it is one: take it out and name it, secrets: {NAME: env:NAME}",
        )
        for path, name, value in suspects
        if _suspect(name, value)
    )


def _suspect(name: str, value: str) -> bool:
    if not _TELLING.search(name) or _INERT.match(value) or any(character.isspace() for character in value):
        return False
    if "pass" in name.lower():
        return bool(value)
    return len(value) >= SUSPECT_CHARACTERS_MIN and _bits_per_character(value) >= SUSPECT_BITS_MIN


def _bits_per_character(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
