"""`bestgroup calibrate`: error rates with exact intervals, against delta."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.plot_file import check_plot, write_plot
from bestgroup.cli.problem import (
    AlgorithmName,
    AlgorithmOptions,
    Case,
    Delta,
    Epsilon,
    Json,
    ProblemFile,
    case_record,
    case_title,
    read_case,
)
from bestgroup.cli.reproduce import Workers, read_workers, stop
from bestgroup.cli.simulate import choose_algorithm
from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import check_writable, replacing

if TYPE_CHECKING:
    from bestgroup.analysis.calibrate import Calibration, ErrorRate, Sweep

_WORDS = {"above": "ABOVE delta", "below": "below delta", "unclear": "not told apart"}


def command(
    problem: ProblemFile,
    algorithm: AlgorithmName = None,
    option: AlgorithmOptions = None,
    delta: Delta = None,
    epsilon: Epsilon = None,
    runs: Annotated[int, typer.Option(help="Runs at the first factor.")] = 2_000,
    factors: Annotated[
        str | None,
        typer.Option(
            help="Factors on the radius; by default 1,0.8,0.6,0.5,0.4,0.3,0.2.", metavar="F,F,..."
        ),
    ] = None,
    sweep_runs: Annotated[
        int | None,
        typer.Option(help="Runs at each other factor; by default --runs, at most 10,000."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed; run k depends on it and on k alone.")] = 0,
    level: Annotated[float, typer.Option(help="Confidence of each interval.")] = 0.95,
    engine: Annotated[str, typer.Option(help="auto, jump or exact.")] = "auto",
    workers: Workers = None,
    max_pulls: Annotated[
        int | None, typer.Option(help="Pulls after which a run stops unfinished.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the runs, so that Ctrl-C loses none.", metavar="DIR"),
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Write a row a factor.", metavar="FILE")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the rates: .png, .svg or .pdf.", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Measure how often an algorithm errs on a problem file with [means], against delta.

    Where neither the file nor --algorithm names one, it is the paper's: te, or eecb for the best
    group, whose radius can be swept.
    """
    case = read_case(problem, delta, epsilon)
    chosen = choose_algorithm(case, _with_radius(case, algorithm), option or [])
    _check_files(problem, csv_file, plot)
    from bestgroup.analysis.calibrate import Sweep

    sweep = Sweep.checked(
        case.instance,
        case.goal,
        chosen,
        case.delta,
        _read_factors(factors),
        runs=runs,
        sweep_runs=sweep_runs,
        level=level,
    )
    pool = read_workers(workers)
    rates = sweep.rates(results, seed=seed, engine=engine, workers=pool, max_pulls=max_pulls)
    output.announce_compilation()
    found = _gather(rates, sweep, seed, results)
    _write_files(found, csv_file, plot)
    if json:
        output.print_json(_record(case, found))
    else:
        _show(case, found)


def _with_radius(case: Case, name: str | None) -> str | None:
    """Return the algorithm that was named, or one with a radius where none was."""
    if name is not None or case.spec.why is None:
        return name
    return case.goal.paper_algorithm


def _gather(
    rates: Iterable[ErrorRate], sweep: Sweep, seed: int, results: Path | None
) -> Calibration:
    """Return all rates; on Ctrl-C show those that are done and say how to go on."""
    done: list[ErrorRate] = []
    try:
        for rate in rates:
            done.append(rate)
    except KeyboardInterrupt:
        if done:
            output.console().print(_table(sweep.collect(done, seed)))
        stop(
            "--results DIR would have kept the runs"
            if results is None
            else f"finished runs are in {results}; the same command goes on"
        )
    return sweep.collect(done, seed)


def _read_factors(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise InvalidInput(f"--factors must be numbers with commas between; got {text!r}") from None


def _check_files(problem: Path, csv_file: Path | None, plot: Path | None) -> None:
    for path in (csv_file, plot):
        if path is None:
            continue
        if path.exists() and path.samefile(problem):
            raise InvalidInput(f"{path} is the problem file; give another name for the results")
        check_writable(path)
    check_plot(plot)


def _write_files(found: Calibration, csv_file: Path | None, plot: Path | None) -> None:
    if csv_file is not None:
        rows = found.to_records()
        with (
            replacing(csv_file) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    if plot is not None:
        from bestgroup.plots.calibration import calibration_view

        write_plot(calibration_view(found), plot)


def _record(case: Case, found: Calibration) -> dict[str, Any]:
    safe = found.least_safe
    return {
        **case_record(case),
        "algorithm": found.algorithm.name,
        "options": found.algorithm.options(),
        "seed": found.seed,
        "level": found.level,
        "rates": found.to_records(),
        "least_safe_factor": None if safe is None else safe.factor,
    }


def _show(case: Case, found: Calibration) -> None:
    screen = output.console()
    screen.print(output.escape(case_title(case)), style="bold")
    screen.print(_table(found))
    for sentence in _sentences(found):
        screen.print(output.escape(sentence))
    screen.print(f"time: {sum(rate.seconds for rate in found.rates):.1f} s")


def _table(found: Calibration) -> Any:
    first = found.rates[0]
    rows = [
        (
            f"{rate.factor:g}",
            f"{rate.runs:,}",
            f"{rate.errors:,}",
            f"{rate.rate:.3g}",
            f"[{rate.low:.2g}, {rate.high:.2g}]",
            _WORDS[rate.verdict(found.delta)],
            output.count(rate.pulls),
            f"{100 * rate.pulls / first.pulls:.0f} %",
        )
        for rate in found.rates
    ]
    percent = f"{100 * found.level:g} %"
    columns = [">factor", ">runs", ">errors", ">rate", f">exact {percent} interval", "verdict"]
    title = f"{found.algorithm}: errors against delta = {found.delta:g}, engine {first.engine}"
    return output.table(title, [*columns, ">mean pulls", ">share"], rows)


def _sentences(found: Calibration) -> list[str]:
    first = found.rates[0]
    sentences = [f"At factor {first.factor:g}: {_plainly(first, found)}"]
    above = [rate for rate in found.rates if rate.verdict(found.delta) == "above"]
    if above:
        named = ", ".join(f"{rate.factor:g}" for rate in above)
        sentences.append(f"Significantly above delta at factor {named}.")
    safe = found.least_safe
    if safe is not None and safe.factor < 1:
        sentences.append(
            f"Down to factor {safe.factor:g} the rate is significantly below delta, with "
            f"{100 * safe.pulls / first.pulls:.0f} % of the pulls. That is a measurement on this "
            "instance: below 1 nothing is proven."
        )
    unfinished = sum(rate.unfinished for rate in found.rates)
    if unfinished:
        sentences.append(
            f"{unfinished:,} runs reached the limit of pulls; they count as errors if they had "
            "decided something false."
        )
    return sentences


def _plainly(rate: ErrorRate, found: Calibration) -> str:
    where = {
        "above": "the error rate is significantly ABOVE delta",
        "below": "the error rate is significantly below delta",
        "unclear": "these runs do not tell whether the error rate is above delta",
    }[rate.verdict(found.delta)]
    return (
        f"{where}: {rate.errors:,} errors in {rate.runs:,} runs, between {rate.low:.2g} and "
        f"{rate.high:.2g} with confidence {100 * found.level:g} %, delta = {found.delta:g}."
    )
