"""A small real training, standard library only: logistic regression on two clouds of points.

Prints its progress, writes one line of JSON per epoch to metrics.jsonl and the learned weights to model.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from pathlib import Path

POINTS = 400
BATCH = 20
LEARNING_RATE = 0.1
EVEN = 0.5

Point = tuple[float, float, int]
Weights = list[float]


def points(seed: int) -> list[Point]:
    """Two clouds that overlap a little, so that the loss falls but never to zero."""
    chance = random.Random(seed)
    drawn: list[Point] = []
    for index in range(POINTS):
        label = index % 2
        centre = 1.0 if label else -1.0
        drawn.append((chance.gauss(centre, 1.0), chance.gauss(centre, 1.0), label))
    chance.shuffle(drawn)
    return drawn


def predicted(weights: Weights, point: Point) -> float:
    return 1.0 / (1.0 + math.exp(-(weights[0] * point[0] + weights[1] * point[1] + weights[2])))


def train_epoch(weights: Weights, training: list[Point]) -> None:
    for start in range(0, len(training), BATCH):
        batch = training[start : start + BATCH]
        gradient = [0.0, 0.0, 0.0]
        for point in batch:
            error = predicted(weights, point) - point[2]
            for place, value in enumerate((point[0], point[1], 1.0)):
                gradient[place] += error * value / len(batch)
        for place, slope in enumerate(gradient):
            weights[place] -= LEARNING_RATE * slope


def measured(weights: Weights, held_out: list[Point]) -> tuple[float, float]:
    """Mean loss and accuracy on points that were not trained on."""
    loss, right = 0.0, 0
    for point in held_out:
        chance = min(max(predicted(weights, point), 1e-9), 1 - 1e-9)
        loss -= math.log(chance if point[2] else 1 - chance)
        right += (chance > EVEN) == bool(point[2])
    return loss / len(held_out), right / len(held_out)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--output", type=Path, default=os.environ.get("GONOGO_OUTPUT"))
    parser.add_argument("--seconds-per-epoch", type=float, default=0.2, help="pretend to be bigger than it is")
    chosen = parser.parse_args()
    if chosen.output is None:
        parser.error("say where results go: --output FOLDER, or set GONOGO_OUTPUT")
    if chosen.epochs < 1:
        parser.error("--epochs is at least 1")
    return chosen


def main() -> int:
    chosen = arguments()
    chosen.output.mkdir(parents=True, exist_ok=True)
    drawn = points(int(os.environ.get("SEED", "7")))
    training, held_out = drawn[: POINTS * 3 // 4], drawn[POINTS * 3 // 4 :]
    weights: Weights = [0.0, 0.0, 0.0]
    with (chosen.output / "metrics.jsonl").open("w", encoding="utf-8") as metrics:
        for epoch in range(1, chosen.epochs + 1):
            train_epoch(weights, training)
            time.sleep(chosen.seconds_per_epoch)
            loss, accuracy = measured(weights, held_out)
            metrics.write(json.dumps({"epoch": epoch, "loss": round(loss, 6), "accuracy": accuracy}) + "\n")
            metrics.flush()
            print(f"epoch {epoch}/{chosen.epochs}  loss {loss:.4f}  accuracy {accuracy:.2%}", flush=True)
    (chosen.output / "model.json").write_text(json.dumps({"weights": weights}) + "\n", encoding="utf-8")
    print(f"done: results in {chosen.output}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
