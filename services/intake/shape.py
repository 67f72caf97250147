"""Does a document have a struct's shape? Says everything that does not fit, not only the first thing. Pure.

The struct's own annotations are the schema: there is no second list of fields to keep in step.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import msgspec

from gonogo.events.request import Problem


def shape_problems(document: object, shape: type[msgspec.Struct], path: str = "") -> tuple[Problem, ...]:
    """Everything about `document` that keeps it from being a `shape`."""
    if not isinstance(document, Mapping):
        fix = f"write it with its fields: {', '.join(_names(shape))}"
        return (Problem(path=path, problem=f"is {_told(document)}, not an object", fix=fix),)
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    found: list[Problem] = []
    for name in document:
        if name not in fields:
            found.append(_unknown(str(name), tuple(fields), path))
    for name, field in fields.items():
        if name in document:
            found.extend(_value_problems(document[name], field.type, _join(path, name)))
        elif field.required:
            found.append(Problem(path=_join(path, name), problem="is missing", fix=f"add {name}"))
    return tuple(found)


def _names(shape: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(shape))


def _value_problems(value: object, kind: Any, path: str) -> tuple[Problem, ...]:
    struct = _struct_in(kind)
    if struct is not None:
        return () if value is None and _takes_none(kind) else shape_problems(value, struct, path)
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        return (Problem(path=path, problem=f"is {_told(value)}: {_plain(error)}", fix=_fix(kind)),)
    return ()


def _struct_in(kind: Any) -> type[msgspec.Struct] | None:
    for candidate in (kind, *getattr(kind, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, msgspec.Struct):
            return candidate
    return None


def _takes_none(kind: Any) -> bool:
    return type(None) in getattr(kind, "__args__", ())


def _plain(error: msgspec.ValidationError) -> str:
    return str(error).partition(" - at")[0].lower()


def _fix(kind: Any) -> str:
    choices = [repr(choice) for part in (kind, *getattr(kind, "__args__", ())) for choice in _choices(part)]
    if choices:
        return f"use one of {', '.join(choices)}"
    told = str(kind).replace("<class '", "").replace("'>", "").replace("NoneType", "null")
    return f"give a value of the kind {told}"


def _choices(kind: Any) -> tuple[str, ...]:
    values = getattr(kind, "__args__", ())
    return tuple(value for value in values if isinstance(value, str))


def _told(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _unknown(name: str, known: tuple[str, ...], path: str) -> Problem:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    fix = f"did you mean {near[0]}?" if near else f"the fields here are: {', '.join(known)}"
    return Problem(path=_join(path, name[:60]), problem="is not a field of the request", fix=fix)
