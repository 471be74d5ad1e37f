"""The decisions on the best group on shared items, from their definition.

At each step the reference is told how deep every arm is, and says who leads, which terms there are and
which groups are out. Wealths are computed again from the first item on, for every selection and every
opponent; nothing is kept but the terms and what was once out. It does not choose pulls.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

CAP, PLUG, DRAWN, UNSEEN = 0.98, 0.7, 10, 0.005
STAY, LATER, FOR_GOOD = 0.25, 1.05, 0.25


class NaiveBest:
    """A run on `table` [items, arms, dims] in the order of the items; `groups` lists arms by group."""

    def __init__(self, table, groups, weights, epsilon, delta, kind, reach, sizes=None, largest=1):
        self.table, self.groups, self.weights = table, groups, weights
        self.sizes, self.largest = sizes, largest  # of clusters in a population: rows are sums then
        self.pool = len(table) if kind == "pool" else 0
        self.limit = len(table) if kind != "stream" else math.inf
        self.slack, self.delta = epsilon * sum(weights), delta
        self.reach = float(np.dot(weights, reach))
        dims = range(table.shape[2])
        self.selections = [
            (i, s)
            for i, arms in enumerate(groups)
            for s in itertools.product(arms, repeat=len(dims))
        ]
        first = {i: (arms[0],) * len(dims) for i, arms in enumerate(groups)}
        # first item, leader, runner-up, fronts
        self.terms: list[Any] = [(0, None, None, first)]
        self.leader, self.out, self.rank = 0, set(), {i: 1 for i in range(len(groups))}
        self.since = dict.fromkeys(range(len(groups)), 0)
        self.proven = set()  # (group or None, selection)
        self.depth = [0] * table.shape[1]
        self.known = {}
        self.certain = {}  # by selection: the last group that was certain to be as good

    def step(self, depth):
        """Take up the depths after a plan."""
        self.depth = list(depth)
        self.decide()
        if self.leader in self.out:
            self.decide()

    def decide(self):
        self.rename()
        for which, (i, s) in enumerate(self.selections):
            if self.is_out(which):
                continue
            if self.wealth_reaches(None, which):
                self.proven.add((None, which))
            if self.slack and i != self.leader and self.wealth_reaches(self.leader, which):
                self.proven.add((self.leader, which))
            if self.pool and i != self.leader and not self.is_out(which):
                self.settle(which, s)
        inside = {i for which, (i, _) in enumerate(self.selections) if not self.is_out(which)}
        self.out = set(range(len(self.groups))) - inside

    def is_out(self, which):
        proven = (None, which) in self.proven or (self.leader, which) in self.proven
        return proven or self.certain.get(which) == self.leader

    # ---- who leads ----

    def edge(self, arm, d):
        lead = self.terms[-1][3][self.leader][d]
        n = min(self.depth[arm], self.depth[lead])
        gaps = self.table[:n, arm, d] - self.table[:n, lead, d]
        return sum(gaps.tolist()) / max(1, n)

    def front_depth(self, front):
        return min(self.depth[a] for a in front)

    def rename(self):
        begun, _, _, fronts = self.terms[-1]
        deepest, fresh = max(self.depth), len(self.terms) == 1
        late = deepest >= LATER * begun and self.front_depth(fronts[self.leader]) >= deepest
        end = deepest >= self.limit
        if not (self.leader in self.out or end or late or begun == deepest or fresh):
            return
        chosen = {}
        for i, arms in enumerate(self.groups):
            chosen[i] = fronts[i]
            free = fresh or self.since[i] == deepest or end
            if free or self.front_depth(fronts[i]) >= deepest:
                chosen[i] = tuple(
                    max(arms, key=lambda a, d=d, i=i: (self.edge(a, d), a == fronts[i][d], -a))
                    for d in range(len(self.weights))
                )
        worth = {
            i: sum(w * self.edge(chosen[i][d], d) for d, w in enumerate(self.weights))
            for i in chosen
        }
        leader, second = self.two_best(worth)
        if leader is None or (leader, second, chosen) == self.terms[-1][1:]:
            return
        if begun == deepest and not fresh:
            self.terms.pop()
        elif fresh:
            order = sorted(worth, key=lambda i: (-worth[i], i))
            self.rank = {i: place for place, i in enumerate(order, start=1)}
        for i in chosen:
            if chosen[i] != fronts[i]:
                self.since[i] = deepest
        self.terms.append((deepest, leader, second, chosen))
        self.leader = leader

    def two_best(self, worth):
        def key(i):
            deepest = max(self.depth)
            unit = sum(self.sizes[:deepest]) / deepest if self.sizes else 1
            bonus = STAY * self.slack * unit if i == self.leader else 0.0
            return worth[i] + bonus, i == self.leader, -i

        order = sorted((i for i in worth if i not in self.out), key=key, reverse=True)
        return [*order, None, None][:2]

    # ---- what is out ----

    def opponents(self, group, which, deep):
        """Yield (item, front) for the items that a wealth has taken up; front None for no bet."""
        own = self.selections[which][0]
        for h, (begun, leader, second, fronts) in enumerate(self.terms):
            end = self.terms[h + 1][0] if h + 1 < len(self.terms) else deep
            other = group if group is not None and h > 0 else None
            if group is None:
                other = second if leader == own else leader
            for t in range(begun, min(end, deep)):
                if other is None:
                    yield t, None
                elif t < self.front_depth(fronts[other]):
                    yield t, fronts[other]
                else:
                    return

    def numbers(self, front, s, shift=0.0):
        """Return the difference of two selections on every item, asked for or not, and sums."""
        if (front, s, shift) not in self.known:
            parts = [
                w * (self.table[:, front[d], d] - self.table[:, s[d], d])
                for d, w in enumerate(self.weights)
            ]
            values = [
                sum(column) for column in zip(*(part.tolist() for part in parts), strict=True)
            ]
            if shift:
                values = [v + shift * z for v, z in zip(values, self.sizes, strict=True)]
            sums = [0.0, *itertools.accumulate(values)]
            squares = [0.0, *itertools.accumulate(v * v for v in values)]
            self.known[front, s, shift] = values, sums, squares
        return self.known[front, s, shift]

    def wealth_reaches(self, group, which):
        """Return whether the wealth of a selection ever reaches its level."""
        s = self.selections[which][1]
        shift = 0.0 if group is None else self.slack
        need = 1 / self.delta
        if self.slack:
            harmonic = sum(1 / h for h in range(1, len(self.groups) + 1))
            need /= FOR_GOOD if group is None else (1 - FOR_GOOD) / (harmonic * self.rank[group])
        n, r, added = self.pool, self.reach, 0.0
        if self.sizes:  # the sum over a cluster of difference and shift has at most mean 0
            r, added, shift = self.largest * (r + shift), shift, 0.0
        bets = [32.0 / 2**k for k in range(12 if n else 24)]
        share = [1 / 12] * 12 if n else [0.95 / 12] * 12 + [0.05 / 12] * 12
        products, follower = [1.0] * len(bets), 1.0
        for t, front in self.opponents(group, which, self.front_depth(s)):
            if front is None:
                continue
            values, sums, squares = self.numbers(front, s, added)
            value, past, square = values[t], sums[t], squares[t]
            mean = (-n * shift - past) / (n - t) if n else -shift
            if mean < -r:
                return True
            if mean >= r:
                continue
            stretch = n / (n - t) if n else 1.0
            cap = CAP / max(r + mean, 1e-9 * r)
            products = [
                p * (1 + min(b * stretch / r, cap) * (value - mean))
                for p, b in zip(products, bets, strict=True)
            ]
            gap = (past - DRAWN * shift) / (t + DRAWN) - mean
            if gap > 0:
                spread = square - past**2 / max(1, t)
                variance = (DRAWN * UNSEEN * r * r + max(0.0, spread)) / (t + DRAWN)
                follower *= 1 + min(gap / (variance + gap * gap), cap) * (value - mean)
            fixed = sum(w * p for w, p in zip(share, products, strict=True))
            if (1 - PLUG) * fixed + PLUG * follower >= need:
                return True
        return False

    def settle(self, which, s):
        """Put a selection out that cannot come above the leader's any more."""
        front = self.terms[-1][3][self.leader]
        n = min(self.front_depth(s), self.front_depth(front))
        total = self.numbers(front, s)[1][n] + self.pool * self.slack
        worst = total - self.reach * (self.pool - n)
        if worst >= -1e-9 if n == self.pool else worst > 1e-9:
            self.certain[which] = self.leader
