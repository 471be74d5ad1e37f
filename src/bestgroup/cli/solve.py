"""`bestgroup solve`: runs the evaluator of a problem file until the answer is proven."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Delta, Json, ProblemFile
from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
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
    algorithm: Annotated[
        str | None, typer.Option(help="Algorithm, in place of the file's.", metavar="NAME")
    ] = None,
    delta: Delta = None,
    budget: Annotated[int | None, typer.Option(help="Evaluations in all.", metavar="PULLS")] = None,
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
    json: Json = False,
) -> None:
    """Run the evaluator of a problem file; Ctrl-C and the same command again goes on (with --storage)."""
    import bestgroup as bg
    from bestgroup.studies.evaluators import load_evaluator

    spec = bg.load_spec(problem)
    if not spec.evaluate:
        raise InvalidInput(
            f"{problem}: evaluate: is missing; solve needs python = ... or command = ..."
        )
    label = name or spec.name
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
            workers=workers,
            timeout=timeout,
            retries=retries,
            rate=rate,
        )
    except KeyboardInterrupt:
        kept = (
            f"what was measured is kept in {storage}; run the same command to go on"
            if storage
            else "nothing was kept; use --storage sqlite:///study.db to be able to go on"
        )
        typer.echo(f"stopped by Ctrl-C; {kept}", err=True)
        os._exit(130)  # evaluations may hang in threads, which nobody can stop
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


def _show(found: Solution) -> None:
    console = output.console()
    known = found.answer
    console.print(output.escape(f"{found.study.spec.algorithm}: {found} ({found.seconds:,.1f} s)"))
    rows = []
    for group in found.study.problem.groups:
        explanation = found.explanations[group]
        rows.append((group, explanation.status, str(explanation)))
    console.print(output.table(None, ["group", "status", "why"], rows))
    console.print(output.escape(f"Guarantee: {known.guarantee}"))
