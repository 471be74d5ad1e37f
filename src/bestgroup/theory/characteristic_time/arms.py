"""What every inner problem of the limit works on: arms in units of their noise, and pooling.

An allocation w gives each arm a share of the pulls; a shift v of an arm costs w |v|^2 / 2.
Everything here is in units of the noise scale, so that noise has variance 1 in every dim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Bools, Floats, Ints

EXACT = 1.0 - 1e-10  # costs that agree to this factor count as equal
KEEP = 1.5  # alternatives up to this factor above the cheapest one become cuts
CUTS = 200  # at most, from one query


def worth_cutting(cost: Floats) -> Ints:
    """Return which alternatives should become cuts, cheapest first."""
    order = np.argsort(cost, kind="stable")[:CUTS]
    return order[cost[order] <= KEEP * cost[order[0]]]


@dataclass(frozen=True)
class Arms:
    """All arms of an instance in one array; group i owns rows start[i] to start[i + 1]."""

    mean: Floats  # [A, D]
    start: Ints  # [N + 1]

    @classmethod
    def of(cls, means: Sequence[Floats], scale: Floats) -> Arms:
        """Return the arms of N groups, each [K_i, D], in units of the noise scale [D]."""
        sizes = [len(rows) for rows in means]
        return cls(np.concatenate(means) / scale, np.cumsum([0, *sizes]))

    @property
    def groups(self) -> int:
        """The number of groups, N."""
        return len(self.start) - 1

    @property
    def dims(self) -> int:
        """The number of dims, D."""
        return self.mean.shape[1]

    @cached_property
    def best(self) -> Floats:
        """The efficiency of each group, [N, D]."""
        return np.maximum.reduceat(self.mean, self.start[:-1], axis=0)

    @cached_property
    def index(self) -> Ints:
        """The row of each arm of each group, [N, K]; groups of fewer arms repeat their first."""
        sizes = np.diff(self.start)
        place = np.arange(int(sizes.max()))
        return self.start[:-1, None] + np.where(place < sizes[:, None], place, 0)

    @cached_property
    def exists(self) -> Bools:
        """Which entries of `index` are arms, not repetitions, [N, K]."""
        sizes = np.diff(self.start)
        place = np.arange(int(sizes.max()))
        return place < sizes[:, None]

    @cached_property
    def order(self) -> tuple[Ints, ...]:
        """For each group the rows of its arms by falling mean in each dim, [K_i, D]."""
        slices = (slice(a, b) for a, b in zip(self.start[:-1], self.start[1:], strict=True))
        return tuple(part.start + np.argsort(-self.mean[part], axis=0) for part in slices)

    def rows(self, i: int) -> slice:
        """Return the rows of group i."""
        return slice(int(self.start[i]), int(self.start[i + 1]))


@dataclass(frozen=True)
class Falling:
    """One group whose arms fall to a common level in each dim; levels are relative to its efficiency.

    The arms above a level fall to it. Sums over the q highest arms, `mass` [K, D] of weights and
    `pull` [K, D] of weight times mean, turn every pooling into a maximum over q: the condition own
    (x - u) = sum_m w_m (mu_m - x)^+ has the solution x = max_q (own u + pull_q) / (own + mass_q),
    because the right side is the maximum over q of its parts.
    """

    mean: Floats  # [K, D] falling, <= 0
    weight: Floats  # [K, D]
    mass: Floats  # [K, D]
    pull: Floats  # [K, D]

    @classmethod
    def of(cls, arms: Arms, weight: Floats, i: int) -> Falling:
        """Return group i under an allocation [A]."""
        order = arms.order[i]
        mean = np.take_along_axis(arms.mean, order, axis=0) - arms.best[i]
        share = weight[order]
        return cls(mean, share, share.cumsum(axis=0), (share * mean).cumsum(axis=0))

    def meet(self, level: Floats, own: Floats) -> tuple[Floats, Floats]:
        """Return where arms rising from `level` [B, D] with weights `own` [B] meet it, and at what cost."""
        part = own[:, None, None]
        pooled = (part * level[:, None, :] + self.pull) / (part + self.mass)
        meeting = np.maximum(pooled.max(axis=1), level)
        rise = 0.5 * own[:, None] * (meeting - level) ** 2
        return meeting, rise + self.cost(meeting)

    def sink(self, weights: Floats, need: Floats, rate: Floats) -> tuple[Floats, Floats]:
        """Return y and the levels [B, D] with need + weights.level = y rate (paper's LBGI, [B] problems).

        In each dim y w_d is used up by the arms that fall, sum_m w_m (mu_m - level)^+ = y w_d
        (water filling). Newton's method from the left, on a convex, falling, piecewise linear
        function of y: it ends exactly.
        """
        y = np.zeros(len(need))
        level = np.zeros((len(need), len(weights)))
        for _ in range(self.mean.size + 2):
            water = (self.pull - (y[:, None] * weights)[:, None, :]) / self.mass
            level = water.max(axis=1)
            mass = np.take_along_axis(self.mass[None], water.argmax(axis=1)[:, None, :], axis=1)
            slope = rate + (weights**2 / mass[:, 0, :]).sum(axis=1)
            onward = y + (need + level @ weights - y * rate) / slope
            if not (onward > y * (1.0 + 1e-14)).any():
                break
            y = np.maximum(y, onward)
        return y, level

    def cost(self, level: Floats) -> Floats:
        """Return g(level) = sum_m w_m ((mu_m - level)^+)^2 / 2 in each dim, for levels [B, D]."""
        fall = np.maximum(self.mean - level[:, None, :], 0.0)
        return 0.5 * (self.weight * fall * fall).sum(axis=1)


@borrowing
def mark_useful(mean: Floats, weight: Floats, dependent: bool, useful: Bools) -> None:
    """Set `useful` [K, D]: no other arm is as high (in every dim if dependent) and as cheap to raise."""
    arms, dims = mean.shape
    for a in range(arms):
        for d in range(dims):
            useful[a, d] = True
        for b in range(arms):
            if not (weight[b] < weight[a] or (weight[b] == weight[a] and b < a)):
                continue
            everywhere = True
            for d in range(dims):
                everywhere = everywhere and mean[b, d] >= mean[a, d]
            for d in range(dims):
                high = everywhere if dependent else mean[b, d] >= mean[a, d]
                useful[a, d] = useful[a, d] and not high
