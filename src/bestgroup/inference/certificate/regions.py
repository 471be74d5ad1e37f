"""Regions of weights: where each group is proven best, from bounds at the corners of cells.

On a cell of the triangulation group i is proven to be within epsilon of group k wherever the bounds at
the corners, mixed as the weight is, are at least -epsilon: a half-space. So the region of i on a cell
is a polytope, and nothing is lost or claimed beyond the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, numbers
from bestgroup.problem.weight_grid import WeightGrid


@dataclass(frozen=True)
class WeightRegions:
    """What is proven at which weights, by the numbers of groups."""

    grid: WeightGrid
    bound: Floats  # [V, N, N]  R_i . v - R_k . v is at least that
    epsilon: float

    @classmethod
    def blank(cls, grid: WeightGrid, groups: int) -> WeightRegions:
        """Return that nothing is proven."""
        bound = np.full((len(grid.corners), groups, groups), -np.inf)
        return cls(grid, bound, 0.0)

    def margins(self) -> Floats:
        """Return by how much each group is proven within epsilon of the best, [P, N], at grid weights."""
        return self._least(self.grid.at_points(_finite(self.bound)))

    def at(self, weights: Any) -> Bools:
        """Return which groups are proven best, within epsilon, at weights of the set, [N]."""
        given = numbers(weights, "weights")
        if given.shape != self.grid.corners.shape[1:] or (given < 0).any() or given.sum() <= 0:
            raise InvalidInput(
                f"weights must be {self.grid.corners.shape[1]} numbers that are not negative, one "
                f"above 0; got {weights!r}"
            )
        cell, mix = self._locate(given / given.sum())
        bound = np.einsum("e,eik->ik", mix, _finite(self.bound)[self.grid.cells[cell]])
        return self._least(bound[None])[0] >= 0

    def _locate(self, weights: Floats) -> tuple[int, Floats]:
        """Return the cell of weights, and their shares of its corners."""
        best, found = -np.inf, (0, np.zeros(self.grid.cells.shape[1]))
        for c, cell in enumerate(self.grid.cells):
            corners = self.grid.corners[cell]
            mix = np.linalg.lstsq(corners.T, weights, rcond=None)[0]
            if np.abs(mix @ corners - weights).max() < 1e-9 and mix.min() > best:
                best, found = float(mix.min()), (c, mix)
        if best < -1e-9:
            raise InvalidInput("these weights are outside the set that the goal asks about")
        mix = np.maximum(found[1], 0.0)
        return found[0], mix / mix.sum()

    def _least(self, bound: Floats) -> Floats:
        """Return the least bound of each group against the others, plus epsilon, [..., N]."""
        N = bound.shape[-1]
        own = np.where(np.eye(N, dtype=bool), np.inf, bound)
        return own.min(axis=-1) + self.epsilon

    @property
    def always(self) -> Bools:
        """Which groups are proven best, within epsilon, for all weights of the set, [N].

        At its vertices is enough: worths are linear.
        """
        return np.all(self._least(self.bound[: self.grid.own]) >= 0, axis=0)

    @property
    def sometimes(self) -> Bools:
        """Which groups are proven best, within epsilon, for some weight, [N]."""
        corners: Bools = np.any(self._least(self.bound) >= 0, axis=0)
        return corners | np.any(self.margins() >= 0, axis=0)

    @property
    def never(self) -> Bools:
        """Which groups are proven to be best for no weight of the set, [N]."""
        return never_best(self.grid, self.bound) & ~self.sometimes

    @property
    def shares(self) -> Floats:
        """The share of the set's weights at which each group is proven best, [N]; regions may overlap."""
        return self.grid.volume @ (self.margins() >= 0)

    @property
    def share(self) -> float:
        """The share of the set's weights that are mapped to some group."""
        return float(self.grid.volume @ (self.margins() >= 0).any(axis=1))

    def colours(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the group that each grid weight is mapped to, [P]: the largest margin; -1 for none."""
        margins = self.margins()
        return np.where(margins.max(axis=1) >= 0, margins.argmax(axis=1), -1)

    def pieces(self, group: int, apart: bool = False) -> list[Floats]:
        """Return the region of a group as convex pieces, each the corners of a polygon [n, D].

        For sets of weights of at most two dimensions (an interval, a polygon). With `apart` pieces
        of two groups do not overlap: each weight is left to the group with the larger margin.
        """
        if self.grid.cells.shape[1] > 3:
            raise InvalidInput(
                "regions are drawn for at most three dims; shares say how large they are"
            )
        found: list[Floats] = []
        for cell in self.grid.cells:
            bound = _finite(self.bound)[cell]  # [E, N, N]
            least = np.delete(bound[:, group, :], group, axis=1) + self.epsilon
            sides = [least[:, k] for k in range(least.shape[1])]
            if apart:
                sides += _ahead(bound, group)
            shape = _clip(np.eye(len(cell)), sides)
            if len(shape):
                found.append(shape @ self.grid.corners[cell])
        return found


def _ahead(bound: Floats, group: int) -> list[Floats]:
    """Return, for every other group, the halves in which a group leads it on a cell, by both bounds."""
    others = [k for k in range(bound.shape[1]) if k != group]
    return [bound[:, group, k] - bound[:, k, group] for k in others]


def _clip(shape: Floats, sides: list[Floats]) -> Floats:
    """Return a segment or polygon of shares of corners [n, E] cut to where shares @ side >= 0."""
    for side in sides:
        value = shape @ side
        kept: list[Floats] = []
        count = len(shape)
        for a in range(count):
            b = (a + 1) % count
            if value[a] >= 0:
                kept.append(shape[a])
            # The far side of a segment is the same edge again.
            if (value[a] >= 0) != (value[b] >= 0) and not (count == 2 and a == 1):
                part = value[a] / (value[a] - value[b])
                kept.append(shape[a] + part * (shape[b] - shape[a]))
        shape = np.array(kept).reshape(-1, shape.shape[1])
        if not len(shape):
            break
    return shape


def never_best(grid: WeightGrid, bound: Floats) -> Bools:
    """Return which groups are proven to be best nowhere: on every cell one other is above, [N]."""
    above: Bools = np.all(bound[grid.cells] > 0, axis=1)  # [C, N, N]: k above i on the cell
    somewhere: Bools = np.any(above, axis=1)
    return np.all(somewhere, axis=0)


def _finite(bound: Floats) -> Floats:
    """Return bounds with a very small number for those that are not known: 0 times it is 0."""
    return np.where(np.isfinite(bound), bound, -1e300)
