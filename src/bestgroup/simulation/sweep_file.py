"""The results file of a sweep: the runs of many specifications, and limits, in one SQLite file.

A specification is known by its digest, so that a file may be used again with other instances,
algorithms, deltas or more runs: what is there is not done again, whatever else the file holds.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import numpy as np

from bestgroup.errors import InvalidInput, StoreError
from bestgroup.simulation.results import check_parent, is_sqlite, open_tables, run_rows, runs_of
from bestgroup.simulation.runs import Job, Runs

_TABLES = {"sweep_runs", "sweep_limits"}


class SweepFile:
    """Runs by digest and number, and limits by digest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = open_tables(path, _TABLES, "the results file of a sweep", self._make)

    def _make(self, db: sqlite3.Connection) -> None:
        """Make the tables of a new file."""
        db.execute(
            "CREATE TABLE sweep_runs (digest TEXT NOT NULL, run INTEGER NOT NULL, pulls INTEGER, "
            "rounds INTEGER, finished INTEGER, distance REAL, answer TEXT, counts BLOB, "
            "status TEXT, PRIMARY KEY (digest, run)) WITHOUT ROWID"
        )
        db.execute("CREATE TABLE sweep_limits (digest TEXT PRIMARY KEY, numbers TEXT NOT NULL)")

    def missing(self, job: Job, total: int) -> list[int]:
        """Return which of the first `total` runs of a job are not there, in order."""
        rows = self._db.execute("SELECT run FROM sweep_runs WHERE digest = ?", (job.digest(),))
        there = {row[0] for row in rows}
        return [run for run in range(total) if run not in there]

    def append(self, job: Job, first: int, runs: Runs) -> None:
        """Add runs first, first + 1, ...; they are safe when this returns."""
        rows = [(job.digest(), *row) for row in run_rows(first, runs)]
        with self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO sweep_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    def read(self, job: Job, total: int) -> Runs:
        """Return runs 0, ..., total - 1 of a job."""
        rows = self._db.execute(
            "SELECT rounds, finished, distance, answer, counts, status FROM sweep_runs "
            "WHERE digest = ? AND run < ? ORDER BY run",
            (job.digest(), total),
        ).fetchall()
        shape = job.instance.shape
        return runs_of(rows, (shape.groups, shape.arms))

    def limit(self, digest: str) -> tuple[float, float] | None:
        """Return the limit and its relative gap, if they are there."""
        row = self._db.execute(
            "SELECT numbers FROM sweep_limits WHERE digest = ?", (digest,)
        ).fetchone()
        return None if row is None else tuple(json.loads(row[0]))

    def keep_limit(self, digest: str, limit: tuple[float, float]) -> None:
        """Keep a limit and its relative gap."""
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO sweep_limits VALUES (?, ?)",
                (digest, json.dumps([float(np.float64(x)) for x in limit])),
            )

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


@contextlib.contextmanager
def open_sweep(path: str | PathLike[str] | None) -> Iterator[SweepFile]:
    """Open the file of a sweep, making it if there is none; None is a file in memory."""
    target = Path(":memory:" if path is None else path)
    if path is not None:
        if not is_sqlite(target):
            raise InvalidInput(f"the results of a sweep must end in .sqlite; got {target.name!r}")
        if target.is_dir():
            raise InvalidInput(f"{target} is a folder; the results of a sweep are a file")
        check_parent(target)
    try:
        file = SweepFile(target)
    except sqlite3.Error as error:
        raise StoreError(f"cannot write results to {target}: {error}") from None
    try:
        yield file
    except sqlite3.Error as error:
        raise StoreError(f"cannot write results to {target}: {error}") from None
    finally:
        file.close()
