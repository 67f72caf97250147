"""Whatever arrives, reading it ends in a request or in problems."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonogo.events.request import Request, request_digest
from gonogo.services.intake.reading import redacted
from tests.specs.request_samples import GOOD, read


@given(st.binary(max_size=300))
def test_no_bytes_make_reading_or_redacting_raise(raw: bytes):
    assert read(raw)
    assert isinstance(redacted(raw), str)


_NAMES = st.sampled_from(
    [
        "schema",
        "name",
        "purpose",
        "platform",
        "run",
        "command",
        "copy",
        "tao",
        "config",
        "env",
        "secrets",
        "resources",
        "nodes",
        "time_limit",
        "monitor",
        "poll",
        "status_every",
        "notify",
        "authorize",
        "may",
        "basis",
        "data",
        "roots",
        "batch",
        "of",
        "short_run",
        "recovery_of",
        "guard",
        "set",
        "spec",
        "accepted",
        "output",
        "code",
        "image",
        "key",
    ]
)
_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(["1s", "/a", "on"])
)
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES | st.text(max_size=5), inner, max_size=6),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(_NAMES, _JSON, max_size=12))
def test_no_json_makes_reading_raise_and_what_is_read_can_be_stored(document: dict[str, Any]):
    for fields in (document, GOOD | document):
        found = read(json.dumps(fields).encode(), later=True)
        if isinstance(found, Request):
            assert msgspec.json.decode(msgspec.json.encode(found), type=Request) == found
            assert request_digest(found)
        else:
            assert found
            assert all(problem.path and problem.fix for problem in found)
