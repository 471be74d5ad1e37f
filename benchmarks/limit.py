"""CPU seconds until the characteristic time T* is certified, for both goals on random means.

Gaps are in percent of T*; the first call, which compiles, is not counted.

    python benchmarks/limit.py [--instances 5] [--seed 6]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from bestgroup.problem.goals import BestGroup, ParetoGroups
from bestgroup.theory.characteristic_time.limit import limit_of

# groups, arms, dims; dependence; gap asked for
CASES = (
    ((5, 5, 3), None, 0.01),
    ((10, 6, 3), None, 0.01),
    ((60, 1, 3), None, 0.01),
    ((20, 6, 3), None, 0.01),
    ((5, 6, 3), "full", 0.02),
    ((10, 6, 3), "full", 0.02),
)
GOALS = {
    "pareto, epsilon .01": ParetoGroups(0.01),
    "pareto, epsilon .05": ParetoGroups(0.05),
    "best": BestGroup([1, 2, 3]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=5)
    parser.add_argument("--seed", type=int, default=6)
    options = parser.parse_args()
    print("| arms | dims | dependence | goal | gap at most | CPU s, median | CPU s, largest |")
    print("|---|---|---|---|---|---|---|")
    for shape, dependence, tolerance in CASES:
        for name, goal in GOALS.items():
            limit_of([np.eye(3), 1 - np.eye(3)], np.ones(3), goal, dependence, tolerance)
            seconds, gaps = [], []
            for k in range(options.instances):
                means = list(np.random.default_rng([options.seed, k]).random(shape))
                start = time.process_time()
                found = limit_of(means, np.ones(3), goal, dependence, tolerance)
                seconds.append(time.process_time() - start)
                gaps.append(found.gap)
            print(
                f"| {shape[0]} x {shape[1]} | {shape[2]} | {dependence or 'independent'} | {name} "
                f"| {max(gaps):.2%} | {np.median(seconds):.2f} | {max(seconds):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
