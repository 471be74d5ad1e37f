"""Which arms keep the limits, by bets on their values on the items that they have passed.

A limit says that sign * mean is at most sign * at. With x the value on an item less the middle of the
range, v = sign * x and s = sign * (at - middle), it is kept if the mean of v is at most s. So there are two
claims of the pair process (`inference.evalues.paired`), with a constant in place of the second arm: v
has a mean above s (the limit is broken), and -v a mean of at least -s - tolerance (it is kept, up to
the tolerance). At the end of a pool both are known.
"""

from __future__ import annotations

from bestgroup.algorithms.shared_items.worth_state import (
    BREAKS,
    KEEPS,
    WorthItemsRule,
    WorthItemsState,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.paired import OPEN, PROVEN, Claim, watch_item
from bestgroup.inference.tally import Tally
from bestgroup.inference.worths import BARRED, COUNTS


@borrowing
def edge_of(rule: WorthItemsRule, limit: int) -> float:
    """Return the largest mean of v that keeps a limit."""
    d = int(rule.limits[limit, 0])
    return rule.limits[limit, 1] * (rule.limits[limit, 2] - rule.middle[d])


@borrowing
def limit_claim(rule: WorthItemsRule, limit: int, kind: int) -> Claim:
    """Return a claim on a limit: on v that it is broken, on -v that it is kept."""
    half = rule.half[int(rule.limits[limit, 0])]
    if kind == BREAKS:
        return Claim(-edge_of(rule, limit), half, rule.limit_need, True)
    return Claim(edge_of(rule, limit) + rule.limits[limit, 3], half, rule.limit_need, False)


@borrowing
def take_limits(state: WorthItemsState, tally: Tally, rule: WorthItemsRule) -> None:
    """Take up the new items of the arms that are neither known to count nor barred."""
    for a in range(len(state.depth)):
        if state.standing[a] == COUNTS or state.standing[a] == BARRED:
            continue
        if state.depth[a] > state.limit_passed[a]:
            for limit in range(len(rule.limits)):
                take_limit(state, tally, rule, a, limit)
            state.limit_passed[a] = state.depth[a]
            state.standing[a] = arm_standing(state, rule, a)
    for u in range(len(state.unit_standing)):
        state.unit_standing[u] = unit_standing(state, rule, u)


@borrowing
def take_limit(
    state: WorthItemsState, tally: Tally, rule: WorthItemsRule, a: int, limit: int
) -> None:
    """Take up the new items of an arm for both claims on a limit."""
    d, sign = int(rule.limits[limit, 0]), rule.limits[limit, 1]
    values = tally.extra[rule.items.home[a], rule.items.place[a], d]
    for kind in range(2):
        way = 1.0 if kind == BREAKS else -1.0
        total, square = way * state.limit_total[a, limit], state.limit_square[a, limit]
        claim, wealth = limit_claim(rule, limit, kind), state.limit_wealth[a, limit, kind]
        for t in range(state.limit_passed[a], state.depth[a]):
            # Ville: the first time counts, what comes after cannot take it back.
            if state.limit_code[a, limit, kind] != OPEN:
                break
            value = way * sign * (values[t] - rule.middle[d])
            bets = rule.items.betting
            found = watch_item(bets, wealth, value, t, total, square, claim)
            state.limit_code[a, limit, kind] = found
            total += value
            square += value * value
    for t in range(state.limit_passed[a], state.depth[a]):
        value = sign * (values[t] - rule.middle[d])
        state.limit_total[a, limit] += value
        state.limit_square[a, limit] += value * value


@borrowing
def arm_standing(state: WorthItemsState, rule: WorthItemsRule, a: int) -> int:
    """Return whether an arm counts, is barred, or neither is known; if both are, it counts."""
    kept, barred = True, False
    for limit in range(len(rule.limits)):
        kept = kept and state.limit_code[a, limit, KEEPS] == PROVEN
        barred = barred or state.limit_code[a, limit, BREAKS] == PROVEN
    if kept:
        return COUNTS
    return BARRED if barred else OPEN


@borrowing
def unit_standing(state: WorthItemsState, rule: WorthItemsRule, u: int) -> int:
    """Return whether a unit counts: if all its arms do; it is barred if one is."""
    known = COUNTS
    for place in range(rule.units.arms.shape[1]):
        a = rule.units.arms[u, place]
        if a >= 0 and state.standing[a] == BARRED:
            return BARRED
        if a >= 0 and state.standing[a] != COUNTS:
            known = OPEN
    return known
