"""The cheapest alternative in which no group of a set strictly beats a group k any more.

Each dominator j of k in the set must have a dim d in which R_j^d falls to the level x_d that k
rises to. One arm of k serves a dim (attains x_d). Given which dominator goes to which dim and which
arm serves it, the cost is a sum of one-dimensional pooled minima over slots: a slot is a dim or,
when dims are fully dependent, an arm of k with all the dims that it serves. A slot costs more the
more dominators are in it, which gives the bounds: at a node

* the dominator that is costliest to place, placed alone, and
* all dominators not yet placed, lowered to the highest levels that can still pay: a slot's cost
grows at least by
  own (rise - level)^2 / 2, so no level rises by more than sqrt(2 (limit - cost) / own).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.theory.characteristic_time.arms import EXACT, Arms, mark_useful

NODES = 3_000  # of one search; the nodes left open enter by their bound


class Case(NamedTuple):
    """Group k, its J dominators, and an allocation."""

    excess: Floats  # [J, K_k, D, K]  of the dominators' arms over those of k
    row: Ints  # [J, K]  of each arm in the allocation
    exists: Bools  # [J, K]
    own: Floats  # [K_k, D]  the means of k
    first: Ints  # [1]  the row of k's first arm
    dependent: Bools  # [1]
    weight: Floats  # [J, K]  what the allocation gives the dominators' arms,
    force: Floats  # [K_k]   and those of k
    useful: Bools  # [K_k, D]  whether the arm may serve the dim


class Node(NamedTuple):
    """Partial placements of the dominators, as many as there is room for."""

    cost: Floats  # [S]
    bound: Floats  # [S]
    dim: Ints  # [S, J]  of each dominator; -1 if not placed
    server: Ints  # [S, D]  the arm of k that serves the dim; -1 if none yet
    level: Floats  # [S, slots]  rises
    part: Floats  # [S, slots]  costs


class Work(NamedTuple):
    """Scratch space: what placing each dominator by each option (arm of k, dim) costs."""

    rise: Floats  # [J, O]
    more: Floats  # [J, O]
    excess: Floats  # [(J + 1) K]  of the arms that meet in a slot
    weight: Floats  # [(J + 1) K]
    top: Floats  # [D]


class Rejected:
    """A group outside the answer with its dominators among the groups in `rivals`."""

    def __init__(self, arms: Arms, k: int, rivals: Ints, dependent: bool) -> None:
        self.arms = arms
        rivals = rivals[(arms.best[rivals] > arms.best[k]).all(axis=1)]
        row, exists = arms.index[rivals], arms.exists[rivals]
        own = arms.mean[arms.rows(k)]  # [K_k, D]
        mean = np.where(
            exists[:, :, None], arms.mean[row], arms.mean.min(axis=0) - 1.0
        )  # [J, K, D]
        excess = mean.transpose(0, 2, 1)[:, None] - own[None, :, :, None]
        self.case = Case(
            excess=np.ascontiguousarray(excess),
            row=row,
            exists=exists,
            own=own,
            first=arms.start[k : k + 1],
            dependent=np.array([dependent]),
            weight=np.zeros(row.shape),
            force=np.zeros(len(own)),
            useful=np.zeros(own.shape, dtype=np.bool_),
        )

    def start(self, weight: Floats) -> float:
        """Take in an allocation [A]; returns a quick lower bound of the cost."""
        return begin.compiled(self.case, weight)

    def search(self, cutoff: float) -> tuple[float, float, Floats]:
        """Return (cost, low, cut): the cheapest alternative and its |shift|^2 / 2 for each arm [A].

        Alternatives that cost `cutoff` or more may be missed, except that one is always found.
        `low` bounds from below the cheapest of those that cost less.
        """
        cut = np.zeros(len(self.arms.mean))
        cost, low = search.compiled(self.case, cutoff, NODES, cut)
        return cost, low, cut


@kernel
def begin(case: Case, allocation: Floats) -> float:
    """Take in an allocation; returns what the costliest dominator costs alone."""
    for j in range(case.row.shape[0]):
        for m in range(case.row.shape[1]):
            # Padding has weight 0: it costs nothing to lower what is not there.
            case.weight[j, m] = allocation[case.row[j, m]] if case.exists[j, m] else 0.0
    for a in range(len(case.force)):
        case.force[a] = allocation[case.first[0] + a]
    mark_useful(case.own, case.force, case.dependent[0], case.useful)
    node, work = make_node(case, 1), make_work(case)
    price(case, node, 0, work)
    return costliest_rival(case, node, 0, work)[1]


@kernel
def search(case: Case, cutoff: float, nodes: int, cut: Floats) -> tuple[float, float]:
    """Search depth first, cheapest option first; returns the cost and `low`, and fills in `cut`."""
    options = case.own.size
    stack, work = make_node(case, 3 + len(case.row) * options), make_work(case)
    best, here, size = 0, 1, 3  # rows of the stack: the best leaf, the node at hand, those waiting
    limit = low = math.inf
    seen = 0
    while size > 2:
        size -= 1
        # A better leaf was found since it was put there.
        if stack.bound[size] >= limit:
            continue
        # Out of patience: what is left still bounds the answer from below.
        if seen >= nodes and limit < math.inf:
            low = min(low, stack.bound[size])
            continue
        seen += 1
        copy_node(stack, size, here)
        price(case, stack, here, work)
        rival, least = costliest_rival(case, stack, here, work)
        if least <= 0.0:  # all that are left are below a level already
            copy_node(stack, here, best)
            # A little below the best: the search need not tell apart what rounding cannot.
            limit = EXACT * min(stack.cost[here], cutoff)
            continue
        # Two bounds on what is missing; the larger one prunes more.
        rest = max(least, left_over(case, stack, here, work, limit))
        if stack.cost[here] + rest >= limit:
            continue
        for _ in range(options):
            # Pushed first, taken last: the stack then yields the cheapest option first.
            option = costliest(work.more[rival])
            more = work.more[rival, option]
            if more < 0.0:
                break
            if stack.cost[here] + more < limit:
                copy_node(stack, here, size)
                place(case, stack, size, rival, option, work)
                # The child costs at least what was left at its parent.
                stack.bound[size] = stack.cost[here] + max(rest, more)
                size += 1
            work.more[rival, option] = -1.0
    describe(case, stack, best, cut)
    return stack.cost[best], min(low, limit)


@kernel
def make_node(case: Case, size: int) -> Node:
    """Return room for placements; nothing is placed."""
    rivals = len(case.row)
    arms, dims = case.own.shape
    slots = arms if case.dependent[0] else dims
    return Node(
        np.zeros(size),
        np.zeros(size),
        np.full((size, rivals), -1),
        np.full((size, dims), -1),
        np.zeros((size, slots)),
        np.zeros((size, slots)),
    )


@kernel
def make_work(case: Case) -> Work:
    """Return scratch space."""
    rivals, arms = case.row.shape
    prices = np.zeros((2, rivals, case.own.size))
    return Work(
        prices[0],
        prices[1],
        np.zeros((rivals + 1) * arms),
        np.zeros((rivals + 1) * arms),
        np.zeros(case.own.shape[1]),
    )


@borrowing
def copy_node(node: Node, source: int, target: int) -> None:
    """Copy a placement to another row."""
    node.cost[target], node.bound[target] = node.cost[source], node.bound[source]
    for j in range(node.dim.shape[1]):
        node.dim[target, j] = node.dim[source, j]
    for d in range(node.server.shape[1]):
        node.server[target, d] = node.server[source, d]
    for s in range(node.level.shape[1]):
        node.level[target, s], node.part[target, s] = node.level[source, s], node.part[source, s]


@borrowing
def is_open(case: Case, node: Node, at: int, arm: int, dim: int) -> bool:
    """Say whether an arm of k may serve a dim: one arm does."""
    server = node.server[at, dim]
    # In a dim the first placement chooses the arm of k that rises; others join it.
    return case.useful[arm, dim] if server < 0 else server == arm


@borrowing
def slot_of(case: Case, arm: int, dim: int) -> int:
    """Return the slot of an arm of k that serves a dim."""
    return arm if case.dependent[0] else dim


@borrowing
def price(case: Case, node: Node, at: int, work: Work) -> None:
    """Fill in rises and additional costs of each option for every dominator not yet placed; -1: closed."""
    rivals, size = case.row.shape
    arms, dims = case.own.shape
    for arm in range(arms):
        for dim in range(dims):
            option = arm * dims + dim
            open_ = is_open(case, node, at, arm, dim)
            slot = slot_of(case, arm, dim)
            terms = gather(case, node, at, arm, slot, work) if open_ else 0
            for j in range(rivals):
                if node.dim[at, j] >= 0:
                    continue
                if not open_:
                    work.more[j, option] = -1.0
                    continue
                for m in range(size):
                    work.excess[terms + m] = case.excess[j, arm, dim, m]
                    work.weight[terms + m] = case.weight[j, m]
                # Newton starts from the level that is reached: levels only rise along a path.
                level = node.level[at, slot]
                rise, cost = pooled(work, terms + size, case.force[arm], level)
                # No change of level means that the dominator is below it already.
                more = max(cost - node.part[at, slot], 0.0) if rise > level else 0.0
                work.rise[j, option], work.more[j, option] = rise, more


@borrowing
def gather(case: Case, node: Node, at: int, arm: int, slot: int, work: Work) -> int:
    """List the arms of the dominators in a slot; returns how many there are."""
    terms = 0
    for j in range(case.row.shape[0]):
        dim = node.dim[at, j]
        if dim >= 0 and slot_of(case, node.server[at, dim], dim) == slot:
            for m in range(case.row.shape[1]):
                work.excess[terms] = case.excess[j, arm, dim, m]
                work.weight[terms] = case.weight[j, m]
                terms += 1
    return terms


@borrowing
def pooled(work: Work, terms: int, own: float, rise: float) -> tuple[float, float]:
    """Return r with own r = sum_m weight_m (excess_m - r)^+ and the cost of rises and falls.

    `rise` must not exceed the solution. Newton's method from the left, on a concave piecewise
    linear function: it never overshoots, and ends exactly.
    """
    for _ in range(terms + 1):
        pull, mass = 0.0, own
        for m in range(terms):
            if work.excess[m] > rise:
                pull += work.weight[m] * work.excess[m]
                mass += work.weight[m]
        # At the solution, or past it by rounding.
        if not pull > rise * mass:
            break
        onward = pull / mass
        if not onward > rise:
            break
        rise = onward
    cost = own * rise * rise
    for m in range(terms):
        fall = max(work.excess[m] - rise, 0.0)
        # Whoever is above the level comes down to it.
        cost += work.weight[m] * fall * fall
    return rise, 0.5 * cost


@borrowing
def costliest_rival(case: Case, node: Node, at: int, work: Work) -> tuple[int, float]:
    """Return the dominator whose cheapest option costs most, and that cost; (-1, 0) if none is left."""
    rival, most = -1, 0.0
    for j in range(len(case.row)):
        if node.dim[at, j] >= 0:
            continue
        least = math.inf
        for option in range(work.more.shape[1]):
            if 0.0 <= work.more[j, option] < least:
                least = work.more[j, option]
        # Branching on the one that hurts most gives the fewest nodes.
        if rival < 0 or least > most:
            rival, most = j, least
    return rival, most


@borrowing
def costliest(more: Floats) -> int:
    """Return the option that costs most."""
    option = 0
    for o in range(1, len(more)):
        if more[o] > more[option]:
            option = o
    return option


@borrowing
def left_over(case: Case, node: Node, at: int, work: Work, limit: float) -> float:
    """Return what all dominators left cost at least at the highest levels that can still pay."""
    # Without a leaf there is no highest level that pays.
    if limit == math.inf:
        return 0.0
    arms, dims = case.own.shape
    for dim in range(dims):
        work.top[dim] = -math.inf
        for arm in range(arms):
            if not is_open(case, node, at, arm, dim):
                continue
            reach = math.inf
            if case.force[arm] > 0.0:
                # A rise beyond this alone would cost more than the best leaf.
                reach = math.sqrt(2.0 * (limit - node.cost[at]) / case.force[arm])
            level = node.level[at, slot_of(case, arm, dim)]
            work.top[dim] = max(work.top[dim], case.own[arm, dim] + level + reach)
    total = 0.0
    for j in range(case.row.shape[0]):
        if node.dim[at, j] >= 0:
            continue
        least = math.inf
        for dim in range(dims):
            cost = 0.0
            for m in range(case.row.shape[1]):
                over = case.excess[j, 0, dim, m] + case.own[0, dim] - work.top[dim]
                if over > 0.0:
                    cost += case.weight[j, m] * over * over
            least = min(least, cost)
        total += 0.5 * least
    return total


@borrowing
def place(case: Case, node: Node, at: int, rival: int, option: int, work: Work) -> None:
    """Place a dominator by an option."""
    dims = case.own.shape[1]
    arm, dim = option // dims, option % dims
    slot = slot_of(case, arm, dim)
    more = work.more[rival, option]
    node.dim[at, rival], node.server[at, dim] = dim, arm
    node.level[at, slot] = work.rise[rival, option]
    node.part[at, slot] += more
    node.cost[at] += more


@borrowing
def describe(case: Case, node: Node, at: int, cut: Floats) -> None:
    """Fill in |shift|^2 / 2 of each arm for a placement."""
    for slot in range(node.level.shape[1]):
        arm = slot if case.dependent[0] else node.server[at, slot]
        rise = node.level[at, slot]
        if rise > 0.0:
            cut[case.first[0] + arm] += 0.5 * rise * rise
    for j in range(case.row.shape[0]):
        dim = node.dim[at, j]
        if dim < 0:
            continue
        arm = node.server[at, dim]
        rise = node.level[at, slot_of(case, arm, dim)]
        for m in range(case.row.shape[1]):
            if case.exists[j, m]:
                fall = max(case.excess[j, arm, dim, m] - rise, 0.0)
                cut[case.row[j, m]] += 0.5 * fall * fall
