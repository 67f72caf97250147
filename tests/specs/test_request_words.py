"""The later words of people are read as strictly as a request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.services.intake.reading import read_word
from gonogo.services.intake.words import WORDS, Approve, Resolve

LAUNCH = "a" * 26


def spoken(**fields: Any) -> bytes:
    return json.dumps({"launch": LAUNCH, **fields}).encode()


def test_a_good_word_is_read():
    word = read_word("approve", spoken(plan_digest="sha256:ab", basis="chat", said_at="2026-11-30T14:02:00Z"))
    assert isinstance(word, Approve)
    assert (word.launch, word.plan_digest, word.basis) == (LAUNCH, "sha256:ab", "chat")
    assert isinstance(read_word("resolve", spoken(absent=True, evidence="looked at the console")), Resolve)


@pytest.mark.parametrize(
    ("word", "raw", "paths"),
    [
        ("aprove", spoken(), {"subject"}),
        ("approve", spoken(), {"plan_digest"}),
        ("approve", b"{}", {"launch", "plan_digest"}),
        ("approve", b"[]", {"request"}),
        ("cancel", json.dumps({"launch": "ev.*.>"}).encode(), {"launch"}),
        ("cancel", spoken(reason=7, why="x"), {"reason", "why"}),
        ("cancel", spoken(said_at="yesterday"), {"said_at"}),
        ("cancel", spoken(reason="a\u202eb"), {"reason"}),
        ("cancel", spoken(reason="see ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2"), {"reason"}),
        ("resolve", spoken(absent="yes", evidence="e"), {"absent"}),
    ],
)
def test_a_bad_word_is_declined_with_all_its_problems(word: str, raw: bytes, paths: set[str]):
    found = read_word(word, raw)
    assert isinstance(found, tuple)
    assert {problem.path for problem in found} == paths


@given(
    st.sampled_from(sorted(WORDS)),
    st.binary(max_size=100) | st.dictionaries(st.text(max_size=8), st.none()).map(lambda d: json.dumps(d).encode()),
)
def test_no_bytes_make_a_word_raise(word: str, raw: bytes):
    assert isinstance(read_word(word, raw), tuple)
