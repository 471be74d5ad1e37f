"""Limits: `adaptive` with `require` against proving every arm's limit first and filtering.

Random instances of 5 groups of 4 arms, of which a limit excludes half; standard deviation .3, delta .05.
The alternative shows for each arm whether it keeps the limit (delta / 2, boxes), leaves out those that
do not, and runs `adaptive` on the rest (delta / 2). Pulls of an arm in both steps are counted once, the
larger number. `python benchmarks/limits.py [instances] [runs]`.
"""

import sys

import numpy as np

import bestgroup as bg

N, K, LIMIT, SIGMA, DELTA = 5, 4, 0.5, 0.3, 0.05
LAW, NOISE = bg.laws.Normal(SIGMA), bg.SubGaussian(SIGMA)


def draw(seed, dims):
    """Return means [N, K, dims + 1], the last dim with a limit that half of the arms keep."""
    rng = np.random.default_rng(1000 + seed)
    while True:
        means = np.concatenate([rng.random((N, K, dims)), rng.random((N, K, 1))], axis=2)
        keep = means[:, :, dims] <= LIMIT
        rows = [means[i, keep[i], :dims] for i in range(N)]
        worth = sorted((r.max(axis=0).sum() for r in rows if len(r)), reverse=True)
        if keep.sum() == N * K // 2 and len(worth) > 1 and worth[0] - worth[1] > 0.05:
            return means


def limited(means, tolerance, noise=NOISE):
    """Return the instance with its limit."""
    names = [f"value {d}" for d in range(np.shape(means)[-1] - 1)]
    require = {"seconds": ("<=", LIMIT, tolerance)}
    dims = [*names, "seconds"]
    return bg.Instance(means, LAW, noise, dims=dims, require=require, watch=["seconds"])


def filtered(means, goal, tolerance, runs):
    """Return the pulls of showing all limits, then the rest without them: [runs]."""
    dims, first = means.shape[2] - 1, np.zeros((runs, N, K))
    for i in range(N):
        for j in range(K):
            # A bound of a single arm has a third of its delta: this makes it delta / (2 N K).
            alone = limited(
                [[[0.0, means[i, j, dims]]]], tolerance, bg.SubGaussian(SIGMA, arms="arbitrary")
            )
            level, seed = 3 * DELTA / (2 * N * K), 100 + i * K + j
            found = bg.simulate(alone, bg.BestGroup([1]), "adaptive", level, runs, seed)
            first[:, i, j] = found.pulls
    keep, second = means[:, :, dims] <= LIMIT, np.zeros((runs, N, K))
    left = [i for i in range(N) if keep[i].any()]
    rest = bg.Instance([means[i, keep[i], :dims] for i in left], LAW, NOISE)
    found = bg.simulate(rest, goal, "adaptive", DELTA / 2, runs)
    for place, i in enumerate(left):
        second[:, i, np.flatnonzero(keep[i])] = found.counts[:, place, : keep[i].sum()]
    return np.maximum(first, second).sum(axis=(1, 2))


def main(instances=8, runs=5):
    """Print a row for each tolerance and goal: mean pulls of both, ratio of means, geometric mean."""
    goals = {
        "best group, 1 dim": (1, bg.BestGroup([1], 0.02)),
        "best group, 2 dims": (2, bg.BestGroup([1, 1], 0.02)),
        "Pareto groups, 2 dims": (2, bg.ParetoGroups(0.05)),
    }
    for tolerance in (0.05, 0.02, 0.01):
        for name, (dims, goal) in goals.items():
            rows = []
            for seed in range(instances):
                means = draw(seed, dims)
                own = bg.simulate(limited(means, tolerance), goal, "adaptive", DELTA, runs)
                other = filtered(means, goal, tolerance, runs)
                rows.append((own.pulls.mean(), other.mean(), own.errors))
            own, other, errors = np.array(rows).T
            ratio, each = other.sum() / own.sum(), np.exp(np.log(other / own).mean())
            print(
                f"tolerance {tolerance}, {name}: {own.mean():,.0f} against {other.mean():,.0f} pulls, "
                f"x {ratio:.2f} (geometric mean x {each:.2f}), {int(errors.sum())} errors",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
