"""CPU time a pull of `adaptive` with many groups: Pareto groups and the best group.

D = 2, K = 3, epsilon = 0.1, means uniform, delta = 0.05, sub-Gaussian noise of scale 1, one run each
in the exact engine, after a small run that compiles. Memory is the largest that the process has had.
`--contenders 20`: that many groups have means between .75 and 1, all others between 0 and .25.

    python benchmarks/scale.py [--groups 100 300] [--most 1000000] [--contenders 20]
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


def with_contenders(groups: int, contenders: int = 20, seed: int = 0) -> bg.Instance:
    """Return an instance in which few groups, with means above .75, count; others are below .25."""
    means = 0.25 * np.random.default_rng(seed).random((groups, 3, 2))
    means[:: groups // contenders] += 0.75
    return bg.Instance(means, bg.laws.Normal(1.0))


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
    parser.add_argument("--contenders", type=int, default=0, help="groups that count; 0: all")
    parser.add_argument("--goals", nargs="+", default=["pareto", "best"])
    given = parser.parse_args()
    for goal in (bg.ParetoGroups(0.1), bg.BestGroup([1.0, 1.0], 0.1)):
        if goal.kind not in given.goals:
            continue
        for groups in (5, *given.groups):  # few groups have other code than many
            small = uniform(groups)
            bg.simulate(small, goal, "adaptive", 0.05, 1, seed=0, engine="exact", max_pulls=1000)
        for groups in given.groups:
            few = given.contenders
            instance = with_contenders(groups, few) if few else uniform(groups)
            measure(instance, goal, given.most)


if __name__ == "__main__":
    main()
