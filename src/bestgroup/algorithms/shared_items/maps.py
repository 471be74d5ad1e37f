"""Maps of weights on shared items: boxes of single arms from the items that they have passed.

The process of one arm against the middle of its range (`inference.evalues.paired`, docs/theory.md 9.1)
bounds its mean in each dim, without replacement in a pool; all bounds hold together with probability at
least 1 - delta, so what `adaptive.directions` reads off bounds of worths does, too. At the end of a pool
means are known, and every weight is mapped; sums closer than their rounding error are ties.

**Sampling.** All arms of groups that may be best for some weights advance together, but for those that
are proven below another arm of their group in every dim.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.adaptive.directions import state as directions
from bestgroup.algorithms.adaptive.directions.algorithm import AdaptiveDirections
from bestgroup.algorithms.adaptive.directions.prove import (
    bounds_from_boxes,
    set_means,
    settle_map,
)
from bestgroup.algorithms.protocol import Algorithm, Kernels, Setting
from bestgroup.algorithms.shared_items.on_items import OnItems
from bestgroup.algorithms.shared_items.rule import (
    FIRST,
    ItemsRule,
    items_rule,
    plan_depths,
    shallowest,
)
from bestgroup.algorithms.shared_items.worth_state import range_of
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.inference.confidence_sequences.boxes import share
from bestgroup.inference.evalues.paired import Betting, Claim, is_refuted, ladder, rounding
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.goals import WeightMap

_LATER = 1.1  # the deepest arm has so many times more items from one look at the boxes to the next
_CUTS = 14  # steps of a bisection; stopping it early costs width only


class MapItemsRule(NamedTuple):
    """A setting."""

    items: ItemsRule
    map: directions.DirectionsRule
    bets: Betting  # fixed ones, so that refuted means are a half-line
    low: Floats  # [D]   the range of the values
    high: Floats  # [D]
    slop: Floats  # [D]  more than the rounding error of a mean over the pool
    need: float  # the wealth that proves a bound


class MapItemsState(NamedTuple):
    """What is proven of the map, and how deep every arm is and needs to be."""

    map: directions.State
    depth: Ints  # [A]
    need: Floats  # [A]
    looked: Ints  # [1]  how deep the deepest arm was at the last look
    round: Ints  # [1]


@kernel
def plan(state: MapItemsState, tally: Tally, rule: MapItemsRule) -> Ints:
    """Return the next items of the arms that are not as deep as they need to be."""
    return plan_depths(rule.items, state.need, state.depth, state.round[0] == 0)


@kernel
def step(state: MapItemsState, tally: Tally, rule: MapItemsRule) -> None:
    """Take up the items that arms have passed, and look at the boxes if it is time to."""
    items, deepest = rule.items, 0
    state.round[0] += 1
    for a in range(len(state.depth)):
        state.depth[a] = tally.counts[items.home[a], items.place[a]]
        deepest = max(deepest, state.depth[a])
    over = shallowest(state.need, state.depth, items.limit) < 0
    if state.map.done[0] or not (over or deepest >= _LATER * state.looked[0]):
        return
    state.looked[0] = deepest
    values = np.zeros(deepest)
    for a in range(len(state.depth)):
        if state.map.boxed[items.home[a], items.place[a]] < state.depth[a]:
            for d in range(len(rule.low)):
                cut_box(state, tally, rule, a, d, values)
            state.map.boxed[items.home[a], items.place[a]] = state.depth[a]
    set_means(state.map, tally, rule.map)
    bounds_from_boxes(state.map, tally, rule.map)
    settle_map(state.map, rule.map)
    for a in range(len(state.depth)):
        wanted = not state.map.out[items.home[a]] and not is_below(state, rule, a)
        state.need[a] = float(items.limit) if wanted else float(state.depth[a])


@kernel
def cut_box(
    state: MapItemsState, tally: Tally, rule: MapItemsRule, a: int, d: int, values: Floats
) -> None:
    """Cut the box of an arm in a dim by the items that it has passed; `values` is room."""
    i, j, n = rule.items.home[a], rule.items.place[a], state.depth[a]
    low, high = state.map.low, state.map.high
    if n == rule.bets.pool:
        mean = tally.sums[i, j, d] / n
        low[i, j, d], high[i, j, d] = mean - rule.slop[d], mean + rule.slop[d]
        return
    middle = 0.5 * (rule.low[d] + rule.high[d])
    # Rounding in the middle may take a value out of the range by its last bit.
    half = 0.5 * (rule.high[d] - rule.low[d]) * (1.0 + 1e-12)
    for side in range(2):
        sign, total = 1.0 if side == 0 else -1.0, 0.0
        for t in range(n):
            values[t] = sign * (tally.extra[i, j, d, t] - middle)
            total += values[t]
        # What was refuted before stays so; nothing above the mean so far is looked at.
        out = low[i, j, d] - middle if side == 0 else middle - high[i, j, d]
        within = max(out, total / n)
        for _ in range(_CUTS):
            middling = 0.5 * (out + within)
            if is_refuted(rule.bets, values[:n], Claim(-middling, half, rule.need, True)):
                out = middling
            else:
                within = middling
        if side == 0:
            low[i, j, d] = max(low[i, j, d], middle + out)
        else:
            high[i, j, d] = min(high[i, j, d], middle - out)


@borrowing
def is_below(state: MapItemsState, rule: MapItemsRule, a: int) -> bool:
    """Return whether other arms of its group are proven above an arm in every dim."""
    i, j, ends = rule.items.home[a], rule.items.place[a], state.map
    for d in range(len(rule.low)):
        found = False
        for k in range(rule.map.sizes[i]):
            if k != j and ends.low[i, k, d] > ends.high[i, j, d]:
                found = True
        if not found:
            return False
    return True


@kernel
def is_done(state: MapItemsState, rule: MapItemsRule) -> bool:
    """Return whether the share of the weights that is asked for is mapped."""
    return state.map.done[0]


@kernel
def is_stuck(state: MapItemsState, rule: MapItemsRule) -> bool:
    """Return whether all items are used up; a pool decides everything then."""
    items = rule.items
    return items.betting.pool == 0 and shallowest(state.need, state.depth, items.limit) < 0


@dataclass(frozen=True)
class ItemsMap(OnItems):
    """The best group for every weight of a set, on shared items."""

    goals: ClassVar[tuple[type, ...]] = (WeightMap,)
    kernels: ClassVar[Kernels | None] = Kernels(plan, step, is_done, is_stuck, items=True)

    def rule(self, setting: Setting) -> MapItemsRule:
        """Return the rule for the kernels."""
        items = setting.items
        assert items is not None
        made = AdaptiveDirections(self.batch).rule(replace(setting, items=None))
        low, high = range_of(setting)
        count = items.count if items.pool else 0
        slop = np.zeros(len(low))
        if count:  # means that rounding cannot tell apart are equal
            slop = np.array([rounding(count, count, 0.0, r) / count for r in high - low])
            made = made._replace(epsilon=made.epsilon + 4.0 * float(slop.max()))
        need = 1.0 / share(setting.shape, setting.delta)
        rule = items_rule(setting, self.batch)
        return MapItemsRule(rule, made, ladder(count), low, high, slop, need)

    def init(self, rule: MapItemsRule) -> MapItemsState:
        """Return the state before any pull."""
        made = directions.init(rule.map)
        made.low[:], made.high[:] = rule.low, rule.high
        arms = len(rule.items.home)
        return MapItemsState(
            map=made,
            depth=np.zeros(arms, np.int64),
            need=np.full(arms, float(min(FIRST, rule.items.limit))),
            looked=np.zeros(1, np.int64),
            round=np.zeros(1, np.int64),
        )

    def remaining(self, state: MapItemsState, rule: MapItemsRule) -> float | None:
        """Return None: boxes do not say how deep arms will have to go."""
        return None

    def answer(self, state: MapItemsState, rule: MapItemsRule) -> frozenset[int]:
        """Return the groups that are proven best for some weight."""
        return self._inner().answer(state.map, rule.map)

    def record(self, state: MapItemsState, rule: MapItemsRule) -> dict[str, Any]:
        """Return what a trace shows of a plan."""
        return self._inner().record(state.map, rule.map)

    def regions(self, state: MapItemsState, rule: MapItemsRule) -> WeightRegions | None:
        """Return what is proven of the map."""
        return self._inner().regions(state.map, rule.map)

    def _inner(self) -> Algorithm:
        return AdaptiveDirections(self.batch)
