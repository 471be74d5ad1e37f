"""Which groups are Pareto optimal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, number, numbers
from bestgroup.problem.goals.by_dim import check_names, entries, plain, refuse_names


@dataclass(frozen=True)
class ParetoGroups:
    """Group Pareto set identification (the paper's GPSI, section 3).

    The answer must hold every Pareto-optimal group and no group that another one beats by more than
    `epsilon` in every dimension. `epsilon` is one number, or one for each dim in the dim's own
    units: a list, or a mapping from dims, in which a dim that is left out has 0.

    >>> ParetoGroups(0.01).epsilons(3)
    array([0.01, 0.01, 0.01])
    >>> ParetoGroups({"cost": 2}).of(["accuracy", "cost"]).epsilon
    (0.0, 2.0)
    """

    kind: ClassVar[str] = "pareto"
    paper_algorithm: ClassVar[str] = "te"
    accepts_each: ClassVar[bool] = True  # a group is in or out by itself, before a run ends
    spares_groups: ClassVar[bool] = False  # a run may end with groups that need no decision
    epsilon: float | tuple[float, ...] = 0.0
    names: tuple[str, ...] | None = None  # of the entries of epsilon; None: in the dims' order

    def __init__(self, epsilon: float | Sequence[float] | Mapping[str, float] = 0.0) -> None:
        given, names = entries(epsilon, "epsilon")
        if np.ndim(given) == 0:
            checked: float | tuple[float, ...] = number(given, "epsilon")
        else:
            checked = tuple(numbers(given, "epsilon").tolist())
        if np.ndim(checked) > 1 or np.size(checked) == 0:
            raise InvalidInput(f"epsilon must be one number or one for each dim; got {epsilon}")
        if np.min(checked) < 0:
            raise InvalidInput(f"epsilon must not be negative; got {epsilon}")
        object.__setattr__(self, "epsilon", checked)
        object.__setattr__(self, "names", names)

    def epsilons(self, dims: int) -> Floats:
        """Return epsilon for each dim, [D]."""
        refuse_names(self.names, "epsilon")
        if isinstance(self.epsilon, tuple) and len(self.epsilon) != dims:
            raise InvalidInput(
                f"epsilon must be one number or one for each of the {dims} dims; "
                f"got {len(self.epsilon)}"
            )
        return np.full(dims, self.epsilon, dtype=np.float64)

    def of(self, dims: Sequence[str]) -> ParetoGroups:
        """Return the goal with its numbers in the order of these dims."""
        if self.names is None:
            return self
        assert isinstance(self.epsilon, tuple)
        given = dict(zip(self.names, self.epsilon, strict=True))
        check_names(given, dims, "epsilon")
        return ParetoGroups([given.get(name, 0.0) for name in dims])

    def words(self, dims: Sequence[str]) -> str:
        """Return the question in words, with the names of the dims."""
        if not isinstance(self.epsilon, tuple):
            return f"Pareto groups, epsilon {self.epsilon:g}"
        slack = ", ".join(f"{e:g} {dim}" for e, dim in zip(self.epsilon, dims, strict=True))
        return f"Pareto groups, epsilon {slack}"

    def decided_words(self) -> str:
        """Return what holds of groups that are in and out, if decisions are right."""
        slack = " by more than epsilon" if np.max(self.epsilon) > 0 else ""
        return (
            "no group that is out is Pareto optimal, and no group that is in is beaten by "
            f"another one{slack} in every dim"
        )

    def with_epsilon(self, epsilon: Any) -> ParetoGroups:
        """Return the same question with another slack."""
        return ParetoGroups(epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return the goal as plain JSON; `goal_from_dict` reads it back."""
        return {"kind": self.kind, "epsilon": plain(self.epsilon, self.names)}
