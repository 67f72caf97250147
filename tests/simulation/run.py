"""Run many seeds and judge the whole: `python -m tests.simulation.run [SEED]`, N from the environment.

The last line is `histories=N violations=V`. A run that was too easy fails as well: see `vacuity`.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
import time
from collections import Counter
from pathlib import Path

import structlog

from gonogo.events.catalogue import EVENTS, RESERVED
from tests.simulation.faults import every_pair
from tests.simulation.virtual_time import run
from tests.simulation.world import Outcome, World

HISTORIES = 10_000
LAUNCHES_PER_WORLD = 25
EACH_AT_LEAST = 20
JOB_SHARE_MIN = 0.6
SEEDS = Path(__file__).with_name("seeds.txt")
NOT_SIMULATED = frozenset(("DuplicateStopped",))
"""Events that only a real start guard can cause; the local backend's contract suite covers them."""


def quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


def play(seed: int, **changes: object) -> Outcome:
    """One world, to the end."""
    outcome = run(World(seed, launches=LAUNCHES_PER_WORLD, **changes).run())
    assert isinstance(outcome, Outcome)
    return outcome


def _summary(seed: int) -> tuple[int, int, int, list[str], Counter, Counter, Counter]:
    quiet()
    got = play(seed)
    return got.seed, got.launches, got.with_job, got.violations, got.events, got.pairs, got.standings


def vacuity(launches: int, with_job: int, events: Counter, pairs: Counter) -> list[str]:
    """Why this run proves too little."""
    found = []
    if launches and with_job / launches < JOB_SHARE_MIN:
        found.append(f"only {with_job / launches:.0%} of the histories end in a job")
    expected = [name for name in EVENTS if name not in RESERVED | NOT_SIMULATED]
    found.extend(f"event {name} occurred {events[name]} times" for name in expected if events[name] < EACH_AT_LEAST)
    found.extend(
        f"fault {pair} occurred {pairs[pair]} times" for pair in sorted(every_pair()) if pairs[pair] < EACH_AT_LEAST
    )
    return found


def main(arguments: list[str]) -> int:
    quiet()
    if arguments and arguments[0]:
        return _one(int(arguments[0]))
    wanted = int(os.environ.get("N") or HISTORIES)
    kept = [int(line) for line in SEEDS.read_text().split()] if SEEDS.exists() else []
    began = time.monotonic()
    seeds = [*kept, *range(1, wanted // LAUNCHES_PER_WORLD * 2)]
    histories, with_job, bad = 0, 0, 0
    events, pairs, standings = Counter(), Counter(), Counter()
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for seed, launches, jobs, found, said, met, stood in pool.imap_unordered(_summary, seeds, chunksize=2):
            histories, with_job = histories + launches, with_job + jobs
            events, pairs, standings = events + said, pairs + met, standings + stood
            for violation in found[:5]:
                bad += 1
                print(f"seed {seed}: {violation}    (again with: make simulate SEED={seed})", flush=True)
            if histories >= wanted:
                pool.terminate()
                break
    print("events   ", dict(sorted(events.items())))
    print("faults   ", {f"{a}×{b}": n for (a, b), n in sorted(pairs.items())})
    print("standings", dict(standings.most_common()))
    print(f"{with_job / max(histories, 1):.0%} with a job, {time.monotonic() - began:.0f} s")
    weak = vacuity(histories, with_job, events, pairs) if wanted >= HISTORIES else []
    for reason in weak:
        print(f"too easy: {reason}")
    print(f"histories={histories} violations={bad}")
    return 1 if bad or weak else 0


def _one(seed: int) -> int:
    outcome = play(seed)
    for violation in outcome.violations:
        print(violation)
    print("standings", dict(outcome.standings), "events", dict(outcome.events))
    print(f"histories={outcome.launches} violations={len(outcome.violations)}")
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
