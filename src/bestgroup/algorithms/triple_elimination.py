"""Triple Elimination, TE (paper, Algorithm 1), and its switches AGE and GE.

(epsilon, delta)-PAC for Pareto groups (paper, Theorem 3.3; for AGE the remark after it, for GE
Appendix D). Each test is a margin that fires at >= 0. Margins take a lower and an upper efficiency:
at a point the two are the same array and the margin is the paper's; over a stretch of rounds they
are the ends of a box and the margin is the largest that any point of the box can have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.lockstep import a_quarter_more, count_rounds, one_clock
from bestgroup.algorithms.protocol import Kernels, Lockstep, RadiusAlgorithm, Rule, Setting
from bestgroup.algorithms.work import GRID, Walks, Work, lockstep_draws, predict
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.radii import radius_at, radius_below
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import ParetoGroups
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.instance import Instance


class Phases(NamedTuple):
    """Which eliminations take place besides that of groups."""

    dimensions: bool
    arms: bool


class State(NamedTuple):
    """The sets of Algorithm 1."""

    groups: Bools  # [N]        G        undecided groups
    dims: Bools  # [N, D]       D_i      unresolved dimensions
    arms: Bools  # [N, K, D]    A_{i,d}  arms that may still attain R_i^d
    efficiency: Floats  # [N, D]  R-hat  a resolved entry is never written again
    accepted: Bools  # [N]      P        the answer so far
    rejected: Bools  # [N]               groups found to be dominated
    standing: Bools  # [N]      P_1      of the last round
    round: Ints  # [1]          r        rounds done


def init(rule: Rule) -> State:
    """Return the sets of line 2: everything is active."""
    N, D = len(rule.exists), len(rule.epsilon)
    arms = np.repeat(rule.exists[:, :, None], D, axis=2)
    return State(
        groups=np.ones(N, np.bool_),
        dims=np.ones((N, D), np.bool_),
        arms=arms,
        efficiency=np.zeros((N, D)),
        accepted=np.zeros(N, np.bool_),
        rejected=np.zeros(N, np.bool_),
        standing=np.zeros(N, np.bool_),
        round=np.zeros(1, np.int64),
    )


@kernel
def plan(state: State, tally: Tally, rule: Rule) -> Ints:
    """Return 1 for each arm of an active group that is active in an unresolved dim.     line 4."""
    N, K, D = state.arms.shape
    pulls = np.zeros((N, K), np.int64)
    for i in range(N):
        if not state.groups[i]:
            continue
        for j in range(K):
            # One unresolved dim that may need the arm is enough: a pull shows all dims.
            for d in range(D):
                if state.dims[i, d] and state.arms[i, j, d]:
                    pulls[i, j] = 1
                    break
    return pulls


# Margins of one pair in one dim; those of whole groups, below, are their minima and maxima. An engine
# that looks at single pairs reads these.


@kernel
def reject_margin_in(low_i: float, high_j: float, beta: float, scale: float) -> float:
    """Return R_j^d - R_i^d - 2 beta, of which `reject_margin` is the least over dims."""
    # The two means are off by at most beta each, so a distance of 2 beta proves the order.
    return (high_j - low_i) - 2.0 * beta * scale


@kernel
def apart_margin(low_i: float, high_i: float, low_j: float, high_j: float, wanted: float) -> float:
    """Return |R_j^d - R_i^d| - `wanted`, of which `resolve_margin` is the least over groups."""
    # Over a box the largest distance is that of two opposite corners; at a point both are |R_j -
    # R_i|.
    return max(high_j - low_i, high_i - low_j) - wanted


@kernel
def apart_wanted(beta: float, scale: float, epsilon: float) -> float:
    """Return 4 beta + epsilon, the distance of `apart_margin`."""
    # R_i stays as it is, R_j may still move by 2 beta: then 2 beta + epsilon are left of the distance,
    # which is what every later test asks for.
    return 4.0 * beta * scale + epsilon


@kernel
def excess_margin_in(
    high_i: float, low_j: float, beta: float, scale: float, epsilon: float
) -> float:
    """Return R_i^d - R_j^d + epsilon - 2 beta, of which `excess_margin` is the largest over dims."""
    return (high_i - low_j + epsilon) - 2.0 * beta * scale


@kernel
def reject_margin(low: Floats, high: Floats, i: int, j: int, beta: float, rule: Rule) -> float:
    """Return m(R_i, R_j) - 2 beta: group i is dominated by group j.     line 6."""
    least = np.inf
    for d in range(low.shape[1]):
        least = min(least, reject_margin_in(low[i, d], high[j, d], beta, rule.scale[d]))
        # Callers ask for the sign alone, and no dim can raise a minimum.
        if least < 0.0:
            break
    return least


@kernel
def resolve_margin(
    low: Floats, high: Floats, groups: Bools, i: int, d: int, beta: float, rule: Rule
) -> float:
    """Return min_j |R_j^d - R_i^d| - (4 beta + epsilon): dim d of i is resolved.     line 9."""
    least = np.inf
    wanted = apart_wanted(beta, rule.scale[d], rule.epsilon[d])
    for j in range(len(groups)):
        # Groups that are decided compare with nothing any more: only G counts.
        if groups[j] and j != i:
            apart = apart_margin(low[i, d], high[i, d], low[j, d], high[j, d], wanted)
            least = min(least, apart)
            # As above: the sign is settled by the first group that is near.
            if least < 0.0:
                break
    return least


@kernel
def stale_margin(high: float, mean: float, beta: float, scale: float) -> float:
    """Return R_i^d - 2 beta - mean: an arm cannot attain the efficiency.     line 12."""
    return (high - 2.0 * beta * scale) - mean


@kernel
def excess_margin(low: Floats, high: Floats, i: int, j: int, beta: float, rule: Rule) -> float:
    """Return M_epsilon(R_i, R_j) - 2 beta: group i is not beaten by epsilon by group j."""
    most = -np.inf
    for d in range(low.shape[1]):
        own, other, scale = high[i, d], low[j, d], rule.scale[d]
        most = max(most, excess_margin_in(own, other, beta, scale, rule.epsilon[d]))
        # A maximum that has reached the threshold stays there.
        if most >= 0.0:
            break
    return most


@kernel
def stands(low: Floats, high: Floats, groups: Bools, i: int, beta: float, rule: Rule) -> bool:
    """Return whether group i is in P_1: beaten by no active group.     line 14."""
    for j in range(len(groups)):
        # Written as "not >=" so that a NaN would keep the group undecided.
        if groups[j] and j != i and not excess_margin(low, high, i, j, beta, rule) >= 0.0:
            return False
    return True


@kernel
def settles(
    low: Floats, high: Floats, groups: Bools, standing: Bools, i: int, beta: float, rule: Rule
) -> bool:
    """Return whether a standing i is in P_2: no group that does not stand needs it.     line 15."""
    for j in range(len(groups)):
        # Only groups outside P_1 may still have to be beaten by i to be rejected (paper, line 15).
        if groups[j] and not standing[j] and j != i:
            if not excess_margin(low, high, j, i, beta, rule) >= 0.0:
                return False
    return True


@kernel
def refresh_efficiency(state: State, tally: Tally) -> None:
    """Set R_i^d to the largest mean over A_{i,d}, unresolved dims of active groups.     line 4."""
    N, K, D = state.arms.shape
    for i in range(N):
        # A decided group is frozen: its arms are pulled no more.
        if not state.groups[i]:
            continue
        for d in range(D):
            # A resolved dim adheres to the value that resolved it (line 9).
            if state.dims[i, d]:
                best = -np.inf
                for j in range(K):
                    # Over active arms only: a dropped arm that other dims still pull could exceed R
                    # (docs/paper.md).
                    if state.arms[i, j, d]:
                        best = max(best, tally.sums[i, j, d] / tally.counts[i, j])
                state.efficiency[i, d] = best


@kernel
def step(state: State, tally: Tally, rule: Rule) -> None:
    """Do one round's eliminations, lines 5 to 18, in place."""
    state.round[0] += 1
    # All active arms have one count, the round: one radius serves the whole round.
    beta = radius_at(rule.radius, state.round[0])
    refresh_efficiency(state, tally)
    # The order of the paper; each phase sees the sets that the one before has left.
    reject(state, beta, rule)
    if rule.options.dimensions:
        resolve(state, beta, rule)
    if rule.options.arms:
        drop_stale_arms(state, tally, beta, rule)
    accept(state, beta, rule)


@kernel
def reject(state: State, beta: float, rule: Rule) -> None:
    """Remove dominated groups, all judged against the same G.     lines 5 to 7."""
    R, G = state.efficiency, state.groups
    N = len(G)
    # Marked first and removed after: the removal of one group must not save another.
    out = np.zeros(N, np.bool_)
    for i in range(N):
        if not G[i]:
            continue
        for j in range(N):
            if G[j] and j != i and reject_margin(R, R, i, j, beta, rule) >= 0.0:
                out[i] = True
                break
    for i in range(N):
        if out[i]:
            # Told apart from P, since both leave G.
            state.rejected[i] = True
            G[i] = False


@kernel
def resolve(state: State, beta: float, rule: Rule) -> None:
    """Remove resolved dims; R keeps the value it has there.     lines 8 to 10."""
    R = state.efficiency
    N, D = R.shape
    for i in range(N):
        for d in range(D):
            # In place is right here: the test reads R and G, never D_i.
            if state.groups[i] and state.dims[i, d]:
                if resolve_margin(R, R, state.groups, i, d, beta, rule) >= 0.0:
                    state.dims[i, d] = False


@kernel
def drop_stale_arms(state: State, tally: Tally, beta: float, rule: Rule) -> None:
    """Remove arms far below R from the unresolved dims of active groups.     lines 11 to 13."""
    N, K, D = state.arms.shape
    for i in range(N):
        if not state.groups[i]:
            continue
        for d in range(D):
            if not state.dims[i, d]:
                continue
            for j in range(K):
                if state.arms[i, j, d]:
                    # Active arms were pulled this round, so the count is positive.
                    mean = tally.sums[i, j, d] / tally.counts[i, j]
                    if stale_margin(state.efficiency[i, d], mean, beta, rule.scale[d]) >= 0.0:
                        state.arms[i, j, d] = False


@kernel
def accept(state: State, beta: float, rule: Rule) -> None:
    """Move P_2 from G to P; P_1 and P_2 are judged against the same G.     lines 14 to 17."""
    R, G = state.efficiency, state.groups
    N = len(G)
    any_stands = False
    for i in range(N):
        state.standing[i] = G[i] and stands(R, R, G, i, beta, rule)
        # Most rounds end here, without the second double loop.
        any_stands = any_stands or state.standing[i]
    if not any_stands:
        return
    settled = np.zeros(N, np.bool_)
    for i in range(N):
        # P_2 is judged against P_1 of all groups, so the first loop has to be done.
        settled[i] = state.standing[i] and settles(R, R, G, state.standing, i, beta, rule)
    for i in range(N):
        if settled[i]:
            state.accepted[i] = True
            G[i] = False


@kernel
def can_fire(
    state: State, low: Floats, high: Floats, lowest: Floats, clock: Ints, rule: Rule
) -> bool:
    """Return whether any test could fire up to round `clock`, with R in the box [low, high]."""
    # Radii decrease: the one at the end of the stretch lets most tests fire.
    return can_fire_at(state, low, high, lowest, radius_below(rule.radius, clock[0]), rule)


@kernel
def can_fire_at(
    state: State, low: Floats, high: Floats, lowest: Floats, beta: float, rule: Rule
) -> bool:
    """Return whether any test of `step` could fire while R stays in the box [low, high].

    `lowest` [N, K, D] bounds the means of active arms from below and `beta` the radius: False means
    that no round of the stretch can change the state.
    """
    G = state.groups
    N, K, D = state.arms.shape
    standing = np.zeros(N, np.bool_)
    for i in range(N):
        if not G[i]:
            continue
        for j in range(N):
            # Tests in the order of a round; margins of a box are at least those of its points.
            if G[j] and j != i and reject_margin(low, high, i, j, beta, rule) >= 0.0:
                return True
        for d in range(D):
            if not state.dims[i, d]:
                continue
            if rule.options.dimensions:
                if resolve_margin(low, high, G, i, d, beta, rule) >= 0.0:
                    return True
            if rule.options.arms:
                for j in range(K):
                    if state.arms[i, j, d]:
                        # R at its highest against the arm at its lowest: the widest distance in the
                        # box.
                        if stale_margin(high[i, d], lowest[i, j, d], beta, rule.scale[d]) >= 0.0:
                            return True
        # More groups stand in the box than at any of its points, which only makes settling easier.
        standing[i] = stands(low, high, G, i, beta, rule)
    for i in range(N):
        if standing[i] and settles(low, high, G, standing, i, beta, rule):
            return True
    return False


# The least positive number: what a radius that goes to zero passes last.
_LEAST = 5e-324


@kernel
def is_stuck(state: State, rule: Rule) -> bool:
    """Return whether nothing will be pulled any more and no test can ever fire.

    Possible with epsilon = 0 only, off the good event: all dims are resolved at values that tie.
    """
    N, K, D = state.arms.shape
    for i in range(N):
        for d in range(D):
            # Something is still pulled, so R can still move.
            if state.groups[i] and state.dims[i, d]:
                return False
    R = state.efficiency
    # R is frozen and the radius goes to 0: what does not fire at the least radius never will.
    # No arm is active in an unresolved dim, so the means of arms are not read.
    return not can_fire_at(state, R, R, np.empty((N, K, D)), _LEAST, rule)


@borrowing
def is_done(state: State, rule: Rule) -> bool:
    """Return whether no group is undecided.     line 3."""
    for active in state.groups:  # a loop compiles in a tenth of the time that `any` takes
        if active:
            return False
    return True


@borrowing
def is_active(state: State, i: int, j: int, d: int) -> bool:
    """Return whether arm j of group i is in A_{i,d} of an unresolved dim of an active group."""
    return state.groups[i] and state.dims[i, d] and state.arms[i, j, d]


KERNELS = Kernels(
    plan,
    step,
    is_done,
    is_stuck,
    lockstep=Lockstep(is_active, one_clock, can_fire, count_rounds, a_quarter_more),
    jump="bestgroup.drivers.jump.families.elimination",
)
# Measured: normals that a dim of an arm is worth in the jump engine, and without eliminations of
# arms and dims.
_WALK, _PLAIN_WALK = 2000.0, 400.0


@dataclass(frozen=True)
class TripleElimination(RadiusAlgorithm):
    """TE: eliminates groups, dimensions and arms (paper, Algorithm 1)."""

    name: ClassVar[str] = "te"
    goals: ClassVar[tuple[type, ...]] = (ParetoGroups,)
    phases: ClassVar[Phases] = Phases(dimensions=True, arms=True)
    kernels: ClassVar[Kernels | None] = KERNELS

    def rule(self, setting: Setting) -> Rule:
        """Return the rule for the kernels."""
        epsilon = setting.goal.epsilons(setting.shape.dims)
        return self.base_rule(setting, epsilon, self.phases)

    def init(self, rule: Rule) -> State:
        """Return the state before any pull."""
        return init(rule)

    def answer(self, state: State, rule: Rule) -> frozenset[int]:
        """Return P.     line 20."""
        return frozenset(np.flatnonzero(state.accepted).tolist())

    def record(self, state: State, rule: Rule) -> dict[str, Any]:
        """Return what a trace shows of a round."""
        active = state.dims & state.groups[:, None]
        return {
            "groups": state.groups.copy(),
            "dims": active,
            "arms": state.arms & active[:, None, :],
            "accepted": state.accepted.copy(),
            "rejected": state.rejected.copy(),
            "standing": state.standing.copy(),
            "radius": radius_at(rule.radius, int(state.round[0])),
            "efficiency": state.efficiency.copy(),
        }

    def work(self, instance: Instance, setting: Setting) -> Work:
        """Return the work of a run in which means are known: a test fires at twice the radius."""
        rule = self.rule(setting)
        radii = 2.0 * np.array([radius_at(rule.radius, int(r)) for r in GRID])
        walks = Walks(rule.exists, rule.epsilon, rule.scale, radii, rule.options.arms)
        walk = _WALK if rule.options.arms else _PLAIN_WALK
        return predict(instance, lockstep_draws(instance, walks), walk)

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property of Theorem 3.3."""
        return self.radius_guarantee(setting)


@dataclass(frozen=True)
class ArmGroupElimination(TripleElimination):
    """AGE: TE without the elimination of dimensions (paper, section 5.1)."""

    name: ClassVar[str] = "age"
    phases: ClassVar[Phases] = Phases(dimensions=False, arms=True)


@dataclass(frozen=True)
class GroupElimination(TripleElimination):
    """GE: TE that eliminates groups only (paper, section 5.1).

    On groups of one arm each it is Algorithm 1 of Auer, Chiang, Ortner and Drugan (2016, "Pareto
    front identification from stochastic bandit feedback").
    """

    name: ClassVar[str] = "ge"
    phases: ClassVar[Phases] = Phases(dimensions=False, arms=False)
