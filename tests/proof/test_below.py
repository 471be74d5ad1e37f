"""Kernels from below: never above the exact value, close to it, and the same bits compiled."""

import math
import random
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from bestgroup.proof.below import TINY, exp_near, log_near, psi_below
from bestgroup.proof.format import DimNoise
from bestgroup.proof.intervals import interval
from bestgroup.proof.pair_evidence import Pair, pair_reaches


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(40):
        yield


def test_log_and_exp_keep_within_their_errors():
    draw = random.Random(0)
    for _ in range(3000):
        x = 10 ** draw.uniform(-280, 280)
        assert abs(mp.log(x) - log_near(x)) <= TINY * (1 + abs(mp.log(x))) / 4
        y = -(10 ** draw.uniform(-8, 2.84))
        assert abs(mp.exp(y) - exp_near(y)) <= TINY * mp.exp(y) / 4
    for x in (0.5, math.sqrt(0.5), 1.0, math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0), 2.0):
        assert abs(mp.log(x) - log_near(x)) <= TINY / 4


def test_psi_is_below_and_close():
    draw = random.Random(1)
    points = [draw.uniform(-5, 5) for _ in range(600)] + [
        draw.uniform(-300, 300) for _ in range(200)
    ]
    for x in [*points, -2.0, math.nextafter(-2.0, 0.0), 2.5, math.nextafter(2.5, 0.0), 0.0]:
        exact = mp.mpf(x) ** 2 / 2 + mp.log(2 * mp.ncdf(x))
        assert psi_below(x) <= exact <= psi_below(x) + 1e-11 * (1 + x * x)


WEIGHTS = [math.exp(-(((k + 0.5) / 4) ** 2) / 2) for k in range(12)]
WEIGHTS = [0.95 * w / sum(WEIGHTS) for w in WEIGHTS] + [0.005] * 8
LAWS = [(1.0, 0.9), (0.25, 0.04), (4.0, 0.03), (1 / 64, 0.02)]


def half_normal(s, v, q):
    z = s / math.sqrt(v + q)
    return z * z / 2 + math.log(math.erfc(-z / math.sqrt(2))) - math.log1p(v / q) / 2


def log_wealth(kind, z, m, scale, q):
    """Return the logs of an arm's wealth at m, in plain floating point: of bets, of half-normal laws."""
    n = len(z)
    if kind == "gaussian":
        s, v = n * (z.mean() - m), ((z - m) ** 2).sum()
        logs = [math.log(w) + half_normal(s, v, (scale * c) ** -2) for c, w in LAWS]
        return np.logaddexp.reduce([math.log(0.01), *logs]), -np.inf
    sigma = 1.0 if kind == "subgaussian" else 0.5
    known = half_normal(n * (z.mean() - m) / sigma, n, q) if q else -np.inf
    if kind == "subgaussian":
        return known, -np.inf
    bets = [scale * (k + 0.5) / 4 for k in range(12)] + [2.0**-k for k in range(1, 9)]
    logs = [
        math.log(w) + np.log1p(bet * (z - m)).sum()
        for w, bet in zip(WEIGHTS, bets, strict=True)
        if bet * m < 0.99
    ]
    return np.logaddexp.reduce([math.log(0.01), *logs]), known


def exact_level(kind, x, y, shift, scale, q):
    """Return the infimum of the evidence, on a fine grid."""
    turn = 0.0 if kind in ("gaussian", "subgaussian") else 1.0
    mirrored = turn - y
    grid = np.linspace(0, 1 - shift, 301) if turn else np.linspace(-0.5, 1.5, 601)
    found = []
    for u in grid:
        a, more_a = log_wealth(kind, x, u, scale, q)
        b, more_b = log_wealth(kind, mirrored, turn - u - shift, scale, q)
        if more_a > -np.inf:
            found.append(np.logaddexp(a + b + math.log(0.95), more_a + more_b + math.log(0.05)))
        else:
            found.append(a + b)
    return min(found)


@pytest.mark.parametrize("with_law", [False, True])
@pytest.mark.parametrize("kind", ["subgaussian", "bounded", "bernoulli", "gaussian"])
def test_the_proven_level_is_the_exact_one_and_compiled_bits_agree(kind, with_law):
    rng = np.random.default_rng(3)
    x, y = rng.beta(6, 3, 90), rng.beta(3, 6, 70)
    if kind == "bernoulli":
        x, y = (rng.random(90) < 0.75) * 1.0, (rng.random(70) < 0.3) * 1.0
    if kind in ("subgaussian", "gaussian"):
        x, y = rng.normal(1.0, 0.3, 90), rng.normal(0.3, 0.3, 70)
    scale, shift = 0.5, 0.05
    q = 20.0 if with_law or kind == "subgaussian" else None
    noise = DimNoise(kind, scale=1.0 if kind == "subgaussian" else 0.0)
    scales = (interval(scale), interval(scale))
    pair = Pair(
        (x.tolist(), y.tolist()),
        Fraction(shift),
        None if q is None else (interval(q), interval(q)),
        scales,
    )
    if kind == "gaussian":
        pair = pair._replace(q=None)
        q = None
    low, high = 0.0, 300.0
    while high - low > 1e-2:
        middle = (low + high) / 2
        good = pair_reaches(noise, 1, pair, middle, True)
        low, high = (middle, high) if good else (low, middle)
    exact = exact_level(kind, x, y, shift, scale, q)
    assert exact > 2.0
    assert exact - 0.05 <= low <= exact + 1e-9
    assert pair_reaches(noise, 1, pair, exact - 0.5, False)
    assert not pair_reaches(noise, 1, pair, exact + 0.5, False)
