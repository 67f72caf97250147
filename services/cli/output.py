"""What every command prints: one JSON document with `--json`, tables on a terminal, plain lines in a pipe.

Errors are problems (`path`, `problem`, `fix`); logs and questions go to stderr, so stdout is always only the answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from gonogo.events.redaction import mask_secrets
from gonogo.events.request import Problem

OK = 0
NO = 1
"""No-go or declined."""
USAGE = 2
UNKNOWN = 3
"""Sent, and the answer is unknown; or the launch is in doubt."""
NOT_SENT = 4
GOING = 5
"""Still going, or waiting for a person."""
FAILED = 6
"""The job failed, was cancelled or stopped."""


class CommandError(Exception):
    """A command that cannot go on: its exit code and every problem."""

    def __init__(self, code: int, *problems: Problem, next_commands: Sequence[str] = ()) -> None:
        """`next_commands`: what makes sense now."""
        super().__init__("; ".join(problem.problem for problem in problems))
        self.code = code
        self.problems = problems
        self.next_commands = tuple(next_commands)


def stop(code: int, problem: str, *, fix: str, path: str = "", next_commands: Sequence[str] = ()) -> NoReturn:
    """End the command with one problem."""
    raise CommandError(code, Problem(path=path, problem=problem, fix=fix), next_commands=next_commands)


def print_json(document: object) -> None:
    """One JSON document on stdout."""
    print(json.dumps(msgspec.to_builtins(document), indent=2, ensure_ascii=False))


def print_error(error: CommandError, *, as_json: bool) -> None:
    """The problems, where scripts and people look for them."""
    if as_json:
        print_json({"errors": error.problems, "next": error.next_commands, "exit": error.code})
        return
    for problem in error.problems:
        where = f"{problem.path}: " if problem.path else ""
        print(mask_secrets(f"✗ {where}{problem.problem}"), file=sys.stderr)
        print(mask_secrets(f"    → {problem.fix}"), file=sys.stderr)
    for command in error.next_commands:
        print(f"    {command}", file=sys.stderr)


def note(text: str) -> None:
    """A word to the person at the terminal."""
    print(mask_secrets(text), file=sys.stderr, flush=True)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None) -> None:
    """A table on a terminal, tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in rows:
            print("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table

    shown = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        shown.add_row(*row)
    Console().print(shown)


def pairs(values: Mapping[str, Any]) -> None:
    """Names and values, one a line."""
    width = max((len(name) for name in values), default=0)
    for name, value in values.items():
        if value not in (None, "", (), [], {}):
            print(mask_secrets(f"{name.ljust(width)}  {value}"))
