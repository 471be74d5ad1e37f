"""What the command `bestgroup` calls: a sign of life first, then the command line, and a quick end.

Nothing heavy is imported before the first line can appear. At the end the process leaves as those of
`multiprocessing` do: threads and exit functions first, then without taking apart what Python and LLVM
hold, which takes seconds on a busy machine after everything has been said.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import NoReturn

from bestgroup.cli.heartbeat import heartbeat


def run() -> NoReturn:
    """Run the command of this process and exit."""
    with heartbeat():
        from bestgroup.cli.main import run

        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            if end.code is not None and not isinstance(end.code, int):  # of a module of the user's
                print(end.code, file=sys.stderr)
        _leave()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # pyright: ignore[reportUnnecessaryComparison]
                stream.flush()
        except OSError:  # what was said has not arrived
            code = code or 120
    os._exit(code)


def _leave() -> None:
    """Do what must be done at an exit, without waiting for worker processes, which are at rest."""
    workers = sys.modules.get("bestgroup.simulation.workers")
    if workers is not None:
        workers.forget_processes()
    # Not `join` of every thread: those of pools end only when they are told to, which this does.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
