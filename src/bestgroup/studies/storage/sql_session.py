"""A study inside one transaction of a database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from bestgroup.errors import Damaged, NoSuchStudy, StoreError
from bestgroup.problem.pull_range import PullRange
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.checksums import chain_bytes, head_checksum, own_checksum
from bestgroup.studies.storage.records import Block, Entry, Head, Slot, Stored, Tell
from bestgroup.studies.storage.sql_statements import Statements


class SqlSession(Session):
    """Rows of one study; the head is written once, by `flush`."""

    def __init__(
        self, connection: Connection, texts: Statements, identity: str, number: int = 0
    ) -> None:
        driver: Any = connection.connection.driver_connection
        self._cursor, self._texts = driver.cursor(), texts
        self._identity, self._key = identity, number
        self._stored = self.head = Head()
        self.now = 0.0

    def begin(self, lock: bool, now: float | None, trust: bool = False) -> None:
        """Read the head, and with `lock` let no other writer in; `now` unless it comes along.

        With `trust` a head that does not fit its checksum is taken as it is: to repair it.
        """
        query = "head, locked" if lock else "head"
        rows = self._rows(query, identity=self._identity)
        if not rows:  # a backup may have been restored while this waited for the lock
            rows = self._rows(query, identity=self._identity)
        if not rows:
            raise NoSuchStudy("this study was deleted")
        (row,), size = rows, len(Head._fields)
        self._stored = self.head = Head(*row[:size])
        checksum, self._key = row[size : size + 2]
        self.sound = checksum == head_checksum(self._identity, self.head)
        if not self.sound and not trust:
            raise Damaged(
                "the stored numbers of this study were changed by other means than bestgroup; "
                "`bestgroup study check` says what is wrong, `bestgroup study repair` repairs it"
            )
        self.now = float(row[size + 2]) if now is None else now

    def flush(self) -> None:
        """Write the head if it has changed."""
        if self.head == self._stored and self.sound:
            return
        new = {f"new_{name}": value for name, value in self.head._asdict().items()}
        new["new_checksum"] = head_checksum(self._identity, self.head)
        new |= {"key": self._key, "seen": self._stored.plan}
        if self._change("set head", new) != 1:
            raise StoreError("another process has moved this study on; do the same again")
        self._stored, self.sound = self.head, True

    def slots(self, group: int | None = None, arm: int | None = None) -> list[Slot]:
        if group is None:
            return [_slot(row) for row in self._rows("slots")]
        return [_slot(row) for row in self._rows("slots of arm", i=group, j=arm)]

    def available(self, most: int) -> list[Slot]:
        found: list[Slot] = []
        for rank in (0, 1):
            if len(found) < most:
                rows = self._rows("available", rank=rank, now=self.now, most=most - len(found))
                found += [_slot(row) for row in rows]
        return found

    def last_to_end(self, rank: int) -> Slot | None:
        rows = self._rows("last to end", rank=rank)
        return _slot(rows[0]) if rows else None

    def shorten(self) -> None:
        self._change("shorten", {"key": self._key, "now": self.now})

    def waiting(self) -> bool:
        return bool(self._rows("waiting"))

    def swap(self, old: Iterable[Slot], new: Iterable[Slot]) -> None:
        gone = [
            {"key": self._key, "i": s.pulls.group, "j": s.pulls.arm, "k": s.pulls.first}
            for s in old
        ]
        self._change("drop slot", *gone)
        rows = []
        for slot in new:
            row = slot._asdict()
            row |= row.pop("pulls")._asdict()
            row["study"], row["grp"] = self._key, row.pop("group")
            rows.append(row)
        self._change("add slot", *rows)

    def append(self, tells: Sequence[Tell]) -> None:
        number, told = self.head.blocks, self.head.told
        chain = bytes.fromhex(self.head.chain)
        rows = []
        for tell in tells:
            number += 1
            told += len(tell.values)
            data = np.ascontiguousarray(tell.values, dtype="<f8").tobytes()
            kept = Stored(number, tell.pulls, data, self.now)
            chain = chain_bytes(chain, kept)
            place = dict(zip(("grp", "arm", "first", "count"), tell.pulls, strict=True))
            row = {"study": self._key, "number": number, **place, "at": self.now}
            marks = {"chain": chain, "checksum": own_checksum(self._identity, kept)}
            rows.append({**row, "data": data, **marks})
        self._change("append", *rows)
        self.head = self.head._replace(blocks=number, told=told, chain=chain.hex())

    def blocks(self, after: int, numbers: Sequence[int] = (), most: int = 2**62) -> list[Block]:
        rows: list[Any] = []
        for number in numbers:
            rows += self._rows("block", n=number)
        rows += self._rows("blocks", after=after, most=most)
        return [_block(row) for row in rows]

    def stored(self, after: int, most: int) -> list[Stored]:
        rows = self._rows("stored", after=after, most=most)
        return [
            Stored(
                n,
                PullRange(i, j, k, m),
                bytes(d),
                at,
                bytes(c),
                None if own is None else bytes(own),
            )
            for n, i, j, k, m, d, at, c, own in rows
        ]

    def rewrite(self, blocks: Sequence[Block]) -> None:
        self._change("forget blocks", {"key": self._key})
        self.head = self.head._replace(blocks=0, told=0, chain="")
        self.append_again(blocks)

    def observed(self, pulls: PullRange) -> list[Block]:
        i, j = pulls.home
        rows = self._rows("observed", i=i, j=j, stop=pulls.stop, most=pulls.size + 1)
        blocks = [_block(row) for row in rows]
        return [block for block in blocks if block.pulls.stop > pulls.first]

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

    def forget_decisions(self) -> None:
        self._change("forget decisions", {"key": self._key})

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
    number, group, arm, first, count, data, at, chain = row
    try:
        values = np.frombuffer(data, dtype="<f8").reshape(count, -1)
    except ValueError:
        raise Damaged(
            f"block {number} of the log is cut short; `bestgroup study check` says what else is "
            "wrong, `bestgroup study repair` what can be done"
        ) from None
    return Block(number, PullRange(group, arm, first, count), values, at, bytes(chain))


def _slot(row: Any) -> Slot:
    return Slot(PullRange(*row[:4]), *row[4:])
