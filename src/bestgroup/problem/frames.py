"""Data frames for those who have pandas."""

from __future__ import annotations

from typing import Any

from bestgroup.errors import InvalidInput


def data_frame(rows: Any) -> Any:
    """Return a pandas data frame of columns or of records."""
    try:
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise InvalidInput("data frames need pandas: pip install 'bestgroup[frames]'") from None
    return pd.DataFrame(rows)
