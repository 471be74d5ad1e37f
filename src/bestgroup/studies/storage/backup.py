"""Copies of studies: from any database into one SQLite file, and back into any database.

The copy is made inside one transaction, so that it holds one state while workers go on telling.
Rows are copied as they are, checksums included; `identity` stays, numbers may change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, insert, select

from bestgroup.errors import InvalidInput, NoSuchStudy
from bestgroup.studies.storage.base import Store
from bestgroup.studies.storage.sql import SqlStore, remove
from bestgroup.studies.storage.tables import OF_A_STUDY, studies

_PORTION = 5000  # rows at a time


def backup(store: Store, path: Path, names: Sequence[str] = ()) -> list[str]:
    """Write studies, all of them or those named, to a new SQLite file; returns their names."""
    source = _sql(store)
    target = SqlStore(f"sqlite:///{path}", create=True)
    try:
        with source.transaction(False) as old, target.transaction(True) as new:
            copied = _copy(old, new, names, source.url)
    finally:
        target.close()
    with closing(sqlite3.connect(path)) as connection:  # one file, without a log beside it
        connection.execute("PRAGMA journal_mode=DELETE")
    return copied


def restore(
    store: Store, path: Path, names: Sequence[str] = (), replace: bool = False
) -> list[str]:
    """Put the studies of a backup into a storage, all or none; returns their names.

    A study of the same name is refused, or with `replace` removed in the same transaction.
    """
    if not path.is_file():
        raise InvalidInput(f"{path}: there is no such file")
    source, target = SqlStore(f"sqlite:///{path}"), _sql(store)
    try:
        with source.transaction(False) as old, target.transaction(True) as new:
            wanted = {row.name for row in _chosen(old, names, str(path))}
            taken = select(studies.c.id, studies.c.name).where(studies.c.name.in_(wanted))
            # Locked before anything is removed, in one order: so nobody waits for somebody who waits.
            for number, name in new.execute(taken.order_by(studies.c.id).with_for_update()).all():
                if not replace:
                    raise InvalidInput(
                        f"there is a study named {name!r} already; restore with replace to have "
                        "the backup's in its place, or delete it first"
                    )
                remove(new, number)
            return _copy(old, new, names, str(path))
    finally:
        source.close()


def _sql(store: Store) -> SqlStore:
    if not isinstance(store, SqlStore):
        raise InvalidInput("a storage in memory has no backups; export its observations instead")
    return store


def _chosen(connection: Connection, names: Sequence[str], where: str) -> Sequence[Any]:
    rows = connection.execute(select(studies).order_by(studies.c.name)).all()
    if missing := sorted(set(names) - {row.name for row in rows}):
        raise NoSuchStudy(f"there is no study named {missing[0]!r} in {where}")
    return [row for row in rows if not names or row.name in names]


def _copy(old: Connection, new: Connection, names: Sequence[str], where: str) -> list[str]:
    rows = _chosen(old, names, where)
    for row in rows:
        values = {key: value for key, value in row._mapping.items() if key != "id"}
        made = new.execute(insert(studies).values(**values).returning(studies.c.id))
        number = made.scalar_one()
        for table in OF_A_STUDY:
            for portion in _rows(old, table, row.id):
                new.execute(insert(table), [{**entry, "study": number} for entry in portion])
    return [row.name for row in rows]


def _rows(connection: Connection, table: Table, study: int) -> Iterator[list[dict[str, Any]]]:
    query = select(table).where(table.c.study == study)
    result = connection.execution_options(yield_per=_PORTION).execute(query)
    for portion in result.mappings().partitions(_PORTION):
        yield [dict(row) for row in portion]


__all__ = ["backup", "restore"]
