"""Runs on disk, as they finish: a SQLite file or a Parquet folder, by the ending of the name.

A file belongs to one specification; another one is refused. A Parquet folder holds a part for each
piece of work, renamed into place when complete, so that what can be read is whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bestgroup.errors import InvalidInput, StoreError
from bestgroup.problem.arrays import Ints
from bestgroup.problem.status import Status
from bestgroup.simulation.runs import Job, Runs, join

_SQLITE = (".sqlite", ".sqlite3", ".db")


class Results(ABC):
    """Where runs are kept; `missing` says which are not there yet."""

    def __init__(self, path: Path, job: Job) -> None:
        self.path = path
        shape = job.instance.shape
        self._cells = (shape.groups, shape.arms)
        self._digest = job.digest()

    @abstractmethod
    def have(self) -> Ints:
        """Return the indices of the runs that are there, in order."""

    @abstractmethod
    def append(self, first: int, runs: Runs) -> None:
        """Add runs first, first + 1, ...; they are safe when this returns."""

    @abstractmethod
    def read(self, total: int) -> Runs:
        """Return runs 0, ..., total - 1."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the file."""

    def missing(self, total: int) -> Ints:
        """Return which of the first `total` runs are not there."""
        return np.setdiff1d(np.arange(total), self.have())

    def check(self, digest: str) -> None:
        """Refuse a file that another specification wrote."""
        if digest != self._digest:
            raise InvalidInput(
                f"{self.path} holds runs of another specification (instance, goal, algorithm, "
                "delta, seed, engine, max_pulls or version); choose another file"
            )


@contextlib.contextmanager
def open_results(path: str | PathLike[str], job: Job) -> Iterator[Results]:
    """Open the results at `path`, making them if there are none."""
    target = Path(path)
    if is_sqlite(target):
        kind: type[Results] = SqliteResults
    elif target.suffix == ".parquet":
        kind = ParquetResults
    else:
        raise InvalidInput(f"results must end in .sqlite or .parquet; got {target.name!r}")
    try:
        results = kind(target, job)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"cannot write results to {target}: {error}") from None
    try:
        yield results
    except sqlite3.Error as error:
        raise StoreError(f"cannot write results to {target}: {error}") from None
    finally:
        results.close()


def _letters(status: Ints) -> str:
    """Return the statuses of a run's groups, a letter each."""
    return "".join(Status(s).letter for s in status)


def _statuses(letters: str) -> Ints:
    return np.array([Status.read(letter) for letter in letters], np.int64)


def check_parent(path: Path) -> None:
    """Refuse a file in a folder that does not exist."""
    if not path.parent.is_dir():
        raise InvalidInput(f"the folder {path.parent} does not exist")


def is_sqlite(path: Path) -> bool:
    """Return whether a file's name says that it is an SQLite file.

    >>> is_sqlite(Path("runs.db")), is_sqlite(Path("runs.parquet"))
    (True, False)
    """
    return path.suffix in _SQLITE


def run_rows(first: int, runs: Runs) -> list[tuple[Any, ...]]:
    """Return runs first, first + 1, ... as rows of an SQLite table."""
    return [
        (
            first + k,
            int(runs.counts[k].sum()),
            int(runs.rounds[k]),
            int(runs.finished[k]),
            float(runs.distance[k]),
            json.dumps(np.flatnonzero(runs.answers[k]).tolist()),
            runs.counts[k].astype("<i8").tobytes(),
            _letters(runs.status[k]),
        )
        for k in range(len(runs.rounds))
    ]


def runs_of(rows: Sequence[Any], cells: tuple[int, int]) -> Runs:
    """Return runs from rows of (rounds, finished, distance, answer, counts, status)."""
    answers = np.zeros((len(rows), cells[0]), np.bool_)
    for k, row in enumerate(rows):
        answers[k, json.loads(row[3])] = True
    counts = np.array([np.frombuffer(row[4], "<i8").reshape(cells) for row in rows])
    return Runs(
        answers,
        counts.astype(np.int64),
        np.array([row[0] for row in rows]),
        np.array([bool(row[1]) for row in rows]),
        np.array([row[2] for row in rows]),
        np.array([_statuses(row[5]) for row in rows]),
    )


def open_tables(
    path: Path, tables: set[str], what: str, make: Callable[[sqlite3.Connection], None]
) -> sqlite3.Connection:
    """Open an SQLite file that has these tables; `make` makes them in a new one."""
    db = sqlite3.connect(path, timeout=30.0)
    try:
        with db:
            found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            names = {row[0] for row in found}
            if names and not names >= tables:
                raise InvalidInput(f"{path} is not {what} of bestgroup; choose another")
            if not names:
                make(db)
    except BaseException:
        db.close()
        raise
    return db


class SqliteResults(Results):
    """A table with a row for each run; masks and counts are little-endian bytes."""

    def __init__(self, path: Path, job: Job) -> None:
        super().__init__(path, job)
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; SQLite results are a file")
        check_parent(path)
        self._db = open_tables(path, {"specification", "runs"}, "a results file", self._make)
        try:
            self.check(self._db.execute("SELECT digest FROM specification").fetchone()[0])
        except BaseException:
            self._db.close()
            raise

    def _make(self, db: sqlite3.Connection) -> None:
        """Make the tables of a new file."""
        db.execute("CREATE TABLE specification (digest TEXT NOT NULL)")
        db.execute(
            "CREATE TABLE runs (run INTEGER PRIMARY KEY, pulls INTEGER, "
            "rounds INTEGER, finished INTEGER, distance REAL, answer TEXT, counts BLOB, "
            "status TEXT)"
        )
        db.execute("INSERT INTO specification VALUES (?)", (self._digest,))

    def have(self) -> Ints:
        """Return the indices of the runs that are there, in order."""
        rows = self._db.execute("SELECT run FROM runs ORDER BY run").fetchall()
        return np.array([row[0] for row in rows], dtype=np.int64)

    def append(self, first: int, runs: Runs) -> None:
        """Add runs in one transaction."""
        with self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", run_rows(first, runs)
            )

    def read(self, total: int) -> Runs:
        """Return runs 0, ..., total - 1."""
        rows = self._db.execute(
            "SELECT rounds, finished, distance, answer, counts, status FROM runs "
            "WHERE run < ? ORDER BY run",
            (total,),
        ).fetchall()
        return runs_of(rows, self._cells)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


class ParquetResults(Results):
    """A folder of part files that data-frame libraries read as one table."""

    def __init__(self, path: Path, job: Job) -> None:
        super().__init__(path, job)
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise InvalidInput("Parquet results need pip install 'bestgroup[frames]'") from None
        self._arrow: Any = pyarrow
        if path.is_file():
            raise InvalidInput(f"{path} is a file; Parquet results are a folder of parts")
        check_parent(path)
        path.mkdir(exist_ok=True)
        if any(path.iterdir()) and not any(path.glob("part-*")):
            raise InvalidInput(f"{path} is not a results folder of bestgroup; choose another")
        for part in self._parts():
            meta = self._arrow.parquet.read_schema(part).metadata or {}
            self.check(meta.get(b"bestgroup", b"").decode())
            break

    def _parts(self) -> list[Path]:
        return sorted(self.path.glob("part-*.parquet"))

    def have(self) -> Ints:
        """Return the indices of the runs that are there, in order."""
        found = [
            self._arrow.parquet.read_table(part, columns=["run"])["run"].to_numpy()
            for part in self._parts()
        ]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def append(self, first: int, runs: Runs) -> None:
        """Add a part file: written under another name, then renamed."""
        n = len(runs.rounds)
        table = self._arrow.table(
            {
                "run": np.arange(first, first + n),
                "pulls": runs.counts.sum(axis=(1, 2)),
                "rounds": runs.rounds,
                "finished": runs.finished,
                "distance": runs.distance,
                "answer": [np.flatnonzero(mask).tolist() for mask in runs.answers],
                "counts": [counts.reshape(-1).tolist() for counts in runs.counts],
                "status": [_letters(row) for row in runs.status],
            }
        ).replace_schema_metadata({"bestgroup": self._digest})
        final = self.path / f"part-{first:09d}.parquet"
        partial = final.with_suffix(".partial")
        self._arrow.parquet.write_table(table, partial)
        os.replace(partial, final)

    def read(self, total: int) -> Runs:
        """Return runs 0, ..., total - 1."""
        rows: dict[int, Runs] = {}
        for part in self._parts():
            table = self._arrow.parquet.read_table(part)
            for row in table.to_pylist():
                if row["run"] < total:
                    rows[row["run"]] = self._row(row)
        return join([rows[run] for run in range(total)])

    def _row(self, row: dict[str, Any]) -> Runs:
        answer = np.zeros((1, self._cells[0]), np.bool_)
        answer[0, row["answer"]] = True
        counts = np.array(row["counts"], dtype=np.int64).reshape(1, *self._cells)
        return Runs(
            answer,
            counts,
            np.array([row["rounds"]]),
            np.array([row["finished"]]),
            np.array([row["distance"]]),
            _statuses(row["status"])[None],
        )

    def close(self) -> None:
        """Nothing is held open."""
