"""Error rates, tails and savings of the adaptive algorithm with unequal costs; run by `make verify`.

A rate counts as too high if the lower end of its 99.9 % interval exceeds delta.
"""

import numpy as np
import pytest
from scipy.stats import beta

import bestgroup as bg
from bestgroup.drivers.exact.driver import run_once

pytestmark = pytest.mark.verify

RUNS, DELTA = 2000, 0.1
# Wrong answers are just beyond epsilon; the arms that tell so are dear.
PARETO = [[[0.52, 0.52], [0.52, 0.0]], [[0.0, 0.0], [0.0, -0.1]], [[0.01, 0.01]]]
BEST = [[[0.31, 0.0], [0.0, 0.31]], [[0.0, 0.0], [-0.1, 0.0]], [[0.0, -0.1], [-0.1, 0.0]]]


def runs_of(instance, goal, costs, delta, count, cap=10**8):
    setting = bg.Setting(instance.shape, goal, instance.noise, delta, costs)
    algorithm = bg.algorithm("adaptive")
    done = [run_once(instance, setting, algorithm, (3, k), cap) for k in range(count)]
    assert all(run.finished for run in done)
    return done


def spent_by(done, costs):
    table = np.zeros(done[0].counts.shape)
    for i, row in enumerate(costs):
        table[i, : len(row)] = row
    return np.array([(run.counts * table).sum() for run in done])


@pytest.mark.parametrize(
    ("means", "goal", "right"),
    [
        (PARETO, bg.ParetoGroups(0.5), {0}),
        (BEST, bg.BestGroup([1.0, 1.0], epsilon=0.3), {0}),
    ],
)
@pytest.mark.parametrize("cheap_first", [True, False])
def test_errors_just_beyond_epsilon(means, goal, right, cheap_first):
    instance = bg.Instance(means, law=bg.laws.FullyDependent(1.0))
    costs = tuple(
        tuple(10.0 if k % 2 == cheap_first else 1.0 for k in range(len(g))) for g in means
    )
    done = runs_of(instance, goal, costs, DELTA, RUNS)
    if isinstance(goal, bg.ParetoGroups):
        # Groups 1 and 2 lie beyond epsilon below group 0, so only {0} is right.
        wrong = sum(run.answer != right for run in done)
    else:
        wrong = sum(not run.answer <= right for run in done)
    low = float(beta.ppf(0.0005, wrong, RUNS - wrong + 1)) if wrong else 0.0
    pulls = np.mean([run.counts.sum() for run in done])
    print(f"{goal}: {wrong} errors in {RUNS} runs, delta {DELTA}, mean pulls {pulls:,.0f}")
    assert low <= DELTA


@pytest.mark.parametrize("goal", [bg.ParetoGroups(0.02), bg.BestGroup([1.0, 1.0])])
def test_no_long_tail_with_costs(goal):
    """The good arms are dear and have near-tied cheap ones: the dearest of 100 runs is below 3 means."""
    rng = np.random.default_rng(4)
    level = np.array([[0.9, 0.8], [0.5, 0.4], [0.45, 0.55], [0.2, 1.0]])
    means = level[:, None, :] + rng.uniform(-0.05, 0.05, (4, 4, 2))
    costs = tuple(tuple(row) for row in (10.0 ** rng.random((4, 4))).tolist())
    done = runs_of(bg.Instance(means.tolist()), goal, costs, 0.01, 100)
    spent = spent_by(done, costs)
    print(f"{goal}: mean cost {spent.mean():,.0f}, largest / mean {spent.max() / spent.mean():.2f}")
    assert spent.max() <= 3 * spent.mean()
