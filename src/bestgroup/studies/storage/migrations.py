"""A new database gets the newest tables at once; `STEPS` are for those of older schemas.

A step is never edited once it was released, so it is written out and does not read `tables.py`,
which describes the newest schema only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, inspect, select, text

from bestgroup.errors import StoreError
from bestgroup.problem.pull_range import PullRange
from bestgroup.studies.storage.checksums import (
    chain_bytes,
    head_checksum,
    new_identity,
    own_checksum,
    text_checksum,
)
from bestgroup.studies.storage.records import Head, Stored
from bestgroup.studies.storage.tables import metadata, schema

_PORTION = 5000  # rows rewritten at a time


def _second(connection: Connection) -> None:
    """Identities, checksums, the length of leases, an audit trail and named tokens."""
    blob = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    for line in (
        "ALTER TABLE bestgroup_studies ADD COLUMN chain TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE bestgroup_studies ADD COLUMN identity TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE bestgroup_studies ADD COLUMN checksum TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE bestgroup_studies ADD COLUMN spec_checksum TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE bestgroup_tickets ADD COLUMN seconds DOUBLE PRECISION NOT NULL DEFAULT 0",
        "DELETE FROM bestgroup_snapshots",  # a cache, without a checksum so far
        # Made anew, for a writer of the old schema must not add rows without a checksum.
        "DROP INDEX bestgroup_observations_arm",
        "ALTER TABLE bestgroup_observations RENAME TO bestgroup_observations_1",
        "CREATE TABLE bestgroup_observations (study INTEGER NOT NULL, number BIGINT NOT NULL, "
        "grp INTEGER NOT NULL, arm INTEGER NOT NULL, first BIGINT NOT NULL, count BIGINT NOT NULL, "
        f"at DOUBLE PRECISION NOT NULL, data {blob} NOT NULL, chain {blob} NOT NULL, "
        "PRIMARY KEY (study, number), FOREIGN KEY(study) REFERENCES bestgroup_studies (id))",
        "CREATE UNIQUE INDEX bestgroup_observations_arm ON bestgroup_observations "
        "(study, grp, arm, first)",
        "CREATE TABLE bestgroup_audit (number "
        + ("SERIAL" if blob == "BYTEA" else "INTEGER")
        + " NOT NULL PRIMARY KEY, at DOUBLE PRECISION NOT NULL, who TEXT NOT NULL, "
        "what TEXT NOT NULL, study TEXT NOT NULL, identity TEXT NOT NULL, detail TEXT NOT NULL)",
        "CREATE TABLE bestgroup_tokens (name TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, "
        "digest TEXT NOT NULL UNIQUE, created DOUBLE PRECISION NOT NULL)",
    ):
        connection.execute(text(line))
    for row in connection.execute(text("SELECT * FROM bestgroup_studies")).mappings().all():
        _seal(connection, row)
    connection.execute(text("DROP TABLE bestgroup_observations_1"))
    connection.execute(
        text("CREATE UNIQUE INDEX bestgroup_studies_identity ON bestgroup_studies (identity)")
    )


def _seal(connection: Connection, row: Any) -> None:
    """Give a study of schema 1 an identity and checksums."""
    chain, identity = _chained(connection, row["id"]).hex(), new_identity()
    fields = {"plan", "told", "pulls", "blocks", "state", "report"}
    head = Head(**{name: row[name] for name in fields}, chain=chain)
    line = (
        "UPDATE bestgroup_studies SET chain = :chain, identity = :identity, checksum = :checksum, "
        "spec_checksum = :spec WHERE id = :id"
    )
    marks = {"checksum": head_checksum(identity, head), "spec": text_checksum(row["spec"])}
    connection.execute(text(line), {"chain": chain, "identity": identity, "id": row["id"], **marks})


def _chained(connection: Connection, study: int) -> bytes:
    """Move the blocks of a study to the new table, with checksums; returns the last one."""
    read = text(
        "SELECT number, grp, arm, first, count, at, data FROM bestgroup_observations_1 "
        "WHERE study = :study AND number > :after ORDER BY number LIMIT :most"
    )
    write = text(
        "INSERT INTO bestgroup_observations (study, number, grp, arm, first, count, at, data, chain)"
        " VALUES (:study, :number, :grp, :arm, :first, :count, :at, :data, :chain)"
    )
    chain, after = b"", 0
    while True:
        terms = {"study": study, "after": after, "most": _PORTION}
        rows = connection.execute(read, terms).mappings().all()
        if not rows:
            return chain
        made = []
        for row in rows:
            pulls = PullRange(row["grp"], row["arm"], row["first"], row["count"])
            chain = chain_bytes(chain, Stored(row["number"], pulls, bytes(row["data"]), row["at"]))
            made.append({**row, "study": study, "chain": chain})
        connection.execute(write, made)
        after = rows[-1]["number"]


def _third(connection: Connection) -> None:
    """A checksum of its own for every block that fits the chain; nothing vouches for others."""
    blob = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    connection.execute(text(f"ALTER TABLE bestgroup_observations ADD COLUMN checksum {blob}"))
    for row in connection.execute(text("SELECT id, identity FROM bestgroup_studies")).all():
        _mark_blocks(connection, *row)


def _mark_blocks(connection: Connection, study: int, identity: str) -> None:
    read = text(
        "SELECT number, grp, arm, first, count, at, data, chain FROM bestgroup_observations "
        "WHERE study = :study AND number > :after ORDER BY number LIMIT :most"
    )
    write = text(
        "UPDATE bestgroup_observations SET checksum = :own WHERE study = :study AND number = :number"
    )
    chain, after = b"", 0
    while True:
        terms = {"study": study, "after": after, "most": _PORTION}
        rows = connection.execute(read, terms).mappings().all()
        if not rows:
            return
        made = []
        for row in rows:
            pulls = PullRange(row["grp"], row["arm"], row["first"], row["count"])
            kept = Stored(row["number"], pulls, bytes(row["data"]), row["at"])
            if row["number"] == after + 1 and chain_bytes(chain, kept) == bytes(row["chain"]):
                own = own_checksum(identity, kept)
                made.append({"study": study, "number": row["number"], "own": own})
            chain, after = bytes(row["chain"]), row["number"]
        if made:
            connection.execute(write, made)


STEPS: dict[int, Callable[[Connection], None]] = {2: _second, 3: _third}
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
    if version == NEWEST:
        return
    if version == 0:
        metadata.create_all(connection)
    else:
        for number in range(version + 1, NEWEST + 1):
            STEPS[number](connection)
    connection.execute(schema.delete())
    connection.execute(schema.insert().values(version=NEWEST))
