"""Bad input gets one answer that names everything that is wrong, where, and what to write instead."""

from __future__ import annotations

import time
from typing import Any

import pytest

from gonogo.services.intake.reading import MAX_REQUEST_BYTES, PROBLEMS_MAX, redacted
from tests.specs.request_samples import LAUNCH, TOKEN, changed, problems, read

BAD: list[tuple[str, dict[str, Any], set[str]]] = [
    ("missing name", {"name": ...}, {"name"}),
    ("missing schema", {"schema": ...}, {"schema"}),
    ("other schema", {"schema": "gonogo/v2"}, {"schema"}),
    ("missing purpose", {"purpose": ...}, {"purpose"}),
    ("missing platform", {"platform": ...}, {"platform"}),
    ("missing run", {"run": ...}, {"run"}),
    ("missing output of a training", {"output": ...}, {"output"}),
    ("missing code of a command", {"code": ...}, {"code"}),
    ("null", {"name": None}, {"name"}),
    ("name is a number", {"name": 7}, {"name"}),
    ("name is a list", {"name": ["a"]}, {"name"}),
    ("empty name", {"name": ""}, {"name"}),
    ("long name", {"name": "a" * 65}, {"name"}),
    ("name with a control character", {"name": "a\x07b"}, {"name"}),
    ("name with a line break", {"name": "a\nb"}, {"name"}),
    ("name turned around", {"name": "abc\u202edef"}, {"name"}),
    ("name with a zero-width space", {"name": "abc\u200bdef"}, {"name"}),
    ("name with a byte order mark", {"name": "\ufeffabc"}, {"name"}),
    ("name in two scripts", {"name": "tr\u0430in"}, {"name"}),
    ("name in Greek and Latin", {"name": "m\u03bfdel"}, {"name"}),
    ("name that only looks Latin", {"name": "\u0441\u043e\u0440\u0443"}, {"name"}),
    ("full-width name", {"name": "\uff54rain"}, {"name"}),
    ("name with a command in it", {"name": "a;rm"}, {"name"}),
    ("name with a substitution", {"name": "$(id)"}, {"name"}),
    ("name with a back-tick", {"name": "`id`"}, {"name"}),
    ("name with a pipe", {"name": "a|b"}, {"name"}),
    ("name with a slash", {"name": "../x"}, {"name"}),
    ("name with a space", {"name": "a b"}, {"name"}),
    ("name like an option", {"name": "--help"}, {"name"}),
    ("hidden name", {"name": ".hidden"}, {"name"}),
    ("name of placeholders", {"name": "xx"}, {"name"}),
    ("unknown purpose", {"purpose": "training"}, {"purpose"}),
    ("unknown platform", {"platform": "lokal"}, {"platform"}),
    ("simulated platform", {"platform": "scripted"}, {"platform"}),
    ("run is a text", {"run": "python3 train.py"}, {"run"}),
    ("run says nothing", {"run": {}}, {"run"}),
    ("command is a text", {"run": {"command": "python3 train.py"}}, {"run.command"}),
    ("command is empty", {"run": {"command": []}}, {"run.command"}),
    ("command has no program", {"run": {"command": [" ", "x"]}}, {"run.command"}),
    ("command holds a number", {"run": {"command": ["a", 3]}}, {"run.command[1]"}),
    ("command holds NUL", {"run": {"command": ["a", "b\0c"]}}, {"run.command[1]"}),
    ("command with a huge word", {"run": {"command": ["a", "b" * 40_000]}}, {"run.command[1]"}),
    ("relative code", {"code": "project"}, {"code"}),
    ("home code", {"code": "~/project"}, {"code"}),
    ("code goes up", {"code": "/home/me/../root"}, {"code"}),
    ("code with NUL", {"code": "/home/\0"}, {"code"}),
    ("code with a line break", {"code": "/home/a\nb"}, {"code"}),
    ("code with a variable", {"code": "/home/$USER/x"}, {"code"}),
    ("root as output", {"output": "/"}, {"output"}),
    ("long output", {"output": "/" + "a" * 300}, {"output"}),
    ("output is the code", {"output": "/home/me/project"}, {"output"}),
    ("output holds the code", {"output": "/home/me"}, {"output"}),
    ("env is a list", {"env": ["SEED=7"]}, {"env"}),
    ("env value is a number", {"env": {"SEED": 7}}, {"env.SEED"}),
    ("env value is true", {"env": {"FLAG": True}}, {"env.FLAG"}),
    ("env name with a dash", {"env": {"MY-SEED": "7"}}, {"env.MY-SEED"}),
    ("env name of gonogo", {"env": {"GONOGO_OUTPUT": "/x"}}, {"env.GONOGO_OUTPUT"}),
    ("env value with NUL", {"env": {"A": "\0"}}, {"env.A"}),
    ("secret without reference", {"secrets": {"TOKEN": "abc"}}, {"secrets.TOKEN"}),
    ("secret from a relative file", {"secrets": {"TOKEN": "file:token"}}, {"secrets.TOKEN"}),
    ("secret from an odd variable", {"secrets": {"TOKEN": "env:A B"}}, {"secrets.TOKEN"}),
    ("secret in env too", {"env": {"T": "x"}, "secrets": {"T": "env:T"}}, {"secrets.T"}),
    ("known secret in env", {"env": {"T": TOKEN}}, {"env.T"}),
    ("known secret in the command", {"run": {"command": ["a", f"--x={TOKEN}"]}}, {"run.command[1]"}),
    ("known secret in a sentence", {"authorize": {"may": ["submit"], "basis": TOKEN}}, {"authorize.basis"}),
    ("known secret by its name", {"env": {"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI"}}, {"env.AWS_SECRET_ACCESS_KEY"}),
    ("a bool for nodes", {"resources": {"nodes": True}}, {"resources.nodes"}),
    ("a fraction of a node", {"resources": {"nodes": 1.5}}, {"resources.nodes"}),
    ("no node", {"resources": {"nodes": 0}}, {"resources.nodes"}),
    ("negative GPUs", {"resources": {"gpus_per_node": -1}}, {"resources.gpus_per_node"}),
    ("absurd GPUs", {"resources": {"gpus_per_node": 10**15}}, {"resources.gpus_per_node"}),
    ("many nodes on one machine", {"resources": {"nodes": 2}}, {"resources.nodes"}),
    ("limit without unit", {"resources": {"time_limit": 600}}, {"resources.time_limit"}),
    ("limit in clock form", {"resources": {"time_limit": "4:00:00"}}, {"resources.time_limit"}),
    ("limit of nothing", {"resources": {"time_limit": "0s"}}, {"resources.time_limit"}),
    ("limit of ages", {"resources": {"time_limit": "9999d"}}, {"resources.time_limit"}),
    ("limit never", {"resources": {"time_limit": "never"}}, {"resources.time_limit"}),
    ("negative limit", {"resources": {"time_limit": "-4h"}}, {"resources.time_limit"}),
    ("poll never", {"monitor": {"poll": "never"}}, {"monitor.poll"}),
    ("poll without pause", {"monitor": {"poll": "1ms"}}, {"monitor.poll"}),
    ("detach is a word", {"monitor": {"detach": "yes"}}, {"monitor.detach"}),
    ("unknown channel", {"notify": ["konsole"]}, {"notify[0]"}),
    ("a channel twice", {"notify": ["console", "console"]}, {"notify"}),
    ("notify is a text", {"notify": "console"}, {"notify"}),
    ("authority without basis", {"authorize": {"may": ["submit"]}}, {"authorize.basis"}),
    ("authority over nothing", {"authorize": {"may": [], "basis": "x"}}, {"authorize.may"}),
    ("authority over what is unknown", {"authorize": {"may": ["launch"], "basis": "x"}}, {"authorize.may[0]"}),
    ("blank basis", {"authorize": {"may": ["submit"], "basis": " "}}, {"authorize.basis"}),
    ("basis turned around", {"authorize": {"may": ["submit"], "basis": "a\u202eb"}}, {"authorize.basis"}),
    ("key with a space", {"key": "a b"}, {"key"}),
    ("key too long", {"key": "k" * 129}, {"key"}),
    ("recovery of no launch", {"recovery_of": {"launch": "x", "reason": "r", "evidence": "e"}}, {"recovery_of.launch"}),
    ("recovery without evidence", {"recovery_of": {"launch": LAUNCH, "reason": "r"}}, {"recovery_of.evidence"}),
    ("guard half on", {"guard": "half"}, {"guard"}),
    ("guard as a truth value", {"guard": False}, {"guard"}),
    ("queue on one machine", {"queue": "robot-a"}, {"queue"}),
    ("unknown field", {"outptu": "/x"}, {"outptu"}),
    ("field in the wrong place", {"poll": "1s"}, {"poll"}),
    ("a command of thousands of words", {"run": {"command": ["a"] * 1001}}, {"run.command"}),
    ("an environment of thousands", {"env": {f"A{number}": "x" for number in range(1001)}}, {"env"}),
    ("unknown field of a part", {"resources": {"node": 1}}, {"resources.node"}),
]


@pytest.mark.parametrize(("fields", "paths"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_is_declined_at_its_path_with_a_fix(fields: dict[str, Any], paths: set[str]):
    found = problems(changed(**fields))
    assert set(found) == paths
    assert all(problem.problem and problem.fix for problem in found.values())


def test_all_problems_are_told_at_once():
    found = problems(
        changed(name="a b", outptu=1, env={"SEED": 7}, resources={"nodes": 0, "time_limit": 5}, platform="slurm")
    )
    assert {"name", "outptu", "env.SEED", "resources.nodes", "resources.time_limit", "platform"} <= set(found)


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("outptu", '"output"'),
        ("poll", '"monitor.poll"'),
        ("gpus", '"resources.gpus_per_node"'),
        ("comand", '"run.command"'),
    ],
)
def test_an_unknown_field_is_declined_with_the_nearest_known_name(field: str, meant: str):
    assert problems(changed(**{field: "x"}))[field].fix == f"did you mean {meant}?"


def test_the_number_of_problems_in_one_answer_is_bounded():
    found = read(changed(**{f"field{number}": 1 for number in range(500)}))
    assert isinstance(found, tuple)
    assert len(found) == PROBLEMS_MAX + 1
    assert "more" in found[-1].problem


@pytest.mark.parametrize(
    "fields",
    [
        {f"f{number}": 1 for number in range(9000)},
        {"resources": {f"f{number}": 1 for number in range(9000)}},
        {"notify": ["konsole"] * 9000},
        {"env": {f"f-{number}": 1 for number in range(9000)}},
        {"n" * 120_000: 1},
        {"name": "\u202ea" * 15_000},
        {"a": [[[[1, "x"] * 1000] * 10]]},
    ],
    ids=["fields", "part", "list", "table", "long field", "long name", "nested"],
)
def test_the_worst_request_is_declined_in_a_moment(fields: dict[str, Any]):
    raw = changed(**fields)
    assert len(raw) <= MAX_REQUEST_BYTES
    started = time.process_time()
    assert isinstance(read(raw), tuple)
    redacted(raw)
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"", "request"),
        (b"not json", "request"),
        (b"[]", "request"),
        (b"null", "request"),
        (b'"text"', "request"),
        (b"{} {}", "request"),
        (b"\xff\xfe{}", "request"),
        ("{}".encode("utf-16"), "request"),
        (b"{" + b" " * MAX_REQUEST_BYTES + b"}", "request"),
        (b'{"a":' * 100_0 + b"1" + b"}" * 100_0, "request"),
        (b"[" * 100_000, "request"),
        (b'{"name": "a", "name": "b"}', "name"),
        (b'{"run": {"command": ["a"], "command": ["b"]}}', "run.command"),
        (b'{"resources": {"nodes": NaN}}', "resources.nodes"),
        (b'{"resources": {"nodes": -Infinity}}', "resources.nodes"),
        (b'{"resources": {"nodes": 1e999}}', "resources.nodes"),
        (b'{"resources": {"nodes": ' + b"9" * 5000 + b"}}", "resources.nodes"),
        (b'{"name": "\\ud800"}', "name"),
        (b'{"a\\u0000b": 1}', "a\\u0000b"),
    ],
)
def test_bytes_that_are_no_request_are_declined(raw: bytes, path: str):
    assert path in problems(raw)
