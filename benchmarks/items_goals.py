"""Share of a full table that limits, other worths and the m best groups take on shared items.

    python benchmarks/items_goals.py [--runs 50] [--errors 0] TABLE.npz ...

A table file holds `X` [items, arms, dims] in [0, 1] and `g`, the group of each arm. Limits are put so
that they exclude half of the arms: on the median of the arms' means in a dim. *On the limit* moves it to
the mean of an arm, without a tolerance.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import bestgroup as bg

EPSILON = {"digits": 0.02, "codec": 0.01}


def questions(X: Any, epsilon: float) -> list[tuple[str, Any, dict[str, Any]]]:
    """Return what is asked of a table: a name, a goal, and what counts."""
    means = X.mean(axis=0)
    half = {f"d{d}": (">=", float(np.median(means[:, d])), 0.005) for d in range(X.shape[2])}
    on = {"d0": (">=", float(np.sort(means[:, 0])[len(means) // 2]))}
    pareto, best = bg.ParetoGroups(epsilon), bg.BestGroup([1] * X.shape[2], epsilon)
    return [
        ("as usual", pareto, {}),
        ("a limit", pareto, {"require": {"d1": half["d1"]}}),
        ("two limits", pareto, {"require": half}),
        ("on the limit", pareto, {"require": on}),
        ("worst", pareto, {"worth": "worst"}),
        ("median", pareto, {"worth": ("quantile", 0.5)}),
        ("mean", pareto, {"worth": "mean"}),
        ("as usual", best, {}),
        ("a limit", best, {"require": {"d1": half["d1"]}}),
        ("worst", best, {"worth": "worst"}),
        ("mean", best, {"worth": "mean"}),
        ("3 best", bg.TopGroups(3, [1] * X.shape[2], epsilon), {}),
    ]


def report(path: Path, args: argparse.Namespace) -> None:
    data = np.load(path, allow_pickle=True)
    X, groups = data["X"], [str(label) for label in data["g"]]
    dims = [f"d{d}" for d in range(X.shape[2])]
    for name, goal, counted in questions(X, EPSILON.get(path.stem, 0.03)):
        instance = bg.Instance.from_table(X, groups, dims=dims, **counted)
        begun = time.perf_counter()
        sim = bg.simulate(instance, goal, "adaptive", 0.05, args.runs, seed=1)
        seconds = (time.perf_counter() - begun) / args.runs
        words = (
            f"{path.stem}, {goal.kind}, {name}: share {sim.share.mean():.3f}, largest "
            f"{sim.share.max():.3f}; {sim.errors} wrong of {args.runs}, "
            f"{(~sim.finished).sum()} undecided; {seconds:.2f} s a run"
        )
        if args.errors:
            many = bg.simulate(instance, goal, "adaptive", 0.1, args.errors, seed=3)
            high = many.error_interval(0.998)[1]
            words += f"; {many.errors} wrong of {args.errors:,} at delta .1: below {high:.4f}"
        print(words, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--errors", type=int, default=0, help="orders to count wrong answers on")
    args = parser.parse_args()
    for path in args.tables:
        report(path, args)


if __name__ == "__main__":
    main()
