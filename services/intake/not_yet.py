"""What a request may ask for but this version cannot do yet: declined by name, never half done. Pure.

The one table to shorten as platforms and channels arrive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from gonogo.events.request import Problem
from gonogo.services.intake.document import Document

PLATFORMS = ("local", "docker", "local-docker", "remote-docker", "slurm", "kubernetes", "brev", "volcengine")
CHANNELS = ("console", "file")
"""Channels of this version; `name` or `name:target`."""

_FIELDS: tuple[tuple[str, str], ...] = (
    ("run.copy", "copying a source task"),
    ("run.config", "submitting a reviewed platform config"),
    ("run.tao", "TAO actions"),
    ("image", "container images"),
    ("data", "dataset checks"),
    ("batch", "batches"),
    ("short_run", "short-run evidence"),
    ("compare_with", "comparisons"),
    ("time_budget_s", "time budgets"),
    ("smoke_first", "a smoke before the run"),
    ("rerun", "reruns of a source task"),
    ("monitor.status_every_s", "periodic reports"),
)


def not_yet_problems(document: Document, platforms: Collection[str]) -> tuple[Problem, ...]:
    """Everything this request asks for that cannot be done here yet."""
    return (*_platform(document, platforms), *_fields(document), *_channels(document), *_yields(document))


def _platform(document: Document, platforms: Collection[str]) -> tuple[Problem, ...]:
    platform = document.get("platform")
    if not isinstance(platform, str) or platform in platforms or platform not in PLATFORMS:
        return ()
    what = f"the platform {platform!r} is not yet supported by this installation"
    return (Problem(path="platform", problem=what, fix=f"use one of: {', '.join(sorted(platforms))}"),)


def _fields(document: Document) -> tuple[Problem, ...]:
    fix = "leave it out, or wait for the version that brings it"
    return tuple(
        Problem(path=path.removesuffix("_s"), problem=f"{name}: not yet supported", fix=fix)
        for path, name in _FIELDS
        if _at(document, path) not in (None, False)
    )


def _at(document: Document, path: str) -> Any:
    value: Any = document
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _channels(document: Document) -> tuple[Problem, ...]:
    notify = document.get("notify")
    if not isinstance(notify, list):
        return ()
    told = [str(target) for target in notify if isinstance(target, str)]
    fix = f"use {' or '.join(CHANNELS)}"
    return tuple(
        Problem(path=f"notify[{index}]", problem=f"the channel {target[:60]!r} is not yet supported", fix=fix)
        for index, target in enumerate(told)
        if target.partition(":")[0] not in CHANNELS
    )


def _yields(document: Document) -> tuple[Problem, ...]:
    may = _at(document, "authorize.may")
    if isinstance(may, list) and "yield-placeholders" in may:
        what = "yielding placeholders: not yet supported"
        return (Problem(path="authorize.may", problem=what, fix="leave it out: no placeholder is touched"),)
    return ()
