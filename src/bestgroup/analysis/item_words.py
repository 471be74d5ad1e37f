"""What people ask of shared items: how far each arm has come, what was saved, which items tell arms apart.

Intervals of differences come from the pair process, for all pairs of arms and dims at once: all of
them hold together with probability at least 1 - delta, so any of them may be picked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestgroup.inference.certificate.items import ItemTable
from bestgroup.inference.evalues.paired import ladder, lower_mean
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.problem import Problem


class Difference(NamedTuple):
    """The mean difference of two arms on the items that both have passed, in the dim's own units."""

    group: str
    arm: str
    rival: str
    rival_arm: str
    dim: str
    mean: float  # of the group's arm less the rival's, on their common items
    low: float  # bounds of the difference of the means that the answer speaks of
    high: float
    items: int  # in common


class Telling(NamedTuple):
    """An item on which the contenders differ, with the values of their leading arms."""

    item: str
    spread: float  # largest less smallest value of a dim, in units of its range, over the dims
    values: dict[str, dict[str, float]]  # dim: group: value


def items_done(problem: Problem, counts: Ints) -> dict[str, dict[str, int]]:
    """Return how many items each arm has passed, by group."""
    return {
        group: {arm: int(counts[i, j]) for j, arm in enumerate(problem.arms[i])}
        for i, group in enumerate(problem.groups)
    }


def share_done(problem: Problem, counts: Ints) -> float | None:
    """Return the share of the full table that was evaluated; None without a number of items."""
    if problem.items is None or problem.items.count is None:
        return None
    return float(counts.sum() / (problem.items.count * problem.shape.total))


def leading_arms(problem: Problem, table: ItemTable) -> Ints:
    """Return the arm of each group with the largest mean in each dim, [N, D]."""
    D = problem.shape.dims
    lead = np.zeros((problem.shape.groups, D), np.int64)
    for i, group in enumerate(table.values):
        means = [arm.mean(axis=0) if len(arm) else np.full(D, -np.inf) for arm in group]
        lead[i] = np.argmax(means, axis=0)
    return lead


def differences(problem: Problem, table: ItemTable, delta: float, groups: list[int]) -> list[Any]:
    """Return the differences of the leading arms of groups, in each dim, with their bounds."""
    shared, shape = problem.shared, problem.shape
    assert shared is not None
    if table.largest > 1.0:
        return []  # of clusters, whose units are not items
    lead = leading_arms(problem, table)
    need = shape.total * (shape.total - 1) * shape.dims / delta  # both sides of every pair and dim
    rule = ladder(shared.count if shared.pool else 0)
    found = []
    for at, i in enumerate(groups):
        for k in groups[at + 1 :]:
            for d, dim in enumerate(problem.decided):
                a, b = int(lead[i, d]), int(lead[k, d])
                x, y = table.values[i][a], table.values[k][b]
                n = min(len(x), len(y))
                gaps = np.ascontiguousarray(x[:n, d] - y[:n, d])
                ends = _ends(rule, gaps, shared.reach[d], need)
                sign = -1.0 if dim.direction == "min" else 1.0
                mean = float(gaps.mean()) if n else float("nan")
                low, high = sorted(sign * end for end in ends)
                names = problem.arms[i][a], problem.groups[k], problem.arms[k][b], dim.name
                found.append(Difference(problem.groups[i], *names, sign * mean, low, high, n))
    return found


def _ends(rule: Any, gaps: Floats, reach: float, need: float) -> tuple[float, float]:
    if rule.pool and len(gaps) == rule.pool:
        return float(gaps.mean()), float(gaps.mean())
    low = lower_mean.compiled(rule, gaps, reach, need)
    return low, -lower_mean.compiled(rule, -gaps, reach, need)


def telling(problem: Problem, table: ItemTable, groups: list[int], most: int) -> list[Telling]:
    """Return the items on which the leading arms of groups differ most, the clearest first."""
    lead, ranges = leading_arms(problem, table), table.high - table.low
    D = problem.shape.dims
    arms = [[table.values[i][int(lead[i, d])] for i in groups] for d in range(D)]
    n = min((len(arm) for row in arms for arm in row), default=0)
    if n == 0 or len(groups) < 2:
        return []
    values = np.stack([[arm[:n, d] for arm in row] for d, row in enumerate(arms)])  # [D, groups, n]
    spread = ((values.max(axis=1) - values.min(axis=1)) / ranges[:, None]).max(axis=0)
    chosen = np.argsort(-spread, kind="stable")[:most]
    own = problem.to_user(np.moveaxis(values, 0, -1))  # [groups, n, D]
    return [
        Telling(
            table.names[t] if table.names else str(t),
            float(spread[t]),
            {
                dim.name: {problem.groups[i]: float(own[g, t, d]) for g, i in enumerate(groups)}
                for d, dim in enumerate(problem.decided)
            },
        )
        for t in chosen.tolist()
        if spread[t] > 0
    ]
