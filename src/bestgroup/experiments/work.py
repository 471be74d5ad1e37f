"""The work of one experiment: a sweep of its instances, read as outcomes while it goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from bestgroup.experiments.points import DELTA, Limit, Outcome, Point, Weights
from bestgroup.problem.goals import Goal
from bestgroup.problem.instance import Instance
from bestgroup.simulation.cells import Cell
from bestgroup.simulation.sweep import sweep
from bestgroup.theory.lower_bounds import lower_bound

# The limit is reported at its certified lower end, which a finer tolerance would hardly raise.
TOLERANCE = 0.05


def run_points(
    points: Sequence[Point],
    runs: int,
    results: Path,
    workers: int | str,
    watch: Callable[[Point, list[Outcome]], None],
    progress: bool | None = None,
) -> None:
    """Run an experiment's points; `watch` gets each one with its outcomes once all are there.

    All points of an experiment have the same goals and algorithms.
    """
    by_name = {name_of(point): point for point in points}
    made = {name: point.make() for name, point in by_name.items()}
    goals = {_goal_name(weights): goal for weights, goal in points[0].goals}
    found: dict[str, dict[tuple[str, str], Cell]] = {name: {} for name in by_name}
    all_of_one = len(goals) * len(points[0].algorithms)

    def see(cell: Cell) -> None:
        mine = found[cell.instance]
        mine[cell.goal_name, cell.algorithm] = cell
        if len(mine) == all_of_one:
            point = by_name[cell.instance]
            watch(point, _outcomes(point, made[cell.instance], mine, runs))

    sweep(
        made,
        points[0].algorithms,
        DELTA,
        runs,
        workers,
        results,
        goals=goals,
        seed={name: point.run_seed for name, point in by_name.items()},
        limit=[name for name, point in by_name.items() if point.with_limit],
        tolerance=TOLERANCE,
        progress=progress,
        watch=see,
    )


def name_of(point: Point) -> str:
    """Return the name of an instance within its experiment."""
    return f"N={point.groups} K={point.arms} {point.letter}"


def _goal_name(weights: Weights | None) -> str:
    return "pareto" if weights is None else " ".join(f"{w:g}" for w in weights)


def _outcomes(
    point: Point, instance: Instance, cells: dict[tuple[str, str], Cell], runs: int
) -> list[Outcome]:
    """Return an outcome for each goal and algorithm."""
    outcomes: list[Outcome] = []
    for weights, goal in point.goals:
        mine = [cell for (name, _), cell in cells.items() if name == _goal_name(weights)]
        limit = _limit(instance, goal, mine[0]) if point.with_limit else Limit()
        by_algorithm = {cell.algorithm: cell for cell in mine}
        for name in point.algorithms:
            outcomes.append(_outcome(point, weights, name, by_algorithm[name], runs, limit))
    return outcomes


def _outcome(
    point: Point, weights: Weights | None, name: str, cell: Cell, runs: int, limit: Limit
) -> Outcome:
    simulation = cell.simulation
    if simulation is None:
        known = cell.known or 0
        return Outcome(
            point,
            weights,
            name,
            runs=0,
            mean=float(known),
            sd=0.0 if runs > 1 else math.nan,
            least=known,
            most=known,
            errors=None,
            engine=cell.engine,
            distance=0.0,
            seconds=0.0,
            limit=limit,
        )
    pulls = simulation.pulls
    return Outcome(
        point,
        weights,
        name,
        runs=simulation.runs,
        mean=float(pulls.mean()),
        sd=float(pulls.std(ddof=1)) if simulation.runs > 1 else math.nan,
        least=int(pulls.min()),
        most=int(pulls.max()),
        errors=simulation.errors,
        engine=simulation.engine,
        distance=float(simulation.distance.max()),
        seconds=cell.seconds,
        limit=limit,
    )


def _limit(instance: Instance, goal: Goal, cell: Cell) -> Limit:
    """Return what theory says."""
    theorem = lower_bound(instance, goal, DELTA)
    return Limit(
        pulls=math.nan if cell.limit is None else cell.limit,
        gap=math.nan if cell.limit_gap is None else cell.limit_gap,
        bound=theorem.value,
        bound_why_not=None if theorem.applies else theorem.why_not,
    )
