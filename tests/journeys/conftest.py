"""A real installation, driven by the command line as people drive it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gonogo.services.runtime.nats_admin import ServerUnfitError
from gonogo.services.runtime.nats_server import find_binary

ROOT = Path(__file__).resolve().parents[2]


def require_nats() -> Path:
    """The server binary; a newcomer without it gets a skip, CI a failure."""
    try:
        return find_binary()
    except ServerUnfitError as error:
        if os.environ.get("GONOGO_REQUIRE_REAL"):
            raise
        pytest.skip(str(error))


def environment(**more: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GONOGO_")}
    return {**plain, "PYTHONPATH": f"{ROOT}/.dev{os.pathsep}{ROOT}", **more}


@dataclass
class Installation:
    data_dir: Path
    env: dict[str, str]
    process: subprocess.Popen | None = None

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "gonogo.services.cli.main", *words]

    def gonogo(self, *words: str, stdin: str | None = None, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command(*words), "--data-dir", str(self.data_dir)],
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def json(self, *words: str, stdin: str | None = None) -> object:
        done = self.gonogo(*words, "--json", stdin=stdin)
        return json.loads(done.stdout)

    def up(self) -> str:
        said = self.data_dir.parent / "up.out"
        with (self.data_dir.parent / "up.log").open("ab") as log, said.open("wb") as out:
            self.process = subprocess.Popen(
                [*self.command("up"), "--data-dir", str(self.data_dir)],
                env=self.env,
                stdout=out,
                stderr=log,
            )
        process = self.process
        until(lambda: said.read_text().endswith("\n") or process.poll() is not None)
        return said.read_text()

    def down(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(timeout=30)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    require_nats()
    made = Installation(tmp_path / "data", environment())
    yield made
    if made.process is not None and made.process.poll() is None:
        made.down()


@pytest.fixture
def running(installation: Installation) -> Installation:
    assert installation.up().startswith("ready: nats://127.0.0.1:")
    return installation


def request(folder: Path, **changes: object) -> dict[str, object]:
    document = {
        "schema": "gonogo/v1",
        "name": "journey",
        "purpose": "train",
        "platform": "local",
        "code": str(folder),
        "run": {"command": ["sh", "-c", "echo hello from the job"]},
        "output": str(folder / "out"),
        "monitor": {"poll": "1s"},
        "notify": ["file"],
        "authorize": {"may": ["submit"], "basis": "a journey"},
    }
    return {key: value for key, value in (document | changes).items() if value is not None}


def until(what: object, *, within_s: float = 30) -> object:
    ends = time.monotonic() + within_s
    while time.monotonic() < ends:
        got = what()  # type: ignore[operator]
        if got:
            return got
        time.sleep(0.1)
    pytest.fail(f"not within {within_s} s")
