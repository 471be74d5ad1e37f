"""`bestgroup compare`: every algorithm on the same instance, next to the limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.plot_file import check_plot, write_plot
from bestgroup.cli.problem import (
    Case,
    Delta,
    Epsilon,
    Json,
    MostPulls,
    ProblemFile,
    Processes,
    case_record,
    case_title,
    read_case,
)
from bestgroup.cli.reproduce import read_workers

if TYPE_CHECKING:
    from bestgroup.analysis.compare import Comparison


def command(
    problem: ProblemFile,
    algorithms: Annotated[
        str | None,
        typer.Option(help="Names with commas; all that answer the goal by default."),
    ] = None,
    delta: Delta = None,
    epsilon: Epsilon = None,
    runs: Annotated[int, typer.Option(help="Runs of each algorithm.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of all runs.")] = 0,
    workers: Processes = "1",
    max_pulls: MostPulls = None,
    limit: Annotated[
        bool, typer.Option(help="Compute the limit T*, which takes long for many arms.")
    ] = True,
    plot: Annotated[
        Path | None, typer.Option(help="Write a plot (PNG, SVG or PDF).", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Compare algorithms on a problem file with [means], in pulls and in times the limit."""
    case = read_case(problem, delta, epsilon)
    check_plot(plot)
    names = None if algorithms is None else [name.strip() for name in algorithms.split(",")]
    from bestgroup.analysis.compare import compare

    output.announce_compilation()
    found = compare(
        case.instance,
        case.goal,
        names,
        case.delta,
        runs,
        seed,
        limit=limit,
        workers=read_workers(workers),
        max_pulls=max_pulls,
    )
    if plot is not None:
        from bestgroup.plots.simulation import comparison_view

        write_plot(comparison_view(found, case_title(case)), plot)
    if json:
        output.print_json(_record(case, found))
    else:
        _show(case, found, plot)


def _record(case: Case, found: Comparison) -> dict[str, Any]:
    time = found.time
    return {
        **case_record(case),
        "characteristic_time": None if time is None else time.value,
        "characteristic_time_gap": None if time is None else time.gap,
        "limit": found.limit,
        "limit_at_worst": found.limit_at_worst,
        "algorithms": found.to_records(),
        "left_out": [{"algorithm": name, "why": why} for name, why in found.left_out],
    }


def _show(case: Case, found: Comparison, plot: Path | None) -> None:
    screen = output.console()
    screen.print(output.escape(case_title(case)), style="bold")
    rows: list[tuple[Any, ...]] = []
    if found.limit is not None:
        rows.append(("the limit", output.count(found.limit), "", "", "1.0", "", ""))
    for row in found.to_records():
        times = row["times_the_limit"]
        rows.append(
            (
                row["algorithm"],
                output.count(row["pulls"]),
                "-" if row["sd"] is None else output.count(row["sd"]),
                f"{row['ratio_to_first']:.2f}",
                "-" if times is None else f"{times:.1f}",
                f"{row['errors']}/{row['finished']}",
                row["guarantee"],
            )
        )
    first = str(found.simulations[0].algorithm)
    columns = [
        "algorithm",
        ">pulls",
        ">sd",
        f">against {first}",
        ">times the limit",
        ">errors",
        "guarantee",
    ]
    screen.print(output.table(None, columns, rows))
    if found.limit is not None and found.limit_at_worst is not None:
        screen.print(
            "the limit is that of independent dims; dims may depend in any way here, and if those of a "
            f"pull share one noise it is {output.count(found.limit_at_worst)} pulls"
        )
    for _, why in found.left_out:
        screen.print(output.escape(f"left out: {why}"))
    if found.limit is None and found.time is not None:
        screen.print("limit: several answers are correct, and no bound holds at this delta")
    if plot is not None:
        screen.print(output.escape(f"plot: {plot}"))
