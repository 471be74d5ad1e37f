"""Drawing as text: scales, their ticks, and numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Return a function from [low, high] to [start, end]; what lies outside stays outside."""
    wide = high - low or 1.0

    def place(value: float) -> float:
        share = min(max((value - low) / wide, -1.0), 2.0)
        return start + share * (end - start)

    return place


def ticks(low: float, high: float, wanted: int) -> list[float]:
    """Return about so many round numbers in a range.

    >>> ticks(0, 1, 5)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    raw = (high - low) / max(wanted, 1)
    size = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    step = next(size * n for n in (1, 2, 2.5, 5, 10) if size * n >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def extent(ranges: Iterable[tuple[float, float, float]]) -> tuple[float, float]:
    """Return the range of the estimates, and of ends that are not many times wider than all of them."""
    known = [r for r in ranges if math.isfinite(r[1])]
    if not known:
        return 0.0, 1.0
    low, high = min(r[1] for r in known), max(r[1] for r in known)
    wide = high - low or abs(high) or 1.0
    ends = [r[0] for r in known if r[0] >= low - wide] + [
        r[2] for r in known if r[2] <= high + wide
    ]
    low, high = min([low, *ends]), max([high, *ends])
    room = 0.05 * (high - low or 1.0)
    return low - room, high + room


def number(value: float, digits: int = 4) -> str:
    """Return a number as people read it.

    >>> number(1234567), number(0.123456), number(float("inf"))
    ('1,234,567', '0.1235', '∞')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.{digits}g}"
