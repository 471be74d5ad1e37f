"""Evidence of a leader against the selections of a group: at one, the least found, bounds over many.

A selection of group k names an arm for each dim. A comparison is a leader, that is a group i with a
selection of its own, against group k. By eq. (1) of `evalues.linear` the evidence against
selection s at tilt y is

    y (ahead - sum_d worth[s(d), d]) - lead(y) - sum_b (psi*(y c_b r_b) + h_b),                (2)

with one term for every arm b that s uses: c_b is the coefficient of the set of dims that b serves,
r_b = sqrt(n_b + q) / n_b. An arm that serves two dims has one term, not two.

**Bound over a box of selections** (each dim with a set of arms). Every selection splits the dims
into sets served by one arm each, so the subtracted part of (2) is at most

    max over splits of the dims into sets B of
        sum_B max_b (y sum_{d in B} worth[b, d] + psi*(y c_B r_b) + h_b),

where b runs over the arms that every dim of B allows. The right side may use one arm for two sets,
which no selection does; that only makes it larger, and the bound of the evidence smaller. It costs
2^D K values of psi* and 3^D additions, whatever K^D is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.linear import climb, conjugate
from bestgroup.problem.arrays import Bools, Floats, Ints


class Pairwise(NamedTuple):
    """A leader against a group, at each of G precisions."""

    ahead: Floats  # [1]      weighted mean of the leader, plus the slack
    lead: Floats  # [G, D]    c r of the leader's arms; 0 for a dim served by the arm of an earlier one
    lead_cost: Floats  # [G]  the sum of their h, less the log of the prior
    worth: Floats  # [K, D]   w^d times the mean, of the group's arms
    reach: Floats  # [G, K]   r
    cost: Floats  # [G, K]    h
    coefficient: Floats  # [2^D]  c of a set of dims, given as a bit mask


class Work(NamedTuple):
    """Scratch space of the searches."""

    v: Floats  # [2 D]
    masks: Ints  # [D]
    trial: Ints  # [D]
    sums: Floats  # [2^D]
    value: Floats  # [2^D]  best of one arm for a set
    pick: Ints  # [2^D]     that arm
    total: Floats  # [2^D]  best over splits of a set
    cut: Ints  # [2^D]      the first part of that split


@kernel
def make_pairwise(G: int, K: int, D: int, coefficient: Floats) -> Pairwise:
    """Return room for comparisons of a leader with groups of at most K arms."""
    return Pairwise(
        np.zeros(1),
        np.zeros((G, D)),
        np.zeros(G),
        np.zeros((K, D)),
        np.zeros((G, K)),
        np.zeros((G, K)),
        coefficient,
    )


@kernel
def make_work(D: int) -> Work:
    """Return scratch space for D dims."""
    sets = 1 << D
    return Work(
        np.zeros(2 * D),
        np.zeros(D, np.int64),
        np.zeros(D, np.int64),
        np.zeros(sets),
        np.zeros(sets),
        np.zeros(sets, np.int64),
        np.zeros(sets),
        np.zeros(sets, np.int64),
    )


@borrowing
def find_blocks(selection: Ints, masks: Ints) -> None:
    """Set masks[d] to the set of dims that the arm of dim d serves, 0 unless d is the first of them."""
    D = len(selection)
    for d in range(D):
        masks[d] = 1 << d
        for e in range(d):
            # Dims that one arm serves share its pulls: one factor of the mixture, not several.
            if selection[e] == selection[d]:
                masks[d] = 0
        if masks[d] > 0:
            for e in range(d + 1, D):
                if selection[e] == selection[d]:
                    masks[d] |= 1 << e


@borrowing
def is_single(selection: Ints) -> bool:
    """Return whether one arm serves all dims."""
    for d in range(1, len(selection)):
        if selection[d] != selection[0]:
            return False
    return True


@borrowing
def at_selection(
    pair: Pairwise, g: int, selection: Ints, y: float, enough: float, work: Work
) -> tuple[float, float]:
    """Return the evidence against one selection at precision g, and its tilt; -inf if not ahead.

    It is searched for from tilt y until it is `enough`.
    """
    D = len(selection)
    gap = pair.ahead[0]
    for d in range(D):
        gap -= pair.worth[selection[d], d]
    # The null holds at the estimates: its evidence is nothing, whatever the tilt.
    if gap <= 0.0:
        return -np.inf, 0.0
    find_blocks(selection, work.masks)
    n = 0
    cost = pair.lead_cost[g]
    for d in range(D):
        # A 0 stands for a dim that an earlier arm serves (see `find_blocks`).
        if pair.lead[g, d] > 0.0:
            work.v[n] = pair.lead[g, d]
            n += 1
    for d in range(D):
        if work.masks[d] > 0:
            j = selection[d]
            work.v[n] = pair.coefficient[work.masks[d]] * pair.reach[g, j]
            cost += pair.cost[g, j]
            n += 1
    # The infimum over all means of the null, by its dual in one variable: any tilt gives a lower
    # bound.
    value, tilt = climb(gap, work.v, n, y, enough + cost)
    return value - cost, tilt


@borrowing
def pooled(pair: Pairwise, g: int, selection: Ints, y: float, level: float, work: Work) -> float:
    """Return the evidence with precisions g - 1, g, g + 1 pooled by their prior, at least up to `level`."""
    value, tilt = at_selection(pair, g, selection, y, level, work)
    # Two more precisions add at most log 3: hopeless or needless cases skip them.
    if value >= level or value < level - 20.0:
        return value
    # In units of the level, where nothing can overflow.
    total = math.exp(value - level)
    for other in (g - 1, g + 1):
        if 0 <= other < len(pair.lead_cost) and total < 1.0:
            more, _ = at_selection(pair, other, selection, tilt, level, work)
            total += math.exp(min(more - level, 0.0))
    return level + math.log(total)


@borrowing
def descend(pair: Pairwise, g: int, size: int, selection: Ints, work: Work) -> tuple[float, float]:
    """Change `selection` one dim at a time while that lowers the evidence; return it and its tilt."""
    D = len(selection)
    least, tilt = at_selection(pair, g, selection, 0.0, np.inf, work)
    # Not ahead of the start: no change of it can have less evidence.
    if least == -np.inf:
        return least, tilt
    for d in range(D):
        work.trial[d] = selection[d]
    # A local search: only a guess of the minimum. `prove` bounds what it misses.
    for _ in range(2):
        moved = False
        for d in range(D):
            for j in range(size):
                if j == selection[d]:
                    continue
                work.trial[d] = j
                # Stops climbing once it exceeds the least: then this arm does not lower it.
                value, y = at_selection(pair, g, work.trial, 0.0, least, work)
                if value < least:
                    least, tilt = value, y
                    selection[d] = j
                    moved = True
            work.trial[d] = selection[d]
        if not moved:
            break
    return least, tilt


@borrowing
def best_arms(pair: Pairwise, g: int, box: Bools, y: float, work: Work) -> None:
    """Set work.value, work.pick: for every set of dims the arm with the largest term at tilt y."""
    D, K = box.shape
    sets = 1 << D
    for s in range(1, sets):
        work.value[s] = -np.inf
    work.sums[0] = 0.0
    for j in range(K):
        allowed = 0
        for d in range(D):
            if box[d, j]:
                allowed |= 1 << d
        if allowed == 0:
            continue
        for s in range(1, sets):
            # An arm can serve a set only if the box allows it in every dim of the set.
            if s & allowed != s:
                continue
            first = 0
            while not s >> first & 1:
                first += 1
            # By the set without its lowest dim: one addition for each of the 2^D sets.
            work.sums[s] = work.sums[s & (s - 1)] + pair.worth[j, first]
            height, _ = conjugate(y * pair.coefficient[s] * pair.reach[g, j])
            value = y * work.sums[s] + height + pair.cost[g, j]
            # Largest term, hence least evidence: the rival picks its arms against us.
            if value > work.value[s]:
                work.value[s] = value
                work.pick[s] = j


@borrowing
def join_sets(work: Work, sets: int) -> None:
    """Set work.total, work.cut: for every set of dims the split with the largest sum, and its first part."""
    work.total[0] = 0.0
    for m in range(1, sets):
        # The part with the lowest dim is the first one, so that no split is counted twice.
        low = m & -m
        others = m ^ low
        best, cut = -np.inf, 0
        part = others
        while True:
            s = part | low
            value = work.value[s] + work.total[m ^ s]
            if value > best:
                best, cut = value, s
            if part == 0:
                break
            # All subsets of the others, from the full one down to none: 3^D steps in all.
            part = (part - 1) & others
        work.total[m] = best
        work.cut[m] = cut


@borrowing
def relaxed(
    pair: Pairwise, g: int, box: Bools, y: float, selection: Ints, work: Work
) -> tuple[float, float]:
    """Return the bound over a box at tilt y and its slope in y; sets `selection` to what attains it."""
    D = len(selection)
    full = (1 << D) - 1
    best_arms(pair, g, box, y, work)
    join_sets(work, full + 1)
    value = y * pair.ahead[0] - pair.lead_cost[g] - work.total[full]
    slope = pair.ahead[0]
    for d in range(D):
        if pair.lead[g, d] > 0.0:
            height, x = conjugate(y * pair.lead[g, d])
            value -= height
            slope -= pair.lead[g, d] * x
    rest = full
    # Walk the splits that attained the maximum, for the slope and the selection.
    while rest:
        s = work.cut[rest]
        j = work.pick[s]
        factor = pair.coefficient[s] * pair.reach[g, j]
        _, x = conjugate(y * float(factor))
        slope -= factor * x
        for d in range(D):
            if s >> d & 1:
                selection[d] = j
                slope -= pair.worth[j, d]
        rest ^= s
    return value, slope


@borrowing
def bound_box(
    pair: Pairwise, g: int, box: Bools, y: float, level: float, selection: Ints, work: Work
) -> tuple[float, float]:
    """Return a lower bound of the evidence against all selections of a box, and its tilt.

    It is maximised over the tilt from y > 0 by Newton steps inside a bracket, until it reaches `level`;
    `selection` ends as what attains the last bound.
    """
    best, best_y = -np.inf, y
    low, high = 0.0, np.inf
    for _ in range(10):
        value, slope = relaxed(pair, g, box, y, selection, work)
        if value > best:
            best, best_y = value, y
        # Any tilt gives a valid bound: the search may stop as soon as one is enough.
        if best >= level:
            break
        if slope > 0.0:
            low = y
        else:
            high = y
        bend = 0.0
        for d in range(len(selection)):
            reach = pair.coefficient[1 << d] * pair.reach[g, selection[d]]
            # A curvature that is too large only shortens the step.
            bend += pair.lead[g, d] * pair.lead[g, d] + reach * reach + 2.0 / (y * y)
        move = min(max(y + slope / bend, 0.25 * y), 4.0 * y)
        # The bound is concave in y, so slopes bracket its maximum; outside, halve.
        if move <= low or move >= high:
            move = 0.5 * (low + high)
        if abs(move - y) < 0.003 * y:
            break
        y = move
    return best, best_y
