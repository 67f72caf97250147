"""compose.yaml, parsed, and its very commands run as processes against a real broker with its very configuration."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

from gonogo.services.runtime.crew import WORKERS
from tests.journeys.conftest import ROOT, environment, request, require_nats, until

PASSWORD = "a-password-for-this-test"


def compose() -> dict:
    return YAML(typ="safe", pure=True).load((ROOT / "compose.yaml").read_text())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_there_is_one_service_per_worker_and_each_has_a_healthcheck() -> None:
    services = compose()["services"]
    assert set(services) == {"nats", "streams", *WORKERS}
    for worker in WORKERS:
        assert services[worker]["command"] == ["up", "--workers", worker]
        assert services[worker]["healthcheck"]["test"] == ["CMD", "gonogo", "doctor", "--worker", worker]


def test_the_broker_syncs_always_and_keeps_its_store_on_a_volume() -> None:
    document = compose()
    assert "sync_interval: always" in document["configs"]["nats"]["content"]
    assert "jetstream:/data" in document["services"]["nats"]["volumes"]


def test_no_password_stands_in_the_file() -> None:
    assert not re.search(r"PASSWORD:\s+[^$\s]", (ROOT / "compose.yaml").read_text())


def test_its_commands_run_a_real_launch(tmp_path: Path) -> None:
    binary, document, port = require_nats(), compose(), free_port()
    text = document["configs"]["nats"]["content"].replace("$$", "$")
    text = text.replace("0.0.0.0:4222", f"127.0.0.1:{port}").replace("127.0.0.1:8222", "127.0.0.1:-1")
    (tmp_path / "nats.conf").write_text(text.replace('"/data"', f'"{tmp_path / "js"}"'))
    values = {
        name: re.sub(r"\$\{GONOGO_NATS_PASSWORD.*?\}", PASSWORD, value).replace(
            "nats://nats:4222", f"nats://127.0.0.1:{port}"
        )
        for name, value in document["x-worker"]["environment"].items()
    }
    env = environment(GONOGO_DATA_DIR=str(tmp_path / "data"), **values)
    gonogo = [sys.executable, "-m", "gonogo.services.cli.main"]
    processes = [subprocess.Popen([binary, "-c", tmp_path / "nats.conf"], env=env, stderr=subprocess.DEVNULL)]
    try:
        streams = document["services"]["streams"]["command"]
        until(lambda: subprocess.run([*gonogo, *streams], env=env, capture_output=True, check=False).returncode == 0)
        for worker in WORKERS:
            command = [*gonogo, *document["services"][worker]["command"]]
            with (tmp_path / f"{worker}.log").open("wb") as log:
                processes.append(subprocess.Popen(command, env=env, stdout=log, stderr=log))
        for worker in WORKERS:
            check = [*gonogo, *document["services"][worker]["healthcheck"]["test"][2:]]
            until(lambda check=check: subprocess.run(check, env=env, capture_output=True, check=False).returncode == 0)
        (tmp_path / "request.json").write_text(json.dumps(request(tmp_path)))
        launch = [*gonogo, "launch", str(tmp_path / "request.json"), "--wait", "--json"]
        done = subprocess.run(launch, env=env, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, json.loads(done.stdout)["standing"]) == (0, "succeeded"), done.stderr
        listed = subprocess.run([*gonogo, "list", "--json"], env=env, capture_output=True, text=True, check=True)
        assert [launch["standing"] for launch in json.loads(listed.stdout)] == ["succeeded"]
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(timeout=20)
