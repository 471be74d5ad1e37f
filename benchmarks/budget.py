"""Success with a fixed number of pulls: sequential halving, uniform allocation, and `adaptive` stopped there.

    python benchmarks/budget.py --runs 2000 --figure docs/images/budget.png

Instances have 8 groups of 3 arms in 2 dims, normal noise of scale .3, means as in section 5 of the paper; the
question is the best group, weights 1 and 1. At a budget uniform allocation names the group of the largest
weighted estimate, and so does `adaptive`, which knows no budget; "proven" is the share of its runs that had
ended by then.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.exact.driver import Run, _Driver
from bestgroup.drivers.exact.plans import loop_for

BUDGETS = (100, 200, 400, 800, 1600, 3200)
GOAL = bg.BestGroup([1.0, 1.0])
DELTA = 0.05
SCALE = 0.3


def uniform(instance: bg.Instance, budget: int, runs: int, seed: int) -> float:
    """Return the share of runs in which the largest weighted estimate is the best group's."""
    rng = np.random.default_rng(seed)
    means = instance.padded_means
    n = budget // instance.shape.total
    noise = rng.standard_normal((runs, *means.shape)) * SCALE / np.sqrt(n)
    worth = (means + noise).max(axis=2).sum(axis=2)
    return float((worth.argmax(axis=1) == best(instance)).mean())


def _instance(seed: int) -> bg.Instance:
    """Return an instance with normal noise of scale .3."""
    drawn = bg.Instance.random(groups=8, arms=3, dims=2, pareto=3, min_gap=0.05, seed=seed)
    noise, law = bg.SubGaussian(SCALE), bg.laws.Normal(SCALE)
    return bg.Instance(list(drawn.padded_means), law=law, noise=noise)


def best(instance: bg.Instance) -> int:
    """Return the best group."""
    return int(instance.efficiency.sum(axis=1).argmax())


def halving(instance: bg.Instance, budget: int, runs: int, seed: int) -> float:
    """Return the share of runs of sequential halving that name the best group."""
    algorithm = bg.algorithm("sequential-halving", budget=budget)
    return float(bg.simulate(instance, GOAL, algorithm, runs=runs, seed=seed).correct.mean())


def adaptive(instance: bg.Instance, runs: int, seed: int) -> np.ndarray:
    """Return, by budget, the share of runs whose estimates name the best group, and of ended runs."""
    right = np.zeros((2, len(BUDGETS)))
    setting = Setting.for_instance(instance, GOAL, DELTA)
    algorithm = bg.algorithm("adaptive")
    rule = algorithm.rule(setting)
    kernels = algorithm.kernels_for(rule)
    assert kernels is not None
    loop = loop_for(kernels)
    for run in range(runs):
        # A run that was capped goes on where it was: every budget is a look at the same run.
        driver = _Driver(instance, setting, algorithm, rule, (seed, run))
        for k, budget in enumerate(BUDGETS):
            found = driver.compiled(loop, budget)
            right[1, k] += found.finished
            right[0, k] += _named(driver, found) == best(instance)
    return right / runs


def _named(driver: _Driver, found: Run) -> int:
    """Return the answer, or the group of the largest weighted estimate."""
    if found.finished:
        return min(found.answer)
    means = driver.tally.sums / np.maximum(driver.tally.counts, 1)[:, :, None]
    return int(means.max(axis=1).sum(axis=1).argmax())


def main() -> None:
    """Print the table, and draw it if asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200, help="of each rule, over all instances")
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--figure", default=None)
    given = parser.parse_args()
    each = max(1, given.runs // given.instances)
    rows: dict[str, list[np.ndarray]] = {"halving": [], "uniform": [], "adaptive": [], "proven": []}
    begun = time.perf_counter()
    for k in range(given.instances):
        instance = _instance(k)
        rows["halving"].append(np.array([halving(instance, b, each, k) for b in BUDGETS]))
        rows["uniform"].append(np.array([uniform(instance, b, each, k) for b in BUDGETS]))
        named, ended = adaptive(instance, each, k)
        rows["adaptive"].append(named)
        rows["proven"].append(ended)
    table = {name: np.mean(found, axis=0) for name, found in rows.items()}
    print(f"{given.instances} instances x {each} runs, {time.perf_counter() - begun:.0f} s")
    print("budget   " + "".join(f"{budget:>8,}" for budget in BUDGETS))
    for name, found in table.items():
        print(f"{name:<9}" + "".join(f"{share:8.3f}" for share in found))
    if given.figure:
        draw(table, given.instances * each).savefig(given.figure, dpi=150)


def draw(table: dict[str, np.ndarray], runs: int) -> object:
    """Return the figure: success against budget."""
    from bestgroup.plots.canvas import BLUE, GREEN, GREY, ORANGE, figure, fitted

    result = figure(6.4, 3.8)
    axes = result.add_subplot()
    styles = {
        "adaptive": (BLUE, "-", "adaptive, best guess at the budget"),
        "halving": (ORANGE, "-", "sequential halving"),
        "uniform": (GREY, "-", "uniform allocation"),
        "proven": (GREEN, "--", f"adaptive has proven it (delta {DELTA:g})"),
    }
    for name, (color, line, label) in styles.items():
        axes.plot(BUDGETS, table[name], line, color=color, marker="o", markersize=3, label=label)
    axes.set_xscale("log")
    axes.set_xticks(BUDGETS, [f"{budget:,}" for budget in BUDGETS])
    axes.minorticks_off()
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("pulls")
    axes.set_ylabel("share of runs with the best group")
    axes.set_title(f"8 groups of 3 arms, 2 dims; {runs:,} runs of each", fontsize=10)
    result.legend(frameon=False, loc="outside lower center", ncols=2, fontsize=8)
    return fitted(result)


if __name__ == "__main__":
    main()
