"""From a request file to the document that is published: YAML 1.2, JSON or TOML, paths made absolute.

YAML by its 1.2 rules: `2e-4` is a number, `off` is a word, `4:00:00` is a string. Anything clever (anchors, tags, several
documents, duplicate keys) is refused: a reviewer must be able to read the file as it stands.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.tokens import AliasToken, AnchorToken, TagToken

from gonogo.events.request import Problem
from gonogo.services.intake.document import Document

FILE_BYTES_MAX = 128 * 1024
_RELATIVE = ("code", "output")


class RequestFileError(Exception):
    """A file that cannot be read as a request; `problems` says why."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        """Keep every problem for the answer."""
        super().__init__("; ".join(f"{p.path}: {p.problem}" if p.path else p.problem for p in problems))
        self.problems = problems


def load_request_file(text: str, *, suffix: str, folder: Path) -> Document:
    """The document in a request file. `folder` is where its relative paths start. Raises RequestFileError."""
    if len(text.encode()) > FILE_BYTES_MAX:
        raise RequestFileError((_problem("is larger than 128 KiB", "keep data and code out of it"),))
    match suffix.lower():
        case ".json":
            document = _json(text)
        case ".toml":
            document = _toml(text)
        case _:
            document = _yaml(text)
    if not isinstance(document, dict):
        raise RequestFileError((_problem("is not a mapping of fields", "start with: schema: gonogo/v1"),))
    return with_absolute_paths(document, folder)


def with_absolute_paths(document: Document, folder: Path) -> Document:
    """The document with its own relative paths resolved from `folder`."""
    absolute = dict(document)
    for field in _RELATIVE:
        if isinstance(absolute.get(field), str):
            absolute[field] = _absolute(absolute[field], folder)
    data = absolute.get("data")
    if isinstance(data, dict):
        absolute["data"] = {
            group: {k: _absolute(v, folder) if isinstance(v, str) else v for k, v in members.items()}
            if group in ("roots", "paths") and isinstance(members, dict)
            else members
            for group, members in data.items()
        }
    return absolute


def apply_overrides(document: Document, overrides: Iterable[str]) -> Document:
    """The document with `a.b=value` applied; values are read by the rules of the file. Raises RequestFileError."""
    changed: Document = json.loads(json.dumps(document, default=str))
    for override in overrides:
        path, equals, written = override.partition("=")
        if not equals or not path.strip():
            raise RequestFileError((_problem(f"--set {override!r} has no =", "write --set resources.nodes=2"),))
        _put(changed, path.strip().split("."), _yaml(written), override)
    return changed


def _put(document: Document, parts: list[str], value: Any, override: str) -> None:
    holder: Any = document
    for part in parts[:-1]:
        holder = holder.setdefault(part, {})
        if not isinstance(holder, dict):
            what = f"--set {override!r}: {part} is not a mapping"
            raise RequestFileError((_problem(what, "name a field of a mapping"),))
    holder[parts[-1]] = value


def _absolute(text: str, folder: Path) -> str:
    if "://" in text or text.startswith("/"):
        return text
    return str((folder / text).resolve())


def _problem(what: str, fix: str, path: str = "") -> Problem:
    return Problem(path=path, problem=what, fix=fix)


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise RequestFileError((_problem(f"not JSON: {error}", "mend the JSON"),)) from error


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        message = "a key stands twice"
        raise ValueError(message)
    return document


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestFileError((_problem(f"not TOML: {error}", "mend the TOML"),)) from error


def _yaml(text: str) -> Any:
    yaml = YAML(typ="safe", pure=True)
    yaml.allow_duplicate_keys = False
    try:
        for token in yaml.scan(text):
            if isinstance(token, AliasToken | AnchorToken | TagToken):
                line = token.start_mark.line + 1
                what = "uses an anchor, alias or tag"
                raise RequestFileError((_problem(what, "write the value itself", f"line {line}"),))
        return _plain(YAML(typ="safe", pure=True).load(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark is not None else ""
        raise RequestFileError((_problem(f"not YAML: {error.problem}", "mend the YAML", where),)) from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise RequestFileError((_problem(f"not YAML: {error}", "mend the YAML"),)) from error


def _plain(value: Any) -> Any:
    """Only what JSON can carry: dates and the like become the text they were."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)
