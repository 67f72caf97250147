"""A request never carries a secret, and neither does the answer to it or the copy kept for audit."""

from __future__ import annotations

import json

import pytest

from gonogo.services.intake.reading import redacted, warnings_of
from tests.specs.request_samples import TOKEN, changed, read, request


def test_a_secret_is_never_repeated_in_the_answer():
    raw = changed(name=TOKEN, env={"T": TOKEN, TOKEN: "x"}, secrets={"A": TOKEN}, platform=TOKEN, **{TOKEN: TOKEN})
    assert TOKEN not in repr(read(raw))


def test_what_merely_looks_like_a_secret_is_a_warning():
    command = ["python3", "train.py", "--api-key", "Zx81kQp09LmVb73s"]
    read_one = request(changed(env={"WANDB_API_TOKEN": "0f3a9c8e7b6d5a4f", "SEED": "7"}, run={"command": command}))
    assert {warning.path for warning in warnings_of(read_one)} == {"env.WANDB_API_TOKEN", "run.command[3]"}
    assert "0f3a9c8e7b6d5a4f" not in repr(warnings_of(read_one))


def test_ordinary_values_and_references_raise_no_warning():
    read_one = request(
        changed(env={"HF_TOKEN_FILE": "/run/x", "SORT_KEY": "name", "SEED": "7"}, secrets={"T": "env:T"})
    )
    assert warnings_of(read_one) == ()


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps({"env": {"T": TOKEN}}).encode(),
        json.dumps({"env": {"T": TOKEN}}).replace("ghp", "\\u0067hp").encode(),
        json.dumps({"env": {"T": TOKEN}}).encode("utf-16"),
        ("{" + TOKEN[:10] + "\u200b" + TOKEN[10:]).encode(),
        b"\xff" + TOKEN.encode() + b"\xff",
        b" " * 40_000 + TOKEN.encode(),
    ],
    ids=["plain", "escaped", "utf-16", "zero-width", "broken", "behind the bound"],
)
def test_the_audit_copy_holds_no_secret(raw: bytes):
    kept = redacted(raw)
    assert TOKEN[12:] not in kept
    assert len(kept) < 40_000


def test_the_audit_copy_masks_what_only_its_name_tells():
    kept = redacted(b'{"key": "order-2041-abcdef", "env": {"WANDB_API_TOKEN": "0f3a9c8e7b6d5a4f"}, "name": "a"}')
    assert "0f3a9c8e7b6d5a4f" not in kept
    assert "order-2041-abcdef" in kept


def test_the_audit_copy_shows_hidden_characters():
    assert redacted('{"name": "a\u202eb"}'.encode()) == '{"name": "a\\u202eb"}'
