"""The inner problem of the limit for BestGroup: the cheapest alternative in which a group k beats group i.

Arms of k rise and arms of i fall until R_k . w = R_i . w + epsilon |w|_1. Once it is chosen which
arm of k serves each dim, the problem is convex with one multiplier y. Lowering i at the price y is
worth G(y), whatever k does, and the choice enters by two numbers only: L, the weighted mean of the
serving arms, and A, what a unit of y raises it by:

    cost = max_y G(y) + y (R_i . w + epsilon |w|_1 - L) - y^2 A / 2.

So one price y bounds the cost of all choices at once, through the largest y L + y^2 A / 2, which
every dim (every set of dims, when one shift moves an arm in all of them) maximises by itself.
Mostly that proves the minimum. Where it does not, the choices that the bounds leave are listed dim
by dim, without those that are worse than another one in both L and A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.theory.characteristic_time.arms import EXACT, Arms, Falling, worth_cutting
from bestgroup.theory.characteristic_time.cover import cover_levels

PRICES = 4  # tried for every group before choices are listed
WIDTH = 20_000  # choices kept of a list; those beyond enter by their bound


class Blocks:
    """The sets of dims that one arm may serve, and the ways to serve all dims with such sets.

    A state is a set of dims already served, state 0 none and the last one all. Independent dims are
    served one at a time; of fully dependent ones, any set that holds the first free dim.
    """

    def __init__(self, dims: int, dependent: bool) -> None:
        self.member: Ints  # [B, D]
        self.steps: list[list[tuple[int, int]]]  # of each state but the last: (block, next state)
        if not dependent:
            self.member = np.eye(dims, dtype=np.int64)
            self.steps = [[(d, d + 1)] for d in range(dims)]
            return
        every = (1 << dims) - 1
        self.member = (np.arange(every + 1)[:, None] >> np.arange(dims)) & 1
        self.steps = []
        for served in range(every):
            free = every & ~served
            fitting = [b for b in range(1, every + 1) if b & free & -free and not b & served]
            self.steps.append([(b, served | b) for b in fitting])


@dataclass
class _Found:
    """The cheapest alternative found so far against each rival, and a lower bound of all of them."""

    cost: Floats  # [R]
    low: Floats  # [R]
    arm: Ints  # [R, D]  serving arms
    price: Floats  # [R]
    fall: Floats  # [R, K_i]  squared falls / 2, summed over dims

    @property
    def limit(self) -> Floats:
        """What an alternative must cost less than to matter, [R]."""
        return EXACT * np.minimum(self.cost, self.cost.min())


class BeatenBest:
    """Oracle of the game for the answer i: alternatives in which some k beats i by more than `slack`."""

    def __init__(
        self,
        arms: Arms,
        weights: Floats,
        slack: float,
        i: int,
        dependent: bool,
        rivals: Ints | None = None,
    ) -> None:
        self.arms, self.weights, self.slack, self.i = arms, weights, slack, i
        self.dependent = dependent
        self.blocks = Blocks(arms.dims, dependent)
        every = np.array([k for k in range(arms.groups) if k != i])
        self.rivals = every if rivals is None else rivals
        self.index, self.exists = arms.index[self.rivals], arms.exists[self.rivals]
        part = self.blocks.member * weights
        self.total = part.sum(axis=1)
        lead = (arms.best[i] - arms.best[self.rivals]) @ weights
        self.is_tied = bool((lead + slack <= 0.0).any())
        self.gain: Floats = (part @ (arms.mean - arms.best[i]).T)[:, self.index]  # [B, R, K]

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """Return a lower bound of the inner minimum at an allocation [A], and cuts [C, A]."""
        if self.is_tied:
            return 0.0, np.zeros((1, len(weight)))
        self.weight, self.falling = weight, Falling.of(self.arms, weight, self.i)
        size = len(self.rivals)
        found = _Found(
            np.full(size, np.inf),
            np.zeros(size),
            np.zeros((size, self.arms.dims), dtype=np.int64),
            np.zeros(size),
            np.zeros((size, len(self.arms.order[self.i]))),
        )
        prices = self._bound(found)
        unsure = np.flatnonzero(found.low < found.limit)
        if len(unsure):
            lists = [
                self._list(int(r), found, [price.of(int(r)) for price in prices]) for r in unsure
            ]
            self._compare(np.repeat(unsure, [len(each.mean) for each in lists]), found, lists)
        lower = float(np.minimum(found.low, found.cost).min())
        return lower, self._cuts(found)

    def _bound(self, found: _Found) -> list[_Price]:
        """Try prices for all rivals at once, each the multiplier of the last one's best choice."""
        prices: list[_Price] = []
        y, worth = self._first_price(), np.full(len(self.rivals), -np.inf)
        for _ in range(PRICES):
            tails, arm = self._longest(y)
            found.low = np.maximum(found.low, worth + y * self.slack - tails[0])
            prices.append(_Price(y, worth + y * self.slack, tails))
            if (found.low >= found.limit).all():
                break
            mean, rate = self._measure(arm)
            cost, bound, y, fall = self._solve(mean, rate)
            worth = bound - y * (self.slack - mean) + 0.5 * y * y * rate
            better = cost < found.cost
            for name, new in (("cost", cost), ("arm", arm), ("price", y), ("fall", fall)):
                getattr(found, name)[better] = new[better]
        return prices[1:]  # nothing is known of the worth of the first

    def _first_price(self) -> Floats:
        """Return guesses of the multipliers: only the best arms of k rise, and only those of i fall."""
        top = self.arms.mean[self.index].argmax(axis=1)  # [R, D]
        arm = np.take_along_axis(self.index, top, axis=1)
        mean, rate = self._measure(arm)
        own = (self.weights**2 / self.weight[self.arms.order[self.i][0]]).sum()
        return (self.slack - mean) / (rate + own)

    def _longest(self, y: Floats) -> tuple[Floats, Ints]:
        """Return max y L + y^2 A / 2 of the dims that a state leaves, [S, R], and the best choices [R, D]."""
        lift = 0.5 * (y * self.total[:, None]) ** 2
        length = y[:, None] * self.gain + lift[:, :, None] / self.weight[self.index]
        length = np.where(self.exists, length, -np.inf)
        place, top = length.argmax(axis=2), length.max(axis=2)  # [B, R]
        steps = self.blocks.steps
        tails = np.zeros((len(steps) + 1, len(y)))
        pick = np.zeros((len(steps), len(y)), dtype=np.int64)
        for state in range(len(steps) - 1, -1, -1):
            ways = np.array([top[block] + tails[after] for block, after in steps[state]])
            pick[state], tails[state] = ways.argmax(axis=0), ways.max(axis=0)
        arm = np.zeros((len(y), self.arms.dims), dtype=np.int64)
        for r in range(len(y)):
            state: int = 0
            while state < len(steps):
                block, state = steps[state][int(pick[state, r])]
                arm[r, self.blocks.member[block] == 1] = self.index[r, place[block, r]]
        return tails, arm

    def _measure(self, arm: Ints) -> tuple[Floats, Floats]:
        """Return L (relative to R_i . w) and A of choices [B, D] of serving arms."""
        mean = (
            self.arms.mean[arm, np.arange(self.arms.dims)] - self.arms.best[self.i]
        ) @ self.weights
        return mean, (self._load(arm) * self.weights / self.weight[arm]).sum(axis=1)

    def _load(self, arm: Ints) -> Floats:
        """Return the weight that moves with the serving arm of each dim, [B, D]."""
        if not self.dependent:
            return np.broadcast_to(self.weights, arm.shape)
        return (arm[:, :, None] == arm[:, None, :]) @ self.weights

    def _solve(self, mean: Floats, rate: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return cost, a lower bound of it, y, and squared falls / 2 [B, K_i], for choices (L, A)."""
        need = self.slack - mean
        if self.dependent:
            rows = self.arms.rows(self.i)
            gap = (self.arms.mean[rows] - self.arms.best[self.i]).T
            done = cover_levels(gap, self.weight[rows], self.weights, need, rate)
            return done.cost, done.bound, done.price, 0.5 * done.fall**2
        y, level = self.falling.sink(self.weights, need, rate)
        cost = 0.5 * y * y * rate + self.falling.cost(level).sum(axis=1)
        fall = np.zeros((len(y), len(self.falling.mean)))
        drop = 0.5 * np.maximum(self.falling.mean - level[:, None, :], 0.0) ** 2
        place = self.arms.order[self.i] - self.arms.start[self.i]
        for d in range(self.arms.dims):
            fall[:, place[:, d]] += drop[:, :, d]
        return cost, cost, y, fall

    def _list(self, r: int, found: _Found, prices: list[_Price]) -> _Choices:
        """Return the choices of rival r that the prices leave; `low` becomes a bound of all others."""
        limit, dropped = found.limit[r], np.inf
        lists: list[list[_Choices]] = [[] for _ in range(len(self.blocks.steps) + 1)]
        lists[0].append(_Choices(np.zeros(1), np.zeros(1), np.zeros((1, self.arms.dims), np.int64)))
        arms = self.index[r, self.exists[r]]
        for state, steps in enumerate(self.blocks.steps):
            if not lists[state]:
                continue  # a set of dims that no walk comes through
            here, least = _Choices.join(lists[state]).prune(prices, state, limit)
            dropped = min(dropped, least)
            for block, after in steps:
                gain = self.gain[block, r, self.exists[r]]
                rate = self.total[block] ** 2 / self.weight[arms]
                lists[after].append(here.extend(gain, rate, arms, self.blocks.member[block] == 1))
        final, least = _Choices.join(lists[-1]).prune(prices, len(lists) - 1, limit)
        found.low[r] = min(limit, dropped, least)
        return final

    def _compare(self, rival: Ints, found: _Found, lists: list[_Choices]) -> None:
        """Solve all choices that are left, [B] of the rivals [B], and keep the cheapest of each."""
        arm = _Choices.join(lists).arm
        if len(arm) == 0:
            return
        cost, bound, y, fall = self._solve(*self._measure(arm))
        np.minimum.at(found.low, rival, bound)
        for at in np.argsort(cost, kind="stable"):
            r = rival[at]
            if cost[at] < found.cost[r]:
                found.cost[r], found.arm[r], found.price[r] = cost[at], arm[at], y[at]
                found.fall[r] = fall[at]

    def _cuts(self, found: _Found) -> Floats:
        """Return the costs of the shifts, |shift|^2 / 2 for each arm, of the alternatives worth adding."""
        chosen = worth_cutting(found.cost)
        cuts = np.zeros((len(chosen), len(self.weight)))
        cuts[:, self.arms.rows(self.i)] = found.fall[chosen]
        arm = found.arm[chosen]
        rise = found.price[chosen, None] * self._load(arm) / self.weight[arm]
        # An arm that serves several dims by one shift has that shift counted once.
        share = self.weights / self._load(arm) if self.dependent else 1.0
        for d in range(self.arms.dims):
            np.add.at(cuts, (np.arange(len(chosen)), arm[:, d]), (0.5 * rise**2 * share)[:, d])
        return cuts


@dataclass(frozen=True)
class _Price:
    """A price y, G(y) + y slack, and the longest way from each state; for all rivals or for one."""

    y: Floats  # [R]
    worth: Floats  # [R]
    tails: Floats  # [S, R]

    def of(self, r: int) -> _Price:
        return _Price(self.y[r], self.worth[r], self.tails[:, r])


@dataclass(frozen=True)
class _Choices:
    """Serving arms for some of the dims, with their L and A."""

    mean: Floats  # [B]
    rate: Floats  # [B]
    arm: Ints  # [B, D]

    @classmethod
    def join(cls, parts: list[_Choices]) -> _Choices:
        return cls(
            np.concatenate([part.mean for part in parts]),
            np.concatenate([part.rate for part in parts]),
            np.concatenate([part.arm for part in parts]),
        )

    def take(self, keep: Bools | Ints) -> _Choices:
        return _Choices(self.mean[keep], self.rate[keep], self.arm[keep])

    def extend(self, gain: Floats, rate: Floats, arms: Ints, served: Bools) -> _Choices:
        """Return every choice with every arm for the dims in `served`."""
        arm = np.repeat(self.arm, len(arms), axis=0)
        arm[:, served] = np.tile(arms, len(self.mean))[:, None]
        return _Choices(
            np.add.outer(self.mean, gain).ravel(), np.add.outer(self.rate, rate).ravel(), arm
        )

    def prune(self, prices: list[_Price], state: int, limit: float) -> tuple[_Choices, float]:
        """Return the choices that may cost less than `limit`, and a bound of those left out for number."""
        bound = np.zeros(len(self.mean))
        for price in prices:
            spent = price.y * self.mean + 0.5 * price.y**2 * self.rate + price.tails[state]
            bound = np.maximum(bound, price.worth - spent)
        kept = self.take(bound < limit)
        bound = bound[bound < limit]
        # A choice is useless if another one has a larger L and a larger A.
        order = np.lexsort((-kept.rate, -kept.mean))
        highest = np.maximum.accumulate(kept.rate[order])
        best = np.append(True, kept.rate[order][1:] > highest[:-1]) if len(order) else order
        order = order[best] if len(order) else order
        if len(order) <= WIDTH:
            return kept.take(order), np.inf
        order = order[np.argsort(bound[order], kind="stable")]
        return kept.take(order[:WIDTH]), float(bound[order[WIDTH]])
