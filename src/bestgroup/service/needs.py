"""How many more pulls each group takes to be decided: `Explainer.group(i).forecast` for all at once.

The same sums as there, by arrays: with a thousand groups there are a million pairs.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.core.arrays import Floats
from bestgroup.core.certificate import OUT, UNDECIDED
from bestgroup.explain import MIXING as MIXING
from bestgroup.explain import Explainer


def pulls_needed(explainer: Explainer) -> Floats:
    """Return about how many more pulls each group takes, [N]: 0 if decided, inf if unforeseen."""
    verdict, shape = explainer.verdict, explainer.problem.shape
    N = shape.groups
    self_ = np.eye(N, dtype=bool)
    near = np.full((N, N), math.inf)
    fall = np.zeros((N, N))
    with np.errstate(all="ignore"):
        for d in range(shape.dims):
            near = np.minimum(near, _more(explainer, d, float(explainer.epsilon[d])))
            above = _more(explainer, d, 0.0)
            fall += np.where(verdict.beats[:, :, d], 0.0, above)
    settled = verdict.holds.any(axis=2) | (verdict.status == OUT)[None, :] | self_
    keep = np.where(settled, 0.0, near).sum(axis=1)
    lose = np.where(self_, math.inf, fall).min(axis=0)
    needs = np.minimum(keep, lose)
    unpulled = ((explainer.tally.counts == 0) & shape.exists).any(axis=1)
    needs[unpulled] = math.inf
    needs[verdict.status != UNDECIDED] = 0.0
    return needs


def _more(explainer: Explainer, d: int, shift: float) -> Floats:
    """Return `Explainer.more` for all pairs of groups (i, j), [N, N]."""
    rows, best = explainer.leader[:, d], explainer.best[:, d]
    groups = np.arange(len(rows))
    counts = explainer.tally.counts[groups, rows].astype(float)
    total = counts[:, None] + counts[None, :]
    gap = best[:, None] + shift - best[None, :]
    if explainer.verdict.pairs:
        scale = explainer.problem.noise.scales(len(explainer.names))[d]
        harmonic = 1 / counts[:, None] + 1 / counts[None, :]
        strength = (gap / scale) ** 2 / (2 * harmonic)
        arms = explainer.problem.shape.total
        level = math.log(len(groups) * arms / explainer.delta) + MIXING
        result = np.maximum(level / strength - 1, 0.0) * total
    else:
        under = best - explainer.verdict.low[groups, rows, d]
        over = explainer.verdict.high[groups, rows, d] - best
        width = under[:, None] + over[None, :]
        shrunk = np.maximum((width / gap) ** 2 - 1, 0.0) * total
        result = np.where(np.isfinite(width), shrunk, 4.0 * total)
    possible = (counts > 0)[:, None] & (counts > 0)[None, :] & (gap > 0)
    return np.where(possible, result, math.inf)
