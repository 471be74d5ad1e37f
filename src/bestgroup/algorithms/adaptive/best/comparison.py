"""The duels of the witness with the other groups: what `evidence_search` needs of the tally."""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.state import LinearRule, Room, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.search import Duel, at_selection, descend, find_blocks
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints


@borrowing
def set_lead(state: State, tally: Tally, rule: LinearRule, duel: Duel, masks: Ints) -> bool:
    """Enter the witness's side of all duels; False while an arm of it has no pulls that count."""
    i = state.witness[0]
    find_blocks(state.lead, masks)
    duel.ahead[0] = rule.slack
    for g in range(len(rule.precision)):
        duel.lead_cost[g] = -rule.log_prior[g]
    for d in range(len(masks)):
        j = state.lead[d]
        n = float(tally.counts[i, j] - state.before[j])
        if n == 0.0:
            return False
        duel.ahead[0] += rule.weights[d] * (tally.sums[i, j, d] - state.before_sums[j, d]) / n
        for g in range(len(rule.precision)):
            q = rule.precision[g] * rule.fine[i, j]
            duel.lead[g, d] = 0.0
            if masks[d] > 0:
                duel.lead[g, d] = rule.coefficient[masks[d]] * math.sqrt(n + q) / n
                duel.lead_cost[g] += 0.5 * math.log(1.0 + n / q)
    return True


@borrowing
def set_rival(tally: Tally, rule: LinearRule, means: Floats, duel: Duel, k: int) -> None:
    """Enter group k's side of a duel."""
    for j in range(rule.sizes[k]):
        n = float(tally.counts[k, j])
        for g in range(len(rule.precision)):
            q = rule.precision[g] * rule.fine[k, j]
            duel.reach[g, j] = math.sqrt(n + q) / n
            duel.cost[g, j] = 0.5 * math.log(1.0 + n / q)
        for d in range(len(rule.weights)):
            duel.worth[j, d] = rule.weights[d] * means[k, j, d]


@borrowing
def scan(state: State, tally: Tally, rule: LinearRule, room: Room) -> None:
    """Find for every group a selection with little evidence, and the precision that suits it."""
    means, duel, work = room.means, room.duel, room.work
    ready = set_lead(state, tally, rule, duel, work.masks)
    for k in range(len(state.out)):
        if k == state.witness[0] or state.out[k]:
            continue
        state.evidence[k] = -np.inf
        if not ready:
            continue
        set_rival(tally, rule, means, duel, k)
        g = state.gauge[k]
        value, _ = descend(duel, g, rule.sizes[k], state.hard[k], work)
        if value == -np.inf:
            continue
        state.evidence[k] = value
        for other in (g - 1, g + 1):
            if 0 <= other < len(rule.precision):
                more, _ = at_selection(duel, other, state.hard[k], 0.0, np.inf, work)
                if more > state.evidence[k]:
                    state.evidence[k] = more
                    state.gauge[k] = other
