"""Which m groups are the best ones for given weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, positive_int
from bestgroup.problem.goals.base import Goal
from bestgroup.problem.goals.best import BestGroup
from bestgroup.problem.goals.by_dim import entered, plain
from bestgroup.problem.weight_grid import WeightGrid, weight_grid


@dataclass(frozen=True)
class TopGroups(Goal):
    """The m groups of the largest weighted worth.

    The answer is a set of m groups, none of which is worth less than a group outside by more than
    epsilon ||weights||_1. `weights` and `epsilon` are those of `BestGroup`, which asks for m = 1.

    >>> TopGroups(2, [1, 2, 3]).weights
    (1.0, 2.0, 3.0)
    """

    kind: ClassVar[str] = "top"
    entries: ClassVar[frozenset[str]] = frozenset({"m", "weights", "epsilon"})
    by_dim: ClassVar[str] = "weights"
    paper_algorithm: ClassVar[str] = "adaptive"  # the paper has none for it
    accepts_each: ClassVar[bool] = True
    answers_one: ClassVar[bool] = False
    slack_by_dim: ClassVar[bool] = False
    by_directions: ClassVar[bool] = True
    example_groups: ClassVar[int] = 3
    share: ClassVar[float] = 1.0  # of the weights asked about
    question: ClassVar[str] = "Which groups are the best ones?"
    certain: ClassVar[str] = "the best ones"
    m: int
    weights: tuple[float, ...]
    epsilon: float = 0.0  # pyright: ignore[reportIncompatibleVariableOverride]
    names: tuple[str, ...] | None = None

    def __init__(
        self, m: int, weights: Sequence[float] | Mapping[str, float], epsilon: float = 0.0
    ) -> None:
        object.__setattr__(self, "m", positive_int(m, "m"))
        self._take(BestGroup(weights, epsilon))

    def _take(self, best: BestGroup) -> None:
        object.__setattr__(self, "weights", best.weights)
        object.__setattr__(self, "epsilon", best.epsilon)
        object.__setattr__(self, "names", best.names)

    @property
    def spares_groups(self) -> bool:
        """Whether a run may end with groups that need no decision: m within epsilon are enough."""
        return self.epsilon > 0

    def check_groups(self, groups: int) -> None:
        """Raise InvalidInput where as many best groups are asked for as there are."""
        if self.m >= groups > 1:
            raise InvalidInput(f"m must be less than the number of groups, {groups}; got {self.m}")

    def first(self) -> BestGroup:
        """Return the question for the first of them."""
        best = BestGroup(self.weights, self.epsilon)
        object.__setattr__(best, "names", self.names)
        return best

    def grid(self, dims: int) -> WeightGrid:
        """Return the grid of the one weight that is asked about."""
        weights = self.weight_vector(dims) / self.weight_vector(dims).sum()
        return weight_grid((tuple(weights.tolist()),))

    def weight_vector(self, dims: int) -> Floats:
        """Return the weights, [D]."""
        return self.first().weight_vector(dims)

    def epsilons(self, dims: int) -> Floats:
        """Return epsilon for each dim, [D]: it is the same in all."""
        return np.full(dims, self.epsilon)

    def worth_weights(self, dims: int) -> Floats | None:
        """Return the weights: groups are compared by R . w."""
        return self.weight_vector(dims)

    def for_arms(self) -> Goal:
        """Return the question for the best arm of a group."""
        return self.first()

    def guessed(self, efficiency: Floats, inside: Bools) -> Bools | None:
        """Return the groups that are in and the first others by worth, m in all."""
        order = np.lexsort((-(efficiency @ np.array(self.weights)), ~inside))
        return np.isin(np.arange(len(order)), order[: self.m])

    def against(self, low: Floats, high: Floats) -> tuple[Bools, Bools]:
        """Return which groups m others are above by more than the slack, and which N - m are below."""
        weights, own = self.weight_vector(low.shape[1]), np.eye(len(low), dtype=bool)
        least, most = low @ weights, high @ weights
        above = least[None, :] > most[:, None] + self.epsilon * weights.sum()
        ahead = least[:, None] > most[None, :]
        beaten = (above & ~own).sum(axis=1) >= self.m
        return beaten, (ahead & ~own).sum(axis=1) >= len(low) - self.m

    def _limit(self, score: Floats) -> float:
        """Return the worth of number m."""
        return float(np.sort(score)[::-1][min(self.m, len(score)) - 1])

    def optimal(self, efficiency: Floats) -> Bools:
        """Return the groups whose worth is not below that of number m, [N]."""
        score = efficiency @ np.array(self.weights)
        return score >= self._limit(score)

    def good(self, efficiency: Floats, rounding: Floats) -> Bools:
        """Return the groups whose worth is within epsilon ||w||_1 of that of number m, [N]."""
        weights = np.array(self.weights)
        score = efficiency @ weights
        slack = self.epsilon * weights.sum() + 1e-12 * float(weights @ rounding)
        return (score + slack >= self._limit(score)) | self.optimal(efficiency)

    def needed(self, efficiency: Floats) -> Bools:
        """Return the groups that must not be out: the m best, without those that tie, [N]."""
        score = efficiency @ np.array(self.weights)
        best = self.optimal(efficiency)
        return best if best.sum() <= self.m else score > self._limit(score)

    def is_right(self, chosen: Bools, efficiency: Floats, rounding: Floats) -> bool:
        """Return whether m groups were chosen, none behind one outside by more than epsilon ||w||_1."""
        weights = np.array(self.weights)
        score = efficiency @ weights
        if chosen.sum() != min(self.m, len(score)):
            return False
        slack = self.epsilon * weights.sum() + 1e-12 * float(weights @ rounding)
        outside = score[~chosen].max(initial=-np.inf)
        least = float(score[chosen].min())
        return bool(least >= outside or least + slack >= outside)

    def endless(self, efficiency: Floats, names: Sequence[str]) -> str | None:
        """Return why no correct algorithm can stop, or None: a tie about place m."""
        best = self.optimal(efficiency)
        if self.epsilon > 0 or best.sum() <= self.m:
            return None
        return (
            f"more than {self.m} groups are not below the one on place {self.m}, and epsilon is 0"
        )

    def of(self, dims: Sequence[str]) -> TopGroups:
        """Return the goal with its weights in the order of these dims."""
        again = TopGroups(self.m, self.weights, self.epsilon)
        again._take(self.first().of(dims))
        return again

    def words(self, dims: Sequence[str]) -> str:
        """Return the question in words, with the names of the dims."""
        return f"{self.m} best groups" + self.first().words(dims).removeprefix("best group")

    def decided_words(self) -> str:
        """Return what holds of groups that are in and out, if decisions are right."""
        near = " within epsilon ||w||_1 of" if self.epsilon > 0 else " not below"
        return (
            f"no group that is out is among the {self.m} best (unless it ties), and a group that is "
            f"in is{near} the worth of number {self.m}"
        )

    def answer_words(self) -> str:
        """Return what holds of an answer, if it is right."""
        slack = " by more than epsilon ||w||_1" if self.epsilon > 0 else ""
        return (
            f"the answer is {self.m} groups, none of which has a smaller weighted efficiency than one "
            f"that is left out{slack}"
        )

    def inside_words(self) -> str:
        """Return what a group is that is in, in a few words."""
        near = " within epsilon" if self.epsilon > 0 else ""
        return f"among the {self.m} best{near}"

    def headline(self, groups: str, count: int) -> str:
        """Return the final answer, groups already listed, in one sentence."""
        slack = ", or within the slack of them" if self.epsilon > 0 else ""
        return f"{groups} are the {self.m} best groups{slack}"

    def terms(self) -> dict[str, tuple[float, ...]]:
        """Return the numbers besides epsilon, under the names that a reader knows them by."""
        return {"How many": (float(self.m),), "Weights": self.weights}

    def turned(self, order: Sequence[int]) -> TopGroups:
        """Return the goal for the same dims in another order."""
        return TopGroups(self.m, [self.weights[d] for d in order], self.epsilon)

    def spelled_out(self, dims: int) -> TopGroups:
        """Return the same question; it has a weight for each dim."""
        return TopGroups(self.m, self.weight_vector(dims).tolist(), self.epsilon)

    def with_epsilon(self, epsilon: Any) -> TopGroups:
        """Return the same question with another slack."""
        again = TopGroups(self.m, self.weights, epsilon)
        object.__setattr__(again, "names", self.names)
        return again

    def to_dict(self) -> dict[str, Any]:
        """Return the goal as plain JSON; `goal_from_dict` reads it back."""
        weights = plain(self.weights, self.names)
        return {"kind": self.kind, "m": self.m, "weights": weights, "epsilon": self.epsilon}

    @classmethod
    def example(cls, dims: int) -> TopGroups:
        """Return a goal that groups which lie well apart decide soon."""
        first = BestGroup.example(dims)
        return cls(2, first.weights, first.epsilon)

    @classmethod
    def read(cls, given: Mapping[str, Any], dims: Sequence[str] | None) -> TopGroups:
        """Return the goal of a table whose entries are known; a refusal begins with the entry."""
        if given.get("m") is None:
            raise InvalidInput("goal.m: is missing; the kind 'top' needs how many groups")
        best = BestGroup.read({k: v for k, v in given.items() if k != "m"}, dims)
        again = entered("m", lambda: cls(given["m"], best.weights, best.epsilon))
        again._take(best)
        return again
