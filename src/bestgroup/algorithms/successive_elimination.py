"""Successive elimination, SE, for the best group: one clock for all arms.

Even-Dar, Mannor and Mansour (2006, "Action elimination and stopping conditions", Algorithm 3) pull
every arm that is left once a round and drop those that are two radii behind. Here an arm stays while
some dim of its group may need it, a group is worth R-hat . w, and it is dropped when it is behind by
2 sum_d w^d beta(r). EECB differs in its clocks: it pulls for the dim whose uncertainty weighs most.

delta-correct for the best group: on the event that every mean is within beta(r) sigma_d of its
truth at every round, of probability at least 1 - delta (the radius is a union over all arms, dims
and rounds), no arm that attains R_i^d is ever dropped from d, so |R-hat_i . w - R_i . w| < sum_d w^d
sigma_d beta(r) for every group that is left, and the best one is never behind by twice that. With
goal epsilon > 0 it also stops as EECB does, for the same reason. All tests fire at > 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.equal_effect import (
    WeighedElimination,
    can_fire,
    drop_beaten_groups,
    drop_stale_arms,
    has_leader,
    is_active,
    left,
    refresh_efficiency,
    threshold_at,
)
from bestgroup.algorithms.lockstep import a_quarter_more, count_rounds, one_clock
from bestgroup.algorithms.protocol import Kernels, Lockstep, Rule, Setting
from bestgroup.algorithms.work import GRID, Work, predict, rounds_until
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.radii import radius_at
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.instance import Instance


class State(NamedTuple):
    """The groups and arms that are left."""

    groups: Bools  # [N]
    arms: Bools  # [N, K, D]    arms that may still attain R_i^d
    efficiency: Floats  # [N, D]  R-hat over them
    clock: Ints  # [D]          the round, for every dim
    round: Ints  # [1]
    threshold: Floats  # [1]    2 sum_d w^d beta(r) of the last round


def init(rule: Rule) -> State:
    """Return the state before any pull: everything is left."""
    N, D = len(rule.exists), len(rule.scale)
    return State(
        groups=np.ones(N, np.bool_),
        arms=np.repeat(rule.exists[:, :, None], D, axis=2),
        efficiency=np.zeros((N, D)),
        clock=np.zeros(D, np.int64),
        round=np.zeros(1, np.int64),
        threshold=np.zeros(1),
    )


@kernel
def plan(state: State, tally: Tally, rule: Rule) -> Ints:
    """Return 1 for each arm that is left in some dim of a group that is left."""
    N, K, D = state.arms.shape
    pulls = np.zeros((N, K), np.int64)
    for i in range(N):
        for j in range(K):
            for d in range(D):
                # One dim that may need it is enough.
                if is_active(state, i, j, d):
                    pulls[i, j] = 1
                    break
    return pulls


@kernel
def step(state: State, tally: Tally, rule: Rule) -> None:
    """Drop groups and arms that are behind, then look for a leader, in place."""
    state.round[0] += 1
    for d in range(len(state.clock)):
        # EECB has a clock for each dim; here they all are the round, so its tests serve unchanged.
        state.clock[d] = state.round[0]
    refresh_efficiency(state, tally)
    state.threshold[0] = threshold_at(state.clock, rule)
    # Groups first: arms of a group that has left need no test.
    drop_beaten_groups(state, rule)
    drop_stale_arms(state, tally, rule)
    # With epsilon = 0 no lead is good enough before all others are out.
    if left(state.groups) > 1 and rule.epsilon[0] > 0.0:
        has_leader(state, rule)


@borrowing
def is_done(state: State, rule: Rule) -> bool:
    """Return whether one group is left; as in EECB a group that is alone is pulled once."""
    # Without a pull there would be no mean to answer with.
    return state.round[0] > 0 and left(state.groups) <= 1


_WALK = 11000.0  # normals that a dim of an arm is worth in the jump engine: that of EECB


@dataclass(frozen=True)
class SuccessiveElimination(WeighedElimination):
    """SE: pulls all that is left once a round, drops what is behind (Even-Dar et al., 2006)."""

    name: ClassVar[str] = "se"
    kernels: ClassVar[Kernels | None] = Kernels(
        plan,
        step,
        is_done,
        lockstep=Lockstep(is_active, one_clock, can_fire, count_rounds, a_quarter_more),
        jump="bestgroup.drivers.jump.families.equal_effect",
    )

    def init(self, rule: Rule) -> State:
        """Return the state before any pull."""
        return init(rule)

    def work(self, instance: Instance, setting: Setting) -> Work:
        """Return the work of a run in which means are known: tests fire at twice the radius."""
        rule = self.rule(setting)
        radii = 2.0 * np.array([radius_at(rule.radius, int(r)) for r in GRID])
        worth = instance.efficiency @ rule.weights
        behind = worth.max() - worth
        behind[worth.argmax()] = np.delete(behind, worth.argmax()).min(initial=np.inf)
        slack = float(rule.epsilon @ rule.weights)
        leave = rounds_until((behind + slack) / float(rule.weights @ rule.scale), radii)
        lacks = (instance.efficiency[:, None, :] - instance.padded_means) / rule.scale
        stay = np.minimum(rounds_until(np.nan_to_num(lacks), radii), leave[:, None, None])
        return predict(instance, float(stay[rule.exists].sum()), _WALK)
