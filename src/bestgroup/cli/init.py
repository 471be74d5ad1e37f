"""`bestgroup init`: a problem file from pilot data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import ArmColumn, GroupColumn, IgnoreColumn, ItemColumn, Json, columns_of
from bestgroup.errors import InvalidInput

_TABLES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".gz")


def command(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="CSV, TSV, JSON lines or Parquet, a row for each measurement."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write; by default DATA.toml.", metavar="FILE"),
    ] = None,
    group: GroupColumn = None,
    arm: ArmColumn = None,
    item: ItemColumn = None,
    ignore: IgnoreColumn = None,
    minimise: Annotated[
        list[str] | None,
        typer.Option("--min", help="A dim to be minimised; may be repeated.", metavar="DIM"),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(help="A dim that only is recorded; may be repeated.", metavar="DIM"),
    ] = None,
    json: Json = False,
) -> None:
    """Write a problem file with the names, noise, spreads and means of pilot data."""
    from bestgroup.analysis.pilot import read_pilot
    from bestgroup.files.write import save_spec

    if data.is_dir():
        raise InvalidInput(_which_table(data))
    path = out or data.with_name(_stem(data) + ".toml")
    if path.exists():
        raise InvalidInput(f"{path} exists; choose another name with --out")
    pilot = read_pilot(data, minimise or [], watch or [], columns_of(group, arm, item, ignore))
    save_spec(
        path,
        pilot.problem,
        pilot.goal,
        means=pilot.means,
        law=pilot.law,
        columns=pilot.columns,
        notes=pilot.notes,
    )
    if json:
        record = {"file": str(path), "rows": pilot.rows, "guesses": list(pilot.guesses)}
        output.print_json({**record, **pilot.problem.to_dict(), "law": pilot.law})
        return
    console = output.console()
    shape = pilot.problem.shape
    names = [dim.name for dim in pilot.problem.dims]
    size = f"groups: {shape.groups}, arms: {shape.total}, dims: {', '.join(names)};"
    console.print(output.escape(f"{path}: {size} from {pilot.rows:,} observations"))
    for sentence in pilot.guesses:
        console.print(output.escape(f"- {sentence}"))
    console.print("Read it: directions, noise and epsilon are guesses. Then:")
    console.print(
        output.escape(f"  bestgroup plan {path}\n  bestgroup certify {data} --problem {path}")
    )


def _stem(data: Path) -> str:
    name = data.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _which_table(folder: Path) -> str:
    """Return what to say of a folder."""
    found = sorted(f.name for f in folder.iterdir() if f.suffix.lower() in _TABLES)
    if not found:
        return f"{folder} is a folder; give a table of measurements (CSV, TSV, JSON lines, Parquet)"
    shown = ", ".join(found[:6]) + (f" and {len(found) - 6} more" if len(found) > 6 else "")
    return f"{folder} is a folder; give one of its tables: {shown}"
