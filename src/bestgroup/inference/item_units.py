"""Units on shared items: what is compared where groups are worth other things than their best arm.

A *unit* of a group has one value an item in each dim that is compared, and so a mean:

- an arm, for Pareto groups;
- all arms of the group together, their average, where that is the group's worth;
- a selection, an arm for each dim, with the weighted sum of their values, where weights are given. The
  weighted sum of the best arms' means is the largest mean of a selection, that of the worst arms' the
  least one.

A group is worth the mean of its unit of a certain rank from the top. So limits, all worths and all
goals with weights are claims on pairs of units, and the pair process (`evalues.paired`) proves them.

**Shares of delta** (docs/theory.md 9.6). Group i has K_i units and rank k_i; B_i = K_i - k_i + 1. The means
fix, for a comparison of i with j that is false, B_i units of i and k_i units of j, one pair of which must
have been proven wrongly. Half of delta is for limits, if there are any.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.goals import Goal
from bestgroup.problem.measure import Measure
from bestgroup.problem.shape import Shape

_FOR_GOOD = 0.25  # the share of delta for what is above without slack, if weights are given
MOST_UNITS = 4000  # of all groups; their pairs are kept


class Units(NamedTuple):
    """The units of all groups; arms are numbered through."""

    start: Ints  # [N + 1]     the first unit of each group
    home: Ints  # [P]          the group of a unit
    parts: Ints  # [P, D, M]   the arms whose average is its value in a dim; -1 for none
    arms: Ints  # [P, Q]       the arms that it has, each once; -1 for none
    weights: Floats  # [D]     of the dims, if there is one value an item
    summed: bool  # one value an item: the weighted sum over dims
    ranks: Ints  # [N]         the rank of the unit that a group is worth


class Levels(NamedTuple):
    """The wealth that proves a claim on a unit of group i and one of group j, [N, N] each."""

    won: Floats  # not below by more than the slack
    over: Floats  # above
    limit: float  # a limit is kept, or broken


def units_of(shape: Shape, goal: Goal, measure: Measure | None, dims: int) -> Units:
    """Return the units of a problem whose goal judges so many dims."""
    ranks = (1,) * shape.groups if measure is None else measure.ranks(shape)
    weights = goal.worth_weights(dims)
    first = np.concatenate([[0], np.cumsum(shape.sizes)]).tolist()
    rows: list[list[list[list[int]]]] = []  # by group and unit: the arms of each dim
    places: list[int] = []
    for i, (size, rank) in enumerate(zip(shape.sizes, ranks, strict=True)):
        own = range(first[i], first[i + 1])
        if rank == 0:
            rows.append([[list(own)] * dims])
        elif weights is None:
            rows.append([[[a]] * dims for a in own])
        else:
            if dims > 1 and rank not in (1, size):
                raise InvalidInput(
                    "on shared items the weighted worth of arms of a certain rank is not bounded by "
                    "pairs: with several dims ('kth', k) and quantiles go with ParetoGroups"
                )
            rows.append([[[a] for a in chosen] for chosen in _selections(own, dims)])
        places.append(1 if rank in (0, 1) else len(rows[-1]) if rank == size else rank)
    return _made(rows, places, weights, dims)


def _selections(own: Sequence[int], dims: int) -> Any:
    if len(own) ** dims > MOST_UNITS:
        raise InvalidInput(
            f"a group of {len(own)} arms has {len(own) ** dims:,} selections of one for each of {dims} "
            f"dims, more than {MOST_UNITS:,}: take fewer arms, or ParetoGroups"
        )
    return itertools.product(own, repeat=dims)


def _made(
    rows: list[list[list[list[int]]]], places: list[int], weights: Floats | None, dims: int
) -> Units:
    units = [unit for group in rows for unit in group]
    if len(units) > MOST_UNITS:
        raise InvalidInput(
            f"there are {len(units):,} units of groups to compare on shared items, more than "
            f"{MOST_UNITS:,}: take fewer arms, or ParetoGroups"
        )
    most = max(len(arms) for unit in units for arms in unit)
    parts = np.full((len(units), dims, most), -1, np.int64)
    members = [sorted({a for arms in unit for a in arms}) for unit in units]
    arms = np.full((len(units), max(map(len, members))), -1, np.int64)
    for u, unit in enumerate(units):
        arms[u, : len(members[u])] = members[u]
        for d, own in enumerate(unit):
            parts[u, d, : len(own)] = own
    sizes = [len(group) for group in rows]
    return Units(
        start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        home=np.repeat(np.arange(len(rows)), sizes).astype(np.int64),
        parts=parts,
        arms=arms,
        weights=np.ones(dims) if weights is None else np.array(weights, np.float64),
        summed=weights is not None,
        ranks=np.array(places, np.int64),
    )


def levels_of(units: Units, goal: Goal, shape: Shape, bounds: int, delta: float) -> Levels:
    """Return the wealths that prove claims; `bounds` is the number of limits."""
    N = len(units.ranks)
    low: Floats = (np.diff(units.start) - units.ranks + 1).astype(np.float64)  # B_i
    part = delta / 2.0 if bounds else delta
    pairs = low[:, None] * units.ranks[None, :]
    limit = 2.0 * shape.total * bounds / delta
    if not units.summed:
        others = np.maximum(low.sum() - low, 1.0)  # of a group alone there is nothing to prove
        won = N * units.parts.shape[1] * pairs / part
        over = np.repeat((N * units.ranks * others)[None, :], N, axis=0) / part
        return Levels(won, over, limit)
    m = top_of(goal)
    events: Floats = max(m * (N - m), 1) * pairs / part
    if slacks_of(units, goal)[0] == 0.0:
        return Levels(events, events, limit)
    return Levels(events / (1.0 - _FOR_GOOD), events / _FOR_GOOD, limit)


def top_of(goal: Goal) -> int:
    """Return how many groups an answer has; 0 if groups are decided one by one."""
    return int(getattr(goal, "m", 1))


def slacks_of(units: Units, goal: Goal) -> Floats:
    """Return the slack of each value that units are compared by."""
    epsilon = goal.epsilons(units.parts.shape[1])
    return np.array([float(units.weights @ epsilon)]) if units.summed else epsilon


def reaches_of(units: Units, reach: Sequence[float]) -> Floats:
    """Return by how much two units can differ on an item, for each value that is compared."""
    own = np.array(reach[: units.parts.shape[1]], np.float64)
    return np.array([float(units.weights @ own)]) if units.summed else own
