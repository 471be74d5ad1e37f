"""The outer problem of the limit: a concave maximum over the simplex, with certified bounds.

The value sup_w min_c <w, c> over allocations w and a set of alternatives c is a game. An oracle
returns, for an allocation, a lower bound of the inner minimum and the costs of some alternatives
(cuts). Cuts bound the value from above, queries bound it from below. Each query is a point on the
central path of the game restricted to the cuts so far, followed only as far as the present bounds
deserve (primal-dual column generation, Gondzio, Gonzalez-Brevis & Munari 2013): such points keep
away from the boundary, where vertices of the restricted game jump about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bestgroup.problem.arrays import Floats

MANY = 150  # arms; beyond it products of cuts, which have few entries, are sparse
CARE = 0.3  # how far the central path is followed: to this share of the gap between the bounds
Oracle: TypeAlias = Callable[[Floats], tuple[float, Floats]]
"""allocation [A] -> (lower bound of the inner minimum, cuts [R, A])."""

Watch: TypeAlias = Callable[[float], None]
"""Is told the relative gap between the bounds from time to time."""

Product: TypeAlias = Callable[[Floats], Floats]
"""weight -> the matrix of a Newton step."""


@dataclass(frozen=True)
class Optimum:
    """Bounds of the value, the allocation that attains `lower`, and the cuts that prove `upper`."""

    lower: float
    upper: float
    allocation: Floats
    cuts: Floats


@dataclass
class _Centre:
    """A strictly feasible pair: allocation w and mixture p of cuts, with their slacks."""

    w: Floats  # [A]
    p: Floats  # [R]
    s: Floats  # [R]  <w, c_r> - z
    q: Floats  # [A]  u - (mixture of cuts)

    @property
    def gap(self) -> float:
        return float(self.w @ self.q + self.p @ self.s)


def maximise(
    oracle: Oracle,
    arms: int,
    tolerance: float,
    cutoff: float = 0.0,
    cuts: Floats | None = None,
    rounds: int | None = None,
    watch: Watch | None = None,
) -> Optimum:
    """Return bounds of sup_w min_c <w, c> with upper - lower <= tolerance * upper.

    Stops early when the value is proven to be at most `cutoff`, or after `rounds` queries (400,
    fewer if there are more than 200 arms) with the bounds it has. A value of zero (no interior
    allocation has a positive inner minimum) is returned at once.
    """
    rounds = max(60, min(400, 80_000 // arms)) if rounds is None else rounds
    w = np.full(arms, 1.0 / arms)
    lower, found = oracle(w)
    if lower <= 0.0:
        return Optimum(0.0, 0.0, w, found)
    best, upper = w, np.inf
    rows = found if cuts is None else np.concatenate([cuts, found])
    p = np.full(len(rows), 1.0 / len(rows))
    for _ in range(rounds):
        spread = min((upper - lower) / upper, 1.0) if np.isfinite(upper) else 1.0
        centre = _follow(rows, w, p, CARE * spread)
        w, p = centre.w, centre.p
        upper = min(upper, float((p @ rows).max()))
        if upper - lower <= tolerance * upper or upper <= cutoff:
            break
        value, found = oracle(w)
        if value > lower:
            lower, best = value, w
        if watch is not None:
            watch(1.0 - lower / upper)
        if upper - lower <= tolerance * upper:
            break
        rows = np.concatenate([rows, found])
        p = np.concatenate([0.9 * p, np.full(len(found), 0.1 / len(found))])
    return Optimum(lower, max(upper, lower), best, rows)


def _follow(cuts: Floats, w: Floats, p: Floats, spread: float) -> _Centre:
    """Return a central point of the game whose duality gap is about `spread` of its value."""
    value = cuts @ w
    mixture = p @ cuts
    # Any z below and u above make the start strictly feasible; a margin of the size of the values
    # centres it.
    margin = 0.5 * (value.mean() - value.min()) + 0.05 * abs(value.mean())
    top = 0.5 * (mixture.max() - mixture.mean()) + 0.05 * abs(mixture.mean())
    centre = _Centre(w, p, value - (value.min() - margin), (mixture.max() + top) - mixture)
    size = len(w) + len(p)
    product = _product_of(cuts)
    for _ in range(60):
        goal = spread * abs(float((cuts @ centre.w).min()))
        mu = centre.gap / size
        target = max(0.15 * mu, goal / size)
        step = _newton(cuts, product, centre, target)
        if centre.gap <= 1.2 * goal and step > 0.5:
            break
    return centre


def _product_of(cuts: Floats) -> Product:
    """Return what computes cuts' diag(weight) cuts [A, A] or, if fewer, cuts diag(weight) cuts' [R, R]."""
    tall = cuts.T if _is_wide(cuts) else cuts
    if cuts.shape[1] <= MANY:
        return lambda weight: (tall * weight[:, None]).T @ tall
    from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

    rows: Any = csr_array(tall)  # SciPy has no types
    columns = rows.T.tocsr()
    return lambda weight: (columns @ rows.multiply(weight[:, None]).tocsr()).toarray()


def _is_wide(cuts: Floats) -> bool:
    return len(cuts) < cuts.shape[1]


def _newton(cuts: Floats, product: Product, at: _Centre, target: float) -> float:
    """Move `at` by a damped Newton step towards products `target`, and return the step's length."""
    weight = at.p / at.s
    rs, rq = target / at.s - at.p, target / at.w - at.q
    h = weight @ cuts
    right = np.stack([rq + rs @ cuts, h, np.ones(len(at.w))], axis=1)
    solved = _solve(cuts, product, weight, at.q / at.w, right)
    # Unknowns dz, du from sum(dw) = 0 and sum(dp) = 0.
    border = np.array(
        [
            [solved[:, 1].sum(), -solved[:, 2].sum()],
            [weight.sum() - h @ solved[:, 1], h @ solved[:, 2]],
        ]
    )
    dz, du = np.linalg.solve(border, np.array([-solved[:, 0].sum(), -rs.sum() + h @ solved[:, 0]]))
    dw = solved[:, 0] + dz * solved[:, 1] - du * solved[:, 2]
    ds = cuts @ dw - dz
    dp = rs - weight * ds
    dq = du - dp @ cuts
    step = 1.0
    for x, dx in ((at.w, dw), (at.p, dp), (at.s, ds), (at.q, dq)):
        ratio = float(np.max(-dx / x))
        step = min(step, 0.95 / ratio if ratio > 0.95 else 1.0)
    at.w, at.p, at.s, at.q = at.w + step * dw, at.p + step * dp, at.s + step * ds, at.q + step * dq
    at.w, at.p = at.w / at.w.sum(), at.p / at.p.sum()
    return step


def _solve(
    cuts: Floats, product: Product, weight: Floats, diagonal: Floats, right: Floats
) -> Floats:
    """Return (cuts' diag(weight) cuts + diag(diagonal))^-1 right, through the smaller of two systems."""
    if not _is_wide(cuts):
        matrix = product(weight)
        matrix[np.diag_indices_from(matrix)] += diagonal
        return _exactly(matrix, right)
    matrix = product(1.0 / diagonal)
    matrix[np.diag_indices_from(matrix)] += 1.0 / weight
    straight = right / diagonal[:, None]
    return straight - (cuts.T @ _exactly(matrix, cuts @ straight)) / diagonal[:, None]


def _exactly(matrix: Floats, right: Floats) -> Floats:
    return np.linalg.solve(matrix, right).astype(np.float64, copy=False)
