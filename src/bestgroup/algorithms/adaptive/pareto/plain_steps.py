"""What a step does for all groups, for plain Python, by NumPy; see `plain`.

Some steps concern everybody: the first one, which takes up pulls of all arms, the one in which the
warm-up ends, and those that renew the t of log t.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.pareto import ledger as ledgers
from bestgroup.algorithms.adaptive.pareto import spread as spreads
from bestgroup.algorithms.adaptive.pareto import steps
from bestgroup.algorithms.adaptive.pareto.ledger import Ledger, keeps_bets
from bestgroup.algorithms.adaptive.pareto.plain_shares import FEW
from bestgroup.algorithms.adaptive.pareto.spread import LEAST, RARE, SHARED, TINY
from bestgroup.algorithms.adaptive.pareto.steps import AdaptiveRule, State
from bestgroup.algorithms.adaptive.pareto.view import View, keeps_lists
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.kinds import BERNOULLI, POWERS, SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints


@steps.take_up.plainly
def _(state: State, tally: Tally, rule: AdaptiveRule, hint: Ints) -> float:
    view = state.seen
    state.touched[...] = False
    state.moved[...] = False
    i, j = (tally.counts != view.counts).nonzero()
    if state.phase[0] == steps.FIRST and len(i) >= FEW and not rule.levels.boxes:
        _take_first(state, tally, rule, i, j)
    else:
        for arm in zip(i.tolist(), j.tolist(), strict=True):
            steps.take_arm(state, tally, rule, *arm)
    hint[1] = steps.find_mover(state.moved) if keeps_lists(view.first) else -1
    return float(view.all[0])


def _take_first(state: State, tally: Tally, rule: AdaptiveRule, i: Ints, j: Ints) -> None:
    """Do `take_arm` for the first pulls of arms; variances are those of `pool_variances`, later."""
    view, counts = state.seen, tally.counts[i, j]
    state.touched[i, j] = state.moved[i] = True
    view.all[0] += (counts - view.counts[i, j]).sum()
    view.counts[i, j] = counts
    own = np.where(rule.exists, view.counts, np.inf)[state.moved]
    view.fewest_at[state.moved] = own.argmin(axis=1)
    view.fewest[state.moved] = own.min(axis=1)
    view.mean[i, j] = tally.sums[i, j] / (counts[:, None] * rule.scale)


@steps.find_mover.plainly
def _(moved: Bools) -> int:
    movers = moved.nonzero()[0]
    return int(movers[0]) if len(movers) == 1 else -1


@steps.renew_clock.plainly
def _(state: State, rule: AdaptiveRule, total: float) -> None:
    state.clock[0] = total
    view, some = state.seen, rule.exists
    view.bonus[some] = np.sqrt(math.log(total) / view.counts[some])


@steps.note_turns.plainly
def _(state: State, rule: AdaptiveRule, turned: Bools, everyone: bool, mover: int) -> None:
    view = state.seen
    if not everyone or len(state.moved) < FEW:
        groups = np.arange(len(state.moved)) if everyone else state.moved.nonzero()[0]
        for g in groups.tolist():
            steps.note_turn(state, rule, turned, g)
        return
    before = view.leader.copy()
    _look_at_all(view, rule.exists)
    touched = np.take_along_axis(state.touched, view.leader, axis=1)
    turned[...] = (view.leader != before) | touched
    state.efficiency[...] = view.best * rule.scale


def _look_at_all(view: View, exists: Bools) -> None:
    """Do `look_at_dim` for all groups and dims."""
    some = exists[:, :, None]
    mean = np.where(some, view.mean, -np.inf)
    reach = view.bonus[:, :, None] * view.deviation
    high = np.where(some, view.mean + reach, -np.inf)
    view.leader[...], view.scout[...] = mean.argmax(axis=1), high.argmax(axis=1)
    upper = high.max(axis=1)
    view.rose[(upper > view.upper).any(axis=1)] = True
    view.best[...], view.upper[...] = mean.max(axis=1), upper
    view.lower[...] = np.where(some, view.mean - reach, -np.inf).max(axis=1)
    lead = np.take_along_axis(view.deviation, view.leader[:, None], axis=1)
    view.lead_deviation[...] = lead[:, 0]


@spreads.pool_variances.plainly
def _(view: View, tally: Tally, kind: Ints, exists: Bools) -> None:
    n = tally.counts[exists].astype(np.float64)
    for d, family in enumerate(kind.tolist()):
        if family == SUBGAUSSIAN:
            continue
        if family == BERNOULLI:
            p = (tally.sums[exists, d] + 1.0) / (n + 2.0)
            v = p * (1.0 - p)
        else:
            squares = _squares(tally, exists, d)
            view.pooled[d] = _pool(squares, n, view.mean[exists, d])
            v = squares + SHARED * view.pooled[d]
            if family == POWERS:
                v = v + RARE
            v = np.maximum(v / (n - 1.0 + SHARED), TINY)
        view.variance[exists, d], view.deviation[exists, d] = v, np.sqrt(v)


def _squares(tally: Tally, exists: Bools, d: int) -> Floats:
    """Return `squares_of` of all arms."""
    extra, counts = tally.extra[exists, d], tally.counts[exists]
    return np.maximum(extra[:, 2] - extra[:, 1] * extra[:, 1] / counts, 0.0)


def _pool(squares: Floats, n: Floats, means: Floats) -> float:
    """Return the pooled variance of a dim."""
    total, values = np.add.accumulate(squares)[-1], np.add.accumulate(n - 1.0)[-1]
    least, most = means.min(), means.max()
    spread = total / values if values > 0.0 else 0.0
    return max(spread, LEAST * (most - least) * (most - least))


@ledgers.begin_ledger.plainly
def _(ledger: Ledger, tally: Tally, view: View, box: BoxRule) -> None:
    ledger.base_counts[...], ledger.counts[...] = tally.counts, 0.0
    ledger.base_sums[...] = tally.sums
    ledger.base_mean[...], ledger.base_variance[...] = view.mean, view.variance
    ledger.base_centre[...] = view.mean - box.origin / box.scale
    if keeps_bets(ledger):
        ledger.base_extra[...] = tally.extra
