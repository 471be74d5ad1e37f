"""The units of the order in which arms go through shared items: items, or clusters of them.

A cluster (questions on one passage) is one unit, in which all items count alike (docs/theory.md 9.5). The
mean over a pool of C clusters with n items is C / n times the mean of the sums over clusters. For a
population of clusters, of at most `largest` items each, mu_a + s <= mu_b says that the sum over a cluster
of x_a - x_b + s has at most mean 0; where all have as many items the slack may stay apart.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any, NamedTuple

from bestgroup.proof.format import Proof, Refused
from bestgroup.proof.observations import Observations


class Units(NamedTuple):
    """The units of an order, with the items of each."""

    names: list[str]
    members: list[list[str]]
    clustered: bool
    largest: int  # items of a unit, at most
    within: bool  # whether the slack is added to the sums over units
    pool: bool

    @property
    def mean_size(self) -> Fraction:
        """The items of a unit, on average."""
        return Fraction(sum(map(len, self.members)), max(len(self.members), 1))

    def placed(
        self, values: list[Fraction], shift: Fraction, reach: Fraction
    ) -> tuple[list[Fraction], Fraction, Fraction]:
        """Return differences on units, the shift and the range that a claim on the mean of an item has.

        Raises ValueError if two arms differ by more than items can.
        """
        sizes = [len(own) for own in self.members[: len(values)]]
        if any(abs(value) > n * reach for value, n in zip(values, sizes, strict=True)):
            raise ValueError("two arms differ on an item by more than was declared")
        if not self.clustered:
            return values, shift, reach
        if self.within:
            added = [value + n * shift for value, n in zip(values, sizes, strict=True)]
            return added, Fraction(0), self.largest * (reach + abs(shift))
        size = self.mean_size if self.pool else Fraction(self.largest)
        return values, shift * size, reach * self.largest


def units_of(proof: Proof, rows: Observations) -> Units:
    """Return the units of the order of a proof; refuses an order that cannot be."""
    order, clusters = proof.method.get("order"), proof.method.get("clusters")
    if not isinstance(order, list):
        raise Refused("format", "the order of the items is missing")
    given = [unit if clusters is not None else [unit, unit] for unit in order]
    if not all(isinstance(unit, list) and len(unit) > 1 for unit in given) or not all(
        isinstance(name, str) for unit in given for name in unit
    ):
        raise Refused("format", "the order of the items is missing")
    names, members = [unit[0] for unit in given], [unit[1:] for unit in given]
    every = [item for own in members for item in own]
    if len(set(names)) != len(names) or len(set(every)) != len(every):
        raise Refused("data", "an item stands twice in the order")
    if proof.method.get("ordered_by") == "digest":
        _check_digests(names, set(every), rows, clusters is not None)
    elif proof.method.get("ordered_by") != "given":
        raise Refused("format", "it must be told where the order comes from")
    pool = proof.method.get("target") == "pool"
    if clusters is None:
        return Units(names, members, False, 1, False, pool)
    return _clusters(proof, clusters, Units(names, members, True, 1, False, pool), rows)


def _clusters(proof: Proof, given: Any, units: Units, rows: Observations) -> Units:
    """Return units that are clusters: all of them stand in the order, also those that nobody passed."""
    if proof.document["version"] < 3:
        raise Refused("format", "this version has no clusters")
    if not isinstance(given, dict) or set(given) != {"largest", "slack"}:
        raise Refused("format", "it must be told how large clusters are, and where the slack goes")
    sizes, known = [len(own) for own in units.members], {i for own in units.members for i in own}
    if any(item not in known for items in rows.items.values() for item in items):
        raise Refused("data", "an item of the table is in no cluster")
    largest, slack = given["largest"], given["slack"]
    if type(largest) is not int or slack not in ("apart", "within"):
        raise Refused("format", "it must be told how large clusters are, and where the slack goes")
    if units.pool:
        good = (
            largest == max(sizes) and slack == "apart" and sum(sizes) == proof.method.get("count")
        )
    else:
        good = largest >= max(sizes) and (slack == "within" or set(sizes) == {largest})
    if not good:
        raise Refused("parameters", "clusters are not as large as they are said to be")
    return units._replace(largest=largest, within=slack == "within")


def _check_digests(names: list[str], known: set[str], rows: Observations, all_of: bool) -> None:
    """Refuse an order that is not that of the digests, or leaves an item of the table out."""
    keys = [hashlib.sha256(name.encode()).digest() for name in names]
    if keys != sorted(keys):
        raise Refused("data", "the items are not in the order of their digests")
    last = keys[-1] if keys else b""
    for items in rows.items.values():
        for item in items:
            if item not in known and (all_of or hashlib.sha256(item.encode()).digest() <= last):
                raise Refused("data", f"the item {item!r} is left out of the order")
