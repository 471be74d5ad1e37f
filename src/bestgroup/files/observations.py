"""Tables of observations, read in portions: CSV and Parquet files, data frames, lists of rows.

A row holds a group, an arm, one number for each dim and, where arms are scored on the same items, the
item. The values of an arm are taken in the order
of the rows, whatever lies between them.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats

if TYPE_CHECKING:
    from bestgroup.problem.problem import Problem

ROWS = 16_384  # in one portion
GROUP, ARM, ITEM = "group", "arm", "item"


@dataclass(frozen=True)
class Portion:
    """Some rows: the group and arm of each, and a column of numbers for each dim."""

    groups: Sequence[str]
    arms: Sequence[str]
    values: Floats  # [n, dims]
    first: int  # the number of the first row, as a person counts lines
    items: Sequence[str] | None = None  # what each row was scored on, if the table says it

    def by_arm(self) -> Iterator[tuple[str, str, Floats]]:
        """Yield (group, arm, values [n, dims]) for each arm of the portion, rows in their order."""
        codes: dict[tuple[str, str], int] = {}
        keys = zip(self.groups, self.arms, strict=True)
        code = np.fromiter((codes.setdefault(key, len(codes)) for key in keys), np.int64)
        order = np.argsort(code, kind="stable")
        ends = np.cumsum(np.bincount(code, minlength=len(codes)))
        for (group, arm), part in zip(codes, np.split(order, ends[:-1]), strict=True):
            yield group, arm, self.values[part]

    def check(self, problem: Problem, name: str) -> None:
        """Refuse unknown groups and arms and values that the noise rules out, with the first line."""
        try:
            for group, arm in set(zip(self.groups, self.arms, strict=True)):
                problem.index(group, arm)
            problem.check_values(self.values)
        except InvalidInput:
            for k, (group, arm) in enumerate(zip(self.groups, self.arms, strict=True)):
                try:
                    problem.index(group, arm)
                    problem.check_values(self.values[k])
                except InvalidInput as error:
                    raise InvalidInput(f"{name}: line {self.first + k}: {error}") from None
            raise


class Table:
    """A source of observations; `dims` are its columns besides group and arm."""

    def __init__(self, source: Any, dims: Sequence[str] | None = None) -> None:
        self._source = source
        self.name = str(source) if isinstance(source, str | os.PathLike) else "the table"
        columns = self._columns()
        for column in (GROUP, ARM):
            if column not in columns:
                raise InvalidInput(
                    f"{self.name}: there must be a column {column!r}; the columns are "
                    f"{', '.join(columns) or 'none'}"
                )
        twice = [name for k, name in enumerate(columns) if name in columns[:k]]
        if twice:
            raise InvalidInput(f"{self.name}: there are two columns {twice[0]!r}")
        # A dim may be called "item"; then the column holds its numbers.
        self.has_items = ITEM in columns and ITEM not in (dims or ())
        self._keys = (GROUP, ARM, ITEM) if self.has_items else (GROUP, ARM)
        own = [name for name in columns if name not in self._keys]
        self.dims: tuple[str, ...] = tuple(own if dims is None else dims)
        for name in self.dims:
            if name not in own:
                raise InvalidInput(
                    f"{self.name}: there is no column for the dim {name!r}; the columns are "
                    f"{', '.join(columns)}"
                )
        if not self.dims:
            raise InvalidInput(f"{self.name}: there is no column of numbers besides group and arm")

    def portions(self) -> Iterator[Portion]:
        """Yield all rows, in order."""
        if self._is("csv"):
            done = 0
            for portion in self._quick_portions():
                yield portion
                done += len(portion.groups)
            yield from self._csv_portions(done)
            return
        first = 1
        for frame in self._frames():
            groups, arms, *items = (
                [_text(value, key, first + k, self.name) for k, value in enumerate(frame[key])]
                for key in self._keys
            )
            columns = [self._numbers(frame[dim], dim, first) for dim in self.dims]
            if groups:
                yield Portion(groups, arms, np.column_stack(columns), first, *items)
            first += len(groups)

    def _is(self, kind: str) -> bool:
        if not isinstance(self._source, str | os.PathLike):
            return False
        suffix = Path(self._source).suffix.lower()
        return (suffix in (".parquet", ".pq")) == (kind == "parquet")

    def _columns(self) -> list[str]:
        if self._is("csv"):
            with self._open() as file:
                try:
                    return [name.strip() for name in next(csv.reader(file), [])]
                except (UnicodeDecodeError, csv.Error):
                    raise InvalidInput(f"{self.name}: this is not a CSV file in UTF-8") from None
        if self._is("parquet"):
            return list(self._parquet().schema_arrow.names)
        if isinstance(self._source, Mapping):
            return [str(name) for name in self._source]
        if isinstance(self._source, Sequence) and not isinstance(self._source, str):
            rows = self._source
            if not rows or not all(isinstance(row, Mapping) for row in rows):
                raise InvalidInput("observations must be a file, a data frame or a list of dicts")
            return list(rows[0])
        return list(self._frame().columns)

    def _open(self) -> Any:
        path = Path(self._source)
        try:
            return path.open(newline="", encoding="utf-8-sig")
        except OSError as error:
            raise InvalidInput(f"{path}: the file cannot be read: {error.strerror}") from None

    def _quick_portions(self) -> Iterator[Portion]:
        """Yield what pyarrow reads without trouble; whatever is left, the slow reader judges."""
        try:
            from pyarrow import ArrowException, csv, float64, string
        except ImportError:
            return
        types = dict.fromkeys(self._keys, string()) | dict.fromkeys(self.dims, float64())
        strict = csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[],
            strings_can_be_null=False,
        )
        first = 2
        try:
            reader = csv.open_csv(self._source, convert_options=strict)
            for batch in reader:
                columns = [batch.column(dim).to_numpy(zero_copy_only=False) for dim in self.dims]
                keys = [batch.column(key).to_pylist() for key in self._keys]
                values = np.column_stack(columns)
                if any("" in key for key in keys) or not np.isfinite(values).all():
                    return
                groups, arms, *items = keys
                yield Portion(groups, arms, values, first, *items)
                first += len(groups)
        except (ArrowException, OSError):
            return

    def _csv_portions(self, skip: int) -> Iterator[Portion]:
        """Yield the rows after the first `skip`, with a sentence for what is wrong."""
        with self._open() as file:
            reader = csv.reader(file)
            try:
                columns = [name.strip() for name in next(reader)]
                at = [columns.index(name) for name in (*self._keys, *self.dims)]
                first = 2 + skip
                for _ in islice(reader, skip):
                    pass
                while rows := list(islice(reader, ROWS)):
                    yield self._csv_portion(rows, at, len(columns), first)
                    first += len(rows)
            except UnicodeDecodeError:
                raise InvalidInput(f"{self.name}: this is not a CSV file in UTF-8") from None
            except csv.Error as error:
                raise InvalidInput(f"{self.name}: line {reader.line_num}: {error}") from None

    def _csv_portion(self, rows: list[list[str]], at: list[int], width: int, first: int) -> Portion:
        for k, row in enumerate(rows if set(map(len, rows)) != {width} else ()):
            if len(row) != width:
                raise InvalidInput(
                    f"{self.name}: line {first + k} must have {width} cells; got {len(row)}"
                )
        table = list(zip(*rows, strict=True))
        own = len(self._keys)
        groups, arms, *items = (table[k] for k in at[:own])
        for column, cells in zip(self._keys, (groups, arms, *items), strict=True):
            if "" in cells:
                line = first + cells.index("")
                raise InvalidInput(f"{self.name}: line {line}: the {column} is missing")
        columns = [
            self._numbers(table[k], dim, first) for k, dim in zip(at[own:], self.dims, strict=True)
        ]
        return Portion(groups, arms, np.column_stack(columns), first, *items)

    def _numbers(self, cells: Any, dim: str, first: int) -> Floats:
        """Return a column as finite numbers; a refusal names the first bad line."""
        try:
            column = np.fromiter(map(float, cells), np.float64, len(cells))
            if np.isfinite(column).all():
                return column
        except (TypeError, ValueError):
            pass
        for k, cell in enumerate(cells):
            try:
                good = bool(np.isfinite(float(cell)))
            except (TypeError, ValueError):
                good = False
            if not good:
                missing = cell is None or str(cell).strip() in ("", "nan", "NaN", "None", "<NA>")
                what = "is missing" if missing else f"must be a finite number; got {cell!r}"
                raise InvalidInput(f"{self.name}: line {first + k}: {dim} {what}")
        return np.asarray([float(cell) for cell in cells])

    def _parquet(self) -> Any:
        try:
            from pyarrow import ArrowException
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise InvalidInput(
                "Parquet files need pyarrow: pip install 'bestgroup[frames]'"
            ) from None
        try:
            return ParquetFile(self._source)
        except (OSError, ArrowException) as error:
            text = str(error).splitlines()[0]
            raise InvalidInput(f"{self.name}: the file cannot be read: {text}") from None

    def _frame(self) -> Any:
        try:
            import narwhals as nw
        except ImportError:
            raise InvalidInput(
                "data frames need narwhals: pip install 'bestgroup[frames]'"
            ) from None
        try:
            return nw.from_native(self._source, eager_only=True)
        except TypeError:
            raise InvalidInput(
                "observations must be a CSV or Parquet file, a data frame or a list of dicts; "
                f"got {type(self._source).__name__}"
            ) from None

    def _frames(self) -> Iterator[dict[str, Any]]:
        wanted = [*self._keys, *self.dims]
        if self._is("parquet"):
            for batch in self._parquet().iter_batches(ROWS, columns=wanted):
                yield {name: batch.column(name).to_pylist() for name in wanted}
        elif isinstance(self._source, Mapping):
            yield {name: list(self._source[name]) for name in wanted}
        elif isinstance(self._source, Sequence):
            yield {name: [row.get(name) for row in self._source] for name in wanted}
        else:
            frame = self._frame()
            for start in range(0, len(frame), ROWS):
                part = frame[start : start + ROWS]
                yield {name: part[name].to_list() for name in wanted}


def _text(value: Any, column: str, row: int, name: str) -> str:
    if value is None or (isinstance(value, float) and value != value) or not str(value):
        raise InvalidInput(f"{name}: line {row}: the {column} is missing")
    return str(value)
