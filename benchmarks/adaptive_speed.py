"""Pulls a second of the adaptive algorithm, decisions included, beside the exact engine's TE.

N = K = 5, D = 3, delta = 0.01, least gap above 0.03, one core; Pareto groups with epsilon = 0.01,
the best group with weights (1, 2, 3). Then coins that are only known to be bounded, epsilon = 0.1.
CPU time of whole calls of `simulate`, after a first call that compiles; the median over repetitions.

    python benchmarks/adaptive_speed.py [--repeats 5]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import bestgroup as bg

WEIGHTS = (1.0, 2.0, 3.0)


def speed(instance: bg.Instance, goal: Any, algorithm: Any, runs: int, repeats: int) -> None:
    bg.simulate(instance, goal, algorithm, 0.01, 1, seed=99, engine="exact")
    rates, pulls = [], 0.0
    for seed in range(repeats):
        start = time.process_time()
        sim = bg.simulate(instance, goal, algorithm, 0.01, runs, seed=seed, engine="exact")
        rates.append(sim.pulls.sum() / (time.process_time() - start))
        pulls = sim.pulls.mean()
    print(f"  {algorithm!s:22} {np.median(rates):12,.0f} pulls a second   ({pulls:,.0f} a run)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    instance = bg.Instance.random(5, 5, 3, 2, 0.03, 1000, weights=[WEIGHTS], linear_gap=0.03)
    by_one, by_share = bg.algorithm("adaptive", batch=1), bg.algorithm("adaptive")
    for label, goal, first in (
        ("Pareto groups", bg.ParetoGroups(0.01), "te"),
        ("best group", bg.BestGroup(WEIGHTS), "eecb"),
    ):
        print(label)
        speed(instance, goal, bg.algorithm(first), 1, repeats)
        speed(instance, goal, by_share, 10, repeats)
        speed(instance, goal, by_one, 3, repeats)
    means = [0.1 + 0.8 * rows for rows in instance.means]
    coins = bg.Instance(means, bg.laws.Bernoulli(), bg.Bounded(0, 1))
    for label, goal, first in (
        ("Pareto groups, bounded values", bg.ParetoGroups(0.1), "te"),
        ("best group, bounded values", bg.BestGroup(WEIGHTS, 0.1), "eecb"),
    ):
        print(label)
        speed(coins, goal, bg.algorithm(first), 3, repeats)
        speed(coins, goal, by_share, 3, repeats)


if __name__ == "__main__":
    main()
