"""From secret references to values, in the one process that needs them, right before create.

A reference is `env:NAME` or `file:/absolute/path`. Errors name the reference and never a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

SECRET_BYTES_MAX = 64 * 1024
_OTHERS = 0o077


class MissingSecretError(Exception):
    """A secret cannot be read; the message says which reference and what to do."""


def secret_reader(environment: Mapping[str, str]) -> Callable[[Mapping[str, str]], Mapping[str, str]]:
    """A function from {NAME: reference} to {reference: value} over this environment."""

    def read(references: Mapping[str, str]) -> Mapping[str, str]:
        return {reference: read_secret(reference, environment) for reference in references.values()}

    return read


def read_secret(reference: str, environment: Mapping[str, str]) -> str:
    """One value. Raises MissingSecretError."""
    scheme, _, place = reference.partition(":")
    if scheme == "env":
        value = environment.get(place)
        if not value:
            message = (
                f"secret {reference} is not set: set {place} in the environment of the workers and start them again"
            )
            raise MissingSecretError(message)
        return value
    if scheme == "file":
        return _read_file(reference, Path(place))
    message = f"secret reference {reference!r} is neither env:NAME nor file:/path"
    raise MissingSecretError(message)


def _read_file(reference: str, path: Path) -> str:
    try:
        if path.stat().st_mode & _OTHERS:
            message = f"secret {reference} can be read by others: chmod 600 {path}"
            raise MissingSecretError(message)
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"secret {reference} cannot be read ({error}): check the path on the machine of the workers"
        raise MissingSecretError(message) from error
    if len(text) > SECRET_BYTES_MAX:
        message = f"secret {reference} is larger than {SECRET_BYTES_MAX} bytes: point to the value alone"
        raise MissingSecretError(message)
    return text.rstrip("\n")
