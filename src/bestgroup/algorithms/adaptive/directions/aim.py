"""Whom the adaptive rule for maps and for the m best groups pulls for. No proof rests on it.

A grid weight has a leader by the estimates, and a rival against which the least of what is needed is
proven: (estimated gap + epsilon) / (estimated gap - bound) is 1 when it is. Weights that are easiest
come first, until the share that is asked for would be mapped: the hardest of these is worked on. So
weights close to a border, which may stay open, cost nothing.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.directions.prove import bound_at, is_ahead, worth_at
from bestgroup.algorithms.adaptive.directions.state import DirectionsRule, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Ints

_CURIOSITY = 0.5  # times log t / n, the square of the bonus of an arm of the leader's group
_MATTERS = 0.1  # of the gap: by how much an arm of the leader's group must be better to matter
_HALVINGS = 30


@borrowing
def take_aim(state: State, tally: Tally, rule: DirectionsRule) -> float:
    """Choose two groups, weights, and the arms to pull for them; return how far the proof is."""
    far = aim_top(state, rule) if rule.top > 0 else aim_map(state, rule)
    log_total = math.log(float(max(sum_of(tally.counts), 2)))
    i, k = state.pair[0], state.pair[1]
    gap = worth_at(state, state.target, i) - worth_at(state, state.target, k) + rule.epsilon
    for d in range(len(rule.scale)):
        state.aim[0, d] = probe(state, tally, rule, d, gap, log_total)
    contend(state, tally, rule)
    return far


@borrowing
def count_of(state: State, tally: Tally, i: int, j: int) -> int:
    """Return the pulls of an arm that count: those since scouting."""
    return int(tally.counts[i, j] - state.start[i, j])


@borrowing
def aim_map(state: State, rule: DirectionsRule) -> float:
    """Choose the hardest grid weight among the easiest that suffice."""
    need = rule.share - state.covered[0]
    for p in range(len(rule.place)):
        if state.colour[p] < 0:
            rate(state, rule, p)
    low, high = 0.0, 2.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if volume_above(state, rule, middle) >= need:
            low = middle
        else:
            high = middle
    # With all of the weights asked for, the corners count, too, though they have no volume.
    if rule.share >= 1.0:
        low = 0.0
    chosen = -1
    for p in range(len(rule.place)):
        open_ = state.colour[p] < 0 and state.ratio[p] >= low
        if open_ and (chosen < 0 or state.ratio[p] < state.ratio[chosen]):
            chosen = p
    chosen = max(chosen, 0)
    state.pair[0], state.pair[1] = state.rivals[chosen, 0], state.rivals[chosen, 1]
    corner = widest(state, rule, chosen)
    for d in range(len(state.target)):
        state.target[d] = rule.directions.weights[corner, d]
    return float(state.ratio[chosen])


@borrowing
def widest(state: State, rule: DirectionsRule, p: int) -> int:
    """Return the corner whose bound is farthest from the estimate, as it counts at a grid weight."""
    i, k = state.pair[0], state.pair[1]
    best, most = rule.cells[rule.place[p], 0], -np.inf
    for e in range(rule.mix.shape[1]):
        v = rule.cells[rule.place[p], e]
        if rule.mix[p, e] > 0.0:
            weights = rule.directions.weights[v]
            gap = worth_at(state, weights, i) - worth_at(state, weights, k)
            width = rule.mix[p, e] * (gap - state.bound[v, i, k])
            if width > most:
                best, most = v, width
    return int(best)


@borrowing
def volume_above(state: State, rule: DirectionsRule, least: float) -> float:
    """Return the volume of open grid weights whose ratio is at least so much."""
    total = 0.0
    for p in range(len(rule.place)):
        if state.colour[p] < 0 and state.ratio[p] >= least:
            total += rule.volume[p]
    return total


@borrowing
def rate(state: State, rule: DirectionsRule, p: int) -> None:
    """Set the leader of a grid weight, its hardest rival, and how far the proof is."""
    leader, most = 0, -np.inf
    for i in range(len(state.out)):
        worth = worth_at(state, rule.points[p], i)
        if worth > most:
            leader, most = i, worth
    rival, least, close = -1, np.inf, np.inf
    for k in range(len(state.out)):
        if k != leader:
            gap = most - worth_at(state, rule.points[p], k)
            ratio = progress(gap, bound_at(state, rule, p, leader, k), rule.epsilon)
            # Equal where nothing is known yet: the closest one then, whatever its number.
            if ratio < least or (ratio == least and gap < close):
                rival, least, close = k, ratio, gap
    state.rivals[p, 0], state.rivals[p, 1] = leader, rival
    state.ratio[p] = least


@borrowing
def progress(gap: float, bound: float, epsilon: float) -> float:
    """Return what is proven of what is needed: 1 at the end, 0 if nothing."""
    if bound == -np.inf:
        return 0.0
    return min((gap + epsilon) / max(gap - bound, 1e-300), 2.0)


@borrowing
def aim_top(state: State, rule: DirectionsRule) -> float:
    """Choose the pair, one inside and one outside by the estimates, that is the least proven."""
    least = close = np.inf
    for i in range(len(state.out)):
        if not is_ahead(state, rule, i):
            continue
        mine = worth_at(state, rule.points[0], i)
        for k in range(len(state.out)):
            if is_ahead(state, rule, k):
                continue
            gap = mine - worth_at(state, rule.points[0], k)
            ratio = progress(gap, state.bound[0, i, k], rule.epsilon)
            if ratio < least or (ratio == least and gap < close):
                least, close = ratio, gap
                state.pair[0], state.pair[1] = i, k
    for d in range(len(state.target)):
        state.target[d] = rule.points[0, d]
    return least


@borrowing
def spread_of(state: State, tally: Tally, rule: DirectionsRule, i: int, j: int, d: int) -> float:
    """Return about the scale of an arm's values in a dim: the model's, or what its box shows."""
    if not rule.boxed:
        return rule.scale[d]
    reach = 0.5 * (state.high[i, j, d] - state.low[i, j, d])
    found = reach * math.sqrt(tally.counts[i, j] / (2.0 * rule.level))
    if not found < np.inf:
        return rule.scale[d]
    return min(found, rule.scale[d]) if rule.linear else found


@borrowing
def probe(
    state: State, tally: Tally, rule: DirectionsRule, d: int, gap: float, log_total: float
) -> int:
    """Return the arm of the leader to pull in a dim: one that could be better, or the lead's."""
    i = state.pair[0]
    lead = state.lead[i, d]
    often = count_of(state, tally, i, lead)
    weight = state.target[d]
    if weight <= 0.0:
        return int(lead)
    best = int(lead)
    high = tally.sums[i, lead, d] / tally.counts[i, lead] + _MATTERS * max(gap, 0.0) / weight
    for j in range(rule.sizes[i]):
        n = tally.counts[i, j]
        # The lead keeps at least half of the pulls.
        if count_of(state, tally, i, j) >= often:
            continue
        bonus = spread_of(state, tally, rule, i, j, d) * math.sqrt(_CURIOSITY * log_total / n)
        value = tally.sums[i, j, d] / n + bonus
        if n * n < often:
            value = np.inf
        if value > high:
            high = value
            best = j
    return best


@borrowing
def contend(state: State, tally: Tally, rule: DirectionsRule) -> None:
    """Choose the rival's arms, one for each dim, that are hardest to be ahead of: a local search."""
    k, D = state.pair[1], len(rule.scale)
    arms = state.aim[1]
    least = np.inf
    # An arm that serves all dims may be hard, though in no dim by itself.
    for j in range(rule.sizes[k]):
        for d in range(D):
            state.trial[d] = j
        value = hardness(state, tally, rule, state.trial)
        if value < least:
            least = value
            for d in range(D):
                arms[d] = j
    for _ in range(2):
        for d in range(D):
            state.trial[d] = arms[d]
        for d in range(D):
            for j in range(rule.sizes[k]):
                state.trial[d] = j
                value = hardness(state, tally, rule, state.trial)
                if value < least:
                    least = value
                    arms[d] = j
            state.trial[d] = arms[d]


@borrowing
def hardness(state: State, tally: Tally, rule: DirectionsRule, arms: Ints) -> float:
    """Return about the bound against a selection of the rival: the gap less its deviation."""
    k = state.pair[1]
    gap = variance = 0.0
    for d in range(len(arms)):
        gap -= state.target[d] * tally.sums[k, arms[d], d] / tally.counts[k, arms[d]]
        variance += share_of(state, tally, rule, k, arms, d)
        variance += share_of(state, tally, rule, state.pair[0], state.aim[0], d)
    return gap - math.sqrt(2.0 * rule.level * variance)


@borrowing
def share_of(state: State, tally: Tally, rule: DirectionsRule, i: int, arms: Ints, d: int) -> float:
    """Return the variance of what the arm of dim d gives to a worth; 0 if an earlier dim has it."""
    for e in range(d):
        if arms[e] == arms[d]:
            return 0.0
    total = 0.0
    for e in range(d, len(arms)):
        if arms[e] == arms[d]:
            part = state.target[e] * spread_of(state, tally, rule, i, arms[d], e)
            total += part * part if rule.independent else part
    square = total if rule.independent else total * total
    return square / float(max(count_of(state, tally, i, arms[d]), 1))


@borrowing
def choose_arm(
    state: State, tally: Tally, rule: DirectionsRule, pulls: Ints
) -> tuple[int, int, int]:
    """Return the arm whose pull lowers the variance of the gap most for its cost, and its count."""
    best, group, arm, count = -1.0, int(state.pair[0]), int(state.aim[0, 0]), 1
    for side in range(2):
        i = state.pair[side]
        for d in range(len(rule.scale)):
            j = state.aim[side, d]
            n = max(count_of(state, tally, i, j) + pulls[i, j], 1)
            total = 0.0
            for e in range(len(rule.scale)):
                if state.aim[side, e] == j:
                    part = state.target[e] * spread_of(state, tally, rule, i, j, e)
                    total += part * part if rule.independent else part
            square = total if rule.independent else total * total
            need = square / (float(n) * float(n) * rule.cost[i, j])
            if need > best:
                best, group, arm, count = need, int(i), int(j), int(n)
    return group, arm, count
