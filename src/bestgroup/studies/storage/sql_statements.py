"""The statements of a session, written once in SQLAlchemy Core and compiled once a database.

A tell is a handful of small statements. They are run on the driver's own cursor: what SQLAlchemy
does around each one would take longer than the database does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, insert, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import Executable

from bestgroup.studies.storage.records import Head
from bestgroup.studies.storage.tables import (
    decisions,
    imports,
    observations,
    snapshots,
    studies,
    tickets,
)

_KEY = bindparam("key")
_SLOT = [
    tickets.c[name]
    for name in (
        "grp",
        "arm",
        "first",
        "size",
        "due",
        "rank",
        "owner",
        "expires",
        "failures",
        "reason",
        "seconds",
    )
]
_AT = and_(
    tickets.c.study == _KEY, tickets.c.grp == bindparam("i"), tickets.c.arm == bindparam("j")
)
_DATA = [
    observations.c[name]
    for name in ("number", "grp", "arm", "first", "count", "data", "at", "chain")
]
_OF_ARM = and_(
    observations.c.study == _KEY,
    observations.c.grp == bindparam("i"),
    observations.c.arm == bindparam("j"),
)
_HEAD = [studies.c[name] for name in Head._fields]


def statements(clock: Any) -> dict[str, Executable]:
    """Return all statements; `clock` is the expression for now, or None if the caller has it."""
    known = [*_HEAD, studies.c.checksum, studies.c.id]
    head = select(*known) if clock is None else select(*known, clock)
    # A number may come again after a deletion, an identity never.
    head = head.where(studies.c.identity == bindparam("identity"))
    return {
        "head": head,
        "head, locked": head.with_for_update(),
        # Compare-and-set: whoever moves a study on must have seen the plan it moves on from.
        "set head": update(studies)
        .where(studies.c.id == _KEY, studies.c.plan == bindparam("seen"))
        .values({name: bindparam(f"new_{name}") for name in (*Head._fields, "checksum")}),
        "slots": select(*_SLOT).where(tickets.c.study == _KEY),
        "slots of arm": select(*_SLOT).where(_AT),
        "available": select(*_SLOT)
        .where(
            tickets.c.study == _KEY,
            tickets.c.rank == bindparam("rank"),
            tickets.c.expires <= bindparam("now"),
        )
        .order_by(tickets.c.expires, tickets.c.first, tickets.c.grp, tickets.c.arm)
        .limit(bindparam("most")),
        "last to end": select(*_SLOT)
        .where(tickets.c.study == _KEY, tickets.c.rank == bindparam("rank"))
        .order_by(tickets.c.expires.desc())
        .limit(1),
        "shorten": update(tickets)
        .where(
            tickets.c.study == _KEY,
            tickets.c.seconds > 0,
            tickets.c.expires > bindparam("now") + tickets.c.seconds,
        )
        .values(expires=bindparam("now") + tickets.c.seconds),
        "waiting": select(tickets.c.first)
        .where(tickets.c.study == _KEY, tickets.c.rank == 0)
        .limit(1),
        "drop slot": delete(tickets).where(_AT, tickets.c.first == bindparam("k")),
        "add slot": insert(tickets),
        "append": insert(observations),
        "blocks": _later(*_DATA),
        "stored": _later(*_DATA, observations.c.checksum),
        "block": select(*_DATA).where(
            observations.c.study == _KEY, observations.c.number == bindparam("n")
        ),
        # Blocks do not overlap, so at most one of them begins before a stretch and reaches into it.
        "observed": select(*_DATA)
        .where(_OF_ARM, observations.c.first < bindparam("stop"))
        .order_by(observations.c.first.desc())
        .limit(bindparam("most")),
        "top": select(func.max(observations.c.first + observations.c.count)).where(_OF_ARM),
        "forget blocks": delete(observations).where(observations.c.study == _KEY),
        "decide": insert(decisions),
        "forget decisions": delete(decisions).where(decisions.c.study == _KEY),
        "decisions": select(
            *(decisions.c[n] for n in ("number", "plan", "pulls", "kind", "grp", "evidence"))
        )
        .where(decisions.c.study == _KEY)
        .order_by(decisions.c.number),
        "snapshot": select(snapshots.c.data).where(snapshots.c.study == _KEY),
        "drop snapshot": delete(snapshots).where(snapshots.c.study == _KEY),
        "add snapshot": insert(snapshots),
        "imported": select(imports.c.rows).where(
            imports.c.study == _KEY, imports.c.digest == bindparam("digest")
        ),
        "add import": insert(imports),
    }


def _later(*columns: Any) -> Executable:
    """Return the query for blocks with numbers above `after`, in their order."""
    return (
        select(*columns)
        .where(observations.c.study == _KEY, observations.c.number > bindparam("after"))
        .order_by(observations.c.number)
        .limit(bindparam("most"))
    )


class Statements:
    """The statements as one kind of database takes them."""

    def __init__(self, dialect: Dialect, clock: Any) -> None:
        self._texts: dict[str, tuple[str, dict[str, Any], list[str] | None]] = {}
        for name, statement in statements(clock).items():
            source: Any = statement
            compiled = source.compile(dialect=dialect)
            self._texts[name] = (str(compiled), dict(compiled.params), compiled.positiontup)

    def rows(self, cursor: Any, name: str, terms: Mapping[str, Any]) -> list[Any]:
        """Return what a query finds."""
        text, fixed, order = self._texts[name]
        row = {**fixed, **terms}
        cursor.execute(text, row if order is None else tuple(row[key] for key in order))
        return cursor.fetchall()

    def change(self, cursor: Any, name: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Run a statement for each of the rows; returns how many rows of the table it met."""
        text, fixed, order = self._texts[name]
        given: list[Any] = [{**fixed, **row} for row in rows]
        if order is not None:
            given = [tuple(row[key] for key in order) for row in given]
        if len(given) == 1:
            cursor.execute(text, given[0])
        elif given:
            cursor.executemany(text, given)
        return cursor.rowcount
