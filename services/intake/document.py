"""Strict JSON: one object, valid UTF-8, no duplicate keys, no NaN, bounded depth."""

from __future__ import annotations

import json
from typing import Any

from gonogo.events.request import Problem

Document = dict[str, Any]
DEPTH_MAX = 16


class _DuplicateKeyError(ValueError):
    pass


def read_document(body: bytes) -> Document | tuple[Problem, ...]:
    """The object, or what is wrong with the bytes."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return (_problem(f"not UTF-8 (byte {error.start})", "send UTF-8 encoded JSON"),)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except _DuplicateKeyError as error:
        return (_problem(str(error), "write each key once"),)
    except RecursionError:
        return (_problem("nested too deeply", f"use at most {DEPTH_MAX} levels"),)
    except ValueError as error:
        return (_problem(f"not JSON: {error}", 'send one JSON object, e.g. {"schema": "gonogo/v1", "name": …}'),)
    if not isinstance(value, dict):
        return (_problem(f"a JSON {_kind(value)}, not an object", "send one JSON object"),)
    if _depth(value) > DEPTH_MAX:
        return (_problem("nested too deeply", f"use at most {DEPTH_MAX} levels"),)
    return value


def _problem(what: str, fix: str) -> Problem:
    return Problem(path="", problem=what, fix=fix)


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    document: Document = {}
    for key, value in pairs:
        if key in document:
            message = f"the key {key[:60]!r} stands twice"
            raise _DuplicateKeyError(message)
        document[key] = value
    return document


def _refuse_constant(word: str) -> float:
    message = f"{word} is not a number that means anything here"
    raise ValueError(message)


def _kind(value: object) -> str:
    return {list: "list", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")


def _depth(value: object) -> int:
    deepest, level = 0, [value]
    while level:
        deepest += 1
        if deepest > DEPTH_MAX:
            break
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
        ]
    return deepest
