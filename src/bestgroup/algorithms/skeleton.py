"""A skeleton to copy: the smallest lockstep algorithm that every driver runs compiled.

It finds the best group by pulling every arm of every group that is left once a round, and drops a
group whose worth R-hat . w is more than 2 sum_d w^d beta(r) behind the largest; once that threshold
is down to epsilon ||w||_1, the group ahead is good enough. (`se` drops arms, too.) Copy the file,
and change it from the top down:

1. say here what it answers, and prove it;
2. `State` is a NamedTuple of arrays; kernels write into them;
3. kernels are explicit loops over arrays with scalar `math`: their plain and their compiled form
   must agree to the bit, which `bestgroup.testing.check_algorithm` tests;
4. a test is a *margin* that fires at a sign. It takes both ends of the box that the estimates may
   move in, so that one function serves a round and a stretch of rounds;
5. `Lockstep` tells drivers which rounds they may pass over. Leave it out, and every round is
   stepped: that is right, and slower. The jump engine asks for a family (`drivers/jump/families`).

    >>> from bestgroup.testing import check_algorithm
    >>> check_algorithm(Skeleton(), cases=2)

`bestgroup.register(Skeleton)` would make it known by its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.lockstep import a_quarter_more, count_rounds, one_clock
from bestgroup.algorithms.protocol import Kernels, Lockstep, RadiusAlgorithm, Rule, Setting
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.radii import radius_at, radius_below
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import BestGroup
from bestgroup.problem.guarantee import Guarantee


class State(NamedTuple):
    """What the algorithm knows besides the tally; `efficiency` and `round` are read by drivers."""

    groups: Bools  # [N]          groups that are left
    arms: Bools  # [N, K]         arms that exist: groups are padded to the largest
    efficiency: Floats  # [N, D]  largest means
    round: Ints  # [1]            an array, so that kernels can write it


@kernel
def plan(state: State, tally: Tally, rule: Rule) -> Ints:
    """Return how often to pull each arm now, [N, K]: it must not change anything."""
    N, K = rule.exists.shape
    pulls = np.zeros((N, K), np.int64)
    for i in range(N):
        for j in range(K):
            if state.groups[i] and state.arms[i, j]:
                pulls[i, j] = 1
    return pulls


@kernel
def worth(R: Floats, i: int, rule: Rule) -> float:
    """Return R_i . w."""
    total = 0.0
    for d in range(R.shape[1]):
        total += R[i, d] * rule.weights[d]
    return total


@kernel
def threshold(beta: float, rule: Rule) -> float:
    """Return 2 sum_d w^d sigma_d beta."""
    total = 0.0
    for d in range(len(rule.weights)):
        total += rule.weights[d] * rule.scale[d] * beta
    return 2.0 * total


@kernel
def behind_margin(low: Floats, best: float, i: int, beta: float, rule: Rule) -> float:
    """Return how far group i is behind `best`, less the threshold: it is dropped if > 0."""
    return best - worth(low, i, rule) - threshold(beta, rule)


@kernel
def is_enough(beta: float, rule: Rule) -> bool:
    """Return whether the group ahead is within epsilon ||w||_1 of the best one."""
    slack = 0.0
    for d in range(len(rule.weights)):
        slack += rule.epsilon[d] * rule.weights[d]
    return threshold(beta, rule) <= slack


@kernel
def leader_of(R: Floats, groups: Bools, rule: Rule) -> int:
    """Return the group of the largest worth that is left, the first of equals."""
    leader = -1
    for i in range(len(groups)):
        if groups[i] and (leader < 0 or worth(R, i, rule) > worth(R, leader, rule)):
            leader = i
    return leader


@kernel
def step(state: State, tally: Tally, rule: Rule) -> None:
    """Take up the pulls of a round and decide what they allow, in place."""
    N, K, D = tally.sums.shape
    state.round[0] += 1
    for i in range(N):
        for d in range(D):
            if state.groups[i]:
                most = -np.inf
                for j in range(K):
                    if state.arms[i, j]:
                        most = max(most, tally.sums[i, j, d] / tally.counts[i, j])
                state.efficiency[i, d] = most
    beta = radius_at(rule.radius, state.round[0])
    leader = leader_of(state.efficiency, state.groups, rule)
    best, enough = worth(state.efficiency, leader, rule), is_enough(beta, rule)
    for i in range(N):
        if state.groups[i] and i != leader:
            if enough or behind_margin(state.efficiency, best, i, beta, rule) > 0.0:
                state.groups[i] = False


@borrowing
def is_done(state: State, rule: Rule) -> bool:
    """Return whether the answer is final."""
    return state.groups.sum() <= 1


# What follows lets drivers pass over rounds; see `Lockstep`.


@borrowing
def is_active(state: State, i: int, j: int, d: int) -> bool:
    """Return whether a test still reads that dim of the arm."""
    return state.groups[i] and state.arms[i, j]


@kernel
def can_fire(
    state: State, low: Floats, high: Floats, lowest: Floats, clock: Ints, rule: Rule
) -> bool:
    """Return whether a group may be dropped on the way to `clock` with R in the box [low, high]."""
    beta = radius_below(rule.radius, clock[0])  # a number below all radii on the way
    if is_enough(beta, rule):
        return True
    best = worth(high, leader_of(high, state.groups, rule), rule)
    for i in range(len(state.groups)):
        if state.groups[i] and behind_margin(low, best, i, beta, rule) > 0.0:
            return True
    return False


@dataclass(frozen=True)
class Skeleton(RadiusAlgorithm):
    """The algorithm as users see it; its options are the fields of the dataclass."""

    name: ClassVar[str] = "skeleton"
    goals: ClassVar[tuple[type, ...]] = (BestGroup,)
    # The base class runs these as plain Python and drivers compile them. A subclass that overrides
    # `plan` or `step` is run by its own methods everywhere.
    kernels: ClassVar[Kernels | None] = Kernels(
        plan,
        step,
        is_done,
        lockstep=Lockstep(is_active, one_clock, can_fire, count_rounds, a_quarter_more),
    )

    def rule(self, setting: Setting) -> Rule:
        """Return the setting as the kernels see it."""
        return self.base_rule(setting, setting.goal.epsilons(setting.shape.dims), ())

    def init(self, rule: Rule) -> State:
        """Return the state before any pull."""
        N, D = len(rule.exists), len(rule.scale)
        groups, counter = np.ones(N, np.bool_), np.zeros(1, np.int64)
        return State(groups, rule.exists.copy(), np.zeros((N, D)), counter)

    def answer(self, state: State, rule: Rule) -> frozenset[int]:
        """Return the groups that the algorithm recommends."""
        return frozenset(np.flatnonzero(state.groups).tolist())

    def record(self, state: State, rule: Rule) -> dict[str, Any]:
        """Return what a trace shows of a round, and what studies read decisions from."""
        dims = np.repeat(state.groups[:, None], len(rule.scale), axis=1)
        return {
            "groups": state.groups.copy(),
            "dims": dims,
            "arms": rule.exists[:, :, None] & dims[:, None, :],
            "accepted": state.groups & (state.groups.sum() == 1),
            "efficiency": state.efficiency.copy(),
        }

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return what an answer is worth: here the proof is that of `se`."""
        return self.radius_guarantee(setting)
