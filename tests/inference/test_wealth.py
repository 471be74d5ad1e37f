"""Wealth of bets and the evidence on pairs that follows from it, against all values on a fine grid."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestgroup.inference.evalues import wealth
from bestgroup.inference.evalues.pair_wealth import ROOM, pair_lack
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, POWERS

KINDS = [BERNOULLI, POWERS, GAUSSIAN]


def sums_of(kind, values):
    """What `wealth` takes of values that all count."""
    extra = np.zeros(wealth.KEPT)
    for k, x in enumerate(values):
        wealth.absorb_powers(extra, float(k + 1), float(x))
    stat = np.zeros(wealth.STATISTICS)
    stat[wealth.COUNT] = stat[wealth.ALL] = len(values)
    if kind == BERNOULLI:
        stat[wealth.FIRST] = values.sum()
    else:
        stat[wealth.CENTRE] = extra[0]
        stat[wealth.FIRST : wealth.FIRST + 6] = extra[1:]
        stat[wealth.ALL_SECOND], stat[wealth.ALL_SIXTH] = extra[2], extra[6]
    return stat


def log_wealth(kind, values, side, scale, most, m):
    """log K(m) from all values; for symmetric noise the half-normal law by the midpoint rule."""
    if kind == GAUSSIAN:
        away = values - m if side == 0 else m - values
        total = math.exp(wealth.LOG_CASH)
        for times, log_weight in zip(wealth._SCALES, wealth._LOG_SCALE_WEIGHTS, strict=True):
            u = (np.arange(2000) + 0.5) / 2000  # lam = 7 u^3 scales: most points lie near 0
            lam = 7 * u**3 * scale * times
            law = np.exp(-((lam / (scale * times)) ** 2) / 2) * u**2
            with np.errstate(divide="ignore"):
                logs = np.log1p(np.tanh(lam[:, None] * away)).sum(axis=1)
            total += math.exp(log_weight) * (law / law.sum() @ np.exp(logs))
        return math.log(total)
    x, mean = (values, m) if side == 0 else (1 - values, 1 - m)
    total = math.exp(wealth.LOG_CASH)
    for k in range(wealth.BETS):
        lam = wealth.bet(k, (scale, most))
        if lam * mean < 0.99:
            total += math.exp(wealth._LOG_WEIGHTS[k] + np.log1p(lam * (x - mean)).sum())
    return math.log(total)


def draw(kind, rng, mean, n):
    if kind == BERNOULLI:
        return (rng.random(n) < mean).astype(float)
    if kind == POWERS:
        return rng.beta(4 * mean, 4 * (1 - mean), n)
    return rng.normal(mean, 0.3, n)


def test_the_weights_sum_to_one():
    logs = (*wealth._LOG_WEIGHTS, wealth.LOG_CASH)
    assert math.fsum(map(math.exp, logs)) == pytest.approx(1.0, abs=1e-12)
    logs = (*wealth._LOG_SCALE_WEIGHTS, wealth.LOG_CASH)
    assert math.fsum(map(math.exp, logs)) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("t", [0.0, 1e-9, 0.1, 0.249999, 0.25, 0.5, 0.9, 0.989])
def test_the_rest_factor_is_an_upper_bound(t):
    u = (np.arange(200_000) + 0.5) / 200_000
    exact = float(np.mean(u**5 / (1 - u * t)))
    assert exact - 1e-9 <= wealth.rest_factor(t) <= exact * (1 + 1e-6) + 1e-9


@given(st.integers(0, 10**6), st.sampled_from(KINDS))
@settings(max_examples=60, deadline=None)
def test_points_and_cells_lie_below_the_exact_wealth(seed, kind):
    rng = np.random.default_rng(seed)
    mean, n = rng.uniform(0.05, 0.95), int(rng.integers(1, 80))
    values, scale = draw(kind, rng, mean, n), float(rng.choice([0.1, 0.5, 2.0, 6.0]))
    most = float(rng.choice([1.0, 2.0, math.inf]))
    stat, side = sums_of(kind, values), int(rng.integers(0, 2))
    ends = np.sort(rng.uniform(0.0, 1.0, 2))
    left, right = np.zeros((2, wealth.BETS))
    wealth.set_logs(kind, stat, side, (scale, most), float(ends[0]), left)
    wealth.set_logs(kind, stat, side, (scale, most), float(ends[1]), right)
    width = float(ends[1] - ends[0])
    v0, s0, v1, s1 = wealth.on_cell(kind, left, right, scale, width)
    for m in np.linspace(*ends, 7):
        exact = log_wealth(kind, values, side, scale, most, float(m))
        tangents = max(v0 + s0 * (m - ends[0]), v1 + s1 * (m - ends[1]))
        assert tangents <= exact + (2e-3 if kind == GAUSSIAN else 1e-6)  # the midpoint rule
    assert wealth.at_point(kind, left, scale) <= log_wealth(
        kind, values, side, scale, most, float(ends[0])
    ) + (1e-3 if kind == GAUSSIAN else 1e-9)  # the midpoint rule


@given(st.integers(0, 10**6), st.sampled_from(KINDS))
@settings(max_examples=16, deadline=None)
def test_what_is_proven_is_true_on_a_fine_grid(seed, kind):
    check_on_a_grid(seed, kind)


@pytest.mark.verify
@given(st.integers(0, 10**6), st.sampled_from(KINDS))
@settings(max_examples=500, deadline=None)
def test_what_is_proven_is_true_on_a_fine_grid_of_many(seed, kind):
    check_on_a_grid(seed, kind)


def check_on_a_grid(seed, kind):
    """The largest level that is proven is at most the infimum, and close to it for small gaps."""
    rng = np.random.default_rng(seed)
    n_a, n_b = (int(n) for n in rng.integers(20, 120, 2))
    low = rng.uniform(0.1, 0.6)
    gap, shift = rng.uniform(0.05, 0.3), float(rng.choice([0.0, 0.05]))
    a, b = draw(kind, rng, low + gap, n_a), draw(kind, rng, low, n_b)
    v = max(float(a.var() + b.var()) / 2, 1e-3)
    scale = 0.47 * gap / (v + gap * gap / 4)
    grid = np.linspace(0.0, 1.0 - shift, 120) if kind != GAUSSIAN else np.linspace(-0.5, 1.5, 120)
    exact = min(
        log_wealth(kind, a, 0, scale, math.inf, float(x))
        + log_wealth(kind, b, 1, scale, math.inf, float(x + shift))
        for x in grid
    )
    bets = (scale, math.inf), (scale, math.inf)
    errors = math.sqrt(v / n_a), math.sqrt(v / n_b)
    room, sums = np.zeros((ROOM, wealth.BETS)), (sums_of(kind, a), sums_of(kind, b))

    def proven(level):
        return pair_lack(kind, *sums, bets, errors, shift, level, room) <= 0.0

    assert not proven(exact + 0.3)  # the grid is coarse, and its least value too large
    if kind == BERNOULLI and exact > 1.0 and a.mean() + shift > b.mean():
        assert proven(exact - 0.5)


def test_an_arm_that_is_not_ahead_proves_nothing():
    a, b = np.array([0.2, 0.3, 0.1]), np.array([0.5, 0.6, 0.7])
    room = np.zeros((ROOM, wealth.BETS))
    sums = sums_of(POWERS, a), sums_of(POWERS, b)
    bets = (1.0, math.inf), (1.0, math.inf)
    assert pair_lack(POWERS, *sums, bets, (0.1, 0.1), 0.0, 1.0, room) == math.inf


@pytest.mark.parametrize("kind", KINDS)
def test_plain_equals_compiled(kind):
    from bestgroup.compile.kernel import kernel

    rng = np.random.default_rng(kind)
    sums = [sums_of(kind, draw(kind, rng, mean, 60)) for mean in (0.7, 0.4)]
    room, bets = np.zeros((ROOM, wealth.BETS)), ((0.7, 1.2), (0.7, 1.4))
    body = kernel(pair_lack.body)
    for level in (0.5, 2.0, 5.0, 50.0):
        args = (kind, *sums, bets, (0.05, 0.06), 0.02, level, room)
        assert pair_lack(*args) == body.compiled(*args)
