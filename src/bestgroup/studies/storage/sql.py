"""Studies in a database, on SQLAlchemy Core; what SQLite and PostgreSQL do differently is in
`dialects`.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TypeVar

from sqlalchemy import Connection, Engine, delete, insert, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from bestgroup.errors import Damaged, InvalidInput, NoSuchStudy, StoreError
from bestgroup.studies.storage import migrations
from bestgroup.studies.storage.backoff import Backoff
from bestgroup.studies.storage.base import Session, Store
from bestgroup.studies.storage.checksums import head_checksum, new_identity, text_checksum
from bestgroup.studies.storage.dialects import Dialect, Moved, Postgres, SQLite
from bestgroup.studies.storage.records import Entry, Event, Head, Listed, Slot
from bestgroup.studies.storage.sql_session import SqlSession
from bestgroup.studies.storage.sql_statements import Statements
from bestgroup.studies.storage.tables import OF_A_STUDY, audit, schema, studies, tokens
from bestgroup.studies.storage.turns import Turns

T = TypeVar("T")
LONGEST_REST = 1.0  # seconds


class SqlStore(Store):
    """Studies in SQLite or PostgreSQL.

    A database that is busy or away is tried again, at growing intervals, for `patience` seconds.
    """

    def __init__(self, url: str, create: bool = False, patience: float = 30.0) -> None:
        self.url = url
        self._patience = patience
        self._dialect = _dialect(url, create)
        self._engine: Engine | None = None
        self._statements: Statements | None = None
        self._process = os.getpid()
        self._turns, self._turns_of = Turns(), self._process
        self._one_writer = isinstance(self._dialect, SQLite)
        self._prepare(create)

    def create(
        self,
        name: str,
        spec: str,
        head: Head,
        slots: Sequence[Slot],
        entries: Sequence[Entry] = (),
    ) -> str:
        identity = new_identity()
        marks = {
            "identity": identity,
            "checksum": head_checksum(identity, head),
            "spec_checksum": text_checksum(spec),
        }

        def work(connection: Connection) -> str:
            values = {"name": name, "spec": spec, **head._asdict(), **marks}
            clock = self._dialect.clock()
            result = connection.execute(
                insert(studies).values(**values, created=clock).returning(studies.c.id)
            )
            texts = self._texts(connection)
            session = SqlSession(connection, texts, identity, result.scalar_one())
            session.swap([], slots)
            session.decide(entries)
            return identity

        try:
            return self._retrying(work, write=True)
        except IntegrityError:
            raise InvalidInput(
                f"there is a study named {name!r} already; choose another name, or load it"
            ) from None

    def find(self, name: str) -> tuple[str, str]:
        columns = [studies.c[field] for field in ("identity", "spec", "spec_checksum")]
        query = select(*columns).where(studies.c.name == name)
        row = self._retrying(lambda connection: connection.execute(query).one_or_none())
        if row is None:
            raise NoSuchStudy(f"there is no study named {name!r} in {self._dialect.where}")
        if text_checksum(row.spec) != row.spec_checksum:
            raise Damaged(
                f"the specification of {name!r} in {self._dialect.where} was changed by other means "
                "than bestgroup; restore a backup, for what a study is pinned to cannot be repaired"
            )
        return row.identity, row.spec

    def listed(self) -> list[Listed]:
        columns = [studies.c[field] for field in Listed._fields]
        query = select(*columns).order_by(studies.c.name)
        rows = self._retrying(lambda connection: connection.execute(query).all())
        return [Listed(*row) for row in rows]

    def delete(self, name: str, identity: str | None = None) -> None:
        def work(connection: Connection) -> bool:
            query = select(studies.c.id).where(studies.c.name == name)
            if identity is not None:
                query = query.where(studies.c.identity == identity)
            number = connection.execute(query.with_for_update()).scalar()
            if number is None:
                return False
            remove(connection, number)
            return True

        if not self._retrying(work, write=True):
            raise NoSuchStudy(f"there is no study named {name!r} in {self._dialect.where}")

    def write(
        self, key: str, work: Callable[[Session], T], durable: bool = True, trust: bool = False
    ) -> T:
        def alone(connection: Connection) -> T:
            session = self._session(connection, key, True, trust)
            result = work(session)
            session.flush()
            return result

        return self._retrying(alone, write=True, durable=durable)

    def read(self, key: str, work: Callable[[Session], T], trust: bool = False) -> T:
        return self._retrying(lambda c: work(self._session(c, key, False, trust)))

    def note(self, event: Event) -> None:
        values = {**event._asdict(), "at": self._dialect.clock()}
        self._retrying(lambda c: c.execute(insert(audit).values(**values)), write=True)

    def trail(self, most: int) -> list[Event]:
        columns = [audit.c[field] for field in Event._fields]
        query = select(*columns).order_by(audit.c.number.desc()).limit(most)
        return [Event(*row) for row in self._retrying(lambda c: c.execute(query).all())]

    def tokens(self) -> dict[str, tuple[str, str, float]]:
        query = select(tokens.c.name, tokens.c.role, tokens.c.digest, tokens.c.created)
        rows = self._retrying(lambda connection: connection.execute(query).all())
        return {row.name: (row.role, row.digest, row.created) for row in rows}

    def set_token(self, name: str, role: str, digest: str) -> None:
        values = {"name": name, "role": role, "digest": digest, "created": self._dialect.clock()}
        try:
            self._retrying(lambda c: c.execute(insert(tokens).values(**values)), write=True)
        except IntegrityError:
            raise InvalidInput(
                f"there is a token named {name!r} already; revoke it first"
            ) from None

    def drop_token(self, name: str) -> None:
        query = delete(tokens).where(tokens.c.name == name)
        if not self._retrying(lambda c: c.execute(query).rowcount, write=True):
            raise InvalidInput(f"there is no token named {name!r}")

    def ping(self) -> None:
        self._retrying(lambda connection: connection.execute(select(schema.c.version)).all())

    def faults(self) -> list[str]:
        return self._retrying(self._dialect.faults)

    @contextmanager
    def transaction(self, write: bool) -> Iterator[Connection]:
        """Yield a connection inside one transaction: for copies of everything."""
        try:
            with self._transaction(write, durable=True, repeatable=not write) as connection:
                yield connection
        except Moved as error:
            raise StoreError(str(error)) from None
        except (DBAPIError, self._dialect.complaint) as error:
            raise StoreError(self._dialect.sentence(_cause(error))) from error

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _session(self, connection: Connection, key: str, lock: bool, trust: bool) -> SqlSession:
        session = SqlSession(connection, self._texts(connection), key)
        session.begin(lock, self._dialect.now(), trust)
        return session

    def _texts(self, connection: Connection) -> Statements:
        if self._statements is None:
            clock = None if self._dialect.now() is not None else self._dialect.clock()
            self._statements = Statements(connection.dialect, clock)
        return self._statements

    def _prepare(self, create: bool) -> None:
        """Make or upgrade the tables; a database that is new enough is only looked at."""
        dialect, version = self._dialect, self._retrying(migrations.version_of)
        migrations.check(version, self._dialect.where)
        if version == 0 and not create and isinstance(self._dialect, SQLite):
            raise StoreError(f"{self._dialect.where} holds no studies")
        if version < migrations.NEWEST:
            if isinstance(dialect, SQLite) and version and dialect.read_only:
                self.close()
                if not dialect.copied:
                    dialect.copy()

            def work(connection: Connection) -> None:
                self._dialect.lock_schema(connection)
                migrations.upgrade(connection, self._dialect.where)

            self._retrying(work, write=True)
        if isinstance(dialect, SQLite) and dialect.copied:
            self.close()
            dialect.freeze()
        self._retrying(self._texts)  # not while others wait for somebody's first transaction

    def _connected(self) -> Engine:
        if self._engine is None or self._process != os.getpid():
            # Connections must not cross a fork.
            if self._engine is not None:
                self._engine.dispose(close=False)
            self._engine, self._process = self._dialect.engine(), os.getpid()
            weakref.finalize(self, _dispose, self._engine, self._process)
        return self._engine

    @contextmanager
    def _transaction(
        self, write: bool, durable: bool, repeatable: bool = False
    ) -> Iterator[Connection]:
        with self._connected().connect() as connection:
            self._dialect.begin(connection, write, durable, repeatable)
            try:
                yield connection
                self._dialect.commit(connection)
                if write:
                    self._dialect.confirm(connection)
            except BaseException:
                with suppress(DBAPIError, self._dialect.complaint):
                    self._dialect.rollback(connection)
                raise

    def _turn(self, write: bool) -> Turns | nullcontext[None]:
        """Return what keeps writers in order."""
        if self._turns_of != os.getpid():  # those who wait or hold stayed behind the fork
            self._turns, self._turns_of = Turns(), os.getpid()
        return self._turns if write and self._one_writer else nullcontext()

    def _retrying(
        self, work: Callable[[Connection], T], write: bool = False, durable: bool = True
    ) -> T:
        """Run `work` in a transaction, again after a complaint that may pass."""
        deadline = time.monotonic() + self._patience
        backoff = Backoff(0.02, 1.0)
        while True:
            try:
                with self._turn(write), self._transaction(write, durable) as connection:
                    begun = time.monotonic()
                    result = work(connection)
                if write and self._one_writer and self.rest:
                    time.sleep(min(self.rest * (time.monotonic() - begun), LONGEST_REST))
                return result
            except IntegrityError:
                raise
            except Moved as error:
                self.close()
                raise StoreError(str(error)) from None
            except (DBAPIError, self._dialect.complaint) as error:
                cause = _cause(error)
                late = time.monotonic() + backoff.pause > deadline
                if late or not self._dialect.passing(cause):
                    raise StoreError(self._dialect.sentence(cause)) from error
                self.close()  # connections to a server that went away are of no use
            time.sleep(backoff.next())


def remove(connection: Connection, number: int) -> None:
    """Remove a study with everything that belongs to it."""
    for table in OF_A_STUDY:
        connection.execute(delete(table).where(table.c.study == number))
    connection.execute(delete(studies).where(studies.c.id == number))


def _cause(error: Exception) -> Exception:
    """Return the driver's own error."""
    told = error.orig if isinstance(error, DBAPIError) else None
    return told if isinstance(told, Exception) else error


def _dispose(engine: Engine, process: int) -> None:
    """Close the connections of a store that is gone, in the process that made them."""
    if os.getpid() == process:
        engine.dispose()


def _dialect(url: str, create: bool) -> Dialect:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InvalidInput(
            f'storage must be "memory", "sqlite:///FILE" or "postgresql://..."; got {url!r}'
        ) from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        return SQLite(parsed, create)
    if kind in ("postgresql", "postgres"):
        return Postgres(parsed)
    raise InvalidInput(f"storage must be memory, SQLite or PostgreSQL; got {kind!r}")
