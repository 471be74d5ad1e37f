"""Tables of observations, read in portions, whatever they come from (`sources`).

A row holds a group, an arm, one number for each dim and, where arms are scored on the same items, the
item. The values of an arm are taken in the order of the rows, whatever lies between them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.files.columns import (
    ARM,
    GROUP,
    ITEM,
    check_columns,
    find_roles,
    guess_dims,
    read_number,
    read_numbers,
)
from bestgroup.files.formulas import unguarded
from bestgroup.files.sources import Cells, source_of
from bestgroup.problem.arrays import Floats

if TYPE_CHECKING:
    from bestgroup.problem.problem import Problem


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
            problem.check_values(self.values, gaps=True)
        except InvalidInput:
            for k, (group, arm) in enumerate(zip(self.groups, self.arms, strict=True)):
                try:
                    problem.index(group, arm)
                    problem.check_values(self.values[k], gaps=True)
                except InvalidInput as error:
                    raise InvalidInput(f"{name}: line {self.first + k}: {error}") from None
            raise


class Table:
    """A source of observations; `dims` are its columns of numbers besides group, arm and item.

    `columns` says what the columns are called (`Columns`). Without `dims` they are guessed from the
    first rows; columns in `keep` are dims whatever they look like. `notes` says what was ignored and
    why. A cell may be empty only in the dims in `gaps` (True: in all of them); it is NaN then.
    """

    def __init__(
        self,
        source: Any,
        dims: Sequence[str] | None = None,
        columns: Any = None,
        *,
        keep: Iterable[str] = (),
        gaps: bool | Collection[str] = False,
    ) -> None:
        self._source = source_of(source)
        self.name = self._source.name
        names = self._source.columns()
        self.columns: tuple[str, ...] = tuple(names)
        try:
            roles = find_roles(names, check_columns(columns), dims)
        except InvalidInput as error:
            raise InvalidInput(f"{self.name}: {error}") from None
        self.roles, self.has_items = roles, roles.item is not None
        self.notes: tuple[str, ...] = roles.notes
        self._keys = [roles.group, roles.arm, *([roles.item] if roles.item else [])]
        if dims is None:
            dims = self._guess(keep)
        for name in dims:
            if name not in names:
                raise InvalidInput(
                    f"{self.name}: there is no column for the dim {name!r}; the columns are "
                    f"{', '.join(names)}"
                )
            if name in self._keys:
                raise InvalidInput(f"{self.name}: the column {name!r} cannot be a dim, too")
        self.dims: tuple[str, ...] = tuple(dims)
        self.gaps: Collection[str] = (
            gaps if not isinstance(gaps, bool) else self.dims if gaps else ()
        )
        if not self.dims:
            raise InvalidInput(
                f"{self.name}: there is no column of numbers besides {', '.join(self._keys)}"
                + "".join(f"; {note}" for note in self.notes)
            )

    def _guess(self, keep: Iterable[str]) -> tuple[str, ...]:
        """Return the dims that the first rows suggest; notes say what was left out."""
        rest = self.roles.rest
        keys = list(dict.fromkeys(self._keys))
        first = next(iter(self._source.cells(keys, rest)), None)
        if first is None:
            return rest
        arms = list(zip(*(first.columns[key] for key in self._keys[:2]), strict=True))
        dims, notes = guess_dims(rest, first.columns, arms, keep)
        self.notes = (*self.notes, *notes)
        return dims

    def portions(self) -> Iterator[Portion]:
        """Yield all rows, in order."""
        for cells in self._source.cells(list(dict.fromkeys(self._keys)), self.dims):
            if not len(cells.columns[self._keys[0]]):
                continue
            words = (GROUP, ARM, ITEM)
            groups, arms, *items = (
                self._texts(cells, key, word) for key, word in zip(self._keys, words, strict=False)
            )
            columns = [self._numbers(cells, dim) for dim in self.dims]
            yield Portion(groups, arms, np.column_stack(columns), cells.first, *items)

    def _texts(self, cells: Cells, key: str, word: str) -> list[str]:
        """Return the names in a column; a refusal names the first line without one."""
        found = cells.columns[key]
        if all(type(cell) is str and cell for cell in found):
            marked = any(c[0] == "'" or "\\" in c for c in found)
            return [unguarded(cell) for cell in found] if marked else [*found]
        for k, cell in enumerate(found):
            if cell is None or cell != cell or not str(cell).strip():
                raise InvalidInput(f"{self.name}: line {cells.first + k}: the {word} is missing")
        return [str(cell) for cell in found]

    def _numbers(self, cells: Cells, dim: str) -> Floats:
        """Return a column as finite numbers; a refusal names the first bad line."""
        column = cells.columns[dim]
        values = read_numbers(column)
        if values is not None:
            gap = np.isnan(values)
            if np.isfinite(values).all() or (dim in self.gaps and np.isfinite(values[~gap]).all()):
                return values
        for k, cell in enumerate(column):
            value = read_number(cell)
            if value is None or not np.isfinite(value):
                if value is not None and np.isnan(value):
                    if dim in self.gaps:
                        continue
                    what = "is missing"
                else:
                    what = f"must be a finite number; got {cell!r}"
                raise InvalidInput(f"{self.name}: line {cells.first + k}: {dim} {what}")
        raise AssertionError("a column that is refused has a bad cell")
