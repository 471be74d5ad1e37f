"""Numbered steps from one schema to the next: `upgrade` brings a database to the newest.

A step is never edited once it was released. Step 1 makes the first schema; the tables in
`tables.py` are those of the newest.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, select

from bestgroup.errors import StoreError
from bestgroup.studies.storage.tables import metadata, schema


def _first(connection: Connection) -> None:
    metadata.create_all(connection)


STEPS: dict[int, Callable[[Connection], None]] = {1: _first}
NEWEST = max(STEPS)


def version_of(connection: Connection) -> int:
    """Return the schema of a database; 0 if bestgroup has not used it yet."""
    if not inspect(connection).has_table(schema.name):
        return 0
    return connection.execute(select(schema.c.version)).scalar() or 0


def check(version: int, where: str) -> None:
    """Raise StoreError if the database is newer than this library."""
    if version > NEWEST:
        raise StoreError(
            f"{where} was written by a newer bestgroup (schema {version}; this one knows up to "
            f"{NEWEST}); upgrade bestgroup, nothing was changed"
        )


def upgrade(connection: Connection, where: str) -> None:
    """Bring the database of a connection, inside a transaction, to the newest schema."""
    version = version_of(connection)
    check(version, where)
    for number in range(version + 1, NEWEST + 1):
        STEPS[number](connection)
    if version != NEWEST:
        connection.execute(schema.delete())
        connection.execute(schema.insert().values(version=NEWEST))
