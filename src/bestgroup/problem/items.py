"""`Items`: every arm is scored on the same items, each arm once on each item.

One random order of the items is drawn before anything is seen. The t-th pull of every arm is the t-th
item of that order: no arm skips an item. What is asked for is named by `target`:

- "pool": the mean over these items of the table "each arm once on each item";
- "population": the items are independent draws from what one cares for; the mean of that;
- "stream": an endless supply of items (seeds, visitors), each drawn independently.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import is_list, is_table, number, positive_int

TARGETS = ("pool", "population", "stream")


@dataclass(frozen=True)
class SharedItems:
    """What an algorithm may know of shared items."""

    count: int  # how many there are; 0 for an endless stream
    pool: bool  # the question is about these items; else about what they are drawn from
    reach: tuple[float, ...]  # [D]  two arms' values on one item differ by at most this
    sizes: tuple[int, ...] = ()  # of the clusters, as they are taken; none: items stand alone
    largest: int = 1  # no cluster of what they are drawn from has more items


@dataclass(frozen=True)
class Items:
    """The items that all arms are scored on.

    `count` is their number, or None for an endless stream. `names` are their identifiers, which the
    evaluator gets; without them items are called "0", "1", .... `clusters` gives a label to every item:
    items of one label (questions on one passage) belong together, and the cluster is what is drawn.
    `largest`, for a population, is how many items a cluster can have; without it no cluster is taken to
    be larger than the largest one here.
    `repeats` is how many evaluations of an arm on an item are averaged, a number fixed beforehand.
    `floor` is what counts, in each dim, for an item that an arm cannot do: one number, or one for
    each dim by name.

    >>> Items(797).target, Items().target, Items(names=["a", "b"]).count
    ('pool', 'stream', 2)
    """

    count: int | None = None
    target: str | None = None
    names: tuple[str, ...] | None = None
    clusters: tuple[str, ...] | None = None
    repeats: int = 1
    floor: float | tuple[tuple[str, float], ...] | None = None
    largest: int | None = None

    def __post_init__(self) -> None:
        names = _labels(self.names, "the names of items")
        if names is not None and len(set(names)) < len(names):
            raise InvalidInput(f"the names of items must differ; {_twice(names)!r} is there twice")
        count = self.count if self.count is not None or names is None else len(names)
        if count is not None:
            count = positive_int(count, "the number of items")
        if names is not None and len(names) != count:
            raise InvalidInput(
                f"there must be a name for each of the {count} items; got {len(names)}"
            )
        clusters = _labels(self.clusters, "clusters")
        if clusters is not None and count is None:
            raise InvalidInput("clusters are for a number of items, not for an endless stream")
        if clusters is not None and len(clusters) != count:
            raise InvalidInput(
                f"there must be a cluster for each of the {count} items; got {len(clusters)}"
            )
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "clusters", clusters)
        object.__setattr__(self, "target", _target(self.target, count))
        object.__setattr__(self, "repeats", positive_int(self.repeats, "repeats"))
        object.__setattr__(self, "floor", _floor(self.floor))
        self._check_largest()

    def _check_largest(self) -> None:
        if self.largest is None:
            return
        if self.clusters is None or self.pool:
            raise InvalidInput("largest is for clusters of a population")
        here = max(map(len, self.members.values()))
        if positive_int(self.largest, "largest") < here:
            raise InvalidInput(
                f"largest is {self.largest}, and there is a cluster of {here} items here"
            )

    @property
    def most(self) -> int:
        """How many items a cluster can have, as declared or as seen here; 1 where items stand alone."""
        return self.largest or max(map(len, self.members.values()), default=1)

    @property
    def pool(self) -> bool:
        """Whether the question is about these items only."""
        return self.target == "pool"

    def name(self, position: int) -> str:
        """Return the identifier of an item."""
        return str(position) if self.names is None else self.names[position]

    def index(self, name: str) -> int:
        """Return the number of an item."""
        if self.names is not None:
            places = _places(self.names)
            if name in places:
                return places[name]
        elif name.isdecimal() and (self.count is None or int(name) < self.count):
            return int(name)
        raise InvalidInput(f"there is no item {name!r}")

    def floor_values(self, dims: Sequence[str]) -> list[float]:
        """Return what counts in each dim for an item that an arm cannot do."""
        if self.floor is None:
            raise InvalidInput("no floor is declared for items that an arm cannot do")
        if not isinstance(self.floor, tuple):
            return [float(self.floor)] * len(dims)
        known = dict(self.floor)
        missing = [dim for dim in dims if dim not in known]
        if missing:
            raise InvalidInput(f"the floor has no value for the dim {missing[0]!r}")
        return [known[dim] for dim in dims]

    @property
    def members(self) -> dict[str, list[int]]:
        """The items of each cluster, by their numbers; nothing where items stand alone."""
        found: dict[str, list[int]] = {}
        for position, label in enumerate(self.clusters or ()):
            found.setdefault(label, []).append(position)
        return found

    def units(self, seed: int) -> list[str]:
        """Return the names of the clusters, or else of the items, in the order of a study's seed."""
        if self.clusters is None:
            return [self.name(k) for k in drawn_order(seed, self.count or 0)]
        labels = list(self.members)
        return [labels[k] for k in drawn_order(seed, len(labels))]

    def order(self, seed: int) -> tuple[int, ...]:
        """Return the items in the order of a study's seed; those of a cluster follow each other."""
        if self.clusters is None:
            return drawn_order(seed, self.count or 0)
        return _order_of_clusters(self.clusters, seed)

    def shared(self, reach: Sequence[float], seed: int | None = None) -> SharedItems:
        """Return what an algorithm may know: clusters in the order of a seed, or as they are named."""
        members = self.members
        labels = self.units(seed) if seed is not None and members else list(members)
        sizes = tuple(len(members[label]) for label in labels)
        ends = tuple(float(r) for r in reach)
        return SharedItems(self.count or 0, self.pool, ends, sizes, self.most)

    def question(self) -> str:
        """Return, in words, what the means are that the answer speaks of."""
        if self.target == "pool":
            return (
                f"means are those of these {self.count:,} items: of the table with each arm once on "
                "each item"
            )
        if self.target == "population":
            whole = (
                f"means are those of the population that the {self.count:,} items were drawn from"
            )
            return whole + ("" if self.clusters is None else ", in which every item counts alike")
        return "means are expectations over the endless stream of items"

    def assumptions(self) -> tuple[str, ...]:
        """Return what the proofs rest on, in words."""
        order = "every arm goes through the items in one order without skipping any"
        if self.clusters is not None:
            order = "every arm goes through the clusters of items in one order without skipping any"
        if self.target == "pool":
            drawn = "that order was drawn at random before any value was seen"
            fixed = "what an arm scores on an item does not depend on the item's place in the order"
            return (self.question(), f"{order}; {drawn}", fixed)
        if self.clusters is None:
            return (
                self.question(),
                order,
                "items are independent draws, in an order that no value chose",
            )
        drawn = "clusters are independent draws, in an order that no value chose"
        return (self.question(), order, drawn, f"no cluster has more than {self.most:,} items")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON; `items_from_dict` reads it back."""
        floor = dict(self.floor) if isinstance(self.floor, tuple) else self.floor
        entries: dict[str, Any] = {"count": self.count, "target": self.target, "floor": floor}
        entries["repeats"] = self.repeats
        entries["largest"] = self.largest
        for key in ("names", "clusters"):
            labels = getattr(self, key)
            entries[key] = None if labels is None else list(labels)
        return {key: value for key, value in entries.items() if value is not None}


def items_from_dict(given: Any) -> Items:
    """Return the items that `to_dict` wrote."""
    if not is_table(given):
        raise InvalidInput(f"items must be a table; got {given!r}")
    unknown = set(given) - {"count", "target", "names", "clusters", "repeats", "floor", "largest"}
    if unknown:
        raise InvalidInput(f"items have no entry {sorted(unknown)[0]!r}")
    return Items(**given)


def check_items(items: Any) -> Items | None:
    """Return `items` if it is None, an `Items` or a number of items."""
    if items is None or isinstance(items, Items):
        return items
    if isinstance(items, int) and not isinstance(items, bool):
        return Items(items)
    raise InvalidInput(f"items must be bg.Items(...) or their number; got {items!r}")


def why_stuck(items: Items | SharedItems | None) -> str:
    """Return why no further pull can decide.

    >>> why_stuck(Items(60, "population"))
    'all 60 items are used up, which do not decide what they were drawn from'
    """
    if items is not None and items.count:  # a pool is decided by its last item
        return (
            f"all {items.count:,} items are used up, which do not decide what they were drawn from"
        )
    return "groups are tied, and no pull can decide that without slack"


@lru_cache(maxsize=16)
def drawn_order(seed: int, count: int) -> tuple[int, ...]:
    """Return the order in which a study takes its items: a random one, fixed by the study's seed.

    >>> drawn_order(1, 4)
    (1, 0, 3, 2)
    """
    keys = [
        hashlib.blake2b(struct.pack("<qq", seed, k), digest_size=16, person=b"items").digest()
        for k in range(count)
    ]
    return tuple(sorted(range(count), key=keys.__getitem__))


@lru_cache(maxsize=16)
def _order_of_clusters(clusters: tuple[str, ...], seed: int) -> tuple[int, ...]:
    items = Items(len(clusters), clusters=clusters)
    members = items.members
    return tuple(position for label in items.units(seed) for position in members[label])


def digest_order(names: Sequence[str]) -> list[int]:
    """Return an order of items that depends on their names alone, so that nobody can shop for one.

    >>> digest_order(["a", "b", "c"])
    [2, 1, 0]
    """
    keys = [hashlib.sha256(name.encode()).digest() for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)


def _labels(given: Any, what: str) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) == 0:
        raise InvalidInput(f"{what} must be a list that is not empty; got {given!r}")
    labels = tuple(str(name) for name in given)
    if not all(labels):
        raise InvalidInput(f"{what} must not be empty")
    return labels


def _twice(names: tuple[str, ...]) -> str:
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))


def _target(given: Any, count: int | None) -> str:
    target = given or ("stream" if count is None else "pool")
    if target not in TARGETS:
        raise InvalidInput(f"target must be one of {', '.join(TARGETS)}; got {given!r}")
    if (target == "stream") != (count is None):
        raise InvalidInput(
            f"the target {target!r} "
            + ("has no number of items" if target == "stream" else "needs the number of items")
        )
    return target


def _floor(given: Any) -> Any:
    if given is None:
        return None
    if is_table(given):
        return tuple((str(dim), number(value, f"floor of {dim}")) for dim, value in given.items())
    if is_list(given) and isinstance(given, tuple):  # as it is kept
        return given
    return number(given, "floor")


_known: dict[tuple[str, ...], dict[str, int]] = {}


def _places(names: tuple[str, ...]) -> dict[str, int]:
    if names not in _known:
        _known.clear()  # of the last problem only
        _known[names] = {name: k for k, name in enumerate(names)}
    return _known[names]
