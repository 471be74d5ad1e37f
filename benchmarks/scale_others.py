"""CPU time of te-plus, in both engines, and of `certify` with many groups.

D = 2, K = 3, epsilon = 0.1, means uniform, delta = 0.05, normal noise of scale 1, after a small run
that compiles; the instances are those of scale.py. `certify` gets 200 pulls of every arm.

    python benchmarks/scale_others.py [--groups 100 300] [--most 1000000] [--engines jump exact]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from scale import uniform

import bestgroup as bg

PULLS = 200  # of every arm, for `certify`
GOALS = bg.ParetoGroups(0.1), bg.BestGroup([1.0, 1.0], 0.1)


def measure_te_plus(groups: int, engine: str, most: int | None) -> None:
    """Print how long one run takes."""
    start = time.process_time()
    sim = bg.simulate(uniform(groups), GOALS[0], "te-plus", 0.05, 1, seed=1, engine=engine,
                      max_pulls=most)  # fmt: skip
    spent, pulls = time.process_time() - start, int(sim.pulls.sum())
    whole = "" if sim.finished.all() else ", cut off"
    print(f"te-plus, {engine}, N = {groups:5}: {spent:7.2f} s, {pulls:,} pulls{whole}", flush=True)


def measure_certify(groups: int, goal: bg.ParetoGroups | bg.BestGroup) -> None:
    """Print how long a table takes."""
    rng = np.random.default_rng(0)
    means, names, arms = rng.random((groups, 3, 2)), [f"g{i}" for i in range(groups)], list("abc")
    i = np.repeat(np.arange(groups), 3 * PULLS)
    j = np.tile(np.repeat(np.arange(3), PULLS), groups)
    values = means[i, j] + rng.standard_normal((len(i), 2))
    columns = {"group": np.array(names)[i], "arm": np.array(arms)[j]}
    table = pd.DataFrame({**columns, "x": values[:, 0], "y": values[:, 1]})
    roles = dict.fromkeys("xy", "max")
    problem = bg.Problem(dict.fromkeys(names, arms), roles, bg.SubGaussian(1.0))
    start = time.process_time()
    found = bg.certify(table, goal, problem, 0.05)
    spent, left = time.process_time() - start, len(found.undecided)
    print(f"certify, {goal.kind:6}, N = {groups:5}: {spent:6.2f} s for {len(table):,} rows, {left} "
          "groups undecided", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--most", type=int, default=None, help="pulls, at most")
    parser.add_argument("--engines", nargs="*", default=["jump", "exact"])
    given = parser.parse_args()
    for goal in GOALS:
        measure_certify(5, goal)
        for groups in given.groups:
            measure_certify(groups, goal)
    for engine in given.engines:
        measure_te_plus(5, engine, None)
        for groups in given.groups:
            measure_te_plus(groups, engine, given.most)


if __name__ == "__main__":
    main()
