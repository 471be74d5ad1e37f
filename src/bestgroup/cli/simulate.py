"""`bestgroup simulate`: many seeded runs of an algorithm on a known instance."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import (
    AlgorithmName,
    AlgorithmOptions,
    Case,
    Delta,
    Epsilon,
    Json,
    MostPulls,
    ProblemFile,
    Processes,
    case_record,
    case_title,
    names_of,
    read_case,
    read_options,
)
from bestgroup.cli.reproduce import read_workers
from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import check_writable, replacing

if TYPE_CHECKING:
    from bestgroup.simulation.simulate import Simulation


def command(
    problem: ProblemFile,
    algorithm: AlgorithmName = None,
    option: AlgorithmOptions = None,
    delta: Delta = None,
    epsilon: Epsilon = None,
    runs: Annotated[int, typer.Option(help="Number of runs.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed; run k depends on it and on k alone.")] = 0,
    engine: Annotated[str, typer.Option(help="exact, jump or auto.")] = "auto",
    workers: Processes = "1",
    max_pulls: MostPulls = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Write a row for each run.", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Run an algorithm many times on a problem file with [means]."""
    case = read_case(problem, delta, epsilon)
    chosen = choose_algorithm(case, algorithm, option or [])
    if csv_file is not None:
        _check_csv(csv_file, problem)
    import bestgroup as bg

    output.announce_compilation()
    result = bg.simulate(
        case.instance,
        case.goal,
        chosen,
        case.delta,
        runs,
        seed,
        engine=engine,
        workers=read_workers(workers),
        max_pulls=max_pulls,
    )
    if csv_file is not None:
        _write_csv(csv_file, result)
    if json:
        output.print_json(_record(case, result))
    else:
        if case.spec.why is not None and algorithm is None:
            output.console().print(output.escape(f"Picked {case.spec.why}."))
        _show(case, result, csv_file)


def choose_algorithm(case: Case, name: str | None, pairs: list[str]) -> Any:
    """Return the file's algorithm, or the one that the command line asks for."""
    from bestgroup.algorithms.protocol import Setting
    from bestgroup.files.parts import configure

    instance = case.instance
    setting = Setting.for_instance(instance, case.goal, case.delta)
    options = read_options(pairs)
    own = case.spec.algorithm
    if name is None and not options:
        return own
    if name is None or name == own.name:
        return configure(own.name, {**own.options(), **options}, setting)
    return configure(name, options, setting)


def _check_csv(path: Path, problem: Path) -> None:
    if path.exists() and path.samefile(problem):
        raise InvalidInput(f"{path} is the problem file; give another name for the results")
    check_writable(path)


def _write_csv(path: Path, result: Simulation) -> None:
    groups = result.instance.groups
    with replacing(path) as temporary, temporary.open("w", newline="") as file:
        rows = result.to_records()
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, "answer": "; ".join(groups[i] for i in row["answer"])})


def _spread(values: Any) -> dict[str, float | int | None]:
    """Return mean, standard deviation, least and largest of one number a run."""
    return {
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else None,
        "min": int(values.min()),
        "max": int(values.max()),
    }


def _answers(result: Simulation) -> list[tuple[frozenset[int], int, bool]]:
    """Return each answer of a finished run, how often it was given, and whether it is right."""
    finished = [k for k in range(result.runs) if result.finished[k]]
    right = {result.answers[k]: bool(result.correct[k]) for k in finished}
    tally = Counter(result.answers[k] for k in finished)
    return [(answer, times, right[answer]) for answer, times in tally.most_common()]


def _mean_cost(case: Case, result: Simulation) -> float | None:
    if case.spec.costs is None:
        return None
    pulls = result.instance.shape.rows(result.counts.mean(axis=0))
    return math.fsum(
        float(n) * cost
        for row, costs in zip(pulls, case.spec.costs, strict=True)
        for n, cost in zip(row, costs, strict=True)
    )


def _record(case: Case, result: Simulation) -> dict[str, Any]:
    guarantee = result.guarantee
    low, high = result.error_interval()
    names = case.instance.groups
    return {
        **case_record(case),
        "algorithm": result.algorithm.name,
        "options": result.algorithm.options(),
        "engine": result.engine,
        "seed": result.seed,
        "runs": result.runs,
        "finished": int(result.finished.sum()),
        "pulls": _spread(result.pulls),
        "rounds": _spread(result.rounds),
        "mean_pulls_by_arm": case.instance.shape.rows(result.counts.mean(axis=0)),
        "mean_cost": _mean_cost(case, result),
        "errors": result.errors,
        "error_interval": {"level": 0.95, "low": low, "high": high},
        "answers": [
            {"groups": [names[i] for i in sorted(answer)], "runs": times, "correct": right}
            for answer, times, right in _answers(result)
        ],
        "guarantee": {
            "level": guarantee.level,
            "statement": guarantee.statement,
            "assumptions": list(guarantee.assumptions),
        },
        "seconds": result.seconds,
    }


def _show(case: Case, result: Simulation, csv_file: Path | None) -> None:
    import bestgroup as bg

    screen = output.console()
    screen.print(output.escape(case_title(case)), style="bold")
    rows = []
    for what, values in (("pulls", result.pulls), ("rounds", result.rounds)):
        spread = _spread(values)
        sd = "-" if spread["sd"] is None else output.count(spread["sd"])
        rest = [output.count(spread[key] or 0) for key in ("min", "max")]
        rows.append((what, output.count(spread["mean"] or 0), sd, *rest))
    title = f"{result.algorithm}, {result.runs} runs, seed {result.seed}, engine {result.engine}"
    screen.print(output.table(title, ["", ">mean", ">sd", ">min", ">max"], rows))
    low, high = result.error_interval()
    finished = int(result.finished.sum())
    screen.print(
        f"errors: {result.errors} of {result.runs} runs; the error probability is in "
        f"[{low:.4g}, {high:.4g}] with confidence 95 % (exact)"
    )
    if finished < result.runs:
        screen.print(f"unfinished: {result.runs - finished} runs reached the limit of pulls")
    cost = _mean_cost(case, result)
    if cost is not None:
        screen.print(f"cost: {output.count(cost)} a run on average")
    for answer, times, right in _answers(result):
        verdict = "right" if right else "wrong"
        named = output.escape(names_of(answer, case.instance))
        screen.print(f"answer ({times} runs, {verdict}): {named}")
    truth = bg.optimal_groups(case.instance, case.goal)
    screen.print(f"truth: {output.escape(names_of(truth, case.instance))}")
    _show_guarantee(screen, result)
    where = f"; rows in {csv_file}" if csv_file is not None else ""
    screen.print(output.escape(f"time: {result.seconds:.2f} s{where}"))


def _show_guarantee(screen: Any, result: Simulation) -> None:
    guarantee = result.guarantee
    screen.print(output.escape(f"guarantee: {guarantee.level}: {guarantee.statement}"))
    if guarantee.assumptions:
        screen.print("provided that")
        for assumption in guarantee.assumptions:
            screen.print(f"  - {output.escape(assumption)}")
