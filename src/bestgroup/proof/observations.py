"""The observations that a proof is about: each arm's values in their order, and the digest of all rows.

The digest is the end of a hash chain over the rows in the order of the table: every link commits to all
rows before it, so that a row that is changed, left out or put elsewhere changes all links after it.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.files.observations import Table
from bestgroup.problem.arrays import Floats

INDEX = "index"


def first_link(dims: Sequence[str]) -> bytes:
    """Return the link before the first row: the SHA-256 of a header with the names of the dims."""
    return hashlib.sha256("\x1f".join(("bestgroup-rows-1", *dims)).encode("utf-8")).digest()


def next_link(link: bytes, names: Iterable[str], values: Sequence[float]) -> bytes:
    """Return the link after a row: the SHA-256 of the last link, the row's names and its doubles."""
    return hashlib.sha256(link + _names(names) + struct.pack(f">{len(values)}d", *values)).digest()


def _names(names: Iterable[str]) -> bytes:
    return "\x1f".join(names).encode("utf-8", "surrogatepass") + b"\x1e"


@dataclass
class Observations:
    """All rows, by arm, as they are in the table."""

    dims: tuple[str, ...]
    rows: int = 0
    link: bytes = b""
    values: dict[tuple[str, str], list[list[float]]] = field(default_factory=dict)  # [D][n] an arm
    items: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    index: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    sums: dict[tuple[tuple[str, str], int, int], Fraction] = field(default_factory=dict, repr=False)

    def sum_of(self, arm: tuple[str, str], dim: int, count: int) -> Fraction:
        """Return the exact sum of an arm's first values in a dim."""
        key = arm, dim, count
        if key not in self.sums:
            self.sums[key] = exact_sum(self.values[arm][dim][:count])
        return self.sums[key]

    @property
    def digest(self) -> str:
        """The last link of the chain."""
        return self.link.hex()

    @property
    def order(self) -> list[tuple[str, str]]:
        """Arms in the order in which they first came."""
        return list(self.values)


def exact_sum(values: list[float]) -> Fraction:
    """Return the exact sum of doubles: what `fsum` rounds off is summed again until nothing is left.

    >>> exact_sum([1e100, 1.0, -1e100, 2.0**-60]) == 1 + Fraction(1, 2**60)
    True
    """
    left, result = list(values), Fraction()
    while (part := math.fsum(left)) != 0.0:
        result += Fraction(part)
        left.append(-part)
    return result


def read_observations(
    source: Any, dims: Sequence[str], columns: dict[str, Any], gaps: bool = False
) -> Observations:
    """Return the rows of a table; `columns` are those of a proof: group, arm, item, index.

    A `Table` must have been read with its dims. With `gaps` a value may be missing; it is NaN then.
    """
    index = columns.get("index")
    names = (*dims, *([index] if index else []))
    if isinstance(source, Table):
        table = source
    else:
        roles = {key: columns[key] for key in ("group", "arm", "item") if columns.get(key)}
        table = Table(source, names, roles, gaps=tuple(dims) if gaps else False)
    places = [table.dims.index(name) for name in names]
    with_items = columns.get("item") is not None
    found = Observations(tuple(dims), link=first_link(dims))
    for portion in table.portions():
        keys = [portion.groups, portion.arms]
        if with_items:
            assert portion.items is not None
            keys.append(portion.items)
        _add_rows(found, list(zip(*keys, strict=True)), portion.values[:, places])
    if index:
        _sort(found)
    return found


def add_row(found: Observations, keys: tuple[str, ...], row: list[float]) -> None:
    """Take up a row: (group, arm[, item]), a value for each dim and, if there is one, its index."""
    found.link = next_link(found.link, keys, row)
    found.rows += 1
    arm = keys[0], keys[1]
    kept = found.values.get(arm)
    if kept is None:
        kept = found.values[arm] = [[] for _ in found.dims]
    for column, value in zip(kept, row, strict=False):
        column.append(value)
    if len(keys) > 2:
        found.items.setdefault(arm, []).append(keys[2])
    if len(row) > len(found.dims):
        found.index.setdefault(arm, []).append(_whole(row[-1]))


def _whole(value: float) -> int:
    """Return an index as a whole number; -1 if it is none."""
    return int(value) if value == int(value) else -1


def _add_rows(found: Observations, keys: list[tuple[str, ...]], rows: Floats) -> None:
    """Take up many rows, as `add_row` does one after the other."""
    packed, width = rows.astype(">f8").tobytes(), 8 * rows.shape[1]
    link, digest, texts = found.link, hashlib.sha256, dict[tuple[str, ...], bytes]()
    places: dict[tuple[str, str], list[int]] = {}
    for k, key in enumerate(keys):
        text = texts.get(key)
        if text is None:
            text = texts[key] = _names(key)
        link = digest(link + text + packed[width * k : width * (k + 1)]).digest()
        places.setdefault((key[0], key[1]), []).append(k)
    found.link, found.rows = link, found.rows + len(keys)
    for arm, own in places.items():
        columns: list[list[float]] = rows[own].T.tolist()
        kept = found.values.setdefault(arm, [[] for _ in found.dims])
        for column, more in zip(kept, columns, strict=False):
            column += more
        if keys and len(keys[0]) > 2:
            found.items.setdefault(arm, []).extend(keys[k][2] for k in own)
        if rows.shape[1] > len(found.dims):
            found.index.setdefault(arm, []).extend(map(_whole, columns[-1]))


def treated(found: Observations, treat: Sequence[Callable[[list[float]], list[float]]]) -> None:
    """Leave out the values that are missing, and put others as they are judged, in place."""
    for arm, columns in found.values.items():
        there = [[x for x in column if not math.isnan(x)] for column in columns]
        found.values[arm] = [of(column) for of, column in zip(treat, there, strict=True)]


def _sort(found: Observations) -> None:
    """Put each arm's values in the order of their index, which must be 0, 1, ... without a gap."""
    for arm, index in found.index.items():
        if index == list(range(len(index))):
            continue
        order = sorted(range(len(index)), key=index.__getitem__)
        if [index[k] for k in order] != list(range(len(index))):
            raise InvalidInput(
                f"the indices of {arm[0]}, {arm[1]} are not 0, 1, ...: rows were left out or repeated"
            )
        found.values[arm] = [[column[k] for k in order] for column in found.values[arm]]
        if arm in found.items:
            found.items[arm] = [found.items[arm][k] for k in order]
