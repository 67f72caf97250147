"""Subjects: `ev.<kind>.<id>.<role>` for what was said, `in.<client>.<word>` for what people ask.

The role stands in the subject so that the broker can enforce who may speak as whom.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gonogo.events.base import HISTORY_KINDS, ROLES, Role
from gonogo.events.ids import History

EVENTS_STREAM = "EVENTS"
INBOX_STREAM = "INBOX"
EVERY_EVENT = "ev.>"
EVERY_WORD = "in.>"

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_EVENT_PARTS = 4
_WORD_PARTS = 3


class SubjectError(ValueError):
    """A subject that is not one of ours; the message names the subject and the form it should have."""


def is_token(text: str) -> bool:
    """Whether `text` may stand as one part of a subject."""
    return _TOKEN.match(text) is not None


def event_subject(history: History, role: Role) -> str:
    """Where `role` speaks in `history`."""
    if not is_token(history.id):
        message = f"history id {history.id!r} cannot stand in a subject: use letters, digits, - and _"
        raise SubjectError(message)
    return f"ev.{history.kind}.{history.id}.{role}"


def history_filter(history: History) -> str:
    """The one filter of a history. Every append sends exactly this string: see the log for why that matters."""
    return f"ev.{history.kind}.{history.id}.>"


@lru_cache(maxsize=4096)
def parse_event_subject(subject: str) -> tuple[History, Role]:
    """Take an event subject apart."""
    parts = subject.split(".")
    if len(parts) != _EVENT_PARTS or parts[0] != "ev" or not is_token(parts[2]):
        message = f"subject {subject!r} is not ev.<kind>.<id>.<role>"
        raise SubjectError(message)
    if parts[1] not in HISTORY_KINDS or parts[3] not in ROLES:
        message = f"subject {subject!r} names a kind or role this program does not know"
        raise SubjectError(message)
    return History(parts[1], parts[2]), parts[3]


def word_subject(client: str, word: str) -> str:
    """Where a client says `word` (launch, approve, decline, cancel …)."""
    if not (is_token(client) and is_token(word)):
        message = f"client {client!r} or word {word!r} cannot stand in a subject: use letters, digits, - and _"
        raise SubjectError(message)
    return f"in.{client}.{word}"


def parse_word_subject(subject: str) -> tuple[str, str]:
    """Take an inbox subject apart: (client, word)."""
    parts = subject.split(".")
    if len(parts) != _WORD_PARTS or parts[0] != "in" or not (is_token(parts[1]) and is_token(parts[2])):
        message = f"subject {subject!r} is not in.<client>.<word>"
        raise SubjectError(message)
    return parts[1], parts[2]


def answer_subject(client: str, sequence: int) -> str:
    """Where intake answers the inbox message with that sequence."""
    return f"answer.{client}.{sequence}"
