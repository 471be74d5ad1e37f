"""`bestgroup plan`: how many pulls to expect, before spending any."""

from __future__ import annotations

from typing import Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json, ProblemFile, read_numbers


def command(
    problem: ProblemFile,
    epsilons: Annotated[
        str | None,
        typer.Option(help="Slacks to try; by default around the file's.", metavar="E,E,..."),
    ] = None,
    deltas: Annotated[
        str, typer.Option(help="Error probabilities to try.", metavar="D,D,...")
    ] = "0.1,0.05,0.01",
    budget: Annotated[
        int | None, typer.Option(help="Say what so many pulls can resolve.", metavar="PULLS")
    ] = None,
    runs: Annotated[int, typer.Option(help="Simulated runs of each row.")] = 20,
    algorithm: Annotated[str, typer.Option(help="Algorithm.", metavar="NAME")] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    json: Json = False,
) -> None:
    """Simulate a problem file with [means] over a table of epsilon and delta."""
    import bestgroup as bg

    spec = bg.load_spec(problem)
    output.announce_compilation()
    table = bg.plan(
        spec,
        epsilons=None if epsilons is None else read_numbers(epsilons, "--epsilons"),
        deltas=read_numbers(deltas, "--deltas"),
        runs=runs,
        algorithm=algorithm,
        budget=budget,
        seed=seed,
    )
    if json:
        record = table.to_dict()
        if budget is not None:
            record["resolvable"] = [
                {"delta": delta, "epsilon": epsilon}
                for delta, epsilon in table.resolvable().items()
            ]
        output.print_json(record)
        return
    console = output.console()
    rows = [
        (
            output.decimal(row.epsilon),
            output.decimal(row.delta),
            _count(row.mean),
            _count(row.often),
            _count(row.limit),
            ", ".join(row.answer),
        )
        for row in table.rows
    ]
    heads = [">epsilon", ">delta", ">pulls, mean", ">nine of ten", ">limit", "answer"]
    title = f"{spec.name}: pulls to expect with {table.algorithm}, if the means are right"
    console.print(output.table(title, heads, rows))
    if budget is not None:
        for delta, epsilon in table.resolvable().items():
            found = "none of these" if epsilon is None else f"epsilon = {epsilon:.4g}"
            console.print(f"{budget:,} pulls resolve at delta = {delta:g}: {found}")


def _count(value: float | None) -> str:
    return "too many" if value is None else output.count(value)
