"""Where data speak against what is assumed of them. Such doubts are tests, not part of any proof.

Each test is set so that, if the assumptions hold, all arms and dims of a look together speak up with
probability below about 1e-5: a variance above the declared scale (chi-squared), a drift between the
first and the second half (Welch's t, from 20 pulls on), skewed values under normal noise (from 50
pulls on). Normal values never tie: the first tie is told. A doubt of this kind voids the guarantee:
without the assumption nothing is proven. Rows that come again although values are continuous (a seed
that was used twice?) are told, and void nothing, since rounded values do so by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bestgroup.problem.arrays import Floats
from bestgroup.problem.noise import Bernoulli, Gaussian, Noise, NoiseByDim, SubGaussian

RARE = 1e-5
KEPT = 20_000  # values of an arm that are looked at, at most
KEPT_IN_ALL = 2_000_000
SOON = 1.25  # an arm is looked at again when it has grown by this factor


class Doubt(NamedTuple):
    """What looks wrong, in words, whether the guarantee cannot stand with it, and its kind."""

    text: str
    voids: bool
    kind: str = ""


class Checker:
    """Collects the values of arms and says what looks wrong."""

    def __init__(self, noise: Noise, dims: Sequence[str], arms: int = 1) -> None:
        self._noise, self._dims = noise, dims
        self._rare = RARE / max(arms * len(dims), 1)
        self._kept = max(200, min(KEPT, KEPT_IN_ALL // max(arms * len(dims), 1)))
        self._values: dict[str, list[Floats]] = {}
        self._sizes: dict[str, int] = {}
        self._found: dict[str, tuple[int, list[Doubt]]] = {}  # arm: values looked at, doubts

    def add(self, arm: str, values: Floats) -> None:
        """Take up values [n, D] of an arm, in their order."""
        size = self._sizes.get(arm, 0)
        if size < self._kept:
            self._values.setdefault(arm, []).append(values[: self._kept - size])
            self._sizes[arm] = min(size + len(values), self._kept)

    def doubts(self, soon: bool = False) -> list[Doubt]:
        """Return what looks wrong; `soon` spares arms with few new values since the last look."""
        for arm, blocks in self._values.items():
            size = self._sizes[arm]
            looked, _ = self._found.get(arm, (0, []))
            if size == looked or (soon and size < SOON * looked):
                continue
            whole = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
            self._values[arm] = [whole]
            self._found[arm] = size, list(look(whole, arm, self._noise, self._dims, self._rare))
        return [doubt for _, found in self._found.values() for doubt in found]

    def warnings(self, most: int = 2) -> tuple[str, ...]:
        """Return the first warnings of each kind, one sentence each."""
        return in_words(self.doubts(), most)


def in_words(doubts: Sequence[Doubt], most: int = 2) -> tuple[str, ...]:
    """Return the sentences of the first doubts of each kind, and how many more are like them.

    Rounded values tie in every arm and dim: one who reads that twenty times misses the rest.
    """
    sentences: list[str] = []
    for kind in dict.fromkeys(doubt.kind for doubt in doubts):
        found = [doubt.text for doubt in doubts if doubt.kind == kind]
        sentences += found[:most]
        if len(found) > most:
            sentences[-1] += f" (and {len(found) - most} more warnings of this kind)"
    return tuple(sentences)


def why_void(doubts: Sequence[Doubt]) -> str | None:
    """Return why a guarantee cannot stand, in one sentence; None if it can."""
    grave = [doubt.text for doubt in doubts if doubt.voids]
    if not grave:
        return None
    more = f" (and {len(grave) - 1} more such signs)" if len(grave) > 1 else ""
    return f"the data speak against an assumption that the proof rests on: {grave[0]}{more}"


def look(
    values: Floats, arm: str, noise: Noise, dims: Sequence[str], rare: float = RARE
) -> Iterator[Doubt]:
    """Yield what looks wrong with the values [n, D] of one arm."""
    n = len(values)
    models = noise.models if isinstance(noise, NoiseByDim) else (noise,)
    width = len(dims) if len(models) == 1 else 1  # of what a model speaks of
    for d, model in enumerate(models):
        own = slice(d, d + width)
        if isinstance(model, Gaussian):
            yield from _ties(values[:, own], arm, dims[own])
            yield from _skewed(values[:, own], arm, dims[own])
        if isinstance(model, SubGaussian) and n >= 3:
            yield from _too_wide(values[:, own], arm, model.scales(width), dims[own], rare)
    if n >= 20:
        yield from _drifts(values, arm, dims, rare)
    if n >= 3 and not all(isinstance(model, Bernoulli) for model in models):
        yield from _repeated(values, arm)


def _drifts(values: Floats, arm: str, dims: Sequence[str], rare: float) -> Iterator[Doubt]:
    # Not `scipy.stats`, whose import takes a second in the middle of a run.
    from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    quantile: Any = stdtrit
    n = len(values)
    half = n // 2
    first, second = values[:half], values[half:]
    error = np.sqrt(first.var(axis=0, ddof=1) / half + second.var(axis=0, ddof=1) / (n - half))
    shift = second.mean(axis=0) - first.mean(axis=0)
    most = -float(quantile(half - 1, rare / 2))
    for d, name in enumerate(dims):
        if abs(shift[d]) > most * error[d] and abs(shift[d]) > 1e-12:
            yield Doubt(
                f"{arm}: {name} drifts: the second half of its {n:,} values is {shift[d]:+.4g} "
                f"({abs(shift[d]) / max(error[d], 1e-300):.1f} standard errors) off the first; the "
                "mean must not change",
                True,
                "drift",
            )


def _too_wide(
    values: Floats, arm: str, scales: Floats, dims: Sequence[str], rare: float
) -> Iterator[Doubt]:
    from scipy.special import chdtri  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    quantile: Any = chdtri
    n = len(values)
    most = quantile(n - 1, rare) / (n - 1)
    spread = values.var(axis=0, ddof=1)
    for d, name in enumerate(dims):
        if spread[d] > most * scales[d] ** 2:
            yield Doubt(
                f"{arm}: {name} has standard deviation {np.sqrt(spread[d]):.4g} over {n:,} values, more "
                f"than its declared scale {scales[d]:.4g} allows: proofs do not hold",
                True,
                "spread",
            )


def _ties(values: Floats, arm: str, dims: Sequence[str]) -> Iterator[Doubt]:
    for d, name in enumerate(dims):
        found, times = np.unique(values[:, d], return_counts=True)
        if len(times) and times.max() > 1:
            k = int(times.argmax())
            instead = "give Bounded(low, high) if values have a range"
            if np.isin(found, (0.0, 1.0)).all():
                instead = "values that are 0 or 1 have Bernoulli()"
            yield Doubt(
                f"{arm}: {name} was {found[k]:.6g} {times[k]:,} times; normal values never tie, so "
                f"Gaussian() does not fit and its proofs may not hold: {instead}",
                True,
                "ties",
            )


def _skewed(values: Floats, arm: str, dims: Sequence[str]) -> Iterator[Doubt]:
    n = len(values)
    if n < 50:
        return
    for d, name in enumerate(dims):
        off = values[:, d] - values[:, d].mean()
        spread = off.std()
        if spread == 0:
            continue  # ties have said it
        skew = float((off**3).mean() / spread**3)
        if abs(skew) > 6.0 * math.sqrt(6.0 / n):
            yield Doubt(
                f"{arm}: {name} has skewness {skew:.2g} over {n:,} values; normal values have none, so "
                "Gaussian() does not fit: take the logarithm (transform) or clip to a range",
                True,
                "skew",
            )


def _repeated(values: Floats, arm: str) -> Iterator[Doubt]:
    distinct = len(np.unique(values, axis=0))
    singles = len(np.unique(values[:, 0]))
    again = len(values) - distinct
    # Values on a grid repeat by chance; those that are nearly all different do not.
    if again >= 2 and singles > 0.5 * len(values) and singles > 20:
        yield Doubt(
            f"{arm}: {again:,} of its {len(values):,} rows have come before to the last digit, as "
            "with a seed used twice",
            False,
            "rows",
        )
