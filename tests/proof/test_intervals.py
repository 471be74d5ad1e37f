"""Intervals hold the exact results: compared with mpmath at 40 digits."""

import math
import random
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from bestgroup.proof import interval_arrays as arrays
from bestgroup.proof.intervals import LOG_2, Interval, exp, interval, log, log_sum, sqrt, total
from bestgroup.proof.normal_pairs import conjugate
from bestgroup.proof.special import (
    PI,
    incomplete_beta,
    log_gamma,
    psi,
    student,
)


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(40):
        yield


def holds(found, exact, width):
    assert mp.mpf(found.low) <= exact <= mp.mpf(found.high)
    assert found.high - found.low <= width * max(1.0, abs(float(exact)))


def test_constants_lie_between_neighbours():
    holds(LOG_2, mp.log(2), 3e-16)
    holds(PI, mp.pi, 6e-16)
    assert math.nextafter(LOG_2.low, 1.0) == LOG_2.high


def test_elementary_functions():
    draw = random.Random(1)
    for _ in range(400):
        x = draw.uniform(-40, 40)
        holds(exp(x), mp.exp(x), 1e-12)
        y = 10 ** draw.uniform(-250, 250)
        holds(log(y), mp.log(y), 1e-12)
        holds(sqrt(y), mp.sqrt(y), 1e-12)
        holds(interval(x) * y / 3 - x, mp.mpf(x) * mp.mpf(y) / 3 - mp.mpf(x), 1e-12)


def test_psi_and_its_slope():
    draw = random.Random(2)
    for _ in range(300):
        x = draw.uniform(-8, 40)
        value, slope = psi(x)
        holds(value, mp.mpf(x) ** 2 / 2 + mp.log(2 * mp.ncdf(x)), 1e-9)
        holds(slope, x + mp.npdf(x) / mp.ncdf(x), 1e-8)


def test_psi_far_below_0_and_what_an_arm_with_many_pulls_costs():
    """An arm with far more pulls than a comparison needs is seen at a tiny tilt."""
    draw = random.Random(5)
    for _ in range(60):
        x = -(10 ** draw.uniform(1.3, 5))
        value, slope = psi(x)
        holds(value, mp.mpf(x) ** 2 / 2 + mp.log(mp.erfc(-x / mp.sqrt(2))), 1e-9)
        assert slope.high > 0.0 and slope.low < 1.0 / -x
        found = conjugate(interval(-1.0 / x))
        assert found.high < math.inf
        assert abs(float(t_star(-1.0 / x)) - found.high) < 1e-6 * abs(found.high)


def t_star(t):
    """Return psi*(t) for a tiny t."""

    def tail(x):
        return mp.erfc(-x / mp.sqrt(2))

    def rise(x):
        return x + mp.sqrt(2 / mp.pi) * mp.exp(-x * x / 2) / tail(x) - t

    x = mp.findroot(rise, (mp.mpf(-1) / t, mp.mpf(-0.99) / t), solver="secant", tol=1e-20)
    return t * x - x * x / 2 - mp.log(tail(x))


def test_gamma_beta_and_student():
    draw = random.Random(3)
    for _ in range(60):
        x = draw.randint(1, 4000) / 2
        holds(log_gamma(x), mp.loggamma(x), 1e-10)
        a, b = draw.randint(0, 300) + 0.5, draw.randint(0, 300) + 0.5
        m = draw.uniform(0.01, min(0.99, (a + 3) / (a + b)))
        exact = mp.betainc(a, b, 0, mp.mpf(m), regularized=True)
        holds(incomplete_beta(a, b, interval(m), 1.0 - interval(m)), exact, 1e-8)
        n, t = draw.randint(1, 3000), draw.uniform(0, 8)
        y = mp.mpf(t) ** 2 / (n + mp.mpf(t) ** 2)
        exact = (1 + mp.betainc(0.5, mp.mpf(n) / 2, 0, y, regularized=True)) / 2
        holds(student(n, interval(t)), exact, 1e-9)


def test_sums_of_doubles_and_of_exponentials():
    values = [0.1, 1e16, -1e16, 0.2, 1e-300]
    found = total(values)
    assert found.low <= math.fsum(values) <= found.high
    logs = [interval(-800.0), interval(3.0), Interval(-math.inf, -math.inf)]
    found = log_sum(logs, [interval(0.5)] * 3)
    holds(found, mp.log((mp.exp(-800) + mp.exp(3)) / 2), 1e-12)


def test_what_cannot_be_divided_is_refused():
    with pytest.raises(ZeroDivisionError):
        interval(1.0) / Interval(-1.0, 1.0)
    with pytest.raises(ValueError, match="positive"):
        log(interval(0.0))


def test_arrays_of_intervals_hold_the_exact_results():
    rng = np.random.default_rng(5)
    low = rng.normal(size=400) * 10.0 ** rng.integers(-8, 8, 400)
    some = arrays.Intervals(low, low + np.abs(low) * rng.choice([0.0, 1e-15, 0.5], 400))
    start = 10.0 ** rng.uniform(-6, 6, 400)
    other = arrays.Intervals(start, start * rng.choice([1.0, 1.0 + 1e-15, 2.0], 400))
    found = {
        "add": (arrays.add(some, other), lambda a, b: a + b),
        "subtract": (arrays.subtract(some, other), lambda a, b: a - b),
        "multiply": (arrays.multiply(some, other), lambda a, b: a * b),
        "divide": (arrays.divide(some, other), lambda a, b: a / b),
        "square": (arrays.square(some), lambda a, b: a * a),
        "half": (arrays.half(some), lambda a, b: a / 2),
    }
    for name, (result, exact) in found.items():
        for k in range(400):
            ends = result.at(k)
            for a in (some.low[k], some.high[k]):
                for b in (other.low[k], other.high[k]):
                    value = exact(Fraction(float(a)), Fraction(float(b)))
                    assert Fraction(ends.low) <= value <= Fraction(ends.high), name
    roots = arrays.root(other)
    squares = (np.array([Fraction(float(x)) ** 2 for x in ends]) for ends in roots)
    for least, most, a, b in zip(*squares, other.low, other.high, strict=True):
        assert least <= Fraction(float(a)) <= Fraction(float(b)) <= most
    with pytest.raises(ZeroDivisionError):
        arrays.divide(some, arrays.Intervals(np.zeros(400), np.ones(400)))


def test_powers_of_e_in_arrays_are_those_of_single_intervals_or_wider():
    x = -np.concatenate(
        [[0.0, 5e-324, 1e-9, 699.9, 700.0, 701.0, 1e9], np.geomspace(1e-6, 699, 300)]
    )
    found = arrays.exp(arrays.Intervals(x, x))
    for k, value in enumerate(x):
        exact = mp.exp(mp.mpf(float(value)))
        assert found.low[k] <= exact <= found.high[k]
        if value > -700:
            assert found.high[k] - found.low[k] < 1e-12 * float(exact)
    whole = arrays.total(found)
    assert whole.low < math.fsum(np.exp(x)) < whole.high
