"""How deep a comparison will have to go: a forecast that steers sampling. No proof rests on it."""

from __future__ import annotations

import math

from bestgroup.compile.borrowing import borrowing

PRIOR = 8.0  # items that a pair's variance is drawn to the average variance by
NEVER = 1e15  # the depth of a comparison that no item can prove any more
_FAR = 20.0  # a comparison that goes the wrong way is expected at so many times its depth


@borrowing
def expected_depth(
    count: int, limit: int, done: int, gap: float, variance: float, reach: float, lack: float
) -> float:
    """Return after how many items a log wealth will have grown by `lack`.

    After `done` items with the mean difference `gap` (shift included) the next one exceeds its mean
    under the null by gap n / (n - t) on average. A bet wins at most half the square of that over the
    variance, and, as it is capped, at most the excess over the range.
    """
    if lack <= 0.0:
        return float(done)
    if gap <= 0.0:
        return float(limit) if count > 0 else min(float(limit), _FAR * (done + 1.0))
    if count == 0:
        items = max(2.0 * variance * lack / (gap * gap), lack * reach / gap)
        return min(float(limit), done + items)
    rest = float(count - done)
    spread = 2.0 * variance * lack / (gap * gap * count * count)
    by_variance = count - 1.0 / (1.0 / max(rest, 1e-9) + spread)
    by_range = count - rest * math.exp(-lack * reach / (gap * count))
    return min(float(limit), max(by_variance, by_range))
