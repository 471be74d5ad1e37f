"""The evidence on pairs of arms: against quadrature, against scipy, from below, and Ville's bound."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from bestgroup.inference.evalues import normal as evidence

COUNTS = st.floats(1.0, 1e6)
PRECISIONS = st.floats(0.5, 1e5)


def psi(x):
    """x^2 / 2 + log 2 Phi(x), by scipy."""
    return x * x / 2 + math.log(2) + stats.norm.logcdf(x)


def exact_pair(gap, n_a, n_b, q_a, q_b):
    """The evidence by scipy's minimiser over the common mean.

    psi is the product's, which another test compares with scipy: x^2 / 2 + log Phi(x) loses too
    many digits far to the left.
    """
    s_a, s_b = n_a / math.sqrt(n_a + q_a), n_b / math.sqrt(n_b + q_b)
    middle = gap * s_b**2 / (s_a**2 + s_b**2)
    best = optimize.minimize_scalar(
        lambda u: evidence.log_mixture(s_a * u) + evidence.log_mixture(s_b * (gap - u)),
        bracket=(middle - 0.1 / s_a, middle + 0.1 / s_a),
        tol=1e-14,
    )
    return best.fun - math.log1p(n_a / q_a) / 2 - math.log1p(n_b / q_b) / 2


@pytest.mark.parametrize("x", [-60.0, -30.0, -8.0, -5.0, -4.999, -1.0, 0.0, 0.3, 2.0, 12.0, 40.0])
def test_log_mixture_against_scipy(x):
    # scipy's logcdf loses digits to cancellation against x^2 / 2 far to the left.
    allowed = 1e-12 * max(1.0, x * x)
    assert evidence.log_mixture(x) == pytest.approx(psi(x), abs=allowed)
    slope = x + math.exp(stats.norm.logpdf(x) - stats.norm.logcdf(x))
    assert evidence.log_mixture_slope(x) == pytest.approx(slope, abs=allowed)
    assert evidence.log_mixture_both(x) == (evidence.log_mixture(x), evidence.log_mixture_slope(x))


@pytest.mark.parametrize("total", [-30.0, -3.0, 0.0, 4.0, 25.0, 90.0])
@pytest.mark.parametrize(("n", "q"), [(1, 8.0), (50, 4.0), (400, 30.0)])
def test_one_arm_is_the_half_normal_mixture(total, n, q):
    """sqrt(q / (n + q)) exp psi is the integral over eta >= 0 of the half-normal mixture."""

    def integrand(eta):
        log_ratio = eta * total - n * eta * eta / 2
        return 2.0 * math.sqrt(q / (2 * math.pi)) * math.exp(log_ratio - q * eta * eta / 2)

    peak, width = max(total / (n + q), 0.0), 1 / math.sqrt(n + q)
    value, _ = integrate.quad(integrand, 0.0, peak + 12 * width, epsabs=0, epsrel=1e-11, limit=200)
    closed = evidence.log_mixture(total / math.sqrt(n + q)) - math.log1p(n / q) / 2
    assert closed == pytest.approx(math.log(value), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-3, 3.0), COUNTS, COUNTS, PRECISIONS, PRECISIONS)
def test_pair_evidence_is_a_tight_lower_bound(gap, n_a, n_b, q_a, q_b):
    value = evidence.pair_evidence(gap, n_a, n_b, q_a, q_b)
    s_a, s_b = n_a / math.sqrt(n_a + q_a), n_b / math.sqrt(n_b + q_b)
    cost = math.log1p(n_a / q_a) / 2 + math.log1p(n_b / q_b) / 2
    # The infimum is below the sum at every point; rounding of the sum grows with its size.
    rng = np.random.default_rng(0)
    for u in (*(gap * rng.uniform(-1, 2, 20)), gap * s_b**2 / (s_a**2 + s_b**2)):
        height = evidence.log_mixture(s_a * u) + evidence.log_mixture(s_b * (gap - u))
        assert value <= height - cost + 1e-14 * abs(height)
    assert value <= evidence.pair_evidence_above(gap, n_a, n_b, q_a, q_b)
    exact = exact_pair(gap, n_a, n_b, q_a, q_b)
    assert value == pytest.approx(exact, abs=1e-7 * (1 + abs(exact)))


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-3, 2.0), COUNTS, COUNTS, PRECISIONS)
def test_pair_evidence_symmetry_and_growth(gap, n_a, n_b, q):
    value = evidence.pair_evidence(gap, n_a, n_b, q, q)
    size = 1e-7 * (1 + abs(value))
    assert evidence.pair_evidence(gap, n_b, n_a, q, q) == pytest.approx(value, abs=size)
    assert evidence.pair_evidence(1.1 * gap, n_a, n_b, q, q) >= value - size


@pytest.mark.parametrize("gap", [0.0, -1.0, math.nan])
def test_no_evidence_without_a_gap(gap):
    assert evidence.pair_evidence(gap, 10.0, 10.0, 4.0, 4.0) == -math.inf


def test_no_evidence_without_pulls():
    assert evidence.pair_evidence(1.0, 0.0, 10.0, 4.0, 4.0) == -math.inf
    assert evidence.pair_evidence(1.0, 10.0, 0.0, 4.0, 4.0) == -math.inf


@settings(max_examples=100, deadline=None)
@given(st.floats(1.0, 1e7), st.floats(1e-9, 0.5))
def test_mixture_edge_is_the_root_from_above(n, alpha):
    edge = evidence.mixture_edge(n, alpha)

    def log_mixture(total):
        terms = [
            psi(total / math.sqrt(n + q)) - math.log1p(n / q) / 2
            for q in (2.0**3, 2.0**7, 2.0**11, 2.0**15)
        ]
        return float(np.logaddexp.reduce(terms)) - math.log(4)

    assert log_mixture(edge) >= math.log(1 / alpha)
    assert log_mixture(edge * (1 - 1e-8)) <= math.log(1 / alpha) + 1e-8
    assert evidence.mixture_edge(1.01 * n, alpha) > edge
    assert evidence.mixture_edge(1.01 * n, alpha) / 1.01 < edge


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 2.0), COUNTS, COUNTS, PRECISIONS)
def test_compiled_bits_equal_plain_ones(gap, n_a, n_b, q):
    plain = evidence.pair_evidence(gap, n_a, n_b, q, q)
    assert evidence.pair_evidence.compiled(gap, n_a, n_b, q, q) == plain


def test_pair_evidence_keeps_its_level_under_the_null():
    """Equal means, one arm pulled after the other: the level 1 / alpha is rarely reached."""
    rng = np.random.default_rng(3)
    runs, length, alpha = 300, 200, 0.1
    crossed = 0
    for _ in range(runs):
        sums = np.cumsum(rng.standard_normal((length, 2)), axis=0)
        for n in range(4, length, 4):
            gap = (sums[n - 1, 0] - sums[n - 1, 1]) / n
            if evidence.pair_evidence.compiled(gap, n, n, 20.0, 20.0) >= math.log(1 / alpha):
                crossed += 1
                break
    assert 0 < crossed <= stats.binom.ppf(1 - 1e-6, runs, alpha)
