"""What a local order is made of, when it is refused before anything exists, and how a read-back tells differences."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from gonogo.events.ids import digest_of
from gonogo.events.launch import Rendering
from gonogo.events.request import Config, Resources, Run
from gonogo.services.backends.local.backend import LocalBackend
from gonogo.services.backends.port import Refused
from tests.contracts.harness import LONG, QUICK
from tests.contracts.local_harness import LocalHarness


@pytest.fixture
async def local(tmp_path):
    harness = LocalHarness(tmp_path)
    async with harness.lifetime():
        yield harness


def altered(rendering: Rendering, **fields: object) -> Rendering:
    body = json.dumps({**json.loads(rendering.body), **fields})
    return Rendering(body=body, digest=digest_of(body.encode()))


def test_an_order_is_canonical_and_names_everything_a_job_gets(local):
    request = local.request(("python3", "train.py"), code="/code", env={"B": "2", "A": "1"}, secrets={"S": "env:S"})
    order = json.loads(local.rendering(request).body)
    assert list(order) == sorted(order)
    assert list(order["env"]) == sorted(order["env"])
    assert (order["argv"], order["cwd"], order["secrets"]) == (["python3", "train.py"], "/code", {"S": "env:S"})
    assert order["env"]["GONOGO_LAUNCH"] == "root"
    assert order["env"]["GONOGO_JOB_NAME"] == "card-1"
    assert order["env"]["GONOGO_OUTPUT"] == order["output"] == local.output("1")
    assert order["run_dir"] == str(local.runs / "card-1")
    assert order["guard"] == {"root": "root", "claim_path": f"{local.folder}/.gonogo/root.claim", "requeue": False}


def test_a_request_cannot_change_who_the_job_is(local):
    order = json.loads(local.rendering(local.request(env={"GONOGO_LAUNCH": "another"})).body)
    assert order["env"]["GONOGO_LAUNCH"] == "root"


def test_without_an_output_there_is_no_guard(local):
    assert local.backend.guard_for(local.request(output=None), "root") is None


def test_what_a_local_process_cannot_be_is_told_all_at_once(local):
    request = msgspec.structs.replace(
        local.request(), run=Run(config=Config(file="job.yaml")), resources=Resources(nodes=2)
    )
    assert [problem.path for problem in local.backend.problems(request)] == ["run", "resources.nodes"]
    assert local.backend.problems(local.request()) == ()


async def test_a_missing_secret_is_refused_by_name_before_anything_is_made(local):
    rendering = local.rendering(local.request(secrets={"S": "env:S", "T": "env:T"}))
    reply = await local.backend.create(rendering, {"env:T": "value"})
    assert reply == Refused("SecretMissing", "no value was given for S", reply.proof)
    assert not local.runs.exists()


async def test_an_order_for_another_folder_is_refused(local):
    reply = await local.backend.create(altered(local.rendering(local.request()), run_dir="/elsewhere/card-1"), {})
    assert isinstance(reply, Refused)
    assert not local.runs.exists()


async def test_a_supervisor_that_cannot_be_started_is_a_proven_refusal(local):
    backend = LocalBackend(local.runs, base_env={}, python="/no/such/python")
    reply = await backend.create(local.rendering(local.request()), {})
    assert isinstance(reply, Refused)
    assert "/no/such/python" in reply.reason
    assert (await backend.find("card-1")).found == ()


async def test_a_read_back_names_each_difference_and_no_value_of_an_environment(local):
    job, rendering = await local.created(LONG, env={"A": "planned-value"})
    order = json.loads(rendering.body)
    environment = {**order["env"], "A": "held-value"}
    other = altered(rendering, argv=["other"], env=environment, token="other")
    facts = await local.backend.read_back(job, other)
    assert facts is not None
    told = "; ".join(facts.differences)
    assert "token: planned other" in told
    assert "argv: planned ('other',)" in told
    assert "the environment differs in A" in told
    assert "value" not in told


async def test_a_read_back_sees_bytes_that_mean_the_same(local):
    job, rendering = await local.created(LONG)
    facts = await local.backend.read_back(job, altered(rendering))
    assert facts is not None
    assert facts.differences == ("the supervisor's order has other bytes than the planned one",)


async def test_an_order_that_was_tampered_with_is_told(local):
    job, rendering = await local.created(LONG)
    (local.runs / "card-1" / "rendering.json").write_text("{}")
    facts = await local.backend.read_back(job, rendering)
    assert facts is not None
    assert facts.differences == ("the supervisor's order cannot be read",)


async def test_paths_are_seen_as_the_job_would_see_them(local):
    (local.folder / "broken").symlink_to(local.folder / "nowhere")
    facts = await local.backend.check_paths(
        [str(local.folder), str(local.folder / "none"), str(local.folder / "broken")]
    )
    assert [(fact.exists, fact.is_dir) for fact in facts] == [(True, True), (False, False), (True, False)]
    assert {fact.viewpoint for fact in facts} == {"this host"}


async def test_a_probe_makes_the_private_folder_of_runs(local):
    assert str(local.runs) in await local.backend.probe()
    assert local.runs.stat().st_mode & 0o777 == 0o700


async def test_a_job_without_an_output_runs_too(local):
    job, _ = await local.created(QUICK, output=None)
    assert (await local.ended(job)).state == "SUCCEEDED"
    assert not (Path(local.folder) / ".gonogo").exists()
