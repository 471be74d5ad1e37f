"""`Backoff`: how long to wait before the next try, whoever tries."""

from __future__ import annotations

import random


class Backoff:
    """Pauses that double up to a longest one, each spread by half.

    Spread, so that workers that were refused together do not come back together.
    """

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self.pause = first  # seconds, before they are spread

    def next(self) -> float:
        """Return the seconds to wait now; the next wait is twice as long."""
        seconds = self.pause * (0.5 + random.random())
        self.pause = min(2.0 * self.pause, self._longest)
        return seconds

    def reset(self) -> None:
        """Begin anew, after a try that went well."""
        self.pause = self._first
