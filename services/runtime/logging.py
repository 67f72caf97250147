"""Logs of the workers: on stderr, event names in our own words, values as fields, known secrets masked in every one."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from gonogo.events.redaction import mask_secrets

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure_logging(*, level: str, form: str, role: str | None = None) -> None:
    """Set up the process's logs, once."""
    as_json = form == "json" or (form == "auto" and not sys.stderr.isatty())
    renderer: Any = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _mask,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    if role is not None:
        structlog.contextvars.bind_contextvars(worker=role)


def _mask(logger: object, name: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    _ = logger, name
    for key, value in fields.items():
        if isinstance(value, str):
            fields[key] = mask_secrets(value)
        elif not isinstance(value, int | float | bool | None):
            fields[key] = mask_secrets(str(value))
    return fields
