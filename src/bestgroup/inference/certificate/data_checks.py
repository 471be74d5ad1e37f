"""Warnings where data speak against what is assumed of them. They are hints, not part of any proof.

Each test is set so that, if the assumptions hold, it speaks up with probability below 1e-5 for an
arm and dim: a variance above the declared scale (chi-squared), a drift between the first and the
second half (normal approximation, from 20 pulls on), rows that come again although values are
continuous (a seed that was used twice). Normal values never tie: the first tie is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestgroup.problem.arrays import Floats
from bestgroup.problem.noise import Bernoulli, Gaussian, Noise, NoiseByDim, SubGaussian

RARE = 1e-5
DRIFT = 4.6  # standard errors
KEPT = 20_000  # values of an arm that are looked at


class Checker:
    """Collects the values of arms and says what looks wrong."""

    def __init__(self, noise: Noise, dims: Sequence[str]) -> None:
        self._noise, self._dims = noise, dims
        self._values: dict[str, list[Floats]] = {}
        self._sizes: dict[str, int] = {}

    def add(self, arm: str, values: Floats) -> None:
        """Take up values [n, D] of an arm, in their order."""
        size = self._sizes.get(arm, 0)
        if size < KEPT:
            self._values.setdefault(arm, []).append(values[: KEPT - size])
            self._sizes[arm] = size + len(values)

    def warnings(self, most: int = 10) -> tuple[str, ...]:
        """Return the first warnings, one sentence each."""
        found: list[str] = []
        for arm, blocks in self._values.items():
            found += list(look(np.concatenate(blocks), arm, self._noise, self._dims))
        if len(found) > most:
            return (*found[:most], f"and {len(found) - most} more warnings of this kind")
        return tuple(found)


def look(values: Floats, arm: str, noise: Noise, dims: Sequence[str]) -> Iterator[str]:
    """Yield what looks wrong with the values [n, D] of one arm."""
    n = len(values)
    models = noise.models if isinstance(noise, NoiseByDim) else (noise,)
    width = len(dims) if len(models) == 1 else 1  # of what a model speaks of
    for d, model in enumerate(models):
        own = slice(d, d + width)
        if isinstance(model, Gaussian):
            yield from _ties(values[:, own], arm, dims[own])
        if isinstance(model, SubGaussian) and n >= 3:
            yield from _too_wide(values[:, own], arm, model.scales(width), dims[own])
    if n < 3:
        return
    if n >= 20:
        half = n // 2
        first, second = values[:half], values[half:]
        error = np.sqrt(first.var(axis=0) / half + second.var(axis=0) / (n - half))
        shift = second.mean(axis=0) - first.mean(axis=0)
        for d, name in enumerate(dims):
            if abs(shift[d]) > DRIFT * error[d] and abs(shift[d]) > 1e-12:
                yield (
                    f"{arm}: {name} drifts: the second half of its {n:,} values is {shift[d]:+.4g} "
                    f"({abs(shift[d]) / max(error[d], 1e-300):.1f} standard errors) off the first; the "
                    "mean must not change"
                )
    if not all(isinstance(model, Bernoulli) for model in models):
        yield from _repeated(values, arm)


def _too_wide(values: Floats, arm: str, scales: Floats, dims: Sequence[str]) -> Iterator[str]:
    from scipy.stats import chi2

    n = len(values)
    most = chi2.isf(RARE, n - 1) / (n - 1)
    spread = values.var(axis=0, ddof=1)
    for d, name in enumerate(dims):
        if spread[d] > most * scales[d] ** 2:
            yield (
                f"{arm}: {name} has standard deviation {np.sqrt(spread[d]):.4g} over {n:,} values, more "
                f"than its declared scale {scales[d]:.4g} allows: proofs do not hold"
            )


def _ties(values: Floats, arm: str, dims: Sequence[str]) -> Iterator[str]:
    for d, name in enumerate(dims):
        found, times = np.unique(values[:, d], return_counts=True)
        if len(times) and times.max() > 1:
            k = int(times.argmax())
            yield (
                f"{arm}: {name} was {found[k]:.6g} {times[k]:,} times; normal values never tie, so "
                "Gaussian() does not fit and its proofs may not hold: give Bounded(low, high) if "
                "values have a range"
            )


def _repeated(values: Floats, arm: str) -> Iterator[str]:
    distinct = len(np.unique(values, axis=0))
    singles = len(np.unique(values[:, 0]))
    again = len(values) - distinct
    # Values on a grid repeat by chance; those that are nearly all different do not.
    if again >= 2 and singles > 0.5 * len(values) and singles > 20:
        yield (
            f"{arm}: {again:,} of its {len(values):,} rows have come before to the last digit; was a seed "
            "used twice?"
        )
