"""Linear evidence: never above the exact infimum, near it, and proofs against all selections."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from bestgroup.inference.evalues import prove as ep
from bestgroup.inference.evalues import search as es
from bestgroup.inference.evalues.linear import climb, coefficients, conjugate, conjugate_above
from reference.infimum import exact_infimum, psi


def exact_conjugate(t):
    """psi*(t), by minimisation: a lower bound up to rounding."""
    reach = 2.0 / t + t + 5.0
    best = minimize_scalar(
        lambda x: psi(x) - t * x,
        bounds=(-reach, t + 1.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return -best.fun


def test_conjugate_is_never_below_and_close():
    for t in np.geomspace(2.0**-27, 40.0, 400):
        value, _ = conjugate(t)
        exact = exact_conjugate(t)
        assert value >= exact - 1e-9 * max(1.0, abs(exact))
        if t > 2.0**-24:
            assert value <= exact + 8e-5 * max(1.0, t * t)
            assert conjugate_above(t) <= exact + 1e-8 * max(1.0, abs(exact))


def test_the_mixture_is_the_integral():
    for total, n, q in ((3.0, 5.0, 8.0), (-2.0, 7.0, 2.0), (12.0, 40.0, 64.0)):
        density = math.sqrt(2 * q / math.pi)
        integral, _ = quad(
            lambda e, s=total, n=n, q=q: math.exp(e * s - e * e * (n + q) / 2), 0, math.inf
        )
        closed = 0.5 * math.log(q / (n + q)) + psi(total / math.sqrt(n + q))
        assert math.log(density * integral) == pytest.approx(closed, abs=1e-8)


def test_climb_is_below_the_infimum_and_close():
    rng = np.random.default_rng(1)
    for _ in range(60):
        v = np.exp(rng.uniform(-4, 1, size=int(rng.integers(1, 7))))
        gap = float(np.linalg.norm(v) * rng.uniform(0.5, 8.0))
        exact = exact_infimum(gap, v)
        for y in (0.0, 0.3 * gap / (v @ v), 3.0 * gap / (v @ v)):
            value, tilt = climb(gap, v, len(v), y, np.inf)
            assert exact - 0.01 <= value <= exact + 1e-9 and tilt > 0


def test_infimum_of_the_product_over_the_null_on_a_grid():
    """Two arms a, b against c: the evidence is below the product at every mean of the null."""
    n, q, c = np.array([30.0, 50.0, 40.0]), 16.0, np.array([1.0, 2.0, 3.0])
    sign, mean = np.array([1.0, 1.0, -1.0]), np.array([0.4, 0.5, 0.1])
    gap = float((sign * c) @ mean)
    v = c * np.sqrt(n + q) / n
    evidence = climb(gap, v, 3, 0.0, np.inf)[0] - 0.5 * np.log1p(n / q).sum()
    least = math.inf
    for a, b in product(np.linspace(-1, 1, 81), repeat=2):
        nu = np.array([a, b, (a + 2 * b) / 3])  # the edge of nu_a + 2 nu_b - 3 nu_c <= 0
        x = sign * n * (mean - nu) / np.sqrt(n + q)
        least = min(least, sum(psi(z) for z in x) - 0.5 * np.log1p(n / q).sum())
    assert evidence <= least and least - evidence < 0.05


def random_duel(rng, size, dims, independent):
    """A comparison with counts and means of its own; the leader is ahead of most selections."""
    q = np.array([8.0, 64.0, 512.0])
    c = coefficients(rng.uniform(0.5, 2.0, dims), independent)
    lead = np.zeros((3, dims))
    cost = -np.log(np.full(3, 1 / 3))
    for d in range(dims):
        n = float(rng.integers(20, 200))
        lead[:, d] = c[1 << d] * np.sqrt(n + q) / n
        cost += 0.5 * np.log1p(n / q)
    counts = rng.integers(10, 200, size).astype(float)
    worth = rng.normal(0.0, 0.5, (size, dims))
    ahead = worth.max(axis=0).sum() + rng.uniform(0.8, 1.6)
    reach = np.sqrt(counts + q[:, None]) / counts
    return es.Pairwise(
        np.array([ahead]), lead, cost, worth, reach, 0.5 * np.log1p(counts / q[:, None]), c
    )


@pytest.mark.parametrize("independent", [False, True])
def test_bounds_over_boxes_are_below_every_selection(independent):
    rng = np.random.default_rng(2)
    for _ in range(15):
        size, dims = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        pair = random_duel(rng, size, dims, independent)
        work = es.make_work(dims)
        box = rng.random((dims, size)) < 0.6
        box[np.arange(dims), rng.integers(0, size, dims)] = True
        chosen = np.zeros(dims, np.int64)
        bound, _ = es.bound_box(pair, 1, box, 1.0, np.inf, chosen, work)
        assert all(box[d, chosen[d]] for d in range(dims))
        inside = product(*(np.flatnonzero(box[d]) for d in range(dims)))
        exact = [evidence_at(pair, 1, np.array(s)) for s in inside]
        assert bound <= min(exact) + 1e-9


def evidence_at(pair, g, selection):
    """The exact evidence against one selection, one term for every arm that it uses."""
    gap = pair.ahead[0] - sum(pair.worth[j, d] for d, j in enumerate(selection))
    if gap <= 0:
        return -math.inf
    v, cost = pair.lead[g][pair.lead[g] > 0].tolist(), pair.lead_cost[g]
    for j in set(selection.tolist()):
        served = sum(1 << d for d, k in enumerate(selection) if k == j)
        v.append(pair.coefficient[served] * pair.reach[g, j])
        cost += pair.cost[g, j]
    return exact_infimum(gap, np.array(v)) - cost


def pooled(pair, selection, work):
    parts = [es.at_selection(pair, g, selection, 0.0, np.inf, work)[0] for g in range(3)]
    return float(np.logaddexp.reduce(parts))


@pytest.mark.parametrize("independent", [False, True])
def test_proofs_agree_with_enumeration(independent):
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(150):
        size, dims = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        pair = random_duel(rng, size, dims, independent)
        work = es.make_work(dims)
        least = min(pooled(pair, np.array(s), work) for s in product(range(size), repeat=dims))
        if not 0.0 < least < 12.0:
            continue
        for level in (least - 0.02, least + 0.02):
            found = np.zeros(dims, np.int64)
            code = ep.prove(pair, 1, size, 1.0, level, found, work)
            seen.add((code, level < least))
            assert code == (ep.PROVEN if level < least else ep.BEATEN)
            if code == ep.BEATEN:
                assert pooled(pair, found, work) < level + 0.01
    assert seen == {(ep.PROVEN, True), (ep.BEATEN, False)}


def test_an_arm_that_serves_two_dims_has_the_larger_coefficient():
    scales = np.array([1.0, 2.0, 4.0])
    assert coefficients(scales, False)[0b101] == 5.0
    assert coefficients(scales, True)[0b101] == pytest.approx(math.sqrt(17.0))


def test_compiled_equals_plain():
    rng = np.random.default_rng(4)
    for _ in range(20):
        pair = random_duel(rng, 4, 3, False)
        plain, fast = np.zeros(3, np.int64), np.zeros(3, np.int64)
        a = es.descend(pair, 1, 4, plain, es.make_work(3))
        b = es.descend.compiled(pair, 1, 4, fast, es.make_work(3))
        assert a == b and np.array_equal(plain, fast)
