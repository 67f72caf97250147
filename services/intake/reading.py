"""Reads a published request: strictly, and all the way through, so that one answer names everything that is wrong.

What comes out is normalised: durations in seconds, one spelling for each path, defaults filled in. The digest of that
is what "the same request" means.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import cast, get_args

from gonogo.events.redaction import known_secret, mask_secrets
from gonogo.events.request import (
    Authorize,
    Batch,
    Data,
    Monitor,
    Platform,
    Problem,
    Purpose,
    Recovery,
    Request,
    Resources,
    Run,
    ShortRun,
)
from gonogo.services.intake import reading_parts as parts
from gonogo.services.intake.reading_fields import Findings, Section
from gonogo.services.intake.reading_json import MAX_REQUEST_BYTES, WHOLE, parse_json
from gonogo.services.intake.reading_near import Fault, word_fault
from gonogo.services.intake.reading_secrets import decline_secrets, suspected_secrets
from gonogo.services.intake.reading_word import read_word
from gonogo.services.intake.rules_later import NOT_YET
from gonogo.services.intake.rules_text import (
    key_fault,
    launch_fault,
    name_fault,
    reference_fault,
    seconds,
    sentence_fault,
    variable_fault,
)
from gonogo.services.intake.rules_whole import decline_contradictions

__all__ = ["MAX_REQUEST_BYTES", "NOT_YET", "read_request", "read_word", "redacted", "warnings_of"]

PROBLEMS_MAX = 50
"""Nobody reads more at once, and the answer has to fit one message."""
AUDIT_CHARACTERS_MAX = 32 * 1024
"""Of a declined request, kept for audit."""
PLATFORMS: tuple[str, ...] = get_args(Platform)
CHANNELS = ("console", "file", "feishu", "slack", "dingtalk", "wecom", "email", "webhook")
SIMULATED = "scripted"
"""The fake platform: a word of the simulation, not offered to anybody."""

_ESCAPED = re.compile(r"\\u00([2-7][0-9a-fA-F])")
_NAMED_SECRET = re.compile(
    r"(?i)((?:token|(?<=[A-Za-z0-9_-])key|secret|password|passwd|passphrase|credentials?)[\"']?\s{0,4}[:=]\s{0,4}[\"']?)"
    r"(?!env:|file:|\[secret\])([^\s\"',}{\[\]]{8,})"
)


def read_request(
    raw: bytes, *, platforms: Collection[str], not_yet: Mapping[str, str] = NOT_YET
) -> Request | tuple[Problem, ...]:
    """Read the bytes of a request; every problem at once if there is any. Never raises on any bytes.

    `platforms` are those that this installation can launch on.
    """
    parsed = parse_json(raw)
    findings = Findings(not_yet)
    for each in parsed.problems:
        findings.add(each.path, each.problem, each.fix)
    if not isinstance(parsed.document, dict):
        if not parsed.problems:
            findings.add(
                WHOLE, "not an object", 'send one object, e.g. {"schema": "gonogo/v1", "name": "tiny-train", …}'
            )
        return _bounded(findings.problems)
    document = parsed.document
    decline_secrets(document, findings)
    request = _draft(Section(findings, document, "", Request), platforms)
    decline_contradictions(request, findings)
    return _bounded(findings.problems) if findings.problems else request


def warnings_of(request: Request) -> tuple[Problem, ...]:
    """Find what a reviewer should look at twice."""
    return suspected_secrets(request)


def redacted(raw: bytes) -> str:
    """Mask and bound the original text of a declined request, for audit. Never raises on any bytes."""
    text = raw[: 2 * MAX_REQUEST_BYTES].decode(errors="replace")
    text = _ESCAPED.sub(_letter, text).replace("\\/", "/")
    bare = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf"))
    # An invisible character inside a secret hides it from every pattern, but not from a person who copies it.
    visible = bare if known_secret(bare) else "".join(_visible(c) for c in text)
    masked = _NAMED_SECRET.sub(r"\1[secret]", mask_secrets(visible))
    if len(masked) <= AUDIT_CHARACTERS_MAX and len(raw) <= 2 * MAX_REQUEST_BYTES:
        return masked
    return f"{masked[:AUDIT_CHARACTERS_MAX]}… ({len(raw)} bytes in all)"


def _letter(match: re.Match[str]) -> str:
    letter = chr(int(match.group(1), 16))
    return match.group(0) if letter in '"\\\x7f' else letter


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf"):
        return character
    return f"\\u{ord(character):04x}"


def _draft(section: Section, platforms: Collection[str]) -> Request:
    """Read the request as far as it goes. It is a request only if no problem was noted on the way."""
    for name, example in _REQUIRED:
        section.require(name, example)
    section.choice("schema", ("gonogo/v1",))
    section.choice("guard", ("on", "off"))
    run = parts.run_of(section.section("run", Run))
    platform = _platform(section, platforms)
    watched = section.section("monitor", Monitor)
    return Request(
        name=section.text("name", name_fault) or "",
        purpose=cast("Purpose", section.choice("purpose", get_args(Purpose))),
        platform=cast("Platform", platform),
        run=run,
        target=section.text("target", name_fault),
        queue=section.text("queue", name_fault),
        code=parts.path_of(section, "code"),
        image=section.text("image", _image_fault),
        data=parts.data_of(section.section("data", Data)),
        output=parts.path_of(section, "output"),
        env=section.table("env", key_rule=variable_fault),
        secrets=section.table("secrets", key_rule=variable_fault, rule=reference_fault),
        resources=parts.resources_of(section.section("resources", Resources)),
        monitor=parts.monitor_of(watched, platform=platform, tao=run.tao is not None),
        notify=_channels(section),
        authorize=parts.authorize_of(section.section("authorize", Authorize)),
        key=section.text("key", key_fault),
        batch=parts.batch_of(section.section("batch", Batch)),
        recovery_of=parts.recovery_of(section.section("recovery_of", Recovery)),
        short_run=parts.short_run_of(section.section("short_run", ShortRun)),
        compare_with=section.text("compare_with", launch_fault),
        rerun=section.flag("rerun"),
        time_budget_s=section.number_text("time_budget", seconds),
        smoke_first=section.flag("smoke_first"),
        guard="off" if section.members.get("guard") == "off" else "on",
    )


_REQUIRED = (
    ("schema", "schema: gonogo/v1"),
    ("name", "name: tiny-train"),
    ("purpose", "purpose: train (or smoke)"),
    ("platform", "platform: local"),
    ("run", 'run: {command: ["python3", "train.py"]}'),
)


def _platform(section: Section, platforms: Collection[str]) -> str | None:
    words = tuple(word for word in PLATFORMS if word != SIMULATED or word in platforms)
    word = section.choice("platform", words)
    if word is None or word in platforms or word not in words:
        return word
    here, offered = section.at("platform"), ", ".join(sorted(set(platforms) - {SIMULATED})) or "none"
    later = section.findings.not_yet.get(f"platform.{word}")
    problem = f"not yet: {later}" if later else f"{word} is not set up here"
    section.findings.add(here, problem, f"take one of those that are: {offered}")
    return word


def _channels(section: Section) -> tuple[str, ...]:
    """Where people are told. Left out: on the console; an empty list: nowhere but in the log."""
    channels = section.texts("notify", lambda channel: _channel_fault(channel, section.findings.not_yet))
    if channels is None:
        return ("console",)
    if len(set(channels)) != len(channels):
        section.findings.add(section.at("notify"), "names a channel twice", "name each channel once")
    return channels


def _channel_fault(channel: str, not_yet: Mapping[str, str]) -> Fault:
    kind, separator, target = channel.partition(":")
    later = not_yet.get(f"notify.{kind}")
    if later is not None:
        return f"not yet: {later}", "use console or file for now"
    fault = word_fault(kind, CHANNELS)
    if fault is not None or not separator:
        return fault
    return name_fault(target) if kind != "file" else sentence_fault(target)


def _image_fault(image: str) -> Fault:
    if image and image.isascii() and image.isprintable() and not set(image) & frozenset(" \"'`$\\;|&<>*?"):
        return None
    return "not an image reference", "write model-default, or an exact reference, e.g. nvcr.io/nvidia/pytorch:25.01-py3"


def _bounded(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    if len(problems) <= PROBLEMS_MAX:
        return problems
    more = Problem(path=WHOLE, problem=f"{len(problems) - PROBLEMS_MAX} more problems", fix="mend these first")
    return (*problems[:PROBLEMS_MAX], more)
