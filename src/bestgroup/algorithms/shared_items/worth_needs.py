"""How deep every arm needs to go where units of groups are compared. No proof rests on it.

As in `needs`, with the depths of `forecast`: for each undecided group the cheaper way is taken, to be
out, by another group or because its arms break limits, or to be in. A comparison of i with j needs as
many units of i as its rank says, the cheapest ones that seem to count, which must also be shown to, above
all units of j but the k_j - 1 that seem to be the best; a unit that seems to break a limit is barred
instead where that is sooner. Costs are those beyond what arms have and what is planned already.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.shared_items.forecast import NEVER, PRIOR, expected_depth
from bestgroup.algorithms.shared_items.limits import edge_of, limit_claim
from bestgroup.algorithms.shared_items.worth_pairs import (
    covers,
    is_among,
    is_gone,
    may_matter,
    needed,
)
from bestgroup.algorithms.shared_items.worth_state import (
    BREAKS,
    KEEPS,
    OVER,
    REJECTED,
    UNDECIDED,
    WON,
    WorthItemsRule,
    WorthItemsState,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.paired import OPEN, PROVEN, log_wealth
from bestgroup.inference.worths import BARRED, COUNTS
from bestgroup.problem.arrays import Bools, Floats


class View(NamedTuple):
    """What seems to be, and at which depth it is expected to be proven."""

    depths: Floats  # [P, P, Q, 2]
    keeps: Floats  # [P]    a unit is shown to count
    bars: Floats  # [P]     a unit is barred
    seems: Bools  # [P]     a unit seems to count
    means: Floats  # [P, Q] by items in common with the deepest unit
    price: Floats  # [P]    room
    wanted: Bools  # [P]    room


@kernel
def make_view(state: WorthItemsState, rule: WorthItemsRule) -> View:
    """Return a view with nothing in it."""
    P, Q = len(state.unit_depth), len(rule.slack)
    return View(
        np.zeros((P, P, Q, 2)),
        np.zeros(P),
        np.full(P, NEVER),
        np.ones(P, np.bool_),
        np.zeros((P, Q)),
        np.zeros(P),
        np.zeros(P, np.bool_),
    )


@borrowing
def foresee(state: WorthItemsState, rule: WorthItemsRule, view: View) -> None:
    """Set what seems to be, and the depths."""
    foresee_limits(state, rule, view)
    set_means(state, rule, view)
    for q in range(len(rule.slack)):
        common = mean_variance(state, rule, q)
        for u in range(len(state.unit_depth)):
            for v in range(len(state.unit_depth)):
                i, j = rule.units.home[u], rule.units.home[v]
                n = state.passed[u, v]
                if i == j or n == 0:
                    continue
                total = state.total[u, v, q]
                spread = max(0.0, state.square[u, v, q] - total * total / n)
                # So many imagined items of the common variance: young forecasts do not jump.
                variance = (spread + PRIOR * common) / (n - 1.0 + PRIOR)
                for kind in range(2):
                    view.depths[u, v, q, kind] = NEVER
                    if may_matter(state, rule, kind, i, j):
                        claim = (u, v, q, kind)
                        view.depths[u, v, q, kind] = claim_depth(state, rule, claim, variance)


@borrowing
def mean_variance(state: WorthItemsState, rule: WorthItemsRule, q: int) -> float:
    """Return the average variance of the differences of two units."""
    total, count = 0.0, 0.0
    for u in range(len(state.unit_depth)):
        for v in range(u):
            n = float(state.passed[u, v])
            if n > 1.0:
                total += state.square[u, v, q] - state.total[u, v, q] ** 2 / n
                count += n - 1.0
    return total / count if count > 0.0 else 0.0


@borrowing
def claim_depth(
    state: WorthItemsState, rule: WorthItemsRule, claim: tuple[int, int, int, int], variance: float
) -> float:
    """Return at which depth a claim is expected to be proven."""
    u, v, q, kind = claim
    code, n, items = state.code[u, v, q, kind], state.passed[u, v], rule.items
    if code == PROVEN:
        return 0.0
    if code != OPEN or n >= items.limit:
        return NEVER
    gap = state.total[u, v, q] / n + (rule.slack[q] if kind == WON else 0.0)
    need = needed(rule, kind, rule.units.home[u], rule.units.home[v])
    lack = math.log(need) - log_wealth(items.betting, state.wealth[u, v, q, kind])
    count, limit = items.betting.pool, items.limit
    depth = expected_depth(count, limit, n, gap, variance, rule.reach[q], lack)
    # At least one more item, or an open claim could be taken as free.
    return max(depth, n + 1.0)


@borrowing
def foresee_limits(state: WorthItemsState, rule: WorthItemsRule, view: View) -> None:
    """Set which units seem to count, and at which depth that is shown or they are barred."""
    for u in range(len(state.unit_depth)):
        view.keeps[u], view.bars[u], view.seems[u] = 0.0, NEVER, state.unit_standing[u] != BARRED
        if state.unit_standing[u] == BARRED:
            view.bars[u] = 0.0
        if state.unit_standing[u] == COUNTS or state.unit_standing[u] == BARRED:
            continue
        for place in range(rule.units.arms.shape[1]):
            a = rule.units.arms[u, place]
            if a < 0 or state.standing[a] == COUNTS:
                continue
            for limit in range(len(rule.limits)):
                # The limit is taken to be kept up to half of the tolerance.
                edge = edge_of(rule, limit) + 0.5 * rule.limits[limit, 3]
                if state.limit_total[a, limit] > edge * max(1, state.limit_passed[a]):
                    view.seems[u] = False
                view.keeps[u] = max(view.keeps[u], limit_depth(state, rule, a, limit, KEEPS))
                view.bars[u] = min(view.bars[u], limit_depth(state, rule, a, limit, BREAKS))


@borrowing
def limit_depth(
    state: WorthItemsState, rule: WorthItemsRule, a: int, limit: int, kind: int
) -> float:
    """Return at which depth a claim on a limit is expected to be proven."""
    n, items, code = state.limit_passed[a], rule.items, state.limit_code[a, limit, kind]
    if code == PROVEN:
        return 0.0
    if code != OPEN or n >= items.limit:
        return NEVER
    claim = limit_claim(rule, limit, kind)
    total = state.limit_total[a, limit]
    spread = max(0.0, state.limit_square[a, limit] - total * total / max(1, n))
    # Some imagined items of a middling variance: forecasts of young arms do not jump.
    imagined = PRIOR * 0.25 * claim.reach * claim.reach
    variance = (spread + imagined) / (max(n, 1) - 1.0 + PRIOR)
    gap = (total if kind == BREAKS else -total) / max(1, n) + claim.shift
    lack = math.log(claim.need) - log_wealth(items.betting, state.limit_wealth[a, limit, kind])
    count, top = items.betting.pool, items.limit
    return max(expected_depth(count, top, n, gap, variance, claim.reach, lack), n + 1.0)


@borrowing
def set_means(state: WorthItemsState, rule: WorthItemsRule, view: View) -> None:
    """Set what units seem to be worth, by their differences to the deepest unit."""
    first = 0
    for u in range(len(state.unit_depth)):
        if state.unit_depth[u] > state.unit_depth[first]:
            first = u
    for u in range(len(state.unit_depth)):
        for q in range(len(rule.slack)):
            view.means[u, q] = state.total[u, first, q] / max(1, state.passed[u, first])


@borrowing
def set_worth(state: WorthItemsState, rule: WorthItemsRule, view: View, worth: Floats) -> None:
    """Set what each group seems to be worth by the one value; -inf without enough units."""
    for i in range(len(worth)):
        worth[i] = -math.inf
        for u in range(rule.units.start[i], rule.units.start[i + 1]):
            above = units_above(rule, view, i, u, 0, True)
            if view.seems[u] and above == rule.units.ranks[i] - 1:
                worth[i] = view.means[u, 0]


@borrowing
def units_above(rule: WorthItemsRule, view: View, i: int, u: int, q: int, seeming: bool) -> int:
    """Return how many units of i seem to be better than u, of those that seem to count, or of all."""
    many = 0
    for v in range(rule.units.start[i], rule.units.start[i + 1]):
        if v == u or (seeming and not view.seems[v]):
            continue
        more = view.means[v, q] - view.means[u, q]
        if more > 0.0 or (more == 0.0 and v < u):
            many += 1
    return many


@borrowing
def cost_to(rule: WorthItemsRule, u: int, wanted: float, need: Floats) -> float:
    """Return what it takes, beyond `need`, for the arms of a unit to go so deep."""
    cost = 0.0
    for place in range(rule.units.arms.shape[1]):
        a = rule.units.arms[u, place]
        if a >= 0:
            cost += max(0.0, wanted - need[a]) * rule.items.cost[a]
    return cost  # pyright: ignore[reportReturnType]


@borrowing
def send(rule: WorthItemsRule, u: int, wanted: float, need: Floats) -> None:
    """Let the arms of a unit go so deep."""
    for place in range(rule.units.arms.shape[1]):
        a = rule.units.arms[u, place]
        if a >= 0:
            need[a] = max(need[a], wanted)


@borrowing
def pick_lower(state: WorthItemsState, rule: WorthItemsRule, view: View, j: int, q: int) -> None:
    """Mark the units of j that have to be covered: all but the k_j - 1 best, and those barred."""
    for v in range(rule.units.start[j], rule.units.start[j + 1]):
        view.wanted[v] = state.unit_standing[v] != BARRED
        if rule.units.ranks[j] > 1 and view.wanted[v]:
            view.wanted[v] = units_above(rule, view, j, v, q, True) >= rule.units.ranks[j] - 1


@borrowing
def price_unit(
    rule: WorthItemsRule, view: View, claim: tuple[int, int, int], j: int, need: Floats
) -> float:
    """Return what it costs for one unit of i, which must count, to be above the marked ones of j."""
    u, q, kind = claim
    deepest, cost = view.keeps[u], 0.0
    for v in range(rule.units.start[j], rule.units.start[j + 1]):
        if view.wanted[v]:
            depth = view.depths[u, v, q, kind]
            if view.bars[v] < depth:
                cost += cost_to(rule, v, view.bars[v], need)
            else:
                cost += cost_to(rule, v, depth, need)
                deepest = max(deepest, depth)
    return cost + cost_to(rule, u, deepest, need)


@borrowing
def compare(
    state: WorthItemsState,
    rule: WorthItemsRule,
    view: View,
    claim: tuple[int, int, int, int],
    need: Floats,
    add: bool,
) -> float:
    """Return the cost of the cheapest way for i to cover j, (i, j, q, kind); `add` plans it."""
    i, j, q, kind = claim
    if covers(state, rule, i, j, q, kind):
        return 0.0
    pick_lower(state, rule, view, j, q)
    for u in range(rule.units.start[i], rule.units.start[i + 1]):
        view.price[u] = math.inf
        if view.seems[u]:
            view.price[u] = price_unit(rule, view, (u, q, kind), j, need)
    total = 0.0
    for _ in range(rule.units.ranks[i]):
        best = rule.units.start[i]
        for u in range(rule.units.start[i], rule.units.start[i + 1]):
            if view.price[u] < view.price[best]:
                best = u
        if view.price[best] == math.inf:
            return math.inf
        total += view.price[best]
        view.price[best] = math.inf
        if add:
            plan_unit(rule, view, (best, q, kind), j, need)
    return total


@borrowing
def plan_unit(
    rule: WorthItemsRule, view: View, claim: tuple[int, int, int], j: int, need: Floats
) -> None:
    """Let a unit of i and the marked ones of j go as deep as the comparison needs."""
    u, q, kind = claim
    send(rule, u, view.keeps[u], need)
    for v in range(rule.units.start[j], rule.units.start[j + 1]):
        if view.wanted[v]:
            depth = view.depths[u, v, q, kind]
            if view.bars[v] < depth:
                send(rule, v, view.bars[v], need)
            else:
                send(rule, v, depth, need)
                send(rule, u, depth, need)


@borrowing
def settle(
    state: WorthItemsState, rule: WorthItemsRule, view: View, i: int, j: int, need: Floats
) -> float:
    """Add the cheapest way to show that j does not beat i by the slack; returns its cost."""
    least, value = math.inf, -1
    for q in range(len(rule.slack)):
        cost = compare(state, rule, view, (i, j, q, WON), need, False)
        if cost < least:
            least, value = cost, q
    if value >= 0:
        compare(state, rule, view, (i, j, value, WON), need, True)
    return least


@borrowing
def fall(
    state: WorthItemsState, rule: WorthItemsRule, view: View, i: int, j: int, need: Floats
) -> float:
    """Add the cheapest way to show that j beats i in every value; returns its cost."""
    total = 0.0
    for q in range(len(rule.slack)):
        cost = compare(state, rule, view, (j, i, q, OVER), need, True)
        if cost == math.inf:
            return cost
        total += cost
    return total


@borrowing
def bar(state: WorthItemsState, rule: WorthItemsRule, view: View, i: int, need: Floats) -> float:
    """Add what bars all units of a group that are left; returns its cost."""
    total = 0.0
    for u in range(rule.units.start[i], rule.units.start[i + 1]):
        if view.bars[u] >= NEVER:
            return math.inf
        total += cost_to(rule, u, view.bars[u], need)
        send(rule, u, view.bars[u], need)
    return total


@kernel
def leave(state: WorthItemsState, rule: WorthItemsRule, view: View, i: int, need: Floats) -> float:
    """Add the cheapest way for a group to be out; returns its cost."""
    before = need.copy()
    least, rival = math.inf, -1
    if len(rule.limits) > 0:
        least = bar(state, rule, view, i, need)
        need[:] = before
    for j in range(len(state.status)):
        if j != i and not is_gone(state, rule, j):
            cost = fall(state, rule, view, i, j, need)
            # Each rival is priced from the same start.
            need[:] = before
            if cost < least:
                least, rival = cost, j
    if least < math.inf:
        if rival >= 0:
            fall(state, rule, view, i, rival, need)
        else:
            bar(state, rule, view, i, need)
    return least


@borrowing
def stay(
    state: WorthItemsState, rule: WorthItemsRule, view: View, i: int, need: Floats, falls: Bools
) -> float:
    """Add the cheapest way for a group to be in, groups that fall left aside; returns its cost."""
    total = show_worth(rule, view, i, need)
    for j in range(len(state.status)):
        skipped = falls[j] and not rule.either
        if total < math.inf and j != i and not is_gone(state, rule, j) and not skipped:
            total += settle(state, rule, view, i, j, need)
    return total


@borrowing
def show_worth(rule: WorthItemsRule, view: View, i: int, need: Floats) -> float:
    """Add what shows that as many units of a group count as its rank says; returns the cost."""
    total = 0.0
    for u in range(rule.units.start[i], rule.units.start[i + 1]):
        view.wanted[u] = view.seems[u]
    for _ in range(rule.units.ranks[i]):
        best = -1
        for u in range(rule.units.start[i], rule.units.start[i + 1]):
            if view.wanted[u] and (best < 0 or view.keeps[u] < view.keeps[best]):
                best = u
        if best < 0:
            return math.inf
        view.wanted[best] = False
        total += cost_to(rule, best, view.keeps[best], need)
        send(rule, best, view.keeps[best], need)
    return total


@kernel
def set_needs(state: WorthItemsState, rule: WorthItemsRule, view: View, worth: Floats) -> None:
    """Set how deep every arm needs to go."""
    N = len(state.status)
    base = state.depth.astype(np.float64)
    trial, none = np.zeros(len(base)), np.zeros(N, np.bool_)
    falls = np.zeros(N, np.bool_)
    for i in range(N):
        if rule.top > 0:
            # The groups that seem to be the best are to be proven, against all the others.
            falls[i] = not is_among(worth, state, i, rule.top) or worth[i] == -math.inf
        elif state.status[i] == UNDECIDED:
            trial[:] = base
            out = leave(state, rule, view, i, trial)
            trial[:] = base
            falls[i] = out < stay(state, rule, view, i, trial, none)
    # Priced alone above; now together, so that depths are shared between groups.
    state.need[:] = base
    if rule.top > 0:
        prove_top(state, rule, view, falls)
        return
    for i in range(N):
        if state.status[i] == UNDECIDED and falls[i]:
            leave(state, rule, view, i, state.need)
    for i in range(N):
        if state.status[i] == UNDECIDED and not falls[i]:
            stay(state, rule, view, i, state.need, falls)


@borrowing
def prove_top(state: WorthItemsState, rule: WorthItemsRule, view: View, falls: Bools) -> None:
    """Set how deep arms need to go for the groups that do not fall to be shown as good as all others."""
    for i in range(len(falls)):
        if falls[i] or state.status[i] == REJECTED:
            continue
        show_worth(rule, view, i, state.need)
        for j in range(len(falls)):
            if falls[j] and not is_gone(state, rule, j):
                settle(state, rule, view, i, j, state.need)
    for i in range(len(falls)):
        if falls[i] and state.status[i] == UNDECIDED and worth_is_lost(rule, view, i):
            bar(state, rule, view, i, state.need)


@borrowing
def worth_is_lost(rule: WorthItemsRule, view: View, i: int) -> bool:
    """Return whether too few units of a group seem to count."""
    many = 0
    for u in range(rule.units.start[i], rule.units.start[i + 1]):
        if view.seems[u]:
            many += 1
    return many < rule.units.ranks[i]
