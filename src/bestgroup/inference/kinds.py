"""Kinds of noise, as kernels see them: an integer for each dim.

A bounded dim has one of three kinds, by what is kept of its values: wealth of bets on a grid, sums of
squares, or the sums of six powers that evidence on pairs of arms takes.
"""

from __future__ import annotations

SUBGAUSSIAN, BOUNDED, GAUSSIAN, BERNOULLI, BERNSTEIN, POWERS = 0, 1, 2, 3, 4, 5
VALUES = 6  # the values themselves are kept, in their order: what shared items need
