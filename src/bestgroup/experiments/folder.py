"""The output folder: ours or empty, never somebody else's; files appear whole."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestgroup._version import __version__
from bestgroup.errors import InvalidInput
from bestgroup.plots.canvas import FORMATS
from bestgroup.plots.canvas import write as write_image

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKER = "reproduce.json"
_MADE_BY = "bestgroup reproduce"


class Folder:
    """A folder that holds a report of this version, or nothing yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path / "runs.sqlite"
        self._check()

    def _check(self) -> None:
        """Refuse a folder that is not ours or cannot be written; changes nothing."""
        known = self.path
        while not known.exists() and known != known.parent:
            known = known.parent
        if not known.is_dir():
            raise InvalidInput(f"{self.path} cannot be written: {known} is not a folder")
        if not os.access(known, os.W_OK):
            raise InvalidInput(f"{self.path} cannot be written: permission denied")
        if not self.path.exists() or not any(self.path.iterdir()):
            return
        version = _version_of(self.path / MARKER)
        if version is None:
            raise InvalidInput(
                f"{self.path} holds files that are no report of ours; choose another folder "
                "with --out"
            )
        if version != __version__:
            raise InvalidInput(
                f"{self.path} holds a report of version {version}, this is {__version__}; choose "
                "another folder with --out"
            )

    def prepare(self, settings: Mapping[str, Any]) -> None:
        """Make the folder and note what it is for."""
        marker = {"made_by": _MADE_BY, "version": __version__, **settings}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # The marker first: an interrupted start must not look like somebody else's folder.
            self.write_text(MARKER, json.dumps(marker, indent=2) + "\n")
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be written: {error.strerror}") from None

    def write_text(self, name: str, text: str) -> Path:
        """Write a file, whole or not at all."""
        return self._write(name, lambda path: path.write_text(text, encoding="utf-8"))

    def write_csv(self, name: str, records: Iterable[Mapping[str, Any]]) -> Path:
        """Write records as CSV; NaN becomes an empty cell."""
        rows = [{key: _cell(value) for key, value in record.items()} for record in records]

        def write(path: Path) -> None:
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, fieldnames=list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)

        return self._write(name, write)

    def write_figure(self, name: str, figure: Figure) -> list[Path]:
        """Write a figure as PNG, SVG and PDF."""
        return [
            self._write(f"{name}.{kind}", lambda path, kind=kind: write_image(figure, path, kind))
            for kind in FORMATS
        ]

    def _write(self, name: str, write: Callable[[Path], Any]) -> Path:
        final = self.path / name
        try:
            handle, temporary = tempfile.mkstemp(prefix=".", dir=self.path)
            os.close(handle)
        except OSError as error:
            raise InvalidInput(f"{final} cannot be written: {error.strerror}") from None
        try:
            write(Path(temporary))
            os.chmod(temporary, 0o644)
            os.replace(temporary, final)
        except OSError as error:
            raise InvalidInput(f"{final} cannot be written: {error.strerror}") from None
        finally:
            Path(temporary).unlink(missing_ok=True)
        return final


def _version_of(marker: Path) -> str | None:
    """Return the version that made a report, or None if the marker is not ours."""
    try:
        found = json.loads(marker.read_text(encoding="utf-8"))
        return str(found["version"]) if found["made_by"] == _MADE_BY else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _cell(value: Any) -> Any:
    return "" if value is None or value != value else value
