"""Adaptive identification of the Pareto groups: evidence on pairs of arms, where it decides.

**Theory of operation.** `steps` makes plans and has the phases of a run, and `variants` leaves out of
it what a rule never does; `scores` says what each
comparison still lacks and `choice` which one is pulled for; `view` holds what they read, the estimates
and the bounds on what groups may be worth; `split` shares delta out after the warm-up; `certificates`
computes the evidence, and `ledger` keeps what was proven, for good. Only `split`, `certificates` and
`ledger` carry the proof below: whatever the others do, the answer is right.

**Words of the code.** *Scouting* is the warm-up phase. A *duel* is a pairwise comparison of two arms in
one dim, a *scout* the arm of a group with the largest mean plus bonus, which is pulled in place of the
leader. The *front* of a group against another one is the arm that is to be shown above it, the *toll*
what the other group's arms cost in that comparison, and a *price* the square root of a cost.

**Weak points.** What is kept and looked at grows with the number of pairs of groups. Pulls of the
warm-up count for the estimates but not for the evidence, so they are paid on top. Scores are
heuristics: a bonus of sqrt(log t / n) makes up only slowly for an arm that was unlucky early. Without a
known scale variances are estimated, and a run may be longer than foreseen.

**Warm-up (scouting).** Every arm is pulled 8 times, then the sampling rule (`scores`) goes on until
every comparison that seems to be needed has .12 of the strength that its proof will need. Then
the precisions of the mixtures and the shares of delta are fixed (`split`), and *evidence counts the
pulls after that moment only*. Let F be what is known then. The shares depend on F alone:

  r(i) for the groups, sum_i r(i) = 1;
  q(i, d, m) for the arms m of i, sum_m q(i, d, m) = 1;
  y(i, j, d) for the dims, sum_d y(i, j, d) = 1;
  p(i, j) for the rivals j of i, sum_j p(i, j) = 1.

**Proving.** Write Ev(a, b, d, s) for the evidence (`inference.evalues`) against mu_a^d + s <= mu_b^d,
in units of the scale of dim d, from the pulls since the warm-up. At the end of a plan, with m an arm of
the first group, that of the largest mean in dim d or, where costs differ, of the largest lead for its
price (`scores`):

- `won[i, j, k, d]` is recorded, for good, once Ev((i, m), (j, k), d, epsilon_d) is at least
  log(1 / (delta r(i) y(i, j, d) q(i, d, m))); the pair (i, j) is settled once that is recorded for
  all arms k of j in one dim.
- `over[j, i, k, d]` is recorded, for good, once Ev((j, m), (i, k), d, 0) is at least
  log(1 / (delta r(i) p(i, j) q(j, d, m))); i is rejected once that is recorded for all arms k of i
  in all dims, by one j.
- A group is accepted once it is settled against every other group that is not rejected.

The answer is what is accepted when nothing is undecided. A test may be left out when it is bound to
fail, or for a while after it failed: that only delays.

**Theorem.** If pulls of different arms are independent given the past, then with probability at
least 1 - delta the answer holds every Pareto-optimal group and none that another group beats by
more than epsilon in every dim, whatever the sampling rule does. The dims of a pull may depend on
each other in any way.

Proof. Given F, the shares and precisions are constants and later pulls have the assumed noise given
the past. So if the null mu_a^d + s <= mu_b^d holds, the probability, given F, that Ev(a, b, d, s)
ever reaches log(1 / alpha) is at most alpha, for every alpha that F determines: Ev is the log of
the infimum over the null of a product of two mixtures, at most the product at the true means, which
is a nonnegative supermartingale that starts at 1 (Ville's inequality). Only one dim of each of two
different arms enters.

Let l(i, d) be a best arm of group i in dim d. Let i be accepted although it is not epsilon-optimal.
Some group beats it by more than epsilon in every dim, and going up the chain of strict dominance
from it one finds a Pareto-optimal j = j(i) that does. If j has been rejected then the error is
charged to j, below. Otherwise (i, j) is settled, so for some d and some arm m of i the evidence
against mu_im + epsilon_d <= mu_jk with k = l(j, d) has reached its level. That null is true: mu_im
+ epsilon_d <= R_i + epsilon_d < R_j = mu_jk. The true means fix j and l(j, d), so the probability
of this is at most the sum over d and m of delta r(i) y(i, j, d) q(i, d, m), which is delta r(i).

Let h be rejected although it is Pareto optimal. For every j there is a dim d(j) with R_h >= R_j in
it. Rejection by j needs, in d = d(j) and for k = l(h, d), that the evidence against mu_jm <= mu_hk
has reached its level for some arm m of j. That null is true: mu_jm <= R_j <= R_h = mu_hk. The
probability is at most the sum over j and m of delta r(h) p(h, j) q(j, d(j), m) = delta r(h).

No group is both Pareto optimal and not epsilon-optimal, so all errors together have probability at
most delta sum_i r(i) = delta, given F and hence without it. QED

**The expected answer.** Where the warm-up foresees the answer, r(i) is replaced (`naming`): by u_i for a
decision on i that it did not expect, a *surprise*, and by u_i + b_h for one that it did, after h
surprises about groups before i in an order that F determines, those first that are expected to be
rejected; sum_h b_h + sum_i u_i <= 1. When h grows, what was recorded for less is forgotten. Let U be the
groups that the expectation is wrong about. If a decision is wrong then so is a surprise about a group
that is not in U, which has u_i; or the decision, as expected, on the first group e_k of U that was not
decided by surprise, k - 1 surprises about the others before it being counted, which has at most u + b_(k
- 1) of that group. These add up to delta. For all of them to be there, only those decisions are shown
that *stand* (`naming.shown`); docs/theory.md, 5.1, has the proof in full.

**Other noise.** For values in a range, 0/1 values and symmetric noise of unknown variance the evidence
is that of `pair_wealth`: wealth of bets whose scales the warm-up fixes, given F. For values in a range it
is the average of that, with weight .95, and of the evidence above at the scale of half the range: an
average of supermartingales that start at 1 is one. The proof uses nothing else of Ev than that it is at
most the log of such a process where the null holds.

**Boxes.** If pulls of different arms may depend on each other (`noise.arms = "arbitrary"`) there is no
warm-up. An arm's box is, in every dim, the intersection of the bounds of
`inference.confidence_sequences` at all times so far; the tests are low + s >= high, with m the arm
of the largest low. A test refutes a true null only if the lower bound of some arm has exceeded its
mean (D A bounds for A arms in all) or the upper bound of a best arm l(i, d) has fallen below (D N
bounds). Each fails at any time with probability at most delta / (D (A + N)) and is about one arm's
own pulls.

**It ends.** The sampling rule keeps n >= t / (10 A) for every arm of a group that is not rejected,
so their estimates converge. With epsilon > 0, or with efficiencies that differ in every dim, from
some time on every undecided group works on a certificate whose gaps are positive, and every
evidence that is needed grows without bound: the run ends with probability 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.algorithms.adaptive.algorithm import check_batch
from bestgroup.algorithms.adaptive.pareto.ledger import Levels
from bestgroup.algorithms.adaptive.pareto.naming import shown
from bestgroup.algorithms.adaptive.pareto.steps import (
    KERNELS,
    AdaptiveRule,
    State,
    init,
)
from bestgroup.algorithms.adaptive.pareto.variants import kernels_for
from bestgroup.algorithms.adaptive.pareto.view import ACCEPTED, REJECTED, UNDECIDED
from bestgroup.algorithms.protocol import (
    Algorithm,
    Comparison,
    Grounds,
    Kernels,
    Setting,
    box_ends,
    proven_for,
)
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import ParetoGroups
from bestgroup.problem.guarantee import SEVERAL_ARMS, SINGLE_ARMS, Guarantee
from bestgroup.problem.noise import SubGaussian

_FIRST = 8  # pulls of each arm to begin with
# The warm-up ends when every duel has this share of the strength that its proof will need.
_SCOUTED, _SCOUTED_BEFORE = 0.12, 0.1


@dataclass(frozen=True)
class AdaptivePareto(Algorithm):
    """The half of `Adaptive` for Pareto groups, with its options."""

    batch: int | float = 0.01
    by_boxes: bool = False  # where the noise model knows no scale, as version 1 did
    by_union: bool = False  # over all groups, as versions up to 5 did

    name: ClassVar[str] = "adaptive"
    reads_values: ClassVar[bool] = True
    goals: ClassVar[tuple[type, ...]] = (ParetoGroups,)
    kernels: ClassVar[Kernels | None] = KERNELS

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch", check_batch(self.batch))

    def statistics(self, setting: Setting) -> BoxRule:
        """Return what drivers keep of values: what boxes need, or what evidence on pairs does."""
        if uses_boxes(setting, self.by_boxes):
            return setting.noise.boxes(setting.shape, setting.delta)
        return setting.noise.sums(setting.shape, setting.delta)

    def by_pairs(self, setting: Setting) -> bool:
        """Return whether evidence on pairs of arms proves, not boxes of single ones."""
        return not uses_boxes(setting, self.by_boxes)

    def rule(self, setting: Setting) -> AdaptiveRule:
        """Return the rule for the kernels."""
        shape, noise = setting.shape, setting.noise
        boxes, box = uses_boxes(setting, self.by_boxes), self.statistics(setting)
        scale = box.scale
        if boxes:
            scale = noise.scales(shape.dims) if noise.has_scale else np.ones(shape.dims)
        slack = setting.goal.epsilons(shape.dims)
        levels = Levels(math.log(1.0 / setting.delta), slack / scale, slack, boxes, box)
        size, share = (self.batch, 0.0) if isinstance(self.batch, int) else (0, self.batch)
        cost = _costs(setting)
        named = not (boxes or self.by_union)
        scouted = _SCOUTED if named else _SCOUTED_BEFORE
        steps = _FIRST, size, float(share)
        return AdaptiveRule(shape.exists, scale, cost, levels, named, scouted, *steps)

    def kernels_for(self, rule: AdaptiveRule) -> Kernels:
        """Return the kernels for a rule."""
        return kernels_for(rule)

    def init(self, rule: AdaptiveRule) -> State:
        """Return the state before any pull."""
        return init(rule)

    def answer(self, state: State, rule: AdaptiveRule) -> frozenset[int]:
        """Return the accepted groups."""
        return frozenset(np.flatnonzero(shown(state.split, state.duties) == ACCEPTED).tolist())

    def record(self, state: State, rule: AdaptiveRule) -> dict[str, Any]:
        """Return what a trace shows of a plan; a group keeps its dims and arms until decided."""
        status, undecided = shown(state.split, state.duties), state.duties.status == UNDECIDED
        D = len(rule.scale)
        return {
            "groups": undecided,
            "dims": np.repeat(undecided[:, None], D, axis=1),
            "arms": np.repeat((rule.exists & undecided[:, None])[:, :, None], D, axis=2),
            "accepted": status == ACCEPTED,
            "rejected": status == REJECTED,
            "efficiency": state.efficiency.copy(),
        }

    def rival(self, state: State, rule: AdaptiveRule, group: int) -> int | None:
        """Return the group that has been proven to beat this one."""
        by = int(state.ledger.beaten_by[group])
        return by if shown(state.split, state.duties)[group] == REJECTED else None

    def proof(self, state: State, rule: AdaptiveRule, group: int) -> list[Comparison]:
        """Return the comparisons that decided a group; none while it is undecided.

        A rejected group is beaten by one other group in all its arms and dims. An accepted group is
        compared, in one dim, with every group that was not rejected before; rejected groups have
        proofs of their own.
        """
        duties, ledger = state.duties, state.ledger
        arms = [np.flatnonzero(row).tolist() for row in rule.exists]
        status = shown(state.split, duties)[group]
        if status == UNDECIDED:
            return []
        if status == REJECTED:
            by = int(ledger.beaten_by[group])
            return [
                Comparison(by, int(ledger.over_by[by, group, k, d]), group, k, d, 0.0)
                for d in range(len(rule.scale))
                for k in arms[group]
            ]
        found: list[Comparison] = []
        for j in np.flatnonzero(duties.settled[group]).tolist():
            if j != group:
                d = int(np.flatnonzero(ledger.wins[group, j] == ledger.sizes[j])[0])
                slack, won = float(rule.levels.slack[d]), ledger.won_by[group, j]
                found += [Comparison(group, int(won[k, d]), j, k, d, slack) for k in arms[j]]
        return found

    def grounds(self, setting: Setting) -> Grounds:
        """Return pairs of arms with what the warm-up fixed, or boxes of single ones."""
        if self.by_pairs(setting):
            return Grounds("warm-up")
        return Grounds("bounds", box_ends(setting.shape))

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property that the module proves."""
        boxes = uses_boxes(setting, self.by_boxes)
        return proven_for(setting, *(SINGLE_ARMS if boxes else SEVERAL_ARMS))


def uses_boxes(setting: Setting, by_boxes: bool = False) -> bool:
    """Return whether boxes of single arms take the place of evidence on pairs of arms."""
    unknown = not isinstance(setting.noise, SubGaussian)
    return setting.noise.arms != "independent" or (by_boxes and unknown)


def _costs(setting: Setting) -> Floats:
    """Return the cost of a pull of each arm, in units of the least one, [N, K]."""
    cost = np.ones(setting.shape.exists.shape)
    if setting.costs is not None:
        least = min(min(row) for row in setting.costs)
        for i, row in enumerate(setting.costs):
            cost[i, : len(row)] = np.asarray(row) / least
    return cost
