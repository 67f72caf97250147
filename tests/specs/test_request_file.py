"""A request file means one thing: YAML 1.2, JSON and TOML alike, with its paths relative to where it lies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.events.request import Request
from gonogo.services.intake.reading import read_request
from gonogo.services.intake.request_file import RequestFileError, apply_overrides, load_request_file

FOLDER = Path("/home/me/project")
EXAMPLES = Path(__file__).parents[2] / "examples"


def load(text: str, suffix: str = ".yaml") -> dict[str, Any]:
    return load_request_file(text, suffix=suffix, folder=FOLDER)


def declined(text: str, suffix: str = ".yaml") -> dict[str, str]:
    with pytest.raises(RequestFileError) as caught:
        load(text, suffix)
    assert all(problem.fix for problem in caught.value.problems)
    return {problem.path: problem.problem for problem in caught.value.problems}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2e-4", 2e-4),
        ("1E3", 1000.0),
        (".5", 0.5),
        ("12", 12),
        ("012", 12),
        ("0x1f", 31),
        ("0o17", 15),
        ("-3", -3),
        ("true", True),
        ("null", None),
        ("~", None),
        ("off", "off"),
        ("on", "on"),
        ("yes", "yes"),
        ("no", "no"),
        ("4:00:00", "4:00:00"),
        ("1_000", "1_000"),
        ("2026-11-30", "2026-11-30"),
        ("10m", "10m"),
        ('"7"', "7"),
        ("=", "="),
    ],
)
def test_yaml_values_follow_version_1_2(written: str, meant: object):
    value = load(f"a: {written}")["a"]
    assert value == meant
    assert type(value) is type(meant)


def test_the_three_formats_carry_the_same_shape():
    yaml = load("name: a\nresources: {nodes: 1, time_limit: 10m}\nnotify: [console]\noutput: runs/x\n")
    toml = load(
        'name = "a"\nnotify = ["console"]\noutput = "runs/x"\n[resources]\nnodes = 1\ntime_limit = "10m"\n', ".toml"
    )
    text = json.dumps(
        {"name": "a", "resources": {"nodes": 1, "time_limit": "10m"}, "notify": ["console"], "output": "runs/x"}
    )
    assert yaml == toml == load(text, ".json")


@pytest.mark.parametrize(
    ("text", "suffix", "path"),
    [
        ("a: 1\nb: 2\na: 3\n", ".yaml", "a"),
        ("run:\n  command: [a]\n  command: [b]\n", ".yaml", "run.command"),
        ("a: [1\n", ".yaml", "line 2"),
        ("a: 1\n\tb: 2\n", ".yaml", "line 2"),
        ("a: 1\n---\nb: 2\n", ".yaml", "line 2"),
        ("a: *nothing\n", ".yaml", "line 1"),
        ("a: !!python/object:os.system x\n", ".yaml", "a"),
        ("a: !secret x\n", ".yaml", "a"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", ".yaml", "c"),
        ("? [a]\n: 1\n", ".yaml", "request"),
        ("a: .nan\n", ".yaml", "a"),
        ("a: -.inf\n", ".yaml", "a"),
        ("a: 1e999\n", ".yaml", "a"),
        ("a: \x00\n", ".yaml", "request"),
        ("", ".yaml", "request"),
        ("- a\n", ".yaml", "request"),
        ("just words\n", ".yaml", "request"),
        ("a: " + "[" * 40 + "]" * 40, ".yaml", "request"),
        ("a: " + "[" * 5000, ".yaml", "request"),
        ("a: " + "x" * 200_000, ".yaml", "request"),
        ('{"a": 1, "a": 2}', ".json", "a"),
        ("{", ".json", "request"),
        ('a = 1\na = "s3cret"\n', ".toml", "line 2"),
        ("a = \n", ".toml", "line 1"),
        ("a: 1", ".ini", "request"),
    ],
)
def test_a_file_that_means_nothing_or_two_things_is_declined(text: str, suffix: str, path: str):
    found = declined(text, suffix)
    assert path in found
    assert "s3cret" not in str(found)


def test_a_doubled_key_names_both_lines():
    assert declined("a: 1\nb: 2\na: 3\n")["a"] == "written more than once, in lines 1 and 3"


def test_an_alias_is_followed_but_a_bomb_is_not():
    assert load("a: &x [1, 2]\nb: *x\n")["b"] == [1, 2]
    bomb = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)
    )
    assert "more than" in declined(bomb)["request"]
    assert "deeper" in declined("a: &a [*a]\n")["request"]


def test_relative_paths_are_resolved_from_the_file_and_others_are_left():
    text = """
code: .
output: runs/x
run: {config: {file: conf/task.yaml}}
data: {roots: {train: data/train, eval: "s3://bucket/eval"}, paths: {a.b: /abs}}
secrets: {A: "file:keys/a", B: "env:B"}
"""
    document = load(text)
    assert document["code"] == "/home/me/project"
    assert document["output"] == "/home/me/project/runs/x"
    assert document["run"]["config"]["file"] == "/home/me/project/conf/task.yaml"
    assert document["data"]["roots"] == {"train": "/home/me/project/data/train", "eval": "s3://bucket/eval"}
    assert document["data"]["paths"] == {"a.b": "/abs"}
    assert document["secrets"] == {"A": "file:/home/me/project/keys/a", "B": "env:B"}


def test_a_home_is_never_guessed():
    assert load("output: ~/runs\n")["output"] == "~/runs"


def test_code_left_out_of_a_command_is_the_folder_of_the_file():
    assert load("run: {command: [a]}\n")["code"] == "/home/me/project"
    assert "code" not in load("run: {tao: {model: m}}\n")


def test_overrides_set_fields_by_the_rules_of_yaml_and_leave_the_document_alone():
    document = {"resources": {"nodes": 1}, "run": {"copy": {"source": "t-1"}}}
    overrides = ["resources.nodes=2", "name=new", "run.copy.set.trainer.max_epochs=40", "env.A=", "notify=[console]"]
    changed = apply_overrides(document, [*overrides, "output=runs/y"], folder=FOLDER)
    assert changed["resources"] == {"nodes": 2}
    assert changed["run"] == {"copy": {"source": "t-1", "set": {"trainer.max_epochs": 40}}}
    assert changed["env"] == {"A": ""}
    assert changed["notify"] == ["console"]
    assert changed["output"] == "/home/me/project/runs/y"
    assert document == {"resources": {"nodes": 1}, "run": {"copy": {"source": "t-1"}}}


@pytest.mark.parametrize("override", ["name", "=x", "a..b=1", "name.x=1", "name=[", ""])
def test_an_override_that_sets_nothing_is_declined(override: str):
    with pytest.raises(RequestFileError) as caught:
        apply_overrides({"name": "a"}, [override])
    assert caught.value.problems[0].path.startswith("--set")


@given(st.text(max_size=120), st.sampled_from([".yaml", ".json", ".toml"]))
def test_no_text_raises_anything_but_its_own_error(text: str, suffix: str):
    try:
        document = load(text, suffix)
    except RequestFileError:
        return
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize(
    "name", ["local/train.yaml", "docker/train.yaml", "slurm/tao-train.yaml", "volcengine/copy.yaml"]
)
def test_every_example_is_a_request_once_its_platform_is_there(name: str):
    path = EXAMPLES / name
    document = load_request_file(path.read_text(encoding="utf-8"), suffix=path.suffix, folder=path.parent)
    platforms = ("local", "local-docker", "slurm", "volcengine")
    found = read_request(json.dumps(document).encode(), platforms=platforms, not_yet={})
    assert isinstance(found, Request), found


def test_the_local_example_is_a_request_of_this_version_and_really_trains(tmp_path: Path):
    path = EXAMPLES / "local" / "train.yaml"
    document = load_request_file(path.read_text(encoding="utf-8"), suffix=".yaml", folder=path.parent)
    found = read_request(json.dumps(document).encode(), platforms=("local",))
    assert isinstance(found, Request), found
    assert found.run.command is not None
    assert found.code is not None
    environment = {**os.environ, "GONOGO_OUTPUT": str(tmp_path / "out"), **found.env}
    done = subprocess.run(
        [sys.executable, *found.run.command[1:]],
        cwd=found.code,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    metrics = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()]
    assert [each["epoch"] for each in metrics] == [1, 2, 3]
    assert metrics[-1]["loss"] < metrics[0]["loss"]
    assert "epoch 3/3" in done.stdout
