"""Which group is best for given weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, is_table, number, numbers
from bestgroup.problem.goals.base import Goal
from bestgroup.problem.goals.by_dim import (
    check_entries,
    check_names,
    entered,
    entries,
    plain,
    refuse_names,
)


@dataclass(frozen=True)
class BestGroup(Goal):
    """Linear best group identification (the paper's LBGI, section 4).

    The answer is one group i with (R_i + epsilon) . weights at least the largest R_k . weights.
    With `epsilon` = 0, the paper's case, the best group must be unique. `weights` are a list, or a
    mapping from all decided dims.

    >>> BestGroup([1, 2, 3]).weights
    (1.0, 2.0, 3.0)
    >>> BestGroup({"profit": 1, "returns": 0.5}).of(["returns", "profit"]).weights
    (0.5, 1.0)
    """

    kind: ClassVar[str] = "best"
    entries: ClassVar[frozenset[str]] = frozenset({"weights", "epsilon"})
    by_dim: ClassVar[str] = "weights"
    paper_algorithm: ClassVar[str] = "eecb"
    accepts_each: ClassVar[bool] = False  # "accepted" can mean other things than the answer (TEL)
    answers_one: ClassVar[bool] = True
    slack_by_dim: ClassVar[bool] = False
    question: ClassVar[str] = "Which group is the best?"
    certain: ClassVar[str] = "the best one"
    weights: tuple[float, ...]
    epsilon: float = 0.0  # pyright: ignore[reportIncompatibleVariableOverride]
    names: tuple[str, ...] | None = None  # of the weights; None: in the dims' order

    def __init__(
        self, weights: Sequence[float] | Mapping[str, float], epsilon: float = 0.0
    ) -> None:
        given, names = entries(weights, "weights")
        checked = numbers(given, "weights")
        if checked.ndim != 1 or checked.size == 0:
            raise InvalidInput("weights must be a list with one positive number for each dim")
        if (checked <= 0).any():
            raise InvalidInput(
                f"weights must be positive; got {checked.tolist()} "
                "(leave a dim out of the problem instead of weighing it with zero)"
            )
        slack = number(epsilon, "epsilon")
        if slack < 0:
            raise InvalidInput(f"epsilon must not be negative; got {slack:g}")
        object.__setattr__(self, "weights", tuple(checked.tolist()))
        object.__setattr__(self, "epsilon", slack)
        object.__setattr__(self, "names", names)

    @property
    def spares_groups(self) -> bool:
        """Whether a run may end with groups that need no decision: one within epsilon is enough."""
        return self.epsilon > 0

    def epsilons(self, dims: int) -> Floats:
        """Return epsilon for each dim, [D]: it is the same in all."""
        return np.full(dims, self.epsilon)

    def worth_weights(self, dims: int) -> Floats | None:
        """Return the weights: groups are compared by R . w."""
        return self.weight_vector(dims)

    def optimal(self, efficiency: Floats) -> Bools:
        """Return all groups with the largest R . w, [N]."""
        score = efficiency @ np.array(self.weights)
        return score == score.max()

    def good(self, efficiency: Floats, rounding: Floats) -> Bools:
        """Return the groups with (R_i + epsilon) . w at least the largest R_k . w, [N]."""
        weights = np.array(self.weights)
        most = (efficiency @ weights).max()
        slack = 1e-12 * float(weights @ rounding)
        shifted = np.array([(row + self.epsilon) @ weights + slack for row in efficiency])
        # The best group is right even where rounding of the shift says otherwise.
        return self.optimal(efficiency) | (shifted >= most)

    def guessed(self, efficiency: Floats, inside: Bools) -> Bools | None:
        """Return the group that is in, or the first of the best ones."""
        if inside.any():
            return inside
        return np.arange(len(efficiency)) == int(np.argmax(efficiency @ np.array(self.weights)))

    def against(self, low: Floats, high: Floats) -> tuple[Bools, Bools]:
        """Return which groups are below another one by more than the slack, and which are ahead of all."""
        weights, own = self.weight_vector(low.shape[1]), np.eye(len(low), dtype=bool)
        least, most = low @ weights, high @ weights
        above = least[None, :] > most[:, None] + self.epsilon * weights.sum()
        ahead = least[:, None] > most[None, :]
        return np.any(above & ~own, axis=1), np.all(ahead | own, axis=1)

    def needed(self, efficiency: Floats) -> Bools:
        """Return the group that must not be out: the best, if there is only one, [N]."""
        best = self.optimal(efficiency)
        return best & (best.sum() == 1)

    def is_right(self, chosen: Bools, efficiency: Floats, rounding: Floats) -> bool:
        """Return whether an answer is one group that is good enough."""
        return bool(chosen.sum() == 1 and self.good(efficiency, rounding)[chosen].all())

    def endless(self, efficiency: Floats, names: Sequence[str]) -> str | None:
        """Return why no correct algorithm can stop, or None: epsilon = 0 and several best groups."""
        best = np.flatnonzero(self.optimal(efficiency))
        if self.epsilon > 0 or len(best) == 1:
            return None
        one, other = names[best[0]], names[best[1]]
        return f"groups {one!r} and {other!r} tie for the best weighted efficiency"

    def words(self, dims: Sequence[str]) -> str:
        """Return the question in words, with the names of the dims."""
        terms = " + ".join(f"{w:g} {dim}" for w, dim in zip(self.weights, dims, strict=True))
        return f"best group for {terms}, epsilon {self.epsilon:g}"

    def decided_words(self) -> str:
        """Return what holds of groups that are in and out, if decisions are right."""
        near = "within epsilon ||w||_1 of the best" if self.epsilon > 0 else "the best"
        return f"no group that is out is the only best one, and a group that is in is {near}"

    def answer_words(self) -> str:
        """Return what holds of an answer, if it is right."""
        if self.epsilon == 0:
            return "the answer is the group with the largest weighted efficiency"
        return "the answer is within epsilon ||w||_1 of the largest weighted efficiency"

    def inside_words(self) -> str:
        """Return what a group is that is in, in a few words."""
        return "within epsilon of the best" if self.epsilon > 0 else "best"

    def headline(self, groups: str, count: int) -> str:
        """Return the final answer, groups already listed, in one sentence."""
        slack = ", or within the slack of it" if self.epsilon > 0 else ""
        return f"{groups} is the best group{slack}"

    def terms(self) -> dict[str, tuple[float, ...]]:
        """Return the numbers besides epsilon, under the names that a reader knows them by."""
        return {"Weights": self.weights}

    def weight_vector(self, dims: int) -> Floats:
        """Return the weights, [D]."""
        refuse_names(self.names, "weights")
        if len(self.weights) != dims:
            raise InvalidInput(
                f"weights must have one entry for each of the {dims} dims; got {len(self.weights)}"
            )
        return np.array(self.weights)

    def of(self, dims: Sequence[str]) -> BestGroup:
        """Return the goal with its weights in the order of these dims."""
        if self.names is None:
            return self
        given = dict(zip(self.names, self.weights, strict=True))
        check_names(given, dims, "weights")
        for name in dims:
            if name not in given:
                raise InvalidInput(
                    f"weights must have an entry for the dim {name!r}; a dim that is not to count "
                    'must be "watch"'
                )
        return BestGroup([given[name] for name in dims], self.epsilon)

    def turned(self, order: Sequence[int]) -> BestGroup:
        """Return the goal for the same dims in another order."""
        return BestGroup([self.weights[d] for d in order], self.epsilon)

    def spelled_out(self, dims: int) -> BestGroup:
        """Return the same question; it has a weight for each dim."""
        return BestGroup(self.weight_vector(dims).tolist(), self.epsilon)

    def with_epsilon(self, epsilon: Any) -> BestGroup:
        """Return the same question with another slack."""
        again = BestGroup(self.weights, epsilon)
        object.__setattr__(again, "names", self.names)
        return again

    def to_dict(self) -> dict[str, Any]:
        """Return the goal as plain JSON; `goal_from_dict` reads it back."""
        weights = plain(self.weights, self.names)
        return {"kind": self.kind, "weights": weights, "epsilon": self.epsilon}

    @classmethod
    def example(cls, dims: int) -> BestGroup:
        """Return a goal that groups which lie well apart decide soon."""
        weights = 2.0 ** -np.arange(dims) + np.arange(dims) / 16
        return cls(weights.tolist(), epsilon=0.5)

    @classmethod
    def read(cls, given: Mapping[str, Any], dims: Sequence[str] | None) -> BestGroup:
        """Return the goal of a table whose entries are known; a refusal begins with the entry."""
        weights, epsilon = given.get("weights"), given.get("epsilon", 0.0)
        if weights is None:
            raise InvalidInput("goal.weights: is missing; the kind 'best' needs one for each dim")
        if isinstance(epsilon, list | tuple | Mapping):
            raise InvalidInput("goal.epsilon: must be one number for the kind 'best'")
        if dims is not None and np.ndim(weights) == 0 and not is_table(weights):
            weights = [weights] * len(dims)
        best = entered("weights", lambda: check_entries(cls(weights), dims))
        return entered("epsilon", lambda: best.with_epsilon(epsilon))
