"""Limits, worths and the m best groups on shared items, from their definition (docs/theory.md 9.6).

At each step the reference is told how deep every arm is, and says which groups are in and out. Wealths
are computed again from the first item on; nothing is kept but what was once decided, and which arms count
or are barred. It does not choose pulls.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

CAP, PLUG, DRAWN, UNSEEN = 0.98, 0.7, 10, 0.005


def ever_reaches(values, n, shift, r, need, strict):
    """Return whether the pair process on differences ever proves a claim; n is 0 without a pool."""
    bets = [32.0 / 2**k for k in range(12 if n else 24)]
    share = [1 / 12] * 12 if n else [0.95 / 12] * 12 + [0.05 / 12] * 12
    products, follower, past, square = [1.0] * len(bets), 1.0, 0.0, 0.0
    for t, value in enumerate(values):
        mean = (-n * shift - past) / (n - t) if n else -shift
        if mean < -r * (1 + 1e-12):
            return True
        if mean < r:
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
        past, square = past + value, square + value * value
    if n and len(values) == n:
        excess = past + n * shift
        return excess > 1e-9 if strict else excess >= -1e-9
    # What is certain before its last items counts where it is looked at next.
    return False


class NaiveWorths:
    """A run on `table` [items, arms, dims] in the order of the items; `groups` lists arms by group.

    `ranks` has a number for each group, 0 for the average; `limits` are (dim, sign, at, tolerance); `top`
    is 0 for Pareto groups; values lie between 0 and 1.
    """

    def __init__(self, table, groups, ranks, limits, weights, epsilon, delta, kind, top):
        self.table, self.groups, self.limits, self.weights = table, groups, limits, weights
        self.pool, self.top = len(table) if kind == "pool" else 0, top
        self.delta = delta / 2 if limits else delta
        self.limit_need = 2 * table.shape[1] * len(limits) / delta
        self.units, self.ranks = [], []
        dims = len(epsilon)
        for arms, rank in zip(groups, ranks, strict=True):
            if rank == 0:
                own = [[arms] * dims]
            elif weights is None:
                own = [[[a]] * dims for a in arms]
            else:
                own = [[[a] for a in s] for s in itertools.product(arms, repeat=dims)]
            self.units.append(own)
            self.ranks.append(1 if rank < 2 else len(own) if rank == len(arms) else rank)
        self.slack = epsilon if weights is None else [float(np.dot(weights, epsilon))]
        self.reach = [1.0] * dims if weights is None else [float(sum(weights))]
        self.status = ["open"] * len(groups)
        self.by_arms = [False] * len(groups)
        self.counts, self.barred = set(), set()
        if not limits:
            self.counts = set(range(table.shape[1]))
        if len(groups) == 1 and not limits:
            self.status = ["in"]
        self.proven = {}

    def step(self, depth):
        """Take up the depths after a plan."""
        self.depth = depth
        for a in range(self.table.shape[1]):
            if a not in self.counts | self.barred:
                kept = [self.kept(a, limit) for limit in self.limits]
                if all(kept):
                    self.counts.add(a)
                elif any(self.broken(a, limit) for limit in self.limits):
                    self.barred.add(a)
        self.reject()
        self.accept()

    # ---- limits ----

    def side(self, a, limit):
        d, sign, at, tolerance = limit
        values = [sign * (x - 0.5) for x in self.table[: self.depth[a], a, d].tolist()]
        return values, sign * (at - 0.5), tolerance

    def kept(self, a, limit):
        values, edge, tolerance = self.side(a, limit)
        shift, down = edge + tolerance, [-v for v in values]
        return ever_reaches(down, self.pool, shift, 0.5, self.limit_need, False)

    def broken(self, a, limit):
        values, edge, _ = self.side(a, limit)
        return ever_reaches(values, self.pool, -edge, 0.5, self.limit_need, True)

    # ---- comparisons ----

    def arms(self, unit):
        return {a for part in unit for a in part}

    def value(self, unit, q, n):
        if self.weights is None:
            return self.table[:n, unit[q], q].mean(axis=1)
        parts = [self.table[:n, unit[d], d].mean(axis=1) for d in range(len(unit))]
        return sum(w * part for w, part in zip(self.weights, parts, strict=True))

    def need(self, i, j, won):
        low = [len(own) - rank + 1 for own, rank in zip(self.units, self.ranks, strict=True)]
        N, pairs = len(self.groups), low[i] * self.ranks[j]
        if self.weights is None:
            events = N * len(self.slack) * pairs
            if not won:
                events = N * self.ranks[j] * (sum(low) - low[j])
            return events / self.delta
        part = 1.0 if self.slack[0] == 0 else 0.75 if won else 0.25
        return max(1, self.top * (N - self.top)) * pairs / (part * self.delta)

    def is_proven(self, i, m, j, k, q, won):
        key = (i, m, j, k, q, won)
        if not self.proven.get(key):
            upper, lower = self.units[i][m], self.units[j][k]
            n = min(self.depth[a] for a in self.arms(upper) | self.arms(lower))
            gaps = (self.value(upper, q, n) - self.value(lower, q, n)).tolist()
            shift = self.slack[q] if won else 0.0
            need = self.need(i, j, won)
            self.proven[key] = ever_reaches(gaps, self.pool, shift, self.reach[q], need, not won)
        return self.proven[key]

    def counting(self, i):
        return [m for m, unit in enumerate(self.units[i]) if self.arms(unit) <= self.counts]

    def left(self, i):
        return [m for m, unit in enumerate(self.units[i]) if not self.arms(unit) & self.barred]

    def covers(self, i, j, q, won):
        free = 0
        for k in self.left(j):
            above = [m for m in self.counting(i) if self.is_proven(i, m, j, k, q, won)]
            free += len(above) < self.ranks[i]
        return free < self.ranks[j]

    def stands(self, i):
        return len(self.counting(i)) >= self.ranks[i]

    def skipped(self, j):
        either = any(limit[3] > 0 for limit in self.limits)
        return self.status[j] == "out" and (not either or self.by_arms[j])

    def reject(self):
        for i in range(len(self.groups)):
            if self.status[i] == "open" and len(self.left(i)) < self.ranks[i]:
                self.status[i], self.by_arms[i] = "out", True
        for i in range(len(self.groups)):
            if self.status[i] != "open":
                continue
            above = [
                j
                for j in range(len(self.groups))
                if j != i
                and self.stands(j)
                and all(self.covers(j, i, q, False) for q in range(len(self.slack)))
            ]
            if len(above) >= max(1, self.top):
                self.status[i] = "out"

    def near(self, i, j):
        if self.skipped(j):
            return True
        return any(self.covers(i, j, q, True) for q in range(len(self.slack)))

    def accept(self):
        open_ = [i for i, status in enumerate(self.status) if status == "open"]
        others = range(len(self.groups))
        safe = [
            i for i in open_ if self.stands(i) and all(self.near(i, j) for j in others if j != i)
        ]
        if self.top == 0:
            for i in safe:
                self.status[i] = "in"
        elif self.top == 1:
            self.named = [{i} for i in safe]
        else:
            left = [i for i in others if self.status[i] != "out"]
            self.named = [
                set(chosen)
                for chosen in itertools.combinations(left, self.top)
                if all(self.near(i, j) for i in chosen for j in others if j not in chosen)
            ]


def truth(means, ranks, limits, dims):
    """Return the worths of groups with these means, [N, dims]; -inf where too few arms count."""
    found = []
    for rows, rank in zip(means, ranks, strict=True):
        kept = [
            row for row in rows if all(sign * (row[d] - at) <= 1e-12 for d, sign, at, _ in limits)
        ]
        if rank == 0:
            found.append(np.mean(rows, axis=0)[:dims])
        elif len(kept) < rank:
            found.append(np.full(dims, -math.inf))
        else:
            found.append(np.sort(np.array(kept)[:, :dims], axis=0)[len(kept) - rank])
    return np.array(found)
