"""All that differs between SQLite and PostgreSQL."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, literal, text

from bestgroup.errors import InvalidInput, NoSuchStudy, StoreError

WAIT = 60.0  # seconds that SQLite waits for another process's transaction
_MOVED = "was removed or replaced while it was open"
Place = tuple[int, int] | None  # what a file is known by, whatever its name


class Moved(Exception):
    """The file of a database is not the one that was opened."""


class Dialect(ABC):
    """How one kind of database is opened, locked, and what its complaints mean."""

    where: str  # for error messages; without a password

    @property
    @abstractmethod
    def complaint(self) -> type[Exception]:
        """The class of the driver's errors."""

    @abstractmethod
    def engine(self) -> Engine:
        """Return an engine."""

    @abstractmethod
    def begin(
        self, connection: Connection, write: bool, durable: bool, repeatable: bool = False
    ) -> None:
        """Begin a transaction; a `repeatable` one sees one state in all of its queries."""

    @abstractmethod
    def confirm(self, connection: Connection) -> None:
        """Raise Moved unless what was committed is where others will look for it."""

    def faults(self, connection: Connection) -> list[str]:
        """Return what the database finds wrong with itself."""
        return []

    @abstractmethod
    def commit(self, connection: Connection) -> None:
        """Make a transaction's changes lasting."""

    @abstractmethod
    def rollback(self, connection: Connection) -> None:
        """Undo a transaction."""

    @abstractmethod
    def clock(self) -> Any:
        """Return the expression for seconds now, by the clock that all workers share."""

    def now(self) -> float | None:
        """Return seconds now if this machine's clock is the shared one."""
        return None

    @abstractmethod
    def lock_schema(self, connection: Connection) -> None:
        """Keep others from making the tables at the same time."""

    @abstractmethod
    def passing(self, error: Exception) -> bool:
        """Return whether trying again later can help."""

    @abstractmethod
    def sentence(self, error: Exception) -> str:
        """Return what went wrong and what to do."""


class SQLite(Dialect):
    """One file, in WAL mode: readers and a writer do not wait for each other."""

    def __init__(self, url: URL, create: bool) -> None:
        name = url.database or ""
        if not name or name == ":memory:":
            raise InvalidInput('an SQLite storage needs a file; use "memory" for one without')
        self.where = f"the database file {name}"
        self._path = path = Path(name.removeprefix("file:"))
        if not create and not path.exists():
            raise NoSuchStudy(f"there is no database file {path}; create a study first")
        if not path.parent.is_dir():
            raise StoreError(f"{path} cannot be made: there is no folder {path.parent}")
        self._url, self._frozen, self.copied = url, False, False
        self._opened = path.exists()
        self.read_only = self._opened and not (
            os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        )
        if not self.read_only:
            return
        if self._left_in_log():
            self.copy()
        elif "immutable" not in url.query:
            # SQLite keeps notes beside a file that it reads, unless it is told that nobody writes.
            self._url = _as_uri(path, mode="ro", immutable="1")

    def copy(self) -> None:
        """Go on with a copy of a file that cannot be written: to look at, for it ends with us."""
        folder = tempfile.mkdtemp(prefix="bestgroup-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        copy = Path(folder) / "copy.db"
        shutil.copyfile(self._path, copy)
        if self._left_in_log():
            shutil.copyfile(_log_of(self._path), _log_of(copy))
        self._path, self._url, self.copied = copy, _as_uri(copy), True

    def freeze(self) -> None:
        """Let nothing be written from now on."""
        self._frozen = True

    def _left_in_log(self) -> bool:
        log = _log_of(self._path)
        return log.exists() and log.stat().st_size > 0

    @property
    def complaint(self) -> type[Exception]:
        return sqlite3.Error

    def engine(self) -> Engine:
        # AUTOCOMMIT: the driver sends no BEGIN of its own, ours say which lock they want.
        engine = create_engine(
            self._url,
            isolation_level="AUTOCOMMIT",
            connect_args={"timeout": WAIT},
            max_overflow=-1,
            pool_reset_on_return=None,  # every transaction is ended here
        )
        event.listen(engine, "do_connect", self._look)
        event.listen(engine, "connect", self._prepare)
        event.listen(engine, "connect", self._remember)
        return engine

    def _look(self, *_: Any) -> None:
        """Keep SQLite from making an empty file where the study's was."""
        if self._opened and not self._path.exists():
            raise Moved(f"{self.where} is gone; put it back, or restore a backup")

    def _remember(self, connection: Any, record: Any) -> None:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the log, too
        if self._frozen:
            connection.execute("PRAGMA query_only=ON")
        record.info["files"] = self._files()
        self._opened = True

    def _files(self) -> tuple[Place, Place]:
        """Return what the file and its log are known by."""
        return _place(self._path), _place(_log_of(self._path))

    @staticmethod
    def _prepare(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            # Two processes that switch a new file to WAL at once are not made to wait.
            deadline = time.monotonic() + WAIT
            while True:
                try:
                    cursor.execute("PRAGMA journal_mode=WAL")
                    break
                except Exception as error:
                    if "readonly" in str(error):
                        break
                    if "locked" not in str(error) or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
        cursor.execute("PRAGMA foreign_keys=OFF")
        cursor.close()
        record.info["synchronous"] = None

    def begin(
        self, connection: Connection, write: bool, durable: bool, repeatable: bool = False
    ) -> None:
        info = connection.info
        wanted = "FULL" if durable else "NORMAL"
        driver: Any = connection.connection.driver_connection
        if info["files"] != self._files():
            raise Moved(f"{self.where} {_MOVED}; nothing of this call was stored")
        if write and info.get("synchronous") != wanted:
            driver.execute(f"PRAGMA synchronous={wanted}")
            info["synchronous"] = wanted
        driver.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def confirm(self, connection: Connection) -> None:
        if connection.info["files"] != self._files():
            raise Moved(f"{self.where} {_MOVED}; what this call told is not kept")

    def faults(self, connection: Connection) -> list[str]:
        driver: Any = connection.connection.driver_connection
        lines = [row[0] for row in driver.execute("PRAGMA quick_check(20)").fetchall()]
        return [] if lines == ["ok"] else [f"SQLite says: {line}" for line in lines]

    def commit(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        driver.execute("COMMIT")

    def rollback(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        if driver.in_transaction:  # a full disk ends the transaction by itself
            driver.execute("ROLLBACK")

    def clock(self) -> Any:
        return literal(time.time())

    def now(self) -> float | None:
        return time.time()

    def lock_schema(self, connection: Connection) -> None:
        pass  # BEGIN IMMEDIATE has locked the file

    def passing(self, error: Exception) -> bool:
        words = str(error)
        return "locked" in words or "busy" in words

    def sentence(self, error: Exception) -> str:
        words = str(error)
        if "readonly" in words:
            why = "is read-only: make the file and its folder writable, or use another storage"
        elif "full" in words:
            why = "cannot grow, the disk is full: free some space and do the same again"
        elif "not a database" in words or "malformed" in words:
            why = "is not an SQLite database, or is damaged: restore a copy or use another storage"
        elif "unable to open" in words:
            why = "cannot be opened: check the path and its permissions"
        elif "locked" in words or "busy" in words:
            why = "is locked by another program: end it and do the same again"
        else:
            why = f"refused: {words}"
        return f"{self.where} {why}; nothing of this call was stored"


def _as_uri(path: Path, **query: str) -> URL:
    name = f"file:{quote(str(path.resolve()))}"
    return URL.create("sqlite", database=name, query={**query, "uri": "true"})


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _place(path: Path) -> Place:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Postgres(Dialect):
    """A server; a study's row is the lock of its writers."""

    def __init__(self, url: URL) -> None:
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise StoreError(
                "PostgreSQL needs the package psycopg; install bestgroup[postgres]"
            ) from None
        self._url = url.set(drivername="postgresql+psycopg")
        self.where = f"the database {url.render_as_string(hide_password=True)}"

    @property
    def complaint(self) -> type[Exception]:
        import psycopg

        return psycopg.Error

    def engine(self) -> Engine:
        return create_engine(self._url, max_overflow=-1, connect_args={"connect_timeout": 10})

    def begin(
        self, connection: Connection, write: bool, durable: bool, repeatable: bool = False
    ) -> None:
        connection.begin()
        if repeatable:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        if write and not durable:
            connection.execute(text("SET LOCAL synchronous_commit TO off"))

    def commit(self, connection: Connection) -> None:
        connection.commit()

    def confirm(self, connection: Connection) -> None:
        pass  # the server has said so

    def rollback(self, connection: Connection) -> None:
        connection.rollback()

    def clock(self) -> Any:
        return func.extract("epoch", func.clock_timestamp())

    def lock_schema(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(7262839105)"))

    def passing(self, error: Exception) -> bool:
        state = getattr(error, "sqlstate", None) or ""
        if state[:2] in ("08", "40", "57") or state in ("53300", "55P03"):
            return True
        # Without a state the server did not speak: it could not be reached, or went away.
        return not state and type(error).__name__ in ("OperationalError", "InterfaceError")

    def sentence(self, error: Exception) -> str:
        words = " ".join(str(error).split())
        return f"{self.where} refused or does not answer ({words}); nothing of this call was stored"
