"""Equal Effect Confidence Bound, EECB (paper, Algorithm 2).

delta-correct for the best group (paper, Theorem 4.1). With goal epsilon > 0 it also stops, and
answers i, when (R_i - R_j) . w + epsilon ||w||_1 > 2 sum_d w^d beta(n^d) for every other active j:
on the good event |R-hat_i . w - R_i . w| < sum_d w^d beta(n^d) for every active group, the best
group is active, and so R_i . w + epsilon ||w||_1 > R_j . w for every active j. At epsilon = 0 the
rule is the paper's to the bit.

A round first decides on what is there, then pulls: `step` ends the round that has pulled and does
lines 4 to 12 of the next one. As in the paper a round that leaves one group still pulls its batch;
`early_exit` stops before it. Both tests fire at > 0. Margins take both ends of a box, as in
`triple_elimination`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import numpy as np

from bestgroup.algorithms.effect_clock import clock_after, effect_of, focus_at
from bestgroup.algorithms.protocol import Kernels, Lockstep, RadiusAlgorithm, Rule, Setting
from bestgroup.algorithms.work import GRID, Work, predict, rounds_until
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.errors import InvalidInput
from bestgroup.inference.radii import radius_at, radius_below
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import BestGroup
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.instance import Instance


class Exits(NamedTuple):
    """Whether the batch of the round that leaves one group is spared."""

    early: bool


class Weighing(Protocol):
    """What the tests read and change of a state, whatever its clocks."""

    @property
    def groups(self) -> Bools:
        """[N]  G."""
        ...

    @property
    def arms(self) -> Bools:
        """[N, K, D]  A_d."""
        ...

    @property
    def efficiency(self) -> Floats:
        """[N, D]  R-hat."""
        ...

    @property
    def clock(self) -> Ints:
        """[D]  n^d."""
        ...

    @property
    def threshold(self) -> Floats:
        """[1]  2 sum_d w^d beta(n^d)."""
        ...


class State(NamedTuple):
    """The sets and clocks of Algorithm 2."""

    groups: Bools  # [N]       G
    arms: Bools  # [N, K, D]   A_d, of all groups
    efficiency: Floats  # [N, D]  R-hat over A_d, of active groups
    clock: Ints  # [D]         n^d
    round: Ints  # [1]         r; 0 before the first pulls
    focus: Ints  # [1]         d(r); -1 when there is nothing more to pull
    threshold: Floats  # [1]   2 sum_d w^d beta(n^d), as the last eliminations used it


def init(rule: Rule) -> State:
    """Return the sets of line 2, before its pulls."""
    N, D = len(rule.exists), len(rule.scale)
    return State(
        groups=np.ones(N, np.bool_),
        arms=np.repeat(rule.exists[:, :, None], D, axis=2),
        efficiency=np.zeros((N, D)),
        clock=np.zeros(D, np.int64),
        round=np.zeros(1, np.int64),
        focus=np.full(1, -1, np.int64),
        threshold=np.zeros(1),
    )


@kernel
def plan(state: State, tally: Tally, rule: Rule) -> Ints:
    """Return the first pull of every arm, then the batch of the focus.     lines 2, 13 to 15."""
    N, K = rule.exists.shape
    pulls = np.zeros((N, K), np.int64)
    focus = state.focus[0]
    for i in range(N):
        for j in range(K):
            # Line 2: every arm once, so that all means exist before anything is compared.
            if state.round[0] == 0:
                pulls[i, j] = 1 if rule.exists[i, j] else 0
            elif state.groups[i] and state.arms[i, j, focus]:
                # An arm that another dim has pulled further needs no pull for this one: its count
                # is ahead.
                if tally.counts[i, j] == state.clock[focus]:
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
def beaten_margin(worth_i: float, worth_j: float, threshold: float) -> float:
    """Return R_j . w - R_i . w - threshold: group i is beaten by group j if > 0.     line 5."""
    return worth_j - worth_i - threshold


@kernel
def lead_margin(worth_i: float, worth_j: float, slack: float, threshold: float) -> float:
    """Return (R_i - R_j) . w + epsilon ||w||_1 - threshold: i is good enough against j if > 0."""
    return worth_i - worth_j + slack - threshold


@kernel
def stale_margin(mean: float, best: float, beta: float, scale: float) -> float:
    """Return the distance of an arm below the best one, less 2 beta; stale if > 0.     line 9."""
    # An arm of the same group, so the two radii are equal and add up to 2 beta.
    return best - (mean + 2.0 * beta * scale)


@kernel
def begin_round(state: State, tally: Tally, rule: Rule) -> None:
    """Count the round that has pulled, and refresh R over A_d.     lines 14, 16, 17."""
    D = len(state.clock)
    state.round[0] += 1
    if state.round[0] == 1:
        for d in range(D):
            state.clock[d] = 1
    else:
        # Only the focus has pulled: the other dims keep their counts (paper, line 14).
        state.clock[state.focus[0]] += 1
    # Set again at the end of the step if there is more to pull; is_done reads it.
    state.focus[0] = -1
    refresh_efficiency(state, tally)


@kernel
def refresh_efficiency(state: Weighing, tally: Tally) -> None:
    """Set R_i^d to the largest mean over the arms of group i in A_d, for active groups."""
    N, K, D = state.arms.shape
    for i in range(N):
        if not state.groups[i]:
            continue
        for d in range(D):
            best = -np.inf
            for j in range(K):
                # Over A_d only: an arm that was dropped from d may still be pulled for another dim.
                if state.arms[i, j, d]:
                    best = max(best, tally.sums[i, j, d] / tally.counts[i, j])
            state.efficiency[i, d] = best


@kernel
def step(state: State, tally: Tally, rule: Rule) -> None:
    """End the round that has pulled; do lines 3 to 12 of the next one, in place."""
    begin_round(state, tally, rule)
    # The batch that was under way when one group was left is in: line 3 ends the loop.
    if left(state.groups) <= 1:
        return
    state.threshold[0] = threshold_at(state.clock, rule)
    drop_beaten_groups(state, rule)
    drop_stale_arms(state, tally, rule)
    if left(state.groups) > 1:
        # Not in the paper, which has epsilon = 0: a leader that is good enough ends the run.
        if rule.epsilon[0] > 0.0 and has_leader(state, rule):
            return
    # The paper pulls one batch more before line 3 is looked at; this leaves it out.
    elif rule.options.early:
        return
    state.focus[0] = focus_at(state.clock, rule)


@kernel
def left(groups: Bools) -> int:
    """Return |G|."""
    count = 0
    for active in groups:
        if active:
            count += 1
    return count


@kernel
def threshold_at(clock: Ints, rule: Rule) -> float:
    """Return 2 sum_d w^d beta(n^d)."""
    total = 0.0
    for d in range(len(clock)):
        total += effect_of(rule, d, clock[d])
    # Both groups of a comparison may be off by w . beta, hence the 2.
    return 2.0 * total


@kernel
def drop_beaten_groups(state: Weighing, rule: Rule) -> None:
    """Remove groups that another active one beats.     lines 4 to 6."""
    N = len(state.groups)
    best = -np.inf
    for j in range(N):
        if state.groups[j]:
            # Whoever beats i by the threshold is beaten to it by the best one: one comparison
            # suffices.
            best = max(best, worth(state.efficiency, j, rule))
    for i in range(N):
        if state.groups[i]:
            own = worth(state.efficiency, i, rule)
            if beaten_margin(own, best, state.threshold[0]) > 0.0:
                # Never the best one: its margin is -threshold.
                state.groups[i] = False


@kernel
def drop_stale_arms(state: Weighing, tally: Tally, rule: Rule) -> None:
    """Remove arms from A_d that another arm of their group is far above.     lines 7 to 11."""
    N, K, D = state.arms.shape
    for d in range(D):
        # By the clock of the dim, not by the counts: an arm ahead of it is only more precise.
        beta = radius_at(rule.radius, state.clock[d])
        for i in range(N):
            if not state.groups[i]:
                continue
            for j in range(K):
                if state.arms[i, j, d]:
                    mean = tally.sums[i, j, d] / tally.counts[i, j]
                    if stale_margin(mean, state.efficiency[i, d], beta, rule.scale[d]) > 0.0:
                        state.arms[i, j, d] = False


@kernel
def has_leader(state: Weighing, rule: Rule) -> bool:
    """Return whether the group ahead leads up to epsilon; then it alone stays in G."""
    R, N = state.efficiency, len(state.groups)
    leader, most = -1, -np.inf
    for i in range(N):
        # Only the group ahead can pass: anybody else is behind it already.
        if state.groups[i] and worth(R, i, rule) > most:
            leader, most = i, worth(R, i, rule)
    if not leads(R, R, state.groups, leader, state.threshold[0], rule):
        return False
    for j in range(N):
        state.groups[j] = j == leader
    return True


@kernel
def leads(low: Floats, high: Floats, groups: Bools, i: int, threshold: float, rule: Rule) -> bool:
    """Return whether group i is good enough against every other active one."""
    slack = 0.0
    for d in range(len(rule.weights)):
        slack += rule.epsilon[d] * rule.weights[d]
    # Over a box the most that i can lead by; at a point low and high are the same array.
    own = worth(high, i, rule)
    for j in range(len(groups)):
        if groups[j] and j != i:
            if not lead_margin(own, worth(low, j, rule), slack, threshold) > 0.0:
                return False
    return True


@kernel
def can_fire(
    state: Weighing, low: Floats, high: Floats, lowest: Floats, clock: Ints, rule: Rule
) -> bool:
    """Return whether any test could fire while R stays in the box and n^d goes up to `clock`.

    `lowest` [N, K, D] bounds the means of active arms from below: False means that no round can
    change the sets.
    """
    N, K, D = state.arms.shape
    threshold = 0.0
    for d in range(D):
        # The least threshold of the stretch: clocks only rise, and radii decrease.
        threshold += 2.0 * rule.weights[d] * rule.scale[d] * radius_below(rule.radius, clock[d])
    best = -np.inf
    for j in range(N):
        if state.groups[j]:
            # The opposite corners of the box are the widest apart.
            best = max(best, worth(high, j, rule))
    for i in range(N):
        if not state.groups[i]:
            continue
        if beaten_margin(worth(low, i, rule), best, threshold) > 0.0:
            return True
        if rule.epsilon[0] > 0.0 and leads(low, high, state.groups, i, threshold, rule):
            return True
    for d in range(D):
        # Likewise the least radius that the dim comes to.
        beta = radius_below(rule.radius, clock[d])
        for i in range(N):
            if not state.groups[i]:
                continue
            for j in range(K):
                if state.arms[i, j, d]:
                    if stale_margin(lowest[i, j, d], high[i, d], beta, rule.scale[d]) > 0.0:
                        return True
    return False


@borrowing
def is_done(state: State, rule: Rule) -> bool:
    """Return whether one group is left and its last batch is in.     line 3."""
    return state.round[0] > 0 and state.focus[0] < 0


@borrowing
def is_active(state: Weighing, i: int, j: int, d: int) -> bool:
    """Return whether arm j of an active group i is in A_d."""
    return state.groups[i] and state.arms[i, j, d]


@borrowing
def skip(state: State, tally: Tally, rule: Rule, rounds: int, clock: Ints) -> None:
    """Set the clocks after rounds in which no test fired."""
    state.round[0] += rounds
    for d in range(len(clock)):  # a loop compiles in a tenth of the time that a slice takes
        state.clock[d] = clock[d]
    state.focus[0] = focus_at(state.clock, rule)


# As many rounds as rewards are drawn ahead: with one clock a dim, an arm is pulled in few of them.
_AHEAD = 64


@borrowing
def horizon(state: State, rule: Rule) -> int:
    """Return how many rounds to look ahead; the first round and the last are done by themselves."""
    return _AHEAD if state.round[0] > 0 and left(state.groups) > 1 else 1


KERNELS = Kernels(
    plan,
    step,
    is_done,
    lockstep=Lockstep(is_active, clock_after, can_fire, skip, horizon),
    jump="bestgroup.drivers.jump.families.equal_effect",
)
_WALK = 11000.0  # measured: normals that a dim of an arm is worth in the jump engine


@dataclass(frozen=True)
class WeighedElimination(RadiusAlgorithm):
    """What EECB and SE share: groups are weighed, and those that are behind leave."""

    goals: ClassVar[tuple[type, ...]] = (BestGroup,)

    @property
    def exits(self) -> Exits:
        """When it may stop besides one group being left."""
        return Exits(early=True)

    def rule(self, setting: Setting) -> Rule:
        """Return the rule for the kernels."""
        epsilon = setting.goal.epsilons(setting.shape.dims)
        return self.base_rule(setting, epsilon, self.exits)

    def answer(self, state: Weighing, rule: Rule) -> frozenset[int]:
        """Return G, the groups that are left.     line 19."""
        return frozenset(np.flatnonzero(state.groups).tolist())

    def record(self, state: Weighing, rule: Rule) -> dict[str, Any]:
        """Return what a trace shows of a round."""
        active = np.repeat(state.groups[:, None], len(state.clock), axis=1)
        return {
            "groups": state.groups.copy(),
            "dims": active,
            "arms": state.arms & active[:, None, :],
            "accepted": state.groups & (state.groups.sum() == 1),
            "efficiency": state.efficiency.copy(),
            "clock": state.clock.copy(),
            "threshold": float(state.threshold[0]),
        }

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the correctness of Theorem 4.1, whose proof holds for any clocks."""
        return self.radius_guarantee(setting)


@dataclass(frozen=True)
class EqualEffect(WeighedElimination):
    """EECB: pulls for the dim whose uncertainty weighs most (paper, Algorithm 2)."""

    early_exit: bool = False

    name: ClassVar[str] = "eecb"
    decides_first: ClassVar[bool] = True
    kernels: ClassVar[Kernels | None] = KERNELS

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(cast(object, self.early_exit), bool):
            raise InvalidInput(f"early_exit must be True or False; got {self.early_exit!r}")

    @property
    def exits(self) -> Exits:
        """When it may stop besides one group being left."""
        return Exits(self.early_exit)

    def init(self, rule: Rule) -> State:
        """Return the state before any pull."""
        return init(rule)

    def record(self, state: Any, rule: Rule) -> dict[str, Any]:
        """Return what a trace shows of a round."""
        return {**super().record(state, rule), "focus": int(state.focus[0])}

    def work(self, instance: Instance, setting: Setting) -> Work:
        """Return the work of a run in which means are known.

        A group leaves when 2 sum_d w^d beta(n^d) is the distance of its worth to the best one's,
        with equal terms; an arm leaves a dim when 2 beta is its distance to the best one there, and
        is pulled by the slowest dim.
        """
        rule = self.rule(setting)
        radii = np.array([radius_at(rule.radius, int(r)) for r in GRID])
        share, dims = rule.weights * rule.scale, len(rule.scale)
        worth = instance.efficiency @ rule.weights
        distance = worth.max() - worth
        others = np.delete(distance, int(worth.argmax()))
        distance[worth.argmax()] = others.min(initial=np.inf)
        slack = float(rule.epsilon @ rule.weights)
        leave = rounds_until((distance + slack)[:, None] / (2.0 * dims * share), radii)
        lacks = (instance.efficiency[:, None, :] - instance.padded_means) / rule.scale
        stay = rounds_until(0.5 * np.nan_to_num(lacks), radii)
        pulls = np.minimum(stay, leave[:, None, :]).max(axis=2)
        return predict(instance, float(pulls[rule.exists].sum()) * dims, _WALK)
