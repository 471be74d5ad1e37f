"""Pairs of units on shared items: what is taken up of them, and which groups that decides.

K(u, v, d, s) is the pair process of units u and v (`inference.item_units`) at the depth of the shallower
one; `won[u, v, d]` is recorded once K with the slack has reached its level (`Levels`), `over[u, v, d]` once K
without slack has. With k_i the rank of group i,

- i *covers* j in d if fewer than k_j units of j that are not barred are left that do not have k_i units
  of i that count above them (won, or over without slack);
- a group with fewer than k_j units that are not barred is out;
- Pareto groups: i is out if some j with k_j units that count covers it by `over` in every dim; i is in
  if it has k_i units that count and covers every other group by `won` in some dim, groups that are
  out left aside, but only where no limit has a tolerance;
- the m best groups: i is out if m others cover it by `over`, and the answer is m groups, each with
  enough units that count, that cover all others by `won`, with the same exception.

**Theorem** (docs/theory.md 9.6). The answer is wrong with probability at most delta, whatever decides
which arm goes on, and however arms depend on each other. At the end of a pool everything is known.
"""

from __future__ import annotations

from bestgroup.algorithms.shared_items.worth_state import (
    ACCEPTED,
    OVER,
    REJECTED,
    UNDECIDED,
    WON,
    WorthItemsRule,
    WorthItemsState,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.paired import OPEN, PROVEN, Claim, watch_item
from bestgroup.inference.tally import Tally
from bestgroup.inference.worths import BARRED, COUNTS
from bestgroup.problem.arrays import Floats


@borrowing
def note_depths(state: WorthItemsState, tally: Tally, rule: WorthItemsRule) -> None:
    """Note how deep arms and units are, and the means of the arms."""
    items = rule.items
    for a in range(len(items.home)):
        i, j = items.home[a], items.place[a]
        state.depth[a] = tally.counts[i, j]
        for d in range(state.means.shape[1]):
            state.means[a, d] = tally.sums[i, j, d] / max(1, state.depth[a])
    for u in range(len(state.unit_depth)):
        least = state.depth[rule.units.arms[u, 0]]
        for place in range(1, rule.units.arms.shape[1]):
            a = rule.units.arms[u, place]
            if a >= 0:
                least = min(least, state.depth[a])
        state.unit_depth[u] = least


@borrowing
def value_in(rule: WorthItemsRule, tally: Tally, u: int, d: int, t: int) -> float:
    """Return the average of the values of a unit's arms in a dim on an item."""
    total, many = 0.0, 0
    for place in range(rule.units.parts.shape[2]):
        a = rule.units.parts[u, d, place]
        if a >= 0:
            total += tally.extra[rule.items.home[a], rule.items.place[a], d, t]
            many += 1
    return total / many  # pyright: ignore[reportReturnType]


@borrowing
def unit_value(rule: WorthItemsRule, tally: Tally, u: int, q: int, t: int) -> float:
    """Return value q of a unit on an item."""
    if not rule.units.summed:
        return value_in(rule, tally, u, q, t)
    total = 0.0
    for d in range(rule.units.parts.shape[1]):
        total += rule.units.weights[d] * value_in(rule, tally, u, d, t)
    return total


@borrowing
def is_gone(state: WorthItemsState, rule: WorthItemsRule, i: int) -> bool:
    """Return whether a group needs no comparison any more: it is out, for every set that counts."""
    return state.status[i] == REJECTED and (not rule.either or state.beaten_by[i] < 0)


@borrowing
def may_matter(state: WorthItemsState, rule: WorthItemsRule, kind: int, i: int, j: int) -> bool:
    """Return whether a claim on units of i and j can still decide a group."""
    if is_gone(state, rule, i) or is_gone(state, rule, j):
        return False
    if rule.top > 0:
        return kind == WON or state.status[j] == UNDECIDED
    return state.status[i if kind == WON else j] == UNDECIDED


@borrowing
def take_pairs(state: WorthItemsState, tally: Tally, rule: WorthItemsRule, gaps: Floats) -> None:
    """Take up what is new for every pair of units that may still count; `gaps` is room."""
    P, home = len(rule.units.home), rule.units.home
    for u in range(P):
        if state.unit_standing[u] == BARRED or is_gone(state, rule, home[u]):
            continue
        for v in range(u):
            stop = min(state.unit_depth[u], state.unit_depth[v])
            gone = state.unit_standing[v] == BARRED or is_gone(state, rule, home[v])
            if not gone and stop > state.passed[u, v]:
                for q in range(len(rule.slack)):
                    take_pair(state, tally, rule, (u, v, q), stop, gaps)
                state.passed[u, v] = stop
                state.passed[v, u] = stop


@borrowing
def take_pair(
    state: WorthItemsState,
    tally: Tally,
    rule: WorthItemsRule,
    pair: tuple[int, int, int],
    stop: int,
    gaps: Floats,
) -> None:
    """Take up the next items of a pair: both claims in both directions, then the sums."""
    u, v, q = pair
    first, home = state.passed[u, v], rule.units.home
    for t in range(first, stop):
        gaps[t - first] = unit_value(rule, tally, u, q, t) - unit_value(rule, tally, v, q, t)
    # Units of one group are never compared for a proof, only to see which may be best.
    if home[u] != home[v]:
        for kind in range(2):
            if may_matter(state, rule, kind, home[u], home[v]):
                follow(state, rule, (u, v, q, kind), gaps, 1.0, stop)
            if may_matter(state, rule, kind, home[v], home[u]):
                follow(state, rule, (v, u, q, kind), gaps, -1.0, stop)
    # After the claims: a bet may use the items before it, not the item itself.
    total, square = state.total[u, v, q], state.square[u, v, q]
    for t in range(first, stop):
        total += gaps[t - first]
        square += gaps[t - first] * gaps[t - first]
    state.total[u, v, q], state.total[v, u, q] = total, -total
    state.square[u, v, q], state.square[v, u, q] = square, square


@borrowing
def needed(rule: WorthItemsRule, kind: int, i: int, j: int) -> float:
    """Return the wealth that proves a claim on a unit of i and one of j."""
    return rule.won[i, j] if kind == WON else rule.over[i, j]


@borrowing
def follow(
    state: WorthItemsState,
    rule: WorthItemsRule,
    claim: tuple[int, int, int, int],
    gaps: Floats,
    way: float,
    stop: int,
) -> None:
    """Take up the next items for one claim on one pair; `way` is -1 if the gaps are the other's."""
    u, v, q, kind = claim
    if state.code[u, v, q, kind] != OPEN:
        return
    need = needed(rule, kind, rule.units.home[u], rule.units.home[v])
    shift = rule.slack[q] if kind == WON else 0.0
    wanted = Claim(shift, rule.reach[q], need, kind == OVER)
    total, square, first = state.total[u, v, q], state.square[u, v, q], state.passed[u, v]
    wealth, bets = state.wealth[u, v, q, kind], rule.items.betting
    for t in range(first, stop):
        value: float = way * gaps[t - first]  # pyright: ignore[reportAssignmentType]
        code = watch_item(bets, wealth, value, t, total, square, wanted)
        # Ville: the first time counts, what comes after cannot take it back.
        if code != OPEN:
            state.code[u, v, q, kind] = code
            return
        total += value
        square += value * value


@borrowing
def units_left(state: WorthItemsState, rule: WorthItemsRule, i: int, sure: bool) -> int:
    """Return how many units of a group are known to count, or are not barred."""
    many = 0
    for u in range(rule.units.start[i], rule.units.start[i + 1]):
        known = state.unit_standing[u]
        if known == COUNTS or (not sure and known != BARRED):
            many += 1
    return many


@borrowing
def is_under(
    state: WorthItemsState, rule: WorthItemsRule, i: int, v: int, q: int, kind: int
) -> bool:
    """Return whether as many units of i that count as its rank says are shown above unit v."""
    many = 0
    for u in range(rule.units.start[i], rule.units.start[i + 1]):
        if state.unit_standing[u] == COUNTS and state.code[u, v, q, kind] == PROVEN:
            many += 1
    return many >= rule.units.ranks[i]


@borrowing
def covers(state: WorthItemsState, rule: WorthItemsRule, i: int, j: int, q: int, kind: int) -> bool:
    """Return whether the worth of i is shown to be above that of j, or not below it by the slack."""
    left = 0
    for v in range(rule.units.start[j], rule.units.start[j + 1]):
        if state.unit_standing[v] != BARRED and not is_under(state, rule, i, v, q, kind):
            left += 1
    return left < rule.units.ranks[j]


@borrowing
def is_settled(state: WorthItemsState, rule: WorthItemsRule, i: int, j: int) -> bool:
    """Return whether j is shown not to beat i by the slack."""
    for q in range(len(rule.slack)):
        if covers(state, rule, i, j, q, WON):
            return True
    return False


@borrowing
def is_beaten(state: WorthItemsState, rule: WorthItemsRule, i: int, j: int) -> bool:
    """Return whether j is shown to beat i in every value."""
    if units_left(state, rule, j, True) < rule.units.ranks[j]:
        return False
    for q in range(len(rule.slack)):
        if not covers(state, rule, j, i, q, OVER):
            return False
    return True


@borrowing
def holds_out(state: WorthItemsState, rule: WorthItemsRule, i: int) -> bool:
    """Return whether a group has enough units that count, and no other one beats it by the slack."""
    if units_left(state, rule, i, True) < rule.units.ranks[i]:
        return False
    for j in range(len(state.status)):
        if j != i and not is_gone(state, rule, j) and not is_settled(state, rule, i, j):
            return False
    return True


@borrowing
def reject(state: WorthItemsState, rule: WorthItemsRule) -> None:
    """Put out groups of which too few units may count, and those that are beaten."""
    N, status = len(state.status), state.status
    for i in range(N):
        if status[i] == UNDECIDED and units_left(state, rule, i, False) < rule.units.ranks[i]:
            status[i] = REJECTED
    for i in range(N):
        above, by = 0, -1
        for j in range(N):
            if status[i] == UNDECIDED and j != i and is_beaten(state, rule, i, j):
                above += 1
                by = j
        if above > 0 and above >= rule.top:
            status[i] = REJECTED
            state.beaten_by[i] = by


@borrowing
def accept(state: WorthItemsState, rule: WorthItemsRule, worth: Floats) -> None:
    """Accept groups: each that holds out, or the m best ones; `worth` [N] is what they seem to be."""
    N, status = len(state.status), state.status
    if rule.top == 0:
        for i in range(N):
            if status[i] == UNDECIDED and holds_out(state, rule, i):
                status[i] = ACCEPTED
    elif rule.top == 1:
        first = -1
        for i in range(N):
            if status[i] == UNDECIDED and (first < 0 or worth[i] > worth[first]):
                if holds_out(state, rule, i):
                    first = i
        if first >= 0:
            status[first] = ACCEPTED
    elif are_top(state, rule, worth):
        for i in range(N):
            if is_among(worth, state, i, rule.top):
                status[i] = ACCEPTED


@borrowing
def is_among(worth: Floats, state: WorthItemsState, i: int, many: int) -> bool:
    """Return whether a group is among the `many` that seem to be the best, of those not out."""
    if state.status[i] == REJECTED:
        return False
    above = 0
    for j in range(len(worth)):
        if j != i and state.status[j] != REJECTED:
            if worth[j] > worth[i] or (worth[j] == worth[i] and j < i):
                above += 1
    return above < many


@borrowing
def are_top(state: WorthItemsState, rule: WorthItemsRule, worth: Floats) -> bool:
    """Return whether the groups that seem to be the m best are not below any of the others."""
    N = len(state.status)
    for i in range(N):
        if not is_among(worth, state, i, rule.top):
            continue
        for j in range(N):
            rest = j != i and not is_among(worth, state, j, rule.top)
            if rest and not is_gone(state, rule, j) and not is_settled(state, rule, i, j):
                return False
    return True
