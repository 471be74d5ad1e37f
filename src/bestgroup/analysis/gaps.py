"""What a table proves in which dims are missing in some rows.

Each dim of an arm is judged by the rows that have it, in their order, by bounds of its own (`boxes`),
which hold whatever the other dims and arms do. So every dim has its own counts; evidence on several
arms at once, which takes one count for an arm, is not used.
"""

from __future__ import annotations

import numpy as np

from bestgroup.files.observations import Table
from bestgroup.inference.certificate.data_checks import Checker, Doubt
from bestgroup.inference.certificate.judge import Verdict, judge_boxes
from bestgroup.inference.certificate.worths import verdict_of, worths_of
from bestgroup.inference.confidence_sequences.boxes import BoxRule, all_boxes, take_values
from bestgroup.inference.kinds import SUBGAUSSIAN
from bestgroup.inference.pivots import pivot_of
from bestgroup.inference.tally import Tally, empty_tally
from bestgroup.problem.goals import Goal
from bestgroup.problem.problem import Problem

MISSING = "whether a value is missing has nothing to do with what it is"


def judge_gaps(
    table: Table, problem: Problem, goal: Goal, delta: float, checker: Checker
) -> tuple[Tally, Verdict, tuple[list[str], list[Doubt]]]:
    """Return the tally of rows, what they prove, what is missing, and what looks wrong with them.

    The tally's counts are rows; its sums are such that its means are those of the values there are.
    """
    shape, names, measure = problem.shape, [d.name for d in problem.measured], problem.measure
    rule = problem.noise.boxes(shape, delta)
    if measure is not None:
        rule = rule._replace(alpha=delta * measure.share(shape))
    rules = [_of_dim(rule, d) for d in range(shape.dims)]
    parts = [empty_tally(shape.groups, shape.arms, 1, rule.start) for _ in rules]
    rows = np.zeros((shape.groups, shape.arms), np.int64)
    scales = problem.noise.scales(shape.dims) if problem.noise.has_scale else np.zeros(shape.dims)
    pivots = np.zeros((shape.groups, shape.arms, shape.dims))
    for portion in table.portions():
        portion.check(problem, table.name)
        for group, arm, raw in portion.by_arm():
            i, j = problem.index(group, arm)
            values = problem.to_internal(raw)
            rows[i, j] += len(values)
            for d, part in enumerate(parts):
                own = values[~np.isnan(values[:, d]), d : d + 1]
                if len(own) and not part.counts[i, j] and rule.kind[d] == SUBGAUSSIAN:
                    pivots[i, j, d] = pivot_of(own[0], scales[d : d + 1])[0]
                take_values(rules[d], part, i, j, own - pivots[i, j, d])
            whole = values[~np.isnan(values).any(axis=1)]
            checker.add(f"{group}, {arm}", problem.to_user(whole))
    low = np.full((shape.groups, shape.arms, shape.dims), -np.inf)
    high = np.full_like(low, -np.inf)
    for d, part in enumerate(parts):
        all_boxes(rules[d], part, shape.exists, low[:, :, d : d + 1], high[:, :, d : d + 1])
    low, high = low + pivots, high + pivots
    if measure is None:
        verdict = judge_boxes(low, high, goal)
    else:
        verdict = verdict_of(worths_of(low, high, shape, measure), goal, measure)
    notes = [_note(name, part, rows) for name, part in zip(names, parts, strict=True)]
    told = [note for note in notes if note is not None]
    return _shown(parts, rows, pivots), verdict, (told, checker.doubts())


def _of_dim(rule: BoxRule, d: int) -> BoxRule:
    one = slice(d, d + 1)
    return rule._replace(kind=rule.kind[one], origin=rule.origin[one], scale=rule.scale[one])


def _shown(parts: list[Tally], rows: np.ndarray, pivots: np.ndarray) -> Tally:
    """Return a tally with these numbers of rows whose means are those of the single dims."""
    with np.errstate(all="ignore"):
        means = [np.where(p.counts > 0, p.sums[:, :, 0] / p.counts, -np.inf) for p in parts]
        sums = (np.stack(means, axis=2) + pivots) * rows[:, :, None]
    return Tally(rows, np.where(rows[:, :, None] > 0, sums, 0.0))


def _note(name: str, part: Tally, rows: np.ndarray) -> str | None:
    missing = int((rows - part.counts).sum())
    if not missing:
        return None
    return f"{name} is missing in {missing:,} of {int(rows.sum()):,} rows and judged by the others"
