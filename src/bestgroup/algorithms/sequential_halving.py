"""Sequential halving for the best group: a number of pulls that is fixed beforehand.

Karnin, Koren and Somekh (2013, "Almost optimal exploration in multi-armed bandits") halve the arms
that are left in each of L phases of equal length. Here groups are halved: with L = ceil(log2 N) and S
the groups that are left, a phase pulls every arm of S

    n = floor(B / (L A(S)))  times,   A(S) the arms of S, B the budget,

and keeps the ceil(|S| / 2) groups of largest R-hat . w, by the pulls of that phase alone. So at most
B pulls are spent. It is a baseline: whoever can go on until an answer is proven should.

**Theorem.** Let group 1 be the only best one, Delta_(i) = (R_1 - R_(i)) . w for the i-th best group,
H = max_{i >= 2} i / Delta_(i)^2, c = sum_d w^d sigma_d, K the largest group. If B >= L A,

    P(another group is named) <= 3 L D (K + 1) exp(-B / (64 c^2 L K H)).

*Proof.* Take a phase with the groups S, 1 among them. Its pulls are fresh, so S is fixed. Group i is not
behind 1 only if a mean of some arm of i exceeds its truth by Delta_i sigma_d / (2 c) in some dim, or that
of an arm that attains R_1^d, fixed by the means, falls short by as much: D (K + 1) events, each of
probability at most exp(-n Delta_i^2 / (8 c^2)). Group 1 is dropped only if at least h = ceil(|S| / 2)
others are not behind it. With m = floor(h / 2), at least h - m = ceil(h / 2) of those are not among the m
best rivals of 1 in S. The rivals that are not are |S| - 1 - m <= 2 h - 1 - m in number, less than
3 (h - m), and each is of rank r = m + 2 or more among all groups. By Markov's inequality 1 is dropped
with probability at most 3 D (K + 1) exp(-n Delta_(r)^2 / (8 c^2)). Since |S| <= 2 h and r >= (h + 3) / 2,
|S| <= 4 r, so |S| / Delta_(r)^2 <= 4 H; and n >= B / (2 L K |S|), as a floor is at least half of what
is 1 or more. Sum over L phases. QED Dims of a pull may depend in any way, and so may arms.

`error_bound` evaluates the sum over phases itself, for a known instance. Nobody who does not know the
gaps knows the bound, so an answer is not called proven.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Kernels, Setting
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.errors import InvalidInput
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints, positive_int
from bestgroup.problem.goals import BestGroup
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.instance import Instance


class HalvingRule(NamedTuple):
    """The budget and what it is shared among."""

    exists: Bools  # [N, K]
    weights: Floats  # [D]
    phases: int  # L
    budget: int  # B


class State(NamedTuple):
    """The groups that are left, and what was pulled before the phase under way."""

    groups: Bools  # [N]
    efficiency: Floats  # [N, D]  by the pulls of the last phase
    before: Ints  # [N, K]        pulls of earlier phases
    sums: Floats  # [N, K, D]     and their sums
    round: Ints  # [1]            phases that are over


@kernel
def plan(state: State, tally: Tally, rule: HalvingRule) -> Ints:
    """Return the pulls of a phase: the same number for every arm that is left."""
    N, K = rule.exists.shape
    pulls = np.zeros((N, K), np.int64)
    arms = 0
    for i in range(N):
        for j in range(K):
            if state.groups[i] and rule.exists[i, j]:
                arms += 1
    # At least one, as the budget is at least L times all arms.
    each = rule.budget // (max(rule.phases, 1) * arms)
    for i in range(N):
        for j in range(K):
            if state.groups[i] and rule.exists[i, j]:
                pulls[i, j] = each
    return pulls


@kernel
def worth_of(state: State, i: int, rule: HalvingRule) -> float:
    """Return R-hat_i . w."""
    total = 0.0
    for d in range(len(rule.weights)):
        total += state.efficiency[i, d] * rule.weights[d]
    return total


@kernel
def step(state: State, tally: Tally, rule: HalvingRule) -> None:
    """Keep the better half of the groups by the pulls of this phase, in place."""
    N, K, D = tally.sums.shape
    state.round[0] += 1
    left = 0
    for i in range(N):
        if not state.groups[i]:
            continue
        left += 1
        for d in range(D):
            best = -np.inf
            for j in range(K):
                if rule.exists[i, j]:
                    fresh = tally.counts[i, j] - state.before[i, j]
                    best = max(best, (tally.sums[i, j, d] - state.sums[i, j, d]) / fresh)
            state.efficiency[i, d] = best
    # The proof takes each phase by itself, for which groups are left depends on earlier pulls.
    state.before[...] = tally.counts
    state.sums[...] = tally.sums
    for _ in range(left - (left + 1) // 2):
        worst = -1
        for i in range(N):
            # Of equals the last is dropped.
            if state.groups[i] and (
                worst < 0 or worth_of(state, i, rule) <= worth_of(state, worst, rule)
            ):
                worst = i
        state.groups[worst] = False


@borrowing
def is_done(state: State, rule: HalvingRule) -> bool:
    """Return whether one group is left."""
    return state.groups.sum() <= 1


@dataclass(frozen=True)
class SequentialHalving(Algorithm):
    """Sequential halving of groups with a fixed number of pulls (Karnin, Koren, Somekh, 2013)."""

    budget: int | None = None

    name: ClassVar[str] = "sequential-halving"
    goals: ClassVar[tuple[type, ...]] = (BestGroup,)
    always_ends: ClassVar[bool] = True
    needs_budget: ClassVar[bool] = True
    kernels: ClassVar[Kernels | None] = Kernels(plan, step, is_done)

    def __post_init__(self) -> None:
        if self.budget is not None:
            positive_int(self.budget, "budget")

    def check(self, setting: Setting) -> None:
        """Refuse a budget that is missing, or too small for one pull of every arm in every phase."""
        super().check(setting)
        if self.budget is None:
            raise InvalidInput(
                f"algorithm {self.name!r} works with a fixed number of pulls: give it "
                "bg.algorithm('sequential-halving', budget=...), or solve(..., budget=...)"
            )
        needed = _phases(setting.shape.groups) * setting.shape.total
        if self.budget < needed:
            raise InvalidInput(
                f"algorithm {self.name!r} pulls every arm in each of "
                f"{_phases(setting.shape.groups)} phases: the budget must be at least {needed}; "
                f"got {self.budget}"
            )

    def rule(self, setting: Setting) -> HalvingRule:
        """Return the number of phases and the budget."""
        shape = setting.shape
        weights = setting.goal.weight_vector(shape.dims)
        return HalvingRule(shape.exists, weights, _phases(shape.groups), self.budget or 0)

    def init(self, rule: HalvingRule) -> State:
        """Return the state before any pull: everything is left."""
        (N, K), D = rule.exists.shape, len(rule.weights)
        return State(
            np.ones(N, np.bool_),
            np.zeros((N, D)),
            np.zeros((N, K), np.int64),
            np.zeros((N, K, D)),
            np.zeros(1, np.int64),
        )

    def answer(self, state: State, rule: HalvingRule) -> frozenset[int]:
        """Return the group that is left, or those that still are."""
        return frozenset(np.flatnonzero(state.groups).tolist())

    def record(self, state: State, rule: HalvingRule) -> dict[str, Any]:
        """Return what a trace shows of a phase."""
        dims = np.repeat(state.groups[:, None], len(rule.weights), axis=1)
        return {
            "groups": state.groups.copy(),
            "dims": dims,
            "arms": rule.exists[:, :, None] & dims[:, None, :],
            "accepted": state.groups & (state.groups.sum() == 1),
            "efficiency": state.efficiency.copy(),
        }

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return that the bound of the proof needs gaps that nobody knows."""
        shape = setting.shape
        return Guarantee(
            "none",
            "sequential halving has no delta: with B pulls another group than the best is named with "
            f"probability at most {3 * _phases(shape.groups) * shape.dims * (shape.arms + 1)} "
            f"exp(-B / ({64 * _phases(shape.groups) * shape.arms} c^2 H)), c = sum_d w^d sigma_d, "
            "H = max i / Delta_(i)^2 over the groups in the order of their worth, and nobody who "
            "measures knows H",
        )

    def error_bound(self, instance: Instance, goal: BestGroup) -> float:
        """Return the bound of the proof on a known instance: at most 1, and 1 if the best is not alone.

        >>> easy = Instance([[[0.0]], [[1.0]]])
        >>> float(f"{SequentialHalving(400).error_bound(easy, BestGroup([1.0])):.1e}")
        8.3e-11
        """
        self.check(Setting.for_instance(instance, goal, 0.5))
        assert self.budget is not None
        shape, weights = instance.shape, goal.weight_vector(instance.shape.dims)
        worth = np.sort(instance.efficiency @ weights)[::-1]
        gaps = (worth[0] - worth) / float(weights @ instance.scale)
        largest = np.cumsum(np.sort(shape.sizes)[::-1])  # arms of the largest groups
        phases, left, total = _phases(shape.groups), shape.groups, 0.0
        for _ in range(phases):
            half = (left + 1) // 2
            rank = half // 2 + 2
            pulls = self.budget // (phases * int(largest[left - 1]))
            total += math.exp(-pulls * gaps[rank - 1] ** 2 / 8.0)
            left = half
        return min(1.0, 3.0 * shape.dims * (shape.arms + 1) * total)


def _phases(groups: int) -> int:
    """Return how often so many groups can be halved: ceil(log2 N)."""
    return (groups - 1).bit_length()
