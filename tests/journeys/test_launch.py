"""What a person does, from the first file to the audit, on a real installation."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from gonogo.services.client import Client
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.nats_connect import connect
from gonogo.services.runtime.nats_server import read_credentials
from tests.journeys.conftest import Installation, request, until


def file_of(folder: Path, **changes: object) -> Path:
    path = folder / "request.json"
    path.write_text(json.dumps(request(folder, **changes)))
    return path


def test_a_launch_runs_is_told_and_is_explained_by_its_log(running: Installation, tmp_path: Path) -> None:
    done = running.gonogo("launch", str(file_of(tmp_path)), "--wait", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["standing"]) == (0, "succeeded")
    assert "hello from the job" in running.gonogo("logs", answer["launch"]).stdout
    listed = running.json("list")
    assert [launch["launch"] for launch in listed] == [answer["launch"]]
    audit = running.gonogo("replay", "--verify")
    assert audit.returncode == 0, audit.stdout
    assert "0 decisions differ, 0 violations" in audit.stdout
    until(lambda: "succeeded" in (running.data_dir / "notices.jsonl").read_text())


def test_what_is_exported_replays_the_same(running: Installation, tmp_path: Path) -> None:
    running.gonogo("launch", str(file_of(tmp_path)), "--wait")
    export = tmp_path / "log.jsonl"
    launch = running.json("list")[0]["launch"]
    live = running.json("replay", launch)
    assert running.gonogo("replay", launch, "--export", str(export)).returncode == 0
    assert running.json("replay", "--from", str(export)) == live


def test_without_an_authorization_it_waits_for_a_yes_to_its_digest(running: Installation, tmp_path: Path) -> None:
    asked = running.gonogo("launch", str(file_of(tmp_path, authorize=None)), "--json")
    answer = json.loads(asked.stdout)
    assert (asked.returncode, answer["standing"]) == (5, "awaiting-review")
    wrong = running.gonogo("approve", answer["launch"], "--digest", "sha256:0", "--json")
    assert wrong.returncode == 1
    assert json.loads(wrong.stdout)["errors"][0]["path"] == "plan_digest"
    assert running.gonogo("approve", answer["launch"], "--digest", answer["plan_digest"]).returncode == 0
    until(lambda: running.json("show", answer["launch"])["standing"] == "succeeded")


def test_a_declined_review_sends_nothing(running: Installation, tmp_path: Path) -> None:
    answer = running.json("launch", str(file_of(tmp_path, authorize=None)))
    assert running.gonogo("decline", answer["launch"], "--digest", answer["plan_digest"]).returncode == 0
    until(lambda: running.json("show", answer["launch"])["standing"] == "declined")
    assert not list((running.data_dir / "local").glob("*/birth.json"))


def test_a_running_job_is_cancelled(running: Installation, tmp_path: Path) -> None:
    slow = file_of(tmp_path, run={"command": ["sleep", "60"]})
    answer = running.json("launch", str(slow))
    until(lambda: running.json("show", answer["launch"])["standing"] == "running")
    assert running.gonogo("cancel", answer["launch"], "--reason", "enough").returncode == 0
    until(lambda: running.json("show", answer["launch"])["standing"] == "cancelled")


def test_a_declined_file_corrected_launches_under_the_same_key(running: Installation, tmp_path: Path) -> None:
    bad = file_of(tmp_path, key="mine", resources={"nodes": -3, "gpu": 1}, run={"command": []})
    declined = running.gonogo("launch", str(bad), "--json")
    assert declined.returncode == 1
    paths = {problem["path"] for problem in json.loads(declined.stdout)["errors"]}
    assert {"resources.nodes", "resources.gpu", "run.command"} <= paths
    assert running.json("list") == []
    good = running.gonogo("launch", str(file_of(tmp_path, key="mine")), "--wait")
    assert good.returncode == 0, good.stderr


def test_a_no_go_names_the_blocker_and_a_recheck_lifts_it(running: Installation, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    refused = running.gonogo("launch", str(file_of(tmp_path)), "--json")
    answer = json.loads(refused.stdout)
    assert (refused.returncode, answer["standing"]) == (1, "no-go")
    assert "exists already" in answer["detail"]
    (tmp_path / "out").rmdir()
    assert running.gonogo("recheck", answer["launch"], "--fixed", "moved away").returncode == 0
    until(lambda: running.json("show", answer["launch"])["standing"] == "succeeded")


def test_a_dry_run_checks_everything_and_creates_nothing(installation: Installation, tmp_path: Path) -> None:
    dry = installation.gonogo("launch", str(file_of(tmp_path)), "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    assert json.loads(dry.stdout)["go"] is True
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "data").glob("local/*"))


def test_a_job_outlives_gonogo_and_is_watched_again(running: Installation, tmp_path: Path) -> None:
    answer = running.json("launch", str(file_of(tmp_path, run={"command": ["sleep", "4"]})))
    until(lambda: running.json("show", answer["launch"])["standing"] == "running")
    assert running.down() == 0
    assert running.up().startswith("ready")
    until(lambda: running.json("show", answer["launch"])["standing"] == "succeeded")


def test_everything_killed_at_once_loses_nothing(running: Installation, tmp_path: Path) -> None:
    answer = running.json("launch", str(file_of(tmp_path, run={"command": ["sleep", "3"]})))
    assert running.process is not None
    running.process.send_signal(signal.SIGKILL)
    running.process.wait()
    assert running.up().startswith("ready")
    until(lambda: running.json("show", answer["launch"])["standing"] == "succeeded", within_s=60)
    assert running.gonogo("replay", "--verify").returncode == 0


def test_without_an_installation_nothing_is_sent_and_that_is_said(installation: Installation, tmp_path: Path) -> None:
    asked = installation.gonogo("launch", str(file_of(tmp_path)))
    assert asked.returncode == 4
    assert "gonogo up" in asked.stderr


def test_a_second_up_on_the_same_data_dir_is_refused(running: Installation) -> None:
    second = running.gonogo("up")
    assert second.returncode == 4
    assert "in use by the process" in second.stderr


def test_a_later_version_s_command_says_so(installation: Installation) -> None:
    assert installation.gonogo("models").returncode == 2


async def _race(data_dir: Path, tmp_path: Path, number: int) -> list[tuple[str, str | None]]:
    credentials = read_credentials(DataDir(data_dir))
    assert credentials is not None
    connections = [await connect(credentials.access("local")) for _ in range(2)]
    clients = [Client(connection, "local") for connection in connections]
    for client in clients:
        await client.listen()
    try:
        found = []
        for index in range(number):
            document = request(tmp_path, key=f"race-{index}", output=str(tmp_path / f"out-{index}"))
            answers = await asyncio.gather(*(client.launch(document) for client in clients))
            found.extend((answer.verdict, answer.launch) for answer in answers)
        other = request(tmp_path, key="race-0", output=str(tmp_path / "another"))
        declined = await clients[0].launch(other)
        found.append((declined.verdict, declined.problems[0].path))
        return found
    finally:
        for connection in connections:
            await connection.close()


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_two_clients_with_the_same_key_at_once_fifty_times_are_fifty_jobs(
    running: Installation, tmp_path: Path
) -> None:
    number = 50
    found = asyncio.run(_race(running.data_dir, tmp_path, number))
    *pairs, last = found
    assert last == ("declined", "key")
    for first, second in zip(pairs[::2], pairs[1::2], strict=True):
        assert {first[0], second[0]} == {"accepted", "deduplicated"}
        assert first[1] == second[1]
    until(lambda: sum(v["standing"] == "succeeded" for v in running.json("list")) == number, within_s=150)
    assert len(list((running.data_dir / "local").glob("*/birth.json"))) == number


def test_a_set_path_starts_at_the_folder_of_the_file_like_those_in_it(
    installation: Installation, tmp_path: Path
) -> None:
    dry = installation.gonogo("launch", str(file_of(tmp_path)), "--set", "output=runs/two", "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr + dry.stdout
    assert json.loads(dry.stdout)["plan"]["output"] == str(tmp_path / "runs/two")
