"""The radii of TE+: how far the difference of two means can be off, at any round; see `te_plus`."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.problem.arrays import Bools, Floats
from bestgroup.problem.shape import Shape

STALE = 0.1  # the share of delta that the elimination of arms gets


class PairRule(NamedTuple):
    """The setting as the kernels see it: rho(r) = factor edge(variance r; alpha) / r."""

    exists: Bools  # [N, K]
    epsilon: Floats  # [D]
    scale: Floats  # [D]     sigma_d
    alphas: Floats  # [3]    levels of `above` and `far`, of `near`, of stale arms
    variance: float
    factor: float


@borrowing
def cell_end(r: int) -> int:
    """Return the end of the cell of r: r itself up to 128, then 64 to 128 cells an octave.

    The edge rises with the round, so the one of the cell's end serves all its rounds.
    """
    width = 1
    while r > 128 * width:
        width *= 2
    return -(-r // width) * width


@borrowing
def cell_of(r: int) -> tuple[int, int]:
    """Return the number of the cell of round r, from 0 on, and the last round before it."""
    if r <= 128:
        return r - 1, r - 1
    width, octave = 2, 0
    while r > 128 * width:
        width *= 2
        octave += 1
    k = (r - 1 - 64 * width) // width
    return 128 + 64 * octave + k, (64 + k) * width


@borrowing
def _fill_edges(variance: float, alphas: Floats, edges: Floats) -> None:
    r = 1
    for cell in range(len(edges)):
        end = cell_end(r)
        for k in range(3):
            edges[cell, k] = mixture_edge(variance * end, alphas[k])
        r = end + 1


@functools.lru_cache(maxsize=16)
def edges_of(variance: float, alphas: tuple[float, ...], cells: int) -> Floats:
    """Return the edges that `radii_at` uses in the first cells of rounds, [cells, 3]."""
    edges = np.zeros((cells, 3))
    _fill_edges.compiled(variance, np.array(alphas), edges)
    return edges


@borrowing
def radius_from(edge: float, factor: float, r: int) -> float:
    """Return the radius of round r in a cell with this edge."""
    return factor * edge / r


@borrowing
def radii_at(edges: Floats, rule: PairRule, r: int, radii: Floats) -> None:
    """Set the three radii of round r for scale 1; `edges` [4] is kept until r leaves its cell."""
    # A boundary takes a search for a root: it is kept for a cell of rounds, at the cell's largest
    # count.
    if not r <= edges[0]:
        end = cell_end(r)
        edges[0] = end
        for k in range(3):
            edges[k + 1] = mixture_edge(rule.variance * end, rule.alphas[k])
    for k in range(3):
        radii[k] = radius_from(edges[k + 1], rule.factor, r)


@borrowing
def radii_below(rule: PairRule, r: int, radii: Floats) -> None:
    """Set three numbers below all radii up to round r."""
    for k in range(3):
        edge = mixture_edge(rule.variance * r, rule.alphas[k])
        # Boundaries of a later round are larger, radii smaller: below all radii on the way.
        radii[k] = (1.0 - 1e-12) * radius_from(edge, rule.factor, r)


def split(shape: Shape, delta: float) -> Floats:
    """Return the levels of `above` and `far`, of `near` and of stale arms, for independent arms.

    >>> levels = split(Shape((5, 5, 5, 5, 5), 3), 0.01)
    >>> (0.01 / levels).round(6).tolist()
    [111.111111, 75.0, 600.0]
    """
    sizes, D, total = np.array(shape.sizes, np.float64), shape.dims, shape.total
    rivals, spare = total - sizes, D * (sizes - 1.0)
    stale = STALE if spare.any() else 0.0
    above = (1.0 - stale) / max(rivals.sum(), 1.0)
    near = 1.0 / (D * total)
    arms = stale / max(spare.sum(), 1.0)
    used = np.maximum(D * sizes * near, rivals * above + spare * arms).sum()
    # Without a second arm in any group nothing is ever stale, and the third level is not used.
    return np.array([above, near, arms if arms > 0 else above]) * delta / used
