"""What the values of a dim may be taken for, and why: a guess from a pilot, which people check.

Normal noise is guessed only where nothing speaks against it: values that are 0 or 1, on a grid,
skewed, heavy-tailed or too few to tell are taken for bounded ones. A range that was only seen is no
promise; clipping makes it one, and the question is then about clipped values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bestgroup.problem.arrays import Floats
from bestgroup.problem.noise import Bernoulli, Dependence, Gaussian, Noise, in_range

FEW = 20  # residuals below which nothing can be said of their law


@dataclass(frozen=True)
class Guess:
    """A guess on one dim: the noise model, what is done to the values, and why."""

    noise: Noise
    why: str
    low: float = 0.0  # of a range, as it is measured
    high: float = 1.0
    clip: bool = False  # the range is made certain by clipping
    log: bool = False

    @property
    def kind(self) -> str:
        """The kind of the noise model."""
        return self.noise.kind

    def model(self, arms: Dependence) -> Noise:
        """Return the noise model of what is judged, with these arms."""
        if self.noise.law_kind != "beta":
            return replace(self.noise, arms=arms)
        ends = np.array([self.low, self.high])
        low, high = np.log(ends) if self.log else ends
        return in_range(float(low), float(high), arms=arms)


def guess(arms: Sequence[Floats]) -> Guess:
    """Return what the values of one dim, an array for each arm, look like."""
    values = np.concatenate(arms)
    low, high = float(values.min()), float(values.max())
    if np.isin(values, (0.0, 1.0)).all():
        return Guess(Bernoulli(), "all values are 0 or 1")
    if low >= 0 and 0.3 < high <= 1:  # much smaller ones may be seconds, or anything else
        return Guess(
            in_range(0.0, 1.0), "all values seen lie in [0, 1]: check that none can lie outside"
        )
    steps = len(np.unique(values))
    if steps <= 12 and steps < len(values) / 2 and (values == np.round(values)).all():
        why = f"integers from {low:g} to {high:g}: check that none can lie outside"
        return Guess(in_range(low, high), why, low, high)
    against = why_not_normal(arms)
    if against is None:
        return Guess(
            Gaussian(), "no ties, no skew, no outliers: taken for normal values", low, high
        )
    if low > 0 and against.startswith(("skewed", "outliers")):
        logs = why_not_normal([np.log(arm) for arm in arms])
        if logs is None:
            why = f"{against}, but the logarithms are not: they are taken for normal values"
            return Guess(Gaussian(), why, low, high, log=True)
    return clipped(Guess(Gaussian(), against, low, high))


def clipped(found: Guess) -> Guess:
    """Return the guess as a dim with a range that is made certain by clipping."""
    if found.noise.law_kind == "bernoulli" or found.clip:
        return found
    if found.log:
        low, high = found.low / 4, found.high * 4
    else:
        span = (found.high - found.low) / 2 or max(abs(found.high), 1.0) / 2
        low = found.low - span if found.low < 0 else max(found.low - span, 0.0)
        high = found.high + span
    unit = high - low if not found.log else 0.0
    low, high = _outward(low, -1, unit), _outward(high, 1, unit)
    why = (
        f"{found.why}; clipped to {low:.15g} .. {high:.15g}, wider than what was seen, which makes the "
        "range certain: check that what lies outside need not count for more"
    )
    return replace(found, noise=in_range(low, high), why=why, low=low, high=high, clip=True)


def _outward(value: float, side: int, width: float) -> float:
    """Return a short number that is not nearer to the middle: two digits, or more if all are far off 0.

    >>> _outward(15.23, 1, 15.1), _outward(7657519671069.6, -1, 12.0)
    (16.0, 7657519671069.0)
    """
    if value == 0:
        return 0.0
    size = min(abs(value), width) if width > 0 else abs(value)
    unit = 10.0 ** (math.floor(math.log10(size)) - 1)
    rounded = (math.ceil if side > 0 else math.floor)(value / unit) * unit
    return float(f"{rounded:.15g}")


def why_not_normal(arms: Sequence[Floats]) -> str | None:
    """Return what speaks against normal values, in words; None if nothing does."""
    values = np.concatenate(arms)
    spreads = [arm.std(ddof=1) if len(arm) > 1 else 0.0 for arm in arms]
    if not any(spreads):
        return "no arm has two different values"
    ties = len(values) - sum(len(np.unique(arm)) for arm in arms)
    if ties:  # one is enough: `certify` voids a proof from normal values at the first
        return (
            f"{ties:,} of {len(values):,} values have come before in their arm, as rounded ones do "
            "and normal ones never"
        )
    usable = [
        (arm - arm.mean()) / spread
        for arm, spread in zip(arms, spreads, strict=True)
        if spread > 0 and len(arm) > 2
    ]
    residuals = np.concatenate(usable) if usable else np.zeros(0)
    m = len(residuals)
    if m < FEW:
        return f"{len(values)} values in {len(arms)} arms are too few to tell their law"
    skew = float((residuals**3).mean())
    if abs(skew) > max(0.5, 3.0 * math.sqrt(6.0 / m)):
        return f"skewed (skewness {skew:.2g})"
    tails = float((residuals**4).mean()) - 3.0
    if tails > max(1.0, 4.0 * math.sqrt(24.0 / m)):
        return f"outliers (excess kurtosis {tails:.2g})"
    return None
