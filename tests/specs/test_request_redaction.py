"""No secret leaves a process: what is masked, what is left alone, and that masking is safe on any text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.events.redaction import MASK, known_secret, mask_secrets

# Written in two halves, so that no scanner of this repository takes them for real ones.
SECRETS = {
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "volcengine": "AKLT" + "ZjE2YjQ3NzQ0YzQ3NDk5ZWI0",
    "github": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "github-fine": "github_pat_" + "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789",
    "hugging-face": "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ",
    "nvidia": "nvapi-" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "slack": "xoxb-" + "1234567890-abcdefghij",
    "pem": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----",
    "pem-cut": "-----BEGIN OPENSSH " + "PRIVATE KEY-----\\nb3BlbnNzaC1rZXk",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJlMTIz",
}
IN_CONTEXT = {
    "feishu": ("https://open.feishu.cn/open-apis/bot/v2/hook/", "1f2e3d4c-aaaa-bbbb"),
    "slack-hook": ("https://hooks.slack.com/", "services/T0/B0/abcDEF123"),
    "userinfo": ("nats://", "worker:hunter2-long@"),
    "signature": ("https://b.s3.com/k?X-Amz-Signature=", "0011223344556677"),
    "oss": ("https://b.oss.com/k?Expires=1&Signature=", "abcDEF0123%3D"),
    "token": ("https://host/x?a=1&token=", "abcdef123456"),
    "access-key": ("https://host/x?access_key=", "abcdef123456"),
    "bearer": ("Authorization: Bearer ", "abc.def-123"),
    "bearer-json": ('"Authorization": "Bearer ', "abc.def-123"),
    "sk-line": ("SecretAccessKey: ", "WmpFMllqUTNOelEwWXpRM05EazVaV0k9"),
    "sk-json": ('{"secret_access_key": "', "wJalrXUtnFEMIbPxRfiCY"),
    "sk-env": ("export VOLC_SECRET_ACCESS_KEY=", "wJalrXUtnFEMIbPxRfiCY"),
    "password": ("--password=", "correct-horse"),
}
PLAIN = (
    "epoch 3/3  loss 0.2212  accuracy 91.00%",
    "--tokenizer=bert-base --max_token=5 --eos_token=</s>",
    '{"token": "abcdefghijklmnopqrstuvwxyz", "key": "order-2041"}',
    '{"HF_TOKEN": "env:HF_TOKEN", "AWS_SECRET_ACCESS_KEY": "env:AWS_SECRET_ACCESS_KEY"}',
    '{"AWS_SECRET_ACCESS_KEY": "file:/run/secrets/aws"}',
    "https://example.com:8443/path@2x.png?signature_version=2",
    "ssh://git@example.com/repo.git",
    "sha256:0123456789abcdef0123456789abcdef",
    "MODEL_SIGNATURE: serving_default",
    "half_precision hf_hub task-risk-desk-sk-learn",
    "/data/akia/xoxo",
    "训练完成",
)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_a_known_format_is_masked_wherever_it_stands(secret: str):
    for text in (secret, f'{{"env": {{"K": "{secret}"}}}}', f"cloning with {secret}"):
        assert known_secret(text)
        masked = mask_secrets(text)
        assert MASK in masked
        assert secret[8:] not in masked
        assert not known_secret(masked)


@pytest.mark.parametrize(("lead", "secret"), IN_CONTEXT.values(), ids=IN_CONTEXT.keys())
def test_a_value_behind_a_telling_lead_is_masked_and_the_lead_stays(lead: str, secret: str):
    masked = mask_secrets(f"{lead}{secret} and more")
    assert known_secret(lead + secret)
    assert secret.rstrip("@") not in masked
    assert masked.startswith(lead[:12])
    assert masked.endswith("and more")


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_is_left_alone(text: str):
    assert mask_secrets(text) == text
    assert not known_secret(text)


def test_two_secrets_in_one_line_are_both_masked():
    line = f"{SECRETS['github']} {SECRETS['aws']} {SECRETS['github']}"
    assert mask_secrets(line) == f"{MASK} {MASK} {MASK}"


_FRAGMENTS = st.sampled_from(
    [
        *SECRETS.values(),
        *(a + b for a, b in IN_CONTEXT.values()),
        *(a for a, _ in IN_CONTEXT.values()),
        MASK,
        "=",
        "@",
        " ",
    ]
)


@given(st.lists(st.one_of(st.text(max_size=20), _FRAGMENTS), max_size=8).map("".join))
def test_masking_never_raises_is_idempotent_and_leaves_nothing_known(text: str):
    masked = mask_secrets(text)
    assert mask_secrets(masked) == masked
    assert not known_secret(masked)


@pytest.mark.parametrize(
    "unit", ["a", "://", "token=", "eyJ.", "-----BEGIN PRIVATE KEY-----", "password: ", "ghp_", "x:", " "]
)
def test_a_megabyte_of_anything_is_masked_in_a_moment(unit: str):
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    mask_secrets(text)
    assert time.process_time() - started < 3.0
