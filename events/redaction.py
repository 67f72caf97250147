"""Masks secrets in any text that leaves a process: events, log lines, errors, notices.

Only formats that can hardly be anything else are masked without context; everything else needs a telling name in front.
Every pattern has hints, plain substrings without one of which it cannot match, so that a text without secrets costs a few
substring searches and nothing more: this stands in the way of every event. No pattern can take more than linear time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MASK = "[secret]"

SHORTEST = 8
"""Characters: nothing shorter is in any of the formats."""
SHORT = 160
"""Names, paths and words up to this long come again and again, so those found clean are remembered; secrets never are."""
CLEAN_MAX = 8192
_CLEAN: set[str] = set()
PASSES_MAX = 8
"""Masking one secret may uncover another beside it. Nothing seen so far needed more than two."""

_SENDER = r"(?<![A-Za-z0-9])"
_NAMES = (
    r"secret_?access_?key|access_?key_?secret|access_?key_?id|secret_?key|session_?token|security_?token|"
    r"access_?token|refresh_?token|auth_?token|api_?key|client_?secret|password|passwd|passphrase"
)


class _Format(NamedTuple):
    """One kind of secret. What group 1 matches, where there is one, stays readable.

    `hints` are looked for in the lower-case text without its dashes and underscores.
    """

    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _bare(hint: str, pattern: str) -> _Format:
    return _Format((_squashed(hint),), re.compile(_SENDER + f"(){pattern}", re.ASCII))


def _named(hint: str, pattern: str) -> _Format:
    return _Format((_squashed(hint),), re.compile(pattern, re.ASCII | re.IGNORECASE))


def _squashed(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "")


def _signed() -> _Format:
    """Match a value behind a telling name: `SecretAccessKey: …`, `"password": "…"`, `--api-key=…`."""
    lead = rf"((?:{_NAMES.replace('_?', '[_-]?')})\\?[\"']?\s{{0,4}}[:=]\s{{0,4}}\\?[\"']?)"
    pattern = lead + r"(?!\[secret\]|env:|file:|\$|\{)[^\s\"'&,;<>\\}\])]{6,}"
    return _Format(tuple(_NAMES.replace("_?", "").split("|")), re.compile(pattern, re.ASCII | re.IGNORECASE))


_FORMATS: tuple[_Format, ...] = (
    _bare("akia", r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _bare("asia", r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _bare("aklt", r"AKLT[A-Za-z0-9+/_-]{16,}={0,2}"),
    _bare("aktp", r"AKTP[A-Za-z0-9+/_-]{16,}={0,2}"),
    _Format(("ghp", "gho", "ghu", "ghs", "ghr"), re.compile(_SENDER + r"()gh[pousr]_[A-Za-z0-9]{20,}", re.ASCII)),
    _bare("github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    _bare("glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    _bare("hf_", r"hf_[A-Za-z0-9]{20,}"),
    _bare("nvapi-", r"nvapi-[A-Za-z0-9_-]{20,}"),
    _bare("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _bare("xapp-", r"xapp-[A-Za-z0-9-]{10,}"),
    _bare("sk-", r"sk-(?:(?:proj|ant|svcacct)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})"),
    _bare("aiza", r"AIza[A-Za-z0-9_-]{35}"),
    _bare("eyj", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    _Format(
        ("private key",),
        re.compile(
            r"()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----.*?"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----|\Z)",
            re.DOTALL,
        ),
    ),
    _named("/bot/v", r"(https?://open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v\d/hook/)[A-Za-z0-9_-]+"),
    _named("hooks.slack", r"(https?://hooks\.slack(?:-gov)?\.com/)(?:services|workflows|triggers)/[A-Za-z0-9/_-]+"),
    _named("/webhook", r"(qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=)(?!\[secret\])[^\s\"'&\\]+"),
    _named("/webhook", r"(discord(?:app)?\.com/api/webhooks/)(?!\[secret\])[A-Za-z0-9/_-]+"),
    _named("://", r"(://)(?!\[secret\]@)[^\s/@:\"'<>\\]{0,200}:[^\s/@\"'<>\\]{1,400}@"),
    _named(
        "authorization",
        r"(authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:bearer|basic|token|apikey)\s{1,4})(?!\[secret\])[^\s\"',;\\]+",
    ),
    _named("bearer", r"(\bbearer\s{1,4})(?!\[secret\])[A-Za-z0-9._~+/-]{16,}={0,2}"),
    _named(
        "=",
        r"((?<![A-Za-z0-9_])(?:x-amz-signature|x-amz-security-token|x-amz-credential|x-tos-signature|"
        r"x-tos-security-token|x-tos-credential|signature)=)(?!\[secret\])[^\s\"'&,;<>\\}\])]{6,}",
    ),
    _named("token=", r"((?<![A-Za-z0-9_.])token=)(?!\[secret\]|env:|file:|\$|\{)[^\s\"'&,;<>\\}\])]{8,}"),
    _named("access_key=", r"((?<![A-Za-z0-9])access_key=)(?!\[secret\]|env:|file:|\$|\{)[^\s\"'&,;<>\\}\])]{6,}"),
    _signed(),
)


def known_secret(text: str) -> bool:
    """Whether the text holds something in a known secret format."""
    if len(text) < SHORTEST or text in _CLEAN:
        return False
    found = _known_secret(text)
    if not found and len(text) <= SHORT:
        if len(_CLEAN) >= CLEAN_MAX:
            _CLEAN.clear()
        _CLEAN.add(text)
    return found


def _known_secret(text: str) -> bool:
    squashed = _squashed(text)
    return any(_hinted(each, squashed) and each.pattern.search(text) for each in _FORMATS)


def _hinted(each: _Format, squashed: str) -> bool:
    return any(hint in squashed for hint in each.hints)


def mask_secrets(text: str) -> str:
    """Replace every known secret. Idempotent; never raises."""
    if not known_secret(text):
        return text
    for _ in range(PASSES_MAX):
        masked = _masked_once(text)
        if masked == text:
            break
        text = masked
    return text


def _masked_once(text: str) -> str:
    squashed = _squashed(text)
    for each in _FORMATS:
        if _hinted(each, squashed):
            text = each.pattern.sub(_with_lead_kept, text)
    return text


def _with_lead_kept(match: re.Match[str]) -> str:
    tail = "@" if match.group(0).endswith("@") else ""
    return f"{match.group(1)}{MASK}{tail}"
