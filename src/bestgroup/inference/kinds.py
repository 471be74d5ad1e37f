"""Kinds of noise, as kernels see them: an integer for each dim.

A bounded dim has one of two kinds, by what is kept of its values: what boxes need besides the sums of
six powers that evidence on pairs of arms takes (BOUNDED), or those sums alone (POWERS).
"""

from __future__ import annotations

SUBGAUSSIAN, BOUNDED, GAUSSIAN, BERNOULLI, POWERS = 0, 1, 2, 3, 4
IN_RANGE = (BERNOULLI, BOUNDED, POWERS)  # no value lies outside a range, so one can bet on them
BY_BETS = (BOUNDED,)  # bounds of single arms come from the wealth of bets
VALUES = 5  # the values themselves are kept, in their order: what shared items need
