"""CPU time a pull of `adaptive` with many groups: Pareto groups and the best group.

D = 2, K = 3, epsilon = 0.1, means uniform, delta = 0.05, sub-Gaussian noise of scale 1, one run each
in the exact engine, after a small run that compiles. Memory is the largest that the process has had.

    python benchmarks/scale.py [--groups 100 300] [--seconds 60]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

import bestgroup as bg


def uniform(groups: int, seed: int = 0) -> bg.Instance:
    """Return an instance with means that are uniform on [0, 1]."""
    return bg.Instance(np.random.default_rng(seed).random((groups, 3, 2)), bg.laws.Normal(1.0))


def measure(instance: bg.Instance, goal: bg.ParetoGroups | bg.BestGroup, most: int | None) -> None:
    """Print how long one run takes."""
    start = time.process_time()
    sim = bg.simulate(instance, goal, "adaptive", 0.05, 1, seed=1, engine="exact", max_pulls=most)
    spent = time.process_time() - start
    pulls = int(sim.pulls.sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    whole = "" if sim.finished.all() else ", cut off"
    print(
        f"{goal.kind:7} N = {instance.shape.groups:5}: {spent:8.1f} s, {pulls:10,} pulls{whole}, "
        f"{1e6 * spent / pulls:6.2f} us a pull, {peak:.2f} GiB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--most", type=int, default=None, help="pulls, at most")
    given = parser.parse_args()
    for goal in (bg.ParetoGroups(0.1), bg.BestGroup([1.0, 1.0], 0.1)):
        bg.simulate(uniform(5), goal, "adaptive", 0.05, 1, seed=0, engine="exact")
        for groups in given.groups:
            measure(uniform(groups), goal, given.most)


if __name__ == "__main__":
    main()
