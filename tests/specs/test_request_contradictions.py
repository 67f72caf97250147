"""Fields that are each right and cannot all be meant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.specs.request_samples import LAUNCH, changed, problems

CONTRADICTIONS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("two runs", {"run": {"command": ["a"], "config": {"file": "/x"}}}, {"run"}),
    ("no queue", {"platform": "slurm"}, {"queue"}),
    ("unaccepted data", {"platform": "volcengine", "queue": "q"}, {"data.accepted"}),
    ("detached reports", {"monitor": {"detach": True, "status_every": "5m"}}, {"monitor.status_every"}),
    ("hasty reports", {"monitor": {"poll": "60s", "status_every": "5s"}}, {"monitor.status_every"}),
    ("smoke of a smoke", {"purpose": "smoke", "smoke_first": True}, {"smoke_first"}),
    ("short run of a smoke", {"purpose": "smoke", "short_run": {"launch": LAUNCH}}, {"short_run"}),
    ("two short runs", {"short_run": {"launch": LAUNCH, "evidence": "e"}}, {"short_run"}),
    ("rerun of a command", {"rerun": True}, {"rerun"}),
    ("yield for nothing", {"authorize": {"may": ["yield-placeholders"], "basis": "b"}}, {"authorize.may"}),
    ("bad image", {"image": "a b; c"}, {"image"}),
    ("bad place", {"data": {"roots": {"train": "http://x/y"}}}, {"data.roots.train"}),
    ("bad batch", {"batch": {"id": "a.b", "of": 0}}, {"batch.id", "batch.of"}),
    ("copy without source", {"run": {"copy": {}}}, {"run.copy.source"}),
    ("nested spec", {"run": {"tao": {"model": "m", "action": "a", "spec": {"x": {}}}}}, {"run.tao.spec.x"}),
    ("task outside the code", {"run": {"copy": {"source": "t-1", "task_yaml": "../x"}}}, {"run.copy.task_yaml"}),
]


@pytest.mark.parametrize(("fields", "paths"), [case[1:] for case in CONTRADICTIONS], ids=[c[0] for c in CONTRADICTIONS])
def test_what_cannot_all_be_meant_is_declined(fields: dict[str, Any], paths: set[str]):
    assert set(problems(changed(**fields), later=True)) == paths
