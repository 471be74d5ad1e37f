"""Proof documents on shared items: which pair is proven at which item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bestgroup.inference.evalues.paired import (
    OPEN,
    PROVEN,
    Betting,
    Claim,
    on_units,
    purse,
    watch_item,
)
from bestgroup.inference.evalues.paired import betting as following_bets
from bestgroup.problem.arrays import Floats
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.build_item_bounds import item_bounds_document
from bestgroup.proof.build_item_worths import item_worths_document
from bestgroup.proof.items import PROCESS
from bestgroup.proof.pairs import OVER, WON

Values = list[list[Floats]]  # of arm j of group i: [depth, D], in the order, larger being better


class Clusters(NamedTuple):
    """The clusters of an order, and where the slack of a claim goes."""

    members: list[list[str]]  # the items of each
    largest: int
    within: bool  # whether it is added to the sums over clusters


def items_document(
    asked: Asked,
    values: Values,
    order: Sequence[str],
    ordered_by: str,
    complete: bool,
    best: Callable[[dict[str, Any]], dict[str, Any]],
    repeats: int = 1,
    clusters: Clusters | None = None,
) -> dict[str, Any]:
    """Return the proof document of what differences on shared items prove.

    `best` makes that of the best group from the entries of its method; the table has `repeats` rows of
    an arm for an item. With `clusters` the order is theirs, and values are sums over them.
    """
    items, shape = asked.problem.items, asked.problem.shape
    assert items is not None
    by_units = asked.problem.measure is not None or asked.goal.by_directions
    entry: dict[str, Any] = {
        "kind": "pool" if complete and not by_units else "items",
        "target": "pool" if items.pool else "population",
        "count": items.count if items.pool else None,
        "order": list(order),
        "ordered_by": ordered_by,
        **({"repeats": repeats} if repeats > 1 else {}),
    }
    if complete and not by_units:
        if clusters is not None:  # each item counts alike, whatever it belongs to
            entry["order"] = [item for own in clusters.members for item in own]
        return document(asked, entry, [])
    deepest = max((len(arm) for group in values for arm in group), default=0)
    if clusters is None:
        entry["order"] = entry["order"][:deepest]
    else:
        pairs = zip(order, clusters.members, strict=True)
        slack = "within" if clusters.within else "apart"
        entry["order"] = [[name, *own] for name, own in pairs]
        entry["clusters"] = {"largest": clusters.largest, "slack": slack}
    if asked.goal.maps:
        return item_bounds_document(asked, entry)
    if by_units:
        return item_worths_document(asked, entry, values)
    if asked.goal.worth_weights(shape.dims) is not None:
        return best({**entry, "kind": "item selections", "process": dict(PROCESS)})
    N, D, A = shape.groups, shape.dims, shape.total
    over = [Fraction(1, N * max(A - size, 1)) for size in shape.sizes]
    won = [Fraction(1, N * D * size) for size in shape.sizes]
    entry |= {
        "over": [[part.numerator, part.denominator] for part in over],
        "won": [[part.numerator, part.denominator] for part in won],
        "stale": [[0, 1]] * N,
        "process": dict(PROCESS),
    }
    return document(asked, entry, _Search(asked, values, clusters).claims())


class _Search:
    """Looks for the claims that the statuses follow from."""

    def __init__(self, asked: Asked, values: Values, clusters: Clusters | None) -> None:
        shared = asked.problem.shared
        assert shared is not None
        self.asked, self.values, self.shape = asked, values, asked.problem.shape
        self.units = Clusters([], 1, False) if clusters is None else clusters
        self.sizes = np.array([len(own) for own in self.units.members], np.float64)
        count = shared.count if clusters is None else len(clusters.members)
        self.rule: Betting = following_bets(count if shared.pool else 0)
        self.reach, self.size = shared.reach, 1.0
        if clusters is not None:
            self.size = float(self.sizes.mean() if shared.pool else clusters.largest)

    def depth(self, upper: Floats, lower: Floats, claim: Claim) -> int:
        """Return the item at which a claim is proven; 0 if it is not."""
        wealth = purse(self.rule)
        total, square, n = 0.0, 0.0, min(len(upper), len(lower))
        body = watch_item
        for t in range(n):
            value = upper[t] - lower[t]
            code = body(self.rule, wealth, value, t, total, square, claim)
            if code != OPEN:
                return t + 1 if code == PROVEN else 0
            total, square = total + value, square + value * value
        return 0

    def _with_slack(self, sums: Floats, shift: float) -> Floats:
        """Return an arm's sums, with the slack of all items where that is added to them."""
        return sums + shift * self.sizes[: len(sums)] if self.units.within else sums

    def covers(self, kind: int, i: int, j: int, d: int) -> list[list[int]] | None:
        """Return claims of i against all arms of j in a dim; None if one is missing."""
        shape, delta = self.shape, self.asked.delta
        epsilon = self.asked.goal.epsilons(shape.dims)
        need = shape.groups * (shape.total - shape.sizes[j]) / delta
        shift = 0.0
        if kind == WON:
            need, shift = shape.groups * shape.dims * shape.sizes[i] / delta, float(epsilon[d])
        claim = Claim(shift, float(self.reach[d]), need * (1.0 + 1e-9), kind == OVER)
        if self.units.within:
            claim = on_units(claim, float(self.units.largest))
        else:
            reach = claim.reach * self.units.largest
            claim = claim._replace(shift=shift * self.size, reach=reach)
        found = []
        order = sorted(
            (m for m in range(shape.sizes[i]) if len(self.values[i][m])),
            key=lambda m: -float(self.values[i][m][:, d].mean()),
        )
        for k in range(shape.sizes[j]):
            lower = self.values[j][k][:, d]
            depths = (
                (m, self.depth(self._with_slack(self.values[i][m][:, d], shift), lower, claim))
                for m in order
            )
            good = next(((m, t) for m, t in depths if t), None)
            if good is None:
                return None
            found.append([kind, i, good[0], j, k, d, good[1]])
        return found

    def claims(self) -> list[list[int]]:
        """Return the claims for all statuses; what is missing shows when the document is checked."""
        status, N, D = np.asarray(self.asked.status), self.shape.groups, self.shape.dims
        rows: list[list[int]] = []
        for k in np.flatnonzero(status == Status.OUT).tolist():
            for i in range(N):
                parts = [self.covers(OVER, i, k, d) if i != k else None for d in range(D)]
                if all(part is not None for part in parts):
                    rows += [row for part in parts for row in part or ()]
                    break
        rest = np.flatnonzero(status != Status.OUT).tolist()
        for i in np.flatnonzero(status == Status.IN).tolist():
            for j in rest:
                parts = (self.covers(WON, i, j, d) for d in range(D)) if i != j else iter(())
                rows += next((part for part in parts if part is not None), [])
        return rows
