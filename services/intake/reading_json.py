"""From bytes to a plain document, with everything a lenient parser would let pass told as a problem.

A parser that keeps the last of two equal keys, or turns `NaN` into a number, lets two readers see two requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeAlias, cast

import msgspec

from gonogo.events.redaction import mask_secrets
from gonogo.events.request import Problem

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What JSON can say."""

MAX_REQUEST_BYTES = 128 * 1024
"""A request is read by people; what does not fit belongs into a file that the request names."""
DEPTH_MAX = 16
"""No field of a request is nested deeper than five; the rest is room for later."""
PART_CHARACTERS_MAX = 80
"""Of one field name, in a path that is shown."""
INTEGER_DIGITS_MAX = 18
"""Longer integers do not fit 64 bits, and nobody trains that many epochs."""
WHOLE = "request"
"""The path of a problem with the request as a whole."""

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u061c\u180e\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """The document, if it could be read at all, and the problems with its letters."""

    document: Json = None
    problems: tuple[Problem, ...] = ()


class _Pairs(list[tuple[str, object]]):
    """A JSON object before anybody decided what two equal keys mean."""


def shown(text: str, *, characters_max: int = PART_CHARACTERS_MAX) -> str:
    """Make a piece of a request safe to repeat in an answer: secrets masked, invisible characters escaped, bounded."""
    visible = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group(0)):04x}", mask_secrets(text))
    return visible if len(visible) <= characters_max else visible[: characters_max - 1] + "…"


def joined(path: str, part: str | int) -> str:
    """Write the path of a field or a list item below `path`."""
    if isinstance(part, int):
        return f"{path}[{part}]"
    return f"{path}.{shown(part)}" if path else shown(part)


def strings_of(value: Json, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Every string of a document as (path, name of the field it stands in, text), field names included."""
    pending: list[tuple[str, str, Json]] = [(path, "", value)]
    while pending:
        here, name, item = pending.pop()
        match item:
            case str():
                yield here or WHOLE, name, item
            case list():
                items = item
                pending.extend((joined(here, index), name, each) for index, each in enumerate(items))
            case dict():
                for key, each in item.items():
                    yield joined(here, key), "", key
                    pending.append((joined(here, key), key, each))
            case _:
                pass


def parse_json(raw: bytes) -> Parsed:
    """Read a request's bytes. Never raises."""
    if len(raw) > MAX_REQUEST_BYTES:
        what = f"{len(raw)} bytes, at most {MAX_REQUEST_BYTES} are read"
        return _unreadable(what, "put large settings into a file and name that file in the request")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return _unreadable(f"not UTF-8: byte {error.start} cannot be read", "save or encode the request as UTF-8")
    if _depth_of(text) > DEPTH_MAX:
        return _unreadable(
            f"nested deeper than {DEPTH_MAX} levels", "compare with the request that `gonogo init local` writes"
        )
    try:
        document = json.loads(text, object_pairs_hook=_Pairs, parse_int=_integer)
    except ValueError as error:
        fix = 'send one JSON object, e.g. {"schema": "gonogo/v1", "name": "tiny-train", …}'
        return _unreadable(f"not JSON: {_where(error)}", fix)
    problems: list[Problem] = []
    plain = _plain(document, "", problems)
    return Parsed(document=plain, problems=tuple(problems))


def _unreadable(problem: str, fix: str) -> Parsed:
    return Parsed(problems=(Problem(path=WHOLE, problem=problem, fix=fix),))


def _where(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return "a number in it cannot be read"


def _depth_of(text: str) -> int:
    depth = deepest = 0
    for token in _STRUCTURE.finditer(text):
        match token.group(0):
            case "[" | "{":
                depth += 1
                deepest = max(deepest, depth)
            case "]" | "}":
                depth -= 1
            case _:
                pass
    return deepest


def _integer(digits: str) -> int | float:
    """Read an integer; what is absurdly long becomes infinite and is told with its path."""
    return int(digits) if len(digits) <= INTEGER_DIGITS_MAX else float("inf")


def _plain(value: object, path: str, problems: list[Problem]) -> Json:
    match value:
        case _Pairs():
            return _object(value, path, problems)
        case list():
            items = cast("list[object]", value)
            return [_plain(item, joined(path, index), problems) for index, item in enumerate(items)]
        case float() if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 -- NaN is not itself
            problem = "not a number that can be worked with (NaN, infinite or far too long)"
            problems.append(
                Problem(path=path or WHOLE, problem=problem, fix="write a number of ordinary size, or leave it out")
            )
            return 0
        case str():
            return _text(value, path or WHOLE, problems)
        case _:
            return cast("Json", value)


def _object(pairs: _Pairs, path: str, problems: list[Problem]) -> dict[str, Json]:
    members: dict[str, Json] = {}
    for key, value in pairs:
        here = joined(path, key)
        if key in members:
            problems.append(Problem(path=here, problem="written more than once", fix="keep one of them"))
        _text(key, here, problems)
        members[key] = _plain(value, here, problems)
    return members


def _text(value: str, path: str, problems: list[Problem]) -> str:
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        problem = "holds a character that is no text (NUL or half a surrogate pair)"
        problems.append(
            Problem(path=path, problem=problem, fix="write the text again by hand; copying it brought this in")
        )
    return value
