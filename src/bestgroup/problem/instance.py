"""`Instance`: the truth that simulation and theory need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, Ints, is_list, numbers, read_only
from bestgroup.problem.items import Items, SharedItems
from bestgroup.problem.laws import Bernoulli, Beta, ByItem, Law, Normal
from bestgroup.problem.measure import Asked, measure_of
from bestgroup.problem.noise import Noise, SubGaussian, check_noise, in_range
from bestgroup.problem.shape import Shape


class Instance:
    """A known problem: the means of all arms, how rewards are drawn, what may be assumed of them.

    `means` is an array [N, K, D], or a list of N arrays [K_i, D] for groups of unequal size. Larger
    is better in every dim. `law` draws the rewards; `noise` is what the algorithms may assume, and says
    how rewards are drawn where there is no `law`: normal with its scale (1 if unknown), in a range by a
    beta law whose standard deviation is a sixth of the range, 0 or 1.
    `require` and `worth` are those of `Problem`; dims in `watch`, which must come last, have a limit and
    are not judged by a goal.

    >>> instance = Instance([[[0.2, 0.9], [0.4, 0.1]], [[0.3, 0.3], [0.1, 0.2]]])
    >>> instance.efficiency
    array([[0.4, 0.9],
           [0.3, 0.3]])
    """

    def __init__(
        self,
        means: Any,
        law: Law | None = None,
        noise: Noise | Mapping[str, Noise] | None = None,
        *,
        groups: Sequence[str] | None = None,
        arms: Sequence[Sequence[str]] | None = None,
        dims: Sequence[str] | None = None,
        require: Mapping[str, Any] | None = None,
        worth: Any = "best",
        watch: Sequence[str] = (),
    ) -> None:
        self.means: tuple[Floats, ...] = _read_means(means)
        self.shape = Shape(tuple(len(rows) for rows in self.means), self.means[0].shape[1])
        self.dims = _names(dims, self.shape.dims, "dim", "dims")
        self.noise: Noise = check_noise(SubGaussian(1.0) if noise is None else noise, self.dims)
        self.noise.check_dims(self.shape.dims)
        # A law that breaks what is assumed must be asked for.
        self.law: Law = self.noise.law(self.shape.dims) if law is None else law
        if not isinstance(cast(object, self.law), Law) or isinstance(self.law, type):
            raise InvalidInput(f"law must have sample(rng, mean, n); got {self.law!r}")
        self._check_law()
        known = self.noise if self.noise.has_scale or not hasattr(self.law, "scales") else self.law
        self.scale: Floats = read_only(known.scales(self.shape.dims))  # type: ignore[union-attr]
        self.groups = _names(groups, self.shape.groups, "group", "groups")
        self.arms = _arm_names(arms, self.shape.sizes)
        asked = Asked(require, worth, watch)
        self.decided, self.measure = measure_of(self.dims, self.groups, self.shape, asked)
        self.efficiency: Floats = read_only(np.array([rows.max(axis=0) for rows in self.means]))
        if self.measure is not None:  # of arms that keep the limits; -inf without any
            self.efficiency = read_only(next(self.measure.true_worths(self.means)))
        self.items: SharedItems | None = None
        self.table: Floats | None = None  # [items, A, D], arms in the order of their groups
        self.clusters: tuple[Ints, ...] = ()  # the items of each, where they do not stand alone

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

    @classmethod
    def from_table(
        cls,
        values: Any,
        groups: Sequence[Any],
        items: str = "pool",
        *,
        noise: Noise | None = None,
        dims: Sequence[str] | None = None,
        arms: Sequence[str] | None = None,
        clusters: Sequence[Any] | None = None,
        require: Mapping[str, Any] | None = None,
        worth: Any = "best",
        watch: Sequence[str] = (),
    ) -> Instance:
        """Return the instance that a table of shared items is.

        `values` [items, arms, dims] are to be maximised; `groups` is a label for each arm, `arms` a name
        for each. `items` is "pool" (runs draw random orders of these items), "population" (runs draw
        as many items, each independently) or "stream" (runs draw as many as they need). With
        `clusters`, a label for each item, what is drawn are clusters of items. The noise is Bounded
        with the range 0 to 1 unless it is given. `require`, `worth` and `watch` are those of `Instance`.

        >>> table = Instance.from_table(np.eye(3)[:, :, None], ["A", "A", "B"])
        >>> table.shape, table.items.count
        (Shape(sizes=(2, 1), dims=1), 3)
        """
        asked = Asked(require, worth, watch)
        return from_table(values, groups, items, noise, dims, arms, clusters, asked)

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


def from_table(
    values: Any,
    groups: Sequence[Any],
    items: str,
    noise: Noise | None,
    dims: Sequence[str] | None,
    arms: Sequence[str] | None,
    clusters: Sequence[Any] | None = None,
    asked: Asked = Asked(),  # noqa: B008  a constant
) -> Instance:
    """Return the instance of a table; see `Instance.from_table`."""
    table = numbers(values, "the values of a table")
    if table.ndim != 3 or 0 in table.shape:
        raise InvalidInput(
            f"a table must be an array [items, arms, dims]; got shape {list(table.shape)}"
        )
    labels = [str(label) for label in groups]
    if len(labels) != table.shape[1]:
        raise InvalidInput(
            f"groups must be a label for each of the {table.shape[1]} arms; got {len(labels)}"
        )
    names = list(dict.fromkeys(labels))
    order = [a for name in names for a, label in enumerate(labels) if label == name]
    table = table[:, order]
    model = check_noise(in_range(0.0, 1.0) if noise is None else noise).on_shared_items()
    D = table.shape[2]
    known = _names(dims, D, "dim", "dims")
    model.check_values(table.reshape(-1, D), known)
    count = len(table) if items != "stream" else None
    declared = Items(count, items, clusters=cast(Any, clusters))
    shared = declared.shared(model.reaches(D).tolist())
    _check_reach(table, np.array(shared.reach), known)
    # Means on a grid far below any difference that counts: sums that are equal up to rounding are.
    grid = 2.0**-44 * np.exp2(np.ceil(np.log2(np.array(shared.reach))))
    mean = cast(Floats, np.round(table.mean(axis=0) / grid) * grid)
    means = [mean[[a for a, own in enumerate(order) if labels[own] == name]] for name in names]
    own_names = None
    if arms is not None:
        given = _names(arms, len(labels), "arm", "arms")
        own_names = [[given[a] for a in order if labels[a] == name] for name in names]
    instance = Instance(
        means, ByItem(), model, groups=names, arms=own_names, dims=dims, **asked._asdict()
    )
    instance.items, instance.table = shared, read_only(table)
    instance.clusters = tuple(np.array(own, np.int64) for own in declared.members.values())
    return instance


def _check_reach(table: Floats, reach: Floats, dims: Sequence[str]) -> None:
    wide = (table.max(axis=1) - table.min(axis=1)).max(axis=0)
    for d, name in enumerate(dims):
        if wide[d] > reach[d] * (1 + 1e-9):
            raise InvalidInput(
                f"two arms differ in {name} by {wide[d]:g} on an item; at most {reach[d]:g} was declared"
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
    texts: object = given
    if not is_list(texts) or not all(isinstance(name, str) and name for name in texts):
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
    if not is_list(given):
        raise InvalidInput(f"arm names must be a list for each group; got {given!r}")
    if len(given) != len(sizes):
        raise InvalidInput(
            f"arm names must be a list for each of the {len(sizes)} groups; got {len(given)}"
        )
    return tuple(
        _names(names, size, "arm", f"arms of group {i}")
        for i, (names, size) in enumerate(zip(given, sizes, strict=True))
    )
