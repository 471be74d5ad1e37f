"""The tables, schema 3. Names begin with bestgroup_, for a database may hold other things too."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
)

metadata = MetaData()


def _study() -> Column[int]:
    return Column("study", ForeignKey("bestgroup_studies.id"), primary_key=True)


schema = Table("bestgroup_schema", metadata, Column("version", Integer, nullable=False))

studies = Table(
    "bestgroup_studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Double, nullable=False),
    Column("spec", Text, nullable=False),
    Column("plan", BigInteger, nullable=False),
    Column("told", BigInteger, nullable=False),
    Column("pulls", BigInteger, nullable=False),
    Column("blocks", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("report", Text, nullable=False),
    Column("chain", Text, nullable=False, server_default=""),  # of the last block
    Column("identity", Text, nullable=False, server_default=""),  # random, never used again
    Column("checksum", Text, nullable=False, server_default=""),  # of the numbers above
    Column("spec_checksum", Text, nullable=False, server_default=""),
    Index("bestgroup_studies_identity", "identity", unique=True),
)

# Only what is not told: a row a stretch of pulls.
tickets = Table(
    "bestgroup_tickets",
    metadata,
    _study(),
    Column("grp", Integer, primary_key=True),
    Column("arm", Integer, primary_key=True),
    Column("first", BigInteger, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("due", BigInteger, nullable=False),
    Column("rank", SmallInteger, nullable=False),
    Column("owner", Text, nullable=False),
    Column("expires", Double, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("seconds", Double, nullable=False, server_default="0"),  # that the lease was given for
    Index("bestgroup_tickets_next", "study", "rank", "expires"),
)

# A row for each block: `data` holds count rows of little-endian float64, all dims, as told.
observations = Table(
    "bestgroup_observations",
    metadata,
    _study(),
    Column("number", BigInteger, primary_key=True),
    Column("grp", Integer, nullable=False),
    Column("arm", Integer, nullable=False),
    Column("first", BigInteger, nullable=False),
    Column("count", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("chain", LargeBinary, nullable=False),  # checksum of this row and all before it
    Column("checksum", LargeBinary),  # of this row alone; none where schema 2 has written it
    Index("bestgroup_observations_arm", "study", "grp", "arm", "first", unique=True),
)

decisions = Table(
    "bestgroup_decisions",
    metadata,
    _study(),
    Column("number", BigInteger, primary_key=True),
    Column("plan", BigInteger, nullable=False),
    Column("pulls", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("grp", Integer, nullable=False),
    Column("evidence", Text, nullable=False),
)

# A cache: a snapshot may be deleted at any time.
snapshots = Table(
    "bestgroup_snapshots",
    metadata,
    _study(),
    Column("data", LargeBinary, nullable=False),
)

imports = Table(
    "bestgroup_imports",
    metadata,
    _study(),
    Column("digest", Text, primary_key=True),
    Column("rows", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
)

# Who created, deleted or imported what; rows are only ever added.
audit = Table(
    "bestgroup_audit",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("study", Text, nullable=False),
    Column("identity", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

# Tokens of the service; of a token only its digest is kept.
tokens = Table(
    "bestgroup_tokens",
    metadata,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("created", Double, nullable=False),
)

OF_A_STUDY = (tickets, observations, decisions, snapshots, imports)
