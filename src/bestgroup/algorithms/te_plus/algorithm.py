"""TE+: lockstep elimination by pairwise radii and recorded signs; (epsilon, delta)-PAC for Pareto groups.

Two active arms have been pulled r times each, so the difference of their means has variance 2
sigma_d^2 / r; TE pays for four times that when it adds two radii. Here rho is a radius of the
difference: rho(r) = edge(2 r) / r for independent arms, edge being the boundary `mixture_edge` of a
sum.

**Round r.** Pull every arm that is active in an active dim. R-hat_i^d is the largest mean over the
arms of i that are active in d. Then, in dims in which both groups are active, all radii scaled by
sigma_d:

1. Record, never to be retracted, for every undecided i and every other j: `above[j, i, d]` if
   R-hat_j - R-hat_i >= rho; and, unless j is rejected or some `near[i, j, .]` is recorded, `near[i,
   j, d]` if R-hat_i - R-hat_j + epsilon_d >= rho', and `far[j, i, d]` if R-hat_j - R-hat_i -
   epsilon_d >= rho.
2. Reject, simultaneously, every undecided i for which some j, of any status, is above in all dims.
3. Accept every undecided i that has `near[i, j, d]` in some d for each j that is not rejected,
   accepted ones included.
4. An arm whose mean is rho'' or more below R-hat in an active dim leaves that dim.
5. The pair (i, j) needs dim d if i is undecided, j not rejected, no `near[i, j, .]` recorded, and
   not `far[j, i, d]`. Dim d of a group is active while some pair with that group needs it. Need
   never comes back, so an arm that is active in an active dim has been pulled in every round.

**Theorem.** With probability at least 1 - delta the answer holds every Pareto-optimal group and
none that another group beats by more than epsilon in every dim.

Proof. Fix from the true means: l(i, d), a best arm of group i in dim d; for every i that is not
epsilon-optimal a Pareto-optimal j(i) with R_i + epsilon < R_j(i) in every dim (some group beats i
like that; go up the chain of strict dominance from it); for k Pareto optimal and j != k a dim d(k,
j) with R_k >= R_j there. Let e(a, b, d) be the mean of arm a less that of arm b in dim d, less the
same difference of the true means. Suppose that in all rounds in which both arms are active in d

  (1) e((i, m), (j(i), l(j(i), d)), d) < rho'   for i not epsilon-optimal, all d, all arms m of i;
  (2) e((j, m), (k, l(k, d)), d) < rho          for k Pareto optimal, j != k, d = d(k, j), all arms m of j;
  (3) e((k, m), (k, l(k, d)), d) < rho''        for k Pareto optimal, all d, all other arms m of k.

By (3) no best arm of a Pareto-optimal group ever leaves a dim: it would need an arm m with e >=
rho''. Rejecting a Pareto-optimal k needs some j with `above[j, k, d]` in d = d(k, j). Then an
active arm m of j has mean_jm - mean_kl >= R-hat_j - R-hat_k >= rho with l = l(k, d), and by (2) R_j
>= mu_jm > mu_kl = R_k, which is false. Accepting an i that is not epsilon-optimal needs, since j(i)
is not rejected, `near[i, j(i), d]` in some d. Then an active arm m of i has mean_im - mean_jl >=
rho' - epsilon_d with l = l(j(i), d), and by (1) R_i >= mu_im > R_j(i) - epsilon_d, which is false.

Each of (1) to (3) is a one-sided boundary for a sum of r differences, each sub-Gaussian with
variance 2 sigma_d^2, and fails at some r with probability at most the level alpha of its radius.
Only one dim of each of two different arms enters, so the dims of a pull may depend in any way. With
K_i arms in group i and A in all, a group takes part in D K_i events (1), or in A - K_i events (2)
and D (K_i - 1) events (3), or in none, for it is not epsilon-optimal, or Pareto optimal, or
neither. So the theorem holds if

  sum_i max(D K_i alpha', (A - K_i) alpha + D (K_i - 1) alpha'') <= delta,

which `radii.split` provides; groups of equal size get delta / N each. QED

If arms may depend on each other (`noise.arms = "arbitrary"`), all radii are 2 edge(r) / r with
alpha = delta / (D (A + N)): no arm looks better than it is by edge / r (A D events) and no best arm
worse (N D events), and (1) to (3) follow.

**It ends**, on or off that event, at the latest when rho + rho' <= epsilon_d in all dims. If j
keeps i undecided then each d is far, hence `above[j, i, d]`, or needed, and then R-hat_j - R-hat_i
>= rho, or R-hat_i - R-hat_j + epsilon_d > epsilon_d - rho >= rho'. While a group is undecided some
dim is needed, so every round pulls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.algorithms.lockstep import a_quarter_more, one_clock
from bestgroup.algorithms.protocol import (
    Algorithm,
    Comparison,
    Grounds,
    Kernels,
    Lockstep,
    Setting,
    box_ends,
    check_factor,
    proven_for,
    shrunk,
)
from bestgroup.algorithms.shared_items.algorithm import for_rule, for_setting
from bestgroup.algorithms.te_plus.radii import PairRule, radii_at, radii_below, split
from bestgroup.algorithms.te_plus.signs import (
    State,
    accept,
    init,
    record_pair,
    refresh_activity,
    reject,
    stale_margin,
)
from bestgroup.algorithms.te_plus.watch import record_watched, refresh_watch
from bestgroup.algorithms.work import GRID, Walks, Work, lockstep_draws, predict
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.errors import InvalidInput
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.goals import ParetoGroups
from bestgroup.problem.guarantee import SEVERAL_ARMS, SINGLE_ARMS, Guarantee
from bestgroup.problem.instance import Instance


@kernel
def plan(state: State, tally: Tally, rule: PairRule) -> Ints:
    """Return 1 for each arm that is active in an active dim."""
    N, K, D = state.arms.shape
    pulls = np.zeros((N, K), np.int64)
    for i in range(N):
        for j in range(K):
            for d in range(D):
                # Decided groups too: 5 keeps a dim active while some undecided pair needs it.
                if state.dims[i, d] and state.arms[i, j, d]:
                    pulls[i, j] = 1
                    break
    return pulls


@borrowing
def refresh_efficiency(state: State, tally: Tally) -> None:
    """Set R_i^d to the largest mean over the active arms, for active dims."""
    N, K, D = state.arms.shape
    for i in range(N):
        for d in range(D):
            # R of a dim that nobody needs stays at its last value; no test reads it.
            if state.dims[i, d]:
                best = -np.inf
                for j in range(K):
                    if state.arms[i, j, d]:
                        best = max(best, tally.sums[i, j, d] / tally.counts[i, j])
                state.efficiency[i, d] = best


@kernel
def step(state: State, tally: Tally, rule: PairRule) -> None:
    """Do the decisions of one round, 1 to 5 of the module, in place."""
    state.round[0] += 1
    radii, R = state.radii, state.efficiency
    radii_at(state.edges, rule, state.round[0], radii)
    refresh_efficiency(state, tally)
    # 1: signs of all pairs by the same R and the same radii; the pairs do not see each other.
    refresh_watch(state, rule, R, R, state.round[0])
    record_watched(state, radii, rule, state.watch[0])
    # 2 before 3: a group that is rejected now must not keep another from acceptance.
    reject(state)
    accept(state)
    # 4 and 5 change only what is pulled from the next round on.
    drop_stale_arms(state, tally, radii[2], rule)
    refresh_activity(state)


@borrowing
def drop_stale_arms(state: State, tally: Tally, rho: float, rule: PairRule) -> None:
    """Remove arms that cannot attain R from active dims."""
    N, K, D = state.arms.shape
    for i in range(N):
        for d in range(D):
            if not state.dims[i, d]:
                continue
            for j in range(K):
                if state.arms[i, j, d]:
                    # Active arms in active dims have the count of the round.
                    mean = tally.sums[i, j, d] / tally.counts[i, j]
                    if stale_margin(state.efficiency[i, d], mean, rho * rule.scale[d]) >= 0.0:
                        state.arms[i, j, d] = False


@kernel
def can_fire(
    state: State, low: Floats, high: Floats, lowest: Floats, clock: Ints, rule: PairRule
) -> bool:
    """Return whether any sign or arm could change up to round `clock`, with R in [low, high].

    `lowest` [N, K, D] bounds the means of active arms from below: False means that no round can
    change the state.
    """
    N, K, D = state.arms.shape
    radii = np.empty(3)
    # The least radii up to that round: signs are recorded at margins of at least 0.
    radii_below(rule, clock[0], radii)
    for i in range(N):
        if state.groups[i]:
            for j in range(N):
                if j != i and record_pair(state, low, high, i, j, radii, rule, False):
                    return True
        for d in range(D):
            if not state.dims[i, d]:
                continue
            for j in range(K):
                if state.arms[i, j, d]:
                    if stale_margin(high[i, d], lowest[i, j, d], radii[2] * rule.scale[d]) >= 0.0:
                        return True
    return False


@borrowing
def is_done(state: State, rule: PairRule) -> bool:
    """Return whether no group is undecided."""
    for active in state.groups:  # a loop compiles in a tenth of the time that `any` takes
        if active:
            return False
    return True


@borrowing
def is_active(state: State, i: int, j: int, d: int) -> bool:
    """Return whether an arm is active in an active dim, be its group decided or not."""
    return state.dims[i, d] and state.arms[i, j, d]


@borrowing
def skip(state: State, tally: Tally, rule: PairRule, rounds: int, clock: Ints) -> None:
    """Count rounds in which nothing was recorded; R of a dim that goes out stays as it is."""
    state.round[0] += rounds
    refresh_efficiency(state, tally)


KERNELS = Kernels(
    plan,
    step,
    is_done,
    lockstep=Lockstep(is_active, one_clock, can_fire, skip, a_quarter_more),
    jump="bestgroup.drivers.jump.families.te_plus",
)
# Measured, in normals: a dim of an arm and a sign in the jump engine, a sign where so many groups make
# it go through the first rounds one by one; a reward in the exact engine, which looks at the pairs of
# groups that may be recorded soon.
_WALK, _SIGN = 2000.0, 1500.0
_CROWD, _SIGN_OF_CROWD = 17, 50.0
_DRAW, _DRAW_OF_GROUP = 22.0, 0.02


_ITEM = 1e-9  # a share of an arm's depth: on shared items a round is one item of every active arm


@dataclass(frozen=True)
class TePlus(Algorithm):
    """TE+: lockstep elimination by pairwise radii and recorded signs.

    On shared items the pair process takes the place of the radii (`algorithms.shared_items`).

    `radius_scale` multiplies all radii; below 1 nothing is proven any more.
    """

    name: ClassVar[str] = "te-plus"
    version: ClassVar[int] = 2
    fixed_bets: ClassVar[bool] = False  # on shared items
    goals: ClassVar[tuple[type, ...]] = (ParetoGroups,)
    kernels: ClassVar[Kernels | None] = KERNELS
    takes_items: ClassVar[bool] = True
    needs_scale: ClassVar[bool] = True
    radius_scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius_scale", check_factor(self.radius_scale))

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if this algorithm cannot work on the setting."""
        super().check(setting)
        if setting.items is not None:
            if self.radius_scale != 1.0:
                raise InvalidInput("on shared items te-plus has no radius to multiply")
            for_setting(setting, _ITEM, True).check(setting)

    def statistics(self, setting: Setting) -> BoxRule:
        """Return what drivers keep of an arm's values; on shared items these themselves."""
        if setting.items is not None:
            return for_setting(setting, _ITEM, True).statistics(setting)
        return super().statistics(setting)

    def kernels_for(self, rule: Any) -> Kernels | None:
        """Return the kernels that work on a rule."""
        shared = for_rule(rule, _ITEM, True)
        return KERNELS if shared is None else shared.kernels_for(rule)

    def rule(self, setting: Setting) -> Any:
        """Return the rule for the kernels."""
        if setting.items is not None:
            return for_setting(setting, _ITEM, True, self.fixed_bets).rule(setting)
        shape = setting.shape
        independent = setting.noise.arms == "independent"
        alphas = split(shape, setting.delta)
        if not independent:
            alphas = np.full(3, setting.delta / (shape.dims * (shape.total + shape.groups)))
        return PairRule(
            exists=shape.exists,
            epsilon=setting.goal.epsilons(shape.dims),
            scale=setting.noise.scales(shape.dims),
            alphas=alphas,
            variance=2.0 if independent else 1.0,
            factor=(1.0 if independent else 2.0) * self.radius_scale,
        )

    def init(self, rule: Any) -> Any:
        """Return the state before any pull."""
        shared = for_rule(rule, _ITEM, True)
        return init(rule) if shared is None else shared.init(rule)

    def answer(self, state: Any, rule: Any) -> frozenset[int]:
        """Return the accepted groups."""
        shared = for_rule(rule, _ITEM, True)
        if shared is not None:
            return shared.answer(state, rule)
        return frozenset(np.flatnonzero(state.accepted).tolist())

    def record(self, state: Any, rule: Any) -> dict[str, Any]:
        """Return what a trace shows of a round; `radius` is that of `above`."""
        shared = for_rule(rule, _ITEM, True)
        if shared is not None:
            return shared.record(state, rule)
        radii = np.empty(3)
        radii_at(state.edges, rule, int(state.round[0]), radii)
        return {
            "groups": state.groups.copy(),
            "dims": state.dims.copy(),
            "arms": state.arms & state.dims[:, None, :],
            "accepted": state.accepted.copy(),
            "rejected": state.rejected.copy(),
            "radius": float(radii[0]),
            "efficiency": state.efficiency.copy(),
        }

    def work(self, instance: Instance, setting: Setting) -> Work:
        """Return the work of a run in which means are known, by the radius of `above`."""
        rule, groups = self.rule(setting), instance.shape.groups
        radii = [rule.factor * mixture_edge(rule.variance * r, rule.alphas[0]) / r for r in GRID]
        walks = Walks(rule.exists, rule.epsilon, rule.scale, np.array(radii), True)
        sign = (_SIGN_OF_CROWD if groups >= _CROWD else _SIGN) * instance.shape.dims
        draw = _DRAW + _DRAW_OF_GROUP * groups
        return predict(instance, lockstep_draws(instance, walks), _WALK, sign, draw)

    def rival(self, state: Any, rule: Any, group: int) -> int | None:
        """Return the group that has been proven to beat this one; on shared items only."""
        shared = for_rule(rule, _ITEM, True)
        return None if shared is None else shared.rival(state, rule, group)

    def proof(self, state: Any, rule: Any, group: int) -> list[Comparison]:
        """Return the comparisons of arms that decided a group; on shared items only."""
        shared = for_rule(rule, _ITEM, True)
        return [] if shared is None else shared.proof(state, rule, group)

    def grounds(self, setting: Setting) -> Grounds:
        """Return differences of two arms; bounds of single ones where arms may depend."""
        if setting.noise.arms == "independent":
            return Grounds("differences")
        return Grounds("bounds", box_ends(setting.shape), scaled=True)

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property that the module proves."""
        if setting.items is not None:
            return for_setting(setting, _ITEM, True).guarantee(setting)
        return shrunk(proven_for(setting, *pair_assumptions(setting)), self.radius_scale)


def pair_assumptions(setting: Setting) -> tuple[str, ...]:
    """Return what a proof on pairs of arms assumes of pulls together, in words."""
    return SEVERAL_ARMS if setting.noise.arms == "independent" else SINGLE_ARMS


@dataclass(frozen=True)
class TePlusByFixedBets(TePlus):
    """Version 1, for studies that it began: on shared items all bets are fixed beforehand."""

    version: ClassVar[int] = 1
    fixed_bets: ClassVar[bool] = True
