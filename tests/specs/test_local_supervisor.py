"""What the supervisor of a local job does when it, its command or its surroundings misbehave."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import pytest

from gonogo.services.backends.local import starting
from gonogo.services.backends.local.backend import BIRTH_WITHIN_S, TERMS, LocalBackend
from gonogo.services.backends.local.run_dir import RunDir
from gonogo.services.backends.port import Accepted, PlatformError, Unclear
from tests.contracts.harness import LONG
from tests.contracts.local_harness import BASE_ENV, LocalHarness

PAUSING = """
import os, runpy, signal, sys
def pause(event, args):
    if event == "os.link" and str(args[1]).endswith({record!r}):
        os.kill(os.getpid(), signal.SIGSTOP)
sys.addaudithook(pause)
runpy.run_path({supervisor!r}, run_name="__main__")
"""


@pytest.fixture
async def local(tmp_path):
    harness = LocalHarness(tmp_path)
    async with harness.lifetime():
        yield harness


@pytest.fixture
def pause_at(tmp_path, monkeypatch):
    """Make supervisors stop themselves right before they leave a record."""

    def choose(record: str) -> None:
        script = tmp_path / "pausing.py"
        script.write_text(PAUSING.format(record=record, supervisor=str(starting.SUPERVISOR)))
        monkeypatch.setattr(starting, "SUPERVISOR", script)

    return choose


@pytest.fixture
def impatient(tmp_path, monkeypatch):
    """Supervisors that kill after 0.3 s instead of 10."""
    text = starting.SUPERVISOR.read_text()
    assert "KILL_AFTER_S = 10.0" in text
    script = tmp_path / "impatient.py"
    script.write_text(text.replace("KILL_AFTER_S = 10.0", "KILL_AFTER_S = 0.3"))
    monkeypatch.setattr(starting, "SUPERVISOR", script)


def processes_of(run: RunDir) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"\0{run.path}\0".encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return sorted(found)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def until(condition) -> None:
    async with asyncio.timeout(15):
        while not condition():
            await asyncio.sleep(0.02)


def run_of(local: LocalHarness, name: str = "card-1") -> RunDir:
    return RunDir(local.runs / name)


async def executed(local: LocalHarness) -> None:
    """Wait until the command's process is the command and no longer its supervisor's copy."""
    await until(lambda: run_of(local).child is not None and run_of(local).child.pid not in processes_of(run_of(local)))


def ran(local: LocalHarness) -> bool:
    return (local.folder / "ran").exists()


def marking(local: LocalHarness) -> tuple[str, ...]:
    return ("sh", "-c", f"touch {local.folder}/ran")


async def paused(local: LocalHarness) -> int:
    """Create a job whose supervisor pauses before it is born; the pid of that supervisor."""
    async with asyncio.timeout(TERMS.create_timeout_s):
        reply = await local.backend.create(local.rendering(local.request(marking(local))), {})
    assert isinstance(reply, Unclear), reply
    (pid,) = processes_of(run_of(local))
    assert state_of(pid) == "T"
    return pid


async def resumed_to_its_end(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)
    await until(lambda: not Path(f"/proc/{pid}").exists())


async def test_a_supervisor_paused_before_its_arrival_beyond_its_deadline_starts_nothing(local, pause_at):
    pause_at("arrival.json")
    pid = await paused(local)
    await asyncio.sleep(0.1)
    assert (await local.backend.find("card-1")).found == ()
    await resumed_to_its_end(pid)
    assert (await local.backend.find("card-1")).found == ()
    assert not ran(local)


async def test_a_supervisor_that_has_arrived_and_is_not_born_makes_a_look_up_wait(local, pause_at):
    pause_at("birth.json")
    pid = await paused(local)
    with pytest.raises(PlatformError, match="not born yet"):
        await local.backend.find("card-1")
    await resumed_to_its_end(pid)
    (sighting,) = (await local.backend.find("card-1")).found
    assert sighting.state == "SUCCEEDED"
    assert ran(local)


async def test_a_supervisor_killed_between_arrival_and_birth_is_no_job(local, pause_at):
    pause_at("birth.json")
    pid = await paused(local)
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{pid}").exists())
    assert (await local.backend.find("card-1")).found == ()
    assert not ran(local)


async def test_a_command_whose_supervisor_is_killed_before_it_is_recorded_never_runs(local, pause_at):
    pause_at("child.json")
    job, _ = await local.created(marking(local))
    await until(lambda: len(processes_of(run_of(local))) == 2)
    supervisor = int(job.id)
    (child,) = (pid for pid in processes_of(run_of(local)) if pid != supervisor)
    await until(lambda: state_of(child) == "T")
    os.kill(supervisor, signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{supervisor}").exists() or state_of(supervisor) == "Z")
    os.kill(child, signal.SIGCONT)
    await until(lambda: not Path(f"/proc/{child}").exists())
    assert not ran(local)
    status = await local.status(job)
    assert (status.state, status.raw) == ("STOPPED", "vanished")


async def test_a_supervisor_that_hangs_is_ended_and_nobody_can_tell_within_the_time_of_a_create(local):
    python = local.folder / "hanging"
    pids = local.folder / "pids"
    python.write_text(f"#!/bin/sh\necho $$ > {pids}\nexec sleep 8\n")
    python.chmod(0o755)
    backend = LocalBackend(local.runs, base_env=BASE_ENV, python=str(python))
    async with asyncio.timeout(TERMS.create_timeout_s):
        reply = await backend.create(local.rendering(local.request()), {})
    assert isinstance(reply, Unclear)
    assert not Path(f"/proc/{pids.read_text().strip()}").exists()
    assert (await backend.find("card-1")).found == ()


async def test_an_order_that_comes_too_late_starts_nothing(local, monkeypatch):
    monkeypatch.setattr("gonogo.services.backends.local.backend.BIRTH_WITHIN_S", -1.0)
    reply = await local.backend.create(local.rendering(local.request(marking(local))), {})
    assert isinstance(reply, Unclear)
    await until(lambda: not processes_of(run_of(local)))
    assert (await local.backend.find("card-1")).found == ()
    assert not ran(local)


def test_the_birth_deadline_is_over_before_the_create_is_and_long_before_the_grace():
    assert TERMS.create_timeout_s > BIRTH_WITHIN_S + starting.ANSWER_WITHIN_S
    assert TERMS.start_deadline_s + BIRTH_WITHIN_S < TERMS.grace_s


async def test_a_job_whose_supervisor_was_killed_still_runs_and_can_be_stopped(local):
    job, _ = await local.created(LONG)
    await executed(local)
    os.kill(int(job.id), signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{job.id}").exists())
    status = await local.status(job)
    assert (status.state, status.raw) == ("RUNNING", "running, unsupervised")
    assert (await local.backend.stop(job)).taken
    status = await local.status(job)
    assert (status.state, status.raw, status.exit_code) == ("STOPPED", "vanished", None)
    assert "a stop was asked for" in (status.reason or "")


async def test_a_command_that_ignores_the_stop_is_killed(local, impatient):
    job, _ = await local.created(("sh", "-c", f"trap '' TERM; touch {local.folder}/ran; while :; do sleep 0.1; done"))
    await until(lambda: ran(local))
    assert (await local.backend.stop(job)).taken
    status = await local.ended(job)
    assert (status.state, status.exit_code, status.reason) == ("STOPPED", -9, "stopped by request")


async def test_a_stop_left_in_the_run_directory_is_obeyed_without_a_signal(local):
    job, _ = await local.created(LONG)
    await executed(local)
    (local.runs / "card-1" / "stop.json").touch()
    assert (await local.ended(job)).reason == "stopped by request"


async def test_the_time_limit_ends_the_job_as_failed(local):
    job, _ = await local.created(LONG, resources=local.request().resources.__class__(time_limit_s=0.3))
    status = await local.ended(job)
    assert (status.state, status.exit_code) == ("FAILED", -15)
    assert "time limit of 0.3 s" in (status.reason or "")


async def test_what_a_command_leaves_behind_in_its_group_ends_with_it(local):
    job, _ = await local.created(("sh", "-c", "sleep 300 & echo $!"))
    assert (await local.ended(job)).state == "SUCCEEDED"
    left = int((await local.backend.logs(job, bytes_max=100)).text)
    await until(lambda: not Path(f"/proc/{left}").exists())


async def test_an_output_that_exists_is_never_written_into(local):
    Path(local.output("1")).mkdir()
    reply = await local.backend.create(local.rendering(local.request(marking(local))), {})
    assert isinstance(reply, Accepted)
    status = await local.ended(reply.job)
    assert (status.state, status.exit_code) == ("FAILED", 73)
    assert "cannot be made: File exists" in (status.reason or "")
    assert not ran(local)


async def test_a_guard_that_cannot_be_claimed_starts_nothing(local):
    (local.folder / ".gonogo").write_text("in the way")
    job, _ = await local.created(marking(local))
    status = await local.ended(job)
    assert (status.state, status.raw, status.duplicate) == ("FAILED", "not started", False)
    assert "start guard" in (status.reason or "")
    assert not ran(local)


async def test_the_command_gets_exactly_the_reviewed_environment(local, monkeypatch):
    monkeypatch.setenv("GONOGO_NATS_PASSWORD", "of-gonogo-itself")
    listening = socket.create_server(("127.0.0.1", 0))
    listening.set_inheritable(True)
    with listening:
        job, rendering = await local.created(LONG, env={"A": "1"}, secrets={"S": "env:S"}, values={"env:S": "value"})
        await executed(local)
    order = json.loads(rendering.body)
    assert {**order["env"], "S": "value"} == {**BASE_ENV, "A": "1", "S": "value"} | {
        name: value for name, value in order["env"].items() if name.startswith("GONOGO_")
    }
    given = dict(line.split("=", 1) for line in _child(local, "environ").read_text().split("\0") if line)
    assert given == {**order["env"], "S": "value"}
    assert "of-gonogo-itself" not in Path(f"/proc/{job.id}/environ").read_text()
    for pid in (job.id, str(run_of(local).child.pid)):
        opened = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
        assert not [name for name in opened if name.startswith("socket:")]
        assert os.getsid(int(pid)) != os.getsid(0)


def _child(local: LocalHarness, name: str) -> Path:
    return Path(f"/proc/{run_of(local).child.pid}/{name}")
