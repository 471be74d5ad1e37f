"""Error rates of `adaptive` for the best group at delta .3, where errors would show; run by `make verify`.

Groups are 1e-9 worse than the best one, or 1e-9 beyond epsilon. A run is wrong if it answers such a group,
and with epsilon = 0 if it has eliminated the best one, whether it ended or was cut off.
"""

import pytest
from scipy.stats import beta

import bestgroup as bg
from bestgroup.drivers.exact.driver import run_once

pytestmark = pytest.mark.verify

RUNS, DELTA, TINY = 1000, 0.3, 1e-9


def below(count, dims, less):
    """Return a best group and others that lie `less` below it in the sum of all dims."""
    best = [[1.0 if d == j else 0.0 for d in range(dims)] for j in range(dims)]
    other = [[1.0 - less / dims if d == j else 0.0 for d in range(dims)] for j in range(dims)]
    return [best] + [other] * (count - 1)


# Six groups that tie in the sum: apart in two dims, far or by nothing.
CROSSED = [[[0.0, 2.0]], *([[0.5 * k, 2.0 - 0.5 * k - TINY]] for k in range(1, 6))]
FULL = bg.laws.FullyDependent(1.0)
CASES = {
    "tie of 2": (below(2, 2, TINY), [1, 1], 0.0, None, 0.01, None),
    "tie of 6": (below(6, 2, TINY), [1, 1], 0.0, None, 0.01, None),
    "tie of 6, far apart in each dim": (CROSSED, [1, 1], 0.0, None, 0.01, None),
    "tie of 6, far apart, full dependence": (CROSSED, [1, 1], 0.0, FULL, 0.01, None),
    "beyond epsilon, D = 1": (below(6, 1, 0.4 + TINY), [1], 0.4, None, 0.01, None),
    "beyond epsilon, D = 2": (below(6, 2, 0.8 + TINY), [1, 1], 0.4, FULL, 0.01, None),
    "beyond epsilon, D = 3": (below(6, 3, 1.2 + TINY), [1, 1, 1], 0.4, FULL, 0.01, None),
    "unequal scales": (below(3, 2, TINY), [3, 1], 0.0, bg.laws.Normal([0.2, 2.0]), 0.01, None),
    "costs 1 to 30": (below(4, 2, TINY), [1, 1], 0.0, None, 0.01, [1, 30]),
    "batches of 64": (below(6, 2, TINY), [1, 1], 0.0, None, 64, None),
}


@pytest.mark.parametrize("name", CASES)
def test_errors_at_delta_three_tenths(name):
    means, weights, epsilon, law, batch, costs = CASES[name]
    noise = bg.SubGaussian([0.2, 2.0]) if name == "unequal scales" else bg.SubGaussian(1.0)
    instance = bg.Instance(means, law=law, noise=noise)
    goal = bg.BestGroup(weights, epsilon=epsilon)
    priced = None if costs is None else tuple(tuple(map(float, costs)) for _ in means)
    setting = bg.Setting(instance.shape, goal, instance.noise, DELTA, priced)
    algorithm = bg.algorithm("adaptive", batch=batch)
    done = [run_once(instance, setting, algorithm, (5, k), 5_000) for k in range(RUNS)]
    wrong = sum(0 not in run.answer for run in done if run.finished or epsilon == 0)
    ended = sum(run.finished for run in done)
    low = float(beta.ppf(0.0005, wrong, RUNS - wrong + 1)) if wrong else 0.0
    print(f"{name}: {wrong} errors in {RUNS} runs, delta {DELTA}, {ended} ended")
    assert low <= DELTA
