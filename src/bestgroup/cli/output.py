"""What commands print: tables and sentences for people, JSON for machines."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bestgroup.files.json_values import plain
from bestgroup.problem.visible import visible

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
    """Return a text in which rich sees no markup and nothing is hidden: names come from users."""
    from rich.markup import escape as rich_escape

    return rich_escape(visible(str(value)))


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


def interval(low: float, high: float) -> str:
    """Return the ends of an interval with as many digits as it takes to tell them apart.

    >>> interval(0.123456, 0.5), interval(7657519671075.126, 7657519671075.9)
    ('0.1235 .. 0.5', '7657519671075.13 .. 7657519671075.9')
    """
    digits, width = 4, high - low
    if math.isfinite(width) and width > 0:
        digits += max(0, math.floor(math.log10(max(abs(low), abs(high)) / width)) - 1)
    return f"{decimal(low, min(digits, 17))} .. {decimal(high, min(digits, 17))}"


def print_json(value: Any) -> None:
    """Print one JSON document on the standard output."""
    print(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def sign_of_life(label: str) -> Iterator[None]:
    """Say every few seconds that work goes on, where no bar shows it: not at a terminal."""
    if sys.stderr.isatty():
        yield
        return
    done, begun = threading.Event(), time.monotonic()

    def talk() -> None:
        while not done.wait(8.0):
            print(f"{label}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)

    talker = threading.Thread(target=talk, daemon=True)
    talker.start()
    try:
        yield
    finally:
        done.set()
        talker.join()


def announce_compilation() -> None:
    """Have the first call that must compile say so, on the standard error."""
    from bestgroup.compile.kernel import on_compile

    on_compile(lambda sentence: print(f"bestgroup: {sentence}", file=sys.stderr, flush=True))
