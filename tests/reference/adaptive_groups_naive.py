"""The adaptive rule for the best group with leaders that are groups, written out.

What a leader has is a list of its measurements, from which its side of every comparison is made anew.
The rest is that of `adaptive_linear_naive`: all selections are enumerated, and so it goes for the
lockstep, `hint` and `margin`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from reference.adaptive_linear_naive import Naive, Selection


class Measurement(NamedTuple):
    """A plan that pulled all arms of the leader's selection."""

    group: int
    selection: Selection
    new: dict[int, int]  # pulls of each of its arms
    z: float  # the weighted mean


class Groups(Naive):
    """One run."""

    prior: ClassVar[list[float]] = [p / 100 for p in (2, 30, 44, 19, 4, 1)]

    def __init__(self, *args, **options) -> None:
        super().__init__(*args, **options)
        self.shares: dict[int, float] = {}
        self.first_lead: dict[int, Selection] = {}
        self.measurements: list[Measurement] = []
        # Pulls and sums of all arms at the end of the last step.
        self.past = np.zeros((self.N, max(self.sizes)), int)
        self.past_sums = np.zeros((self.N, max(self.sizes), self.D))

    # ---- measurements

    def whole(self) -> float:
        """The coefficient of a leader."""
        total = 0.0
        for w, scale in zip(self.w, self.scales, strict=True):
            total += w * scale
        return total

    def weight(self, selection: Selection, new) -> float:
        """c^2 / v of a plan with so many new pulls of each arm; 0 if it is not a measurement."""
        v = 0.0
        for j, c in self.blocks(selection):
            if new[j] == 0:
                return 0.0
            v += c * c / new[j]
        return self.whole() ** 2 / v

    def measured(self) -> tuple[float, float]:
        """The weight of all measurements of the leader, and the sum of their numbers, so weighed."""
        n = total = 0.0
        for m in self.measurements:
            if m.group == self.leader:
                n += self.weight(m.selection, m.new)
                total += self.weight(m.selection, m.new) * m.z
        return n, total

    def measure(self, counts, sums) -> None:
        new = counts[self.leader] - self.past[self.leader]
        if self.leader not in self.shares or any(new[j] == 0 for j in self.lead):
            return
        z = 0.0
        for d, j in enumerate(self.lead):
            z += self.w[d] * (sums[self.leader, j, d] - self.past_sums[self.leader, j, d]) / new[j]
        arms = {j: int(new[j]) for j in self.lead}
        self.measurements.append(Measurement(self.leader, self.lead, arms, z))

    # ---- evidence

    def leader_side(self, counts, sums, q: float):
        n, total = self.measured()
        if n == 0:
            return None
        c, fine = self.whole(), 0.0
        for d, j in enumerate(self.first_lead[self.leader]):
            fine += self.w[d] * self.scales[d] * self.fine[self.leader, j] / c
        own = q * fine
        return self.slack + total / n, [c * math.sqrt(n + own) / n], math.log(1 + n / own) / 2

    def level(self) -> float:
        share = self.shares.get(self.leader, 0.0)
        return math.log(1 / (self.delta * share)) if share > 0 else math.inf

    def counted_variance(self, counts) -> float:
        if self.leader not in self.shares:
            return self.variance(counts, self.leader, self.lead, np.zeros(max(self.sizes), int))
        n, _ = self.measured()
        return self.whole() ** 2 / n if n > 0 else math.inf

    # ---- looks

    def check(self, counts, sums, hint: Callable[[int], Selection]) -> None:
        means, total = sums / np.maximum(counts, 1)[:, :, None], int(counts.sum())
        _, front, lead = self.front(means)
        if self.slack > 0 and front != self.leader:
            self.out.clear()
        self.leader, self.lead = front, lead
        ease = self.compare(counts, means)
        if not self.shares:
            if ease >= 5 or (ease >= 2 and total >= 25 * sum(self.sizes)):
                self.name_likely(total)
        elif front not in self.shares and total >= 1.25 * self.since:
            self.name(front, 0.05 / (self.m * (self.m + 1)), total)
            self.m += 1
        if self.measured()[0] > 0:
            for k in self.others():
                self.descend(counts, sums, k)
            self.decide(counts, sums, hint)
        else:
            self.evidence = dict.fromkeys(range(self.N), 0.0) | self.ease
        self.compare(counts, means)
        if self.answer < 0:
            self.aim(counts, means)

    def name_likely(self, total: int) -> None:
        likely = {self.leader: 1.0}
        for k in self.others():
            x = max(self.ease[k], 0.0)
            p = math.exp(-x) / (1 + 1.8 * math.sqrt(x))
            if p >= 0.01:
                likely[k] = p
        whole = 0.0
        for k in sorted(likely):
            whole += likely[k]
        for k in sorted(likely):
            self.name(k, 0.95 * likely[k] / whole, total)
        self.m = 1

    def name(self, k: int, share: float, total: int) -> None:
        assert k not in self.shares
        self.since, self.shares[k] = total, share
        self.first_lead[k] = self.lead if k == self.leader else self.hard[k]

    # ---- what to pull

    def fill(self, counts, pulls) -> None:
        while pulls.sum() < max(1, self.batch):
            self.unit(counts, pulls)

    def unit(self, counts, pulls) -> None:
        """Add pulls of the rival's neediest arm to a plan, or a measurement of the leader."""
        i, c = self.leader, self.whole()
        if i in self.shares:
            n = self.measured()[0] + self.weight(self.lead, pulls[i])
        else:
            n = self.weight(self.lead, counts[i] + pulls[i])
        k, s = self.target(counts + pulls, c * c / n if n > 0 else math.inf)
        needs = []
        for j, part in self.blocks(s):
            count = counts[k, j] + pulls[k, j]
            needs.append((part / (count * math.sqrt(self.cost[k, j])), j, count))
        need, arm, count = max(needs, key=lambda one: one[0])
        price = 0.0
        for j, part in self.blocks(self.lead):
            price += part * math.sqrt(self.cost[i, j])
        if n > 0 and c * c / (n * price) <= need:
            pulls[k, arm] += self.amount(count)
            return
        share = self.batch if self.batch < 1 else 0.0
        for j, often in self.probes(counts[i] + pulls[i]):
            pulls[i, j] += max(1, int(0.3 * share * often))
        parts = {j: part / math.sqrt(self.cost[i, j]) for j, part in self.blocks(self.lead)}
        whole = 0.0
        for part in parts.values():
            whole += part
        size = max(share * n, min(whole / min(parts.values()), 0.05 * n))
        for j, part in parts.items():
            pulls[i, j] += max(1, int(size * part / whole + 0.5))

    def probes(self, counts) -> list[tuple[int, int]]:
        """The arm that could serve better in the last dim that has one, and the lead's pulls; or none."""
        i = self.leader
        for d in reversed(range(self.D)):
            j, lead = self.probe[d], self.lead[d]
            if j != lead and counts[j] * self.dear(i, j, lead) < counts[lead]:
                return [(j, counts[lead])]
        return []

    def step(self, counts, sums, hint: Callable[[int], Selection]) -> None:
        if self.answer < 0:
            self.measure(counts, sums)
        super().step(counts, sums, hint)
        self.past, self.past_sums = counts.copy(), sums.copy()
