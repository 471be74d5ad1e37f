"""What a proof file assumes of the values of a dim: the noise models that it may name, in one place.

Checks ask what a model promises: a kind is in `SCALED` (a scale is stated), `RANGED` (no value lies
outside a range), `TWO_VALUED` or `SYMMETRIC` (about the mean, of unknown variance). The models say
so themselves (`problem.noise`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestgroup.problem.noise import KINDS

SCALED = frozenset(kind for kind, model in KINDS.items() if "scale" in model.needed)
TWO_VALUED = frozenset(kind for kind, model in KINDS.items() if model.two_valued)
RANGED = frozenset(kind for kind, model in KINDS.items() if model.has_range)
SYMMETRIC = frozenset(kind for kind, model in KINDS.items() if model.symmetric)
SUB_GAUSSIAN = SCALED | RANGED  # a scale is stated, or is half of the range (Hoeffding's lemma)


@dataclass(frozen=True)
class DimNoise:
    """What is assumed of the values of a dim."""

    kind: str
    scale: float = 0.0  # of a model that states one
    low: float = 0.0  # of values in a range, as they are in the table
    high: float = 1.0
    difference: float | None = None  # of two arms on one item, at most

    def words(self) -> str:
        """Return the assumption in words."""
        if self.kind in SCALED:
            return f"the noise is sub-Gaussian with scale {self.scale!r}"
        if self.kind in TWO_VALUED:
            return "all values are 0 or 1"
        if self.kind in RANGED:
            most = self.difference
            more = "" if most is None else f", those of two arms on one item at most {most!r} apart"
            return f"all values lie between {self.low!r} and {self.high!r}{more}"
        return "the values of an arm are independent and normal with one mean and one variance"

    def against(self, column: list[float]) -> str | None:
        """Return what is wrong with one of these values, or None."""
        if self.kind in TWO_VALUED:
            return None if set(column) <= {0.0, 1.0} else "is neither 0 nor 1"
        least, most = min(column, default=self.low), max(column, default=self.high)
        if self.kind in RANGED and not self.low <= least <= most <= self.high:
            return "lies outside of its range"
        return None


def read_noise(given: dict[str, Any]) -> DimNoise:
    """Return the model of a dim; ValueError if an entry is not what it must be."""
    kind = given["kind"]
    if kind not in SUB_GAUSSIAN | SYMMETRIC:
        raise ValueError(f"there is no noise model {kind!r}")
    if kind in SCALED:
        model = DimNoise(kind, scale=number(given["scale"]))
        if not model.scale > 0.0:
            raise ValueError("a scale must be positive")
        return model
    if kind not in RANGED - TWO_VALUED:
        return DimNoise(kind)
    most = None if given.get("difference") is None else number(given["difference"])
    model = DimNoise(kind, 0.0, number(given["low"]), number(given["high"]), most)
    if not model.low < model.high:
        raise ValueError("a range must not be empty")
    if most is not None and not most > 0.0:
        raise ValueError("a difference must be positive")
    return model


def number(value: Any) -> float:
    """Return a number of a proof file; ValueError if it is something else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no number")
    return float(value)
