"""Batches of small quadratic programmes with certified bounds, for arms that one shift moves in all dims.

Rises x_l and falls b_m must cover gaps, x_l + b_m >= gap_lm for all l and m. Falls cost weight_m
b_m^2 / 2. What the x cost is one of two things:

* `cover_arms`: x_l are rises of arms and cost own_l x_l^2 / 2;
* `cover_levels`: x_d are levels of dims, and only their sum s = sum_d slope_d x_d costs, namely
  (s + need)^2 / (2 spread): another group has to rise by the rest.

An interior point method solves a whole batch. Its multipliers give a lower bound of each minimum,
so nothing rests on its having converged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from bestgroup.problem.arrays import Bools, Floats

STEPS = 60
PRECISION = 1e-9  # relative gap between cost and bound at which the iteration stops


@dataclass(frozen=True)
class Covers:
    """Solutions of a batch: costs of feasible points, lower bounds of the minima, and the points."""

    cost: Floats  # [B]
    bound: Floats  # [B]
    rise: Floats  # [B, L]
    fall: Floats  # [B, M]
    price: Floats  # [B]  multiplier of the raised group; 0 for arms


def cover_arms(gap: Floats, weight: Floats, own: Floats) -> Covers:
    """Return the least sum of own_l x_l^2 / 2 and weight_m b_m^2 / 2 with x_l + b_m >= gap_lm.

    Shapes are [B, L, M], [B, M], [B, L]. Every programme must have a positive gap; weights must be
    positive.
    """
    unit, size = gap.max(axis=(1, 2)), weight.mean(axis=1)
    # Rises and falls are not negative at the optimum, so gaps below zero bind nothing.
    scaled = np.maximum(gap / unit[:, None, None], -1.0)
    batch = _Batch(scaled, weight / size[:, None], own / size[:, None])
    return batch.solve(unit, size)


def cover_levels(
    gap: Floats, weight: Floats, slope: Floats, need: Floats, spread: Floats
) -> Covers:
    """Return the least (slope.x + need)^2 / (2 spread) + sum_m weight_m b_m^2 / 2, x_d + b_m >= gap_dm.

    Shapes are [D, M], [M], [D], [B], [B]; gaps <= 0, with a zero in every row; need > 0. `price` is
    y = (slope.x + need) / spread.
    """
    unit, size = need / slope.sum(), np.full(len(need), weight.mean())
    # No level falls below -need / slope_d at the optimum, so lower gaps bind nothing.
    scaled = np.maximum(gap / unit[:, None, None], -1.0 - slope.sum() / slope[:, None])
    share = np.broadcast_to(weight / weight.mean(), (len(need), len(weight)))
    batch = _Batch(scaled, share, np.zeros((len(need), len(slope))), slope, spread * size)
    return batch.solve(unit, size)


class _Batch:
    """Programmes scaled to unit size, and an interior point of each: x, b, slacks and prices.

    They minimise x'Px/2 + f.x + sum_m weight_m b_m^2 / 2 with P = diag(own) + slope slope' / spread and
    f = slope sum(slope) / spread.
    """

    def __init__(
        self,
        gap: Floats,
        weight: Floats,
        own: Floats,
        slope: Floats | None = None,
        spread: Floats | None = None,
    ) -> None:
        self.gap, self.weight, self.own = gap, weight, own
        self.slope = slope
        self.spread = np.ones(len(gap)) if spread is None else spread
        self.x: Floats = np.ones(own.shape)
        self.b: Floats = np.ones(weight.shape)
        self.slack: Floats = 2.0 - gap
        self.price: Floats = 1.0 / self.slack

    def solve(self, unit: Floats, size: Floats) -> Covers:
        """Return the solutions, scaled back by the units of gaps and of weights."""
        cost, bound, y = np.empty((3, len(self.gap)))
        rise, fall = np.empty(self.own.shape), np.empty(self.weight.shape)
        left = np.arange(len(self.gap))
        shrink = np.full(len(left), 0.1)
        for _ in range(STEPS):
            step = self._newton(shrink)
            shrink = np.where(step > 0.9, 0.03, 0.3)
            cost[left], bound[left], y[left], fall[left] = self._judge()
            rise[left] = self.x
            rough = ~(cost[left] - bound[left] <= PRECISION * cost[left])
            if not rough.any():
                break
            if not rough.all():
                left, shrink = left[rough], shrink[rough]
                self._keep(rough)
        factor = size * unit * unit
        bound = np.where(bound > 0.0, bound, 0.0)  # also where the iteration broke down
        return Covers(
            cost * factor,
            bound * factor,
            rise * unit[:, None],
            fall * unit[:, None],
            y * size * unit,
        )

    def _keep(self, rough: Bools) -> None:
        for name in ("gap", "weight", "own", "spread", "x", "b", "slack", "price"):
            setattr(self, name, getattr(self, name)[rough])

    def _judge(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return cost of the rises with the falls they need, a bound from the prices, y, and the falls."""
        fall = np.maximum((self.gap - self.x[:, :, None]).max(axis=1), 0.0)
        cost = 0.5 * (self.weight * fall * fall).sum(axis=1)
        price, row = self.price, self.price.sum(axis=2)
        if self.slope is None:
            y = np.zeros(len(cost))
            cost += 0.5 * (self.own * self.x**2).sum(axis=1)
            bound = -0.5 * (row * row / self.own).sum(axis=1)
        else:
            lift = self.slope.sum()
            y = np.maximum(self.x @ self.slope + lift, 0.0) / self.spread
            cost += 0.5 * y * y * self.spread
            bound = y * lift - 0.5 * y * y * self.spread
            # Levels are free but for the raised group: their prices must add up to y slope exactly.
            price = price * (y[:, None] * self.slope / row)[:, :, None]
        bound += (price * self.gap).sum(axis=(1, 2))
        bound -= 0.5 * (price.sum(axis=1) ** 2 / self.weight).sum(axis=1)
        return cost, bound, y, fall

    def _newton(self, shrink: Floats) -> Floats:
        """Move every point by a damped Newton step on slack * price = goal; return the steps' lengths."""
        goal = shrink * (self.slack * self.price).mean(axis=(1, 2))
        rate, push = self.price / self.slack, goal[:, None, None] / self.slack
        stiff = self.weight + rate.sum(axis=1)
        force = push.sum(axis=1) - self.weight * self.b
        right = push.sum(axis=2) - self.own * self.x - np.einsum("blm,bm->bl", rate, force / stiff)
        matrix = -np.einsum("blm,bkm->blk", rate, rate / stiff[:, None, :])
        diagonal = np.arange(int(self.gap.shape[1]))
        matrix[:, diagonal, diagonal] += self.own + rate.sum(axis=2)
        if self.slope is not None:
            moved = (self.x @ self.slope + self.slope.sum()) / self.spread
            right -= moved[:, None] * self.slope
            matrix += np.outer(self.slope, self.slope) / self.spread[:, None, None]
        dx = cast(Floats, np.linalg.solve(matrix, right[:, :, None])[:, :, 0])
        db = (force - np.einsum("blm,bl->bm", rate, dx)) / stiff
        ds = dx[:, :, None] + db[:, None, :]
        dp = push - self.price - rate * ds
        worst = np.maximum((-ds / self.slack).max(axis=(1, 2)), (-dp / self.price).max(axis=(1, 2)))
        step = np.minimum(1.0, 0.99 / np.maximum(worst, 1e-9))
        self.x, self.b = self.x + step[:, None] * dx, self.b + step[:, None] * db
        self.slack = self.slack + step[:, None, None] * ds
        self.price = self.price + step[:, None, None] * dp
        return step
