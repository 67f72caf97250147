"""Reads the later words of people: approve, cancel, resolve and the like. As strict as the reading of a request."""

from __future__ import annotations

from datetime import datetime

import msgspec

from gonogo.events.request import Problem
from gonogo.services.intake.reading_fields import Findings, Section
from gonogo.services.intake.reading_json import WHOLE, Json, parse_json, shown
from gonogo.services.intake.reading_near import Fault, word_fault
from gonogo.services.intake.reading_secrets import decline_secrets
from gonogo.services.intake.rules_text import key_fault, launch_fault, sentence_fault
from gonogo.services.intake.words import WORDS, Word

_TIMES = ("said_at", "expires_at")
_KEYS = ("plan_digest", "job_id", "check")


def read_word(word: str, raw: bytes) -> Word | tuple[Problem, ...]:
    """Read the body of a word; every problem at once if there is any. Never raises on any bytes."""
    findings = Findings({})
    shape = WORDS.get(word)
    if shape is None:
        findings.add_fault("subject", word_fault(word, ("launch", *WORDS)))
        return findings.problems
    parsed = parse_json(raw)
    for each in parsed.problems:
        findings.add(each.path, each.problem, each.fix)
    if not isinstance(parsed.document, dict):
        findings.add(WHOLE, "not an object", 'send one object, e.g. {"launch": "…"}')
        return findings.problems
    document = parsed.document
    decline_secrets(document, findings)
    _read_fields(Section(findings, document, "", shape), shape)
    return findings.problems or _converted(document, shape)


def _read_fields(section: Section, shape: type[Word]) -> None:
    for field in msgspec.structs.fields(shape):
        name = field.encode_name
        if field.required:
            section.require(name, f"{name}: …")
        if field.default is False:
            section.flag(name)
        elif name == "launch":
            section.text(name, launch_fault)
        elif name in _TIMES:
            section.text(name, _time_fault)
        else:
            section.text(name, key_fault if name in _KEYS else sentence_fault)


def _time_fault(text: str) -> Fault:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return f'"{shown(text)}" is not a time', "write it as 2026-11-30T14:02:00Z"
    return None


def _converted(document: dict[str, Json], shape: type[Word]) -> Word | tuple[Problem, ...]:
    try:
        return msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        return (
            Problem(
                path=WHOLE, problem=shown(str(error), characters_max=200), fix="compare with: gonogo events schema"
            ),
        )
