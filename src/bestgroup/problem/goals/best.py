"""Which group is best for given weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, number, numbers
from bestgroup.problem.goals.by_dim import check_names, entries, plain, refuse_names


@dataclass(frozen=True)
class BestGroup:
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
    paper_algorithm: ClassVar[str] = "eecb"
    accepts_each: ClassVar[bool] = False  # "accepted" can mean other things than the answer (TEL)
    weights: tuple[float, ...]
    epsilon: float = 0.0
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

    def words(self, dims: Sequence[str]) -> str:
        """Return the question in words, with the names of the dims."""
        terms = " + ".join(f"{w:g} {dim}" for w, dim in zip(self.weights, dims, strict=True))
        return f"best group for {terms}, epsilon {self.epsilon:g}"

    def decided_words(self) -> str:
        """Return what holds of groups that are in and out, if decisions are right."""
        near = "within epsilon ||w||_1 of the best" if self.epsilon > 0 else "the best"
        return f"no group that is out is the only best one, and a group that is in is {near}"

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

    def with_epsilon(self, epsilon: Any) -> BestGroup:
        """Return the same question with another slack."""
        again = BestGroup(self.weights, epsilon)
        object.__setattr__(again, "names", self.names)
        return again

    def to_dict(self) -> dict[str, Any]:
        """Return the goal as plain JSON; `goal_from_dict` reads it back."""
        weights = plain(self.weights, self.names)
        return {"kind": self.kind, "weights": weights, "epsilon": self.epsilon}
