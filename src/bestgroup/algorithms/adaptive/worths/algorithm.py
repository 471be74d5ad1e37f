"""Adaptive identification with limits that arms must keep, and for every worth of a group.

**Setting.** `Measure` says which arms count and what a group is worth: an answer is right if it is
right for some set F of arms between F_0, which keep all limits, and F_1, which are beyond none by more
than its tolerance.

**Rule.** Boxes of all arms, cut by all earlier ones, give the arms that count and those that are barred,
and bounds lower_i^d <= upper_i^d of the worths (`inference.worths`). A group is out once too few of its
arms are not barred, or once lower_j > upper_i in every dim for some j (best group: lower_j . w > upper_i
. w). It is in once lower_i^d + epsilon_d >= upper_j^d in some d for every other j that is not out (best
group: lower_i . w + epsilon ||w||_1 >= upper_j . w), and its lower bounds are known. What is decided
stays.

**Theorem.** If each bound of a box fails with probability at most `Measure.share` times delta, the answer
is wrong with probability at most delta, whatever rule chooses the pulls. The proof is in
docs/theory.md.

**Independent arms.** Where a group is worth its best arm, there are limits, and the goal is Pareto groups
or has one dim, evidence on pairs of arms takes the place of boxes in comparisons, after a warm-up that
shares delta out: `pairs`, `warmup`, `split`.

**The average** of independent arms with a known scale is bounded by the sum over all pulls of a group,
whose arms are pulled equally often; see `inference.certificate.worths`.

**It ends** with probability 1 if every limit has a tolerance, or no mean lies on a limit, and epsilon > 0
or no two worths that are compared are equal: every arm that may count is pulled at least t / (25 A)
times, so all boxes shrink to their means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from bestgroup.algorithms.adaptive.algorithm import check_batch
from bestgroup.algorithms.adaptive.best.algorithm import costs_of
from bestgroup.algorithms.adaptive.pareto.ledger import Levels
from bestgroup.algorithms.adaptive.worths.aim import aim, dot, is_settled
from bestgroup.algorithms.adaptive.worths.pairs import (
    is_left,
    is_near,
    is_over,
    leading,
    note_pairs,
)
from bestgroup.algorithms.adaptive.worths.split import share_out
from bestgroup.algorithms.adaptive.worths.state import (
    IN,
    OUT,
    PROVING,
    UNDECIDED,
    WARMING,
    State,
    WorthRule,
    init,
)
from bestgroup.algorithms.adaptive.worths.warmup import begin, enter, pool, set_variance
from bestgroup.algorithms.protocol import Algorithm, Grounds, Kernels, Setting, proven_for
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.certificate.worths import check_measured_goal, rests_on_sums
from bestgroup.inference.confidence_sequences.boxes import BoxRule, cut_arm_box
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.inference.evalues.pair_wealth import ROOM
from bestgroup.inference.evalues.wealth import BETS
from bestgroup.inference.tally import Tally
from bestgroup.inference.worths import (
    BARRED,
    COUNTS,
    average,
    limit_rows,
    set_worths,
    standing_of,
)
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.guarantee import SEVERAL_ARMS, SINGLE_ARMS, Guarantee

_FIRST = 4  # pulls of every arm before anything is decided
_WARM = 8  # the same where there is a warm-up
_SCOUTED = 0.1  # of the pulls that every comparison that is needed seems to take end it
MOST_CLAIMS = 2_000_000  # that are kept; beyond, boxes compare


@kernel
def plan(state: State, tally: Tally, rule: WorthRule) -> Ints:
    """Return the next pulls, [N, K]."""
    pulls = state.want.copy()
    if state.round[0] == 0:
        for i in range(pulls.shape[0]):
            for j in range(rule.sizes[i]):
                pulls[i, j] = _WARM if rule.pairs else _FIRST
    return pulls


@kernel
def step(state: State, tally: Tally, rule: WorthRule) -> None:
    """Take up the pulls, decide what they allow, and set whom to pull next."""
    state.round[0] += 1
    narrow(state, tally, rule)
    if rule.sums:
        cut_averages(state, tally, rule)
    else:
        low, high, known = state.low, state.high, state.standing
        set_worths(low, high, known, rule.sizes, rule.ranks, state.lower, state.upper)
    set_estimates(state, tally, rule)
    drop_barred(state)
    if rule.pairs:
        if state.phase[0] == PROVING:
            decide_pairs(state, rule, np.zeros((ROOM, BETS)))
    elif rule.pareto:
        decide_pareto(state, rule)
    else:
        decide_best(state, rule)
    if not is_done(state, rule):
        aim(state, tally, rule)
        if state.phase[0] == WARMING and state.least[0] >= _SCOUTED:
            state.phase[0] = PROVING
            share_out(state, rule)
            begin(state, tally, rule)


@borrowing
def narrow(state: State, tally: Tally, rule: WorthRule) -> None:
    """Cut the boxes of arms with new pulls, and see whether they count."""
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            if state.boxed[i, j] == tally.counts[i, j]:
                continue
            state.boxed[i, j] = tally.counts[i, j]
            cut_arm_box(rule.box, tally, i, j, state.low, state.high)
            for d in range(state.low.shape[2]):
                state.means[i, j, d] = tally.sums[i, j, d] / float(tally.counts[i, j])
            if state.standing[i, j] != COUNTS and state.standing[i, j] != BARRED:
                known = standing_of(state.low[i, j], state.high[i, j], rule.limits)
                state.standing[i, j] = known
            if rule.pairs and state.phase[0] == PROVING:
                enter(state, tally, rule, i, j)
    if rule.pairs and state.phase[0] == WARMING:
        follow_spread(state, tally, rule)


@borrowing
def follow_spread(state: State, tally: Tally, rule: WorthRule) -> None:
    """Set what the warm-up sees of variances."""
    if state.round[0] == 1:
        pool(state, tally, rule)
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            set_variance(state, tally, rule, i, j)


@borrowing
def cut_averages(state: State, tally: Tally, rule: WorthRule) -> None:
    """Cut the bounds of the averages by the sums over all pulls of each group."""
    for i in range(len(rule.sizes)):
        n = 0.0
        for j in range(rule.sizes[i]):
            n += float(tally.counts[i, j])
        edge = mixture_edge(n, rule.alpha) / n
        for d in range(state.lower.shape[1]):
            total = 0.0
            for j in range(rule.sizes[i]):
                total += tally.sums[i, j, d]
            wide = rule.box.scale[d] * edge
            state.lower[i, d] = max(state.lower[i, d], total / n - wide)
            state.upper[i, d] = min(state.upper[i, d], total / n + wide)


@borrowing
def set_estimates(state: State, tally: Tally, rule: WorthRule) -> None:
    """Set which arms seem to count, and what groups seem to be worth."""
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            state.seems[i, j] = state.standing[i, j] == COUNTS
            if state.standing[i, j] != COUNTS and state.standing[i, j] != BARRED:
                state.seems[i, j] = True
                for k in range(len(rule.limits)):
                    d = int(rule.limits[k, 0])
                    beyond = rule.limits[k, 1] * (state.means[i, j, d] - rule.limits[k, 2])
                    if beyond > 0.5 * rule.limits[k, 3]:
                        state.seems[i, j] = False
        for d in range(state.worth.shape[1]):
            if rule.ranks[i] == 0:
                state.worth[i, d] = average(state.means, i, d, rule.sizes[i])
            else:
                state.worth[i, d] = kth_mean(state, rule, i, d)


@borrowing
def kth_mean(state: State, rule: WorthRule, i: int, d: int) -> float:
    """Return the mean of the group's rank among arms that seem to count; -inf if there are too few."""
    for j in range(rule.sizes[i]):
        if not state.seems[i, j]:
            continue
        above = 0
        for k in range(rule.sizes[i]):
            if k != j and state.seems[i, k]:
                more = state.means[i, k, d] - state.means[i, j, d]
                if more > 0.0 or (more == 0.0 and k < j):
                    above += 1
        if above == rule.ranks[i] - 1:
            return state.means[i, j, d]
    return -math.inf


@borrowing
def drop_barred(state: State) -> None:
    """Put out groups of which too few arms may count."""
    for i in range(len(state.status)):
        if state.status[i] == UNDECIDED and state.upper[i, 0] == -math.inf:
            state.status[i] = OUT


@borrowing
def decide_pareto(state: State, rule: WorthRule) -> None:
    """Decide the groups that bounds of worths decide, for the goal of Pareto groups."""
    N, D = state.lower.shape
    for i in range(N):
        if state.status[i] != UNDECIDED:
            continue
        for j in range(N):
            below = j != i
            for d in range(D):
                if not state.lower[j, d] > state.upper[i, d]:
                    below = False
            if below:
                state.status[i], state.beaten_by[i] = OUT, j
                break
    for i in range(N):
        if state.status[i] != UNDECIDED or not state.lower[i, 0] > -math.inf:
            continue
        safe = True
        for j in range(N):
            if j != i and state.status[j] != OUT and not is_settled(state, rule, i, j):
                safe = False
        if safe:
            state.status[i] = IN


@borrowing
def decide_pairs(state: State, rule: WorthRule, room: Floats) -> None:
    """Decide the groups that evidence on pairs of arms decides; see `pairs`."""
    N = len(state.status)
    for i in range(N):
        for j in range(N):
            if i != j and is_left(state, j):
                note_pairs(state, rule, i, j, room)
    for j in range(N):
        for i in range(N):
            if i != j and state.status[j] == UNDECIDED and leading(state, rule, i, 0) >= 0:
                if is_over(state, rule, i, j):
                    state.status[j], state.beaten_by[j] = OUT, i
    first = -1
    for i in range(N):
        if state.status[i] != UNDECIDED or leading(state, rule, i, 0) < 0:
            continue
        safe = True
        for j in range(N):
            if j != i and is_left(state, j) and not is_near(state, rule, i, j):
                safe = False
        if safe and rule.pareto:
            state.status[i] = IN
        elif safe and (first < 0 or state.worth[i, 0] > state.worth[first, 0]):
            first = i
    if first >= 0:
        state.status[first] = IN


@borrowing
def decide_best(state: State, rule: WorthRule) -> None:
    """Put groups out that are below another one, and answer if one is ahead of all that are left."""
    N = len(state.status)
    for k in range(N):
        if state.status[k] != UNDECIDED:
            continue
        most = dot(rule.weights, state.upper, k)
        for i in range(N):
            if i != k and dot(rule.weights, state.lower, i) > most:
                state.status[k], state.beaten_by[k] = OUT, i
    first, top = -1, -math.inf
    for i in range(N):
        least = dot(rule.weights, state.lower, i)
        if state.status[i] != UNDECIDED or not least > -math.inf:
            continue
        ahead = True
        for k in range(N):
            if k != i and state.status[k] != OUT:
                if not least + rule.slack >= dot(rule.weights, state.upper, k):
                    ahead = False
        if ahead and least > top:
            first, top = i, least
    if first >= 0:
        state.status[first] = IN


@borrowing
def is_done(state: State, rule: WorthRule) -> bool:
    """Return whether the answer is final: nothing is undecided, or the best group is known."""
    if state.round[0] == 0:
        return False
    for i in range(len(state.status)):
        if not rule.pareto and state.status[i] == IN:
            return True
    for i in range(len(state.status)):
        if state.status[i] == UNDECIDED:
            return False
    return True


@dataclass(frozen=True)
class AdaptiveWorths(Algorithm):
    """Pulls what the bounds of worths lack most; `batch` is that of `Adaptive`."""

    batch: int | float = 0.01

    name: ClassVar[str] = "adaptive"
    reads_values: ClassVar[bool] = True
    takes_measure: ClassVar[bool] = True
    kernels: ClassVar[Kernels | None] = Kernels(plan, step, is_done, values=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch", check_batch(self.batch))

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if the setting is none that this part answers."""
        super().check(setting)
        check_measured_goal(setting.goal)

    def by_pairs(self, setting: Setting) -> bool:
        """Return False: bounds of worths decide."""
        return False

    def rule(self, setting: Setting) -> WorthRule:
        """Return the rule for the kernels."""
        goal, shape, measure, noise = setting.goal, setting.shape, setting.measure, setting.noise
        assert measure is not None
        D, sums = measure.dims, rests_on_sums(noise, measure)
        weights, epsilon, slack = goal.weight_vector(D), goal.epsilons(D), 0.0
        pareto = goal.worth_weights(D) is None
        if not pareto:
            slack = float(epsilon[0]) * float(weights.sum())
        box = self.statistics(setting)
        if sums:  # a range has the scale that it gives
            box = box._replace(scale=noise.scales(shape.dims))
        pairs, boxes = uses_pairs(setting), setting.delta * measure.share(shape)
        if not pareto and not pairs:  # the slack of the worth says it all; pairs are of one dim
            epsilon = np.zeros(D)
        if pairs:  # half of delta, for what tells which arms count
            boxes = setting.delta / (2 * shape.total * len(measure.bounds))
        return WorthRule(
            exists=shape.exists,
            sizes=np.array(shape.sizes, np.int64),
            ranks=np.array(measure.ranks(shape), np.int64),
            limits=limit_rows(measure),
            pareto=pareto,
            epsilon=epsilon,
            weights=weights,
            slack=slack,
            cost=costs_of(setting),
            box=box._replace(alpha=boxes),
            sums=sums,
            alpha=setting.delta / (2 * shape.groups * D),
            pairs=pairs,
            levels=Levels(
                math.log(2.0 / setting.delta), epsilon / box.scale[:D], epsilon, False, box
            ),
            batch=self.batch if isinstance(self.batch, int) else 1,
            share=0.0 if isinstance(self.batch, int) else float(self.batch),
        )

    def statistics(self, setting: Setting) -> BoxRule:
        """Return what drivers keep of an arm's values: what boxes need."""
        return setting.noise.boxes(setting.shape, setting.delta)

    def init(self, rule: WorthRule) -> State:
        """Return the state before any pull."""
        return init(rule)

    def answer(self, state: State, rule: WorthRule) -> frozenset[int]:
        """Return the groups that are in."""
        return frozenset(np.flatnonzero(state.status == IN).tolist())

    def record(self, state: State, rule: WorthRule) -> dict[str, Any]:
        """Return what a trace shows of a round."""
        open_ = state.status == UNDECIDED
        dims = np.repeat(open_[:, None], len(rule.epsilon), axis=1)
        shown: dict[str, Any] = {
            "groups": open_,
            "dims": dims,
            "arms": (rule.exists & (state.standing != BARRED))[:, :, None] & dims[:, None, :],
            "accepted": state.status == IN,
            "rejected": state.status == OUT,
        }
        if np.isfinite(state.worth).all():  # a group without arms that count is worth nothing
            shown["efficiency"] = state.worth.copy()
        return shown

    def rival(self, state: State, rule: WorthRule, group: int) -> int | None:
        """Return the group whose bounds have put this one out."""
        by = int(state.beaten_by[group])
        return by if by >= 0 else None

    def grounds(self, setting: Setting) -> Grounds:
        """Return bounds of single arms or of averages, or pairs of arms where limits are kept."""
        measure, shape = setting.measure, setting.shape
        assert measure is not None
        if uses_pairs(setting):
            return Grounds("limits")
        if rests_on_sums(setting.noise, measure):
            return Grounds("bounds", sums=Fraction(1, 2 * shape.groups * measure.dims))
        return Grounds("bounds", Fraction(1, measure.errors(shape)))

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property that bounds of worths prove."""
        several = rests_on_sums(setting.noise, setting.measure) or uses_pairs(setting)
        return proven_for(setting, *(SEVERAL_ARMS if several else SINGLE_ARMS))


def uses_pairs(setting: Setting) -> bool:
    """Return whether evidence on pairs of arms compares groups."""
    measure, shape = setting.measure, setting.shape
    if measure is None or not measure.bounds or not measure.worth.is_best:
        return False
    few = shape.groups * shape.groups * shape.arms * measure.dims <= MOST_CLAIMS
    one = measure.dims == 1 or setting.goal.worth_weights(measure.dims) is None
    return few and one and setting.noise.arms == "independent"
