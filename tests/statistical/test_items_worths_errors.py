"""How often limits, other worths, the best groups and maps are wrong on shared items, at most delta."""

import numpy as np
import pytest

import bestgroup as bg

DELTA = 0.1
GROUPS = ["A", "A", "B", "B", "C"]


def near_ties(n, seed, binary):
    """Return a table of five arms with means .5 or a little above and below in both dims."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=(n, 1, 2))
    values = 1 / (1 + np.exp(-(hard + rng.normal(size=(n, 5, 2)))))
    values = (values > 0.5).astype(float) if binary else values
    aims = 0.5 + 0.02 * rng.integers(-1, 2, size=(5, 2))
    for a in range(5):
        for d in range(2):
            gap = aims[a, d] - values[:, a, d].mean()
            if not binary:
                values[:, a, d] = np.clip(values[:, a, d] + gap, 0, 1)
    return values


CASES = [
    (bg.ParetoGroups(0.0), {"require": {"x": (">=", 0.5)}}),
    (bg.ParetoGroups(0.02), {"require": {"x": (">=", 0.5, 0.01)}}),
    (bg.ParetoGroups(0.0), {"worth": "worst"}),
    (bg.ParetoGroups(0.0), {"worth": "mean"}),
    (bg.BestGroup([1, 1], 0.0), {"require": {"y": ("<=", 0.5)}}),
    (bg.BestGroup([1, 1], 0.02), {"worth": "worst"}),
    (bg.TopGroups(2, [1, 1], 0.0), {}),
    (bg.WeightMap(epsilon=0.0), {}),
]


@pytest.mark.verify
@pytest.mark.parametrize("which", range(len(CASES)))
def test_errors_near_ties_and_on_limits(which):
    goal, counted = CASES[which]
    wrong = runs = 0
    for seed in range(4):
        table = near_ties(150, seed, seed % 2 == 1)
        instance = bg.Instance.from_table(table, GROUPS, dims=["x", "y"], **counted)
        sim = bg.simulate(instance, goal, "adaptive", DELTA, runs=500, seed=seed)
        assert sim.finished.all() and (sim.share <= 1.0).all()
        wrong, runs = wrong + sim.errors, runs + 500
    print(f"{goal}, {counted}: {wrong} wrong of {runs}")
    assert wrong <= DELTA * runs + 3 * np.sqrt(DELTA * (1 - DELTA) * runs)
