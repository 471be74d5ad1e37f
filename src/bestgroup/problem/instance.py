"""`Instance`: the truth that simulation and theory need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, numbers, read_only
from bestgroup.problem.laws import Bernoulli, Beta, Law, Normal
from bestgroup.problem.noise import Noise, SubGaussian, check_noise
from bestgroup.problem.shape import Shape


class Instance:
    """A known problem: the means of all arms, how rewards are drawn, what may be assumed of them.

    `means` is an array [N, K, D], or a list of N arrays [K_i, D] for groups of unequal size. Larger
    is better in every dim. `law` draws the rewards; `noise` is what the algorithms may assume.

    >>> instance = Instance([[[0.2, 0.9], [0.4, 0.1]], [[0.3, 0.3], [0.1, 0.2]]])
    >>> instance.efficiency
    array([[0.4, 0.9],
           [0.3, 0.3]])
    """

    def __init__(
        self,
        means: Any,
        law: Law | None = None,
        noise: Noise | None = None,
        *,
        groups: Sequence[str] | None = None,
        arms: Sequence[Sequence[str]] | None = None,
        dims: Sequence[str] | None = None,
    ) -> None:
        self.means: tuple[Floats, ...] = _read_means(means)
        self.shape = Shape(tuple(len(rows) for rows in self.means), self.means[0].shape[1])
        self.law: Law = Normal(1.0) if law is None else law
        self.noise: Noise = SubGaussian(1.0) if noise is None else noise
        if not isinstance(self.law, Law) or isinstance(self.law, type):
            raise InvalidInput(f"law must have sample(rng, mean, n); got {self.law!r}")
        check_noise(self.noise)
        self._check_law()
        known = self.noise if self.noise.has_scale or not hasattr(self.law, "scales") else self.law
        self.scale: Floats = read_only(known.scales(self.shape.dims))  # type: ignore[union-attr]
        self.groups = _names(groups, self.shape.groups, "group", "groups")
        self.dims = _names(dims, self.shape.dims, "dim", "dims")
        self.arms = _arm_names(arms, self.shape.sizes)
        self.efficiency: Floats = read_only(np.array([rows.max(axis=0) for rows in self.means]))

    @classmethod
    def random(
        cls,
        groups: int = 5,
        arms: int | Sequence[int] = 5,
        dims: int = 3,
        pareto: int | None = None,
        min_gap: float = 0.0,
        seed: int = 0,
        **options: Any,
    ) -> Instance:
        """Return a random instance as in section 5 of the paper; see `simulation.instances`."""
        from bestgroup.problem.random_instances.draw import random_means

        return cls(random_means(groups, arms, dims, pareto, min_gap, seed, **options))

    @classmethod
    def sparse(
        cls,
        groups: int = 1000,
        arms: int = 6,
        dims: int = 3,
        pareto: int = 10,
        min_gap: float = 0.06,
        seed: int = 0,
    ) -> Instance:
        """Return a large random instance with few optimal groups; see `simulation.instances`."""
        from bestgroup.problem.random_instances.draw import sparse_means

        return cls(sparse_means(groups, arms, dims, pareto, min_gap, seed))

    @property
    def padded_means(self) -> Floats:
        """The means in one array [N, K, D]; NaN where a group has no such arm."""
        padded = np.full((self.shape.groups, self.shape.arms, self.shape.dims), np.nan)
        for i, rows in enumerate(self.means):
            padded[i, : len(rows)] = rows
        return padded

    def __repr__(self) -> str:
        sizes = set(self.shape.sizes)
        arms = f"K={sizes.pop()}" if len(sizes) == 1 else f"K={list(self.shape.sizes)}"
        return f"Instance(N={self.shape.groups}, {arms}, D={self.shape.dims}, law={self.law})"

    def _check_law(self) -> None:
        dims = self.shape.dims
        if isinstance(self.law, Normal):
            self.law.factor(dims)
        elif hasattr(self.law, "scales"):
            self.law.scales(dims)  # type: ignore[attr-defined]
        if isinstance(self.law, Beta):
            for rows in self.means:
                self.law.check_means(rows)
        if isinstance(self.law, Bernoulli):
            lowest = min(rows.min() for rows in self.means)
            highest = max(rows.max() for rows in self.means)
            if lowest < 0 or highest > 1:
                raise InvalidInput(
                    f"means of Bernoulli rewards must lie in [0, 1]; got {lowest:g} to {highest:g}"
                )


def check_instance(instance: Any) -> Instance:
    """Return `instance` if it is one."""
    if not isinstance(instance, Instance):
        raise InvalidInput(f"an Instance is needed; got {type(instance).__name__}")
    return instance


def _read_means(means: Any) -> tuple[Floats, ...]:
    if isinstance(means, str) or not hasattr(means, "__len__"):
        raise InvalidInput("means must be an array [N, K, D] or a list of N arrays [K_i, D]")
    if len(means) == 0:
        raise InvalidInput("means must hold at least one group; got none")
    rows: list[Floats] = []
    for i, group in enumerate(means):
        if not hasattr(group, "__len__") or len(group) == 0:
            raise InvalidInput(f"group {i} must hold at least one arm; got {group!r}")
        array = numbers(group, f"the means of group {i}")
        if array.ndim != 2:
            raise InvalidInput(
                f"the means of group {i} must be an array [K_i, D]; got shape {list(array.shape)}"
            )
        if array.shape[1] == 0:
            raise InvalidInput("arms must have at least one dim; got none")
        if rows and array.shape[1] != rows[0].shape[1]:
            raise InvalidInput(
                f"every arm must have the same number of dims; group 0 has {rows[0].shape[1]}, "
                f"group {i} has {array.shape[1]}"
            )
        rows.append(read_only(array))
    return tuple(rows)


def _names(given: Sequence[str] | None, count: int, prefix: str, what: str) -> tuple[str, ...]:
    if given is None:
        return tuple(f"{prefix} {i}" for i in range(count))
    if (
        isinstance(given, str)
        or not isinstance(given, Sequence)
        or not all(isinstance(name, str) and name for name in given)
    ):
        raise InvalidInput(f"names of {what} must be non-empty texts; got {given!r}")
    if len(given) != count:
        raise InvalidInput(f"there must be a name for each of the {count} {what}; got {len(given)}")
    for k, name in enumerate(given):
        if name in given[:k]:
            raise InvalidInput(f"names of {what} must differ; {name!r} is there twice")
    return tuple(given)


def _arm_names(
    given: Sequence[Sequence[str]] | None, sizes: tuple[int, ...]
) -> tuple[tuple[str, ...], ...]:
    if given is None:
        return tuple(tuple(f"arm {j}" for j in range(size)) for size in sizes)
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidInput(f"arm names must be a list for each group; got {given!r}")
    if len(given) != len(sizes):
        raise InvalidInput(
            f"arm names must be a list for each of the {len(sizes)} groups; got {len(given)}"
        )
    return tuple(
        _names(names, size, "arm", f"arms of group {i}")
        for i, (names, size) in enumerate(zip(given, sizes, strict=True))
    )
