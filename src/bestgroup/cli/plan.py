"""`bestgroup plan`: how many pulls to expect, before spending any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json, ProblemFile, read_numbers

if TYPE_CHECKING:
    from bestgroup.analysis.plan import Plan, PlanRow


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
    runs: Annotated[int, typer.Option(help="Simulated runs of each row, at most.")] = 20,
    algorithm: Annotated[str, typer.Option(help="Algorithm.", metavar="NAME")] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    seconds: Annotated[
        float, typer.Option(help="Time for all of it, besides compilation.", metavar="S")
    ] = 50.0,
    json: Json = False,
) -> None:
    """Simulate a problem file with [means] over a table of epsilon and delta."""
    import bestgroup as bg

    spec = bg.load_spec(problem)
    output.announce_compilation()
    with output.sign_of_life("plan"):
        table = bg.plan(
            spec,
            epsilons=None if epsilons is None else read_numbers(epsilons, "--epsilons"),
            deltas=read_numbers(deltas, "--deltas"),
            runs=runs,
            algorithm=algorithm,
            budget=budget,
            seed=seed,
            seconds=seconds,
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
    _show(table, spec.name)


def _show(table: Plan, name: str) -> None:
    console = output.console()
    limits = any(row.limit is not None for row in table.rows)
    rows = [
        (
            *_epsilon(row.epsilon, len(table.dims)),
            output.decimal(row.delta),
            _pulls(row, row.mean),
            _pulls(row, row.often),
            *(["-" if row.limit is None else output.count(row.limit)] if limits else []),
            ", ".join(row.answer),
        )
        for row in table.rows
    ]
    slack = [f">epsilon {dim}" for dim in table.dims] or [">epsilon"]
    heads = [*slack, ">delta", ">pulls, mean", ">nine of ten", *([">limit"] if limits else [])]
    title = f"{name}: pulls to expect with {table.algorithm}, if the means are right"
    console.print(output.table(output.escape(title), [*heads, "answer"], rows))
    for note in table.notes:
        console.print(f"Note: {note}.")
    if table.budget is not None:
        for delta, epsilon in table.resolvable().items():
            found = "none of these"
            if epsilon is not None:
                names = table.dims or ("",)
                cells = zip(names, _epsilon(epsilon, len(table.dims)), strict=True)
                found = "epsilon = " + ", ".join(f"{dim} {cell}".strip() for dim, cell in cells)
            console.print(
                output.escape(f"{table.budget:,} pulls resolve at delta = {delta:g}: {found}")
            )


def _epsilon(epsilon: Any, dims: int) -> list[str]:
    """Return an epsilon as cells, one for each dim if it is by dim in some row."""
    values = epsilon if isinstance(epsilon, tuple) else [epsilon] * max(dims, 1)
    return [output.decimal(value) for value in values]


def _pulls(row: PlanRow, value: float | None) -> str:
    if value is not None:
        return output.count(value)
    return "not simulated" if row.more_than is None else f"more than {row.more_than:,}"
