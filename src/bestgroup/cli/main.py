"""The command line: `run` is what the command `bestgroup` calls.

Command modules import only typer at the top; numpy and the rest load inside the commands, so that
help and mistakes answer at once.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from bestgroup._version import __version__
from bestgroup.cli import (
    bounds,
    calibrate,
    certify,
    compare,
    demo,
    init,
    plan,
    reproduce,
    serve,
    simulate,
    solve,
    study_care,
    token,
    verify,
    work,
)
from bestgroup.errors import BestGroupError, InvalidInput

app = typer.Typer(
    name="bestgroup",
    help="Finds the best groups among many noisy options, with a proof, from few samples.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("demo", short_help="The whole story on one screen.")(demo.command)
app.command("simulate", short_help="Many seeded runs on a known instance.")(simulate.command)
app.command("compare", short_help="Every algorithm next to the limit.")(compare.command)
app.command("bounds", short_help="How hard it is: gaps, bounds and the limit.")(bounds.command)
app.command("reproduce", short_help="The paper's experiments again.")(reproduce.command)
app.command("calibrate", short_help="Error rate against delta.")(calibrate.command)
app.command("serve", short_help="HTTP service and dashboard.")(serve.command)
app.command("work", short_help="A worker for a served study.")(work.command)
app.add_typer(study_care.app, name="study", short_help="Live studies: ask, tell, answer.")
app.add_typer(token.app, name="token", short_help="Named tokens of a served storage.")
app.command("plan", short_help="How many pulls to expect.")(plan.command)
app.command("init", short_help="A problem file from pilot data.")(init.command)
app.command("solve", short_help="Run an evaluator until the answer is proven.")(solve.command)
app.command("certify", short_help="What observations already prove.")(certify.command)
app.command("verify", short_help="Check a proof file against its observations.")(verify.command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bestgroup {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--import", help="Import a module first, to register its algorithms.", metavar="MODULE"
        ),
    ] = None,
) -> None:
    """Finds the best groups among many noisy options, with a proof, from few samples."""
    for name in modules or ():
        _import(name)


def _import(name: str) -> None:
    """Import a module of the current folder or of the path."""
    if name.endswith(".py") or "/" in name or os.sep in name:
        module = os.path.basename(name).removesuffix(".py")
        raise InvalidInput(
            f"--import takes the name of a module, not a file; got {name}: go to its folder and give "
            f"--import {module}"
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        importlib.import_module(name)
    except BestGroupError:
        raise
    except Exception as error:
        raise InvalidInput(f"--import {name}: {type(error).__name__}: {error}") from None


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit: 0 on success, 2 on a mistake, 130 on Ctrl-C, never a traceback.

    `arguments` are those of the process by default.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=given or ["--help"], prog_name="bestgroup", standalone_mode=False)
    except BestGroupError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader, such as `head`, has gone; flushing at exit would complain about it.
        sys.stdout = None  # type: ignore[assignment]
        sys.exit(1)
    except Exception as error:
        # Usage errors: their class is not public in every version of typer.
        if not (hasattr(error, "format_message") and hasattr(error, "exit_code")):
            raise
        _fail(error.format_message())  # type: ignore[attr-defined]
    if code == 130:
        print("stopped by Ctrl-C", file=sys.stderr)  # commands that wrote something say so
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> NoReturn:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2)
