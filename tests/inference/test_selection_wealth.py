"""Evidence against all selections by wealth of bets: never above what any means of the null give."""

import math

import numpy as np
import pytest

from bestgroup.inference.evalues import wealth
from bestgroup.inference.evalues.prove import PROVEN, make_stack
from bestgroup.inference.evalues.search import find_blocks, make_pairwise, make_work
from bestgroup.inference.evalues.selection_wealth import (
    PRIOR,
    SCALES,
    conjugate_at,
    make_hulls,
    prove_by_bets,
    set_points,
)
from bestgroup.inference.kinds import BERNOULLI, POWERS
from inference.test_wealth import draw, log_wealth, sums_of


def test_the_prior_sums_to_one():
    assert math.fsum(PRIOR) == pytest.approx(1.0) and len(PRIOR) == len(SCALES)


@pytest.mark.parametrize("kind", [BERNOULLI, POWERS])
@pytest.mark.parametrize("side", [0, 1])
def test_conjugates_are_upper_bounds(kind, side):
    rng = np.random.default_rng(7 + side)
    for scale in (2.0, 0.5, 0.1):
        values = draw(kind, rng, rng.uniform(0.1, 0.9), int(rng.integers(5, 80)))
        hulls = make_hulls(0, 1, np.ones(1), 1)
        set_points(kind, sums_of(kind, values), side, (scale, math.inf), hulls, 0, 0)
        sign = 1.0 if side else -1.0
        grid = np.linspace(0.0, 1.0, 301)
        logs = np.array([log_wealth(kind, values, side, scale, math.inf, float(m)) for m in grid])
        for t in (0.0, 0.3, 3.0, 30.0):
            bound, at = conjugate_at(hulls, 0, 0, sign, t)
            exact = float((sign * t * grid - logs).max())
            assert 0.0 <= at <= 1.0 and bound >= exact - 1e-6
            if kind == BERNOULLI and t <= 3.0:
                assert bound <= exact + 0.3


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_means_of_the_null_have_less_evidence(seed, independent):
    """The largest level that is proven is at most the product of wealths at any means of the null."""
    rng = np.random.default_rng(seed)
    D, K, kind, slack, scale = 2, 2, BERNOULLI if seed % 2 else POWERS, 0.05, SCALES[2]
    heft = np.array([1.0, 0.5])
    lead = np.array([0, 0] if seed < 2 else [0, 1])
    own = [[draw(kind, rng, 0.75, 40) for _ in range(D)] for _ in range(K)]
    rival = [[draw(kind, rng, 0.35, 50) for _ in range(D)] for _ in range(K)]
    hulls, pair, work = make_hulls(K, D, heft, D), make_pairwise(1, K, D, np.zeros(4)), make_work(D)
    for d in range(D):
        set_points(kind, sums_of(kind, own[lead[d]][d]), 0, (scale, math.inf), hulls, K, d)
        for j in range(K):
            set_points(kind, sums_of(kind, rival[j][d]), 1, (scale, math.inf), hulls, j, d)
            pair.worth[j, d] = heft[d] * rival[j][d].mean()
    masks = np.zeros(D, np.int64)
    find_blocks(lead, masks)

    def proven(level):
        stack, selection = make_stack(D, K), np.zeros(D, np.int64)
        args = (hulls, independent, masks, slack, K, 5.0, level, selection, pair, work, stack)
        return prove_by_bets(*args)[0] == PROVEN

    low, high = 0.0, 200.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if proven(middle) else (low, middle)
    assert low > 2.0

    def log_product(selection, nu, other):
        total = 0.0
        for arms, data, means, side in ((lead, own, nu, 0), (selection, rival, other, 1)):
            for d in range(D):
                block = heft[arms == arms[d]].sum()
                theta = 1.0 if independent else heft[d] / block
                m = float(np.clip(means[d], 0.0, 1.0))
                total += theta * log_wealth(kind, data[arms[d]][d], side, scale, math.inf, m)
        return total

    least = math.inf
    for selection in np.ndindex(K, K):
        chosen = np.array(selection)
        for _ in range(60):
            nu, other = rng.uniform(0.3, 0.7, D), rng.uniform(0.3, 0.7, D)
            shift = (slack + heft @ nu - heft @ other) / (2 * heft.sum())
            nu, other = nu - shift, other + shift  # on the boundary of the null
            least = min(least, log_product(chosen, nu, other))
    assert low <= least + 1e-6
    assert np.isfinite(least) and wealth.BETS > 0
