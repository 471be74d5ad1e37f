"""The adaptive rule for the best group with leaders that are selections (versions up to 6), written out.

All selections are enumerated; `adaptive_groups_naive` has what is other where leaders are groups.

It shares the tabulated `climb` (linear evidence) with the package and nothing else. A run goes in
lockstep with another one: `step` takes `hint(k)`, the selection at which that one's proof against
group k failed, and checks that it has too little evidence. `margin` is the least distance between
a decisive evidence and its level; evidence is computed to about 0.005, so a run whose margin is
smaller than twice that may rightly differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import ClassVar

import numpy as np

from bestgroup.inference.evalues.linear import climb

PRECISIONS = [2.0**k for k in (3, 6, 9, 12, 15, 18)]
PRIOR = [p / 12 for p in (1, 3, 3, 3, 1, 1)]

Selection = tuple[int, ...]


class Naive:
    """One run; `counts` and `sums` are those of all pulls so far."""

    prior: ClassVar[list[float]] = PRIOR

    def __init__(self, sizes, weights, scales, slack, delta, *, independent, batch, cost) -> None:
        self.sizes, self.w, self.scales = list(sizes), list(weights), list(scales)
        self.slack, self.delta, self.batch, self.cost = slack, delta, batch, cost
        self.priced = len({cost[i][j] for i, n in enumerate(sizes) for j in range(n)}) > 1
        arms = [cost[i][j] for i, n in enumerate(sizes) for j in range(n)]
        self.fine = math.exp(np.log(arms).mean()) / np.asarray(cost)  # times a precision, by arm
        self.power = 2.0 if independent else 1.0
        self.N, self.D = len(sizes), len(weights)
        self.out: set[int] = set()
        self.leader, self.lead = 0, (0,) * self.D
        self.m, self.since, self.rounds, self.next = 0, 0, 0, 0
        self.before = np.zeros(max(sizes), int)
        self.before_sums = np.zeros((max(sizes), self.D))
        self.hard = {k: (0,) * self.D for k in range(self.N)}
        self.gauge = dict.fromkeys(range(self.N), 3)
        self.evidence = dict.fromkeys(range(self.N), -math.inf)
        self.gap, self.ease = {}, {}
        self.probe: list[int] = []
        self.rival: tuple[int, Selection] | None = None
        self.aimed = np.zeros((self.N, max(sizes)), int)
        self.short = False
        self.answer = 0 if self.N == 1 else -1
        self.margin = math.inf

    # ---- the arms that a selection uses, with their coefficients

    def blocks(self, s: Selection) -> list[tuple[int, float]]:
        """(arm, c of the dims that it serves), in the order of their first dims."""
        parts: dict[int, float] = {}
        for d in range(self.D):
            c = (self.w[d] * self.scales[d]) ** self.power
            parts[s[d]] = parts.get(s[d], 0.0) + c
        return [(j, c ** (1 / self.power)) for j, c in parts.items()]

    def variance(self, counts, i: int, s: Selection, before) -> float:
        total = 0.0
        for j, c in self.blocks(s):
            n = counts[i, j] - before[j]
            total += c * c / n if n > 0 else math.inf
        return total

    # ---- prices, where costs differ

    def root(self, i: int, j: int) -> float:
        return math.sqrt(self.cost[i, j])

    def price(self, i: int, s: Selection) -> float:
        total = 0.0
        for d in range(self.D):
            total += self.w[d] * self.scales[d] * self.root(i, s[d])
        return total

    def dear(self, i: int, j: int, other: int) -> float:
        return max(1.0, self.cost[i, j] / self.cost[i, other])

    def toll(self, means, k: int, gap: float) -> float:
        """The price of a rival's side: the closer to the best arm of a dim, the more an arm counts."""
        total = 0.0
        for d in range(self.D):
            best = max(means[k, : self.sizes[k], d])
            costs = 0.0
            for j in range(self.sizes[k]):
                near = gap / (gap + self.w[d] * (best - means[k, j, d]))
                costs += near * near * self.cost[k, j]
            total += self.w[d] * self.scales[d] * math.sqrt(costs)
        return total

    def cheapest(self, means, worth, i: int) -> Selection:
        """The selection of i with the largest lead over the next group for the price of both."""
        others = [k for k in worth if k != i]
        if not others:
            return self.hard[i]
        rival = max(others, key=lambda k: worth[k])
        ahead = self.slack - worth[rival]
        if worth[i] + ahead <= 0:
            return self.hard[i]
        toll = self.toll(means, rival, worth[i] + ahead)

        def ratio(s: Selection) -> float:
            lead = ahead
            for d in range(self.D):
                lead += self.w[d] * means[i, s[d], d]
            return lead / (toll + self.price(i, s))

        return max(product(range(self.sizes[i]), repeat=self.D), key=ratio)

    # ---- evidence

    def leader_side(self, counts, sums, q: float):
        """The leader's weighted mean, its v, its cost; None while an arm has no pulls that count."""
        ahead = self.slack
        for d in range(self.D):
            j = self.lead[d]
            n = counts[self.leader, j] - self.before[j]
            if n == 0:
                return None
            ahead += self.w[d] * (sums[self.leader, j, d] - self.before_sums[j, d]) / n
        v, cost = [], 0.0
        for j, c in self.blocks(self.lead):
            n = float(counts[self.leader, j] - self.before[j])
            own = q * self.fine[self.leader, j]
            v.append(c * math.sqrt(n + own) / n)
            cost += math.log(1 + n / own) / 2
        return ahead, v, cost

    def at(self, counts, sums, k: int, s: Selection, g: int) -> float:
        """The evidence against selection s of group k at precision g."""
        q = PRECISIONS[g]
        side = self.leader_side(counts, sums, q)
        if side is None:
            return -math.inf
        gap, v, cost = side[0], list(side[1]), side[2] - math.log(self.prior[g])
        for d in range(self.D):
            gap -= self.w[d] * (sums[k, s[d], d] / counts[k, s[d]])
        if gap <= 0:
            return -math.inf
        for j, c in self.blocks(s):
            n = float(counts[k, j])
            own = q * self.fine[k, j]
            v.append(c * math.sqrt(n + own) / n)
            cost += math.log(1 + n / own) / 2
        return climb.compiled(gap, np.array(v), len(v), 0.0, math.inf)[0] - cost

    def pooled(self, counts, sums, k: int, s: Selection, g: int) -> float:
        parts = [
            self.at(counts, sums, k, s, h) for h in (g - 1, g, g + 1) if 0 <= h < len(PRECISIONS)
        ]
        return float(np.logaddexp.reduce(parts))

    def level(self) -> float:
        m = max(1, self.m)
        return math.log(m * (m + 1) / self.delta)

    # ---- looks

    def others(self) -> list[int]:
        return [k for k in range(self.N) if k != self.leader and k not in self.out]

    def front(self, means) -> tuple[dict[int, float], int, Selection]:
        """The worths of groups that are not out, the first with the largest, and its selection."""
        worth = {}
        for i in range(self.N):
            if i not in self.out:
                self.hard[i] = tuple(
                    int(np.argmax(means[i, : self.sizes[i], d])) for d in range(self.D)
                )
                worth[i] = sum(self.w[d] * means[i, self.hard[i][d], d] for d in range(self.D))
        front = max(worth, key=lambda i: worth[i])
        return worth, front, self.cheapest(means, worth, front) if self.priced else self.hard[front]

    def check(self, counts, sums, hint: Callable[[int], Selection]) -> None:
        means = sums / np.maximum(counts, 1)[:, :, None]
        worth, front, lead = self.front(means)
        if self.m == 0:
            self.leader, self.lead = front, lead
        ease = self.compare(counts, means)
        if self.is_time(means, worth, front, lead, ease, int(counts.sum())):
            if self.slack > 0 and front != self.leader:
                self.out.clear()
            self.m, self.since, self.leader, self.lead = (
                self.m + 1,
                int(counts.sum()),
                front,
                lead,
            )
            self.before, self.before_sums = counts[front].copy(), sums[front].copy()
        if self.m > 0:
            for k in self.others():
                self.descend(counts, sums, k)
            self.decide(counts, sums, hint)
            self.compare(counts, means)
        else:
            self.evidence = dict.fromkeys(range(self.N), 0.0) | self.ease
        if self.answer < 0:
            self.aim(counts, means)

    def counted_variance(self, counts) -> float:
        return self.variance(counts, self.leader, self.lead, self.before)

    def compare(self, counts, means) -> float:
        nothing = np.zeros(len(self.before), int)
        every = self.variance(counts, self.leader, self.lead, nothing)
        counted = self.counted_variance(counts)
        least = math.inf
        for k in self.others():
            gap = self.slack
            for d in range(self.D):
                gap += self.w[d] * (
                    means[self.leader, self.lead[d], d] - means[k, self.hard[k][d], d]
                )
            v = self.variance(counts, k, self.hard[k], nothing)
            self.gap[k], self.ease[k] = gap, gap * abs(gap) / (2 * (counted + v))
            least = min(least, gap * abs(gap) / (2 * (every + v)))
        return least

    def is_time(self, means, worth, front: int, lead: Selection, ease: float, total: int) -> bool:
        if self.m == 0:
            return ease >= 6 or (ease >= 2.5 and total >= 30 * sum(self.sizes))
        if front != self.leader and ease <= -2 and total >= 1.25 * self.since:
            return True
        if total < 2 * self.since:
            return False
        old = self.slack
        for d in range(self.D):
            old += self.w[d] * means[self.leader, self.lead[d], d]
        old -= max(worth[k] for k in self.others())
        new = self.slack + sum(self.w[d] * means[front, lead[d], d] for d in range(self.D))
        rival = max((k for k in worth if k != front), key=lambda k: worth[k])
        new -= worth[rival]
        if old <= 0:
            return new > old
        if self.priced:
            gap = self.slack + worth[front] - worth[rival]
            toll = self.toll(means, rival, gap) if gap > 0 else 0.0
            old_price = toll + self.price(self.leader, self.lead)
            new *= old_price / (toll + self.price(front, lead))
        least = min(self.evidence[k] for k in self.others())
        done = min(max(least / self.level(), 0.0), 0.95)
        return (1.07 - 0.5 * done) * old * old < (1 - done) * new * new

    def descend(self, counts, sums, k: int) -> None:
        g, s = self.gauge[k], self.hard[k]
        least = self.at(counts, sums, k, s, g)
        self.evidence[k] = least
        if least == -math.inf:
            return
        for _ in range(2):
            start = s
            for d in range(self.D):
                for j in range(self.sizes[k]):
                    trial = (*s[:d], j, *s[d + 1 :])
                    value = self.at(counts, sums, k, trial, g)
                    if value < least:
                        least, s = value, trial
            if s == start:
                break
        self.hard[k], self.evidence[k] = s, least
        for h in (g - 1, g + 1):
            if least > -math.inf and 0 <= h < len(PRECISIONS):
                more = self.at(counts, sums, k, s, h)
                if more > self.evidence[k]:
                    self.evidence[k], self.gauge[k] = more, h

    def decide(self, counts, sums, hint: Callable[[int], Selection]) -> None:
        level = self.level() + 1e-6
        for k in self.others():
            if self.evidence[k] < level - 1.1:
                continue
            g = self.gauge[k]
            every = product(range(self.sizes[k]), repeat=self.D)
            least = min(self.pooled(counts, sums, k, s, g) for s in every)
            self.margin = min(self.margin, abs(least - level))
            if least >= level:
                self.out.add(k)
            elif self.pooled(counts, sums, k, self.hard[k], g) >= level:
                self.hard[k] = tuple(int(j) for j in hint(k))
                found = self.pooled(counts, sums, k, self.hard[k], g)
                assert found < level + 0.01 or self.margin < 0.01
                self.evidence[k] = min(self.evidence[k], self.at(counts, sums, k, self.hard[k], g))
            else:
                self.margin = min(
                    self.margin, abs(self.pooled(counts, sums, k, self.hard[k], g) - level)
                )
        if not self.others():
            self.answer = self.leader

    # ---- what to pull

    def aim(self, counts, means) -> None:
        log_total = math.log(float(counts.sum()))
        high = self.slack
        for d in range(self.D):
            high += self.w[d] * means[self.leader, self.lead[d], d]
        self.rival = None
        for k in self.others():
            height, s = self.optimistic(counts, means, k, log_total)
            if height > high:
                high, self.rival = height, (k, s)
        gap = min(self.gap[k] for k in self.others())
        self.probe = [self.probe_of(counts, means, d, gap, log_total) for d in range(self.D)]
        self.aimed = counts.copy()

    def optimistic(self, counts, means, k: int, bonus: float) -> tuple[float, Selection]:
        best, a = (-math.inf, (0,) * self.D), 0.0
        for turn in range(4):
            s = []
            for d in range(self.D):
                c = self.w[d] * self.scales[d]
                heights = []
                for j in range(self.sizes[k]):
                    v = c * c / counts[k, j]
                    extra = math.sqrt(0.5 * bonus * v) if turn == 0 else 0.5 * a * v
                    heights.append(self.w[d] * means[k, j, d] + extra)
                s.append(int(np.argmax(heights)))
            v = self.variance(counts, k, tuple(s), np.zeros(len(self.before), int))
            value = sum(self.w[d] * means[k, s[d], d] for d in range(self.D)) + math.sqrt(bonus * v)
            if value <= best[0]:
                break
            best, a = (value, tuple(s)), math.sqrt(bonus / v)
        return best

    def probe_of(self, counts, means, d: int, gap: float, log_total: float) -> int:
        i, lead = self.leader, self.lead[d]
        high, probe = means[i, lead, d] + 0.1 * max(gap, 0.0) / self.w[d], lead
        rate = 0.0
        if self.priced and gap > 0:
            rival = min(self.others(), key=lambda k: self.gap[k])
            rate = gap / (self.price(i, self.lead) + self.toll(means, rival, gap))
        for j in range(self.sizes[i]):
            n, often, dear = counts[i, j], counts[i, lead], self.dear(i, j, lead)
            if n * dear < often:
                bound = means[i, j, d] + self.scales[d] * math.sqrt(0.5 * log_total / (n * dear))
                if self.priced:
                    bound += rate * self.scales[d] * (self.root(i, lead) - self.root(i, j))
                bound = math.inf if n * n < often else bound
                if bound > high:
                    high, probe = bound, j
        return probe

    def plan(self, counts):
        pulls = np.zeros_like(counts)
        if self.rounds == 0 or self.short:
            least = 4 if self.rounds == 0 else math.ceil(0.04 * counts.sum() / sum(self.sizes))
            for i in set(range(self.N)) - self.out:
                for j in range(self.sizes[i]):
                    pulls[i, j] = max(0, least - counts[i, j])
            return pulls
        self.fill(counts, pulls)
        return pulls

    def amount(self, n: float) -> int:
        """How many pulls of an arm a plan adds to n."""
        return max(1, int(self.batch * n)) if self.batch < 1 else 1

    def fill(self, counts, pulls) -> None:
        for _ in range(self.batch if self.batch >= 1 else 1):
            i, j, n = self.due(counts + pulls)
            pulls[i, j] += self.amount(n)

    def target(self, counts, own: float) -> tuple[int, Selection]:
        """Whom to pull for: a group that could be ahead, or the one with the least evidence."""
        if self.rival is not None:
            return self.rival
        nothing = np.zeros(len(self.before), int)
        scores = {}
        for k in self.others():
            v = own + self.variance(counts, k, self.hard[k], nothing)
            now = self.gap[k] * abs(self.gap[k]) / (2 * v)
            scores[k] = self.evidence[k] + now - self.ease[k]
        k = min(scores, key=lambda k: scores[k])
        return k, self.hard[k]

    def due(self, counts) -> tuple[int, int, int]:
        k, s = self.target(counts, self.counted_variance(counts))
        found = []
        for j, c in self.blocks(s):
            n = counts[k, j]
            found.append((c / (n * math.sqrt(self.cost[k, j])), (k, j, n)))
        i = self.leader
        for j, c in self.blocks(self.lead):
            n = counts[i, j] - self.before[j]
            need = c / (n * math.sqrt(self.cost[i, j])) if n > 0 else math.inf
            served = [d for d in range(self.D) if self.lead[d] == j]
            arms = [self.probe[d] for d in served]
            fewer = [p for p in arms if counts[i, p] * self.dear(i, p, j) < counts[i, j]]
            found.append((need, (i, fewer[0] if fewer else j, n)))
        return max(found, key=lambda pair: pair[0])[1]

    def growth(self) -> float:
        """The share by which the pulls grow to the next check."""
        least = min((self.evidence[k] for k in self.others()), default=0.0)
        if self.m > 0 and least > 0:
            return min(0.02, max(0.0025, 0.125 * (self.level() / least - 1)))
        return 0.02

    def step(self, counts, sums, hint: Callable[[int], Selection]) -> None:
        self.rounds += 1
        self.short = False
        total = int(counts.sum())
        if self.answer >= 0:
            return
        if total < self.next:
            if (counts > 1.125 * self.aimed).any():
                if self.m == 0:
                    self.check(counts, sums, hint)
                else:
                    self.aim(counts, sums / np.maximum(counts, 1)[:, :, None])
            return
        self.check(counts, sums, hint)
        self.next = total + max(1, int(self.growth() * total))
        floor = 0.04 * total / sum(self.sizes)
        for i in set(range(self.N)) - self.out:
            if (counts[i, : self.sizes[i]] < floor).any():
                self.short = True
