"""Values as JSON can hold them."""

from __future__ import annotations

import math
from typing import Any


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
