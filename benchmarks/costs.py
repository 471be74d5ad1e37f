"""Total cost of adaptive when it knows the costs of arms, against when it ignores them.

The instance: N = K = 5, D = 2, 2 Pareto-optimal groups, minimal gap .05, seed 1; the cost of a pull is
drawn log-uniformly from 1 to 10 for each arm (seed 0). Both sides run on the same seeds in one process;
the ratio is of mean total costs.

    python benchmarks/costs.py [--runs 20]
"""

from __future__ import annotations

import argparse

import numpy as np

import bestgroup as bg
from bestgroup.simulation.exact_driver import run_once


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--runs", type=int, default=20)
    runs = arguments.parse_args().runs
    rng = np.random.default_rng(0)
    instance = bg.Instance.random(groups=5, arms=5, dims=2, pareto=2, min_gap=0.05, seed=1)
    costs = np.exp(rng.uniform(0, np.log(10), (5, 5)))
    table = tuple(tuple(row) for row in costs.tolist())
    algorithm = bg.algorithm("adaptive")
    for goal in (bg.ParetoGroups(0.02), bg.BestGroup([1.0, 1.0])):
        spent = {}
        for label, given in (("ignored", None), ("known", table)):
            setting = bg.Setting(instance.shape, goal, instance.noise, 0.05, given)
            done = [run_once(instance, setting, algorithm, (7, k), 10**8) for k in range(runs)]
            assert all(run.finished for run in done)
            spent[label] = np.array([(run.counts * costs).sum() for run in done])
            pulls = np.mean([run.counts.sum() for run in done])
            print(
                f"{goal}: costs {label}: mean cost {spent[label].mean():,.0f}, pulls {pulls:,.0f}"
            )
        saved = 1 - spent["known"].mean() / spent["ignored"].mean()
        print(f"{goal}: saved {saved:.1%} of the total cost over {runs} runs")


if __name__ == "__main__":
    main()
