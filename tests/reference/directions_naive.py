"""Bounds in a direction from their definition: every selection by itself, many tilts, every precision."""

from __future__ import annotations

import itertools
import math

import numpy as np

from bestgroup.inference.evalues.linear import PRECISIONS, PRIOR, conjugate


def blocks(selection, dims, weights, scale, independent):
    """Yield (arm, coefficient) for the arms that serve the dims of a selection."""
    for arm in sorted(set(selection)):
        parts = [weights[d] * scale[d] for d, j in zip(dims, selection, strict=True) if j == arm]
        yield arm, math.sqrt(sum(p * p for p in parts)) if independent else sum(parts)


def side(counts, selection, dims, weights, scale, independent, q):
    """Return v and h of the arms of one side."""
    return [
        (size * math.sqrt(counts[arm] + q) / counts[arm], 0.5 * math.log(1 + counts[arm] / q))
        for arm, size in blocks(selection, dims, weights, scale, independent)
    ]


def selection_bound(means, counts, i, s, k, t, weights, scale, independent, level):
    """Return the best bound against one selection t of k: over precisions and a fine grid of tilts."""
    dims = [d for d in range(len(weights)) if weights[d] > 0]
    ahead = sum(weights[d] * means[i][j][d] for d, j in zip(dims, s, strict=True))
    behind = sum(weights[d] * means[k][j][d] for d, j in zip(dims, t, strict=True))
    best = -math.inf
    for q, prior in zip(PRECISIONS, PRIOR, strict=True):
        arms = side(counts[i], s, dims, weights, scale, independent, q)
        arms += side(counts[k], t, dims, weights, scale, independent, q)
        cost = sum(h for _, h in arms) + level - math.log(prior)
        middle = math.sqrt(2 * cost / sum(v * v for v, _ in arms))
        for y in middle * np.exp(np.linspace(-1.5, 1.5, 61)):
            value = y * (ahead - behind) - sum(conjugate(float(y * v))[0] for v, _ in arms) - cost
            best = max(best, value / y)
    return best


def bound(means, counts, i, lead, k, weights, scale, independent, level):
    """Return the least of the bounds against all selections of k."""
    dims = [d for d in range(len(weights)) if weights[d] > 0]
    s = [lead[d] for d in dims]
    return min(
        selection_bound(means, counts, i, s, k, t, weights, scale, independent, level)
        for t in itertools.product(range(len(counts[k])), repeat=len(dims))
    )


def regions(corners, cells, bounds, epsilon, weights):
    """Return the groups that are within epsilon of all others at weights, by solving for its cell."""
    for cell in cells:
        mix = np.linalg.lstsq(corners[cell].T, weights, rcond=None)[0]
        if mix.min() >= -1e-9 and np.abs(mix @ corners[cell] - weights).max() < 1e-9:
            mixed = sum(c * bounds[v] for c, v in zip(mix, cell, strict=True))
            N = len(mixed)
            return {
                i for i in range(N) if all(mixed[i][k] + epsilon >= 0 for k in range(N) if k != i)
            }
    raise AssertionError("no cell")
