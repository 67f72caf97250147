"""The rules of a request beyond its shape: units, names, paths, numbers, and what this installation can do. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, cast

from gonogo.events.redaction import mask_secrets
from gonogo.events.request import Problem
from gonogo.events.subjects import is_token
from gonogo.services.intake.document import Document
from gonogo.services.intake.not_yet import not_yet_problems
from gonogo.services.intake.rules_durations import HOW, seconds_of
from gonogo.services.intake.rules_names import hidden_problem, is_launch_id, name_problem
from gonogo.services.intake.rules_secrets import is_reference, leaks

NODES_MAX = 4096
GPUS_MAX = 64
POLL_MIN_S = 0.2
KEY_MAX = 200
ENV_MAX = 200
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")
_DURATIONS = (
    ("resources", "time_limit"),
    ("monitor", "poll"),
    ("monitor", "status_every"),
    ("batch", "close_after"),
    ("", "time_budget"),
)
_PATHS = (("", "code"), ("", "output"), ("run.config", "file"))
LOCAL_POLL_S = 1.0

Rule = Callable[[Document], Iterator[Problem]]


def secrets_in(document: Document) -> tuple[Problem, ...]:
    """Every plain secret in a document, by place."""
    return tuple(
        Problem(path=mask_secrets(p.path), problem=p.problem, fix=p.fix) for p in leaks(document)
    )


def normalise(document: Document) -> tuple[Document, tuple[Problem, ...]]:
    """Durations as seconds under `…_s`, and the defaults that depend on the platform."""
    normal: Document = {k: dict(v) if isinstance(v, dict) else v for k, v in document.items()}
    problems: list[Problem] = []
    for part, field in _DURATIONS:
        holder = normal if not part else normal.get(part)
        if isinstance(holder, dict) and field in holder:
            problems.extend(_normalise_duration(cast(Document, holder), part, field))
    if normal.get("platform") == "local" and isinstance(normal.setdefault("monitor", {}), dict):
        normal["monitor"].setdefault("poll_s", LOCAL_POLL_S)
    return normal, tuple(problems)


def _normalise_duration(holder: Document, part: str, field: str) -> Iterator[Problem]:
    written = holder.pop(field)
    if field == "status_every" and written == "never":
        return
    seconds = seconds_of(written)
    if isinstance(seconds, float):
        holder[f"{field}_s"] = seconds
        return
    if field == "status_every":
        yield Problem(path="monitor.status_every", problem=seconds, fix=f"{HOW}, or never")
        return
    if field == "poll":
        holder["poll_s"] = LOCAL_POLL_S
    yield Problem(path=f"{part}.{field}" if part else field, problem=seconds, fix=HOW)


def problems_of(document: Document, platforms: Collection[str]) -> tuple[Problem, ...]:
    """Everything that breaks a rule. Fields of a wrong shape are left to the shape check."""
    found: list[Problem] = []
    for rule in _RULES:
        found.extend(rule(document))
    found.extend(not_yet_problems(document, platforms))
    return tuple(found)


def _text(document: Document, path: str) -> str | None:
    value: Any = document
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else None


def _names(document: Document) -> Iterator[Problem]:
    fix = "use letters of one script, digits, blanks, - _ . and no more than 120 characters"
    for path in ("name", "queue", "target"):
        text = _text(document, path)
        problem = name_problem(text) if text is not None else None
        if problem:
            yield Problem(path=path, problem=problem, fix=fix)


def _hidden(document: Document) -> Iterator[Problem]:
    fix = "type it again by hand"
    for path in ("image", "authorize.basis", "authorize.by", "recovery_of.reason", "recovery_of.evidence"):
        text = _text(document, path)
        problem = hidden_problem(text) if text is not None else None
        if problem:
            yield Problem(path=path, problem=problem, fix=fix)


def _key(document: Document) -> Iterator[Problem]:
    key = document.get("key")
    if not isinstance(key, str):
        return
    if not 1 <= len(key) <= KEY_MAX:
        what = f"has {len(key)} characters"
        yield Problem(path="key", problem=what, fix=f"use 1 to {KEY_MAX} characters")
    problem = hidden_problem(key)
    if problem:
        yield Problem(path="key", problem=problem, fix="use letters, digits, - _ . : /")


def _paths(document: Document) -> Iterator[Problem]:
    places = [(f"{part}.{field}" if part else field) for part, field in _PATHS]
    told = [(path, _text(document, path)) for path in places]
    data = document.get("data")
    if isinstance(data, Mapping):
        for group in ("roots", "paths"):
            members = data.get(group)
            if isinstance(members, Mapping):
                told.extend((f"data.{group}.{k}", v) for k, v in members.items() if isinstance(v, str))
    for path, text in told:
        problem = path_problem(text) if text is not None else None
        if problem:
            yield Problem(path=path, problem=problem, fix="give an absolute path without .. or control characters")


def path_problem(text: str) -> str | None:
    """Why this path is refused, or None."""
    if hidden_problem(text):
        return hidden_problem(text)
    if "://" in text:
        return None
    if not text.startswith("/"):
        return f"{text[:80]!r} is not absolute (a published request carries absolute paths)"
    if ".." in PurePosixPath(text).parts:
        return f"{text[:80]!r} climbs with .."
    if text.rstrip("/") == "":
        return "is the root of the file system"
    return None


def _run(document: Document) -> Iterator[Problem]:
    run = document.get("run")
    if not isinstance(run, Mapping):
        return
    kinds = [kind for kind in ("command", "copy", "config", "tao") if run.get(kind) is not None]
    if len(kinds) != 1:
        what = "says nothing to run" if not kinds else f"says {' and '.join(kinds)}"
        yield Problem(path="run", problem=what, fix="give exactly one of command, copy, config, tao")
    command = run.get("command")
    if isinstance(command, list):
        if not command or not all(isinstance(part, str) for part in command) or not command[0]:
            fix = 'give the program and its arguments: ["python3", "train.py"]'
            yield Problem(path="run.command", problem="is not a list of strings with a program first", fix=fix)
        elif any("\0" in part for part in command):
            yield Problem(path="run.command", problem="has a NUL character", fix="take it out")


def _numbers(document: Document) -> Iterator[Problem]:
    resources = document.get("resources")
    if isinstance(resources, Mapping):
        yield from _whole(resources.get("nodes"), "resources.nodes", 1, NODES_MAX)
        yield from _whole(resources.get("gpus_per_node"), "resources.gpus_per_node", 0, GPUS_MAX)
    monitor = document.get("monitor")
    poll = monitor.get("poll_s") if isinstance(monitor, Mapping) else None
    if isinstance(poll, int | float) and not (math.isfinite(poll) and poll >= POLL_MIN_S):
        yield Problem(path="monitor.poll", problem=f"{poll} s", fix=f"use {POLL_MIN_S} s or more")


def _whole(value: object, path: str, least: int, most: int) -> Iterator[Problem]:
    if isinstance(value, int) and not isinstance(value, bool) and not least <= value <= most:
        yield Problem(path=path, problem=f"is {value}", fix=f"use a whole number from {least} to {most}")


def _environment(document: Document) -> Iterator[Problem]:
    for part in ("env", "secrets"):
        members = document.get(part)
        if not isinstance(members, Mapping):
            continue
        if len(members) > ENV_MAX:
            yield Problem(path=part, problem=f"has {len(members)} entries", fix=f"at most {ENV_MAX}")
        for name, value in members.items():
            path = f"{part}.{str(name)[:60]}"
            if not _ENV_NAME.match(str(name)):
                yield Problem(path=path, problem="is not a variable name", fix="use letters, digits and _")
            elif str(name).startswith("GONOGO_"):
                yield Problem(path=path, problem="GONOGO_ names are gonogo's own", fix="use another name")
            if isinstance(value, str) and "\0" in value:
                yield Problem(path=path, problem="has a NUL character", fix="take it out")
            if part == "secrets" and isinstance(value, str) and not is_reference(value):
                fix = 'name the secret instead of giving it: "env:NAME" or "file:/absolute/path"'
                yield Problem(path=path, problem="is not a reference to a secret", fix=fix)
    yield from _both(document)


def _both(document: Document) -> Iterator[Problem]:
    env, secrets = document.get("env"), document.get("secrets")
    if isinstance(env, Mapping) and isinstance(secrets, Mapping):
        for name in sorted(set(map(str, env)) & set(map(str, secrets))):
            yield Problem(path=f"env.{name}", problem="stands in secrets too", fix="keep one of the two")


def _authority(document: Document) -> Iterator[Problem]:
    authorize = document.get("authorize")
    if not isinstance(authorize, Mapping):
        return
    may = authorize.get("may")
    known = ("submit", "yield-placeholders")
    if isinstance(may, list):
        for word in may:
            if word not in known:
                yield Problem(path="authorize.may", problem=f"{word!r} cannot be authorized", fix=f"use {known}")
    basis = authorize.get("basis")
    if isinstance(basis, str) and not basis.strip():
        fix = "say who allowed it, where and when"
        yield Problem(path="authorize.basis", problem="is empty", fix=fix)


def _required(document: Document) -> Iterator[Problem]:
    if document.get("purpose") == "train" and document.get("output") is None:
        fix = "name the folder for the results; it must not exist yet"
        yield Problem(path="output", problem="is missing: a training run needs a place for its results", fix=fix)
    recovered = _text(document, "recovery_of.launch")
    if recovered is not None and not is_launch_id(recovered):
        what = f"{recovered[:60]!r} is not a launch id"
        yield Problem(path="recovery_of.launch", problem=what, fix="give the full id; see: gonogo list")
    batch = _text(document, "batch.id")
    if batch is not None and not is_token(batch):
        yield Problem(path="batch.id", problem=f"{batch[:60]!r} is not a batch id", fix="use letters, digits, - and _")


_RULES: tuple[Rule, ...] = (
    _names,
    _hidden,
    _key,
    _paths,
    _run,
    _numbers,
    _environment,
    _authority,
    _required,
)
