"""Maps of weights on many runs: errors, ties on borders included, and pulls against the best group."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.directions.algorithm import AdaptiveDirections, plan, step
from bestgroup.algorithms.protocol import Setting
from bestgroup.inference.tally import Tally
from bestgroup.problem.weight_grid import weight_grid


def run(instance, goal, delta, seed, most=10**11, batch=0.01):
    """Return the state at the end of a run, and its pulls; normal rewards, dims independent."""
    algorithm = AdaptiveDirections(batch)
    rule = algorithm.rule(Setting.for_instance(instance, goal, delta))
    state, shape = algorithm.init(rule), instance.shape
    N, K, D = shape.groups, shape.arms, shape.dims
    tally = Tally(np.zeros((N, K), np.int64), np.zeros((N, K, D)), np.zeros((N, K, D, 0)))
    rng, means = np.random.default_rng(seed), instance.padded_means
    while not state.done[0] and tally.counts.sum() < most:
        pulls = plan.compiled(state, tally, rule)
        for i, j in np.argwhere(pulls > 0):
            n = pulls[i, j]
            noise = np.sqrt(n) * instance.scale * rng.standard_normal(D)
            tally.sums[i, j] += n * means[i, j] + noise
            tally.counts[i, j] += n
        step.compiled(state, tally, rule)
    return state, int(tally.counts.sum()), algorithm.regions(state, rule)


def is_wrong(regions, R):
    """Return whether a bound that decides is wrong anywhere: exact, at all weights of every cell.

    A region is wrong at a weight only if some bound at a corner is above the true gap there.
    """
    gaps = np.einsum("vd,ikd->vik", regions.grid.corners, R[:, None] - R[None])
    margins = regions.margins() >= 0
    worth = regions.grid.points @ R.T
    late = worth + regions.epsilon + 1e-12 < worth.max(axis=1, keepdims=True)
    return bool((margins & late).any()), bool((regions.bound > gaps + 1e-12).any())


def error_rate(runs, delta, epsilon, seed=0):
    """Return how often a map was wrong, and how often any bound was, with ties and without."""
    wrong = bounds = mapped = 0
    rng = np.random.default_rng(seed)
    for n in range(runs):
        kind = n % 5
        means = rng.random((3, 2, 2))
        if kind == 1:  # two groups tie at one weight, which is a corner of the triangulation
            means[1, 0] = means[0].max(axis=0) + np.array([0.3, -0.3])
            means[1, 1] = means[1, 0] - 0.2
        elif kind == 2:  # two groups tie at all weights
            means[1] = means[0]
        elif kind == 3:  # a tie at a vertex
            means[1, 0] = means[0].max(axis=0) + np.array([0.0, -0.4])
            means[1, 1] = means[1, 0] - 0.1
        elif kind == 4:  # all are hardly worse than the first: no weight may be theirs
            means[1] = means[0] - epsilon - 1e-9
            means[2] = means[1]
        instance = bg.Instance(means, noise=bg.SubGaussian(1.0))
        goal = bg.WeightMap(epsilon=epsilon, share=None if epsilon else 0.6)
        # Large plans: a run is a hundred steps, and its law is as good as any.
        _, _, regions = run(instance, goal, delta, (seed, n), most=3000, batch=0.3)
        late, over = is_wrong(regions, instance.efficiency)
        wrong, bounds = wrong + late, bounds + over
        mapped += regions.share > 0
    return wrong, bounds, mapped


def test_maps_are_rarely_wrong():
    wrong, bounds, _ = error_rate(20, 0.1, 0.0)
    # Of 20 runs at delta = .1 more than 7 are wrong with probability below .001.
    assert wrong <= bounds <= 7


@pytest.mark.verify
def test_error_rate_of_maps():
    for delta, epsilon in ((0.1, 0.0), (0.1, 0.1)):
        wrong, bounds, mapped = error_rate(5000, delta, epsilon, seed=1)
        print(
            f"delta {delta:g}, epsilon {epsilon:g}: wrong maps {wrong}, wrong bounds {bounds} of "
            f"5000 runs; something mapped in {mapped}"
        )
        assert wrong <= bounds <= 5000 * delta
    # A control: with fifty times the delta that is stated, bounds fail more often than that.
    wrong, bounds, _ = error_rate(1000, 50 * 0.1, 0.0, seed=2)
    print(f"control, delta 5 taken for .1: wrong maps {wrong}, wrong bounds {bounds} of 1000 runs")
    assert bounds > 100


@pytest.mark.verify
def test_all_weights_of_cov_boost():
    given = bg.datasets.cov_boost(group_by="vaccine")
    means = [rows / given.scale for rows in given.means]
    instance = bg.Instance(means, noise=bg.SubGaussian(1.0), groups=given.groups)
    pulls = []
    for seed in range(20):
        _, count, regions = run(instance, bg.WeightMap(epsilon=0.1), 0.05, seed)
        assert [given.groups[i] for i in np.flatnonzero(regions.always)] == ["m1273"]
        pulls.append(count)
    print(f"pulls until m1273 is best for all weights: mean {np.mean(pulls):.0f}, {sorted(pulls)}")
    assert np.mean(pulls) <= 10_000


@pytest.mark.verify
@pytest.mark.parametrize("first", [0, 100])  # the second 24 were not used to build the rule
def test_pulls_against_the_best_group_at_a_hard_weight(first):
    grid = weight_grid(tuple(map(tuple, np.eye(3).tolist())))
    ratios = []
    for seed in range(first, first + 24):
        rng = np.random.default_rng(1000 + seed)
        instance = bg.Instance(rng.random((5, 5, 3)), noise=bg.SubGaussian(1.0))
        worth = np.sort(grid.points @ instance.efficiency.T, axis=1)
        gap = worth[:, -1] - worth[:, -2]
        hard = grid.points[int(np.argmin(np.abs(gap - np.quantile(gap, 0.05))))]
        goal = bg.BestGroup(hard.tolist())
        best = bg.simulate(
            instance, goal, "adaptive", delta=0.05, runs=4, seed=seed, engine="exact"
        )
        state, count, regions = run(instance, bg.WeightMap(), 0.05, seed)
        assert state.done[0] and not is_wrong(regions, instance.efficiency)[0]
        ratios.append(count / best.pulls.mean())
        print(
            f"{seed}: map {count:,}, best {best.pulls.mean():,.0f}, ratio {ratios[-1]:.2f}",
            flush=True,
        )
    mean = float(np.mean(ratios))
    print(f"ratio: mean {mean:.2f}, median {np.median(ratios):.2f}, largest {max(ratios):.2f}")
    assert mean <= 3.0
