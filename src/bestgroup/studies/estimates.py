"""Estimates and intervals of a certificate's groups, as pages and reports show them."""

from __future__ import annotations

import numpy as np

from bestgroup.analysis.certify import Certificate
from bestgroup.problem.arrays import Floats


def efficiencies(found: Certificate) -> Floats:
    """Return lower bound, estimate and upper bound of all efficiencies in the dims' units, [3, N, D]."""
    low, high = found.intervals
    return np.stack([low, found.problem.to_user(found.explainer.best), high])


def weighted_worths(found: Certificate) -> Floats | None:
    """Return bounds and estimate of every group's weighted worth, [3, N]; None without weights.

    Dims to be minimised count with the opposite sign.
    """
    weights = found.goal.worth_weights(len(found.problem.decided))
    if weights is None:
        return None
    ends = efficiencies(found)
    less = np.array([dim.direction == "min" for dim in found.problem.decided])
    ends[:, :, less] = -ends[::-1, :, less]
    with np.errstate(invalid="ignore"):
        return ends @ weights


def front(found: Certificate, x: int, y: int) -> Floats:
    """Return the corners of the estimates' front in two dims, from the best in x to the best in y.

    In the dims' units, [corners, D].
    """
    best = found.explainer.best
    seen = best[np.isfinite(best).all(axis=1)]
    corners: list[Floats] = []
    for row in seen[np.lexsort((-seen[:, y], -seen[:, x]))]:
        if not corners or row[y] > corners[-1][y]:
            corners.append(row)
    return found.problem.to_user(np.array(corners).reshape(len(corners), best.shape[1]))
