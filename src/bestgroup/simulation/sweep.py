"""`sweep`: every algorithm on every instance, for every goal and delta, as one tidy frame.

All runs go to one results file as they finish, by what they are: a call that was stopped goes on, and
one with more runs, instances or algorithms does only those that are not there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from bestgroup.plots.sweep import sweep_view
from bestgroup.problem.frames import data_frame
from bestgroup.problem.goals import Goal, ParetoGroups
from bestgroup.problem.markup import card, rows_table
from bestgroup.simulation.cells import Cell, Question, Task, Wanted, do_task, questions
from bestgroup.simulation.progress import Progress
from bestgroup.simulation.runs import Runs
from bestgroup.simulation.simulate import collect
from bestgroup.simulation.sweep_file import SweepFile, open_sweep
from bestgroup.simulation.workers import check_workers, each

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.algorithms.protocol import Algorithm
    from bestgroup.problem.instance import Instance

_PIECES = 4  # of a cell's runs, at least: what a stopped call has to do again
Watch = Callable[[Cell], None]


@dataclass(frozen=True)
class Sweep:
    """What came out: a cell for each instance, goal, delta and algorithm, in this order."""

    cells: tuple[Cell, ...]
    seconds: float = field(default=0.0, compare=False)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one plain dictionary a cell."""
        return [cell.to_record() for cell in self.cells]

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each cell (extra `frames`)."""
        return data_frame(self.to_records())

    def run_records(self) -> list[dict[str, Any]]:
        """Return one plain dictionary a run; pulls that are known without a run have none."""
        return [record for cell in self.cells for record in cell.run_records()]

    def run_frame(self) -> Any:
        """Return a pandas data frame with a row for each run (extra `frames`)."""
        return data_frame(self.run_records())

    def plot(self, x: str | None = None) -> Figure:
        """Return pulls against `x`, a line an algorithm, one panel for each goal and delta.

        `x` is "groups", "arms", "dims", "delta" or "instance"; by default the first that varies.
        Where several instances have the same x, their runs are put together.
        """
        return sweep_view(self, x)

    def _repr_html_(self) -> str:
        rows = [
            (
                cell.instance,
                cell.goal_name,
                f"{cell.delta:g}",
                cell.algorithm,
                f"{cell.mean:,.0f}",
                "-" if cell.simulation is None else f"{cell.simulation.errors} of {cell.runs:,}",
            )
            for cell in self.cells
        ]
        heads = ["instance", "goal", ">delta", "algorithm", ">mean pulls", ">wrong answers"]
        return card("Sweep", f"{len(rows)} cells", rows_table(heads, rows))

    def __repr__(self) -> str:
        runs = sum(cell.runs for cell in self.cells)
        errors = sum(cell.simulation.errors for cell in self.cells if cell.simulation is not None)
        return f"Sweep(cells={len(self.cells)}, runs={runs:,}, errors={errors:,})"


def sweep(
    instances: Instance | Sequence[Instance] | Mapping[str, Instance],
    algorithms: str | Algorithm | Sequence[str | Algorithm] = "adaptive",
    deltas: float | Sequence[float] = 0.01,
    runs: int = 20,
    workers: int | str = 1,
    results: str | PathLike[str] | None = None,
    *,
    goals: Goal | Sequence[Goal] | Mapping[str, Goal] = ParetoGroups(),  # noqa: B008  (frozen)
    seed: int | Mapping[str, int] = 0,
    limit: bool | Collection[str] = False,
    tolerance: float = 0.01,
    engine: str = "auto",
    max_pulls: int | None = None,
    progress: bool | None = None,
    watch: Watch | None = None,
) -> Sweep:
    """Return `runs` runs of every algorithm on every instance, for every goal and delta.

    Instances and goals have the names of a mapping; in a list instances are "0", "1", ... and goals
    say what they are. An algorithm that answers only some of the goals is left out for the others.
    The runs of a cell are those of `simulate` with the same seed, which may differ by instance:
    whatever `workers` is, and whatever else is swept. Pulls that never change and would be slow to
    draw, as those of uniform sampling, are not drawn: their engine is "formula".

    `results` names an SQLite file that keeps every finished run; the same call goes on where it was
    stopped, and a larger one does what is missing. `limit` adds the least pulls that any correct
    algorithm needs, for all instances or for those that it names, within the relative `tolerance`.
    `watch` is called with every finished cell.

    >>> from bestgroup.problem.instance import Instance
    >>> from bestgroup.problem.goals import BestGroup
    >>> pair = Instance([[[0.0]], [[2.0]]])
    >>> found = sweep({"pair": pair}, ["eecb", "tel"], [0.1, 0.01], 3, goals=BestGroup([1.0]))
    >>> found
    Sweep(cells=4, runs=12, errors=0)
    >>> [record["algorithm"] for record in found.to_records()]
    ['eecb', 'tel', 'eecb', 'tel']
    """
    pool = check_workers(workers)
    wanted = Wanted.of(
        instances, goals, algorithms, deltas, runs, seed, limit, tolerance, engine, max_pulls
    )
    asked = questions(wanted)
    begun = time.perf_counter()
    with open_sweep(results) as file:
        cells = _collect(asked, wanted, pool, file, (progress, watch))
    return Sweep(tuple(cells), time.perf_counter() - begun)


def _collect(
    asked: list[Question],
    wanted: Wanted,
    workers: int | str,
    file: SweepFile,
    seen: tuple[bool | None, Watch | None],
) -> list[Cell]:
    """Return the cells in their order; whatever is not in the file is done and put there."""
    progress, watch = seen
    tasks = _tasks(asked, wanted, workers, file)
    left = {k: 0 for k in range(len(asked))}
    for task in tasks:
        for k in task.cells:
            left[k] += 1
    done: dict[int, Cell] = {}
    spent = dict.fromkeys(left, 0.0)

    def finish(cells: Iterable[int]) -> None:
        for k in cells:
            if left[k] == 0 and k not in done:
                done[k] = _cell(asked[k], wanted, file, spent[k])
                if watch is not None:
                    watch(done[k])

    total = sum(question.job is not None for question in asked) * wanted.runs
    with Progress(total, "runs", progress) as bar:
        bar.advance(total - sum(task.count for task in tasks))
        finish(left)
        for task, (seconds, outcome) in _each(asked, tasks, workers):
            job = asked[task.cells[0]].job
            if isinstance(outcome, Runs):
                assert job is not None
                file.append(job, task.first, outcome)
            else:
                for digest, numbers in outcome.items():
                    file.keep_limit(digest, numbers)
            for k in task.cells:
                left[k] -= 1
                spent[k] += seconds if task.count else 0.0
            bar.advance(task.count)
            finish(task.cells)
    return [done[k] for k in range(len(asked))]


def _each(
    asked: list[Question], tasks: list[Task], workers: int | str
) -> Iterable[tuple[Task, tuple[float, Any]]]:
    """Yield each task with its outcome.

    One process goes from cell to cell. Where several share the work, the smallest of each algorithm
    is done in this one: if code has to be compiled, it is once. Then the largest first, so that no
    process is left with a long one at the end.
    """
    work = partial(do_task, asked)
    if workers == 1:
        yield from each(work, sorted(tasks, key=lambda task: task.cells[0]), 1)
        return
    order = sorted(tasks, key=lambda task: asked[task.cells[0]].size)
    first: dict[Any, Task] = {}
    for task in order:
        first.setdefault((task.count == 0, asked[task.cells[0]].family), task)
    begin = [task for task in order if task in first.values()]
    rest = [task for task in reversed(order) if task not in begin]
    yield from each(work, begin, 1)
    yield from each(work, rest, workers)


def _tasks(
    asked: list[Question], wanted: Wanted, workers: int | str, file: SweepFile
) -> list[Task]:
    """Return what is missing: runs in pieces, and limits, one for all deltas and algorithms."""
    shares = 8 * workers if isinstance(workers, int) else 64
    pieces = max(_PIECES, -(-shares // len(asked)))
    size = max(1, min(1000, wanted.runs // pieces))
    tasks: list[Task] = []
    limits: dict[Any, list[int]] = {}
    for k, question in enumerate(asked):
        if question.job is not None:
            tasks += [
                Task((k,), first, count)
                for first, count in _cut(file.missing(question.job, wanted.runs), size)
            ]
        if question.limit is not None and file.limit(question.limit) is None:
            limits.setdefault((question.instance_name, question.goal_name), []).append(k)
    return [*tasks, *(Task(tuple(cells), 0, 0) for cells in limits.values())]


def _cut(missing: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Return (first, count) of consecutive numbers, at most `size` in a piece.

    >>> _cut([0, 1, 2, 5, 6], 2)
    [(0, 2), (2, 1), (5, 2)]
    """
    pieces: list[tuple[int, int]] = []
    for run in missing:
        if pieces and sum(pieces[-1]) == run and pieces[-1][1] < size:
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + 1)
        else:
            pieces.append((run, 1))
    return pieces


def _cell(question: Question, wanted: Wanted, file: SweepFile, seconds: float) -> Cell:
    job = question.job
    limit = None if question.limit is None else file.limit(question.limit)
    return Cell(
        instance=question.instance_name,
        shape=question.instance.shape,
        goal=question.goal,
        goal_name=question.goal_name,
        delta=question.setting.delta,
        algorithm=question.algorithm,
        seed=question.seed,
        simulation=None if job is None else collect(job, file.read(job, wanted.runs), seconds),
        known=question.known,
        limit=None if limit is None else limit[0],
        limit_gap=None if limit is None else limit[1],
        seconds=seconds,
    )
