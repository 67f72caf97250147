"""One good request, and how the specs change it and read it."""

from __future__ import annotations

import json
from typing import Any

from gonogo.events.request import Problem, Request
from gonogo.services.intake.reading import read_request

EVERYWHERE = ("local", "docker", "local-docker", "slurm", "kubernetes", "brev", "volcengine")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LAUNCH = "a" * 26

GOOD: dict[str, Any] = {
    "schema": "gonogo/v1",
    "name": "tiny-train",
    "purpose": "train",
    "platform": "local",
    "code": "/home/me/project",
    "run": {"command": ["python3", "train.py"]},
    "output": "/home/me/project/runs/tiny",
}


def changed(**fields: Any) -> bytes:
    document = {key: value for key, value in (GOOD | fields).items() if value is not ...}
    return json.dumps(document).encode()


def read(raw: bytes, *, later: bool = False) -> Request | tuple[Problem, ...]:
    return read_request(raw, platforms=EVERYWHERE, not_yet={}) if later else read_request(raw, platforms=("local",))


def problems(raw: bytes, *, later: bool = False) -> dict[str, Problem]:
    found = read(raw, later=later)
    assert isinstance(found, tuple), f"read without a problem: {found}"
    return {problem.path: problem for problem in found}


def request(raw: bytes, *, later: bool = False) -> Request:
    found = read(raw, later=later)
    assert isinstance(found, Request), found
    return found
