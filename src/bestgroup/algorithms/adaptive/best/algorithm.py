"""Adaptive identification of the best group, with predictable leaders.

What follows is the rule for values in a range and for normal ones of unknown scale, and for a known
scale that of versions up to 6. Since version 7 leaders are groups where the scale is known: `leaders`
has that rule and its proof, which builds on the one here, and `units` its plans and steps.

**Setting.** Group i is worth R_i . w, R_i^d = max_j mu_ij^d; the answer i must have
R_i . w + epsilon ||w||_1 >= max_k R_k . w. A selection s of a group names an arm for each dim;
L_s = sum_d w^d mu_{s(d)}^d, so that R_i . w is the largest L_s of group i. Given the past, a pull
has its arm's mean plus noise xi, and for a set B of dims sum_{d in B} w^d xi^d is sub-Gaussian with
scale c_B: c_B = sum_B w^d sigma_d however the dims depend on each other (Hoelder's inequality),
c_B = sqrt(sum_B (w^d sigma_d)^2) if they are independent.

**Rule.** At stopping times tau_1 < tau_2 < ... a leader is named: a group i_m and a selection s_m
of it, chosen in any way from what was seen up to tau_m. For a group k != i_m, a selection s' of k
and a precision q let E_q be the product of half-normal mixtures (`evalues.linear`), one an arm, of
precision q f, f being fixed beforehand: the mean cost of all arms, a geometric one, over the arm's own:

* for an arm that s' uses, of ALL its pulls, each taken as the number sum_{d in B} w^d X^d / c_B,
  B the dims that it serves, mixed over eta <= 0;
* for an arm that s_m uses, of its pulls AFTER tau_m, taken alike, mixed over eta >= 0.

Z_m(k, s') is the log of sum_q p_q inf E_q, p a fixed prior, each infimum over all means with

    L_{s_m}(i_m) + epsilon ||w||_1 <= L_{s'}(k).                                              (H)

Group k is out once Z_m(k, s') >= log(m (m + 1) / delta) for every s', at any time after tau_m and
before tau_{m+1}. For epsilon = 0 it stays out; for epsilon > 0 all groups come back when the
leader's group changes. The run ends when all groups but the leader are out, and answers it.

**Theorem.** The answer is wrong with probability at most delta, whatever rule chooses the pulls and
the leaders.

Proof. Let k* be a best group and s* a selection of it with L_{s*} = R_{k*} . w: both are fixed by
the means. Let B be the groups i != k* with R_i . w + epsilon ||w||_1 <= R_{k*} . w. If i_m is in B
then the true means satisfy (H) for (k*, s*), because L_{s_m} <= R_{i_m} . w. So exp Z_m(k*, s*) is
at most M_m = sum_q p_q E_q at the true means. Define M_m at all times: before tau_m it is the sum
over q of p_q times the factors of k* alone, which do not depend on the leader; from tau_m on the
leader's factors come in, at 1; if i_m is not in B it stays from tau_m on what it is. A pull
multiplies at most one factor of E_q, and that by a mixture of exp(eta Y - eta^2 / 2) whose weights
are known before the pull and where Y is sub-Gaussian with mean 0 and scale 1 given the past. So M_m
is a nonnegative supermartingale that starts at 1, and so is W = sum_m M_m / (m (m + 1)). By Ville's
inequality W ever reaches 1 / delta with probability at most delta.
Let the answer i be wrong: R_i . w + epsilon ||w||_1 < R_{k*} . w. Then i != k*, so k* is out. The
leader i_m that eliminated it is in B: for epsilon = 0 every group but k* is, and for epsilon > 0 it is
i itself, as nothing has come back since. At that time M_m >= m (m + 1) / delta and W >= 1 / delta. QED

No union is paid over groups, over the selections of k or over those of the leader: k* and s* are
fixed, and the leader is predictable. The price is that the leader's own pulls before tau_m do not
count, and log(m (m + 1)).

**Large groups.** "For every s'" is proven by branch and bound (`evalues.prove`) with a bound that
costs 2^D K terms whatever K^D is (`evalues.search`); where it fails, sampling goes on.

**Sampling** cannot break the theorem. A stopping check (`stopping_check`), at least whenever the pulls
have grown by a fiftieth, finds for every group a selection with little evidence, decides, and
chooses whom to pull for until the next one (`aim`).

**The end.** Every arm of a group that is not out gets at least t / (25 A) of the first t pulls, A
the number of arms, so all means converge. If the best group is unique it leads in the end; another
leader is then replaced once the pulls have doubled, so m is at most of order log t. When the
leader leads every selection, the bound of `evalues.search` at a tilt of order sqrt(t) grows faster
than any multiple of log t, so the run ends with probability one. For epsilon > 0 any group that
leads in the end will do; groups that tie for ever may take turns as leaders, but each of them then
leads all others up to epsilon, and doubling gives it the time to prove it.

For values in a range wealth of bets takes the place of half-normal mixtures, `bets`; and so for
`Gaussian()`, `symmetric`. If pulls of different arms may depend on each other, for dims of which some are
`Gaussian()`, and for more than 8 dims, the product is not used: see `boxes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from bestgroup.algorithms.adaptive.algorithm import check_batch
from bestgroup.algorithms.adaptive.best.leaders import pulls_left
from bestgroup.algorithms.adaptive.best.state import (
    LinearRule,
    State,
    init,
)
from bestgroup.algorithms.adaptive.best.steps import KERNELS
from bestgroup.algorithms.adaptive.best.variants import kernels_for
from bestgroup.algorithms.protocol import (
    Algorithm,
    Grounds,
    Kernels,
    Setting,
    box_ends,
    proven_for,
)
from bestgroup.inference.certificate.best_group import MOST_DIMS
from bestgroup.inference.confidence_sequences.boxes import BoxRule, share, with_sum
from bestgroup.inference.evalues.linear import GROUP_PRIOR, PRECISIONS, PRIOR, coefficients
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, POWERS
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import BestGroup
from bestgroup.problem.guarantee import SEVERAL_ARMS, SINGLE_ARMS, SYMMETRIC_SUMS, Guarantee
from bestgroup.problem.noise import SubGaussian

_FIRST = 4  # pulls of every arm before the first check
_FIRST_SYMMETRIC = 16  # with fewer there is no box that ends
_TAILS = 0.25  # of delta is for boxes that end where evidence on symmetric noise does not


@dataclass(frozen=True)
class AdaptiveLinear(Algorithm):
    """Pulls what the proof lacks most; `batch` is that of `Adaptive`."""

    batch: int | float = 0.01
    by_boxes: bool = False  # where the noise model knows no scale, as version 1 did
    normal_by_boxes: bool = False  # `Gaussian()`, as versions up to 3 did
    by_dims: bool = False  # bets on each dim of an arm that serves all, as versions up to 4 did
    by_selections: bool = (
        False  # leaders with a selection for known scales, too, as up to version 6
    )

    name: ClassVar[str] = "adaptive"
    reads_values: ClassVar[bool] = True
    goals: ClassVar[tuple[type, ...]] = (BestGroup,)
    kernels: ClassVar[Kernels | None] = KERNELS

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch", check_batch(self.batch))

    def by_pairs(self, setting: Setting) -> bool:
        """Return whether evidence on several arms proves, not boxes of single ones."""
        return not self._boxed(setting)

    def statistics(self, setting: Setting) -> BoxRule:
        """Return what drivers keep of values: what boxes need, or what bets do."""
        noise, shape = setting.noise, setting.shape
        if self._boxed(setting):
            return noise.boxes(shape, setting.delta)
        keep = noise.sums(shape, setting.delta)
        if self.by_dims or shape.dims == 1 or isinstance(noise, SubGaussian):
            return keep
        return with_sum(keep, setting.goal.weight_vector(shape.dims))

    def rule(self, setting: Setting) -> LinearRule:
        """Return the rule for the kernels."""
        goal, shape = setting.goal, setting.shape
        weights, noise = goal.weight_vector(shape.dims), setting.noise
        scale = noise.scales(shape.dims) if noise.has_scale else np.ones(shape.dims)
        alpha = setting.delta / (shape.dims * (shape.total - min(shape.sizes) + 1))
        if shape.room:  # any arm may become a best one when others join or leave
            alpha = share(shape, setting.delta)
        boxes, box = self._boxed(setting), self.statistics(setting)
        independent = setting.noise.dependence == "independent"
        cost = costs_of(setting)
        symmetric = not boxes and bool((box.kind == GAUSSIAN).all())
        by_group = not boxes and isinstance(noise, SubGaussian) and not self.by_selections
        return LinearRule(
            exists=shape.exists,
            sizes=np.array(shape.sizes, np.int64),
            cost=cost,
            priced=bool((cost != cost[0, 0]).any()),
            fine=math.exp(float(np.log(cost[shape.exists]).mean())) / cost,
            weights=weights,
            scale=scale,
            coefficient=np.zeros(0) if boxes else coefficients(weights * scale, independent),
            slack=float(goal.epsilons(shape.dims)[0]) * float(weights.sum()),
            delta=setting.delta * (1.0 - _TAILS if symmetric else 1.0),
            precision=np.array(PRECISIONS),
            log_prior=np.log(np.array(GROUP_PRIOR if by_group else PRIOR)),
            batch=self.batch if isinstance(self.batch, int) else 1,
            share=0.0 if isinstance(self.batch, int) else self.batch,
            boxes=boxes,
            bets=not boxes and not isinstance(noise, SubGaussian),
            independent=independent,
            heft=weights * box.scale,
            box=box._replace(alpha=alpha),
            first=_FIRST_SYMMETRIC if symmetric else _FIRST,
            tails=np.log(
                2.0 * shape.dims * np.array([shape.total, 1.0]) / (_TAILS * setting.delta)
            ),
            by_group=by_group,
        )

    def init(self, rule: LinearRule) -> State:
        """Return the state before any pull."""
        return init(rule)

    def kernels_for(self, rule: LinearRule | None) -> Kernels:
        """Return the kernels for a rule; without one those that serve all rules."""
        return KERNELS if rule is None else kernels_for(rule)

    def answer(self, state: State, rule: LinearRule) -> frozenset[int]:
        """Return the leader's group; before the end, all groups that are not out."""
        if state.answer[0] >= 0:
            return frozenset([int(state.answer[0])])
        return frozenset(np.flatnonzero(~state.out).tolist())

    def record(self, state: State, rule: LinearRule) -> dict[str, Any]:
        """Return what a trace shows of a round; groups that may come back are shown as there."""
        groups = ~state.out
        if rule.slack > 0.0 and not rule.boxes and state.answer[0] < 0:
            groups = np.ones_like(state.out)
        dims = np.repeat(groups[:, None], len(rule.weights), axis=1)
        return {
            "groups": groups,
            "dims": dims,
            "arms": rule.exists[:, :, None] & dims[:, None, :],
            "accepted": np.arange(len(groups)) == state.answer[0],
            # With a slack a group that is behind the leader may still be better.
            "rejected": state.out.copy() if rule.boxes or rule.slack == 0.0 else ~state.out & False,
            "efficiency": state.efficiency.copy(),
        }

    def remaining(self, state: State, rule: LinearRule) -> float | None:
        """Return about how many more pulls a run takes whose leaders are groups."""
        return pulls_left(state, rule) if rule.by_group else None

    def grounds(self, setting: Setting) -> Grounds:
        """Return evidence on several arms at once, or boxes of single ones at the same share."""
        shape = setting.shape
        part = Fraction(1, shape.dims * (shape.total - min(shape.sizes) + 1))
        if shape.room:
            part = box_ends(shape)
        return Grounds("several arms" if self.by_pairs(setting) else "bounds", part)

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the theorem of this module, or that of `boxes`."""
        if self._boxed(setting):
            return proven_for(setting, *SINGLE_ARMS)
        # Where the scale is not known boxes, which need normal noise, bound what bets do not.
        found = proven_for(setting, *SEVERAL_ARMS, boxes_too=not setting.noise.has_scale)
        summed = len(self.statistics(setting).weights) > 0
        if setting.noise.has_scale or setting.noise.dependence == "independent" or not summed:
            return found
        # Normal dims need not be jointly normal, and only then is every weighted sum.
        return replace(found, assumptions=(*found.assumptions, SYMMETRIC_SUMS))

    def _boxed(self, setting: Setting) -> bool:
        return uses_boxes(setting, self.by_boxes, self.normal_by_boxes)


def uses_boxes(setting: Setting, by_boxes: bool = False, normal_by_boxes: bool = False) -> bool:
    """Return whether confidence boxes for single arms take the place of evidence.

    Evidence is there for sub-Gaussian noise, for values in a range in every dim, and for normal ones of
    unknown scale in every dim where no arm comes or goes.
    """
    noise, shape = setting.noise, setting.shape
    if noise.arms != "independent" or shape.dims > MOST_DIMS:
        return True
    if isinstance(noise, SubGaussian):
        return False
    kinds = noise.sums(shape, setting.delta).kind
    ranged = bool(((kinds == POWERS) | (kinds == BERNOULLI)).all())
    if (kinds == GAUSSIAN).all():
        return by_boxes or normal_by_boxes or bool(shape.room)
    return by_boxes or not ranged


def costs_of(setting: Setting) -> Floats:
    """Return what a pull of each arm costs, in units of the least cost, [N, K]."""
    cost = np.ones(setting.shape.exists.shape)
    if setting.costs is not None:
        least = min(min(row) for row in setting.costs)
        for i, row in enumerate(setting.costs):
            cost[i, : len(row)] = np.asarray(row) / least
    return cost
