"""How many pulls are still missing, for all groups and arms at once: the sums of `explain` by arrays.

With a thousand groups there are a million pairs. Forecasts say what happens if gaps are as they look.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.status import Status

if TYPE_CHECKING:
    from bestgroup.inference.certificate.explain import Explainer
    from bestgroup.inference.certificate.explain_best import BestExplainer


def pulls_needed(explainer: Explainer) -> Floats:
    """Return about how many more pulls each group takes, [N]: 0 if decided, inf if unforeseen.

    The whole answer takes no fewer than its hardest group and no more than all groups one by one,
    since an arm that serves several groups is counted once there.
    """
    status = explainer.verdict.status
    needs = np.zeros(len(status))
    if explainer.problem.measure is not None:  # nobody can say
        return np.where(status == Status.UNDECIDED, math.inf, 0.0)
    for i in np.flatnonzero(status == Status.UNDECIDED):
        needs[i] = group_needs(explainer, int(i))
    return needs


def group_needs(explainer: Explainer, i: int) -> float:
    """Return about how many more pulls decide an undecided group: at least 1, inf if unforeseen."""
    shape, counts = explainer.problem.shape, explainer.tally.counts
    if (counts[i, : shape.sizes[i]] == 0).any():
        return math.inf
    need = np.zeros((shape.groups, shape.arms))
    with np.errstate(all="ignore"):
        need_pareto(explainer, i, need)
        more = np.maximum(need - counts, 0.0)[shape.exists]
    total = float(more.sum())
    return math.inf if math.isnan(total) else max(total, 1.0)


def _together(explainer: Explainer, one: Floats, other: Floats) -> Floats:
    """Return what two half-widths give together."""
    return np.hypot(one, other) if explainer.verdict.pairs else one + other


def arms_needed(explainer: Explainer) -> Floats:
    """Return about how many pulls each arm has when the whole answer is proven, [N, K].

    Both arms of a comparison are taken to have equal counts when it is proven, and an arm as many
    as the hardest of its comparisons asks for.
    """
    shape = explainer.problem.shape
    need = np.zeros((shape.groups, shape.arms))
    if (explainer.tally.counts[shape.exists] == 0).any():
        return np.where(shape.exists, math.inf, 0.0)
    with np.errstate(all="ignore"):
        explainer.raise_needs(need)
    return need


def _counts(explainer: Explainer, i: int, j: Ints | int, d: int, shift: float) -> Floats:
    """Return the count that proves the leading arm of i plus the shift above each arm of j."""
    own = explainer.reach[i, explainer.leader[i, d], d]
    gap = explainer.best[i, d] + shift - explainer.means[j, :, d]
    counts = (_together(explainer, own, explainer.reach[j, :, d]) / gap) ** 2
    if explainer.least > 0:
        counts = np.maximum(counts, (1 + explainer.least) * explainer.tally.counts[j])
    exists = explainer.problem.shape.exists[j]
    return np.where(exists, np.where(gap > 0, counts, math.inf), 0.0)


def need_pareto(explainer: Explainer, i: int, need: Floats) -> None:
    """Raise `need` by what decides group i: against every rival in its best dim, or by one in all."""
    verdict, shape = explainer.verdict, explainer.problem.shape
    N, D = shape.groups, len(explainer.names)
    others = np.arange(N) != i
    near = np.stack(
        [_counts(explainer, i, np.arange(N), d, float(explainer.epsilon[d])) for d in range(D)]
    )  # [D, N, K]
    dim = near.max(axis=2).argmin(axis=0)  # [N]
    rivals = np.flatnonzero(others & (verdict.status != Status.OUT) & ~verdict.holds[i].any(axis=1))
    keep = near[dim[rivals], rivals]  # [rivals, K]
    hardest = keep.max(initial=0.0)
    lose, winner, fall = math.inf, -1, [np.zeros(shape.arms)] * D
    gaps = np.where(others[:, None], explainer.best - explainer.best[i], -math.inf)
    if (gaps > 0).all(axis=1).any():
        width = explainer.reach.max(axis=1) + explainer.reach[i].max(axis=0)
        open_ = np.where(verdict.beats[:, i], 0.0, width / np.where(gaps > 0, gaps, 0.0))
        winner = int(open_.max(axis=1).argmin())
        fall = [_counts(explainer, winner, i, d, 0.0) for d in range(D)]
        fall = [np.where(verdict.beats[winner, i, d], 0.0, fall[d]) for d in range(D)]
        lose = max(float(part.max()) for part in fall)
    if lose < hardest:
        for d in range(D):
            need[i] = np.maximum(need[i], fall[d])
            _raise(need, winner, int(explainer.leader[winner, d]), float(fall[d].max()))
        return
    for j, row in zip(rivals, keep, strict=True):
        need[j] = np.maximum(need[j], row)
        _raise(need, i, int(explainer.leader[i, dim[j]]), float(row.max()))


def _raise(need: Floats, i: int, m: int, count: float) -> None:
    need[i, m] = max(need[i, m], count)


def need_best(explainer: BestExplainer, weights: Floats, slack: float, need: Floats) -> None:
    """Raise `need` by what shows the group ahead to be the best up to the slack."""
    shape, status = explainer.problem.shape, explainer.verdict.status
    value = explainer.best @ weights
    i = int(np.argmax(np.where(status == Status.OUT, -math.inf, value)))
    for j in np.flatnonzero((status != Status.OUT) & (np.arange(shape.groups) != i)):
        width = explainer.spread(i, int(j), counted=False)
        for d in range(shape.dims):
            behind = weights[d] * (explainer.best[j, d] - explainer.means[j, :, d])
            row = (width / (value[i] - value[j] + slack + behind)) ** 2
            row = np.where(shape.exists[j], row, 0.0)
            need[j] = np.maximum(need[j], row)
            _raise(need, i, int(explainer.leader[i, d]), float(row.max()))
