"""The cheapest alternatives in which a group i of the answer is beaten by more than epsilon everywhere."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.theory.characteristic_time.arms import EXACT, KEEP, Arms, Falling, mark_useful
from bestgroup.theory.characteristic_time.cover import cover_arms

WIDTH = 5_000  # partial choices kept of a list; those beyond enter by their bound


class Beaten:
    """Alternatives (a) for a group i of the answer, independent dims: some j comes to beat it everywhere.

    Dims are apart from each other. In each, one arm of j rises from mu - epsilon to a level and the
    arms of i above it fall to it; the level is the mean, by weight, of what meets there.
    """

    def __init__(self, arms: Arms, epsilon: Floats, i: int, weight: Floats) -> None:
        self.arms, self.i, self.weight = arms, i, weight
        self.falling = Falling.of(arms, weight, i)
        self.base = arms.mean - epsilon - arms.best[i]
        self.level, single = self.falling.meet(self.base, weight)
        single[arms.rows(i)] = np.inf
        table = np.where(arms.exists[:, :, None], single[arms.index], np.inf)  # [N, K, D]
        self.arm: Ints = np.take_along_axis(arms.index, table.argmin(axis=1), axis=1)  # [N, D]
        self.single: Floats = table.min(axis=1)  # [N, D]  cost of each dim alone

    @property
    def cost(self) -> Floats:
        """The cost of being beaten by each group, [N]; infinite for i itself."""
        return self.single.sum(axis=1)

    def cut(self, j: int) -> Floats:
        """Return |shift|^2 / 2 of each arm [A] when j beats i."""
        cut = np.zeros(len(self.weight))
        for d, arm in enumerate(self.arm[j]):
            level = self.level[arm, d]
            cut[arm] += 0.5 * (level - self.base[arm, d]) ** 2
            fall = np.maximum(self.falling.mean[:, d] - level, 0.0)
            cut[self.arms.order[self.i][:, d]] += 0.5 * fall * fall
        return cut


@dataclass(frozen=True)
class _Partial:
    """Choices of serving arms for the first dims (in the pair's order) of some pairs."""

    pair: Ints  # [Q]
    server: Ints  # [Q, T]
    cost: Floats  # [Q]
    bound: Floats  # [Q]
    rise: Floats  # [Q, T]
    fall: Floats  # [Q, K]

    def take(self, keep: Ints) -> _Partial:
        return _Partial(**{each.name: getattr(self, each.name)[keep] for each in fields(self)})


class BeatenTogether:
    """The same for all pairs (i, j) at once with fully dependent dims: an arm has one shift for all dims.

    Once it is chosen which arm of j serves each dim, a pair is a `cover_arms`. Dims are added one
    at a time, costliest first; costs grow with every dim, so the cost of the dims so far and that of
    each other dim alone are bounds.
    """

    def __init__(
        self, arms: Arms, epsilon: Floats, inside: list[int], rivals: Ints, weight: Floats
    ) -> None:
        self.arms, self.epsilon, self.weight = arms, epsilon, weight
        self.pairs = np.array([(i, int(j)) for i in inside for j in rivals if i != j])
        single = {i: Beaten(arms, epsilon, i, weight).single for i in inside}
        alone = np.array([single[i][j] for i, j in self.pairs.tolist()])  # [P, D]
        self.order = np.argsort(-alone, axis=1, kind="stable")
        self.alone = np.take_along_axis(alone, self.order, axis=1)
        self.useful = arms.exists.copy()
        for j in range(arms.groups):
            rows = arms.rows(j)
            free = np.empty(arms.mean[rows].shape, dtype=np.bool_)
            mark_useful.compiled(arms.mean[rows], weight[rows], True, free)
            self.useful[j, : len(free)] = free[:, 0]
        self.low, self.cost = self.alone[:, 0].copy(), np.full(len(self.pairs), np.inf)
        self.cuts = np.zeros((len(self.pairs), len(weight)))
        self._search()

    def _search(self) -> None:
        """Fill in costs, cuts and bounds: a greedy choice for each pair, then all that may be cheaper."""
        upper = self.alone.sum(axis=1).min()  # shifts that serve one dim each do as well
        self._descend(np.flatnonzero(self.low <= KEEP * upper), None)
        limit = EXACT * np.minimum(self.cost, self.cost.min())
        unsure = np.flatnonzero(self.low < limit)
        self.low[unsure] = limit[unsure]
        self._descend(unsure, limit)

    def _descend(self, pairs: Ints, limit: Floats | None) -> None:
        """Choose serving arms dim by dim, greedily without `limit` [P], else all that stay below it."""
        now = self._cover(pairs, np.empty((len(pairs), 0), dtype=np.int64))
        for _ in range(self.arms.dims):
            if len(now.pair) == 0:
                return
            now = self._extend(now)
            if limit is None:
                now = now.take(_least_of_each(now.pair, now.bound))
            else:
                now = now.take(self._below(now, limit))
        if limit is not None:
            np.minimum.at(self.low, now.pair, now.bound)
        for at in np.flatnonzero(now.cost < self.cost[now.pair]):
            self._keep(now.take(np.array([at])))

    def _below(self, now: _Partial, limit: Floats) -> Ints:
        keep = np.flatnonzero(now.bound < limit[now.pair])
        if len(keep) > WIDTH:
            keep = keep[np.argsort(now.bound[keep], kind="stable")]
            np.minimum.at(self.low, now.pair[keep[WIDTH:]], now.bound[keep[WIDTH:]])
        return keep[:WIDTH]

    def _extend(self, now: _Partial) -> _Partial:
        """Return every partial choice with every arm of j that is worth raising for one more dim."""
        group = self.pairs[now.pair, 1]
        row, place = np.nonzero(self.useful[group])
        arm = self.arms.index[group[row], place]
        return self._cover(now.pair[row], np.column_stack([now.server[row], arm]))

    def _cover(self, pair: Ints, server: Ints) -> _Partial:
        """Return choices [Q, T] of serving arms with what they cost in the dims so far."""
        group, taken = self.pairs[pair, 0], server.shape[1]
        dim, lowered = self.order[pair, :taken], self.arms.index[group]  # [Q, T], [Q, K]
        cost, bound = np.zeros((2, len(pair)))
        if taken < self.arms.dims:
            bound = self.alone[pair, taken].copy()
        rise, fall = np.zeros(server.shape), np.zeros(lowered.shape)
        target = (
            self.arms.mean[lowered[:, None, :], dim[:, :, None]] + self.epsilon[dim][:, :, None]
        )
        gap = target - self.arms.mean[server, dim][:, :, None]
        gap = np.where(self.arms.exists[group][:, None, :], gap, -np.inf)
        # An arm that serves several dims has one rise; it stands at the first of them.
        same = server[:, :, None] == server[:, None, :]
        gap = np.where(same[:, :, :, None], gap[:, None, :, :], -np.inf).max(
            axis=2, initial=-np.inf
        )
        first: Bools = np.empty(server.shape, bool)
        if taken:
            first = same.argmax(axis=2) == np.arange(int(taken))
        gap[~first] = -np.inf
        short = gap.max(axis=(1, 2), initial=-np.inf) > 0.0
        if short.any():
            done = cover_arms(gap[short], self.weight[lowered[short]], self.weight[server[short]])
            cost[short], bound[short] = done.cost, np.maximum(done.bound, bound[short])
            rise[short], fall[short] = np.where(first[short], done.rise, 0.0), done.fall
        return _Partial(pair, server, cost, bound, rise, fall)

    def _keep(self, one: _Partial) -> None:
        pair = int(one.pair[0])
        i = self.pairs[pair, 0]
        cut = np.zeros(len(self.weight))
        np.maximum.at(cut, one.server[0], 0.5 * one.rise[0] ** 2)
        cut[self.arms.rows(i)] = 0.5 * one.fall[0, self.arms.exists[i]] ** 2
        if one.cost[0] < self.cost[pair]:
            self.cost[pair], self.cuts[pair] = one.cost[0], cut


def _least_of_each(group: Ints, value: Floats) -> Ints:
    """Return, for each group that occurs, where its least value is."""
    order = np.lexsort((value, group))
    return order[np.append(True, group[order][1:] != group[order][:-1])]
