"""From a request file and its flags to the document that is published, with its key on the record first."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from pathlib import Path
from typing import Any

import msgspec

from gonogo.events.request import Problem, Request, request_digest
from gonogo.services.cli.output import USAGE, CommandError, note, stop
from gonogo.services.intake.not_yet_platforms import EVERY_PLATFORM
from gonogo.services.intake.reading import read_request
from gonogo.services.intake.request_file import RequestFileError, apply_overrides, load_request_file

Document = dict[str, Any]


def document_of(arguments: argparse.Namespace) -> Document:
    """The document in the file, with the flags applied."""
    text, suffix, folder = _source(arguments.file)
    try:
        document = load_request_file(text, suffix=suffix, folder=folder)
        document = apply_overrides(document, arguments.set, folder=folder)
    except RequestFileError as error:
        raise CommandError(USAGE, *error.problems) from error
    if arguments.yes:
        if not arguments.basis:
            stop(USAGE, "--yes without --basis", fix='say who allowed it: --basis "chat with Li, 14:02"', path="basis")
        document["authorize"] = {"may": ["submit"], "basis": arguments.basis}
    if arguments.again:
        document["key"] = f"again-{secrets.token_hex(8)}"
    if arguments.key:
        document["key"] = arguments.key
    return document


def key_of(document: Document) -> str:
    """The key this request will have: its own, or the digest of what it asks for."""
    if isinstance(document.get("key"), str):
        return str(document["key"])
    request = read_request(json.dumps(document).encode(), platforms=EVERY_PLATFORM)
    return request_digest(request) if isinstance(request, Request) else "none: the request is not in order"


def put_in_outbox(data_dir: Path, key: str, document: Document) -> None:
    """Remember what is about to be sent, so that whoever comes after a crash can send the same again."""
    outbox = data_dir / "outbox"
    outbox.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in key)[:100]
    path = outbox / f"{name}.json"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode({"key": key, "request": document}))
        file.flush()
        os.fsync(file.fileno())
    note(f"key {key}")


def _source(name: str) -> tuple[str, str, Path]:
    if name == "-":
        return sys.stdin.read(), ".yaml", Path.cwd()
    path = Path(name)
    try:
        return path.read_text(encoding="utf-8"), path.suffix, path.absolute().parent
    except (OSError, UnicodeDecodeError) as error:
        told = getattr(error, "strerror", None) or "not a text file"
        raise CommandError(
            USAGE,
            Problem(path=name, problem=f"cannot be read: {told}", fix="name a request file; see: gonogo init local"),
        ) from error
