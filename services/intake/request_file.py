"""From a request file to the document that is published: parsed strictly, overridden, its relative paths made absolute.

A published request is read on another machine by a process with another working folder; only the file knows what its
relative paths are relative to.
"""

from __future__ import annotations

import copy
import os.path
import re
import tomllib
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import cast

from gonogo.events.request import Problem
from gonogo.services.intake.reading_json import MAX_REQUEST_BYTES, WHOLE, Json, Parsed, parse_json, shown
from gonogo.services.intake.reading_yaml import parse_yaml

SUFFIXES = (".yaml", ".yml", ".json", ".toml")

_PATHS: tuple[tuple[str, ...], ...] = (("output",), ("code",), ("run", "config", "file"))
_PATH_TABLES = (("data", "roots"), ("data", "paths"))
_OPEN_TABLES = (
    ("run", "copy", "set"),
    ("run", "tao", "spec"),
    ("data", "paths"),
    ("data", "roots"),
    ("env",),
    ("secrets",),
)
"""Below these, the rest of an override's name is one name, dots and all: `run.copy.set.trainer.max_epochs=40`."""
_TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)")


class RequestFileError(Exception):
    """A file that cannot be read as a request; `problems` says why."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        """Keep every problem for the answer."""
        super().__init__("; ".join(f"{each.path}: {each.problem}; {each.fix}" for each in problems))
        self.problems = problems


def load_request_file(text: str, *, suffix: str, folder: Path) -> dict[str, Json]:
    """Read a request file that lies in `folder`. Raises RequestFileError, with lines where the parser knows them."""
    if len(text.encode(errors="replace")) > MAX_REQUEST_BYTES:
        what = f"more than {MAX_REQUEST_BYTES} bytes"
        raise RequestFileError(
            (Problem(path=WHOLE, problem=what, fix="put large settings into a file and name that file"),)
        )
    parsed = _parse(text, suffix)
    if parsed.problems:
        raise RequestFileError(parsed.problems)
    if not isinstance(parsed.document, dict):
        fix = "begin with: schema: gonogo/v1; or see `gonogo init local`"
        raise RequestFileError((Problem(path=WHOLE, problem="not a list of fields", fix=fix),))
    document = parsed.document
    run = document.get("run")
    if isinstance(run, dict) and "command" in run:
        document.setdefault("code", ".")
    return with_absolute_paths(document, folder)


def apply_overrides(
    document: dict[str, Json], overrides: Sequence[str], *, folder: Path | None = None
) -> dict[str, Json]:
    """Set fields by `a.b=value`, the value in YAML; relative paths from `folder`. Raises RequestFileError."""
    changed = copy.deepcopy(document)
    problems: list[Problem] = []
    for override in overrides:
        name, separator, value = override.partition("=")
        if not separator or not all(name.split(".")):
            fix = "write NAME=VALUE, e.g. --set resources.gpus_per_node=1"
            problems.append(Problem(path=f"--set {shown(name)}", problem="not an override", fix=fix))
            continue
        parsed = parse_yaml(value) if value.strip() else Parsed(document="")
        problems.extend(
            Problem(path=f"--set {shown(name)}", problem=each.problem, fix="quote the value")
            for each in parsed.problems
        )
        problems.extend(_set(changed, _parts_of(name), parsed.document))
    if problems:
        raise RequestFileError(tuple(problems))
    return with_absolute_paths(changed, folder) if folder is not None else changed


def with_absolute_paths(document: dict[str, Json], folder: Path) -> dict[str, Json]:
    """Make every path of this machine absolute. What is no text is left to the reading."""
    resolved = copy.deepcopy(document)
    for path in _PATHS:
        holder = _holder(resolved, path[:-1])
        place = holder.get(path[-1]) if holder is not None else None
        if holder is not None and isinstance(place, str):
            holder[path[-1]] = _absolute(place, folder)
    for path in _PATH_TABLES:
        table = _holder(resolved, path) or {}
        for name, place in table.items():
            if isinstance(place, str) and "://" not in place:
                table[name] = _absolute(place, folder)
    secrets = _holder(resolved, ("secrets",)) or {}
    for name, reference in secrets.items():
        if isinstance(reference, str) and reference.startswith("file:"):
            secrets[name] = "file:" + _absolute(reference.removeprefix("file:"), folder)
    return resolved


def _parse(text: str, suffix: str) -> Parsed:
    match suffix.lower():
        case ".json":
            return parse_json(text.encode(errors="surrogatepass"))
        case ".toml":
            return _parse_toml(text)
        case ".yaml" | ".yml" | "":
            return parse_yaml(text)
        case _:
            fix = f"name the file with one of: {' '.join(SUFFIXES)}"
            return Parsed(
                problems=(Problem(path=WHOLE, problem=f'no request is read from "{shown(suffix)}" files', fix=fix),)
            )


def _parse_toml(text: str) -> Parsed:
    try:
        return Parsed(document=_without_times(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        found = _TOML_LINE.search(str(error))
        path = f"line {found.group(1)}" if found else WHOLE
        fix = "compare with https://toml.io; a key is written once, a text in quotes"
        return Parsed(problems=(Problem(path=path, problem="not TOML, or a key written more than once", fix=fix),))
    except (RecursionError, ValueError):
        return Parsed(
            problems=(Problem(path=WHOLE, problem="not TOML", fix="write fewer levels and ordinary numbers"),)
        )


def _without_times(value: object) -> Json:
    """Return the same with TOML's times as the text they were written in: a request has no times."""
    match value:
        case dict():
            members = cast("dict[str, object]", value)
            return {key: _without_times(each) for key, each in members.items()}
        case list():
            return [_without_times(each) for each in cast("list[object]", value)]
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return cast("Json", value)


def _absolute(path: str, folder: Path) -> str:
    """Resolve from the file's folder. `~` and empty are left for the reading to decline: nobody guesses a home."""
    if not path or path.startswith("~") or "\0" in path:
        return path
    return os.path.normpath(folder / path)


def _holder(document: dict[str, Json], path: tuple[str, ...]) -> dict[str, Json] | None:
    here: Json = document
    for part in path:
        here = here.get(part) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else None


def _parts_of(name: str) -> tuple[str, ...]:
    parts = tuple(name.split("."))
    for table in _OPEN_TABLES:
        if parts[: len(table)] == table and len(parts) > len(table):
            return (*table, ".".join(parts[len(table) :]))
    return parts


def _set(document: dict[str, Json], parts: tuple[str, ...], value: Json) -> tuple[Problem, ...]:
    here = document
    for index, part in enumerate(parts[:-1]):
        inner = here.setdefault(part, {})
        if not isinstance(inner, dict):
            where = ".".join(parts[: index + 1])
            fix = f"set {where} as a whole"
            return (Problem(path=f"--set {shown('.'.join(parts))}", problem=f"{shown(where)} is one value", fix=fix),)
        here = inner
    here[parts[-1]] = value
    return ()
