"""What the algorithm for limits, other worths and the m best groups on shared items knows and keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.shared_items.rule import FIRST, ItemsRule, items_rule
from bestgroup.inference.evalues.paired import purse_size
from bestgroup.inference.item_units import (
    Units,
    levels_of,
    reaches_of,
    slacks_of,
    top_of,
    units_of,
)
from bestgroup.inference.worths import limit_rows
from bestgroup.problem.arrays import Floats, Ints

UNDECIDED, ACCEPTED, REJECTED = 0, 1, 2
WON, OVER = 0, 1  # the two claims on a pair of units
KEEPS, BREAKS = 0, 1  # the two claims on an arm and a limit


class WorthItemsRule(NamedTuple):
    """A setting as the kernels see it; Q values of a unit are compared."""

    items: ItemsRule
    units: Units
    slack: Floats  # [Q]
    reach: Floats  # [Q]       two units differ on an item by at most this
    won: Floats  # [N, N]      the wealth that proves a claim on units of two groups
    over: Floats  # [N, N]
    limits: Floats  # [L, 4]   dim, sign, at, tolerance
    middle: Floats  # [dims]   of the range of the values
    half: Floats  # [dims]     half of that range
    limit_need: float  # the wealth that proves a limit kept, or broken
    either: bool  # a limit has a tolerance: what counts may differ between comparisons
    top: int  # how many groups the answer has; 0 for Pareto groups


class WorthItemsState(NamedTuple):
    """What is proven of limits and of pairs of units, and how deep every arm is and needs to be."""

    status: Ints  # [N]
    beaten_by: Ints  # [N]           who rejected a group; -1 for none
    depth: Ints  # [A]               items that an arm has passed
    means: Floats  # [A, dims]
    unit_depth: Ints  # [P]
    standing: Ints  # [A]            whether an arm counts, is barred, or neither is known
    unit_standing: Ints  # [P]
    limit_passed: Ints  # [A]
    limit_total: Floats  # [A, L]    sums of the values about the middle of the range
    limit_square: Floats  # [A, L]
    limit_wealth: Floats  # [A, L, 2, W]
    limit_code: Ints  # [A, L, 2]
    passed: Ints  # [P, P]
    total: Floats  # [P, P, Q]       sums of the differences
    square: Floats  # [P, P, Q]
    wealth: Floats  # [P, P, Q, 2, W]
    code: Ints  # [P, P, Q, 2]
    need: Floats  # [A]              how deep an arm needs to go
    round: Ints  # [1]


def worth_rule(setting: Setting, batch: int | float) -> WorthItemsRule:
    """Return the rule of a setting with shared items and limits, another worth, or several winners."""
    shape, goal, measure, items = setting.shape, setting.goal, setting.measure, setting.items
    assert items is not None
    D = shape.dims if measure is None else measure.dims
    units = units_of(shape, goal, measure, D)
    bounds = () if measure is None else measure.bounds
    levels = levels_of(units, goal, shape, len(bounds), setting.delta)
    decided = replace(setting, shape=replace(shape, dims=D))
    low, high = range_of(setting)
    limits = np.zeros((0, 4)) if measure is None else limit_rows(measure)
    return WorthItemsRule(
        items=items_rule(decided, batch),
        units=units,
        slack=slacks_of(units, goal),
        reach=reaches_of(units, items.reach),
        won=levels.won,
        over=levels.over,
        limits=limits,
        middle=(low + high) / 2.0,
        # Rounding in the middle may take a value out of the range by its last bit.
        half=(high - low) / 2.0 * (1.0 + 1e-12),
        limit_need=levels.limit,
        either=bool((limits[:, 3] > 0.0).any()),
        top=top_of(goal) if units.summed else 0,
    )


def range_of(setting: Setting) -> tuple[Floats, Floats]:
    """Return the least and the largest value of each dim, [dims] each."""
    ends = getattr(setting.noise, "ends", None)
    if ends is None:  # 0 or 1
        return np.zeros(setting.shape.dims), np.ones(setting.shape.dims)
    return ends(setting.shape.dims)


def init(rule: WorthItemsRule) -> WorthItemsState:
    """Return the state before any pull."""
    items, units, L = rule.items, rule.units, len(rule.limits)
    N, A, P, Q = len(units.ranks), len(items.home), len(units.home), len(rule.slack)
    bets = purse_size(items.betting)
    alone = N == 1 and L == 0
    return WorthItemsState(
        status=np.full(N, ACCEPTED if alone else UNDECIDED, np.int64),
        beaten_by=np.full(N, -1, np.int64),
        depth=np.zeros(A, np.int64),
        means=np.zeros((A, len(rule.middle))),
        unit_depth=np.zeros(P, np.int64),
        standing=np.full(A, 0 if L else 1, np.int64),
        unit_standing=np.full(P, 0 if L else 1, np.int64),
        limit_passed=np.zeros(A, np.int64),
        limit_total=np.zeros((A, L)),
        limit_square=np.zeros((A, L)),
        limit_wealth=np.ones((A, L, 2, bets)),
        limit_code=np.zeros((A, L, 2), np.int64),
        passed=np.zeros((P, P), np.int64),
        total=np.zeros((P, P, Q)),
        square=np.zeros((P, P, Q)),
        wealth=np.ones((P, P, Q, 2, bets)),
        code=np.zeros((P, P, Q, 2), np.int64),
        need=np.full(A, float(min(FIRST, items.limit))),
        round=np.zeros(1, np.int64),
    )
