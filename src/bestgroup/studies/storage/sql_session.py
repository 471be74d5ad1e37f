"""A study inside one transaction of a database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from bestgroup.errors import NoSuchStudy, StoreError
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.records import Block, Entry, Head, Slot, Tell
from bestgroup.studies.storage.sql_statements import Statements


class SqlSession(Session):
    """Rows of one study; the head is written once, by `flush`."""

    def __init__(self, connection: Connection, texts: Statements, key: int) -> None:
        driver: Any = connection.connection.driver_connection
        self._cursor, self._texts, self._key = driver.cursor(), texts, key
        self._stored = self.head = Head()
        self.now = 0.0

    def begin(self, lock: bool, now: float | None) -> None:
        """Read the head, and with `lock` let no other writer in; `now` unless it comes along."""
        rows = self._rows("head, locked" if lock else "head")
        if not rows:
            raise NoSuchStudy("this study was deleted")
        row, size = rows[0], len(Head._fields)
        self._stored = self.head = Head(*row[:size])
        self.now = float(row[size]) if now is None else now

    def flush(self) -> None:
        """Write the head if it has changed."""
        if self.head == self._stored:
            return
        new = {f"new_{name}": value for name, value in self.head._asdict().items()}
        new |= {"key": self._key, "seen": self._stored.plan}
        if self._change("set head", new) != 1:
            raise StoreError("another process has moved this study on; do the same again")
        self._stored = self.head

    def slots(self, group: int | None = None, arm: int | None = None) -> list[Slot]:
        if group is None:
            return [Slot(*row) for row in self._rows("slots")]
        return [Slot(*row) for row in self._rows("slots of arm", i=group, j=arm)]

    def available(self, most: int) -> list[Slot]:
        found: list[Slot] = []
        for rank in (0, 1):
            if len(found) < most:
                rows = self._rows("available", rank=rank, now=self.now, most=most - len(found))
                found += [Slot(*row) for row in rows]
        return found

    def waiting(self) -> bool:
        return bool(self._rows("waiting"))

    def swap(self, old: Iterable[Slot], new: Iterable[Slot]) -> None:
        gone = [{"key": self._key, "i": s.group, "j": s.arm, "k": s.first} for s in old]
        self._change("drop slot", *gone)
        rows = []
        for slot in new:
            row = slot._asdict()
            row["study"], row["grp"] = self._key, row.pop("group")
            rows.append(row)
        self._change("add slot", *rows)

    def append(self, tells: Sequence[Tell]) -> None:
        number, told = self.head.blocks, self.head.told
        rows = []
        for tell in tells:
            number += 1
            told += len(tell.values)
            rows.append(
                {
                    "study": self._key,
                    "number": number,
                    "grp": tell.group,
                    "arm": tell.arm,
                    "first": tell.first,
                    "count": len(tell.values),
                    "at": self.now,
                    "data": np.ascontiguousarray(tell.values, dtype="<f8").tobytes(),
                }
            )
        self._change("append", *rows)
        self.head = self.head._replace(blocks=number, told=told)

    def blocks(self, after: int, numbers: Sequence[int] = (), most: int = 2**62) -> list[Block]:
        rows: list[Any] = []
        for number in numbers:
            rows += self._rows("block", n=number)
        rows += self._rows("blocks", after=after, most=most)
        return [_block(row) for row in rows]

    def observed(self, group: int, arm: int, first: int, stop: int) -> list[Block]:
        rows = self._rows("observed", i=group, j=arm, stop=stop, most=stop - first + 1)
        blocks = [_block(row) for row in rows]
        return [block for block in blocks if block.stop > first]

    def top(self, group: int, arm: int) -> int:
        return int(self._rows("top", i=group, j=arm)[0][0] or 0)

    def set_head(self, head: Head) -> None:
        self.head = head

    def decide(self, entries: Sequence[Entry]) -> None:
        rows = []
        for entry in entries:
            row = entry._asdict()
            row["study"], row["grp"] = self._key, row.pop("group")
            rows.append(row)
        self._change("decide", *rows)

    def decisions(self) -> list[Entry]:
        return [Entry(*row) for row in self._rows("decisions")]

    def snapshot(self) -> bytes | None:
        rows = self._rows("snapshot")
        return bytes(rows[0][0]) if rows else None

    def set_snapshot(self, data: bytes | None) -> None:
        self._change("drop snapshot", {"key": self._key})
        if data is not None:
            self._change("add snapshot", {"study": self._key, "data": data})

    def imported(self, digest: str) -> int | None:
        rows = self._rows("imported", digest=digest)
        return rows[0][0] if rows else None

    def add_import(self, digest: str, rows: int) -> None:
        row = {"study": self._key, "digest": digest, "rows": rows, "at": self.now}
        self._change("add import", row)

    def _rows(self, name: str, **terms: Any) -> list[Any]:
        terms["key"] = self._key
        return self._texts.rows(self._cursor, name, terms)

    def _change(self, name: str, *rows: dict[str, Any]) -> int:
        return self._texts.change(self._cursor, name, rows)


def _block(row: Any) -> Block:
    number, group, arm, first, count, data, at = row
    values = np.frombuffer(data, dtype="<f8").reshape(count, -1)
    return Block(number, group, arm, first, values, at)
