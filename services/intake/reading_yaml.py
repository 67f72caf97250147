"""YAML 1.2 as a request is written in it: what looks like a word is a word; nothing is merged or hidden.

Read from the node graph rather than through a constructor: that is where both writings of a doubled key still are,
with their lines, and where an alias is still one node and not yet a million.
"""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from gonogo.events.request import Problem
from gonogo.services.intake.reading_json import DEPTH_MAX, WHOLE, Json, Parsed, joined, shown

NODES_MAX = 20_000
"""After aliases are followed. A request that a person wrote has a hundred."""

_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[-+]?(?:\d{1,18}|0x[0-9a-fA-F]{1,15}|0o[0-7]{1,20})")
_FLOAT = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?")


def parse_yaml(text: str) -> Parsed:
    """Read one YAML document. Never raises on any text."""
    try:
        # The scanner's own recursion is bounded by Python; a text that reaches the bound is refused as too deep.
        reader: Any = YAML(typ="safe", pure=True)
        root: Any = reader.compose(text)
    except MarkedYAMLError as error:
        told: Any = error
        said = shown(str(told.problem or told.context or "it cannot be read"), characters_max=160)
        return _refused(_line_of(told), f"not YAML: {said}")
    except RecursionError:
        return _refused(WHOLE, f"nested deeper than {DEPTH_MAX} levels")
    except (YAMLError, ValueError):
        return _refused(WHOLE, "not YAML: it holds characters that do not belong into text")
    if root is None:
        return _refused(WHOLE, "empty")
    reading = _Reading()
    document = reading.value(root, "", 0)
    return Parsed(document=document, problems=tuple(reading.problems))


def _refused(path: str, problem: str) -> Parsed:
    fix = "compare with the file that `gonogo init local` writes; one document, fields indented with spaces"
    return Parsed(problems=(Problem(path=path, problem=problem, fix=fix),))


def _line_of(error: Any) -> str:
    mark = error.problem_mark or error.context_mark
    return f"line {mark.line + 1}" if mark is not None else WHOLE


class _Reading:
    """One walk over the nodes, counting them."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._nodes = 0
        self._stopped = False

    def value(self, node: Any, path: str, depth: int) -> Json:
        self._nodes += 1
        if self._nodes > NODES_MAX or depth > DEPTH_MAX:
            self._stop(depth)
        if self._stopped:
            return None
        match node.id:
            case "mapping":
                return self._mapping(node, path, depth)
            case "sequence":
                return [self.value(item, joined(path, index), depth + 1) for index, item in enumerate(node.value)]
            case _:
                return self._scalar(node, path)

    def _stop(self, depth: int) -> None:
        if self._stopped:
            return
        self._stopped = True
        what = f"nested deeper than {DEPTH_MAX} levels" if depth > DEPTH_MAX else f"more than {NODES_MAX} values"
        self.problems.append(Problem(path=WHOLE, problem=what, fix="write it without aliases (&, *), and shorter"))

    def _mapping(self, node: Any, path: str, depth: int) -> dict[str, Json]:
        members: dict[str, Json] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = _line(key_node)
            if key_node.id != "scalar" or str(key_node.tag) == f"{_TAG}merge":
                self._note(
                    path or WHOLE, f"line {line}: a field name is a plain word here", "write each field by its name"
                )
                continue
            key = str(key_node.value)
            here = joined(path, key)
            if key in members:
                self._note(here, f"written more than once, in lines {lines[key]} and {line}", "keep one of them")
            lines[key] = line
            members[key] = self.value(value_node, here, depth + 1)
        return members

    def _scalar(self, node: Any, path: str) -> Json:
        text, tag = str(node.value), str(node.tag).removeprefix(_TAG)
        match tag:
            case "null":
                return None
            case "bool":
                return text.lower() == "true" if text.lower() in ("true", "false") else text
            case "int":
                return _integer(text)
            case "float":
                return self._float(text, path, node)
            case "str" | "timestamp" | "value":
                return text
            case _:
                self._note(
                    path or WHOLE, f"line {_line(node)}: a tag (!…) makes this no plain value", "leave the tag out"
                )
                return None

    def _float(self, text: str, path: str, node: Any) -> Json:
        if _FLOAT.fullmatch(text):
            number = float(text)
            if number not in (float("inf"), float("-inf")):
                return number
        elif not text.lower().lstrip("+-").startswith((".inf", ".nan")):
            return text
        self._note(
            path or WHOLE, f"line {_line(node)}: not a number that can be worked with", "write one of ordinary size"
        )
        return None

    def _note(self, path: str, problem: str, fix: str) -> None:
        self.problems.append(Problem(path=path, problem=problem, fix=fix))


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _integer(text: str) -> Json:
    """Read an integer by the core schema; what only older schemas read as one (`1_000`) stays the word it is."""
    if not _INTEGER.fullmatch(text):
        return float(text) if text.lstrip("+-").isdigit() else text
    if text.startswith(("0x", "0o")):
        return int(text, 0)
    return int(text)
