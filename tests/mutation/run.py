"""Makes every decider and fold wrong in one small way after another, and demands that their own specs notice.

Not mutmut: it names a mutant by the path of its file, but our rooms are imported as `gonogo.…` through links, so it sees
no test touch its mutants; and it leaves `match` cases and module constants alone, which is what these files are made of.

A mutant is swapped in as its module is imported, in a forked child; no file is changed. A survivor that changes nothing
anyone could observe is named in accepted.txt with its reason. Arguments narrow the files: `python -m tests.mutation.run gates`.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType

import hypothesis.stateful
import pytest
from hypothesis import HealthCheck, Phase, settings

import tests.spec
from tests.mutation.mutations import Mutant, mutants

ROOT = Path(__file__).resolve().parent.parent.parent
ACCEPTED = Path(__file__).with_name("accepted.txt")
LOADED_ONCE = (hypothesis.stateful, tests.spec)
"""Here, and not in every child. Nothing of the mutated files is among it."""
CHILDREN_MAX = 2
SURVIVED = 0
KILLED = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
TARGETS: dict[str, tuple[str, ...]] = {
    "services/intake/decider.py": ("specs/test_intake_decider.py",),
    "services/notifier/decider.py": ("specs/test_notifier.py",),
    "services/placeholder_manager/decider.py": ("specs/test_placeholder_manager.py",),
    "services/preflight/decider.py": ("specs/test_preflight.py",),
    "services/submitter/decider.py": ("specs/test_submitter.py",),
    "services/submitter/evidence.py": ("specs/test_evidence.py",),
    "services/watcher/decider.py": ("specs/test_watcher.py",),
    "projections/gates.py": ("projections/test_gates.py",),
    "projections/invariants.py": ("projections/test_invariants.py",),
    "projections/jobs.py": ("projections/test_jobs.py",),
    "projections/launches.py": ("projections/test_launches.py",),
    "projections/notifications.py": ("projections/test_notifications.py",),
    "projections/placeholders.py": ("projections/test_placeholders.py",),
    "projections/preflights.py": ("projections/test_preflights.py",),
    "projections/replay.py": ("projections/test_replay.py",),
    "projections/submissions.py": ("projections/test_submissions.py",),
}
"""Each file with the specs that must notice by themselves."""


class Swap(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers the import of one module with another tree."""

    def __init__(self, file: str, tree: ast.Module) -> None:
        self.file = file
        self.tree = tree
        self.module = "gonogo." + file.removesuffix(".py").replace("/", ".")

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.module else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.tree, self.file, "exec"), module.__dict__)


@dataclass(frozen=True)
class Trial:
    process: BaseProcess
    file: str
    mutant: Mutant
    deadline: float


def child(file: str, tree: ast.Module) -> None:
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.meta_path.insert(0, Swap(file, tree))
    settings.register_profile(
        "mutation",
        database=None,
        derandomize=True,
        max_examples=20,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutation")
    specs = [str(ROOT / "tests" / name) for name in TARGETS[file]]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    options = ["-x", "-q", "--noconftest", "-c", os.devnull, "--import-mode=importlib", "--assert=plain", "--tb=no"]
    os._exit(pytest.main([*options, *specs]))


def start(file: str, mutant: Mutant, patience_s: float) -> Trial:
    process = multiprocessing.get_context("fork").Process(target=child, args=(file, mutant.tree))
    process.start()
    return Trial(process, file, mutant, time.monotonic() + patience_s)


def verdict(trial: Trial) -> str | None:
    if trial.process.exitcode is None:
        if time.monotonic() < trial.deadline:
            return None
        trial.process.kill()
        trial.process.join()
        return "killed"
    if trial.process.exitcode == SURVIVED:
        return "survived"
    return "killed" if trial.process.exitcode in KILLED else f"broke: exit {trial.process.exitcode}"


def patience(file: str) -> float:
    """Run the unchanged file the same way: it must pass, and tells how long to wait for a mutant that hangs."""
    began = time.monotonic()
    tree = ast.parse((ROOT / file).read_text())
    trial = start(file, Mutant("unchanged", 0, tree), 120)
    trial.process.join()
    if trial.process.exitcode != SURVIVED:
        message = f"{file}: its specs fail on the unchanged file; run pytest {' '.join(TARGETS[file])} first"
        raise SystemExit(message)
    return 10 + 5 * (time.monotonic() - began)


def judged(file: str) -> Iterator[tuple[Mutant, str]]:
    patience_s = patience(file)
    waiting = mutants((ROOT / file).read_text())
    running: list[Trial] = []
    while True:
        while len(running) < CHILDREN_MAX and (mutant := next(waiting, None)) is not None:
            running.append(start(file, mutant, patience_s))
        if not running:
            return
        wait([trial.process.sentinel for trial in running], timeout=1)
        for trial in tuple(running):
            trial.process.join(0)
            said = verdict(trial)
            if said is not None:
                running.remove(trial)
                yield trial.mutant, said


def accepted() -> dict[str, str]:
    """What accepted.txt says: a mutant at the beginning of a line, its reason on the indented lines below."""
    reasons: dict[str, str] = {}
    mutant = ""
    for line in ACCEPTED.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace():
            reasons[mutant] = f"{reasons[mutant]} {line.strip()}".strip()
        else:
            mutant = line.strip()
            reasons[mutant] = ""
    return reasons


def main(wanted: list[str]) -> int:
    files = [file for file in TARGETS if not wanted or any(part in file for part in wanted)]
    reasons, bad, total, killed, excused = accepted(), 0, 0, 0, set[str]()
    for file in files:
        counts = {"all": 0, "killed": 0}
        for mutant, said in judged(file):
            name = f"{file} {mutant.id}"
            counts["all"] += 1
            counts["killed"] += said == "killed"
            if said == "survived" and reasons.get(name):
                excused.add(name)
            elif said != "killed":
                bad += 1
                print(f"{said}: {file}:{mutant.line}: {mutant.id}", flush=True)
        total, killed = total + counts["all"], killed + counts["killed"]
        print(f"{file}: {counts['all']} mutants, {counts['killed']} killed", flush=True)
    unused = [name for name in reasons if name not in excused and name.split()[0] in files]
    print("".join(f"accepted.txt is out of date: no such survivor: {name}\n" for name in unused), end="")
    print(f"{total} mutants, {killed} killed, {len(excused)} accepted with a reason, {bad} survivors")
    return 1 if bad or unused or not total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
