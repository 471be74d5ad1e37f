"""The algorithms on shared items: parts of `adaptive` and `te-plus`, which hand over to them.

**Theory of operation.** All arms are scored on the same items, taken in one random order that
nobody can choose. The difference of two arms on an item does not contain what makes the item hard,
so pairs of arms are compared by bets on these differences (`evalues.paired`): a wealth for each
claim, fair given the items before, whatever decided how far each arm goes. An arm's state is its
depth, how far along the order it has been scored. For a pool the items are drawn without
replacement, so a claim can become certain before its bets prove it, and all of it is known at the
end. `forecast` and `needs` say how deep each arm should go; no proof rests on them.

**Weak points.** Pareto claims are kept for every pair of arms and dim, so memory and the time of a
step grow with the square of the number of arms; beyond a limit a problem is refused. Depths are
those of a whole order: an arm cannot be scored on the items that would tell it from one certain
rival.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Comparison, Kernels, Setting
from bestgroup.algorithms.shared_items import best, best_by_union, pareto
from bestgroup.algorithms.shared_items.clusters import ClusterRule, OnClusters
from bestgroup.algorithms.shared_items.maps import ItemsMap, MapItemsRule
from bestgroup.algorithms.shared_items.on_items import OnItems
from bestgroup.algorithms.shared_items.rule import ItemsRule, check_memory, items_rule
from bestgroup.algorithms.shared_items.terms import BestRule
from bestgroup.algorithms.shared_items.worth_state import WorthItemsRule
from bestgroup.algorithms.shared_items.worths import ItemsWorths
from bestgroup.errors import InvalidInput
from bestgroup.inference.evalues.paired import PROVEN, betting, ladder, purse_size
from bestgroup.problem.goals import BestGroup, ParetoGroups


@dataclass(frozen=True)
class ItemsPareto(OnItems):
    """Pareto groups on shared items."""

    goals: ClassVar[tuple[type, ...]] = (ParetoGroups,)
    kernels: ClassVar[Kernels | None] = Kernels(
        pareto.plan, pareto.step, pareto.is_done, pareto.is_stuck, items=True
    )

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if the setting is too large."""
        super().check(setting)
        bets = purse_size(betting(setting.items.count if setting.items else 0))
        check_memory(setting.shape.total**2 * setting.shape.dims * 2 * bets, "Pareto groups")

    def rule(self, setting: Setting) -> ItemsRule:
        """Return the rule for the kernels."""
        return items_rule(setting, self.batch, self.lockstep, self.older)

    def init(self, rule: ItemsRule) -> pareto.State:
        """Return the state before any pull."""
        return pareto.init(rule)

    def answer(self, state: pareto.State, rule: ItemsRule) -> frozenset[int]:
        """Return the accepted groups."""
        return frozenset(np.flatnonzero(state.status == pareto.ACCEPTED).tolist())

    def record(self, state: pareto.State, rule: ItemsRule) -> dict[str, Any]:
        """Return what a trace shows of a plan."""
        open_ = state.status == pareto.UNDECIDED
        return {
            **_sets(open_, rule),
            "accepted": state.status == pareto.ACCEPTED,
            "rejected": state.status == pareto.REJECTED,
            "efficiency": state.efficiency.copy(),
        }

    def rival(self, state: pareto.State, rule: ItemsRule, group: int) -> int | None:
        """Return the group that has been proven to beat this one."""
        by = int(state.beaten_by[group])
        return by if by >= 0 else None

    def proof(self, state: pareto.State, rule: ItemsRule, group: int) -> list[Comparison]:
        """Return the comparisons of arms on common items that decided a group."""
        if state.status[group] == pareto.REJECTED:
            by = int(state.beaten_by[group])
            return [
                found
                for d in range(len(rule.epsilon))
                for found in _comparisons(state, rule, by, group, d, pareto.OVER)
            ]
        if state.status[group] != pareto.ACCEPTED:
            return []
        shown: list[Comparison] = []
        for j in np.flatnonzero(state.status != pareto.REJECTED).tolist():
            for d in range(len(rule.epsilon)) if j != group else ():
                found = _comparisons(state, rule, group, j, d, pareto.WON)
                if len(found) == rule.start[j + 1] - rule.start[j]:
                    shown += found
                    break
        return shown


@dataclass(frozen=True)
class ItemsBest(OnItems):
    """The best group on shared items."""

    goals: ClassVar[tuple[type, ...]] = (BestGroup,)
    kernels: ClassVar[Kernels | None] = Kernels(
        best.plan, best.step, best.is_done, best.is_stuck, items=True
    )

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if the setting is too large."""
        super().check(setting)
        numbers = purse_size(betting(setting.items.count if setting.items else 0)) + 8
        shape = setting.shape
        rows = 1 + (shape.groups if setting.goal.epsilon else 0)
        selections = sum(size**shape.dims for size in shape.sizes)
        check_memory(selections * rows * numbers, "the best group")

    def rule(self, setting: Setting) -> BestRule:
        """Return the rule for the kernels."""
        return best.best_rule(items_rule(setting, self.batch))

    def init(self, rule: BestRule) -> Any:
        """Return the state before any pull."""
        return best.init(rule)

    def answer(self, state: Any, rule: BestRule) -> frozenset[int]:
        """Return the leader's group."""
        return frozenset({int(state.leader[0])})

    def record(self, state: Any, rule: BestRule) -> dict[str, Any]:
        """Return what a trace shows of a plan; with epsilon > 0 groups can come back."""
        found = {**_sets(~state.out, rule.items), "efficiency": state.efficiency.copy()}
        if rule.slack > 0.0:
            found["rejected"] = _for_good(state, rule)
        return found


@dataclass(frozen=True)
class ItemsBestByUnion(ItemsBest):
    """The best group as version 2 of `adaptive` finds it: a union over leaders, fixed bets."""

    kernels: ClassVar[Kernels | None] = Kernels(
        best_by_union.plan, best_by_union.step, best.is_done, best.is_stuck, items=True
    )

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if the setting is too large."""
        OnItems.check(self, setting)
        bets = purse_size(ladder(setting.items.count if setting.items else 0))
        dims = setting.shape.dims
        check_memory(sum(size**dims for size in setting.shape.sizes) * bets * 16, "the best group")

    def rule(self, setting: Setting) -> Any:
        """Return the rule for the kernels."""
        return best_by_union.best_rule(items_rule(setting, self.batch, older=True))

    def init(self, rule: Any) -> Any:
        """Return the state before any pull."""
        return best_by_union.init(rule)


def _comparisons(
    state: pareto.State, rule: ItemsRule, i: int, j: int, d: int, kind: int
) -> list[Comparison]:
    """Return what is proven of arms of i against arms of j in a dim, one comparison an arm of j."""
    slack = float(rule.epsilon[d]) if kind == pareto.WON else 0.0
    found: list[Comparison] = []
    for k in range(rule.start[j], rule.start[j + 1]):
        for m in range(rule.start[i], rule.start[i + 1]):
            if state.code[m, k, d, kind] == PROVEN:
                upper, lower = int(rule.place[m]), int(rule.place[k])
                found.append(Comparison(i, upper, j, lower, d, slack))
                break
    return found


def _for_good(state: Any, rule: BestRule) -> Any:
    """Return which groups are out whoever leads: others are so up to the slack, and may come back."""
    if state.code.ndim == 1:  # version 2 keeps what is out against its leader only
        return np.zeros(len(state.out), np.bool_)
    left = rule.owner[state.code[0] != PROVEN]
    return ~np.isin(np.arange(len(state.out)), left)


def _sets(undecided: Any, rule: ItemsRule) -> dict[str, Any]:
    D = len(rule.epsilon)
    arms = rule.exists & undecided[:, None]
    return {
        "groups": undecided.copy(),
        "dims": np.repeat(undecided[:, None], D, axis=1),
        "arms": np.repeat(arms[:, :, None], D, axis=2),
    }


def for_setting(
    setting: Setting, batch: int | float, lockstep: bool = False, older: bool = False
) -> Algorithm:
    """Return the algorithm on shared items, or on clusters of them, for the goal of a setting."""
    clustered = setting.items is not None and len(setting.items.sizes) > 0
    if clustered and older:
        raise InvalidInput("this version of the algorithm does not know clusters of items")
    if setting.measure is not None or setting.goal.by_directions:
        return _for_worths(setting, batch, older)
    made = ItemsPareto(batch, lockstep, older)
    if not isinstance(setting.goal, ItemsPareto.goals):
        made = (ItemsBestByUnion if older else ItemsBest)(batch, lockstep, older)
    return OnClusters(made) if clustered else made


def _for_worths(setting: Setting, batch: int | float, older: bool) -> Algorithm:
    """Return the algorithm for limits, other worths, the m best groups and maps of weights."""
    if older:
        raise InvalidInput(
            "this version of the algorithm knows neither limits, nor other worths, nor the m best "
            "groups, nor maps of weights on shared items"
        )
    if setting.items is not None and len(setting.items.sizes) > 0:
        raise InvalidInput(
            "limits, worths other than 'best', TopGroups and WeightMap are not for clusters of items "
            "that are sampled one after another; certify takes a table with clusters"
        )
    return ItemsMap(batch) if setting.goal.maps else ItemsWorths(batch)


def for_rule(rule: Any, batch: int | float, lockstep: bool = False) -> Algorithm | None:
    """Return the algorithm on shared items that a rule belongs to; None if it is of another kind."""
    if isinstance(rule, ClusterRule):
        inner = for_rule(rule.inner, batch, lockstep)
        return None if inner is None else OnClusters(inner)
    if isinstance(rule, MapItemsRule):
        return ItemsMap(batch)
    if isinstance(rule, WorthItemsRule):
        return ItemsWorths(batch)
    if isinstance(rule, ItemsRule):
        return ItemsPareto(batch, lockstep)
    if isinstance(rule, BestRule):
        return ItemsBest(batch, lockstep)
    if isinstance(rule, best_by_union.BestRule):
        return ItemsBestByUnion(batch, lockstep, True)
    return None
