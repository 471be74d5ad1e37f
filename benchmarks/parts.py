"""Where the pulls of `adaptive` go for Pareto groups, next to what the comparisons proven would take.

Each run is taken apart when it ends. The comparisons that its proof rests on, with their levels,
make a fluid problem: the fewest pulls at which every one of them has its strength, with true gaps.
Its multipliers say what a nat of each level costs, and are the weights of the means printed: the
prices of the shares of delta in nats, of groups next to the least possible (the entropy of what
groups cost) and to equal shares; the log of the ratio of counts of the upper and the lower arm, by
pulls since the warm-up; the gap that the warm-up saw over the true one. `--price` is what mixtures
are taken to cost in nats. Paper settings as in `samples.py`; comparisons with a true gap below .01
are left out.

    python benchmarks/parts.py [--instances 8] [--runs 3] [--seed 7000] [--price 2.1]
"""

from __future__ import annotations

import argparse
import math
from typing import Any, NamedTuple

import numpy as np
from samples import DELTA, SIZES, Case, pareto_cases

import bestgroup as bg
from bestgroup.algorithms.adaptive.pareto.split import share_of_dim, share_of_rival
from bestgroup.algorithms.adaptive.pareto.view import REJECTED
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.bodies import bodies
from bestgroup.inference.tally import Tally, empty_tally

LEAST_GAP = 0.01
ROUNDS = 4000  # of the fluid problem, whose multipliers have settled long before


class Duel(NamedTuple):
    """A comparison that a decision rests on: prices of its shares in nats, and its true gap."""

    group: int  # that it decides
    above: tuple[int, int]
    below: tuple[int, int]
    gap: float
    prices: tuple[float, float, float]  # of the group, of the rival or dim, of the arm
    ratio: float  # log of the counts above over those below, since the warm-up
    seen: float  # log of the gap that the warm-up saw over the true one


def play(case: Case, seed: int) -> tuple[Any, Any, Tally, np.ndarray]:
    """Return rule and last state of a run, its tally, and the true means."""
    instance, goal = case
    means = np.array([np.asarray(group) for group in instance.means])
    setting = Setting(instance.shape, goal, bg.SubGaussian(1.0), DELTA, None)
    chosen, rng = bg.algorithm("adaptive"), np.random.default_rng(seed)
    rule = chosen.rule(setting)
    state = chosen.init(rule)
    tally = empty_tally(*rule.exists.shape, means.shape[2], chosen.statistics(setting).start)
    plan, step = bodies(chosen, rule, True)
    while not chosen.is_done(state, rule):
        pulls = plan(state, tally, rule)
        for i, j in np.argwhere(pulls > 0):
            count = int(pulls[i, j])
            noise = math.sqrt(count) * rng.standard_normal(means.shape[2])
            tally.counts[i, j] += count
            tally.sums[i, j] += count * means[i, j] + noise
        step(state, tally, rule)
    return rule, state, tally, means


def decided_by(state: Any, i: int) -> list[tuple[int, int, int, bool]]:
    """Return the groups above and below of what decided group i, with the dim, and how."""
    duties, ledger = state.duties, state.ledger
    groups, dims = ledger.lead_mean.shape[1], ledger.lead_mean.shape[0]
    if duties.status[i] == REJECTED:
        return [(int(ledger.beaten_by[i]), i, d, True) for d in range(dims)]
    found = []
    for j in range(groups):
        if j != i and duties.settled[i, j] and duties.status[j] != REJECTED:
            d = int(np.flatnonzero(ledger.wins[i, j] == ledger.sizes[j])[0])
            found.append((i, j, d, False))
    return found


def duels_of(rule: Any, state: Any, means: np.ndarray) -> list[Duel]:
    """Return the comparisons that the decisions rest on."""
    ledger, split, found = state.ledger, state.split, []
    for g in range(len(means)):
        for i, j, d, out in decided_by(state, g):
            by = ledger.over_by if out else ledger.won_by
            other = share_of_rival(split, j, i) if out else share_of_dim(split, i, j, d)
            shift = 0.0 if out else float(rule.levels.epsilon[d])
            for k in range(means.shape[1]):
                m = int(by[i, j, k, d])
                gap = float(means[i, m, d] - means[j, k, d] + shift)
                if gap < LEAST_GAP:
                    continue
                seen = ledger.base_mean[i, m, d] - ledger.base_mean[j, k, d] + shift
                error = math.sqrt(1.0 / ledger.base_counts[i, m] + 1.0 / ledger.base_counts[j, k])
                prices = float(split.group[g]), float(other), float(split.arm[i, m, d])
                ratio = math.log(ledger.counts[i, m] / ledger.counts[j, k])
                size = math.log(max(abs(seen), error) / gap)
                found.append(Duel(g, (i, m), (j, k), gap, prices, ratio, size))
    return found


def fluid(duels: list[Duel], price: float) -> tuple[float, np.ndarray]:
    """Return the fewest pulls at which all duels have their strength, and what a nat of each costs.

    With multipliers w the optimum has n = sqrt(sum of w of the arm's duels), since 1 / n is convex.
    """
    place = {arm: at for at, arm in enumerate(sorted({a for x in duels for a in x[1:3]}))}
    a, b = np.array([[place[x.above], place[x.below]] for x in duels]).T
    level = math.log(1.0 / DELTA) + price + np.array([sum(x.prices) for x in duels])
    most = np.array([x.gap for x in duels]) ** 2 / (2.0 * level)
    weights, n, error = np.ones(len(duels)), np.ones(len(place)), most
    for _ in range(ROUNDS):
        sums = np.zeros(len(place))
        np.add.at(sums, a, weights)
        np.add.at(sums, b, weights)
        n = np.sqrt(sums)
        error = 1.0 / n[a] + 1.0 / n[b]
        weights = np.maximum(weights * np.sqrt(error / most), 1e-9)
    costs = weights * most / level
    return float(n.sum() * max((error / most).max(), 1.0)), costs / costs.sum()


def entropy(parts: np.ndarray) -> float:
    """Return the entropy of positive parts, in nats."""
    shares = parts[parts > 0.0] / parts.sum()
    return float(-(shares * np.log(shares)).sum())


def take_apart(case: Case, seed: int, price: float) -> list[float]:
    """Return what `main` prints of a run."""
    rule, state, tally, means = play(case, seed)
    duels = duels_of(rule, state, means)
    pulls, scouted = tally.counts.sum(), state.ledger.base_counts.sum()
    least, weights = fluid(duels, price)
    limit = bg.characteristic_time(*case).samples(DELTA)
    prices = weights @ np.array([x.prices for x in duels])
    costs = np.bincount([x.group for x in duels], weights, len(means))
    ratios, seen = np.array([[x.ratio, x.seen] for x in duels]).T
    mean = weights @ ratios
    spread = math.sqrt(weights @ (ratios - mean) ** 2)
    after = (pulls - scouted) / least
    return [
        pulls / limit, scouted / pulls, after, *prices, entropy(costs), mean, spread, weights @ seen
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--instances", type=int, default=8)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7000)
    parser.add_argument("--price", type=float, default=2.1)
    options = parser.parse_args()
    labels = (
        "pulls over the limit", "part of the warm-up", "pulls after it over the fluid optimum",
        "price of groups", "of rivals or dims", "of arms", "least price of groups",
        "log of the ratio of counts", "its spread", "log of seen over true gap",
    )  # fmt: skip
    for size in SIZES:
        cases = pareto_cases(size, options.instances, options.seed)
        rows = np.array(
            [take_apart(case, k, options.price) for case in cases for k in range(options.runs)]
        )
        print(f"Pareto groups, N={size[0]}, K={size[1]}, D=3: {len(rows)} runs")
        errors = rows.std(axis=0, ddof=1) / math.sqrt(len(rows))
        for label, mean, error in zip(labels, rows.mean(axis=0), errors, strict=True):
            print(f"  {label:38} {mean:6.2f} +- {error:.2f}", flush=True)


if __name__ == "__main__":
    main()
