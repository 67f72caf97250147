"""What goes wrong, where, and how often: drawn from one seeded source, counted for the rules against vacuity."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

LOG_FAULTS = ("crash-before", "crash-after", "lost-request", "lost-answer", "delay")
READ_FAULTS = ("crash-before", "crash-after", "lost-request", "delay")
EFFECT_FAULTS = ("crash-before", "crash-after", "delay", "pause")
CREATE = ("refuse", "lose-answer", "lose-request", "late-create", "late-visible", "copy", "differ", "slow")
PLATFORM_FAULTS = {
    "create": CREATE,
    "find": ("error", "empty"),
    "read_back": ("error",),
    "status": ("error", "silent", "requeue"),
    "stop": ("error",),
    "probe": ("error",),
    "check_paths": ("error",),
}
AWAITS = {
    "append": LOG_FAULTS,
    "read": READ_FAULTS,
    "create": EFFECT_FAULTS,
    "find": EFFECT_FAULTS,
    "read_back": EFFECT_FAULTS,
    "status": EFFECT_FAULTS,
    "stop": EFFECT_FAULTS,
    "probe": EFFECT_FAULTS,
    "send": ("crash-before", "crash-after", "delay", "refused", "refused-for-good", "unconfirmed"),
}
RARE = {
    "platform.create": 6.0,
    "create": 2.5,
    "stop": 6.0,
    "platform.stop": 6.0,
    "platform.status": 2.0,
    "platform.check_paths": 4.0,
}
"""Awaits that come once in a history, or seldom, are hit harder, so that every pair is met often enough."""


@dataclass
class Faults:
    """One seed's weather. Swarm testing: each seed enables a random subset with random weights."""

    rng: random.Random
    intensity: float
    active: bool = True
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._weights = {
            (point, fault): self.rng.random() ** 2 if self.rng.random() < 0.6 else 0.0
            for point, faults in sorted((AWAITS | {f"platform.{k}": v for k, v in PLATFORM_FAULTS.items()}).items())
            for fault in faults
        }

    def draw(self, point: str, faults: tuple[str, ...]) -> str | None:
        """Which fault happens at this await, if any."""
        if not self.active or self.intensity <= 0:
            return None
        share = self.intensity * RARE.get(point, 1.0)
        if self.rng.random() >= share:
            return None
        weights = [self._weights[point, fault] for fault in faults]
        if sum(weights) <= 0:
            return None
        fault = self.rng.choices(faults, weights)[0]
        self.counts[point, fault] += 1
        return fault

    def at(self, await_point: str) -> str | None:
        return self.draw(await_point, AWAITS[await_point])

    def of_platform(self, call: str, name: str) -> str | None:
        _ = name
        return self.draw(f"platform.{call}", PLATFORM_FAULTS[call]) if call in PLATFORM_FAULTS else None


def every_pair() -> frozenset[tuple[str, str]]:
    """Every (await × fault) pair that a run which is not vacuous must have met."""
    ours = {(point, fault) for point, faults in AWAITS.items() for fault in faults}
    theirs = {(f"platform.{call}", fault) for call, faults in PLATFORM_FAULTS.items() for fault in faults}
    return frozenset(ours | theirs)
