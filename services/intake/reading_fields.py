"""How one object of a request is read: each field asked for by name and type, each fault noted, none of them final.

A reader that stops at the first fault makes a person send five requests to learn five things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from gonogo.events.request import Problem
from gonogo.services.intake.reading_json import WHOLE, Json, joined, shown
from gonogo.services.intake.reading_near import Fault, Rule, nearest_field, word_fault, written_names

UNKNOWN_MAX = 50
"""Guesses at what was meant for each part; more unknown fields than these are no misspellings."""
ITEMS_MAX = 1_000
"""Of a list or a table. Longer ones belong into a file."""


class Findings:
    """The problems found so far; one for each path, the first that was found."""

    def __init__(self, not_yet: Mapping[str, str]) -> None:
        """`not_yet`: path → what later work brings, declined by name."""
        self._by_path: dict[str, Problem] = {}
        self.not_yet = not_yet

    def add(self, path: str, problem: str, fix: str) -> None:
        """Note a problem."""
        self._by_path.setdefault(path, Problem(path=path, problem=problem, fix=fix))

    def add_fault(self, path: str, fault: Fault) -> None:
        """Note what a rule found, if it found anything."""
        if fault is not None:
            self.add(path, *fault)

    def decline_later(self, path: str) -> bool:
        """Note that this is a thing of later work, if it is one."""
        sentence = self.not_yet.get(path)
        if sentence is not None:
            self.add(path, f"not yet: {sentence}", "leave it out for now; `gonogo --help` lists what this version does")
        return sentence is not None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every problem, in the order of finding."""
        return tuple(self._by_path.values())


class Section:
    """One object of the request under reading. Asking for a field notes everything wrong with it."""

    def __init__(self, findings: Findings, members: dict[str, Json], path: str, part: type[msgspec.Struct]) -> None:
        """`part` is the shape that says which names are known."""
        self.findings = findings
        self.members = members
        self.path = path
        names = written_names(part)
        unknown = [name for name in members if name not in names]
        for name in unknown[:UNKNOWN_MAX]:
            findings.add(self.at(name), "unknown field", nearest_field(name, names, path))
        if len(unknown) > UNKNOWN_MAX:
            what = f"{len(unknown) - UNKNOWN_MAX} more unknown fields"
            findings.add(path or WHOLE, what, "compare with the file that `gonogo init local` writes")

    def at(self, name: str) -> str:
        """Write the path of a field of this section."""
        return joined(self.path, name)

    def has(self, name: str) -> bool:
        """Whether the field is written, whatever it holds."""
        return name in self.members

    def require(self, name: str, example: str) -> None:
        """Note that the field is missing, if it is."""
        if name not in self.members:
            self.findings.add(self.at(name), "missing", f"add it, e.g. {example}")

    def text(self, name: str, rule: Rule | None = None) -> str | None:
        """Read a text, held to `rule`."""
        value = self._value(name)
        return self._text_at(self.at(name), value, rule) if value is not None else None

    def flag(self, name: str) -> bool:
        """Read true or false; false when left out."""
        value = self._value(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self._wrong_type(self.at(name), value, "true or false", f"{name}: true")
        return False

    def integer(self, name: str, *, least: int, most: int, default: int) -> int:
        """Read a whole number within bounds."""
        value = self._value(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            self._wrong_type(self.at(name), value, "a whole number", f"{name}: {max(least, 1)}")
        elif not least <= value <= most:
            self.findings.add(self.at(name), f"{value} is out of range", f"write a number from {least} to {most}")
        else:
            return value
        return default

    def number_text(self, name: str, parse: Callable[[str], float | Fault]) -> float | None:
        """Read a quantity written as text, such as a duration."""
        value = self._value(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self._wrong_type(self.at(name), value, "a duration with its unit", f'{name}: "10m" (units: s, m, h, d)')
            return None
        parsed = parse(value)
        if isinstance(parsed, tuple):
            self.findings.add_fault(self.at(name), parsed)
            return None
        return parsed

    def choice(self, name: str, words: tuple[str, ...]) -> str | None:
        """One of these words."""
        return self.text(name, lambda value: word_fault(value, words))

    def texts(self, name: str, rule: Rule | None = None) -> tuple[str, ...] | None:
        """Read a list of texts, each held to `rule`."""
        value = self._value(name)
        if value is None:
            return None
        if not isinstance(value, list):
            self._wrong_type(self.at(name), value, "a list of texts", f'{name}: ["…", "…"]')
            return None
        if self._too_many(name, len(value)):
            return None
        items = [self._text_at(joined(self.at(name), i), item, rule) for i, item in enumerate(value)]
        return tuple(item for item in items if item is not None)

    def table(self, name: str, *, key_rule: Rule, rule: Rule | None = None) -> dict[str, str]:
        """Read a table of texts by name."""
        members = self.members_of(name) or {}
        read: dict[str, str] = {}
        for key, value in members.items():
            here = joined(self.at(name), key)
            self.findings.add_fault(here, key_rule(key))
            text = self._text_at(here, value, rule)
            if text is not None:
                read[key] = text
        return read

    def scalars(self, name: str, *, key_rule: Rule) -> dict[str, str | int | float | bool]:
        """Read a table of plain values by name."""
        read: dict[str, str | int | float | bool] = {}
        for key, value in (self.members_of(name) or {}).items():
            here = joined(self.at(name), key)
            self.findings.add_fault(here, key_rule(key))
            if isinstance(value, (str, int, float)):
                read[key] = value
            else:
                self._wrong_type(here, value, "a text, a number, true or false", f"{shown(key)}: 40")
        return read

    def section(self, name: str, part: type[msgspec.Struct]) -> Section | None:
        """Read the object in this field."""
        members = self.members_of(name)
        return Section(self.findings, members, self.at(name), part) if members is not None else None

    def members_of(self, name: str) -> dict[str, Json] | None:
        """Read the members of the object in this field."""
        value = self._value(name)
        if value is None:
            return None
        if isinstance(value, dict):
            return None if self._too_many(name, len(value)) else value
        self._wrong_type(self.at(name), value, "an object", f"{name}: {{…}}")
        return None

    def _too_many(self, name: str, count: int) -> bool:
        if count > ITEMS_MAX:
            fix = "put them into a file that the command reads"
            self.findings.add(self.at(name), f"{count} entries, at most {ITEMS_MAX}", fix)
        return count > ITEMS_MAX

    def _value(self, name: str) -> Json:
        if name not in self.members or self.findings.decline_later(self.at(name)):
            return None
        value = self.members[name]
        if value is None:
            self.findings.add(self.at(name), "empty (null)", "write a value, or leave the field out")
        return value

    def _text_at(self, path: str, value: Json, rule: Rule | None) -> str | None:
        if not isinstance(value, str):
            self._wrong_type(
                path, value, "a text", f'"{value}" in quotes' if isinstance(value, (int, float)) else '"…"'
            )
            return None
        self.findings.add_fault(path, rule(value) if rule is not None else None)
        return value

    def _wrong_type(self, path: str, value: Json, wanted: str, example: str) -> None:
        self.findings.add(path, f"{_kind(value)} where {wanted} belongs", f"write {wanted}, e.g. {example}")


def _kind(value: Json) -> str:
    match value:
        case None:
            return "nothing (null)"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
