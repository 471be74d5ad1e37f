"""Which arms of the leading group to prove with where costs differ: the best group's half.

To prove that a selection s leads by g costs (sum_b c_b sqrt(cost_b))^2 / g^2 times a constant, over
the arms b of both sides, each pulled in proportion to c_b / sqrt(cost_b). On the rival's side all
arms have to be shown below, so their costs add up: sqrt(sum cost) for each dim. The leader's
selection is the one with the largest g over that sum: a cheap arm serves unless a costly one is so much
better that fewer pulls make up for its cost. No proof rests on it: a leader may be any selection.

Other arms of the leader's group are tried as if a pull of them were as many pulls as it costs, in
units of the lead's; a cheaper one counts as a pull.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Floats, Ints

_TURNS = 8  # far more than Dinkelbach's iteration takes


@borrowing
def best_for_price(
    value: Floats, price: Floats, size: int, ahead: float, rival_cost: float, selection: Ints
) -> None:
    """Set the selection with the largest (ahead + sum value) / (rival_cost + sum price), by dim and arm.

    `value` and `price` are [K, D]; `selection` comes with the largest values. By Dinkelbach's method:
    at the ratio r of a selection the one with the largest value - r price in every dim has a
    larger ratio, or none has. Nothing changes where the lead is not positive, or a box has no end.
    """
    for _ in range(_TURNS):
        top, bottom = ahead, rival_cost
        for d in range(len(selection)):
            top += value[selection[d], d]
            bottom += price[selection[d], d]
        # Dinkelbach needs a positive numerator; without a lead there is nothing to prove cheaply.
        if not (0.0 < top < np.inf and bottom < np.inf):
            return
        ratio, moved = top / bottom, False
        for d in range(len(selection)):
            best = selection[d]
            for j in range(size):
                # Dims are separate once the ratio is fixed: D maxima in the place of K^D
                # selections.
                if value[j, d] - ratio * price[j, d] > value[best, d] - ratio * price[best, d]:
                    best = j
                    moved = True
            selection[d] = best
        if not moved:
            return


@borrowing
def price_of(rule: LinearRule, i: int, selection: Ints) -> float:
    """Return sum_d w^d sigma_d sqrt(cost) of a selection of group i."""
    total = 0.0
    for d in range(len(selection)):
        total += rule.coefficient[1 << d] * math.sqrt(rule.cost[i, selection[d]])
    return total


@borrowing
def rival_cost_of(rule: LinearRule, means: Floats, k: int, gap: float) -> float:
    """Return the price of a rival's side: sum_d w^d sigma_d sqrt(sum cost) over its arms.

    The farther an arm is behind the best of its dim, the fewer pulls it needs and the less it counts.
    """
    total = 0.0
    for d in range(len(rule.weights)):
        best, costs = -np.inf, 0.0
        for j in range(rule.sizes[k]):
            best = max(best, means[k, j, d])
        for j in range(rule.sizes[k]):
            # Pulls go like 1 / distance^2, and an arm that is further behind is further from the
            # leader.
            near = gap / (gap + rule.weights[d] * (best - means[k, j, d]))
            costs += near * near * rule.cost[k, j]
        total += rule.coefficient[1 << d] * math.sqrt(costs)
    return total


@borrowing
def spare(rule: LinearRule, space: Scratch, front: int) -> tuple[float, float]:
    """Set `space.lead` to the leading group's selection with the largest lead for its price.

    Returns its worth, and the price of the next group, 0 without one that could be told apart.
    """
    means, worth, lead = space.means, space.worth, space.lead
    D = len(lead)
    rival = runner_up(worth, front)
    # Nothing to be ahead of, or not ahead: then the best arms are the only sensible lead.
    if rival < 0 or worth[front] + rule.slack <= worth[rival]:
        return worth[front], 0.0
    value, price = space.value, space.price
    for j in range(rule.sizes[front]):
        for d in range(D):
            value[j, d] = rule.weights[d] * means[front, j, d]
            price[j, d] = rule.coefficient[1 << d] * math.sqrt(rule.cost[front, j])
    ahead = rule.slack - worth[rival]
    rival_cost = rival_cost_of(rule, means, rival, worth[front] + ahead)
    best_for_price(value, price, rule.sizes[front], ahead, rival_cost, lead)
    total = 0.0
    for d in range(D):
        total += value[lead[d], d]
    return total, rival_cost


@borrowing
def runner_up(worth: Floats, front: int) -> int:
    """Return the group with the largest worth but for `front`; -1 if all others are out."""
    rival = -1
    for k in range(len(worth)):
        if k != front and worth[k] > -np.inf and (rival < 0 or worth[k] > worth[rival]):
            rival = k
    return rival


@borrowing
def rate_of(state: State, rule: LinearRule, means: Floats) -> float:
    """Return the gap of the leader to the closest group, over the price of their pair."""
    w, rival = state.leader[0], -1
    for k in range(len(state.out)):
        if k != w and not state.out[k] and (rival < 0 or state.gap[k] < state.gap[rival]):
            rival = k
    if rival < 0 or state.gap[rival] <= 0.0:
        return 0.0
    rival_cost = rival_cost_of(rule, means, rival, state.gap[rival])
    return state.gap[rival] / (price_of(rule, w, state.lead) + rival_cost)


@borrowing
def cost_ratio(cost: float, other: float) -> float:
    """Return how many times a cost is another one, at least 1."""
    return max(1.0, cost / other)
