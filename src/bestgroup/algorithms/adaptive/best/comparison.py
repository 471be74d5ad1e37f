"""The comparisons of the leader with the other groups: what `evalues.search` needs of the tally."""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.search import Pairwise, at_selection, descend, find_blocks
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints


@borrowing
def set_lead(state: State, tally: Tally, rule: LinearRule, pair: Pairwise, masks: Ints) -> bool:
    """Enter the leader's side of all comparisons; False while an arm of it has no pulls that count."""
    i = state.leader[0]
    find_blocks(state.lead, masks)
    pair.ahead[0] = rule.slack
    for g in range(len(rule.precision)):
        pair.lead_cost[g] = -rule.log_prior[g]
    for d in range(len(masks)):
        j = state.lead[d]
        n = float(tally.counts[i, j] - state.before[j])
        if n == 0.0:
            return False
        pair.ahead[0] += rule.weights[d] * (tally.sums[i, j, d] - state.before_sums[j, d]) / n
        for g in range(len(rule.precision)):
            q = rule.precision[g] * rule.fine[i, j]
            pair.lead[g, d] = 0.0
            if masks[d] > 0:
                pair.lead[g, d] = rule.coefficient[masks[d]] * math.sqrt(n + q) / n
                pair.lead_cost[g] += 0.5 * math.log(1.0 + n / q)
    return True


@borrowing
def set_rival(tally: Tally, rule: LinearRule, means: Floats, pair: Pairwise, k: int) -> None:
    """Enter group k's side of a pair."""
    for j in range(rule.sizes[k]):
        n = float(tally.counts[k, j])
        for g in range(len(rule.precision)):
            # Costly arms get a coarser mixture, fixed beforehand (`fine`): they are pulled less.
            q = rule.precision[g] * rule.fine[k, j]
            pair.reach[g, j] = math.sqrt(n + q) / n
            pair.cost[g, j] = 0.5 * math.log(1.0 + n / q)
        for d in range(len(rule.weights)):
            pair.worth[j, d] = rule.weights[d] * means[k, j, d]


@borrowing
def scan(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> None:
    """Find for every group a selection with little evidence, and the precision that suits it."""
    scan_groups(
        state, tally, rule, space, set_lead(state, tally, rule, space.pair, space.work.masks)
    )


@borrowing
def scan_groups(state: State, tally: Tally, rule: LinearRule, space: Scratch, ready: bool) -> None:
    """Do the same for a leader that was entered, unless no pull of it counts."""
    means, pair, work = space.means, space.pair, space.work
    for k in range(len(state.out)):
        if k == state.leader[0] or state.out[k]:
            continue
        # Until every arm of the leader has a pull that counts there is no evidence at all.
        state.evidence[k] = -np.inf
        if not ready:
            continue
        set_rival(tally, rule, means, pair, k)
        g = state.gauge[k]
        value, _ = descend(pair, g, rule.sizes[k], state.hard[k], work)
        if value == -np.inf:
            continue
        state.evidence[k] = value
        # The precision that suits drifts with the counts, by one step of the list at a time.
        for other in (g - 1, g + 1):
            if 0 <= other < len(rule.precision):
                more, _ = at_selection(pair, other, state.hard[k], 0.0, np.inf, work)
                if more > state.evidence[k]:
                    state.evidence[k] = more
                    state.gauge[k] = other
