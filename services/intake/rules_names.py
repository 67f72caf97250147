"""Which names are safe to read, to type and to send anywhere. Pure.

A name is shown to people who approve by it, so what looks like another name is refused: control and direction characters,
invisible ones, letters of several scripts in one word. Chinese names are welcome.
"""

from __future__ import annotations

import re
import unicodedata

NAME_MAX = 120
_SHELL = set("`$\\\"';|&<>(){}[]*?!~#\n\r\t")
_LAUNCH_ID = re.compile(r"[a-z2-7]{26}\Z")
_MIXABLE = ({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}, {"LATIN", "CJK", "BOPOMOFO"}, {"LATIN", "CJK", "HANGUL"})
RESERVED_NAMES = frozenset(("xx",))
"""The name of placeholders; a launch that bore it could be stopped as one."""


def is_launch_id(text: str) -> bool:
    """Whether the text has the form of a launch id."""
    return _LAUNCH_ID.match(text) is not None


def name_problem(name: str) -> str | None:
    """Why this name is refused, or None."""
    if not name.strip():
        return "is empty"
    if name != name.strip():
        return "begins or ends with a blank"
    if len(name) > NAME_MAX:
        return f"has {len(name)} characters, at most {NAME_MAX}"
    if name in RESERVED_NAMES:
        return f"{name!r} is reserved for placeholders"
    if name.startswith("-"):
        return "begins with a dash, so tools would read it as an option"
    return hidden_problem(name) or _shell_problem(name) or _script_problem(name)


def hidden_problem(text: str) -> str | None:
    """Why this text cannot be trusted to be what it looks like, or None. Newlines and tabs count as hidden."""
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            return f"has a control, direction or invisible character (U+{ord(character):04X})"
    return None


def _shell_problem(name: str) -> str | None:
    bad = sorted(_SHELL & set(name))
    return f"has characters that a shell would act on: {' '.join(bad)}" if bad else None


def _script_problem(name: str) -> str | None:
    """Letters of several scripts in one word are how look-alikes are made (a Cyrillic а in a Latin word)."""
    if unicodedata.normalize("NFKC", name) != name:
        return "has characters that only look like others (compatibility forms)"
    for word in re.split(r"[\W\d_]+", name):
        scripts = {_script(character) for character in word if character.isalpha()}
        if len(scripts) > 1 and not any(scripts <= mixable for mixable in _MIXABLE):
            return f"mixes scripts in one word ({', '.join(sorted(scripts))}), so it can pass for another name"
    return None


def _script(character: str) -> str:
    return unicodedata.name(character, "UNKNOWN").split(" ")[0].split("-")[0]
