"""Total cost of adaptive when it knows the costs of arms, against when it ignores them.

Three kinds of instances, D = 2, 5 groups, costs of a pull from 1 to 10:

* two assays: 4 arms a group that serve about equally well (within .03 of the group's level in each
  dim, levels uniform on [0, 1]^2), each at a cost of 1 or 10 by the toss of a coin; that of seed 2
  is the stated instance (`--kind "two assays" --first 2 --instances 1 --runs 100`);
* graded: the same with 6 arms a group and costs drawn log-uniformly;
* random: 5 arms a group with means uniform on [0, 1]^2, costs log-uniform; few arms matter here, and
  what they cost is a matter of luck.

Levels are drawn anew until no two efficiencies are closer than .05, the best sum leads by .15, and at
least two groups are Pareto optimal and two are not. Both sides run on the same seeds; a saving is one
minus the ratio of mean total costs, with a 95 % bootstrap interval over runs. Every instance is
printed; the line of a kind has the geometric mean of the ratios.

    python benchmarks/costs.py [--runs 20] [--instances 8] [--first 0] [--goal both] [--kind KIND]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import bestgroup as bg
from bestgroup.drivers.exact.driver import run_once
from bestgroup.problem.arrays import Floats

DELTA, CAP = 0.05, 10**8
Case = tuple[bg.Instance, Floats]


def levels_are_clear(best: Floats) -> bool:
    """Return whether efficiencies [N, D] differ enough and make a mixed Pareto problem."""
    first, second = np.sort(best.sum(axis=1))[::-1][:2]
    above = (best[:, None, :] > best[None, :, :]).all(axis=2)
    out = int(above.any(axis=0).sum())
    apart = np.abs(best[:, None, :] - best[None, :, :])[~np.eye(len(best), dtype=bool)]
    return bool(first - second > 0.15 and apart.min() > 0.05 and 2 <= out <= len(best) - 2)


def alike(seed: int, arms: int, two: bool) -> Case:
    """Return groups of arms that serve about equally well, and their costs."""
    rng = np.random.default_rng(seed)
    while True:
        means = rng.random((5, 1, 2)) + rng.uniform(-0.03, 0.03, (5, arms, 2))
        if levels_are_clear(means.max(axis=1)):
            break
    costs = rng.choice([1.0, 10.0], (5, arms)) if two else 10.0 ** rng.random((5, arms))
    return bg.Instance(means.tolist()), costs


def random(seed: int) -> Case:
    """Return a random instance; that of seed 0 has been measured from the start."""
    instance = bg.Instance.random(5, 5, 2, 2, 0.05, seed + 1)
    return instance, np.exp(np.random.default_rng(seed).uniform(0, np.log(10), (5, 5)))


KINDS: dict[str, Any] = {
    "two assays": lambda seed: alike(seed, 4, True),
    "graded": lambda seed: alike(seed, 6, False),
    "random": random,
}


def spend(case: Case, goal: Any, noise: bg.SubGaussian, known: bool, runs: int) -> Floats:
    """Return the total costs of runs, [R]."""
    instance, costs = case
    table = tuple(tuple(row) for row in costs.tolist()) if known else None
    setting = bg.Setting(instance.shape, goal, noise, DELTA, table)
    algorithm = bg.algorithm("adaptive")
    done = [run_once(instance, setting, algorithm, (7, k), CAP) for k in range(runs)]
    assert all(run.finished for run in done)
    return np.array([(run.counts * costs).sum() for run in done])


def saving(pairs: list[tuple[Floats, Floats]]) -> tuple[float, float, float]:
    """Return one minus the geometric mean of the ratios of means, and its bootstrap interval."""
    rng, draws = np.random.default_rng(0), []
    for ignored, known in pairs:
        shape = (4000, len(known))
        draws.append(
            np.log(rng.choice(known, shape).mean(axis=1))
            - np.log(rng.choice(ignored, shape).mean(axis=1))
        )
    exact = np.mean([np.log(known.mean() / ignored.mean()) for ignored, known in pairs])
    low, high = np.quantile(np.mean(draws, axis=0), [0.025, 0.975])
    return 1 - float(np.exp(exact)), 1 - float(np.exp(high)), 1 - float(np.exp(low))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--instances", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="seed of the first instance")
    parser.add_argument("--arms", choices=["independent", "arbitrary"], default="independent")
    parser.add_argument("--goal", choices=["pareto", "best", "both"], default="both")
    parser.add_argument("--kind", choices=list(KINDS))
    options = parser.parse_args()
    noise = bg.SubGaussian(1.0, arms=options.arms)
    goals = {"pareto": bg.ParetoGroups(0.02), "best": bg.BestGroup([1.0, 1.0])}
    for kind in [options.kind] if options.kind else KINDS:
        for name, goal in goals.items():
            if options.goal not in (name, "both"):
                continue
            start, pairs = time.process_time(), []
            for seed in range(options.first, options.first + options.instances):
                case = KINDS[kind](seed)
                pairs.append(
                    (
                        spend(case, goal, noise, False, options.runs),
                        spend(case, goal, noise, True, options.runs),
                    )
                )
                ignored, known = pairs[-1]
                rate, low, high = saving(pairs[-1:])
                print(
                    f"  {kind}, {name}, instance {seed}: mean cost {ignored.mean():,.0f} ignored, "
                    f"{known.mean():,.0f} known: saved {rate:.1%} [{low:.1%}, {high:.1%}], "
                    f"largest / mean {known.max() / known.mean():.2f}",
                    flush=True,
                )
            rate, low, high = saving(pairs)
            print(
                f"{kind}, {name}: saved {rate:.1%} [{low:.1%}, {high:.1%}] of the total cost over "
                f"{options.instances} instances, {options.runs} runs each, "
                f"{time.process_time() - start:.0f} s CPU",
                flush=True,
            )


if __name__ == "__main__":
    main()
