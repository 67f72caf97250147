"""From bytes to a request or to everything that is wrong with them, all at once.

A client gets one answer that names every problem by its path, says what is wrong and what to write instead. Nothing here
looks at the world; bad bytes of any kind end as problems, never as an exception.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from gonogo.events.redaction import mask_secrets
from gonogo.events.request import Problem, Request
from gonogo.services.intake.document import Document, read_document
from gonogo.services.intake.rules import normalise, problems_of, secrets_in
from gonogo.services.intake.rules_names import is_launch_id
from gonogo.services.intake.rules_secrets import suspicions
from gonogo.services.intake.shape import shape_problems
from gonogo.services.intake.words import WORDS, Word

REQUEST_BYTES_MAX = 128 * 1024
"""A request is configuration; data, code and logs have their own places."""
ORIGINAL_MAX = 32 * 1024
"""How much of a declined original is kept."""


def read_request(body: bytes, *, platforms: Collection[str]) -> Request | tuple[Problem, ...]:
    """A request, or all its problems. `platforms`: those that this installation has a backend for."""
    document = _document(body)
    if isinstance(document, tuple):
        return document
    leaks = secrets_in(document)
    normal, problems = normalise(document)
    problems = (*leaks, *problems, *shape_problems(normal, Request), *problems_of(normal, platforms))
    if problems:
        return _once(problems)
    try:
        return msgspec.convert(normal, Request)
    except msgspec.ValidationError as error:
        return (Problem(path="", problem=str(error), fix="compare with: gonogo init"),)


def read_word(word: str, body: bytes) -> Word | tuple[Problem, ...]:
    """A later word of a person, or all its problems."""
    shape = WORDS.get(word)
    if shape is None:
        known = ", ".join(sorted((*WORDS, "launch")))
        return (Problem(path="subject", problem=f"there is no word {word!r}", fix=f"the words are: {known}"),)
    document = _document(body)
    if isinstance(document, tuple):
        return document
    problems = (*secrets_in(document), *shape_problems(document, shape))
    launch = document.get("launch")
    if isinstance(launch, str) and not is_launch_id(launch):
        what = f"{launch[:60]!r} is not a launch id"
        problems = (*problems, Problem(path="launch", problem=what, fix="give the full id; see: gonogo list"))
    if problems:
        return _once(problems)
    try:
        return msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        return (Problem(path="", problem=str(error), fix="see docs/events.md for the shape of words"),)


def warnings_of(request: Request) -> tuple[Problem, ...]:
    """What is not wrong but should be looked at in the review."""
    return suspicions(msgspec.to_builtins(request))


def redacted(body: bytes) -> str:
    """The original for the audit: known secrets masked, bounded, whatever the bytes are."""
    text = mask_secrets(body[: ORIGINAL_MAX * 2].decode("utf-8", errors="replace"))
    return text if len(text) <= ORIGINAL_MAX else text[:ORIGINAL_MAX] + f"… ({len(body)} bytes in all)"


def _document(body: bytes) -> Document | tuple[Problem, ...]:
    if len(body) > REQUEST_BYTES_MAX:
        what = f"{len(body)} bytes, at most {REQUEST_BYTES_MAX} are taken"
        return (Problem(path="", problem=what, fix="keep data and code out of the request; name their paths"),)
    return read_document(body)


def _once(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Each problem once, in order; the first word on a path wins over a vaguer one on the same path."""
    seen: dict[str, Problem] = {}
    for problem in problems:
        seen.setdefault(f"{problem.path}\n{problem.problem}", problem)
    return tuple(seen.values())
