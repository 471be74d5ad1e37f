"""`bestgroup work`: a worker for a served study."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json
from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
    from bestgroup.studies.loop import Done


def command(
    url: Annotated[str, typer.Argument(metavar="URL", help="As `bestgroup serve` printed it.")],
    study: Annotated[
        str | None, typer.Option(help="Name of the study, if the server has several.")
    ] = None,
    python: Annotated[
        str | None, typer.Option(help="Evaluator: a Python function.", metavar="MODULE:FUNCTION")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            help="Evaluator: a command with {group}, {arm}, {seed}, {item}.", metavar="LINE"
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Evaluations at a time.", min=1, max=256)] = 1,
    batch: Annotated[
        int, typer.Option(help="Tickets in one request, for each job.", min=1, max=10000)
    ] = 1,
    repeats: Annotated[int, typer.Option(help="Pulls in one ticket.", min=1, max=10000)] = 1,
    lease: Annotated[float, typer.Option(help="Seconds a ticket is held without a sign.")] = 60.0,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which an evaluation has failed.")
    ] = None,
    failures: Annotated[
        int, typer.Option(help="Failures in a row after which to give up.", min=0)
    ] = 5,
    patience: Annotated[float, typer.Option(help="Seconds to wait for a server.")] = 600.0,
    json: Json = False,
) -> None:
    """Measure what a served study asks for, until it has ended.

    Run it as often and on as many computers as you like. Ctrl-C stops it; nothing that was told is
    lost, and what was under way is handed out again.
    """
    import signal
    import threading

    from bestgroup.studies.client import Client
    from bestgroup.studies.evaluators import Evaluator, load_evaluator
    from bestgroup.studies.worker import Plan, Worker

    if (python is None) == (command is None):
        raise InvalidInput("give one evaluator: --python MODULE:FUNCTION, or --command LINE")
    if not 0.1 <= lease <= 10**8:
        raise InvalidInput(f"--lease must be at least 0.1 seconds; got {lease:g}")
    spec = {"python": python} if python is not None else {"command": command or ""}
    evaluate = Evaluator(load_evaluator(spec), timeout)
    stop = threading.Event()

    def end_soon(*_: object) -> None:
        """Set `stop`: an exception could fall between two lines that belong together."""
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C breaks off

    signal.signal(signal.SIGTERM, end_soon)
    signal.signal(signal.SIGINT, end_soon)
    client = Client(url, study, patience, stop)
    worker = Worker(client, evaluate, Plan(jobs, batch, repeats, lease, failures), stop)
    try:
        done = worker.work()
    except KeyboardInterrupt:
        done = worker.end()
    finally:
        evaluate.close()
    _show(client.study, done, json)
    client.close()
    if done.error is not None:
        raise done.error


def _show(study: str, done: Done, json: bool) -> None:
    numbers = {"told": done.told, "failed": done.failed, "lost": done.lost}
    if json:
        output.print_json({"study": study, "state": done.state, **numbers})
        return
    counts = ", ".join(f"{word} {value:,}" for word, value in numbers.items())
    print(f"{study}: {done.state}; {counts}", file=sys.stdout)
