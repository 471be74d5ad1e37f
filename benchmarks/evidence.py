"""Pulls of `adaptive` by evidence on pairs of arms against boxes of single arms, by noise model.

    python benchmarks/evidence.py            # about twenty minutes of one core
    python benchmarks/evidence.py --quick    # two minutes, fewer instances and runs

Coins at delta .01, mean of 200 runs; then random instances with means .1 + .8 u, D = 3, delta .05:
N = K = 5 and N = 10, K = 6 with gaps from .1 on, 20 single arms with gaps from .05 on, epsilon .05; for
the best group weights 1, epsilon .02. `boxes` is version 1 of the algorithm on the same runs.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import bestgroup as bg
from bestgroup.algorithms.adaptive.algorithm import Adaptive, AdaptiveByBoxes
from bestgroup.problem.random_instances.draw import random_means

MODELS = {
    "Bernoulli, coins": (bg.Bernoulli(), bg.laws.Bernoulli()),
    "Bounded, coins": (bg.Bounded(0, 1), bg.laws.Bernoulli()),
    "Bounded, beta .15": (bg.Bounded(0, 1), bg.laws.Beta(0.15)),
    "Gaussian, normal .3": (bg.Gaussian(), bg.laws.Normal(0.3)),
}
FAMILIES = {"N=K=5": (5, 5, 0.1), "N=10 K=6": (10, 6, 0.1), "20 singletons": (20, 1, 0.05)}


def coins(runs: int) -> None:
    """Print what saying more about coins costs."""
    pairs = [[[0.4, 0.6], [0.5, 0.3]], [[0.5, 0.2], [0.2, 0.4]]]
    cases = {
        "coins .6 / .4": ([[[0.6]], [[0.4]]], bg.ParetoGroups(0)),
        "coins .10 / .05": ([[[0.10]], [[0.05]]], bg.ParetoGroups(0)),
        "two groups of two arms, D = 2": (pairs, bg.ParetoGroups(0.05)),
        "best group, D = 3": ([[[0.6] * 3], [[0.4] * 3]], bg.BestGroup([1, 1, 1])),
    }
    print(f"delta .01, {runs} runs: mean pulls (standard error), errors")
    for name, (means, goal) in cases.items():
        for noise in (bg.SubGaussian(0.5), bg.Bernoulli(), bg.Bounded(0, 1)):
            instance = bg.Instance(means, law=bg.laws.Bernoulli(), noise=noise)
            sim = bg.simulate(instance, goal, "adaptive", 0.01, runs, 1, progress=False)
            error = sim.pulls.std() / np.sqrt(runs)
            print(
                f"{name:30s} {noise.kind:12s} {sim.pulls.mean():8,.0f} ({error:4.0f}) {sim.errors:3d}"
            )


def random_instances(instances: int, runs: int, goal_name: str) -> None:
    """Print how many times fewer pulls than boxes evidence takes on random instances."""
    goal = bg.ParetoGroups(0.05) if goal_name == "Pareto" else bg.BestGroup([1, 1, 1], 0.02)
    print(f"{goal_name}, delta .05, {instances} instances, {runs} runs each")
    for family, (groups, arms, gap) in FAMILIES.items():
        more = {"min_gap": gap / 0.8}
        if goal_name != "Pareto":
            more = {"weights": [1, 1, 1], "linear_gap": 0.02 / 0.8}
        for name, (noise, law) in MODELS.items():
            pulls, seconds, errors = np.zeros((2, instances)), np.zeros(2), np.zeros(2, int)
            for seed in range(instances):
                means = 0.1 + 0.8 * np.asarray(
                    random_means(groups, arms, 3, seed=100 + seed, **more)
                )
                instance = bg.Instance(means, law=law, noise=noise)
                for k, algorithm in enumerate((AdaptiveByBoxes(), Adaptive())):
                    begin = time.perf_counter()
                    sim = bg.simulate(instance, goal, algorithm, 0.05, runs, seed, progress=False)
                    seconds[k] += time.perf_counter() - begin
                    pulls[k, seed], errors[k] = sim.pulls.mean(), errors[k] + sim.errors
            boxes, ours = pulls.mean(axis=1)
            speed = pulls.sum(axis=1) * runs / seconds
            print(
                f"{family:14s} {name:20s} boxes {boxes:8,.0f} evidence {ours:8,.0f} x {boxes / ours:.2f}"
                f"  errors {errors[0]} {errors[1]}  pulls/s {speed[0]:,.0f} {speed[1]:,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["coins", "Pareto", "best"])
    chosen = parser.parse_args()
    few = chosen.quick
    if chosen.only in (None, "coins"):
        coins(200)
    for goal in ("Pareto", "best"):
        if chosen.only in (None, goal):
            random_instances(3 if few else 12, 2 if few else 10, goal)
