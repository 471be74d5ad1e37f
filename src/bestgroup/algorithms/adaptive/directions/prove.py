"""What bounds of R_i . v - R_k . v prove of a map of weights, or of the m best groups.

If all bounds hold, so does everything here: worths are linear in the weights, so that on a cell a
bound is at least what its corners give, mixed as the weight is.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.directions.state import DirectionsRule, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.confidence_sequences.boxes import cut_arm_box
from bestgroup.inference.tally import Tally

_CAUTION = 6.0  # over n, the square of what a mean of scale 1 may be too large by, about


@borrowing
def set_means(state: State, tally: Tally, rule: DirectionsRule) -> None:
    """Set the estimated efficiencies, and the arms that are to show a group ahead."""
    for i in range(len(rule.sizes)):
        for d in range(len(rule.scale)):
            most, safe = -np.inf, -np.inf
            for j in range(rule.sizes[i]):
                n = float(tally.counts[i, j])
                if n <= 0.0:
                    continue
                mean = tally.sums[i, j, d] / n
                most = max(most, mean)
                # An arm of a slightly larger mean and few pulls that count would prove less.
                count = max(n - state.start[i, j], 1.0)
                if mean - rule.scale[d] * math.sqrt(_CAUTION / count) > safe:
                    safe = mean - rule.scale[d] * math.sqrt(_CAUTION / count)
                    state.lead[i, d] = j
            state.efficiency[i, d] = most


@borrowing
def set_first(state: State, rule: DirectionsRule) -> None:
    """Set which groups are to be shown ahead: those that lead at some grid weight, or the first m."""
    N = len(state.out)
    for i in range(N):
        state.first[i] = rule.top > 0 and is_ahead(state, rule, i)
    if rule.top > 0:
        return
    for p in range(len(rule.place)):
        leader, most = 0, -np.inf
        for i in range(N):
            worth = worth_at(state, rule.points[p], i)
            if worth > most:
                leader, most = i, worth
        state.first[leader] = True


@borrowing
def bounds_from_boxes(state: State, tally: Tally, rule: DirectionsRule) -> None:
    """Cut the boxes of arms with new pulls, and raise the bounds that follow from boxes."""
    N = len(rule.sizes)
    for i in range(N):
        for j in range(rule.sizes[i]):
            if state.boxed[i, j] == tally.counts[i, j]:
                continue
            state.boxed[i, j] = tally.counts[i, j]
            cut_arm_box(rule.box, tally, i, j, state.low, state.high)
    for v in range(state.bound.shape[0]):
        for i in range(N):
            low = worth_of(state.low, rule, v, i)
            for k in range(N):
                if i != k:
                    high = worth_of(state.high, rule, v, k)
                    state.bound[v, i, k] = max(state.bound[v, i, k], low - high)


@borrowing
def worth_of(ends: np.ndarray, rule: DirectionsRule, v: int, i: int) -> float:
    """Return the worth of a group in a direction, from one end of its arms' boxes."""
    total = 0.0
    for d in range(ends.shape[2]):
        # A dim without weight does not count, also where nothing bounds it.
        if rule.directions.weights[v, d] > 0.0:
            most = -np.inf
            for j in range(rule.sizes[i]):
                most = max(most, ends[i, j, d])
            total += rule.directions.weights[v, d] * most
    return total


@borrowing
def bound_at(state: State, rule: DirectionsRule, p: int, i: int, k: int) -> float:
    """Return the bound of R_i . w - R_k . w at a grid weight."""
    total, cell = 0.0, rule.place[p]
    for e in range(rule.mix.shape[1]):
        # A share of 0 of nothing is nothing.
        if rule.mix[p, e] > 0.0:
            total += rule.mix[p, e] * state.bound[rule.cells[cell, e], i, k]
    return total


@borrowing
def margin_at(state: State, rule: DirectionsRule, p: int, i: int) -> float:
    """Return by how much a group is proven to be within epsilon of all others at a grid weight."""
    least = np.inf
    for k in range(len(state.out)):
        if k != i:
            least = min(least, bound_at(state, rule, p, i, k) + rule.epsilon)
            # Not proven against one: no need to look at the others.
            if least < 0.0:
                return least
    return least


@borrowing
def settle_map(state: State, rule: DirectionsRule) -> None:
    """Map grid weights to groups; see whose region is not empty, who is best nowhere, and if it is done."""
    N = len(state.out)
    covered = 0.0
    whole = True
    for p in range(len(rule.place)):
        # Bounds only rise, so what is mapped stays; a group with a larger margin takes over.
        best = -np.inf
        for i in range(N):
            margin = margin_at(state, rule, p, i)
            if margin >= 0.0:
                state.named[i] = True
                if margin > best:
                    best = margin
                    state.colour[p] = i
        if state.colour[p] >= 0:
            covered += rule.volume[p]
        else:
            whole = False
    state.covered[0] = covered
    state.done[0] = whole or (rule.share < 1.0 and covered >= rule.share - 1e-9)
    for i in range(N):
        if not state.out[i] and not state.named[i]:
            state.out[i] = is_best_nowhere(state, rule, i)


@borrowing
def is_best_nowhere(state: State, rule: DirectionsRule, i: int) -> bool:
    """Return whether on every cell one other group is above i at all corners."""
    for c in range(rule.cells.shape[0]):
        found = False
        for k in range(len(state.out)):
            if k == i:
                continue
            above = True
            for e in range(rule.cells.shape[1]):
                if not state.bound[rule.cells[c, e], k, i] > 0.0:
                    above = False
                    break
            if above:
                found = True
                break
        if not found:
            return False
    return True


@borrowing
def settle_top(state: State, rule: DirectionsRule) -> None:
    """See which groups are among the m best, which are not, and whether m of them are proven."""
    N = len(state.out)
    for i in range(N):
        near, above = 0, 0
        for k in range(N):
            if k != i:
                if state.bound[0, i, k] + rule.epsilon >= 0.0:
                    near += 1
                if state.bound[0, k, i] > 0.0:
                    above += 1
        state.named[i] = state.named[i] or near >= N - rule.top
        state.out[i] = state.out[i] or above >= rule.top
    for i in range(N):
        for k in range(N):
            inside = is_ahead(state, rule, i) and not is_ahead(state, rule, k)
            if inside and state.bound[0, i, k] + rule.epsilon < 0.0:
                return
    state.done[0] = True
    state.covered[0] = 1.0
    for i in range(N):
        state.named[i] = is_ahead(state, rule, i)


@borrowing
def is_ahead(state: State, rule: DirectionsRule, i: int) -> bool:
    """Return whether a group is one of the m with the largest estimated worth."""
    mine, before = worth_at(state, rule.points[0], i), 0
    for k in range(len(state.out)):
        other = worth_at(state, rule.points[0], k)
        if other > mine or (other == mine and k < i):
            before += 1
    return before < rule.top


@borrowing
def worth_at(state: State, weights: np.ndarray, i: int) -> float:
    """Return the estimated worth of a group."""
    total = 0.0
    for d in range(len(weights)):
        total += weights[d] * state.efficiency[i, d]
    return total
