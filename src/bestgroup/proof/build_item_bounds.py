"""Proof documents of maps of weights on shared items: the bounds of all arms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bestgroup.inference.evalues.paired import ladder, lower_mean, lower_mean_of_item, rounding
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.format import parse
from bestgroup.proof.item_bounds import PROCESS, Judge

_ROOM = 1e-9  # of the range: a bound is strict, and rounding has done far less


def item_bounds_document(asked: Asked, entry: dict[str, Any]) -> dict[str, Any]:
    """Return the proof document of what bounds of single arms on shared items prove of a map."""
    method = {**entry, "kind": "item bounds", "process": dict(PROCESS)}
    undecided = replace(asked, status=[int(Status.UNDECIDED)] * len(asked.status))
    proof = parse(document(undecided, method, []))
    judge = Judge(proof, asked.rows)
    return document(asked, method, _claims(judge))


def _claims(judge: Judge) -> list[list[Any]]:
    """Return the bounds of all arms that have passed an item, by all that they have passed."""
    proof, places = judge.proof, judge.places
    need = float(1 / (proof.delta * judge.share))
    rule, size = ladder(judge.rule.pool), float(places.mean_size) if places.pool else places.largest
    sizes = np.array([len(own) for own in places.members], np.float64)
    found: list[list[Any]] = []
    for (i, j), rows in sorted(judge.table.items()):
        n = len(rows)
        for d in range(proof.D if n else 0):
            middle, half = map(float, judge.middle(d))
            values = np.array([float(x) for x in judge.values(i, j, d, n)]) / size
            reach = half * places.largest / size * (1.0 + 1e-12)
            room = _ROOM * half
            for side, turn in ((0, 1.0), (1, -1.0)):
                if places.within:
                    low = float(
                        lower_mean_of_item.compiled(
                            rule, turn * values * size, sizes[:n], half, places.largest, need
                        )
                    )
                else:
                    low = float(lower_mean.compiled(rule, turn * values, reach, need))
                if n == rule.pool:  # the mean is known
                    low = float(turn * values.mean() - 2.0 * rounding(n, n, 0.0, reach) / n)
                low = max(low, -half) - room
                found.append([i, j, d, side, n, middle + turn * low])
    return found
