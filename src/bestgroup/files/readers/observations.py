"""`Observations`: rows that a tool left behind, ready for `certify`."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import replacing

Row = dict[str, Any]
GROUP, ARM, ITEM = "group", "arm", "item"


class Observations(Sequence[Mapping[str, Any]]):
    """Rows of group, arm, item where the tool has one, and a number for each dim.

    `directions` says which dims are better when small. It is a sequence of dicts, which is what
    `certify` and `init` take; `to_frame` and `save` turn it into a table.
    """

    def __init__(self, rows: Sequence[Row], directions: Mapping[str, str], source: str) -> None:
        if not rows:
            raise InvalidInput(f"{source}: there are no results in it")
        self._rows = [dict(row) for row in rows]
        self.source = source
        self.dims = tuple(k for k in self._rows[0] if k not in (GROUP, ARM, ITEM))
        self.directions = {dim: directions.get(dim, "max") for dim in self.dims}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Go through the rows in their order."""
        return iter(self._rows)

    def __getitem__(self, place: Any) -> Any:
        """Return a row, or a list of rows."""
        return self._rows[place]

    @property
    def groups(self) -> dict[str, list[str]]:
        """The groups with their arms, in order of appearance."""
        found: dict[str, list[str]] = {}
        for row in self._rows:
            arms = found.setdefault(row[GROUP], [])
            if row[ARM] not in arms:
                arms.append(row[ARM])
        return found

    @property
    def items(self) -> list[Any] | None:
        """The items in order of appearance, or None where the tool has none."""
        if ITEM not in self._rows[0]:
            return None
        return list(dict.fromkeys(row[ITEM] for row in self._rows))

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise InvalidInput("data frames need pandas: pip install 'bestgroup[frames]'") from None
        return pd.DataFrame(self._rows)

    def save(self, path: str | Path) -> None:
        """Write the rows to a CSV file."""
        with replacing(Path(path)) as temporary, temporary.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(self._rows[0]))
            writer.writeheader()
            writer.writerows(self._rows)

    def __repr__(self) -> str:
        """Return what there is, in one line."""
        arms = sum(map(len, self.groups.values()))
        items = "" if self.items is None else f", {len(self.items)} items"
        return (
            f"<Observations: {len(self)} rows, {len(self.groups)} groups, {arms} arms{items}, "
            f"dims {', '.join(self.dims)}, from {self.source}>"
        )
