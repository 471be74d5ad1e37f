"""`bestgroup reproduce`: the experiments of section 5 of the paper, as tables, plots and CSV."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json
from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
    from bestgroup.experiments.points import Plan
    from bestgroup.experiments.report import Section

NAMES = ("vary-n", "vary-k", "table")
_OUT = Path("reproduce-output")
_ALL = "te,age,ge,unis,eecb,tel,te-plus,adaptive"
Workers = Annotated[
    str | None,
    typer.Option(
        help="Processes that share the work, by default one a core; or dask://host:port, "
        "ray://host:port.",
        metavar="N",
    ),
]


def command(
    what: Annotated[
        str, typer.Argument(help="all, vary-n, vary-k or table.", metavar="[EXPERIMENT]")
    ] = "all",
    runs: Annotated[int, typer.Option(help="Runs of each algorithm on each instance.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of instances and runs.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for report and runs.", metavar="DIR")] = _OUT,
    algorithms: Annotated[
        str, typer.Option(help="Algorithms, with commas between.", metavar="NAMES")
    ] = _ALL,
    instances: Annotated[int, typer.Option(help="Random instances of each setting.")] = 3,
    survey: Annotated[
        int, typer.Option(help="Random instances on which EECB and TEL are compared.")
    ] = 20,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the experiments of section 5 of the paper; going on where an earlier call stopped.

    The algorithms are the paper's and, apart from them in figures and tables, ours.
    """
    names = _names(what)
    pool = read_workers(workers)
    from bestgroup.experiments.folder import Folder
    from bestgroup.experiments.points import Plan
    from bestgroup.experiments.reproduce import reproduce

    chosen = tuple(dict.fromkeys(name.strip() for name in algorithms.split(",") if name.strip()))
    plan = Plan(runs, seed, instances, survey, chosen)
    folder = Folder(out)
    line = _line(what, plan, algorithms, out)
    output.announce_compilation()
    start = time.perf_counter()
    try:
        sections = reproduce(names, plan, folder, pool, line)
    except KeyboardInterrupt:
        again = line if workers is None else f"{line} --workers {shlex.quote(workers)}"
        stop(f"finished runs are in {out}; to go on: {again}")
    seconds = time.perf_counter() - start
    files = sorted(str(path) for path in out.iterdir() if path.is_file())
    if json:
        output.print_json(_record(sections, files, seconds))
    else:
        _show(sections, out, seconds)


def _names(what: str) -> tuple[str, ...]:
    if what == "all":
        return NAMES
    if what not in NAMES:
        raise InvalidInput(f"the experiment must be all, {', '.join(NAMES)}; got {what!r}")
    return (what,)


def _line(what: str, plan: Plan, algorithms: str, out: Path) -> str:
    """Return the command with the options that differ from their defaults."""
    given = {
        "--runs": (plan.runs, 20),
        "--seed": (plan.seed, 0),
        "--instances": (plan.instances, 3),
        "--survey": (plan.survey, 20),
        "--algorithms": (algorithms, _ALL),
        "--out": (str(out), str(_OUT)),
    }
    words = ["bestgroup reproduce", what]
    for option, (value, default) in given.items():
        if value != default:
            words.append(f"{option} {shlex.quote(str(value))}")
    return " ".join(words)


def read_workers(text: str | None) -> int | str:
    """Return a number of processes, by default one a core, or the address of a cluster."""
    if text is None:
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable else os.cpu_count() or 1
    try:
        return int(text)
    except ValueError:
        return text


def stop(sentence: str) -> NoReturn:
    """End after Ctrl-C with a sentence that says what is kept."""
    print(f"stopped by Ctrl-C; {sentence}", file=sys.stderr)
    sys.exit(130)


def _record(sections: list[Section], files: list[str], seconds: float) -> dict[str, Any]:
    return {
        "experiments": [
            {
                "experiment": section.name,
                "title": section.title,
                "findings": list(section.findings),
                "outcomes": [outcome.record() for outcome in section.outcomes],
            }
            for section in sections
        ],
        "files": files,
        "seconds": seconds,
    }


def _show(sections: list[Section], out: Path, seconds: float) -> None:
    screen = output.console()
    for section in sections:
        screen.print(output.escape(section.title), style="bold")
        for caption, grid in section.grids:
            heads = [head if k < 2 else f">{head}" for k, head in enumerate(grid.heads)]
            rows = _fitting(grid.rows)
            if rows != list(grid.rows):
                caption = f"{caption} Standard deviations are in the report."
            screen.print(output.escape(caption))
            screen.print(output.table(None, heads, rows))
        for sentence in section.findings:
            screen.print(output.escape(f"- {sentence}"))
        screen.print()
    screen.print(output.escape(f"report: {out / 'report.md'}   ({seconds:.1f} s)"))


def _fitting(rows: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """Return the rows, without standard deviations if they would not fit on a line."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    if sum(widths) + 2 * len(widths) <= output.WIDTH:
        return list(rows)
    return [tuple(cell.split(" ± ")[0] for cell in row) for row in rows]
