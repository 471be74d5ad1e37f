"""`reproduce`: the experiments in order, each written down as soon as it is finished."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from bestgroup.errors import InvalidInput
from bestgroup.experiments.folder import Folder
from bestgroup.experiments.points import Outcome, Plan, Point
from bestgroup.experiments.report import Section, markdown
from bestgroup.experiments.table import analysis as table_analysis
from bestgroup.experiments.table import sweep as table_sweep
from bestgroup.experiments.vary_k import analysis as vary_k_analysis
from bestgroup.experiments.vary_k import sweep as vary_k_sweep
from bestgroup.experiments.vary_n import analysis as vary_n_analysis
from bestgroup.experiments.vary_n import sweep as vary_n_sweep
from bestgroup.experiments.work import run_points
from bestgroup.simulation.workers import check_workers

EXPERIMENTS: dict[str, tuple[ModuleType, ModuleType]] = {
    module.NAME: (module, analysis)
    for module, analysis in (
        (vary_n_sweep, vary_n_analysis),
        (vary_k_sweep, vary_k_analysis),
        (table_sweep, table_analysis),
    )
}


def reproduce(
    names: Sequence[str],
    plan: Plan,
    folder: Folder,
    workers: int | str = 1,
    command: str = "bestgroup reproduce",
    progress: bool | None = None,
) -> list[Section]:
    """Run the named experiments and return them read; tables, figures and report go to the folder.

    Every run is in the folder as soon as it is done, every row of a table as soon as its instance
    is; a call with the same arguments goes on from there.
    """
    pool = check_workers(workers)
    chosen = _choose(names, plan)
    folder.prepare({"command": command})
    sections: list[Section] = []
    for name, points in chosen.items():
        outcomes = _run(points, plan.runs, pool, folder, progress)
        sections.append(_read(name, outcomes, folder))
        folder.write_text("report.md", markdown(plan, sections, command))
    return sections


def _choose(names: Sequence[str], plan: Plan) -> dict[str, list[Point]]:
    """Return the points of each experiment for which there is an algorithm."""
    chosen = {name: EXPERIMENTS[name][0].points(plan) for name in names}
    useful = {name: points for name, points in chosen.items() if points[0].algorithms}
    if not useful:
        raise InvalidInput(
            f"none of {', '.join(plan.algorithms)} answers the question of {', '.join(names)}"
        )
    return useful


def _run(
    points: Sequence[Point],
    runs: int,
    workers: int | str,
    folder: Folder,
    progress: bool | None,
) -> list[Outcome]:
    """Return all outcomes in the order of the sweep; the CSV file grows on the way."""
    done: dict[Point, list[Outcome]] = {}

    def write(point: Point, outcomes: list[Outcome]) -> None:
        done[point] = outcomes
        folder.write_csv(f"{point.experiment}.csv", [row.record() for row in rows()])

    def rows() -> list[Outcome]:
        return [outcome for known in points if known in done for outcome in done[known]]

    run_points(points, runs, folder.runs, workers, write, progress)
    return rows()


def _read(name: str, outcomes: list[Outcome], folder: Folder) -> Section:
    analysis = EXPERIMENTS[name][1]
    findings = list(analysis.findings(outcomes))
    plot = None
    try:
        plot = folder.write_figure(name, analysis.figure(outcomes))[0].name
    except InvalidInput as error:  # no matplotlib
        findings.append(f"No figure: {error}.")
    return Section(name, analysis.TITLE, analysis.grids(outcomes), findings, outcomes, plot)
