"""Which group is best for every weight of a set: a map of the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, is_table, number, numbers
from bestgroup.problem.goals.base import Goal
from bestgroup.problem.goals.by_dim import check_entries, check_names, entered, refuse_names
from bestgroup.problem.goals.pareto import ParetoGroups
from bestgroup.problem.weight_grid import WeightGrid, weight_grid

MOST_VERTICES = 64


@dataclass(frozen=True)
class WeightMap(Goal):
    """The best group for every weight of a set, where weights are known in part only.

    `weights` are the vertices of the set: one list of numbers for each, or a mapping from dims, in
    which a dim that is left out has 0; None stands for all weights. A group's worth at weights w is
    R . w; w is taken with sum 1. A weight is *mapped* to a group that is proven to be within
    `epsilon` of the best there. A run ends once a share `share` of the set is mapped: 1 by default
    if epsilon > 0, else 0.95, since on the border of two regions no sample tells them apart.

    >>> WeightMap().vertices(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> WeightMap([{"profit": 1}, {"profit": 3, "returns": 1}]).of(["returns", "profit"]).weights
    ((0.0, 1.0), (0.25, 0.75))
    """

    kind: ClassVar[str] = "map"
    entries: ClassVar[frozenset[str]] = frozenset({"weights", "epsilon", "share"})
    by_dim: ClassVar[str] = "epsilon"
    paper_algorithm: ClassVar[str] = "adaptive"  # the paper has none for it
    accepts_each: ClassVar[bool] = True  # a group is in once a weight is mapped to it
    answers_one: ClassVar[bool] = False
    slack_by_dim: ClassVar[bool] = False
    by_directions: ClassVar[bool] = True
    maps: ClassVar[bool] = True
    m: ClassVar[int] = 0  # no number of groups is asked for
    question: ClassVar[str] = "Which group is best for which weights?"
    certain: ClassVar[str] = "those that are within epsilon of the best for some weights"
    weights: tuple[tuple[float, ...], ...] | None = None
    epsilon: float = 0.0  # pyright: ignore[reportIncompatibleVariableOverride]
    share: float = 0.95
    names: tuple[str, ...] | None = None  # of the entries of each vertex; None: in the dims' order

    def __init__(
        self,
        weights: Sequence[Any] | None = None,
        epsilon: float = 0.0,
        share: float | None = None,
    ) -> None:
        rows, names = _vertices(weights)
        slack = number(epsilon, "epsilon")
        if slack < 0:
            raise InvalidInput(f"epsilon must not be negative; got {slack:g}")
        wanted = number((1.0 if slack > 0 else 0.95) if share is None else share, "share")
        if not 0 < wanted <= 1:
            raise InvalidInput(f"share must be above 0 and at most 1; got {wanted:g}")
        object.__setattr__(self, "weights", rows)
        object.__setattr__(self, "epsilon", slack)
        object.__setattr__(self, "share", wanted)
        object.__setattr__(self, "names", names)

    def vertices(self, dims: int) -> Floats:
        """Return the vertices of the set, [V, D], each with sum 1."""
        refuse_names(self.names, "weights")
        if self.weights is None:
            return np.eye(dims)
        if len(self.weights[0]) != dims:
            raise InvalidInput(
                f"weights must have one entry for each of the {dims} dims; "
                f"got {len(self.weights[0])}"
            )
        return np.array(self.weights)

    def grid(self, dims: int) -> WeightGrid:
        """Return the triangulation of the set, and its grid of weights."""
        rows: list[list[float]] = self.vertices(dims).tolist()
        return weight_grid(tuple(tuple(row) for row in rows))

    @property
    def spares_groups(self) -> bool:
        """Whether a run may end with groups that need no decision: those that no weight is mapped to."""
        return True

    def epsilons(self, dims: int) -> Floats:
        """Return epsilon for each dim, [D]: it is the same in all."""
        return np.full(dims, self.epsilon)

    def weight_vector(self, dims: int) -> Floats:
        """Return the weights in the middle of the set, [D]."""
        return self.vertices(dims).mean(axis=0)

    def worth_weights(self, dims: int) -> Floats | None:
        """Return None: no one number compares groups."""
        return None

    def for_arms(self) -> Goal:
        """Return the question for the front of a group's arms."""
        return ParetoGroups(self.epsilon)

    def against(self, low: Floats, high: Floats) -> tuple[Bools, Bools]:
        """Return which groups one other is above at all weights, and which are best at some vertex."""
        beaten = np.zeros(len(low), np.bool_)
        best, above = beaten.copy(), ~np.eye(len(low), dtype=bool)
        for weights in self.vertices(low.shape[1]):
            used = weights > 0
            least, most = low[:, used] @ weights[used], high[:, used] @ weights[used]
            above &= least[None, :] > most[:, None] + self.epsilon
            ahead = (least[:, None] > most[None, :]) | np.eye(len(low), dtype=bool)
            best |= ahead.all(axis=1)
        return np.any(above, axis=1), best

    def worths(self, efficiency: Floats) -> Floats:
        """Return R . w of all groups at the corners and the grid weights, [weights, N]."""
        grid = self.grid(efficiency.shape[1])
        return np.concatenate([grid.corners, grid.points]) @ efficiency.T

    def optimal(self, efficiency: Floats) -> Bools:
        """Return the groups that are best at a corner or at a weight of the grid, [N]."""
        worth = self.worths(efficiency)
        return (worth >= worth.max(axis=1, keepdims=True)).any(axis=0)

    def good(self, efficiency: Floats, rounding: Floats) -> Bools:
        """Return the groups that are within epsilon of the best for some weight of the set, [N]."""
        found = self.optimal(efficiency)
        for i in np.flatnonzero(~found):
            slack = self.epsilon + 1e-12 * float(rounding.max(initial=0.0))
            found[i] = _most_ahead(self.vertices(efficiency.shape[1]), efficiency, int(i)) >= -slack
        return found

    def needed(self, efficiency: Floats) -> Bools:
        """Return the groups that must not be out: those that are best for some weight, [N]."""
        exact = WeightMap(self.weights)
        object.__setattr__(exact, "names", self.names)
        return exact.good(efficiency, np.zeros(int(efficiency.shape[1])))

    def is_right(self, chosen: Bools, efficiency: Floats, rounding: Floats) -> bool:
        """Return whether every group of an answer is good enough for some weight.

        That each weight is mapped to a group that is good enough there, a set of groups cannot say.
        """
        return bool(chosen.any() and self.good(efficiency, rounding)[chosen].all())

    def endless(self, efficiency: Floats, names: Sequence[str]) -> str | None:
        """Return why no correct algorithm can stop, or None: weights with several best groups."""
        if self.epsilon > 0:
            return None
        grid = self.grid(efficiency.shape[1])
        order = np.sort(grid.points @ efficiency.T, axis=1)
        tied = np.zeros(len(order), bool) if order.shape[1] < 2 else order[:, -1] == order[:, -2]
        if self.share < 1 and grid.volume[~tied].sum() >= self.share - 1e-9:
            return None
        if not tied.any() and not (self.share == 1 and self.optimal(efficiency).sum() > 1):
            return None
        return (
            f"for more than {1 - self.share:.3g} of the weights several groups are best, or on the "
            "border between two regions, and epsilon is 0"
        )

    def of(self, dims: Sequence[str]) -> WeightMap:
        """Return the goal with its weights in the order of these dims."""
        if self.names is None:
            self.vertices(len(dims))
            return self
        assert self.weights is not None
        check_names(dict.fromkeys(self.names, 0.0), dims, "weights")
        rows = [dict(zip(self.names, row, strict=True)) for row in self.weights]
        return WeightMap(
            [[row.get(d, 0.0) for d in dims] for row in rows], self.epsilon, self.share
        )

    def words(self, dims: Sequence[str]) -> str:
        """Return the question in words, with the names of the dims."""
        what = "all weights"
        if self.weights is not None:
            mixed = [_mix(row, self.names or dims) for row in self.weights]
            what = "the weights between " + ", ".join(mixed)
        return f"best group for {what} of {', '.join(dims)}, epsilon {self.epsilon:g}"

    def decided_words(self) -> str:
        """Return what holds of groups that are in and out, if decisions are right."""
        near = " within epsilon" if self.epsilon > 0 else ""
        return (
            f"each group is best{near} for all weights that are mapped to it, and a group that is "
            "out is best for none"
        )

    def answer_words(self) -> str:
        """Return what holds of an answer, if it is right."""
        near = " within epsilon" if self.epsilon > 0 else ""
        return (
            f"every weight that is mapped to a group has it as the best one{near}; "
            + (
                "all weights are"
                if self.share == 1
                else f"{100 * self.share:.3g} % of the weights are"
            )
            + " mapped"
        )

    def inside_words(self) -> str:
        """Return what a group is that is in, in a few words."""
        near = "within epsilon of the best" if self.epsilon > 0 else "best"
        return f"{near} for some weights"

    def headline(self, groups: str, count: int) -> str:
        """Return the final answer, groups already listed, in one sentence."""
        slack = ", or within the slack of it" if self.epsilon > 0 else ""
        if count == 1:
            return f"{groups} is the best group for all weights that are mapped{slack}"
        return f"{groups} are each the best group for some weights{slack}"

    def turned(self, order: Sequence[int]) -> WeightMap:
        """Return the goal for the same dims in another order."""
        rows = self.weights and [[row[d] for d in order] for row in self.weights]
        return WeightMap(rows, self.epsilon, self.share)

    def spelled_out(self, dims: int) -> WeightMap:
        """Return the same question with all vertices written out."""
        return WeightMap(self.vertices(dims).tolist(), self.epsilon, self.share)

    def with_epsilon(self, epsilon: Any) -> WeightMap:
        """Return the same question with another slack."""
        again = WeightMap(self.weights, epsilon, self.share)
        object.__setattr__(again, "names", self.names)
        return again

    def to_dict(self) -> dict[str, Any]:
        """Return the goal as plain JSON; `goal_from_dict` reads it back."""
        rows: Any = None
        if self.weights is not None:
            names = self.names
            rows = [
                list(r) if names is None else dict(zip(names, r, strict=True)) for r in self.weights
            ]
        return {"kind": self.kind, "weights": rows, "epsilon": self.epsilon, "share": self.share}

    @classmethod
    def example(cls, dims: int) -> WeightMap:
        """Return a goal that groups which lie well apart decide soon."""
        return cls(epsilon=0.5)

    @classmethod
    def read(cls, given: Mapping[str, Any], dims: Sequence[str] | None) -> WeightMap:
        """Return the goal of a table whose entries are known; a refusal begins with the entry."""
        epsilon = given.get("epsilon", 0.0)
        if isinstance(epsilon, list | tuple | Mapping):
            raise InvalidInput("goal.epsilon: must be one number for the kind 'map'")
        goal = entered("weights", lambda: check_entries(cls(given.get("weights")), dims))
        slack = entered("epsilon", lambda: cls(None, epsilon)).epsilon
        share = entered("share", lambda: cls(None, slack, given.get("share"))).share
        made = cls(goal.weights, slack, share)
        object.__setattr__(made, "names", goal.names)
        return made


def _vertices(
    given: Any,
) -> tuple[tuple[tuple[float, ...], ...] | None, tuple[str, ...] | None]:
    """Return the vertices, each with sum 1, and the names of their entries."""
    if given is None:
        return None, None
    if not isinstance(given, list | tuple | np.ndarray):
        raise InvalidInput(
            "weights must be a list of vertices, each one number for each dim (for one vertex "
            f"BestGroup asks the same); got {given!r}"
        )
    rows: list[Any] = list(given)  # pyright: ignore[reportUnknownArgumentType]
    tables = [is_table(row) for row in rows]
    names: tuple[str, ...] | None = None
    if any(tables):
        if not all(tables):
            raise InvalidInput("weights must all be lists, or all be mappings from dims")
        names = tuple(dict.fromkeys(str(name) for row in rows for name in row))
        rows = [[row.get(name, 0.0) for name in names] for row in rows]
    if not rows or len(rows) > MOST_VERTICES:
        raise InvalidInput(f"weights must have 1 to {MOST_VERTICES} vertices; got {len(rows)}")
    plain = all(isinstance(row, list | tuple | np.ndarray) for row in rows)
    if not plain or any(len(row) != len(rows[0]) for row in rows):
        raise InvalidInput(
            "weights must be a list of vertices, each with one number for each dim, such as "
            "[[1, 0], [1, 1]]"
        )
    checked = numbers(rows, "weights")
    if checked.size == 0 or (checked < 0).any() or (checked.sum(axis=1) <= 0).any():
        raise InvalidInput("weights must not be negative, and each vertex needs one above 0")
    scaled = checked / checked.sum(axis=1, keepdims=True)
    return tuple(dict.fromkeys(map(tuple, scaled.tolist()))), names


def _most_ahead(vertices: Floats, efficiency: Floats, i: int) -> float:
    """Return by how much group i is ahead of the best other one at the weight that suits it most.

    The value of a game: weights against rivals. A linear programme, exact up to its tolerance.
    """
    from scipy.optimize import linprog  # pyright: ignore

    gap = (vertices @ (efficiency[i] - efficiency).T)[
        :, np.arange(len(efficiency)) != i
    ]  # [V, N - 1]
    if gap.shape[1] == 0:
        return np.inf
    V = len(vertices)
    bounds = [(0, None)] * V + [(None, None)]
    solved: Any = linprog(
        np.append(np.zeros(V), -1.0),
        A_ub=np.column_stack([-gap.T, np.ones(gap.shape[1])]),
        b_ub=np.zeros(gap.shape[1]),
        A_eq=np.append(np.ones(V), 0.0)[None, :],
        b_eq=[1.0],
        bounds=bounds,
    )
    return float(-solved.fun)


def _mix(row: Sequence[float], dims: Sequence[str]) -> str:
    """Return one vertex in words: "0.25 profit + 0.75 returns"."""
    return " + ".join(f"{w:g} {dim}" for w, dim in zip(row, dims, strict=True) if w)
