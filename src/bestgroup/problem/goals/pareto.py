"""Which groups are Pareto optimal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, number, numbers
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
class ParetoGroups(Goal):
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
    entries: ClassVar[frozenset[str]] = frozenset({"epsilon"})
    by_dim: ClassVar[str] = "epsilon"
    paper_algorithm: ClassVar[str] = "te"
    accepts_each: ClassVar[bool] = True
    answers_one: ClassVar[bool] = False
    slack_by_dim: ClassVar[bool] = True
    question: ClassVar[str] = "Which groups are Pareto optimal?"
    certain: ClassVar[str] = "the Pareto-optimal ones"
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

    def weight_vector(self, dims: int) -> Floats:
        """Return ones: nothing is weighed."""
        return np.ones(dims)

    def worth_weights(self, dims: int) -> Floats | None:
        """Return None: groups are compared dim by dim."""
        return None

    def optimal(self, efficiency: Floats) -> Bools:
        """Return G*_0, the groups that no other one beats in every dim, [N]."""
        none = ParetoGroups().epsilons(efficiency.shape[1])
        return undominated(efficiency, none)

    def good(self, efficiency: Floats, rounding: Floats) -> Bools:
        """Return G*_epsilon, the groups that no other one beats by more than epsilon, [N]."""
        return undominated(efficiency, self.epsilons(efficiency.shape[1]))

    def guessed(self, efficiency: Floats, inside: Bools) -> Bools | None:
        """Return None: each group is in or out by itself."""
        return None

    def against(self, low: Floats, high: Floats) -> tuple[Bools, Bools]:
        """Return which groups are beaten beyond epsilon, and which hold against each other in some dim."""
        own, epsilon = np.eye(len(low), dtype=bool), self.epsilons(low.shape[1])
        above = (low[None, :, :] > high[:, None, :] + epsilon).all(axis=2)
        ahead = (low[:, None, :] >= high[None, :, :]).any(axis=2)
        return np.any(above & ~own, axis=1), np.all(ahead | own, axis=1)

    def needed(self, efficiency: Floats) -> Bools:
        """Return the groups that must not be out: all optimal ones, [N]."""
        return self.optimal(efficiency)

    def is_right(self, chosen: Bools, efficiency: Floats, rounding: Floats) -> bool:
        """Return whether an answer holds G*_0 and lies in G*_epsilon."""
        missed = self.optimal(efficiency) & ~chosen
        return not (missed.any() or (chosen & ~self.good(efficiency, rounding)).any())

    def endless(self, efficiency: Floats, names: Sequence[str]) -> str | None:
        """Return why no correct algorithm can stop, or None.

        A group that nothing beats strictly must be told from one that is at least epsilon above it in
        every dim and not above it in one.
        """
        eps = self.epsilons(efficiency.shape[1])
        if (eps > 0).all():
            return None
        for i in np.flatnonzero(self.optimal(efficiency)).tolist():
            near = (efficiency[i] + eps <= efficiency).all(axis=1)
            near[i] = False
            if near.any():
                rival = int(np.flatnonzero(near)[0])
                return (
                    f"group {names[i]!r} is not strictly below group {names[rival]!r}, but nowhere "
                    "above it, and epsilon is 0 there"
                )
        return None

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

    def answer_words(self) -> str:
        """Return what holds of an answer, if it is right."""
        slack = "no group that another one beats by more than epsilon in every dim"
        return f"the answer holds every Pareto-optimal group and {slack}"

    def inside_words(self) -> str:
        """Return what a group is that is in, in a few words."""
        return "Pareto optimal within epsilon" if np.max(self.epsilon) > 0 else "Pareto optimal"

    def headline(self, groups: str, count: int) -> str:
        """Return the final answer, groups already listed, in one sentence."""
        slack = ", up to the slack" if np.max(self.epsilon) > 0 else ""
        return f"{groups} {'is' if count == 1 else 'are'} the Pareto set{slack}"

    def turned(self, order: Sequence[int]) -> ParetoGroups:
        """Return the goal for the same dims in another order."""
        if not isinstance(self.epsilon, tuple):
            return self
        return ParetoGroups([self.epsilon[d] for d in order])

    def spelled_out(self, dims: int) -> ParetoGroups:
        """Return the same question with an epsilon for each dim."""
        return ParetoGroups(self.epsilons(dims).tolist())

    def with_epsilon(self, epsilon: Any) -> ParetoGroups:
        """Return the same question with another slack."""
        return ParetoGroups(epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return the goal as plain JSON; `goal_from_dict` reads it back."""
        return {"kind": self.kind, "epsilon": plain(self.epsilon, self.names)}

    @classmethod
    def example(cls, dims: int) -> ParetoGroups:
        """Return a goal that groups which lie well apart decide soon."""
        return cls(0.5)

    @classmethod
    def read(cls, given: Mapping[str, Any], dims: Sequence[str] | None) -> ParetoGroups:
        """Return the goal of a table whose entries are known; a refusal begins with the entry."""
        if given.get("weights") is not None:
            raise InvalidInput(
                "goal.weights: only the kind 'best' has weights; the kind is 'pareto'"
            )
        epsilon = given.get("epsilon", 0.0)
        return entered("epsilon", lambda: check_entries(cls(epsilon), dims))


def undominated(efficiency: Floats, epsilon: Floats) -> Bools:
    """Return which groups no other one beats by more than epsilon [D] in every dim, [N]."""
    beaten, below = np.zeros((2, len(efficiency)), dtype=bool)
    # Who is beaten is beaten by a group that nobody is above; the largest sums come first, so that
    # few others are compared. Row by row: memory stays linear in N.
    for k in np.argsort(-efficiency.sum(axis=1), kind="stable"):
        if not below[k]:
            below |= (efficiency[k] > efficiency).all(axis=1)
            beaten |= (efficiency + epsilon < efficiency[k]).all(axis=1)
    return ~beaten
