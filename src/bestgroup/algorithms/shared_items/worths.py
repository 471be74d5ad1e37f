"""Limits, other worths than the best arm, and the m best groups on shared items.

What is compared are units of groups (`inference.item_units`), what proves are bets on the differences of
two of them on common items, and on single arms against their limits (`worth_pairs`, `limits`); which arms
go on is said by forecasts (`worth_needs`). The proof is in docs/theory.md 9.6.

**Weak points.** Claims are kept for every pair of units. With weights the units are selections, an arm
for each dim, of which there are many; and each pays for its share of a union, which the best group by
its best arms, without limits, does not (`best`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Kernels, Setting
from bestgroup.algorithms.shared_items.limits import take_limits
from bestgroup.algorithms.shared_items.on_items import OnItems
from bestgroup.algorithms.shared_items.rule import (
    check_memory,
    keep_up,
    plan_depths,
    shallowest,
)
from bestgroup.algorithms.shared_items.worth_needs import (
    foresee,
    make_view,
    set_needs,
    set_worth,
)
from bestgroup.algorithms.shared_items.worth_pairs import (
    accept,
    is_gone,
    note_depths,
    reject,
    take_pairs,
)
from bestgroup.algorithms.shared_items.worth_state import (
    ACCEPTED,
    REJECTED,
    UNDECIDED,
    WorthItemsRule,
    WorthItemsState,
    init,
    worth_rule,
)
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.paired import betting, purse_size
from bestgroup.inference.item_units import units_of
from bestgroup.inference.tally import Tally
from bestgroup.inference.worths import BARRED
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.goals import BestGroup, ParetoGroups, TopGroups


@kernel
def plan(state: WorthItemsState, tally: Tally, rule: WorthItemsRule) -> Ints:
    """Return the next items of the arms that are not as deep as they need to be."""
    return plan_depths(rule.items, state.need, state.depth, state.round[0] == 0)


@kernel
def step(state: WorthItemsState, tally: Tally, rule: WorthItemsRule) -> None:
    """Take up the items that arms have passed, decide what can be, and say who needs more."""
    A, N = len(state.depth), len(state.status)
    state.round[0] += 1
    note_depths(state, tally, rule)
    take_limits(state, tally, rule)
    gaps = np.zeros(state.unit_depth.max() + 1)
    take_pairs(state, tally, rule, gaps)
    reject(state, rule)
    # From here on estimates, which say whom to look at first, and whom to sample; no proof rests on
    # them.
    view, worth = make_view(state, rule), np.zeros(N)
    foresee(state, rule, view)
    set_worth(state, rule, view, worth)
    accept(state, rule, worth)
    set_needs(state, rule, view, worth)
    live = np.zeros(A, np.bool_)
    for a in range(A):
        live[a] = not is_gone(state, rule, rule.items.home[a]) and state.standing[a] != BARRED
    # Whatever the forecasts say, no arm that may count is forgotten: the run ends for certain.
    keep_up(state.need, state.depth, live, rule.items.limit)


@kernel
def is_done(state: WorthItemsState, rule: WorthItemsRule) -> bool:
    """Return whether no group is undecided, or the best ones are named."""
    undecided, named = False, False
    for i in range(len(state.status)):
        undecided = undecided or state.status[i] == UNDECIDED
        named = named or state.status[i] == ACCEPTED
    return not undecided or (rule.top > 0 and named)


@kernel
def is_stuck(state: WorthItemsState, rule: WorthItemsRule) -> bool:
    """Return whether all items are used up; a pool decides everything then."""
    items = rule.items
    return items.betting.pool == 0 and shallowest(state.need, state.depth, items.limit) < 0


@dataclass(frozen=True)
class ItemsWorths(OnItems):
    """Groups by limits and every worth, and the m best groups, on shared items."""

    takes_measure: ClassVar[bool] = True
    goals: ClassVar[tuple[type, ...]] = (ParetoGroups, BestGroup, TopGroups)
    kernels: ClassVar[Kernels | None] = Kernels(plan, step, is_done, is_stuck, items=True)

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if the setting is too large, or none that this part answers."""
        Algorithm.check(self, setting)
        measure, shape, goal = setting.measure, setting.shape, setting.goal
        goal.check_groups(shape.groups)
        dims = shape.dims if measure is None else measure.dims
        units = units_of(shape, goal, measure, dims)
        values = 1 if units.summed else dims
        bets = purse_size(betting(setting.items.count if setting.items else 0))
        check_memory(len(units.home) ** 2 * values * 2 * bets, "this goal")

    def rule(self, setting: Setting) -> WorthItemsRule:
        """Return the rule for the kernels."""
        return worth_rule(setting, self.batch)

    def init(self, rule: WorthItemsRule) -> WorthItemsState:
        """Return the state before any pull."""
        return init(rule)

    def remaining(self, state: WorthItemsState, rule: WorthItemsRule) -> float | None:
        """Return how many items arms still need to pass, by what is seen now."""
        if not state.round[0]:
            return None
        left = np.minimum(state.need, rule.items.limit) - state.depth
        return float(np.maximum(left, 0.0).sum())

    def answer(self, state: WorthItemsState, rule: WorthItemsRule) -> frozenset[int]:
        """Return the accepted groups."""
        return frozenset(np.flatnonzero(state.status == ACCEPTED).tolist())

    def record(self, state: WorthItemsState, rule: WorthItemsRule) -> dict[str, Any]:
        """Return what a trace shows of a plan."""
        open_, items = state.status == UNDECIDED, rule.items
        dims = np.repeat(open_[:, None], rule.units.parts.shape[1], axis=1)
        arms = items.exists & True
        arms[items.home, items.place] = state.standing != BARRED
        shown: dict[str, Any] = {
            "groups": open_,
            "dims": dims,
            "arms": arms[:, :, None] & dims[:, None, :],
            "accepted": state.status == ACCEPTED,
            "rejected": state.status == REJECTED,
        }
        worth = _estimates(state, rule)
        if np.isfinite(worth).all():  # a group without arms that count is worth nothing
            shown["efficiency"] = worth
        return shown

    def rival(self, state: WorthItemsState, rule: WorthItemsRule, group: int) -> int | None:
        """Return the group that has been proven to beat this one."""
        by = int(state.beaten_by[group])
        return by if by >= 0 and rule.top < 2 else None


def _estimates(state: WorthItemsState, rule: WorthItemsRule) -> Floats:
    """Return what groups seem to be worth in each dim, [N, D]; -inf where too few arms may count."""
    units, N = rule.units, len(rule.units.ranks)
    D = units.parts.shape[1]
    worth = np.full((N, D), -np.inf)
    if state.round[0] == 0:
        return worth
    for i in range(N):
        first, last = int(units.start[i]), int(units.start[i + 1])
        own = first + np.flatnonzero(state.unit_standing[first:last] != BARRED)
        for d in range(D):
            parts = units.parts[own, d]
            sums = np.where(parts >= 0, state.means[parts, d], 0.0).sum(axis=1)
            means = np.sort(sums / np.maximum((parts >= 0).sum(axis=1), 1))[::-1]
            rank = int(units.ranks[i])
            if units.summed:  # of selections: the best or the worst arm in each dim, or one dim
                rank = 1 if rank == 1 else len(means) if D > 1 else rank
            if 0 < rank <= len(means):
                worth[i, d] = means[rank - 1]
    return worth
