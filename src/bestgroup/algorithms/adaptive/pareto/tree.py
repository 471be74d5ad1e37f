"""A tree of minima: which of many groups needs a pull most, without a pass over all of them.

The leaves are the needs of all groups, infinite where a group is rejected; every other node has the
less of the two below it, the first one being at 1. Kept with many groups only.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive.pareto.view import View
from bestgroup.compile.borrowing import borrowing


@borrowing
def plant_needs(view: View) -> None:
    """Make the tree of needs anew: those of groups that are not rejected, in its leaves."""
    tree, half = view.tree, len(view.tree) // 2
    for at in range(half):
        tree[half + at] = np.inf
    for at in range(view.lives[0]):
        i = view.live[at]
        if view.need[i] < np.inf:
            tree[half + i] = view.need[i]
    for back in range(1, half):
        at = half - back
        tree[at] = min(tree[2 * at], tree[2 * at + 1])


@borrowing
def graft_need(view: View, i: int) -> None:
    """Take up the need of a group in the tree."""
    tree, at = view.tree, len(view.tree) // 2 + i
    tree[at] = view.need[i] if view.need[i] < np.inf else np.inf
    while at > 1:
        at //= 2
        least = min(tree[2 * at], tree[2 * at + 1])
        if tree[at] == least:
            return
        tree[at] = least


@borrowing
def least_need(view: View) -> tuple[float, int]:
    """Return the least need, and the first group that has it; -1 if nobody needs anything."""
    tree, at = view.tree, 1
    if not tree[1] < np.inf:
        return np.inf, -1
    while at < len(tree) // 2:
        at = 2 * at if tree[2 * at] <= tree[2 * at + 1] else 2 * at + 1
    return tree[1], at - len(tree) // 2
