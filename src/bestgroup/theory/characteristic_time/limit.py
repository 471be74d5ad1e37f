"""The information-theoretic limit: the characteristic time T* of an instance.

Every algorithm that is right with probability 1 - delta on all Gaussian instances needs on average
at least T* kl(delta, 1 - delta) pulls, and some need no more as delta goes to 0, where

    1 / T* = max over correct answers S, sup over allocations w, inf over alternatives in which S
             is wrong, of sum_ij w_ij KL(arm ij, its alternative)

(Garivier & Kaufmann 2016; for several correct answers Degenne & Koolen 2019). The inner problems
are solved exactly (`limit_linear`, `limit_pareto`), the outer one with certified bounds
(`limit_game`, `limit_answers`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, number, probability
from bestgroup.problem.goals import (
    BestGroup,
    Goal,
    ParetoGroups,
    TopGroups,
    WeightMap,
    check_goal,
    for_goal,
)
from bestgroup.theory.characteristic_time.answers import Best, ParetoAnswers, best_group
from bestgroup.theory.characteristic_time.arms import Arms
from bestgroup.theory.characteristic_time.directions import map_limit, top_limit
from bestgroup.theory.characteristic_time.game import Watch
from bestgroup.theory.characteristic_time.pareto import Question
from bestgroup.theory.truths import check_plain

if TYPE_CHECKING:
    from bestgroup.problem.instance import Instance

ROUNDING = 1e-9  # relative; the certified bounds are widened by it
_DEPENDENCE = {
    None: False,
    "independent": False,
    "full": True,
    "fully-dependent": True,
    "arbitrary": True,
}


@dataclass(frozen=True)
class CharacteristicTime:
    """T* with certified bounds and the allocation that attains it.

    `value` = `upper` belongs to `allocation` (a share of the pulls for each arm, [K_i] a group) and
    `answer`; no allocation and no correct answer has less than `lower`. `gap` is 1 - lower / upper.
    Infinite: no algorithm can ever stop, because arbitrarily small changes of the means (a tie with
    epsilon = 0) make every answer wrong. Zero: there is one group, and nothing to find out.
    `answers` is the number of correct answers.
    """

    value: float
    lower: float
    upper: float
    gap: float
    allocation: list[Floats]
    answer: frozenset[int]
    answers: int

    def samples(self, delta: float) -> float:
        """Return a lower bound on the expected number of pulls of any algorithm that errs with at most delta.

        With one correct answer it is T* kl(delta, 1 - delta) (Garivier & Kaufmann 2016). With M of
        them some answer is given with probability p = (1 - delta) / M or more, which leaves
        T* kl(p, delta), and nothing if p <= delta. T* is taken at its certified lower end.

        >>> from bestgroup.problem.goals import BestGroup
        >>> time = limit_of([np.array([[1.0]]), np.array([[0.0]])], np.ones(1), BestGroup([1.0]))
        >>> round(time.value, 2), round(time.samples(0.01), 1)
        (8.0, 36.0)
        """
        delta = probability(delta)
        sure = (1.0 - delta) / self.answers
        if self.lower == 0.0 or sure <= delta:
            return 0.0
        return self.lower * _kl(sure, delta)


def characteristic_time(
    instance: Instance,
    goal: Goal,
    dependence: str | None = None,
    tolerance: float = 0.002,
    progress: Watch | None = None,
) -> CharacteristicTime:
    """Return T* of an instance, with a certified relative gap of at most `tolerance`.

    Rewards are taken as Gaussian with the noise scales of the instance, in each dim. `dependence`
    None or "independent": the dims of a pull are independent. "full" (or "arbitrary",
    "fully-dependent"): all dims of a pull share one noise variable, the worst case among all
    sub-Gaussian rewards whose dims may depend on each other in any way; it lies between T* for
    independent dims and D times that.

    The correct answers are all sets between G*_0 and G*_epsilon, or all groups within epsilon of
    the best one. T* is the least over them: the groups that may be in or out are decided by branch
    and bound; if that search is cut short, the bounds still hold and the gap says how far they are
    apart. `progress`, if given, is called from time to time with the relative gap between the bounds
    of the game in hand: there is one game for each answer or set of answers that is looked at.

    >>> from bestgroup.problem.goals import ParetoGroups
    >>> from bestgroup.problem.instance import Instance
    >>> instance = Instance([[[1.0, 0.0]], [[0.0, 1.0]], [[-1.0, -1.0]]])
    >>> time = characteristic_time(instance, ParetoGroups(), tolerance=0.001)
    >>> sorted(time.answer), round(time.value, 1)
    ([0, 1], 9.3)
    """
    asked = check_goal(goal, check_plain(instance, "the limit").dims)
    return limit_of(instance.means, instance.scale, asked, dependence, tolerance, progress)


def limit_at_worst(
    instance: Instance, goal: Goal, progress: Watch | None = None
) -> CharacteristicTime | None:
    """Return T* where the dims of a pull share one noise, if the assumption made allows that and it matters.

    That is for the best group, unless dims are declared to be independent or there is one only: evidence
    on sums of dims has to hold however they depend. Pareto groups are told apart dim by dim.
    """
    if not isinstance(goal, BestGroup) or instance.noise.dependence == "independent":
        return None
    if instance.shape.dims == 1:
        return None
    return characteristic_time(instance, goal, "full", progress=progress)


def limit_of(
    means: Sequence[Floats],
    scale: Floats,
    goal: Goal,
    dependence: str | None = None,
    tolerance: float = 0.002,
    progress: Watch | None = None,
) -> CharacteristicTime:
    """Return T* for means of N groups, each [K_i, D], and noise scales [D]; see `characteristic_time`.

    >>> from bestgroup.problem.goals import ParetoGroups
    >>> limit_of([np.zeros((1, 2)), np.zeros((1, 2))], np.ones(2), ParetoGroups()).value
    inf
    """
    if dependence not in _DEPENDENCE:
        raise InvalidInput(
            f"dependence must be 'independent' or 'full' (fully dependent dims); got {dependence!r}"
        )
    if not 1e-6 <= number(tolerance, "tolerance") < 1.0:
        raise InvalidInput(f"tolerance must be at least 1e-6 and less than 1; got {tolerance}")
    from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingTypeStubs]

    tolerance -= 4.0 * ROUNDING
    scale = np.asarray(scale, dtype=np.float64)
    check_goal(goal, len(scale))
    arms = Arms.of(means, scale)
    # The matrices are so small that threads would spend their time waiting for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        return _report(
            arms, _best(goal, _Search(arms, scale, _DEPENDENCE[dependence], tolerance, progress))
        )


class _Search(NamedTuple):
    """What the search for the limit of any goal is given."""

    arms: Arms
    scale: Floats
    dependent: bool
    tolerance: float
    progress: Watch | None


def _best(goal: Goal, given: _Search) -> Best:
    arms = given.arms
    if arms.groups == 1:
        share = np.full(len(arms.mean), 1 / len(arms.mean))
        return Best(math.inf, math.inf, share, frozenset({0}))
    return for_goal(goal, _LIMITS, "characteristic time")(goal, given)


def _best_group_limit(goal: BestGroup, given: _Search) -> Best:
    arms, scale, dependent, tolerance, progress = given
    weights = goal.weight_vector(arms.dims)
    slack = goal.epsilon * float(weights.sum())
    return best_group(arms, weights * scale, slack, dependent, tolerance, progress)


def _pareto_limit(goal: ParetoGroups, given: _Search) -> Best:
    question = Question(given.arms, goal.epsilons(given.arms.dims) / given.scale, given.dependent)
    return ParetoAnswers(question, given.tolerance, given.progress).search()


def _map_limit(goal: WeightMap, given: _Search) -> Best:
    return map_limit(given.arms, goal, *given[1:])


def _top_limit(goal: TopGroups, given: _Search) -> Best:
    return top_limit(given.arms, goal, *given[1:])


_LIMITS: dict[type[Goal], Callable[[Any, _Search], Best]] = {
    ParetoGroups: _pareto_limit,
    BestGroup: _best_group_limit,
    WeightMap: _map_limit,
    TopGroups: _top_limit,
}


def _report(arms: Arms, best: Best) -> CharacteristicTime:
    upper = 1.0 / best.lower * (1.0 + ROUNDING) if best.lower > 0.0 else math.inf
    lower = 1.0 / best.upper * (1.0 - ROUNDING) if best.upper > 0.0 else math.inf
    gap = 1.0 - lower / upper if 0.0 < upper < math.inf else 0.0
    allocation = [best.allocation[arms.rows(i)] for i in range(arms.groups)]
    return CharacteristicTime(upper, lower, upper, gap, allocation, best.answer, best.answers)


def _kl(p: float, q: float) -> float:
    """Return the Kullback-Leibler divergence of Bernoulli laws with means p and q."""
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
