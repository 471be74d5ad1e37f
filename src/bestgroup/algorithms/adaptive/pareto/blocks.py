"""Tests with many groups: leaders in order of their means, in blocks of which bounds are kept.

A test of a pair can be of use only if its duel is strong enough, and with many groups most duels are
not. When the warm-up ends, groups are put in the order of their largest means, dim by dim, and what
tests read of leaders and of the easiest arms (`Ledger.lead_mean` and those beside it) stands in that
order from then on. Of every so many neighbours the bounds of all of it are kept: where a block as good
as these bounds would not do, none of its groups does. Means change later, so the order is a rough one;
only the time that is spent depends on it.

With few groups the order is that of the groups and there is one block, which nobody looks at.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive.pareto.ledger import BLOCK, Ledger
from bestgroup.algorithms.adaptive.pareto.view import Split, View, keeps_lists
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Floats, Ints

# What is bounded, by places in `Ledger.bounds`: the most of the first two, the least of the others.
MEAN, COUNT, LEVEL, LEAST_MEAN, LEAST_ERROR, GROUP = 0, 1, 2, 3, 4, 5


@borrowing
def group_at(order: Ints, d: int, at: int) -> int:
    """Return which group stands there in dim d; see `variants`."""
    return order[d, at] if keeps_lists(order) else at


@borrowing
def count_blocks(order: Ints) -> int:
    """Return how many blocks there are; see `variants`."""
    return (order.shape[1] + BLOCK - 1) // BLOCK if keeps_lists(order) else 1


@borrowing
def end_of_block(order: Ints, b: int, N: int) -> int:
    """Return where a block ends; see `variants`."""
    return min((b + 1) * BLOCK, N) if keeps_lists(order) else N


@borrowing
def comes_later(best: Floats, d: int, a: int, b: int) -> bool:
    """Return whether group a stands behind group b: by its mean, then by its number."""
    return best[a, d] < best[b, d] or (best[a, d] == best[b, d] and a > b)


@borrowing
def sink(order: Ints, best: Floats, d: int, at: int, end: int) -> None:
    """Let a group sink in a heap whose first one stands behind all others."""
    while 2 * at + 1 < end:
        low = 2 * at + 1
        if low + 1 < end and comes_later(best, d, order[d, low + 1], order[d, low]):
            low += 1
        if not comes_later(best, d, order[d, low], order[d, at]):
            return
        order[d, at], order[d, low] = order[d, low], order[d, at]
        at = low


@borrowing
def sort_groups(order: Ints, best: Floats, d: int) -> None:
    """Put groups in the order of their largest means, in place: a heap makes no arrays."""
    N = order.shape[1]
    for back in range(N // 2):
        sink(order, best, d, N // 2 - 1 - back, N)
    for back in range(1, N):
        end = N - back
        order[d, 0], order[d, end] = order[d, end], order[d, 0]
        sink(order, best, d, 0, end)


@sort_groups.plainly
def _(order: Ints, best: Floats, d: int) -> None:
    order[d] = np.argsort(-best[:, d], kind="stable")


@borrowing
def order_groups(ledger: Ledger, view: View, split: Split) -> None:
    """Put groups in order when the warm-up ends, with bounds of what nobody has seen yet."""
    D, N = ledger.order.shape
    for d in range(D):
        sort_groups(ledger.order, view.best, d)
        for at in range(N):
            ledger.place[d, ledger.order[d, at]] = at
        for at in range(N):  # nobody's leader has pulls that count: no test is due
            ledger.lead_mean[d, at] = -np.inf
            ledger.lead_level[d, at] = np.inf
        for b in range(count_blocks(ledger.order)):
            bounds = ledger.bounds[d]
            bounds[MEAN, b], bounds[COUNT, b] = -np.inf, 0.0
            bounds[LEVEL, b] = bounds[LEAST_MEAN, b] = bounds[LEAST_ERROR, b] = np.inf
            bounds[GROUP, b] = np.inf
            for at in range(b * BLOCK, end_of_block(ledger.order, b, N)):
                i = ledger.order[d, at]
                bounds[GROUP, b] = min(bounds[GROUP, b], split.accept[i], split.reject[i])


@borrowing
def find_most(values: Floats, first: int, last: int) -> float:
    """Return the largest of some values."""
    most = values[first]
    for at in range(first + 1, last):
        most = max(most, values[at])
    return most


@borrowing
def find_least(values: Floats, first: int, last: int) -> float:
    """Return the least of some values."""
    least = values[first]
    for at in range(first + 1, last):
        least = min(least, values[at])
    return least


@borrowing
def put_most(values: Floats, bounds: Floats, at: int, value: float) -> None:
    """Set a value, and the largest one of its block."""
    b, old = at // BLOCK, values[at]
    values[at] = value
    if value >= bounds[b]:
        bounds[b] = value
    elif old == bounds[b]:
        bounds[b] = find_most(values, b * BLOCK, min((b + 1) * BLOCK, len(values)))


@borrowing
def put_least(values: Floats, bounds: Floats, at: int, value: float) -> None:
    """Set a value, and the least one of its block."""
    b, old = at // BLOCK, values[at]
    values[at] = value
    if value <= bounds[b]:
        bounds[b] = value
    elif old == bounds[b]:
        bounds[b] = find_least(values, b * BLOCK, min((b + 1) * BLOCK, len(values)))


@borrowing
def put_leader(
    ledger: Ledger, d: int, g: int, leader: tuple[float, float, float], ease: tuple[float, float]
) -> None:
    """Set what tests read of g, with the bounds of its block."""
    at, bounds = ledger.place[d, g], ledger.bounds[d]
    mean, count, level = leader
    lowest, error = ease
    put_most(ledger.lead_mean[d], bounds[MEAN], at, mean)
    put_most(ledger.lead_count[d], bounds[COUNT], at, count)
    put_least(ledger.lead_level[d], bounds[LEVEL], at, level)
    put_least(ledger.least_mean[d], bounds[LEAST_MEAN], at, lowest)
    put_least(ledger.least_error[d], bounds[LEAST_ERROR], at, error)
