"""Numbers and names as the page gets them: short, and finite or absent."""

from __future__ import annotations

import math
from collections.abc import Iterable

LABEL = 40  # characters of a name in a chart


def short(value: float, digits: int = 6) -> float | None:
    """Return a number with a few significant digits; None if it is not finite.

    >>> short(0.123456789), short(math.inf)
    (0.123457, None)
    """
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def short_ends(ends: Iterable[float], digits: int = 6) -> list[float | None]:
    """Return the ends of an interval and what lies between them, told apart however far from 0.

    >>> short_ends([7657519671075.1, 7657519671075.6])
    [7657519671075.1, 7657519671075.6]
    """
    values = [float(value) for value in ends]
    finite = [value for value in values if math.isfinite(value)]
    width = max(finite, default=0.0) - min(finite, default=0.0)
    if width > 0:
        digits += max(0, math.floor(math.log10(max(map(abs, finite)) / width)))
    return [short(value, min(digits, 17)) for value in values]
