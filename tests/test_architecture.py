"""The rules about the shape of the code: who may import whom, how long a file may be, which words name things.

The import contracts are in pyproject.toml. Here they are kept, and each is shown to notice when it is broken.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import sizes

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("events", "projections", "services")
CONTRACTS = [
    contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
]

BREACHES = {
    "Say, know, do: events <- projections <- services": ("events/launch.py", "gonogo.projections.jobs"),
    "The contract needs the standard library and msgspec": ("events/base.py", "rich"),
    "Workers talk through the log, never to each other": (
        "services/watcher/effects.py",
        "gonogo.services.notifier.effects",
    ),
    "Deciders are pure": ("services/submitter/decider.py", "time"),
    "Projections are pure; only the store touches a database": ("projections/jobs.py", "subprocess"),
    "Folds do not know the store": ("projections/launches.py", "gonogo.projections.store"),
    "Backends do not know each other": ("services/backends/scripted.py", "gonogo.services.backends.local"),
    "Channels do not know each other": ("services/channels/file.py", "gonogo.services.channels.console"),
    "Backends and channels know no worker": ("services/channels/console.py", "gonogo.services.notifier.wording"),
    "Only the JetStream files and the NATS wiring know NATS": ("services/cli/listing.py", "nats"),
    "Only the store knows sqlite": ("services/cli/listing.py", "aiosqlite"),
}
"""Each contract, and one import that it must refuse: (file, module)."""

BANNED_ANYWHERE = frozenset(
    [
        "aggregate",
        "bus",
        "dedup",
        "driver",
        "dummy",
        "executor",
        "filler",
        "helper",
        "helpers",
        "logic",
        "manager",
        "metadata",
        "provider",
        "repository",
        "resubmit",
        "scheduler",
        "sink",
        "topic",
        "util",
        "utils",
        "workflow",
        "zombie",
    ]
)
"""Words that the glossary has another word for, wherever they stand in a name."""

BANNED_ALONE = frozenset(["data", "handle", "handler", "info", "misc", "process", "result", "stuff", "thing"])
"""Words that say nothing when they are the whole name of a module, a class or a function."""

ALLOWED = {
    (
        "services/placeholder_manager/__init__.py",
        "placeholder_manager",
    ): "the worker's name, fixed by the subjects of the log",
    ("events/request.py", "Data"): "the request file has a section of that name",
    ("services/backends/local/identity.py", "Process"): "it is a process of the operating system",
}


def lint_imports(root: Path) -> tuple[set[str], str]:
    """The names of the contracts that are broken in that tree, and all that was said."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root / ".dev"), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    broken = {name for name in CONTRACTS if f"{name} BROKEN" in done.stdout}
    assert done.returncode == (1 if broken else 0), done.stdout + done.stderr
    assert all(f"{name} KEPT" in done.stdout or name in broken for name in CONTRACTS), done.stdout + done.stderr
    return broken, done.stdout


def names_in(source: str) -> Iterator[tuple[str, bool]]:
    """Every name that the source defines, and whether it names a class or a function."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, True
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name, False
            case _:
                pass


def words_of(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+", name)]


def is_banned(name: str, *, is_definition: bool) -> bool:
    words = words_of(name)
    return bool(BANNED_ANYWHERE.intersection(words)) or (is_definition and len(words) == 1 and words[0] in BANNED_ALONE)


def banned_in(path: Path, *, root: Path) -> set[tuple[str, str]]:
    """(file, name) for every name in the file that the glossary refuses, the file's own name among them."""
    own = path.parent.name if path.stem == "__init__" else path.stem
    named = [(own, True), *names_in(path.read_text())]
    return {
        (str(path.relative_to(root)), name) for name, definition in named if is_banned(name, is_definition=definition)
    }


def test_every_import_contract_is_kept() -> None:
    broken, said = lint_imports(ROOT)
    assert not broken, said


@pytest.mark.slow
def test_every_import_contract_notices_the_import_that_it_forbids(tmp_path: Path) -> None:
    assert set(BREACHES) == set(CONTRACTS), "every contract needs a breach that shows it at work"
    for room in (*ROOMS, ".dev"):
        shutil.copytree(ROOT / room, tmp_path / room, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name, module in BREACHES.values():
        with (tmp_path / name).open("a") as file:
            file.write(f"\nimport {module}\n")
    broken, _said = lint_imports(tmp_path)
    assert broken == set(CONTRACTS)


def test_no_name_uses_a_word_that_the_glossary_bans() -> None:
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    found = set().union(*(banned_in(path, root=ROOT) for path in paths))
    assert found == set(ALLOWED), "rename it (docs/glossary.md has the word), or say in ALLOWED why it has to stay"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("class JobManager: ...", "JobManager"),
        ("def f(sink: int) -> None: ...", "sink"),
        ("retry_helper = 1", "retry_helper"),
        ("async def handle() -> None: ...", "handle"),
        ("class Info: ...", "Info"),
    ],
)
def test_a_banned_word_is_noticed_wherever_a_name_is_defined(source: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "launches.py"
    path.write_text(source)
    assert banned_in(path, root=tmp_path) == {("launches.py", name)}


def test_a_banned_word_is_noticed_in_the_name_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "utils.py"
    path.write_text("answer = 1")
    assert banned_in(path, root=tmp_path) == {("utils.py", "utils")}


@pytest.fixture
def long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree whose only file is one line over the limit."""
    (tmp_path / "docs" / "adr").mkdir(parents=True)
    for room in ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").touch()
    (tmp_path / "events" / "__init__.py").unlink()
    (tmp_path / "events" / "long.py").write_text("x = 1\n" * (sizes.LINES_MAX + 1))
    monkeypatch.setattr(sizes, "ROOT", tmp_path)
    return tmp_path


def test_a_file_over_the_limit_needs_an_adr_that_names_it(long_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sizes.main() == 1
    assert "events/long.py has 251 lines and no ADR says why" in capsys.readouterr().out
    (long_file / "docs" / "adr" / "0001-long.md").write_text("`events/long.py` is long because …")
    assert sizes.main() == 0


def test_the_report_names_the_median_and_the_largest_file_of_a_room(
    long_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (long_file / "events" / "short.py").write_text("x = 1\n")
    sizes.main()
    assert "2 files, median 126 lines; largest: events/long.py 251, events/short.py 1" in capsys.readouterr().out
