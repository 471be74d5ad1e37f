"""Coverage of every confidence sequence: how many paths ever leave their bound; run by `make verify`.

A lower bound of the mean ever exceeds it exactly if its process at the true mean ever reaches 1 / alpha,
so each path of 10,000 values is followed by that process, at every value, on both sides. For betting it is
the exact wealth: the bounds in use are never narrower. A rate counts as too high if the lower end of its
99.9 % interval exceeds alpha.
"""

import math

import numpy as np
import pytest
from numba import njit
from scipy.stats import beta

from bestgroup.inference.confidence_sequences import bernoulli as sequence_bernoulli
from bestgroup.inference.confidence_sequences import bounded as sequence_bounded
from bestgroup.inference.confidence_sequences import gaussian as sequence_gaussian
from bestgroup.inference.evalues.normal import mixture_edge

pytestmark = pytest.mark.verify

PATHS, PULLS, ALPHA = 10_000, 10_000, 0.05
LEVEL = math.log(1 / ALPHA)
BETS = np.array(sequence_bounded._BETS)
MOST = sequence_bounded._MOST


def report(kind, law, left):
    n = PATHS
    low = beta.ppf(0.0005, left, n - left + 1) if left else 0.0
    high = beta.ppf(0.9995, left + 1, n - left)
    rate = f"{left / n:.4f}; 99.9 % interval {low:.4f} to {high:.4f}; alpha {ALPHA}"
    print(f"{kind}, {law}: {left} of {n} paths ({rate})")
    assert low <= ALPHA


def blocks(draw, seed):
    rng = np.random.default_rng(seed)
    for _ in range(PATHS // 500):
        yield np.ascontiguousarray(draw(rng, (500, PULLS)), dtype=np.float64)


@njit
def bets_cross(x, mean, bets, most, level):
    """How many paths see the exact wealth against `mean` reach the level."""
    crossed = 0
    for p in range(x.shape[0]):
        wealth = np.ones(len(bets))
        for i in range(x.shape[1]):
            total = 0.0
            for k in range(len(bets)):
                if bets[k] * mean < most:
                    wealth[k] *= 1.0 + bets[k] * (x[p, i] - mean)
                    total += wealth[k]
            if total >= level * len(bets):
                crossed += 1
                break
    return crossed


@njit
def sums_cross(x, edge):
    """How many paths see the sum reach the edge of its count."""
    crossed = 0
    for p in range(x.shape[0]):
        total = 0.0
        for i in range(x.shape[1]):
            total += x[p, i]
            if total >= edge[i]:
                crossed += 1
                break
    return crossed


@njit
def ratios_cross(x, edge):
    """How many paths see S / sqrt(V) reach the edge of its count."""
    crossed = 0
    for p in range(x.shape[0]):
        total, squares = 0.0, 0.0
        for i in range(x.shape[1]):
            total += x[p, i]
            squares += x[p, i] * x[p, i]
            if total > 0.0 and total * total >= edge[i] * edge[i] * squares:
                crossed += 1
                break
    return crossed


def two_points(low, high, p):
    return lambda rng, size: np.where(rng.random(size) < p, high, low), (1 - p) * low + p * high


def walk(rng, size):
    """A bounded martingale difference plus 1/2 whose size depends on the past."""
    signs = rng.choice([-0.5, 0.5], size)
    up = np.cumsum(signs, axis=1)
    scale = np.where(np.concatenate([np.zeros((size[0], 1)), up[:, :-1]], axis=1) > 0, 1.0, 0.1)
    return 0.5 + signs * scale


BOUNDED = {
    "fair coin": two_points(0, 1, 0.5),
    "rare success .01": two_points(0, 1, 0.01),
    "rare success .001": two_points(0, 1, 0.001),
    "rare failure .01": two_points(0, 1, 0.99),
    "two points .4 .6": two_points(0.4, 0.6, 0.5),
    "skewed two points": two_points(0.0, 0.2, 0.9),
    "uniform": (lambda rng, size: rng.random(size), 0.5),
    "beta(.1, .1)": (lambda rng, size: rng.beta(0.1, 0.1, size), 0.5),
    "beta(.5, 20)": (lambda rng, size: rng.beta(0.5, 20, size), 0.5 / 20.5),
    "beta(50, 50)": (lambda rng, size: rng.beta(50, 50, size), 0.5),
    "tiny variance": (lambda rng, size: 0.3 + 1e-4 * (rng.random(size) - 0.5), 0.3),
    "rare large value": (lambda rng, size: np.where(rng.random(size) < 0.005, 1.0, 0.1), 0.1045),
    "three points": (lambda rng, size: rng.choice([0.0, 0.5, 1.0], size, p=[0.05, 0.9, 0.05]), 0.5),
    "variance from the past": (walk, 0.5),
}


@pytest.mark.parametrize("law", BOUNDED)
def test_betting(law):
    draw, mean = BOUNDED[law]
    above = below = 0
    for x in blocks(draw, 1):
        above += bets_cross(x, mean, BETS, MOST, 1 / ALPHA)
        below += bets_cross(1 - x, 1 - mean, BETS, MOST, 1 / ALPHA)
    report("betting, lower bound", law, above)
    report("betting, upper bound", law, below)


@njit
def bernstein_cross(x, mean, looks, level, log_wealth):
    """How many paths see the empirical-Bernstein bound of the wealth reach the level at a look."""
    crossed = 0
    extra = np.zeros(2)
    for p in range(x.shape[0]):
        total, squares, at = 0.0, 0.0, 0
        for i in range(x.shape[1]):
            total += x[p, i]
            squares += x[p, i] * x[p, i]
            if i + 1 == looks[at]:
                at += 1
                if log_wealth(i + 1.0, total, squares, extra, 0, mean) >= level:
                    crossed += 1
                    break
    return crossed


@pytest.mark.parametrize("law", BOUNDED)
def test_bernstein(law):
    """At each of the first 100 values, then whenever the count has grown by a hundredth."""
    draw, mean = BOUNDED[law]
    looks = [*range(1, 101)]
    while looks[-1] < PULLS:
        looks.append(min(PULLS, math.ceil(1.01 * looks[-1])))
    at, above, below = np.array(looks), 0, 0
    wealth = sequence_bounded.log_wealth.compiled
    for x in blocks(draw, 1):
        above += bernstein_cross(x, mean, at, LEVEL, wealth)
        below += bernstein_cross(1 - x, 1 - mean, at, LEVEL, wealth)
    report("empirical Bernstein, lower bound", law, above)
    report("empirical Bernstein, upper bound", law, below)


SUB = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "signs": lambda rng, size: rng.choice([-1.0, 1.0], size),
    "uniform": lambda rng, size: rng.uniform(-1, 1, size) * math.sqrt(3) * 0.57735,
    "coin .1 in [-1, 1]": lambda rng, size: (np.where(rng.random(size) < 0.1, 1.0, 0.0) - 0.1) * 2,
    "coin .9 in [-1, 1]": lambda rng, size: (np.where(rng.random(size) < 0.9, 1.0, 0.0) - 0.9) * 2,
    "coin .01": lambda rng, size: (np.where(rng.random(size) < 0.01, 1.0, 0.0) - 0.01) * 2,
    "half normal variance": lambda rng, size: 0.5 * rng.standard_normal(size),
    "mixture of normals": lambda rng, size: (
        rng.standard_normal(size) * np.where(rng.random(size) < 0.5, 0.2, 1.0)
    ),
    "three points": lambda rng, size: rng.choice([-1.0, 0.0, 1.0], size),
    "tiny variance": lambda rng, size: 0.01 * rng.standard_normal(size),
    "triangular": lambda rng, size: rng.random(size) - rng.random(size),
    "variance from the past": lambda rng, size: 2 * (walk(rng, size) - 0.5),
}


@pytest.mark.parametrize("law", SUB)
def test_sub_gaussian(law):
    edge = np.array([mixture_edge.compiled(float(n), ALPHA) for n in range(1, PULLS + 1)])
    report("sub-Gaussian", law, sum(sums_cross(x, edge) for x in blocks(SUB[law], 2)))


@pytest.mark.parametrize("p", [0.5, 0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.7, 0.9, 0.95, 0.99, 0.999])
def test_bernoulli(p):
    """The number of successes at which p is refuted, for each count, then all paths against it."""
    edge = np.empty(PULLS)
    for n in range(1, PULLS + 1):
        low, high = math.floor(n * p), n + 1
        while high - low > 1:
            s = (low + high) // 2
            if sequence_bernoulli.log_jeffreys.compiled(float(s), float(n), p) >= LEVEL:
                high = s
            else:
                low = s
        edge[n - 1] = high
    draw = two_points(0, 1, p)[0]
    report("Bernoulli", f"p = {p}", sum(sums_cross(x, edge) for x in blocks(draw, 3)))


GAUSS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "normal, tiny scale": lambda rng, size: 1e-6 * rng.standard_normal(size),
    "normal, scale 1e6": lambda rng, size: 1e6 * rng.standard_normal(size),
    "normal, own scale each path": lambda rng, size: (
        rng.standard_normal(size) * rng.exponential(size=(size[0], 1))
    ),
}
# Not normal, so nothing is promised; how much it matters is printed.
OTHER = {
    "uniform": lambda rng, size: rng.random(size) - 0.5,
    "Student t, 5 degrees": lambda rng, size: rng.standard_t(5, size),
    "signs": lambda rng, size: rng.choice([-1.0, 1.0], size),
    "Laplace": lambda rng, size: rng.laplace(size=size),
    "mixture of scales 1 and 10": lambda rng, size: (
        rng.standard_normal(size) * np.where(rng.random(size) < 0.05, 10.0, 1.0)
    ),
    "exponential - 1": lambda rng, size: rng.exponential(size=size) - 1,
    "1 - exponential": lambda rng, size: 1 - rng.exponential(size=size),
    "rare large value": lambda rng, size: np.where(rng.random(size) < 0.01, 1.0, 0.0) - 0.01,
    "rare small value": lambda rng, size: 0.01 - np.where(rng.random(size) < 0.01, 1.0, 0.0),
}


def gaussian_edge():
    edge = np.full(PULLS, np.inf)
    for n in range(2, PULLS + 1):
        reach = sequence_gaussian.gaussian_reach.compiled(float(n), LEVEL)
        if reach < math.inf:  # reach = T / sqrt(n (n - T^2))
            edge[n - 1] = n * reach / math.sqrt(1 + n * reach * reach)
    return edge


@pytest.mark.parametrize("law", [*GAUSS, *OTHER])
def test_gaussian(law):
    edge = gaussian_edge()
    left = sum(ratios_cross(x, edge) for x in blocks((GAUSS | OTHER)[law], 4))
    if law in GAUSS:
        report("Gaussian", law, left)
    else:
        print(f"Gaussian, {law} (not normal): {left} of {PATHS} paths; alpha {ALPHA}")
        assert left >= 0
