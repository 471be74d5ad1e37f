"""All that differs between SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, literal, text

from bestgroup.errors import InvalidInput, NoSuchStudy, StoreError

WAIT = 60.0  # seconds that SQLite waits for another process's transaction


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
    def begin(self, connection: Connection, write: bool, durable: bool) -> None:
        """Begin a transaction."""

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
        path = Path(name.removeprefix("file:"))
        if not create and not path.exists():
            raise NoSuchStudy(f"there is no database file {path}; create a study first")
        if not path.parent.is_dir():
            raise StoreError(f"{path} cannot be made: there is no folder {path.parent}")
        self._url = url

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
        event.listen(engine, "connect", self._prepare)
        return engine

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

    def begin(self, connection: Connection, write: bool, durable: bool) -> None:
        info = connection.info
        wanted = "FULL" if durable else "NORMAL"
        driver: Any = connection.connection.driver_connection
        if write and info.get("synchronous") != wanted:
            driver.execute(f"PRAGMA synchronous={wanted}")
            info["synchronous"] = wanted
        driver.execute("BEGIN IMMEDIATE" if write else "BEGIN")

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

    def begin(self, connection: Connection, write: bool, durable: bool) -> None:
        connection.begin()
        if write and not durable:
            connection.execute(text("SET LOCAL synchronous_commit TO off"))

    def commit(self, connection: Connection) -> None:
        connection.commit()

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
