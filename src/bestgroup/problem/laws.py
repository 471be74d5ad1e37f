"""Laws of the rewards of a known instance, for simulation.

Any object with `sample(rng, mean, n) -> [n, D]` is a law; those here are also compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, number, numbers


@runtime_checkable
class Law(Protocol):
    """What draws rewards: `sample(rng, mean, n)` returns n rewards, [n, D]."""

    def sample(self, rng: np.random.Generator, mean: Floats, n: int) -> Floats:
        """Return n rewards of an arm with this mean, [n, D]."""
        ...


@dataclass(frozen=True)
class Normal:
    """Gaussian rewards: independent dims with a scale, one or one for each dim, or a covariance.

    >>> Normal(1.0).factor(2)
    array([[1., 0.],
           [0., 1.]])
    """

    scale: float | tuple[float, ...] | None = 1.0
    cov: tuple[tuple[float, ...], ...] | None = None

    def __init__(
        self,
        scale: float | Sequence[float] | Sequence[Sequence[float]] | None = None,
        cov: Sequence[Sequence[float]] | None = None,
    ) -> None:
        if scale is not None and cov is not None:
            raise InvalidInput("Normal takes a scale or a cov, not both")
        if scale is not None and np.ndim(scale) == 2:
            scale, cov = None, scale  # type: ignore[assignment]
        if cov is not None:
            matrix = numbers(cov, "cov")
            if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
                raise InvalidInput(f"cov must be a square matrix [D, D]; got shape {matrix.shape}")
            if not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix)[0] < -1e-10:
                raise InvalidInput("cov must be symmetric and positive semi-definite")
            object.__setattr__(self, "scale", None)
            object.__setattr__(self, "cov", tuple(tuple(row) for row in matrix.tolist()))
            return
        if np.ndim(scale if scale is not None else 1.0) == 0:
            checked: Any = number(1.0 if scale is None else scale, "scale")
        else:
            checked = tuple(numbers(scale, "scale").tolist())
        if np.size(checked) == 0 or np.min(checked) < 0:
            raise InvalidInput(f"scale must not be negative; got {scale}")
        object.__setattr__(self, "scale", checked)
        object.__setattr__(self, "cov", None)

    def scales(self, dims: int) -> Floats:
        """Return the standard deviation of each dim, [D]."""
        if self.cov is not None:
            return np.sqrt(np.diag(np.array(self.cov)))
        if isinstance(self.scale, tuple) and len(self.scale) != dims:
            raise InvalidInput(
                f"the law's scale must be one number or one for each of the {dims} dims; "
                f"got {len(self.scale)}"
            )
        return np.full(dims, self.scale, dtype=np.float64)

    def factor(self, dims: int) -> Floats:
        """Return a matrix F with F F^T the covariance, [D, D]; diagonal for independent dims."""
        if self.cov is None:
            return np.diag(self.scales(dims))
        matrix = np.array(self.cov)
        if len(matrix) != dims:
            raise InvalidInput(f"cov must be [{dims}, {dims}]; got {list(matrix.shape)}")
        values, vectors = np.linalg.eigh(matrix)
        return vectors * np.sqrt(np.maximum(values, 0.0))

    def sample(self, rng: np.random.Generator, mean: Floats, n: int) -> Floats:
        """Return n rewards, [n, D]."""
        dims = len(mean)
        return mean + rng.standard_normal((n, dims)) @ self.factor(dims).T


@dataclass(frozen=True)
class FullyDependent:
    """Gaussian rewards whose dims share one noise variable (paper, Definition B.14).

    `scale` is one number or one for each dim. The paper's class has no harder member.
    """

    scale: float | tuple[float, ...] = 1.0

    def __init__(self, scale: float | Sequence[float] = 1.0) -> None:
        if cast(object, scale) is None or np.ndim(scale) > 1:
            raise InvalidInput("FullyDependent takes a scale: one number, or one for each dim")
        object.__setattr__(self, "scale", Normal(scale).scale)

    def scales(self, dims: int) -> Floats:
        """Return the standard deviation of each dim, [D]."""
        return Normal(self.scale).scales(dims)

    def factor(self, dims: int) -> Floats:
        """Return a matrix F with F F^T the covariance, [D, 1]."""
        return self.scales(dims)[:, None]

    def sample(self, rng: np.random.Generator, mean: Floats, n: int) -> Floats:
        """Return n rewards, [n, D]."""
        return mean + rng.standard_normal((n, 1)) * self.scales(len(mean))


@dataclass(frozen=True)
class Bernoulli:
    """Rewards 0 or 1, independent over dims; means must lie in [0, 1]."""

    def scales(self, dims: int) -> Floats:
        """Return the sub-Gaussian scale 1/2 of each dim, [D] (Hoeffding's lemma)."""
        return np.full(dims, 0.5)

    def sample(self, rng: np.random.Generator, mean: Floats, n: int) -> Floats:
        """Return n rewards, [n, D]."""
        return (rng.random((n, len(mean))) < mean).astype(np.float64)


@dataclass(frozen=True)
class Beta:
    """Rewards in [low, high] with beta laws, independent over dims.

    `scale` is their standard deviation, one number or one for each dim; near the ends of the range,
    where so much spread is impossible, it is nine tenths of what is possible.

    >>> Beta(0.1).sample(np.random.default_rng(0), np.array([0.3]), 2).shape
    (2, 1)
    """

    scale: float | tuple[float, ...] = 0.15
    low: float | tuple[float, ...] = 0.0
    high: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", Normal(self.scale).scale)
        for end in ("low", "high"):
            value = getattr(self, end)
            checked = (
                number(value, end) if np.ndim(value) == 0 else tuple(numbers(value, end).tolist())
            )
            object.__setattr__(self, end, checked)
        if (np.asarray(self.low) >= np.asarray(self.high)).any():
            raise InvalidInput(f"low must be below high; got {self.low} and {self.high}")

    def scales(self, dims: int) -> Floats:
        """Return the standard deviation of each dim, [D]."""
        return Normal(self.scale).scales(dims)

    def check_means(self, means: Floats) -> None:
        """Raise InvalidInput if a mean [..., D] does not lie strictly inside the range."""
        if ((means <= np.asarray(self.low)) | (means >= np.asarray(self.high))).any():
            raise InvalidInput(
                f"means of beta rewards must lie strictly between {self.low} and {self.high}"
            )

    def sample(self, rng: np.random.Generator, mean: Floats, n: int) -> Floats:
        """Return n rewards, [n, D]."""
        low, high = np.asarray(self.low, np.float64), np.asarray(self.high, np.float64)
        p = (mean - low) / (high - low)
        most = p * (1.0 - p)
        variance = np.minimum((self.scales(len(mean)) / (high - low)) ** 2, 0.81 * most)
        strength = most / variance - 1.0
        return low + (high - low) * rng.beta(p * strength, (1.0 - p) * strength, (n, len(mean)))


@dataclass(frozen=True)
class IndependentDims:
    """A law for each dim, independent of each other.

    >>> law = IndependentDims((Bernoulli(), Normal(0.1)))
    >>> law.sample(np.random.default_rng(1), np.array([0.0, 0.0]), 2).shape
    (2, 2)
    """

    laws: tuple[Any, ...]

    def scales(self, dims: int) -> Floats:
        """Return the scale of each dim, [D]."""
        return np.concatenate([law.scales(1) for law in self.laws])

    def sample(self, rng: np.random.Generator, mean: Floats, n: int) -> Floats:
        """Return n rewards of an arm with this mean, [n, D]."""
        parts = [law.sample(rng, mean[d : d + 1], n) for d, law in enumerate(self.laws)]
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class ByItem:
    """Values of a table of shared items: an item is drawn, and every arm has its value there."""

    def sample(self, rng: np.random.Generator, mean: Floats, n: int) -> Floats:
        """Refuse: one arm's values alone are not what such an instance is about."""
        raise InvalidInput("values on shared items are drawn for all arms at once, by item")
