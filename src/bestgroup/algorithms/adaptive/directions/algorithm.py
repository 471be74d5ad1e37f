"""Adaptive maps of weights (`WeightMap`) and the m best groups (`TopGroups`).

**What proves.** Bounds of R_i . v - R_k . v for all pairs of groups at fixed directions v: the corners
of a triangulation of the weights that the goal fixes, or the one vector of weights. With independent
arms and a known scale they are those of `inference.evalues.directions`; in any case boxes of single
arms give some. Where both are used each has half of delta. All bounds hold together with probability
at least 1 - delta, at all times, whatever rule chooses the pulls (docs/theory.md, 10), and `prove`
says what follows from them.

**Sampling** (`aim`) cannot break that.

**It ends** with probability 1 if epsilon > 0, or if more than the share of the weights that is asked
for has a best group that is unique: every arm of a group that is not out gets at least t / (25 A) of
the first t pulls, so estimates converge, and the comparison that is least proven gets the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bestgroup.algorithms.adaptive.algorithm import check_batch
from bestgroup.algorithms.adaptive.best.algorithm import costs_of
from bestgroup.algorithms.adaptive.directions.aim import choose_arm, count_of, take_aim
from bestgroup.algorithms.adaptive.directions.prove import (
    bounds_from_boxes,
    set_first,
    set_means,
    settle_map,
    settle_top,
)
from bestgroup.algorithms.adaptive.directions.scouting import end_scouting
from bestgroup.algorithms.adaptive.directions.state import DirectionsRule, State, init
from bestgroup.algorithms.protocol import Algorithm, Grounds, Kernels, Setting, proven_for
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.directions import asked_directions
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.inference.evalues.directions import Directions, raise_bounds
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Ints
from bestgroup.problem.goals import TopGroups, WeightMap
from bestgroup.problem.guarantee import SEVERAL_ARMS, SINGLE_ARMS, Guarantee
from bestgroup.problem.weight_grid import WeightGrid

_FIRST = 4  # pulls of every arm before the first check
_EVEN = 0.04  # of all pulls go to all arms alike, at least: no arm stays unlucky for long
_GROWTH = 0.03  # pulls in all grow by so much from one check to the next


@kernel
def plan(state: State, tally: Tally, rule: DirectionsRule) -> Ints:
    """Return the next pulls; choices in a batch count those before them, with means as they are."""
    N, K = rule.exists.shape
    pulls = np.zeros((N, K), np.int64)
    least = least_of(state, tally, rule)
    for i in range(N):
        for j in range(rule.sizes[i]):
            if state.round[0] == 0:
                pulls[i, j] = _FIRST
            elif state.short[0] and not state.out[i]:
                # The floor goes first: that it ends rests on it.
                pulls[i, j] = max(0, math.ceil(least) - count_of(state, tally, i, j))
    if state.round[0] > 0 and not state.short[0]:
        for _ in range(rule.batch):
            i, j, count = choose_arm(state, tally, rule, pulls)
            pulls[i, j] += max(1, int(rule.grow * count))
    return pulls


@borrowing
def least_of(state: State, tally: Tally, rule: DirectionsRule) -> float:
    """Return how often every arm is pulled at least: t / (25 A), of the pulls that count."""
    arms, total = 0, 0
    for i in range(len(rule.sizes)):
        arms += rule.sizes[i]
        for j in range(rule.sizes[i]):
            total += count_of(state, tally, i, j)
    return max(float(_FIRST), _EVEN * total / arms)


@kernel
def step(state: State, tally: Tally, rule: DirectionsRule) -> None:
    """Count the round, and check if it is time to."""
    state.round[0] += 1
    state.short[0] = False
    total = sum_of(tally.counts)
    # Pulls that come in after the end change nothing.
    if state.done[0] or total < state.next[0]:
        return
    set_means(state, tally, rule)
    if rule.linear:
        set_first(state, rule)
        raise_linear(state, tally, rule)
    if rule.boxed:
        bounds_from_boxes(state, tally, rule)
    if state.counting[0] and rule.top > 0:
        settle_top(state, rule)
    elif state.counting[0]:
        settle_map(state, rule)
    if not state.done[0]:
        least = take_aim(state, tally, rule)
        if not state.counting[0] and end_scouting(state, tally, rule, least):
            state.short[0] = True
    state.next[0] = total + max(1, int(_GROWTH * total))
    least = least_of(state, tally, rule)
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            # Noted here, planned next: `plan` must not change the state.
            if not state.out[i] and count_of(state, tally, i, j) < least:
                state.short[0] = True


@kernel
def raise_linear(state: State, tally: Tally, rule: DirectionsRule) -> None:
    """Raise the bounds that evidence on several arms proves from the pulls that count."""
    given = rule.directions
    # While scouting nothing is proven; precisions are fixed when it ends.
    fixed = state.counting[0]
    made = Directions(
        given.weights,
        given.dims,
        given.support,
        given.coefficient,
        state.level,
        state.price,
        state.precision if fixed else given.precision,
        np.zeros(1) if fixed else given.prior,
    )
    raise_bounds(
        tally.counts - state.start,
        tally.sums - state.start_sums,
        rule.sizes,
        made,
        state.first,
        state.lead,
        state.bound,
    )


@borrowing
def is_done(state: State, rule: DirectionsRule) -> bool:
    """Return whether the answer is final."""
    return state.done[0]


@dataclass(frozen=True)
class AdaptiveDirections(Algorithm):
    """Pulls what the hardest comparison lacks; `batch` is that of `Adaptive`."""

    batch: int | float = 0.01

    name: ClassVar[str] = "adaptive"
    reads_values: ClassVar[bool] = True
    goals: ClassVar[tuple[type, ...]] = (WeightMap, TopGroups)
    kernels: ClassVar[Kernels | None] = Kernels(plan, step, is_done, values=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch", check_batch(self.batch))

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if this algorithm cannot work on the setting."""
        super().check(setting)
        if setting.items is not None:
            raise InvalidInput(
                f"the goal {type(setting.goal).__name__} is not for arms that share items"
            )

    def by_pairs(self, setting: Setting) -> bool:
        """Return whether evidence on several arms proves, not boxes of single ones alone."""
        return asked_directions(setting.shape, setting.goal, setting.noise, setting.delta).linear

    def rule(self, setting: Setting) -> DirectionsRule:
        """Return the rule for the kernels."""
        asked = asked_directions(setting.shape, setting.goal, setting.noise, setting.delta)
        shape, grid = setting.shape, asked.grid
        goal: Any = setting.goal
        level = asked.directions.level
        return DirectionsRule(
            exists=shape.exists,
            sizes=np.array(shape.sizes, np.int64),
            cost=costs_of(setting),
            scale=asked.scale,
            independent=setting.noise.dependence == "independent",
            directions=asked.directions,
            own=grid.own,
            cells=grid.cells,
            points=grid.points,
            place=grid.place,
            mix=grid.mix,
            volume=grid.volume,
            epsilon=asked.slack,
            share=goal.share,
            top=goal.m,
            level=float(level[np.isfinite(level)].mean()) + 3.0 if shape.groups > 1 else 1.0,
            budget=setting.delta / (2.0 if asked.boxed else 1.0),
            batch=self.batch if isinstance(self.batch, int) else 1,
            grow=0.0 if isinstance(self.batch, int) else self.batch,
            linear=asked.linear,
            boxed=asked.boxed,
            box=asked.box,
        )

    def init(self, rule: DirectionsRule) -> State:
        """Return the state before any pull."""
        return init(rule)

    def answer(self, state: State, rule: DirectionsRule) -> frozenset[int]:
        """Return the groups that are proven best for some weight, or the m best."""
        return frozenset(np.flatnonzero(state.named).tolist())

    def record(self, state: State, rule: DirectionsRule) -> dict[str, Any]:
        """Return what a trace shows of a round."""
        groups = ~(state.out | state.named)
        dims = np.repeat(groups[:, None], len(rule.scale), axis=1)
        return {
            "groups": groups,
            "dims": dims,
            "arms": rule.exists[:, :, None] & dims[:, None, :],
            "accepted": state.named.copy(),
            "rejected": state.out.copy(),
            "efficiency": state.efficiency.copy(),
        }

    def regions(self, state: State, rule: DirectionsRule) -> WeightRegions | None:
        """Return what is proven of the map; nothing while scouting."""
        if rule.top > 0:
            return None
        grid = WeightGrid(
            rule.directions.weights,
            rule.own,
            rule.cells,
            rule.points,
            rule.place,
            rule.mix,
            rule.volume,
        )
        bound = state.bound if state.counting[0] else np.full_like(state.bound, -np.inf)
        return WeightRegions(grid, bound.copy(), rule.epsilon)

    def grounds(self, setting: Setting) -> Grounds:
        """Return evidence on several arms at once."""
        return Grounds("several arms")

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the theorem."""
        return proven_for(setting, *(SEVERAL_ARMS if self.by_pairs(setting) else SINGLE_ARMS))
