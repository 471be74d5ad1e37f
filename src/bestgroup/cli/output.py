"""What commands print: tables and sentences for people, JSON for machines."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 100


def console() -> Console:
    """Return the console for results: 100 columns wide, less on a narrower terminal."""
    from rich.console import Console

    screen = Console(highlight=False)
    width = min(screen.width, WIDTH) if screen.is_terminal else WIDTH
    return Console(highlight=False, width=width)


def table(title: str | None, columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table; a column whose heading begins with ">" is set to the right."""
    from rich import box
    from rich.table import Table

    result = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for heading in columns:
        right = heading.startswith(">")
        result.add_column(heading.removeprefix(">"), justify="right" if right else "left")
    for row in rows:
        result.add_row(*(escape(cell) for cell in row))
    return result


def escape(value: Any) -> str:
    """Return a text in which rich sees no markup: names come from users."""
    from rich.markup import escape as rich_escape

    return rich_escape(str(value))


def count(value: float) -> str:
    """Return a number of pulls for people.

    >>> count(1234567.8), count(math.inf), count(12.34)
    ('1,234,568', 'unbounded', '12.3')
    """
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "unbounded"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.3g}"


def decimal(value: float, digits: int = 4) -> str:
    """Return a number with up to `digits` significant digits; a dash for NaN.

    >>> decimal(0.123456), decimal(math.inf), decimal(math.nan)
    ('0.1235', 'inf', '-')
    """
    return "-" if math.isnan(value) else f"{value:.{digits}g}"


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; NaN and infinity become None.

    >>> plain({"a": (1.5, math.inf)})
    {'a': [1.5, None]}
    """
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return [plain(entry) for entry in sorted(value)]
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def print_json(value: Any) -> None:
    """Print one JSON document on the standard output."""
    print(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def announce_compilation() -> None:
    """Have the first call that must compile say so, on the standard error."""
    from bestgroup.compile.kernel import on_compile

    on_compile(lambda sentence: print(f"bestgroup: {sentence}", file=sys.stderr, flush=True))


def check_writable(path: Path) -> Path:
    """Return `path` if a file can be written there; refuses before any work is done."""
    folder = path.parent
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; give the name of a file to write")
    if not folder.is_dir():
        raise InvalidInput(f"{path} cannot be written: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidInput(f"{path} cannot be written: permission denied")
    return path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path` that takes its place if all goes well."""
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=path.suffix, dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
    try:
        yield Path(name)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
    finally:
        Path(name).unlink(missing_ok=True)
