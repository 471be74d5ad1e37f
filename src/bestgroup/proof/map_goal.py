"""The goal "map" of a proof file: which group is best for which weights of a set.

Bounds x of R_i . v - R_k . v at the corners v of fixed cells say on all of a cell what they say at its
corners, mixed as a weight is: worths are linear. A weight is *mapped* to i if the mixed bounds are at
least -epsilon for every other k.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bestgroup.proof.goals import Known, ProofGoal, Status
from bestgroup.proof.noise import number
from bestgroup.proof.weight_cells import Mixture, WeightCells, weight_cells

if TYPE_CHECKING:
    from bestgroup.proof.format import Proof

Bound = Callable[[int, int, int], Fraction | None]  # of R_i . v - R_k . v, by corner, i and k
MOST_VERTICES, _SIMPLEX = 64, 6  # at most; that version 3 has
_LESS = Fraction(1, 10**9)  # of the weights: what is asked for is a double, too


@dataclass(frozen=True)
class Map(ProofGoal):
    """The best group for every weight of a set."""

    kind = "map"
    entries = frozenset({"kind", "weights", "epsilon", "share"})
    since = 3
    maps = True
    measured = False
    vertices: tuple[tuple[Fraction, ...], ...] = ()
    share: Fraction = Fraction(1)

    @classmethod
    def read(cls, given: dict[str, Any], groups: int) -> ProofGoal:
        """Return the goal of an entry."""
        rows = tuple(tuple(Fraction(number(w)) for w in row) for row in given["weights"])
        share = Fraction(number(given["share"]))
        if not 0 < len(rows) <= MOST_VERTICES or len(set(rows)) < len(rows):
            raise ValueError(f"a set of weights has 1 to {MOST_VERTICES} vertices, all different")
        # The slack is in the unit of weights with sum 1: with smaller ones it would say less.
        if any(min(row) < 0 or abs(sum(row) - 1) > _LESS for row in rows) or not 0 < share <= 1:
            raise ValueError("weights must not be negative and have the sum 1, the share be one")
        return cls((), (number(given["epsilon"]),), 1, rows, share)

    def first_version(self) -> int:
        """Return 4 for sets that older readers would cut into other cells, else 3."""
        simplex = len(self.vertices) == len(self.cells.cells[0]) <= _SIMPLEX
        return self.since if simplex else 4

    def fits(self, dims: int) -> bool:
        """Return whether every vertex has a weight for each dim that decides."""
        return all(len(row) == dims for row in self.vertices)

    @property
    def cells(self) -> WeightCells:
        """The cells of the set."""
        return weight_cells(self.vertices)

    def directions(self) -> list[list[Fraction]]:
        """Return the weights of all corners."""
        return [
            [
                sum((k * w for k, w in zip(shares, column, strict=True)), Fraction())
                / self.cells.parts
                for column in zip(*self.vertices, strict=True)
            ]
            for shares in self.cells.corners
        ]

    def by_bounds(self, proof: Proof, known: Known) -> Status:
        """Return what bounds of the worths of groups say."""
        return self.settle_map(proof, self.bound_of(known))

    def bound_of(self, known: Known) -> Bound:
        """Return the bounds of differences that bounds of worths in each dim give."""
        corners = self.directions()
        least, most = (
            [[_worth(v, row) for row in ends] for v in corners]
            for ends in (known.lower, known.upper)
        )

        def bound(v: int, i: int, k: int) -> Fraction | None:
            low, high = least[v][i], most[v][k]
            return None if low is None or high is None else low - high

        return bound

    def settle_map(self, proof: Proof, bound: Bound) -> Status:
        """Return the statuses, and at how many weights of the grid each group is proven best."""
        groups, cells, size = range(len(proof.groups)), self.cells, len(self.cells.grid)
        points = len(cells.cells) * size
        at: list[set[int]] = [set() for _ in groups]  # numbers of weights of the grid
        for i in groups:
            for c, cell in enumerate(cells.cells):
                at[i] |= {c * size + p for p in self._mapped(bound, i, groups, cell)}
            if self.share == 1:  # then the vertices are among them
                for n, v in enumerate(cells.vertices()):
                    if self._holds(bound, v, i, groups):
                        at[i].add(points + n)
        whole = points + (len(cells.vertices()) if self.share == 1 else 0)
        never = [i for i in groups if all(self._beaten(bound, i, groups, c) for c in cells.cells)]
        # With a slack a group may be near the best for some weights, and the best for none.
        inside = [i for i in groups if at[i] and (i not in never or i in proof.answer["in"])]
        out = [i for i in never if i not in inside]
        covered = set[int]().union(*at)
        # Cells of different simplices have different volumes.
        many = Counter(p // size for p in covered if p < points)
        share = sum((cells.volumes[c] * n for c, n in many.items()), Fraction()) / size
        rest = [i for i in groups if i not in inside and i not in out]
        enough = len(covered) == whole or (self.share < 1 and share >= self.share - _LESS)
        mapped = {
            "of": whole,
            "some": len(covered),
            "groups": [[i, len(at[i])] for i in groups if at[i]],
        }
        return Status(inside, out, rest if enough else [], mapped)

    def _holds(self, bound: Bound, v: int, i: int, groups: Sequence[int]) -> bool:
        room = Fraction(self.epsilon[0])
        return all((x := bound(v, i, k)) is not None and x + room >= 0 for k in groups if k != i)

    def _mapped(
        self, bound: Bound, i: int, groups: Sequence[int], cell: tuple[int, ...]
    ) -> list[int]:
        """Return the weights of the grid in a cell that are mapped to a group."""
        room, sides = Fraction(self.epsilon[0]), list[list[int]]()
        for k in groups:
            if k == i:
                continue
            ends = [bound(v, i, k) for v in cell]
            values = [x + room for x in ends if x is not None]
            if len(values) < len(ends) or max(values) < 0:
                return []
            if min(values) < 0:
                scale = math.lcm(*(x.denominator for x in values))
                sides.append([int(x * scale) for x in values])
        return [p for p, mix in enumerate(self.cells.grid) if _inside(mix, sides)]

    def _beaten(self, bound: Bound, i: int, groups: Sequence[int], cell: tuple[int, ...]) -> bool:
        """Return whether one other group is above i at all corners of a cell."""
        return any(
            all((x := bound(v, k, i)) is not None and x >= 0 for v in cell)
            for k in groups
            if k != i
        )

    def statement(self, percent: str) -> str:
        """Return what holds, with which probability."""
        near = "within epsilon of the best" if self.epsilon[0] > 0 else "the best"
        return (
            f"{percent} each group is {near} at all weights that are mapped to it, a group that is in "
            "at some, and no group that is out is the best for any weight of the set"
        )


def _worth(weights: list[Fraction], ends: list[float]) -> Fraction | None:
    """Return the weighted sum of bounds; a dim without weight does not count."""
    used = [(w, end) for w, end in zip(weights, ends, strict=True) if w > 0]
    if any(math.isinf(end) for _, end in used):
        return None
    return sum((w * Fraction(end) for w, end in used), Fraction())


def _inside(mix: Mixture, sides: list[list[int]]) -> bool:
    return all(sum(c * x for c, x in zip(mix, side, strict=True)) >= 0 for side in sides)
