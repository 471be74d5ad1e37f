"""The two questions: which groups are Pareto optimal, and which group is best for given weights.

Numbers by dim are a list in the order of the decided dims, or a mapping from names; `check_goal` puts
a mapping into the order of a problem's dims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, is_table, number, numbers


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
        given, names = _entries(epsilon, "epsilon")
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
        _refuse_names(self.names, "epsilon")
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
        _check_names(given, dims, "epsilon")
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
        return {"kind": self.kind, "epsilon": _plain(self.epsilon, self.names)}


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
        given, names = _entries(weights, "weights")
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
        _refuse_names(self.names, "weights")
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
        _check_names(given, dims, "weights")
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
        weights = _plain(self.weights, self.names)
        return {"kind": self.kind, "weights": weights, "epsilon": self.epsilon}


Goal: TypeAlias = ParetoGroups | BestGroup


def goal_from_dict(given: Any, dims: Sequence[str] | None = None) -> Goal:
    """Return the goal that `to_dict` wrote, or that a file or a request describes.

    With `dims` numbers by name are put into their order, and one weight stands for all. A refusal
    begins with the entry.

    >>> goal_from_dict({"kind": "best", "weights": {"profit": 1, "returns": 0.5}}).names
    ('profit', 'returns')
    """
    if not is_table(given):
        raise InvalidInput(f"goal: must be a table with a kind; got {given!r}")
    kind, weights, epsilon = given.get("kind"), given.get("weights"), given.get("epsilon", 0.0)
    extra = set(given) - {"kind", "weights", "epsilon"}
    if extra:
        raise InvalidInput(f"goal.{sorted(extra)[0]}: is not an entry of a goal")
    if kind == ParetoGroups.kind:
        if weights is not None:
            raise InvalidInput(
                "goal.weights: only the kind 'best' has weights; the kind is 'pareto'"
            )
        return _entered("epsilon", lambda: _checked(ParetoGroups(epsilon), dims))
    if kind != BestGroup.kind:
        raise InvalidInput(f"goal.kind: must be 'pareto' or 'best'; got {kind!r}")
    if weights is None:
        raise InvalidInput("goal.weights: is missing; the kind 'best' needs one for each dim")
    if isinstance(epsilon, list | tuple | Mapping):
        raise InvalidInput("goal.epsilon: must be one number for the kind 'best'")
    if dims is not None and np.ndim(weights) == 0 and not is_table(weights):
        weights = [weights] * len(dims)
    best = _entered("weights", lambda: _checked(BestGroup(weights), dims))
    return _entered("epsilon", lambda: best.with_epsilon(epsilon))


def check_goal(goal: object, dims: int | Sequence[str]) -> Goal:
    """Return `goal` for these dims, or for so many of them, its numbers in their order."""
    if not isinstance(goal, ParetoGroups | BestGroup):
        raise InvalidInput(f"goal must be ParetoGroups(...) or BestGroup(...); got {goal!r}")
    if not isinstance(dims, int):
        goal = goal.of(dims)
        entry = "epsilon" if isinstance(goal, ParetoGroups) else "weights"
        given: float | tuple[float, ...] = getattr(goal, entry)
        if isinstance(given, tuple) and len(given) != len(dims):
            raise InvalidInput(
                f"{entry} must have one entry for each of the {len(dims)} decided dims "
                f"({', '.join(dims)}); got {len(given)}"
            )
        return goal
    if isinstance(goal, ParetoGroups):
        goal.epsilons(dims)
    else:
        goal.weight_vector(dims)
    return goal


def _checked(goal: Any, dims: Sequence[str] | None) -> Any:
    return goal if dims is None else check_goal(goal, dims)


def _entered(entry: str, make: Any) -> Any:
    """Return make(); a refusal begins with where the entry stands."""
    try:
        return make()
    except InvalidInput as error:
        raise InvalidInput(f"goal.{entry}: {str(error).removeprefix(entry + ' ')}") from None


def _entries(given: Any, what: str) -> tuple[Any, tuple[str, ...] | None]:
    """Return numbers and the names that they were given with, or None."""
    if not is_table(given):
        return given, None
    if not given or not all(isinstance(name, str) for name in given):
        raise InvalidInput(f"{what} by name must map at least one dim to a number; got {given!r}")
    return [number(value, f"{what} of {name!r}") for name, value in given.items()], tuple(given)


def _refuse_names(names: tuple[str, ...] | None, what: str) -> None:
    if names is not None:
        raise InvalidInput(
            f"{what} by name ({', '.join(names)}) needs the names of the dims: a problem, or an "
            "instance with dims=[...]"
        )


def _check_names(given: Mapping[str, float], dims: Sequence[str], what: str) -> None:
    for name in given:
        if name not in dims:
            raise InvalidInput(
                f"{what} names the dim {name!r}; the dims that decide are {', '.join(dims)}"
            )


def _plain(values: float | tuple[float, ...], names: tuple[str, ...] | None) -> Any:
    if not isinstance(values, tuple):
        return values
    return list(values) if names is None else dict(zip(names, values, strict=True))
