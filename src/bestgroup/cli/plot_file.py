"""The file of a plot: its name is checked before any work, and it appears whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bestgroup.files.replacing import check_writable, replacing


def check_plot(path: Path | None) -> None:
    """Refuse a name that no figure can be written to."""
    if path is not None:
        from bestgroup.plots.canvas import image_format

        image_format(path)
        check_writable(path)


def write_plot(figure: Any, path: Path) -> None:
    """Write a figure in the format that the file's name asks for."""
    from bestgroup.plots.canvas import image_format, write

    with replacing(path) as temporary:
        write(figure, temporary, image_format(path))
