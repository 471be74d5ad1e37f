"""The end of scouting: shares of delta for the comparisons and the arms that seem to matter.

Scouting ends when the hardest comparison that is needed has a part of the strength that its proof will
take. Evidence counts what is pulled after that, so shares may follow from all that was seen. A tenth
of delta is for all comparisons alike, and a tenth of an arm's share for all arms alike: what scouting
has misjudged costs more, and is not lost.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.directions.aim import progress
from bestgroup.algorithms.adaptive.directions.prove import bound_at, is_ahead, worth_at
from bestgroup.algorithms.adaptive.directions.state import DirectionsRule, State
from bestgroup.compile.kernel import kernel
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats

_EARLY = 0.25  # of what is needed, as a deviation: a sixteenth of the pulls
_LATER = 16.0  # times as many pulls as an arm had in scouting are expected of it at the end
_ALIKE = 0.1
_STEEP = 6.0  # a comparison that has twice the strength of the hardest gets 2^-6 of its share


@kernel
def end_scouting(state: State, tally: Tally, rule: DirectionsRule, least: float) -> bool:
    """Fix shares and start counting, if the hardest comparison is far enough; return whether it did."""
    if least < _EARLY:
        return False
    weight = np.zeros(state.bound.shape)
    if rule.top > 0:
        weigh_top(state, rule, least, weight)
    else:
        weigh_map(state, rule, least, weight)
    set_levels(state, rule, weight)
    set_prices(state, tally, rule)
    set_precisions(state, tally, rule)
    N, K = rule.exists.shape
    for i in range(N):
        for j in range(K):
            state.start[i, j] = tally.counts[i, j]
            for d in range(len(rule.scale)):
                state.start_sums[i, j, d] = tally.sums[i, j, d]
    for v in range(state.bound.shape[0]):
        for i in range(N):
            for k in range(N):
                state.bound[v, i, k] = -np.inf
    state.counting[0] = True
    return True


@kernel
def weigh_map(state: State, rule: DirectionsRule, least: float, weight: Floats) -> None:
    """Weigh comparisons [V, N, N] by how hard they are at the grid weights that are needed."""
    for p in range(len(rule.place)):
        # Harder ones are not needed: they may stay open.
        if state.ratio[p] < least:
            continue
        i = state.rivals[p, 0]
        mine = worth_at(state, rule.points[p], i)
        for k in range(len(state.out)):
            if k == i:
                continue
            gap = mine - worth_at(state, rule.points[p], k)
            strength = progress(gap, bound_at(state, rule, p, i, k), rule.epsilon)
            value = (least / strength) ** _STEEP if strength > least else 1.0
            for e in range(rule.mix.shape[1]):
                v = rule.cells[rule.place[p], e]
                if rule.mix[p, e] > 0.0 and value > weight[v, i, k]:
                    weight[v, i, k] = value


@kernel
def weigh_top(state: State, rule: DirectionsRule, least: float, weight: Floats) -> None:
    """Weigh comparisons of the first m groups with the others by how hard they are."""
    for i in range(len(state.out)):
        for k in range(len(state.out)):
            if is_ahead(state, rule, i) and not is_ahead(state, rule, k):
                gap = worth_at(state, rule.points[0], i) - worth_at(state, rule.points[0], k)
                strength = progress(gap, state.bound[0, i, k], rule.epsilon)
                weight[0, i, k] = (least / strength) ** _STEEP if strength > least else 1.0


@kernel
def set_levels(state: State, rule: DirectionsRule, weight: Floats) -> None:
    """Set the levels of all bounds from the weights of their comparisons."""
    V, N = weight.shape[0], weight.shape[1]
    total = 0.0
    for v in range(V):
        for i in range(N):
            for k in range(N):
                total += weight[v, i, k]
    pairs = V * N * (N - 1)
    for v in range(V):
        for i in range(N):
            for k in range(N):
                part = (1.0 - _ALIKE) * weight[v, i, k] / total if total > 0.0 else 0.0
                state.level[v, i, k] = -math.log(rule.budget * (part + _ALIKE / pairs))


@kernel
def set_prices(state: State, tally: Tally, rule: DirectionsRule) -> None:
    """Set what arms cost that are to show a group ahead: less for those that seem to be the best."""
    N, K = rule.exists.shape
    share = np.zeros(K)
    for i in range(N):
        size = rule.sizes[i]
        for d in range(len(rule.scale)):
            total = 0.0
            for j in range(size):
                n = float(tally.counts[i, j])
                behind = (state.efficiency[i, d] - tally.sums[i, j, d] / n) / rule.scale[d]
                share[j] = math.exp(-0.5 * n * behind * behind)
                total += share[j]
            for j in range(size):
                part = (1.0 - _ALIKE) * share[j] / total + _ALIKE / size
                state.price[i, j, d] = -math.log(part)


@kernel
def set_precisions(state: State, tally: Tally, rule: DirectionsRule) -> None:
    """Set the precision of every arm's mixture: about its pulls at the end over twice the level."""
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            later = _LATER * float(tally.counts[i, j])
            state.precision[0, i, j] = max(1.0, later / (2.0 * rule.level))
