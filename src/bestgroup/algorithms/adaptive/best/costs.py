"""Which arms of the leading group to prove with where costs differ: the best group's half.

To prove that a selection s leads by g costs (sum_b c_b sqrt(cost_b))^2 / g^2 times a constant, over
the arms b of both sides, each pulled in proportion to c_b / sqrt(cost_b). On the rival's side all
arms have to be shown below, so their costs add up: sqrt(sum cost) for each dim. The witness's
selection is the one with the largest g over that sum: a cheap arm serves unless a dear one is so much
better that fewer pulls make up for its cost. No proof rests on it: a witness may be any selection.

Other arms of the witness's group are tried as if a pull of them were as many pulls as it costs, in
units of the lead's; a cheaper one counts as a pull.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.state import LinearRule, Room, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Floats, Ints

_TURNS = 8  # far more than Dinkelbach's iteration takes


@borrowing
def best_for_price(
    value: Floats, price: Floats, size: int, ahead: float, toll: float, selection: Ints
) -> None:
    """Set the selection with the largest (ahead + sum value) / (toll + sum price), by dim and arm.

    `value` and `price` are [K, D]; `selection` comes with the largest values. By Dinkelbach's method:
    at the ratio r of a selection the one with the largest value - r price in every dim has a
    larger ratio, or none has. Nothing changes where the lead is not positive, or a box has no end.
    """
    for _ in range(_TURNS):
        top, bottom = ahead, toll
        for d in range(len(selection)):
            top += value[selection[d], d]
            bottom += price[selection[d], d]
        if not (0.0 < top < np.inf and bottom < np.inf):
            return
        ratio, moved = top / bottom, False
        for d in range(len(selection)):
            best = selection[d]
            for j in range(size):
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
def toll_of(rule: LinearRule, means: Floats, k: int, gap: float) -> float:
    """Return the price of a rival's side: sum_d w^d sigma_d sqrt(sum cost) over its arms.

    The farther an arm is behind the best of its dim, the fewer pulls it needs and the less it counts.
    """
    total = 0.0
    for d in range(len(rule.weights)):
        best, costs = -np.inf, 0.0
        for j in range(rule.sizes[k]):
            best = max(best, means[k, j, d])
        for j in range(rule.sizes[k]):
            near = gap / (gap + rule.weights[d] * (best - means[k, j, d]))
            costs += near * near * rule.cost[k, j]
        total += rule.coefficient[1 << d] * math.sqrt(costs)
    return total


@borrowing
def spare(rule: LinearRule, room: Room, leader: int) -> tuple[float, float]:
    """Set `room.lead` to the leader's selection with the largest lead for its price.

    Returns its worth, and the price of the next group, 0 without one that could be told apart.
    """
    means, worth, lead = room.means, room.worth, room.lead
    D = len(lead)
    rival = runner_up(worth, leader)
    if rival < 0 or worth[leader] + rule.slack <= worth[rival]:
        return worth[leader], 0.0
    value, price = room.value, room.price
    for j in range(rule.sizes[leader]):
        for d in range(D):
            value[j, d] = rule.weights[d] * means[leader, j, d]
            price[j, d] = rule.coefficient[1 << d] * math.sqrt(rule.cost[leader, j])
    ahead = rule.slack - worth[rival]
    toll = toll_of(rule, means, rival, worth[leader] + ahead)
    best_for_price(value, price, rule.sizes[leader], ahead, toll, lead)
    total = 0.0
    for d in range(D):
        total += value[lead[d], d]
    return total, toll


@borrowing
def runner_up(worth: Floats, leader: int) -> int:
    """Return the group with the largest worth but for the leader; -1 if all others are out."""
    rival = -1
    for k in range(len(worth)):
        if k != leader and worth[k] > -np.inf and (rival < 0 or worth[k] > worth[rival]):
            rival = k
    return rival


@borrowing
def rate_of(state: State, rule: LinearRule, means: Floats) -> float:
    """Return the gap of the witness to the closest group, over the price of their duel."""
    w, rival = state.witness[0], -1
    for k in range(len(state.out)):
        if k != w and not state.out[k] and (rival < 0 or state.gap[k] < state.gap[rival]):
            rival = k
    if rival < 0 or state.gap[rival] <= 0.0:
        return 0.0
    toll = toll_of(rule, means, rival, state.gap[rival])
    return state.gap[rival] / (price_of(rule, w, state.lead) + toll)


@borrowing
def dearer(cost: float, other: float) -> float:
    """Return how many times a cost is another one, at least 1."""
    return max(1.0, cost / other)
