"""Where the rows of a table come from: text files, JSON lines, Parquet, data frames, rows, columns.

A source knows the names of its columns and gives their cells in portions. Text files may be separated
by commas, semicolons, tabs or bars, with a decimal comma where the separator leaves room for one, and
may be compressed by gzip. Which they are shows in their beginning, not in their name.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bestgroup.errors import InvalidInput
from bestgroup.files.formulas import unguarded

ROWS = 16_384  # in one portion
LONGEST_LINE = 2_000_000  # characters
SEPARATORS = (",", ";", "\t", "|")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+([eE][-+]?\d+)?\s*")
KINDS = "a CSV, TSV, JSON lines or Parquet file, a data frame, a dict of columns or a list of dicts"


class Cells(NamedTuple):
    """Some rows: a column of cells for each name, and the number of the first row."""

    columns: dict[str, Sequence[Any]]
    first: int  # as a person counts lines


class Source:
    """What a table is read from."""

    name = "the table"

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        raise NotImplementedError

    def cells(self, keys: Sequence[str], dims: Sequence[str]) -> Iterator[Cells]:
        """Yield the cells of these columns, all rows in order; `dims` should be numbers."""
        raise NotImplementedError


def source_of(given: Any) -> Source:
    """Return the source that a path, a data frame, rows or columns are."""
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if path.suffix.lower() in (".parquet", ".pq"):
            return ParquetSource(path)
        return JsonSource(path) if _is_json(path) else TextSource(path)
    if isinstance(given, Mapping):
        return ColumnsSource(given)
    if isinstance(given, Sequence):
        return RowsSource(given)
    return FrameSource(given)


def _opened(path: Path) -> io.TextIOWrapper:
    """Return the text of a file, unpacked if it is compressed."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        stream: Any = gzip.GzipFile(path) if packed else path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path}: the file cannot be read: {error.strerror}") from None
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


def _is_json(path: Path) -> bool:
    names = [suffix.lower() for suffix in path.suffixes[-2:]]
    return any(name in (".jsonl", ".ndjson", ".json") for name in names)


class TextSource(Source):
    """A text file with a header line."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        with self._reading() as file:
            head = next(self._lines(file), "")
            self.separator = max(SEPARATORS, key=lambda s: (head.count(s), -SEPARATORS.index(s)))
        with self._reading() as file:
            first = next(csv.reader(self._lines(file), delimiter=self.separator), [])
            self._columns = [unguarded(name.strip()) for name in first]

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return self._columns

    def _reading(self) -> Any:
        return _Reading(_opened(self.path), self.name)

    def cells(self, keys: Sequence[str], dims: Sequence[str]) -> Iterator[Cells]:
        """Yield the cells; what pyarrow reads without trouble first, the rest by hand."""
        done = 0
        for part in self._quick(keys, dims):
            yield part
            done += len(part.columns[keys[0]])
        yield from self._slow(keys, dims, done)

    def _quick(self, keys: Sequence[str], dims: Sequence[str]) -> Iterator[Cells]:
        try:
            from pyarrow import ArrowException, csv, float64, string
        except ImportError:
            return
        import numpy as np

        types = dict.fromkeys(keys, string()) | dict.fromkeys(dims, float64())
        strict = csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[],
            strings_can_be_null=False,
        )
        first = 2
        try:
            form = csv.ParseOptions(delimiter=self.separator)
            for batch in csv.open_csv(self.path, parse_options=form, convert_options=strict):
                columns: dict[str, Any] = {key: batch.column(key).to_pylist() for key in keys}
                values = {dim: batch.column(dim).to_numpy(zero_copy_only=False) for dim in dims}
                if any("" in cells for cells in columns.values()):
                    return
                if not all(np.isfinite(column).all() for column in values.values()):
                    return
                yield Cells({**columns, **values}, first)
                first += batch.num_rows
        except (ArrowException, OSError):
            return

    def _slow(self, keys: Sequence[str], dims: Sequence[str], skip: int) -> Iterator[Cells]:
        """Yield the rows after the first `skip`, with a sentence for what is wrong."""
        with self._reading() as file:
            reader = csv.reader(self._lines(file), delimiter=self.separator)
            try:
                width = len(next(reader, []))
                at = {name: self._columns.index(name) for name in (*keys, *dims)}
                first = 2 + skip
                for _ in islice(reader, skip):
                    pass
                checked = self._checked(reader, width, first)
                while rows := list(islice(checked, ROWS)):
                    table = list(zip(*rows, strict=True))
                    columns = {name: table[k] for name, k in at.items()}
                    numbers = {name: self._decimal(columns[name]) for name in dims}
                    yield Cells({**columns, **numbers}, first)
                    first += len(rows)
            except csv.Error as error:
                raise InvalidInput(f"{self.name}: line {reader.line_num}: {error}") from None

    def _lines(self, file: io.TextIOWrapper) -> Iterator[str]:
        """Yield lines; one that is too long is refused before it is all in memory."""
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise InvalidInput(
                    f"{self.name}: line {number} must have less than {LONGEST_LINE:,} characters"
                )
            yield line

    def _checked(self, reader: Iterator[list[str]], width: int, first: int) -> Iterator[list[str]]:
        for k, row in enumerate(reader):
            if len(row) != width:
                raise InvalidInput(
                    f"{self.name}: line {first + k} must have {width} cells; got {len(row)}"
                )
            yield row

    def _decimal(self, cells: Sequence[str]) -> Sequence[str]:
        """Return cells with decimal points, where commas can be nothing else."""
        if self.separator == "," or not any("," in cell for cell in cells):
            return cells
        if all(_DECIMAL_COMMA.fullmatch(cell) for cell in cells if "," in cell):
            return [cell.replace(",", ".") for cell in cells]
        return cells


class _Reading:
    """A text file that is read; one that is no text is refused with its name."""

    def __init__(self, file: io.TextIOWrapper, name: str) -> None:
        self._file, self._name = file, name

    def __enter__(self) -> io.TextIOWrapper:
        return self._file

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._file.close()
        if isinstance(error, UnicodeDecodeError):
            raise InvalidInput(f"{self._name}: this is not a CSV file in UTF-8") from None
        if isinstance(error, gzip.BadGzipFile | EOFError):
            raise InvalidInput(f"{self._name}: the compressed file is damaged") from None


class RowsSource(Source):
    """A list of dicts."""

    def __init__(self, rows: Any) -> None:
        if isinstance(rows, str) or not rows or not all(isinstance(r, Mapping) for r in rows):
            raise InvalidInput(f"observations must be {KINDS}; got {type(rows).__name__}")
        self._rows: Sequence[Mapping[str, Any]] = rows

    def columns(self) -> list[str]:
        """Return the names of the columns, in the order in which they first come."""
        return list(dict.fromkeys(str(name) for row in self._rows for name in row))

    def cells(self, keys: Sequence[str], dims: Sequence[str]) -> Iterator[Cells]:
        """Yield the cells; what a row does not have is None."""
        for start in range(0, len(self._rows), ROWS):
            part = self._rows[start : start + ROWS]
            wanted = (*keys, *dims)
            yield Cells({name: [row.get(name) for row in part] for name in wanted}, start + 1)


class JsonSource(RowsSource):
    """A file with one JSON object on each line, or with a list of them."""

    def __init__(self, path: Path) -> None:
        name = str(path)
        with _Reading(_opened(path), name) as file:
            text = file.read()
        if text.lstrip().startswith("["):
            rows = _json(text, name)
        else:
            lines = enumerate(text.splitlines(), 1)
            rows = [_json(line, f"{name}: line {k}") for k, line in lines if line.strip()]
        if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
            raise InvalidInput(f"{name}: there must be one JSON object on each line")
        super().__init__(rows)
        self.name = name


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(f"{place}: this is not JSON") from None


class ColumnsSource(Source):
    """A dict of columns."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._given = {str(name): list(cells) for name, cells in columns.items()}
        sizes = {len(cells) for cells in self._given.values()}
        if len(sizes) > 1:
            raise InvalidInput(f"{self.name}: columns must be of equal length; got {sorted(sizes)}")

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._given)

    def cells(self, keys: Sequence[str], dims: Sequence[str]) -> Iterator[Cells]:
        """Yield the cells, all at once."""
        yield Cells({name: self._given[name] for name in (*keys, *dims)}, 1)


class ParquetSource(Source):
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    def _file(self) -> Any:
        try:
            from pyarrow import ArrowException
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise InvalidInput(
                "Parquet files need pyarrow: pip install 'bestgroup[frames]'"
            ) from None
        try:
            return ParquetFile(self.path)
        except (OSError, ArrowException) as error:
            text = str(error).splitlines()[0]
            raise InvalidInput(f"{self.name}: the file cannot be read: {text}") from None

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._file().schema_arrow.names)

    def cells(self, keys: Sequence[str], dims: Sequence[str]) -> Iterator[Cells]:
        """Yield the cells in batches."""
        wanted, first = [*keys, *dims], 1
        for batch in self._file().iter_batches(ROWS, columns=wanted):
            yield Cells({name: batch.column(name).to_pylist() for name in wanted}, first)
            first += batch.num_rows


class FrameSource(Source):
    """A data frame of any library that narwhals knows."""

    def __init__(self, frame: Any) -> None:
        try:
            import narwhals as nw
        except ImportError:
            raise InvalidInput(
                "data frames need narwhals: pip install 'bestgroup[frames]'"
            ) from None
        try:
            self._frame = nw.from_native(frame, eager_only=True)
        except TypeError:
            raise InvalidInput(
                f"observations must be {KINDS}; got {type(frame).__name__}"
            ) from None

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return [str(name) for name in self._frame.columns]

    def cells(self, keys: Sequence[str], dims: Sequence[str]) -> Iterator[Cells]:
        """Yield the cells in portions."""
        wanted = [*keys, *dims]
        for start in range(0, len(self._frame), ROWS):
            part = self._frame[start : start + ROWS]
            yield Cells({name: part[name].to_list() for name in wanted}, start + 1)
