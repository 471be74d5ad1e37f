"""`bestgroup solve`: runs the evaluator of a problem file until the answer is proven."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.certify import show_arms
from bestgroup.cli.problem import AlgorithmName, Delta, Json, ProblemFile
from bestgroup.errors import EvaluationFailed, InvalidInput
from bestgroup.files.replacing import check_writable

if TYPE_CHECKING:
    from bestgroup.studies.catalog import Study
    from bestgroup.studies.solve import Solution


def command(
    problem: ProblemFile,
    storage: Annotated[
        str | None,
        typer.Option(help="Keep the study: sqlite:///FILE or postgresql://...", metavar="URL"),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the study; by default the problem's.", metavar="NAME"),
    ] = None,
    algorithm: AlgorithmName = None,
    delta: Delta = None,
    budget: Annotated[int | None, typer.Option(help="Evaluations in all.", metavar="PULLS")] = None,
    budget_cost: Annotated[
        str | None,
        typer.Option(help="Cost in all, or DIM=SUM of a dim that is measured.", metavar="COST"),
    ] = None,
    workers: Annotated[int, typer.Option(help="Evaluations at the same time.")] = 1,
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds after which an evaluation has failed.", metavar="S"),
    ] = None,
    retries: Annotated[int, typer.Option(help="Further tries of an evaluation that failed.")] = 2,
    rate: Annotated[
        float | None, typer.Option(help="Evaluations a second, at most.", metavar="R")
    ] = None,
    seed: Annotated[int, typer.Option(help="Root of the seeds that evaluations get.")] = 0,
    csv: Annotated[
        Path | None,
        typer.Option(help="Write all observations to this file, also if stopped.", metavar="FILE"),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(
            help="Write a proof file; `verify` checks it with the file of --csv.", metavar="FILE"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run the evaluator of a problem file until the answer is proven.

    With --storage the same command goes on after Ctrl-C or a failure. Without it what was measured
    is written to a CSV file then: nothing that was paid for is lost.
    """
    import bestgroup as bg
    from bestgroup.studies.evaluators import load_evaluator
    from bestgroup.studies.table import check_table_name

    spec = bg.load_spec(problem)
    if not spec.evaluate:
        raise InvalidInput(
            f"{problem}: evaluate: is missing; solve needs python = ... or command = ..."
        )
    label = name or spec.name
    if csv is not None:
        check_table_name(csv)
    if proof is not None:
        check_writable(proof)
    try:
        found = bg.solve(
            spec.problem,
            spec.goal,
            load_evaluator(spec.evaluate),
            spec.delta if delta is None else delta,
            storage=storage,
            name=label if storage else None,
            algorithm=algorithm or spec.algorithm,
            seed=seed,
            budget=budget,
            budget_cost=_cost(budget_cost),
            workers=workers,
            timeout=timeout,
            retries=retries,
            rate=rate,
        )
    except KeyboardInterrupt as stopped:
        typer.echo(f"stopped by Ctrl-C; {_kept(stopped, label, storage, csv)}", err=True)
        os._exit(130)  # evaluations may hang in threads, which nobody can stop
    except EvaluationFailed as error:
        raise EvaluationFailed(f"{error} ({_kept(error, label, storage, csv)})") from None
    if csv is not None:
        rows = found.save(csv)
        typer.echo(f"{rows:,} rows in {csv}", err=True)
    if proof is not None:
        typer.echo(f"proof in {proof} (digest {found.save_proof(proof)})", err=True)
    if json:
        record = {
            **found.answer.to_dict(),
            "seconds": found.seconds,
            "algorithm": found.study.spec.algorithm,
        }
        output.print_json(record)
    else:
        _show(found)
        if spec.why is not None and algorithm is None:
            output.console().print(output.escape(f"Picked {spec.why}."))


def _cost(text: str | None) -> float | dict[str, float] | None:
    """Return a cost, or a dim with the sum that it may come to."""
    if text is None:
        return None
    dim, _, size = text.rpartition("=")
    try:
        return {dim: float(size)} if dim else float(size)
    except ValueError:
        raise InvalidInput(
            f"--budget-cost must be a number, or DIM=NUMBER for a dim; got {text!r}"
        ) from None


def _kept(error: BaseException, label: str, storage: str | None, csv: Path | None) -> str:
    """Return where the rows of a run that did not end are, after writing them if need be."""
    study: Study | None = getattr(error, "study", None)
    if storage is not None:
        where = f"what was measured is kept in {storage}; run the same command to go on"
        if csv is None:
            return where
        from bestgroup.studies.catalog import load_study

        return f"{where}; {load_study(label, storage).export(csv):,} rows in {csv}"
    if study is None or not study.status(forecast=False).told:
        return "nothing was measured yet"
    file = csv or _unused(Path(f"{_plain(label)}-rows.csv"))
    rows = study.export(file)
    return (
        f"the {rows:,} rows that were measured are in {file}: `bestgroup certify` says what they "
        "prove; with --storage sqlite:///study.db the same command would go on"
    )


def _plain(label: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in label)[:60] or "solve"


def _unused(path: Path) -> Path:
    """Return a name that no file has yet."""
    numbered = (path.with_stem(f"{path.stem}-{k}") for k in itertools.count(2))
    return path if not path.exists() else next(p for p in numbered if not p.exists())


def _show(found: Solution) -> None:
    console = output.console()
    known = found.answer
    console.print(output.escape(f"{found.study.spec.algorithm}: {found} ({found.seconds:,.1f} s)"))
    rows = []
    for group in found.study.problem.groups:
        explanation = found.explanations[group]
        rows.append((group, explanation.status, str(explanation)))
    console.print(output.table(None, ["group", "status", "why"], rows))
    show_arms(found.certificate)
    console.print(output.escape(f"Guarantee: {known.guarantee}"))
