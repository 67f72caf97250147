"""What the records of a run directory mean, above all when the processes they name are not what they were."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from msgspec.structs import replace

from gonogo.events.job import JobRef
from gonogo.services.backends.local.backend import LocalBackend
from gonogo.services.backends.local.identity import Process, boot_id, pid_space, start_ticks
from gonogo.services.backends.local.run_dir import RunDir
from gonogo.services.backends.port import PlatformError


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        process.kill()


class Records:
    """A run directory written by hand."""

    def __init__(self, runs, sleeper) -> None:
        self.backend = LocalBackend(runs, base_env={})
        self.run = runs / "card-1"
        self.run.mkdir(parents=True)
        self.process = {
            "pid": sleeper.pid,
            "start": start_ticks(sleeper.pid),
            "boot": boot_id(),
            "space": pid_space(),
            "machine": os.uname().nodename,
        }

    def born(self, **changes) -> JobRef:
        birth = {**self.process, "name": "card-1", "token": "token", **changes}
        self.write("birth.json", birth)
        return JobRef(id=str(birth["pid"]), name="card-1", identity=f"boot:{birth['boot']}/start:{birth['start']}")

    def write(self, name: str, content: dict) -> None:
        (self.run / name).write_text(json.dumps(content))

    async def status(self, job: JobRef):
        return (await self.backend.status([job]))[job]


@pytest.fixture
def records(tmp_path, sleeper):
    return Records(tmp_path / "runs", sleeper)


async def test_the_process_that_was_recorded_lives(records):
    assert (await records.status(records.born())).state == "RUNNING"


async def test_a_reused_pid_is_not_the_job_and_is_never_signalled(records, sleeper):
    job = records.born(start=records.process["start"] - 1)
    assert (await records.status(job)).raw == "vanished"
    assert (await records.backend.stop(job)).answer == "it is gone"
    assert sleeper.poll() is None


def test_a_signal_goes_to_exactly_the_recorded_process_or_nowhere(records, sleeper):
    recorded = Process(**records.process)
    assert not replace(recorded, start=recorded.start - 1).signal(signal.SIGKILL)
    assert sleeper.poll() is None
    assert recorded.signal(signal.SIGKILL)
    assert sleeper.wait(5) == -signal.SIGKILL
    assert not recorded.signal(signal.SIGKILL)


async def test_a_stop_of_a_job_that_has_ended_leaves_no_request(records):
    job = records.born(start=1)
    records.write("exit.json", {"how": "exited", "code": 0, "reason": None, "at": 0.0})
    assert (await records.backend.stop(job)).answer == "it has ended already"
    assert not (records.run / "stop.json").exists()


async def test_a_job_of_an_earlier_boot_was_stopped_by_the_restart(records):
    status = await records.status(records.born(boot="earlier"))
    assert status.state == "STOPPED"
    assert "the machine restarted" in (status.reason or "")


@pytest.mark.parametrize("elsewhere", [{"space": "pid:[1]"}, {"boot": "other", "machine": "other"}])
async def test_a_job_out_of_sight_is_unknown_until_its_own_record_says_otherwise(records, sleeper, elsewhere):
    job = records.born(**elsewhere)
    status = await records.status(job)
    assert (status.state, status.raw) == ("UNKNOWN", "out of sight")
    answer = await records.backend.stop(job)
    assert not answer.taken
    assert (records.run / "stop.json").exists()
    assert sleeper.poll() is None
    records.write("exit.json", {"how": "stopped", "code": -15, "reason": "stopped by request", "at": 0.0})
    assert (await records.status(job)).state == "STOPPED"


async def test_a_directory_without_birth_is_no_job(records):
    assert (await records.backend.find("card-1")).found == ()
    job = JobRef(id="1", name="card-1", identity="x")
    assert (await records.status(job)).state == "UNKNOWN"


async def test_an_arrival_out_of_sight_stays_undecided(records):
    records.write("arrival.json", {**records.process, "space": "pid:[1]", "name": "card-1", "token": "t"})
    with pytest.raises(PlatformError, match="ask again"):
        await records.backend.find("card-1")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}'])
async def test_an_unreadable_record_is_an_error_for_a_search_and_unknown_for_a_status(records, content):
    job = records.born()
    (records.run / "birth.json").write_text(content)
    with pytest.raises(PlatformError, match="birth.json cannot be read"):
        await records.backend.find("card-1")
    stranger = JobRef(id="1", name="card-2", identity="x")
    answers = await records.backend.status([job, stranger])
    assert (answers[job].state, answers[job].raw) == ("UNKNOWN", "unreadable")
    assert answers[stranger].raw == "not there"


async def test_an_exit_record_wins_over_a_process_that_still_lives(records):
    job = records.born()
    records.write("exit.json", {"how": "exited", "code": 0, "reason": None, "at": 0.0})
    assert (await records.status(job)).state == "SUCCEEDED"


async def test_a_job_that_ends_between_two_looks_has_not_vanished(records, monkeypatch):
    job = records.born(start=1)
    looking = RunDir._by_processes

    def ends_meanwhile(run, birth):
        seen = looking(run, birth)
        records.write("exit.json", {"how": "exited", "code": 0, "reason": None, "at": 0.0})
        return seen

    monkeypatch.setattr(RunDir, "_by_processes", ends_meanwhile)
    assert (await records.status(job)).state == "SUCCEEDED"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
async def test_a_name_that_leaves_the_runs_is_no_name(records, name):
    with pytest.raises(PlatformError, match="cannot be the name"):
        await records.backend.find(name)


async def test_a_folder_of_runs_that_cannot_be_read_is_an_error_and_not_an_empty_one(tmp_path):
    (tmp_path / "runs").write_text("a file")
    backend = LocalBackend(tmp_path / "runs", base_env={})
    with pytest.raises(PlatformError):
        await backend.find("card-1")
    with pytest.raises(PlatformError):
        await backend.probe()


async def test_the_log_of_another_job_of_that_name_is_not_shown(records):
    job = records.born()
    (records.run / "output.log").write_text("words")
    assert (await records.backend.logs(job, bytes_max=10)).text == "words"
    with pytest.raises(PlatformError, match="there is no job 1 "):
        await records.backend.logs(JobRef(id="1", name="card-1", identity="x"), bytes_max=10)
