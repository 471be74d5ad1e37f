"""AnytimePruner beside Optuna's WilcoxonPruner: errors at a level, then items at equal errors.

Two candidates have scores on the same items, in random order, that differ by less than 1. *Errors*:
labels are exchanged at random within items; the candidate that is better over all items is the trial,
the other one the best so far; how often is the trial pruned? WilcoxonPruner's own p is then lowered
until that is at most the level. *Items*: the trial is worse by a gap; how many items does each look
at, those that are never pruned counted with all items?

Both pruners are asked after every item, as their documentation shows. WilcoxonPruner's decisions are
taken from its p-values, which scipy computes for all runs at once; a sample of them is held against the
pruner inside real studies.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import optuna
from scipy.stats import wilcoxon

import bestgroup as bg
from bestgroup.integrations.optuna import AnytimePruner

LEVELS = (0.1, 0.05, 0.01)
OURS = {
    "no range": {},
    "reach 1": {"reach": 1.0},
    "reach 1, pool": {"reach": 1.0, "items": True},
}


def scores(rng, runs, items, gap):
    """Return the scores of the best candidate and of the trial, [runs, items] each."""
    ease = rng.uniform(0.3, 0.7, (runs, items))
    best, trial = (ease + 0.6 * (rng.beta(2, 2, ease.shape) - 0.5) - g for g in (0.0, gap))
    if gap == 0.0:
        swap = rng.random(ease.shape) < 0.5
        best, trial = np.where(swap, trial, best), np.where(swap, best, trial)
        worse = trial.sum(axis=1) < best.sum(axis=1)
        best[worse], trial[worse] = trial[worse].copy(), best[worse].copy()
    return best, trial


def wilcoxon_levels(best, trial):
    """Return the p-value after each item; 1 where WilcoxonPruner's safety would not prune."""
    runs, items = best.shape
    found = np.ones((runs, items))
    for n in range(2, items):
        worse = trial[:, :n].mean(axis=1) < best.mean(axis=1)
        p = wilcoxon(
            trial[:, :n] - best[:, :n], alternative="less", zero_method="zsplit", axis=1
        ).pvalue
        found[:, n - 1] = np.where(worse, p, 1.0)
    return found


def anytime_levels(best, trial, options):
    """Return 1 / e-value after each item."""
    runs, items = best.shape
    found = np.ones((runs, items))
    given = {**options, "items": items} if options.get("items") else options
    for run in range(runs):
        test = bg.PairedTest(**given)
        for n in range(items - 1):
            test.update(best[run, n], trial[run, n])
            found[run, n] = (1.0 - 1e-12) / max(test.evalue, 1e-300)  # 1 / p itself prunes
    return found


def stops(levels, p):
    """Return after how many items each run is pruned; the number of items if it is not."""
    below = levels < p
    return np.where(below.any(axis=1), below.argmax(axis=1) + 1, levels.shape[1])


def real(best, trial, pruner):
    """Return after how many items a real study prunes the trial."""
    study = optuna.create_study(direction="maximize", pruner=pruner)
    first = study.ask()
    for item, value in enumerate(best):
        first.report(value, item)
    study.tell(first, float(best.mean()))
    second = study.ask()
    for item, value in enumerate(trial[:-1]):
        second.report(value, item)
        if second.should_prune():
            return item + 1
    return len(trial)


def check(best, trial, levels, make):
    """Hold decisions against the pruners inside real studies."""
    for run in range(10):
        for p in LEVELS:
            assert real(best[run], trial[run], make(p)) == stops(levels[run : run + 1], p)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--items", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    rng = np.random.default_rng(given.seed)
    best, trial = scores(rng, given.runs, given.items, 0.0)
    null = wilcoxon_levels(best, trial)
    check(best, trial, null, lambda p: optuna.pruners.WilcoxonPruner(p_threshold=p))
    smallest = np.sort(null.min(axis=1))
    lowered = {p: float(smallest[int(p * given.runs)]) for p in LEVELS}
    print(f"errors in {given.runs:,} runs of {given.items} items")
    for p in LEVELS:
        at, low = (smallest < p).mean(), (smallest < lowered[p]).mean()
        print(f"  p {p:4g}  WilcoxonPruner {at:6.1%}; at p = {lowered[p]:.2g}: {low:.1%}")
    for name, options in OURS.items():
        levels = anytime_levels(best, trial, options)
        rates = [(levels.min(axis=1) < p).mean() for p in LEVELS]
        words = ", ".join(f"p {p:g}: {rate:.2%}" for p, rate in zip(LEVELS, rates, strict=True))
        print(f"  AnytimePruner, {name}: {words}")
        assert all(rate <= p for p, rate in zip(LEVELS, rates, strict=True))
    print("mean items of a worse trial, and times those of WilcoxonPruner at the lowered p")
    for gap in (0.05, 0.1, 0.2, 0.3):
        best, trial = scores(rng, given.runs // 4, given.items, gap)
        theirs = wilcoxon_levels(best, trial)
        ours = {name: anytime_levels(best, trial, options) for name, options in OURS.items()}
        if gap == 0.1:
            check(best, trial, ours["no range"], lambda p: AnytimePruner(p))
        for p in LEVELS:
            base = stops(theirs, lowered[p]).mean()
            means = {name: stops(levels, p).mean() for name, levels in ours.items()}
            words = ", ".join(f"{n} {m:.1f} ({m / base:.2f})" for n, m in means.items())
            print(f"  gap {gap:4g}, p {p:4g}: WilcoxonPruner {base:.1f}; {words}")


if __name__ == "__main__":
    main()
