"""`bestgroup token`: named tokens of a served storage, with a role each, revoked at any time."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json
from bestgroup.cli.study import DEFAULT, Storage
from bestgroup.errors import InvalidInput

app = typer.Typer(
    name="token",
    help="Named tokens of a served storage: one for each worker, person or program.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Whom the token is for.")]


def _check_server() -> None:
    try:
        import fastapi  # noqa: F401
    except ImportError:
        raise InvalidInput("tokens need more packages: pip install 'bestgroup[server]'") from None


@app.command("create", short_help="Make a token and show it, once.")
def create(
    name: Name,
    role: Annotated[str, typer.Option(help="reader or writer.", metavar="ROLE")] = "reader",
    storage: Storage = DEFAULT,
    json: Json = False,
) -> None:
    """Make a token; a server on the same storage takes it at once."""
    from bestgroup.service.tokens import create_token

    _check_server()
    token = create_token(storage, name, role)
    if json:
        output.print_json({"name": name, "role": role, "token": token})
    else:
        print(token)
        print("keep it: it is not shown again", file=sys.stderr)


@app.command("list", short_help="All named tokens.")
def list_(storage: Storage = DEFAULT, json: Json = False) -> None:
    """Show names and roles, never the tokens."""
    from bestgroup.service.tokens import list_tokens

    rows = list_tokens(storage)
    if json:
        output.print_json(rows)
        return
    table = [
        (r["name"], r["role"], time.strftime("%F %T", time.gmtime(r["created"]))) for r in rows
    ]
    output.console().print(output.table(None, ["name", "role", "created (UTC)"], table))


@app.command("revoke", short_help="Make a token useless.")
def revoke(name: Name, storage: Storage = DEFAULT) -> None:
    """Revoke a token: servers refuse it within a second, without a restart."""
    from bestgroup.service.tokens import revoke_token

    revoke_token(storage, name)
