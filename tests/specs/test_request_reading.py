"""A published request is read strictly, and one answer names everything that is wrong with it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gonogo.events.request import Request, request_digest
from gonogo.services.intake.reading import NOT_YET, read_request
from tests.specs.request_samples import LAUNCH, changed, problems, request


def test_a_good_request_is_read_with_its_defaults_filled_in():
    read_one = request(changed())
    assert read_one.run.command == ("python3", "train.py")
    assert (read_one.resources.nodes, read_one.resources.gpus_per_node) == (1, 0)
    assert read_one.resources.time_limit_s == 24 * 3600
    assert (read_one.monitor.poll_s, read_one.monitor.status_every_s) == (1.0, None)
    assert read_one.notify == ("console",)
    assert read_one.guard == "on"


def test_what_is_read_survives_being_stored():
    read_one = request(changed(resources={"time_limit": "10m"}, authorize={"may": ["submit"], "basis": "chat"}))
    assert msgspec.json.decode(msgspec.json.encode(read_one), type=Request) == read_one


@pytest.mark.parametrize(
    ("written", "seconds"), [("30s", 30), ("10m", 600), ("4h", 14400), ("72h", 259200), ("1d", 86400), ("1.5h", 5400)]
)
def test_durations_become_seconds(written: str, seconds: float):
    assert request(changed(resources={"time_limit": written})).resources.time_limit_s == seconds


def test_two_spellings_of_a_path_are_one_request():
    one, other = request(changed(code="/home/me/project")), request(changed(code="//home/./me/project/"))
    assert request_digest(one) == request_digest(other)


def test_the_digest_leaves_the_key_out_and_nothing_else():
    plain = request(changed())
    assert request_digest(plain) == request_digest(request(changed(key="order-1")))
    assert request_digest(plain) != request_digest(request(changed(env={"SEED": "8"})))
    assert request_digest(plain).startswith("sha256:")


@pytest.mark.parametrize("name", ["训练-左臂-v2", "tiny_train.7", "学習", "모델-1", "Müller", "проект-7"])
def test_names_of_one_script_or_of_chinese_and_latin_are_legal(name: str):
    assert request(changed(name=name)).name == name


LATER: list[tuple[str, dict[str, Any], set[str]]] = [
    ("slurm", {"platform": "slurm", "queue": "q"}, {"platform"}),
    ("docker", {"platform": "local-docker"}, {"platform"}),
    ("kubernetes", {"platform": "kubernetes"}, {"platform"}),
    ("brev", {"platform": "brev"}, {"platform"}),
    ("copy", {"run": {"copy": {"source": "t-1"}}}, {"run.copy"}),
    ("config", {"run": {"config": {"file": "/x"}}}, {"run.config"}),
    ("tao", {"run": {"tao": {"model": "m", "action": "train"}}}, {"run.tao"}),
    ("image", {"image": "python:3.11"}, {"image"}),
    ("data", {"data": {"roots": {"train": "/d"}}}, {"data"}),
    ("batch", {"batch": {"id": "s", "of": 2}}, {"batch"}),
    ("short run", {"short_run": {"launch": LAUNCH}}, {"short_run"}),
    ("comparison", {"compare_with": LAUNCH}, {"compare_with"}),
    ("rerun", {"rerun": True}, {"rerun"}),
    ("budget", {"time_budget": "1h"}, {"time_budget"}),
    ("smoke first", {"smoke_first": True}, {"smoke_first"}),
    ("reports", {"monitor": {"status_every": "5m"}}, {"monitor.status_every"}),
    ("feishu", {"notify": ["console", "feishu:robot-team"]}, {"notify[1]"}),
    ("slack", {"notify": ["slack:ops"]}, {"notify[0]"}),
    ("yielding", {"authorize": {"may": ["submit", "yield-placeholders"], "basis": "x"}}, {"authorize.may[1]"}),
]


@pytest.mark.parametrize(("fields", "paths"), [case[1:] for case in LATER], ids=[case[0] for case in LATER])
def test_what_later_versions_bring_is_declined_by_name(fields: dict[str, Any], paths: set[str]):
    found = problems(changed(**fields))
    assert set(found) == paths
    assert all(problem.problem.startswith("not yet: ") for problem in found.values())


def test_reports_that_never_come_are_no_thing_of_later():
    assert request(changed(monitor={"status_every": "never"})).monitor.status_every_s is None


def test_the_simulated_platform_is_read_only_where_it_is_installed():
    found = read_request(changed(platform="scripted"), platforms=("scripted",))
    assert isinstance(found, Request)
    assert "scripted" not in problems(changed(platform="scripted"))["platform"].fix


def test_later_fields_are_read_as_soon_as_they_are_let_in():
    copy = {"source": "t-1", "task_yaml": "configs/a.yaml", "set": {"trainer.max_epochs": 40}, "keep": ["a.b"]}
    fields = {"platform": "volcengine", "queue": "robot-a", "run": {"copy": copy}, "rerun": True}
    accepted = {"accepted": {"by": "owner", "evidence": "report"}, "roots": {"train": "s3://bucket/train"}}
    read_one = request(changed(**fields, data=accepted, batch={"id": "s-1", "of": 3, "close_after": "2h"}), later=True)
    assert read_one.run.copy is not None
    assert read_one.run.copy.set == {"trainer.max_epochs": 40}
    assert read_one.batch is not None
    assert read_one.batch.close_after_s == 7200
    assert read_one.data is not None
    assert read_one.data.roots == {"train": "s3://bucket/train"}


def test_a_tao_action_reports_every_five_minutes_unless_told_otherwise():
    run = {"tao": {"model": "rtdetr", "action": "train", "spec": {"train.num_epochs": 12}}}
    fields = {"platform": "slurm", "queue": "platform-default", "run": run}
    assert request(changed(**fields), later=True).monitor.status_every_s == 300
    assert request(changed(**fields, monitor={"status_every": "never"}), later=True).monitor.status_every_s is None


def test_every_thing_of_later_can_be_let_in_alone():
    for path in NOT_YET:
        rest = {name: sentence for name, sentence in NOT_YET.items() if name != path}
        assert isinstance(read_request(changed(), platforms=("local",), not_yet=rest), Request)
