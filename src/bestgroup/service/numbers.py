"""Numbers and names as the page gets them: short, and finite or absent."""

from __future__ import annotations

import math

LABEL = 40  # characters of a name in a chart


def short(value: float, digits: int = 6) -> float | None:
    """Return a number with a few significant digits; None if it is not finite.

    >>> short(0.123456789), short(math.inf)
    (0.123457, None)
    """
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
