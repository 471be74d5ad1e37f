"""`bestgroup verify`: whether a proof file and a table prove what the file says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json
from bestgroup.errors import InvalidInput


def command(
    proof: Annotated[Path, typer.Argument(metavar="PROOF", help="A proof file (JSON).")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="The observations that it is about.")
    ],
    key: Annotated[
        Path | None,
        typer.Option(help="The key that the proof must be signed by.", metavar="FILE"),
    ] = None,
    chain: Annotated[
        Path | None,
        typer.Option(help="The links that the rows were exported with.", metavar="FILE"),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(help="A link that was written down while the study ran.", metavar="HEX"),
    ] = None,
    json: Json = False,
) -> None:
    """Check a proof again from the observations; exits with 1 if it does not hold."""
    from bestgroup.proof.format import read_key
    from bestgroup.proof.verify import verify_proof

    secret = None if key is None else read_key(key)
    if link is not None and chain is None:
        raise InvalidInput("a link is looked for in a chain of tells: give --chain, too")
    if not data.is_file():  # that a table is not there says nothing about the proof
        raise InvalidInput(f"{data}: cannot be read: there is no such file")
    found = verify_proof(proof, data, key=secret, chain=chain, witness=link or "")
    if json:
        output.print_json(found.to_dict())
    else:
        console = output.console()
        for line in found.lines():
            console.print(output.escape(line), soft_wrap=True)
    if not found.verified:
        raise typer.Exit(1)
