"""`bestgroup init`: a problem file from pilot data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json
from bestgroup.errors import InvalidInput


def command(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="CSV or Parquet: group, arm, a column a dim.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write; by default DATA.toml.", metavar="FILE"),
    ] = None,
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
    """Write a problem file with the names, ranges, scales and means of pilot data."""
    from bestgroup.analysis.pilot import read_pilot
    from bestgroup.files.problem_file import load_spec
    from bestgroup.files.write import save_spec

    path = out or data.with_suffix(".toml")
    if path.exists():
        raise InvalidInput(f"{path} exists; choose another name with --out")
    pilot = read_pilot(data, minimise or [], watch or [])
    save_spec(path, pilot.problem, pilot.goal, means=pilot.means, notes=pilot.notes)
    load_spec(path)
    if json:
        output.print_json({"file": str(path), "rows": pilot.rows, **pilot.problem.to_dict()})
        return
    console = output.console()
    console.print(output.escape(f"{path}: {pilot.problem} from {pilot.rows:,} observations"))
    console.print("Read it: directions, noise and epsilon are guesses. Then:")
    console.print(
        output.escape(f"  bestgroup plan {path}\n  bestgroup certify {data} --problem {path}")
    )
