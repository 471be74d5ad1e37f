"""`PairedTest`: is one option better than another on the same items? Valid however often one looks."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.inference.evalues.paired import bet, ladder, null_mean
from bestgroup.problem.arrays import number, positive_int

# Without a range: bets in units of the typical size of the differences before the item.
# Weights lie where differences of a quarter of a standard deviation and more are found soonest.
_SIZES = np.array([0.9, 0.45, 0.2, 0.06])
_WEIGHTS = np.array([0.15, 0.35, 0.45, 0.05])
_MEMORY = 256  # differences that the typical size is taken from


class PairedTest:
    """A test of "on these items the first option is on average no better than the second".

    Items are taken in an order that no value chose. `reach` is the largest difference that two
    values on one item can have; then the test is about means, and with `items`, their number, about
    the mean of these items in random order (no item twice). Without `reach` it is about a symmetric
    law: differences that are as likely to be +x as -x, as when labels mean nothing; no range is
    needed then, but skewed differences break it.

    The e-value may be looked at after every item: if the null holds, it ever reaches 1 / alpha with
    probability at most alpha (docs/theory.md 9, and 1 + tanh(x) has mean 1 under symmetry).

    >>> test = PairedTest(reach=1.0)
    >>> for _ in range(12):
    ...     test.update(0.9, 0.4)
    >>> test.refutes(0.05)
    True
    """

    def __init__(self, reach: float | None = None, items: int | None = None) -> None:
        if reach is not None and not number(reach, "reach") > 0:
            raise InvalidInput(f"reach must be above 0; got {reach!r}")
        if items is not None:
            positive_int(items, "items")
            if reach is None:
                raise InvalidInput("items need reach: the largest difference on one item")
        self.reach, self.items = reach, items
        self._rule = ladder(items or 0)
        self._wealth = _WEIGHTS.copy() if reach is None else np.ones(len(self._rule.bets))
        self._total, self._certain, self._best = 0.0, False, 1.0
        self._past: deque[float] = deque(maxlen=_MEMORY)
        self.count = 0
        self.evalue = 1.0

    def update(self, first: float, second: float) -> None:
        """Take up the values of both options on the next item."""
        value = number(first, "value") - number(second, "value")
        if self.reach is not None and abs(value) > self.reach:
            raise InvalidInput(
                f"two values on one item must differ by at most {self.reach:g}; got {value:g}"
            )
        if self.items is not None and self.count == self.items:
            raise InvalidInput(f"there are {self.items} items, and all of them were taken up")
        if self.reach is None:
            self._bet_on_signs(value)
        else:
            self._bet_on_means(value, self.reach)
        self._total += value
        self.count += 1
        self._best = max(self._best, self.evalue)

    def refutes(self, alpha: float) -> bool:
        """Return whether the first option is proven better: wrongly with probability at most alpha."""
        if not 0.0 < number(alpha, "alpha") < 1.0:
            raise InvalidInput(f"alpha must be between 0 and 1; got {alpha!r}")
        if self.items is not None and self.count == self.items:
            return self._total > 0.0
        return self._certain or bool(self._best >= 1.0 / alpha)

    def _bet_on_means(self, value: float, reach: float) -> None:
        mean = null_mean(self._rule.pool, self.count, self._total, 0.0, reach)
        if mean < -reach:  # no values of the items that are left could make up for it
            self._certain, self.evalue = True, math.inf
        elif mean < reach:
            self.evalue = bet(self._rule, self._wealth, value, mean, self.count, reach, 0.0)

    def _bet_on_signs(self, value: float) -> None:
        sizes = [size for size in self._past if size > 0.0]
        if sizes:
            unit = float(np.median(sizes))
            self._wealth *= 1.0 + np.tanh(_SIZES * value / unit)
            self.evalue = float(self._wealth.sum())
        self._past.append(abs(value))
