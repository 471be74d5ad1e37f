"""The cheapest alternative in which no group of a set strictly beats a group k any more.

Each dominator j of k in the set must have a dim d in which R_j^d falls to the level x_d that k
rises to. One arm of k serves a dim (attains x_d). Given which dominator goes to which dim and which
arm serves it, the cost is a sum of one-dimensional pooled minima over slots: a slot is a dim or,
when dims are fully dependent, an arm of k with all the dims that it serves. A slot costs more the
more dominators are in it, which gives the bounds: at a node

* the dominator that is dearest to place, placed alone, and
* all dominators not yet placed, lowered to the highest levels that can still pay: a slot's cost
grows at least by
  own (rise - level)^2 / 2, so no level rises by more than sqrt(2 (limit - cost) / own).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestgroup.core.arrays import Floats, Ints
from bestgroup.core.limit_arms import EXACT, Arms, pool, worth_raising

NODES = 3_000  # of one search; the nodes left open enter by their bound


@dataclass(frozen=True)
class _Node:
    """A partial placement of the dominators."""

    cost: float
    bound: float
    dim: Ints  # [J]  of each dominator; -1 if not placed
    server: Ints  # [D]  place of the arm of k that serves the dim; -1 if none yet
    level: Floats  # [slots]  rises
    part: Floats  # [slots]  costs


class Rejected:
    """A group outside the answer with its dominators among the groups in `rivals`."""

    def __init__(self, arms: Arms, k: int, rivals: Ints, dependent: bool) -> None:
        self.arms, self.k, self.dependent = arms, k, dependent
        self.rivals = rivals[(arms.best[rivals] > arms.best[k]).all(axis=1)]
        self.index, self.exists = arms.index[self.rivals], arms.exists[self.rivals]
        self.own = arms.mean[arms.rows(k)]  # [K_k, D]
        low = arms.mean.min(axis=0) - 1.0
        mean = np.where(self.exists[:, :, None], arms.mean[self.index], low)  # [J, K, D]
        self.excess = (
            mean.transpose(0, 2, 1)[:, None] - self.own[None, :, :, None]
        )  # [J, K_k, D, K]

    def start(self, weight: Floats) -> _Node:
        """Take in an allocation [A] and return the root of the search."""
        self.weight = np.where(self.exists, weight[self.index], 0.0)  # [J, K]
        self.force = weight[self.arms.rows(self.k)]  # [K_k]
        self.useful = worth_raising(self.own, self.force, self.dependent)
        size, dims = self.own.shape
        slots = np.zeros(size if self.dependent else dims)
        return _Node(0.0, 0.0, np.full(len(self.rivals), -1), np.full(dims, -1), slots, slots)

    def bound(self, root: _Node) -> float:
        """Return a quick lower bound of the cost: the dearest dominator alone."""
        return float(self._added(root, *self._options(root))[1].min(axis=1).max())

    def search(self, root: _Node, cutoff: float) -> tuple[float, float, Floats]:
        """Return (cost, low, cut): the cheapest alternative and its |shift|^2 / 2 for each arm [A].

        Alternatives that cost `cutoff` or more may be missed, except that one is always found.
        `low` bounds from below the cheapest of those that cost less.
        """
        best, limit, low = root, np.inf, np.inf
        stack, nodes = [root], 0
        while stack:
            node = stack.pop()
            if node.bound >= limit:
                continue
            if nodes >= NODES and limit < np.inf:
                low = min(low, node.bound)
                continue
            nodes += 1
            children = self._expand(node, limit)
            if children is None:
                best, limit = node, EXACT * min(node.cost, cutoff)
            else:
                stack.extend(children)
        return best.cost, min(low, limit), self._cut(best)

    def _options(self, node: _Node) -> tuple[Ints, Ints]:
        """Return the pairs (place of an arm of k, dim) that may be used: one arm serves a dim."""
        places = np.arange(len(self.own))[:, None]
        free = np.where(node.server < 0, self.useful, node.server == places)
        place, dim = np.nonzero(free)
        return place, dim

    def _slot(self, place: Ints, dim: Ints) -> Ints:
        return place if self.dependent else dim

    def _added(self, node: _Node, place: Ints, dim: Ints) -> tuple[Floats, Floats]:
        """Return rises and additional costs [J, O] of each option for every dominator not yet placed."""
        slot, left = self._slot(place, dim), node.dim < 0
        placed = np.flatnonzero(~left)
        excess = self.excess[left][:, place, dim]  # [J, O, K]
        weight = np.broadcast_to(self.weight[left][:, None, :], excess.shape)
        if len(placed):
            served = node.dim[placed]
            inside = self._slot(node.server[served], served) == slot[:, None]  # [O, P]
            there = self.excess[placed, place[:, None], served].reshape(len(place), -1)
            load = (inside[:, :, None] * self.weight[placed]).reshape(len(place), -1)
            shape = (len(excess), *there.shape)
            excess = np.concatenate([excess, np.broadcast_to(there, shape)], axis=2)
            weight = np.concatenate([weight, np.broadcast_to(load, shape)], axis=2)
        own = np.broadcast_to(self.force[place], excess.shape[:2])
        rise, cost = pool(excess, weight, own, np.broadcast_to(node.level[slot], own.shape))
        # No change of level means that the dominator is below it already.
        more = np.where(rise > node.level[slot], np.maximum(cost - node.part[slot], 0.0), 0.0)
        return rise, more

    def _expand(self, node: _Node, limit: float) -> list[_Node] | None:
        """Return the children of a node, dearest first; None if all dominators left are below a level."""
        left = np.flatnonzero(node.dim < 0)
        if len(left) == 0:
            return None
        place, dim = self._options(node)
        rise, more = self._added(node, place, dim)
        least = more.min(axis=1)
        dearest = int(least.argmax())
        if least[dearest] <= 0.0:
            return None
        rest = max(least[dearest], self._left_over(node, left, place, dim, limit))
        if node.cost + rest >= limit:
            return []
        children = []
        for option in np.argsort(-more[dearest], kind="stable"):
            if node.cost + more[dearest, option] < limit:
                new = rise[dearest, option], more[dearest, option]
                bound = node.cost + max(rest, new[1])
                chosen = int(place[option]), int(dim[option])
                children.append(self._place(node, int(left[dearest]), chosen, new, bound))
        return children

    def _left_over(self, node: _Node, left: Ints, place: Ints, dim: Ints, limit: float) -> float:
        """Return what all dominators left cost at least at the highest levels that can still pay."""
        if limit == np.inf:
            return 0.0
        reach = np.sqrt(2.0 * (limit - node.cost) / self.force[place])
        top = np.full(self.own.shape[1], -np.inf)
        np.maximum.at(top, dim, self.own[place, dim] + node.level[self._slot(place, dim)] + reach)
        # excess is over arm 0 of k; what is left of it above the level
        over = self.excess[left, 0] + (self.own[0] - top)[:, None]
        fall = np.maximum(over, 0.0)
        return float(
            0.5 * (self.weight[left][:, None, :] * fall * fall).sum(axis=2).min(axis=1).sum()
        )

    def _place(
        self,
        node: _Node,
        rival: int,
        chosen: tuple[int, int],
        new: tuple[float, float],
        bound: float,
    ) -> _Node:
        dims, server = node.dim.copy(), node.server.copy()
        level, part = node.level.copy(), node.part.copy()
        place, dim = chosen
        slot = place if self.dependent else dim
        dims[rival], server[dim] = dim, place
        level[slot], part[slot] = new[0], part[slot] + new[1]
        return _Node(node.cost + new[1], bound, dims, server, level, part)

    def _cut(self, node: _Node) -> Floats:
        cut = np.zeros(len(self.arms.mean))
        own = self.arms.start[self.k]
        for slot, rise in enumerate(node.level):
            place = slot if self.dependent else node.server[slot]
            if rise > 0.0:
                cut[own + place] += 0.5 * rise * rise
        for rival in np.flatnonzero(node.dim >= 0):
            dim = node.dim[rival]
            place = node.server[dim]
            rise = node.level[place if self.dependent else dim]
            fall = np.maximum(self.excess[rival, place, dim] - rise, 0.0)
            present = self.exists[rival]
            cut[self.index[rival, present]] += 0.5 * fall[present] ** 2
        return cut
