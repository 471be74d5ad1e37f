"""The adaptive rule for the best group by boxes of single arms, for every noise model.

If pulls of different arms may depend on each other, a product over arms is no supermartingale, and
for normal values of unknown variance there is no evidence on several arms.
What holds is a statement about every arm by itself: each bound of `inference.confidence_sequences`
fails at any time with probability at most alpha, however other arms behave.

**Rule.** Let (low_ij^d, high_ij^d) be the box of arm (i, j) in dim d, cut by all its earlier ones,
low_i = sum_d w^d max_j low_ij^d and high_k = sum_d w^d max_j high_kj^d. Group k is out for
good once low_i > high_k for some i != k. The answer is i once low_i + epsilon ||w||_1 >= high_k for every
other k that is not out.
alpha = delta / (D (A - K_min + 1)), A the number of arms, K_min the smallest group.

**Theorem.** The answer is wrong with probability at most delta, whatever rule chooses the pulls.

Proof. Let k* be a best group. With probability at least 1 - delta the means of all arms of other
groups are never below the lower ends of their boxes (at most D (A - K_min) events), and those of the
arms that attain R_{k*}^d, which are fixed by the means, never above the upper ends of theirs (D
events). Then low_i <= R_i . w for i != k* and high_{k*} >= R_{k*} . w at all times. So low_i >
high_{k*} never happens and k* is never out, and an answer i != k* has R_i . w + epsilon ||w||_1 >=
R_{k*} . w. QED

Sampling: of the leading group and the one with the largest `high`, arms with the largest upper bound
in each dim; of these the arm whose pull shortens the sum of the half-widths most for its cost: a
half-width shrinks like one over the root of the count. Where costs differ the leading group's arms
are those with the largest lead, by upper ends, for their price (`costs`).
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.aim import largest
from bestgroup.algorithms.adaptive.best.costs import best_for_price
from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.confidence_sequences.boxes import cut_arm_box
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Ints


@borrowing
def choose_box_arm(
    state: State, tally: Tally, rule: LinearRule, pulls: Ints
) -> tuple[int, int, int]:
    """Return the arm that is due, counting planned pulls, and how many pulls it has."""
    best, group, arm, count = -1.0, 0, 0, 0
    for i in (state.leader[0], state.rival[0]):
        for d in range(len(rule.weights)):
            j = state.hard[i, d]
            n = tally.counts[i, j] + pulls[i, j]
            # The half-width shrinks like n^(-1/2): its derivative for each unit of cost.
            need = (
                rule.weights[d] * state.spread[i, d] / (n * math.sqrt(float(n)) * rule.cost[i, j])
            )
            if need > best:
                best, group, arm, count = need, i, j, n
    return int(group), int(arm), int(count)


@borrowing
def narrow(state: State, tally: Tally, rule: LinearRule) -> None:
    """Cut the boxes of arms with new pulls by what these say: boxes hold at all times together."""
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            # Only arms with new pulls: an end takes a search for a root.
            if state.boxed[i, j] == tally.counts[i, j]:
                continue
            state.boxed[i, j] = tally.counts[i, j]
            cut_arm_box(rule.box, tally, i, j, state.low, state.high)


@borrowing
def check_boxes(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> None:
    """Eliminate groups that lie below another one's box, answer if one leads, and say whom to pull for."""
    N = len(state.out)
    narrow(state, tally, rule)
    low, high, worth = space.low, space.high, space.worth
    for i in range(N):
        low[i] = high[i] = worth[i] = -np.inf
        if not state.out[i]:
            low[i], high[i], worth[i] = group_box(state, tally, rule, i)
    # Two largest lower ends serve all comparisons; a group is not put out by its own.
    first = largest(low)
    next_low = -np.inf
    for i in range(N):
        if i != first:
            next_low = max(next_low, low[i])
    for k in range(N):
        # The proof counts no low of the best group, so its own may be wrong: only others put it out.
        top = low[first] if k != first else next_low
        if not state.out[k] and top > high[k]:
            state.out[k] = True
            high[k] = worth[k] = -np.inf
    front = largest(worth)
    state.leader[0] = front
    rival = -1
    for k in range(N):
        if k != front and not state.out[k]:
            state.evidence[k] = low[front] + rule.slack - high[k]
            if rival < 0 or high[k] > high[rival]:
                rival = k
    state.rival[0] = rival
    # The front is above everybody else's upper end, up to the slack.
    if rival < 0 or state.evidence[rival] >= 0.0:
        state.answer[0] = front
    elif rule.priced:
        spare_boxes(state, tally, rule, space, front, rule.slack - worth[rival])


@borrowing
def spare_boxes(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, i: int, ahead: float
) -> None:
    """Let the leading group use the arms with the largest lead for their price, by upper ends."""
    D = len(rule.weights)
    value, price = space.value, space.price
    for j in range(rule.sizes[i]):
        for d in range(D):
            reach = (state.high[i, j, d] - state.low[i, j, d]) / 2.0
            root = math.sqrt(tally.counts[i, j] * rule.cost[i, j])
            value[j, d] = rule.weights[d] * state.high[i, j, d]
            price[j, d] = rule.weights[d] * reach * root
    rival_cost = 0.0
    for d in range(D):
        arm = state.hard[state.rival[0], d]
        root = math.sqrt(rule.cost[state.rival[0], arm])
        rival_cost += rule.weights[d] * state.spread[state.rival[0], d] * root
    best_for_price(value, price, rule.sizes[i], ahead, rival_cost, state.hard[i])
    for d in range(D):
        arm = state.hard[i, d]
        reach = (state.high[i, arm, d] - state.low[i, arm, d]) / 2.0
        state.spread[i, d] = reach * math.sqrt(float(tally.counts[i, arm]))


@borrowing
def group_box(state: State, tally: Tally, rule: LinearRule, i: int) -> tuple[float, float, float]:
    """Return low_i, high_i and the worth by the means; keeps the arms with the largest upper ends."""
    low, high, worth = 0.0, 0.0, 0.0
    for d in range(len(rule.weights)):
        least, mean, most = -np.inf, -np.inf, -np.inf
        for j in range(rule.sizes[i]):
            # Ends of a maximum are the maxima of the ends.
            least = max(least, state.low[i, j, d])
            mean = max(mean, tally.sums[i, j, d] / tally.counts[i, j])
            # The arm that could still be the largest is the one to pull.
            if state.high[i, j, d] > most:
                most = state.high[i, j, d]
                state.hard[i, d] = j
                reach = (most - state.low[i, j, d]) / 2.0
                state.spread[i, d] = reach * math.sqrt(float(tally.counts[i, j]))
        state.efficiency[i, d] = mean
        low += rule.weights[d] * least
        high += rule.weights[d] * most
        worth += rule.weights[d] * mean
    return low, high, worth
