"""Masks secrets in any text that leaves a process: events, log lines, errors, notices.

Only formats that can hardly be anything else are masked without context; everything else needs a telling name in front.
"""

from __future__ import annotations

import re

MASK = "[secret]"

_FORMATS = re.compile(
    "|".join(
        (
            r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
            r"\bAKLT[A-Za-z0-9_-]{20,}={0,2}",
            r"\bgh[pousr]_[A-Za-z0-9]{30,}\b",
            r"\bgithub_pat_[A-Za-z0-9_]{40,}\b",
            r"\bhf_[A-Za-z0-9]{20,}\b",
            r"\bnvapi-[A-Za-z0-9_-]{20,}",
            r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
            r"\bsk-[A-Za-z0-9_-]{20,}",
            r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.|\n|\\n)*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            r"https://open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[A-Za-z0-9-]+",
            r"https://hooks\.slack\.com/services/[A-Za-z0-9/]+",
        )
    )
)
_NAMED = re.compile(
    r"(?i)\b(authorization\s*[:=]\s*(?:bearer|basic)\s+|"
    r"(?:x-amz-signature|x-tos-signature|signature|access_token|refresh_token|secretaccesskey|secret_access_key|"
    r"secret_key|sessiontoken|session_token|api_key|apikey|password|passwd)[\"']?\s*[:=]\s*[\"']?)"
    r"(?!\[secret\])([^\s\"'&,;}]{6,})"
)
_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s/@:]{1,200}:)(?!\[secret\])([^\s/@]{1,200})@")


def known_secret(text: str) -> bool:
    """Whether the text holds something in a known secret format."""
    return bool(_FORMATS.search(text) or _NAMED.search(text) or _USERINFO.search(text))


def mask_secrets(text: str) -> str:
    """The text with every known secret replaced. Idempotent; never raises."""
    masked = _FORMATS.sub(MASK, text)
    masked = _NAMED.sub(rf"\1{MASK}", masked)
    return _USERINFO.sub(rf"\1{MASK}@", masked)
