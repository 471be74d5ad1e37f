"""Lower bounds of evidence on pairs are below the exact infimum, and close to it."""

import math

import numpy as np
import pytest

from bestgroup.inference.evalues.normal import pair_evidence
from bestgroup.inference.evalues.pair_wealth import ROOM, pair_lack
from bestgroup.inference.evalues.wealth import (
    ALL,
    ALL_SECOND,
    ALL_SIXTH,
    BETS,
    CENTRE,
    COUNT,
    FIRST,
    STATISTICS,
)
from bestgroup.inference.kinds import BERNOULLI, POWERS
from bestgroup.proof.intervals import interval
from bestgroup.proof.normal_pairs import pair_value
from bestgroup.proof.wealth_pairs import Bets, Pair, Values

PARTS = np.exp(-(((np.arange(12) + 0.5) / 4) ** 2) / 2)
WEIGHTS = np.concatenate([0.95 * PARTS / PARTS.sum(), np.full(8, 0.005)])


def log_wealth(values, scale, m):
    """Return log K(m) of all values, in plain floating point."""
    bets = np.concatenate([scale * (np.arange(12) + 0.5) / 4, 2.0 ** -np.arange(1, 9)])
    logs = [np.log1p(bet * (values - m)).sum() if bet * m < 0.99 else -np.inf for bet in bets]
    most = max(logs)
    return most + math.log((WEIGHTS * np.exp(np.array(logs) - most)).sum() + 0.01 * math.exp(-most))


def proven_level(pair):
    """Return the largest level that a pair is shown to reach, to a thousandth."""
    low, high = -20.0, 200.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if pair.reaches(middle) else (low, middle)
    return low


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["bounded", "bernoulli"])
def test_bets_are_bounded_from_below_and_tightly(kind, seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(20, 200, 2)
    x, y = rng.beta(4, 2, n), rng.beta(2, 4, m)
    if kind == "bernoulli":
        x, y = (rng.random(n) < 0.7) * 1.0, (rng.random(m) < 0.3) * 1.0
    shift, scale = float(rng.choice([0.0, 0.05])), float(rng.choice([0.25, 1.0]))
    a = Values(kind, x.tolist(), Bets(interval(scale)))
    b = Values(kind, (1 - y).tolist(), Bets(interval(scale)))
    found = proven_level(Pair(a, b, interval(shift)))
    grid = np.linspace(0, 1 - shift, 801)
    exact = min(log_wealth(x, scale, u) + log_wealth(1 - y, scale, 1 - u - shift) for u in grid)
    assert found <= exact + 1e-9
    # Six powers lose a little for large bets, as they do in the kernel that decides.
    sums = [statistics(kind, x), statistics(kind, y)]
    code = BERNOULLI if kind == "bernoulli" else POWERS
    bets, room = ((scale, math.inf), (scale, math.inf)), np.zeros((ROOM, BETS))
    given = code, *sums, bets, (0.02, 0.02), shift, found + 2e-3, room
    assert pair_lack(*given) > 0  # the kernel proves no more
    if kind == "bernoulli":
        assert found >= exact - 0.02


def statistics(kind, values):
    """Return what the kernels keep of an arm's values."""
    stat = np.zeros(STATISTICS)
    stat[COUNT] = stat[ALL] = len(values)
    stat[CENTRE] = values[0] if kind == "bounded" else 0.0
    away = values - stat[CENTRE]
    for k in range(1 if kind == "bernoulli" else 6):
        stat[FIRST + k] = (away ** (k + 1)).sum()
    stat[ALL_SECOND], stat[ALL_SIXTH] = (away**2).sum(), (away**6).sum()
    return stat


@pytest.mark.parametrize("seed", range(3))
def test_symmetric_noise_is_bounded_from_below(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(1.0, 0.5, 60), rng.normal(0.2, 0.7, 90)
    scales = (1.0, 0.25, 4.0, 1 / 64)
    weights = (0.9, 0.04, 0.03, 0.02)

    def closed(values, m):
        s, v = (values - m).sum(), ((values - m) ** 2).sum()
        total = 0.01
        for scale, weight in zip(scales, weights, strict=True):
            q = (0.5 * scale) ** -2
            z = s / math.sqrt(v + q)
            half = math.erfc(-z / math.sqrt(2))
            total += weight * math.sqrt(q / (v + q)) * math.exp(z * z / 2) * half
        return math.log(total)

    bets = Bets(interval(0.5))
    pair = Pair(
        Values("gaussian", x.tolist(), bets), Values("gaussian", (-y).tolist(), bets), interval(0.0)
    )
    found = proven_level(pair)
    grid = np.linspace(-3, 3, 1201)
    least = min(closed(x, u) + closed(-y, -u) for u in grid)
    assert least - 0.05 <= found <= least + 1e-9


def test_a_known_scale_is_bounded_from_below_and_tightly():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, m = (int(k) for k in rng.integers(2, 3000, 2))
        gap, q = float(rng.uniform(0.01, 3)), float(2.0 ** rng.integers(0, 17))
        found = pair_value(interval(gap), (n, m), (interval(q), interval(q)))
        kernel = pair_evidence(gap, float(n), float(m), q, q)
        assert found == pytest.approx(kernel, rel=1e-8, abs=1e-7)
