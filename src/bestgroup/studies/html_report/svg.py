"""Drawing as text: elements of HTML and SVG whose texts are escaped, scales and their ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from html import escape


class Markup(str):
    """Text that is markup already."""


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """Return an element; texts are escaped, and `_` in names of attributes stands for `-`.

    >>> tag("p", "1 < 2", tag("b", "&"), class_="x")
    '<p class="x">1 &lt; 2<b>&amp;</b></p>'
    """
    parts = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{parts}>{joined(children)}</{name}>")


def joined(children: Iterable[object]) -> Markup:
    """Return children one after another; whatever is no markup yet is escaped."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else escape(str(child), quote=False)
            for child in children
            if child is not None
        )
    )


def _text(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


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
