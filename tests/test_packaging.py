"""What is built is what is in the tree: through the sdist, into a wheel, into an environment that has nothing else.

The rooms lie at the top of the repository and become `gonogo.*` only in the wheel and behind the links in `.dev`. Each way
of getting that wrong builds without an error and ships an empty or a partial package, so the file lists are compared.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("events", "projections", "services")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FORCED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def uv() -> str:
    """The one that the Makefile keeps, or the person's own."""
    kept = ROOT / ".venv" / "tools" / "bin" / "uv"
    found = str(kept) if kept.exists() else shutil.which("uv")
    assert found, "uv is neither in .venv/tools nor on the PATH: run `make test` once, it brings uv"
    return found


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command that has to succeed, kept from the environment in which the tests run."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "GONOGO"))
    }
    done = subprocess.run(command, cwd=cwd, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def build(target: str, *, source: Path, out: Path) -> Path:
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out, cwd=source)
    (built,) = out.iterdir()
    return built


def files_in_the_tree() -> set[str]:
    found = (path for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file())
    return {str(path.relative_to(ROOT)) for path in found if "__pycache__" not in path.parts}


def files_in(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", source=ROOT, out=tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    unpacked = tmp_path_factory.mktemp("unpacked")
    run("tar", "-xzf", sdist, "-C", unpacked, cwd=unpacked)
    (source,) = unpacked.iterdir()
    return build("wheel", source=source, out=tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a new environment that holds the wheel and its locked dependencies, and nothing else."""
    home = tmp_path_factory.mktemp("installed")
    certificates = ("--system-certs",) if CERTIFICATES.exists() else ()
    pins = run(uv(), "export", "--frozen", "--no-config", "--no-dev", "--no-emit-project", "-q", cwd=ROOT)
    (home / "pins.txt").write_text(pins)
    run(uv(), "venv", "-q", "--no-config", "--python", sys.executable, home / "venv", cwd=home)
    into = ("-q", "--no-config", *certificates, "--python", home / "venv" / "bin" / "python")
    run(uv(), "pip", "install", *into, "-r", home / "pins.txt", cwd=home)
    run(uv(), "pip", "install", *into, "--no-deps", wheel, cwd=home)
    return home / "venv" / "bin"


def test_the_sdist_holds_every_file_of_the_three_rooms(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert {name for name in names if name.startswith(tuple(f"{room}/" for room in ROOMS))} == files_in_the_tree()


def test_the_wheel_built_from_the_sdist_holds_exactly_the_tree_under_gonogo(wheel: Path) -> None:
    assert files_in(wheel) == {f"gonogo/{name}" for name in files_in_the_tree()} | set(FORCED.values())


def test_the_wheel_built_from_the_tree_is_the_one_built_from_the_sdist(wheel: Path, tmp_path: Path) -> None:
    assert files_in(build("wheel", source=ROOT, out=tmp_path)) == files_in(wheel)


def test_gonogo_is_a_namespace_with_typed_parts(wheel: Path) -> None:
    names = files_in(wheel)
    assert "gonogo/__init__.py" not in names
    assert {f"gonogo/{room}/py.typed" for room in ROOMS} <= names


def test_the_wheel_names_its_licence_and_its_needs(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
    headers = HeaderParser().parsestr(archive.read(metadata).decode())
    assert headers["License-Expression"] == "Apache-2.0"
    needs = [need.replace(".yaml", "-yaml") for need in PROJECT["project"]["dependencies"]]
    assert sorted(headers.get_all("Requires-Dist", [])) == sorted(needs)
    assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())


@pytest.mark.slow
def test_the_installed_wheel_imports_every_module_from_its_own_environment(installed: Path, tmp_path: Path) -> None:
    program = (
        "import importlib, pkgutil, gonogo.events, gonogo.projections, gonogo.services\n"
        "rooms = (gonogo.events, gonogo.projections, gonogo.services)\n"
        "found = [m.name for room in rooms for m in pkgutil.walk_packages(room.__path__, room.__name__ + '.')]\n"
        "[importlib.import_module(name) for name in found if not name.endswith(('demo_train', '__main__'))]\n"
        "print(len(found), *gonogo.__path__, sep='\\n')\n"
    )
    count, *places = run(installed / "python", "-c", program, cwd=tmp_path).splitlines()
    assert int(count) > len(ROOMS)
    assert [Path(place).is_relative_to(installed.parent) for place in places] == [True]


@pytest.mark.slow
def test_the_installed_command_says_its_version_and_knows_no_repository(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "gonogo", "--version", cwd=tmp_path).split() == ["gonogo", PROJECT["project"]["version"]]
    assert "demo" in run(installed / "gonogo", "--help", cwd=tmp_path)


def test_the_development_links_are_committed_as_links_to_the_rooms() -> None:
    listed = run("git", "ls-files", "-s", ".dev", cwd=ROOT).splitlines()
    modes = {line.split("\t")[1]: line.split()[0] for line in listed}
    assert modes == {f".dev/gonogo/{room}": "120000" for room in ROOMS}
    for room in ROOMS:
        link = ROOT / ".dev" / "gonogo" / room
        assert stat.S_ISLNK(link.lstat().st_mode)
        assert link.resolve() == ROOT / room


def test_the_lock_names_the_public_index_and_nothing_of_this_machine() -> None:
    packages = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    sources = {frozenset(package["source"].items()) for package in packages}
    assert sources == {frozenset({("registry", "https://pypi.org/simple")}), frozenset({("editable", ".")})}


def test_the_lock_belongs_to_this_project_file() -> None:
    certificates = ("--system-certs",) if CERTIFICATES.exists() else ()
    run(uv(), "lock", "--check", "-q", "--no-config", *certificates, cwd=ROOT)
