"""The simulation as part of the suite: a small run, its determinism, and every planted mutant caught."""

from __future__ import annotations

import re

import pytest

from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.run import play, quiet

SEEDS = range(2, 14)
MUTANT_SEEDS = range(2, 60)


@pytest.fixture(autouse=True)
def _quiet() -> None:
    quiet()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_invariant_breaks_under_faults(seed: int) -> None:
    assert play(seed).violations == []


def test_the_same_seed_is_the_same_history() -> None:
    assert play(3).trace == play(3).trace


def test_another_seed_is_another_history() -> None:
    assert play(3).trace != play(4).trace


def test_without_faults_every_confirmed_launch_ends_in_a_job() -> None:
    outcome = play(20)
    assert outcome.violations == []
    assert outcome.with_job >= 0.9 * outcome.launches


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.plant.__name__)
def test_a_planted_mutant_is_caught_by_its_invariant(mutant: Mutant) -> None:
    with mutant.plant():
        for seed in MUTANT_SEEDS:
            found = play(seed).violations
            if any(re.match(mutant.caught_by, violation) for violation in found):
                return
    pytest.fail(f"{mutant.plant.__name__} survived {len(MUTANT_SEEDS)} seeds")
