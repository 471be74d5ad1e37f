"""Adaptive identification of the Pareto groups: evidence on pairs of arms, gathered where it decides.

**Scouting.** Every arm is pulled `first` times, then the sampling rule (`adaptive_scores`) goes on
until every comparison that seems to be needed has a tenth of the strength that its proof will need.
Then the precisions of the mixtures and the shares of delta are fixed (`adaptive_split`), and
*evidence counts the pulls after that moment only*. Let F be what is known then. The shares depend on
F alone:

  r(i) for the groups, sum_i r(i) = 1;
  q(i, d, m) for the arms m of i, sum_m q(i, d, m) = 1;
  y(i, j, d) for the dims, sum_d y(i, j, d) = 1;
  p(i, j) for the rivals j of i, sum_j p(i, j) = 1.

**Proving.** Write Ev(a, b, d, s) for the evidence (`core.evidence`) against mu_a^d + s <= mu_b^d, in
units of the scale of dim d, from the pulls since scouting. At the end of every plan, with m the arm
of the first group that has the largest mean in dim d:

- `won[i, j, l, d]` is recorded, for good, once Ev((i, m), (j, l), d, epsilon_d) is at least
  log(1 / (delta r(i) y(i, j, d) q(i, d, m))); the pair (i, j) is settled once that is recorded for all
  arms l of j in one dim.
- `over[j, i, l, d]` is recorded, for good, once Ev((j, m), (i, l), d, 0) is at least
  log(1 / (delta r(i) p(i, j) q(j, d, m))); i is rejected once that is recorded for all arms l of i in
  all dims, by one j.
- A group is accepted once it is settled against every other group that is not rejected.

The answer is what is accepted when nothing is undecided.

**Theorem.** If pulls of different arms are independent given the past, then with probability at
least 1 - delta the answer holds every Pareto-optimal group and none that another group beats by more
than epsilon in every dim, whatever the sampling rule does. The dims of a pull may depend on each
other in any way.

Proof. Given F, the shares and precisions are constants and later pulls have the assumed noise given
the past. So if the null mu_a^d + s <= mu_b^d holds, the probability, given F, that Ev(a, b, d, s) ever
reaches log(1 / alpha) is at most alpha, for every alpha that F determines: Ev is the log of the
infimum over the null of a product of two mixtures, at most the product at the true means, which is a
nonnegative supermartingale that starts at 1 (Ville's inequality). Only one dim of each of two
different arms enters.

Let l(i, d) be a best arm of group i in dim d. Let i be accepted although it is not epsilon-optimal.
Some group beats it by more than epsilon in every dim, and going up the chain of strict dominance
from it one finds a Pareto-optimal j = j(i) that does. If j has been rejected then the error is
charged to j, below. Otherwise (i, j) is settled, so for some d and some arm m of i the evidence
against mu_im + epsilon_d <= mu_jl with l = l(j, d) has reached its level. That null is true:
mu_im + epsilon_d <= R_i + epsilon_d < R_j = mu_jl. The true means fix j and l(j, d), so the
probability of this is at most the sum over d and m of delta r(i) y(i, j, d) q(i, d, m) = delta r(i).

Let k be rejected although it is Pareto optimal. For every j there is a dim d(j) with R_k >= R_j in
it. Rejection by j needs, in d = d(j) and for l = l(k, d), that the evidence against mu_jm <= mu_kl
has reached its level for some arm m of j. That null is true: mu_jm <= R_j <= R_k = mu_kl. The
probability is at most the sum over j and m of delta r(k) p(k, j) q(j, d(j), m) = delta r(k).

No group is both Pareto optimal and not epsilon-optimal, so all errors together have probability at
most delta sum_i r(i) = delta, given F and hence without it. QED

**Boxes.** If pulls of different arms may depend on each other (`noise.arms = "arbitrary"`), there is
no scouting, and the tests are mean_a - beta(n_a) + s >= mean_b + beta(n_b), beta the mixture radius
of `core.confidence`. That is a statement about one arm's own pulls: no arm looks better than it is by
beta (A D events), no best arm l(i, d) worse (N D events), each with probability at least
1 - delta / (D (A + N)). Then no test refutes a null above that is true.

**It ends.** The sampling rule keeps n >= sqrt(t) / A for every arm of a group that is not rejected,
so their estimates converge. With epsilon > 0, or with efficiencies that differ in every dim, from
some time on every undecided group works on a certificate whose gaps are positive, and every evidence
that is needed grows without bound: the run ends with probability 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.adaptive_certificates import (
    Ledger,
    Levels,
    begin_ledger,
    decide,
    enter_arm,
    make_ledger,
    try_group,
)
from bestgroup.algorithms.adaptive_scores import (
    ACCEPTED,
    REJECTED,
    UNDECIDED,
    Duties,
    Split,
    View,
    arm_to_pull,
    choose,
    copy_view,
    look_at_group,
    look_at_pairs,
    make_view,
)
from bestgroup.algorithms.adaptive_split import equal_split, share_out
from bestgroup.algorithms.protocol import Algorithm, Setting, pac_statement
from bestgroup.algorithms.te_plus import pair_assumptions
from bestgroup.core.arrays import Bools, Floats, Ints, number, positive_int
from bestgroup.core.confidence import make_radius
from bestgroup.core.goals import ParetoGroups
from bestgroup.core.guarantee import Guarantee
from bestgroup.core.kernel import kernel
from bestgroup.core.tally import Tally
from bestgroup.errors import InvalidInput

FIRST, SCOUTING, PROVING = 0, 1, 2

_SCOUTED = 0.1  # scouting ends when every duel has this share of the strength that it needs
_LATER = 1.1  # log t is renewed when t has grown by this factor


class AdaptiveRule(NamedTuple):
    """A setting as the kernels see it."""

    exists: Bools  # [N, K]
    scale: Floats  # [D]     sigma_d
    levels: Levels
    first: int  # pulls of each arm to begin with
    size: int  # pulls in a plan, or 0
    share: float  # pulls of an arm in a plan, as a share of its count


class State(NamedTuple):
    """What is decided and proven, and what the sampling rule has looked at."""

    duties: Duties
    ledger: Ledger
    split: Split
    seen: View
    phase: Ints  # [1]      FIRST, SCOUTING, PROVING
    round: Ints  # [1]      plans completed
    clock: Floats  # [1]    the t of log t
    touched: Bools  # [N, K]  arms with new pulls in the last step


def init(rule: AdaptiveRule) -> State:
    """Return the state before any pull: nothing is decided."""
    N, K = rule.exists.shape
    D = len(rule.scale)
    duties = Duties(
        status=np.full(N, ACCEPTED if N == 1 else UNDECIDED, np.int64),
        won=np.zeros((N, N, K, D), np.bool_),
        over=np.zeros((N, N, K, D), np.bool_),
        settled=np.zeros((N, N), np.bool_),
    )
    return State(
        duties=duties,
        ledger=make_ledger(rule.exists, D),
        split=equal_split(rule.exists, D),
        seen=make_view(N, K, D),
        phase=np.full(1, FIRST, np.int64),
        round=np.zeros(1, np.int64),
        clock=np.zeros(1),
        touched=np.zeros((N, K), np.bool_),
    )


@kernel
def plan(state: State, tally: Tally, rule: AdaptiveRule) -> Ints:
    """Return the first pulls of all arms, then those that help most; a function of the state alone."""
    N, K = rule.exists.shape
    pulls = np.zeros((N, K), np.int64)
    if state.phase[0] == FIRST:
        for i in range(N):
            for j in range(K):
                pulls[i, j] = rule.first if rule.exists[i, j] else 0
        return pulls
    i, j, least = arm_to_pull(state.seen, state.duties.status, rule.exists)
    if rule.size <= 1:
        pulls[i, j] = max(1, int(rule.share * least))
        return pulls
    view = copy_view(state.seen)
    pulls[i, j] = 1
    for _ in range(rule.size - 1):
        pretend_pull(state, view, rule, i, j)
        i, j, least = arm_to_pull(view, state.duties.status, rule.exists)
        pulls[i, j] += 1
    return pulls


@kernel
def pretend_pull(state: State, view: View, rule: AdaptiveRule, i: int, j: int) -> None:
    """Let a copy of the view see one more pull of an arm, with the mean that it has."""
    level, epsilon = rule.levels.level, rule.levels.epsilon
    view.counts[i, j] += 1.0
    view.bonus[i, j] = math.sqrt(math.log(state.clock[0]) / view.counts[i, j])
    look_at_group(view, rule.exists, i)
    look_at_pairs(view, state.duties, state.split, level, epsilon, rule.exists, i)
    choose(view, state.duties, state.split, level, rule.exists)


@kernel
def step(state: State, tally: Tally, rule: AdaptiveRule) -> None:
    """Take up the pulls, prove and decide what can be, and look for what to pull next, in place."""
    state.round[0] += 1
    total = take_up(state, tally, rule)
    N, K = rule.exists.shape
    duties, split, view = state.duties, state.split, state.seen
    level, epsilon = rule.levels.level, rule.levels.epsilon
    everyone = total >= _LATER * state.clock[0]
    if everyone:
        renew_clock(state, rule, total)
    if state.phase[0] == FIRST:
        state.phase[0] = PROVING if rule.levels.boxes else SCOUTING
    turned = np.zeros((N, len(epsilon)), np.bool_)
    for g in range(N):
        if everyone or state.touched[g].any():
            note_turns(state, rule, turned[g], g)
    if state.phase[0] == PROVING:
        for g in range(N):
            if state.touched[g].any():
                try_group(
                    state.ledger, duties, split, rule.levels, view.leader, state.touched, turned[g], g
                )
        if decide(state.ledger, duties):
            everyone = True
    for g in range(N):
        if everyone or state.touched[g].any():
            look_at_pairs(view, duties, split, level, epsilon, rule.exists, g)
    choose(view, duties, split, level, rule.exists)
    if state.phase[0] == SCOUTING and view.least[0] >= _SCOUTED:
        begin_proving(state, tally, rule)


@kernel
def take_up(state: State, tally: Tally, rule: AdaptiveRule) -> float:
    """Note which arms have new pulls, with their means; returns the number of all pulls."""
    view = state.seen
    N, K, D = view.mean.shape
    total = 0.0
    for i in range(N):
        for j in range(K):
            count = tally.counts[i, j]
            total += count
            state.touched[i, j] = count != view.counts[i, j]
            if not state.touched[i, j]:
                continue
            view.counts[i, j] = count
            for d in range(D):
                view.mean[i, j, d] = tally.sums[i, j, d] / (count * rule.scale[d])
            if state.clock[0] > 0.0:
                view.bonus[i, j] = math.sqrt(math.log(state.clock[0]) / count)
            if state.phase[0] != SCOUTING:
                enter_arm(state.ledger, tally, rule.levels, rule.scale, i, j)
    return total


@kernel
def renew_clock(state: State, rule: AdaptiveRule, total: float) -> None:
    """Set the t of log t, and with it all bonuses."""
    state.clock[0] = total
    N, K = rule.exists.shape
    for i in range(N):
        for j in range(K):
            if rule.exists[i, j]:
                state.seen.bonus[i, j] = math.sqrt(math.log(total) / state.seen.counts[i, j])


@kernel
def note_turns(state: State, rule: AdaptiveRule, turned: Bools, g: int) -> None:
    """Refresh the bounds of group g; note the dims whose leader has new pulls or is another one."""
    view = state.seen
    before = view.leader[g].copy()
    look_at_group(view, rule.exists, g)
    for d in range(len(turned)):
        leader = view.leader[g, d]
        turned[d] = leader != before[d] or state.touched[g, leader]


@kernel
def begin_proving(state: State, tally: Tally, rule: AdaptiveRule) -> None:
    """End scouting: share delta out, and count evidence from now on."""
    level, epsilon = rule.levels.level, rule.levels.epsilon
    state.phase[0] = PROVING
    share_out(state.split, state.seen, epsilon, rule.exists)
    begin_ledger(state.ledger, tally, state.seen.mean)
    for g in range(len(state.duties.status)):
        look_at_pairs(state.seen, state.duties, state.split, level, epsilon, rule.exists, g)
    choose(state.seen, state.duties, state.split, level, rule.exists)


@dataclass(frozen=True)
class AdaptivePareto(Algorithm):
    """Evidence on pairs of arms, gathered where it decides most.

    `batch` says how many pulls are planned together: a whole number, or a share below 1 of the count of the arm that is
    pulled, at least one pull.
    """

    batch: int | float = 0.01

    name: ClassVar[str] = "adaptive"
    goals: ClassVar[tuple[type, ...]] = (ParetoGroups,)
    first: ClassVar[int] = 8

    def __post_init__(self) -> None:
        size = number(self.batch, "batch")
        if size >= 1:
            object.__setattr__(self, "batch", positive_int(_whole(self.batch), "batch"))
        elif size <= 0:
            raise InvalidInput(
                f"batch must be a whole number of pulls, or a share between 0 and 1 of an arm's pulls; "
                f"got {self.batch!r}"
            )

    def rule(self, setting: Setting) -> AdaptiveRule:
        """Return the rule for the kernels."""
        assert isinstance(setting.goal, ParetoGroups)
        shape, noise = setting.shape, setting.noise
        scale = noise.scales(shape.dims)
        levels = Levels(
            level=math.log(1.0 / setting.delta),
            epsilon=setting.goal.epsilons(shape.dims) / scale,
            boxes=noise.arms != "independent",
            radius=make_radius("mixture", shape, setting.delta, 1.0),
        )
        size, share = (self.batch, 0.0) if isinstance(self.batch, int) else (0, self.batch)
        return AdaptiveRule(shape.exists, scale, levels, self.first, size, float(share))

    def init(self, rule: AdaptiveRule) -> State:
        """Return the state before any pull."""
        return init(rule)

    def plan(self, state: State, tally: Tally, rule: AdaptiveRule) -> Ints:
        """Return the next pulls."""
        return plan(state, tally, rule)

    def step(self, state: State, tally: Tally, rule: AdaptiveRule) -> State:
        """Return the state after the planned pulls."""
        step(state, tally, rule)
        return state

    def is_done(self, state: State, rule: AdaptiveRule) -> bool:
        """Return whether no group is undecided."""
        return not (state.duties.status == UNDECIDED).any()

    def answer(self, state: State, rule: AdaptiveRule) -> frozenset[int]:
        """Return the accepted groups."""
        return frozenset(np.flatnonzero(state.duties.status == ACCEPTED).tolist())

    def record(self, state: State, rule: AdaptiveRule) -> dict[str, Any]:
        """Return what a trace shows of a plan."""
        status = state.duties.status
        undecided = status == UNDECIDED
        D = len(rule.scale)
        return {
            "groups": undecided,
            "dims": np.repeat(undecided[:, None], D, axis=1),
            "arms": np.repeat((rule.exists & undecided[:, None])[:, :, None], D, axis=2),
            "accepted": status == ACCEPTED,
            "rejected": status == REJECTED,
            "efficiency": state.seen.best * rule.scale,
        }

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property that the module proves."""
        return Guarantee(
            "proven", pac_statement(setting), (*setting.noise.assumptions(), *pair_assumptions(setting))
        )


def _whole(value: Any) -> Any:
    """Return 8.0 as 8; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
