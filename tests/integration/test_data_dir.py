"""The data dir is private, locked, and checked before anything is done; what is wrong with it is said in a sentence."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from gonogo.services.runtime.data_dir import FREE_MIN, DataDir, DataDirError, DataDirLock, write_private

NOBODY = 65534


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may pass through, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="gonogo-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody() -> Iterator[int]:
    """Root may write anywhere, so as root the test goes on as somebody else."""
    if os.geteuid() != 0:
        yield os.geteuid()
        return
    os.seteuid(NOBODY)
    try:
        yield NOBODY
    finally:
        os.seteuid(0)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_made_with_its_parents_and_closed_to_others(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path / "a" / "b")
    data_dir.prepare()
    assert mode_of(data_dir.root) == 0o700
    assert list(data_dir.root.iterdir()) == []


@pytest.mark.parametrize("mark", [None, "lock", "gonogo.toml"])
def test_one_that_was_opened_to_others_is_closed_again(tmp_path: Path, mark: str | None) -> None:
    root = tmp_path / "d"
    root.mkdir()
    if mark:
        (root / mark).touch()
    root.chmod(0o755)
    DataDir(root).prepare()
    assert mode_of(root) == 0o700


def test_an_open_folder_with_other_things_in_it_is_left_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "home"
    root.mkdir()
    (root / "thesis.tex").touch()
    root.chmod(0o755)
    with pytest.raises(DataDirError, match=r"already holds something else: choose another --data-dir, or .*chmod 700"):
        DataDir(root).prepare()
    assert mode_of(root) == 0o755


def test_somebody_elses_folder_is_refused(open_folder: Path) -> None:
    theirs = open_folder if os.geteuid() else open_folder / "theirs"
    if os.geteuid() == 0:
        theirs.mkdir()
        os.chown(theirs, NOBODY, NOBODY)
        owner = NOBODY
    else:
        theirs, owner = Path("/"), 0
    with pytest.raises(DataDirError, match=rf"{theirs} belongs to another user \(uid {owner}\): choose another"):
        DataDir(theirs).prepare()


def test_a_folder_that_cannot_be_written_to_is_named(open_folder: Path, request: pytest.FixtureRequest) -> None:
    root = open_folder / "d"
    root.mkdir()
    if os.geteuid() == 0:
        os.chown(root, NOBODY, NOBODY)
    root.chmod(0o500)
    request.getfixturevalue("as_nobody")
    with pytest.raises(DataDirError, match=f"{root} cannot be written to .*: choose another --data-dir, or change its"):
        DataDir(root).prepare()


def test_a_place_where_no_folder_can_be_made_is_named() -> None:
    with pytest.raises(DataDirError, match=r"/proc/gonogo cannot be .*: choose another --data-dir"):
        DataDir(Path("/proc/gonogo")).prepare()


def test_a_file_is_no_data_dir(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(DataDirError, match=r"cannot be used as the data dir \(File exists\)"):
        DataDir(tmp_path / "f").prepare()


def test_a_nearly_full_disk_is_named_before_anything_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=FREE_MIN - 1))
    with pytest.raises(DataDirError, match=r"nearly full \(63 MiB free\): free 64 MiB, or choose another"):
        DataDir(tmp_path).prepare()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_and_nothing_is_left_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def write(path: Path, _: bytes) -> None:
        path.touch()
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "write_bytes", write)
    with pytest.raises(DataDirError, match=r"the disk of .* is full .*: free some space"):
        DataDir(tmp_path).prepare()
    assert list(tmp_path.iterdir()) == []


def test_the_lock_is_taken_once_and_given_back(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    with DataDirLock(data_dir):
        with pytest.raises(DataDirError, match=f"in use by the process {os.getpid()}:"), DataDirLock(data_dir):
            pass
        assert mode_of(data_dir.lock) == 0o600
    with DataDirLock(data_dir):
        pass


def test_a_child_does_not_keep_the_lock_of_a_parent_that_gave_it_back(tmp_path: Path) -> None:
    with DataDirLock(DataDir(tmp_path)):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    try:
        with DataDirLock(DataDir(tmp_path)):
            pass
    finally:
        child.communicate(b"\n")


def test_a_dead_process_holds_no_lock(tmp_path: Path) -> None:
    script = (
        "import os, sys, pathlib\n"
        "from gonogo.services.runtime.data_dir import DataDir, DataDirLock\n"
        "DataDirLock(DataDir(pathlib.Path(sys.argv[1]))).__enter__()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, tmp_path], check=False).returncode == -9
    with DataDirLock(DataDir(tmp_path)):
        pass


def test_a_private_file_is_never_open_to_others_not_even_where_a_half_written_one_was(tmp_path: Path) -> None:
    part = tmp_path / "secret.part"
    part.touch(mode=0o666)
    part.chmod(0o666)
    write_private(tmp_path / "secret", b"x")
    assert mode_of(tmp_path / "secret") == 0o600
    assert not part.exists()


def test_a_private_file_that_could_not_be_written_leaves_the_old_one_and_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_private(tmp_path / "secret", b"old")

    def fail(descriptor: int, _: str) -> None:
        os.close(descriptor)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fdopen", fail)
    with pytest.raises(OSError, match="No space left"):
        write_private(tmp_path / "secret", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("secret", b"old")]
