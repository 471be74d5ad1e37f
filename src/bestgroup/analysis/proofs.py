"""Proof files of what observations prove: which method, with which shares of delta."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.files.observations import Table
from bestgroup.inference.certificate.items import arm_means
from bestgroup.inference.certificate.within import Basis
from bestgroup.inference.certificate.worths import rests_on_sums
from bestgroup.inference.pivots import about_origin, of_values
from bestgroup.inference.tally import Tally
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.proof.build import Asked, ask
from bestgroup.proof.build_boxes import BoxMethod, box_document
from bestgroup.proof.build_item_selections import data_item_selections
from bestgroup.proof.build_items import Clusters, items_document
from bestgroup.proof.build_map import data_map
from bestgroup.proof.build_pairs import pairs_document
from bestgroup.proof.build_selections import data_selections
from bestgroup.proof.build_top import data_top
from bestgroup.proof.format import read_key, write_proof

if TYPE_CHECKING:
    from bestgroup.analysis.certify import Certificate


def save_proof(found: Certificate, path: Any, key: Any = None) -> str:
    """Write the proof of a certificate; refuses, with the reason, where there is none."""
    if found.guarantee.level != "proven":
        raise InvalidInput(
            f"nothing is proven, so there is no proof file: {found.guarantee.statement}"
        )
    if found.proof_of is None:
        raise InvalidInput("there is no proof file for this kind of data yet")
    secret = None if key is None else read_key(key)
    return write_proof(found.proof_of(found), path, secret)


def data_proof(
    found: Certificate,
    *,
    table: Table,
    came: list[tuple[int, int]] | None = None,
    gaps: bool = False,
) -> dict[str, Any]:
    """Return the proof document of a table that `certify` has judged."""
    columns = {"group": table.roles.group, "arm": table.roles.arm, "item": None, "index": None}
    status = found.verdict.status.tolist()
    asked = ask(found.problem, found.goal, found.delta, table, columns, status, gaps)
    if found.verdict.pairs and found.goal.by_directions:
        assert found.basis is not None
        made = data_map if found.goal.maps else data_top
        return made(asked, one_origin(found.problem, found.basis))
    if found.verdict.pairs:
        if found.goal.worth_weights(found.problem.shape.dims) is not None:
            return data_selections(asked, found.verdict)
        assert found.basis is not None
        return pairs_document(asked, found.verdict, one_origin(found.problem, found.basis))
    return box_document(asked, data_boxes(asked, came))


def items_proof(
    found: Certificate, *, table: Table, order: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the proof document of a table of shared items that `certify` has judged."""
    roles, values = table.roles, found.item_values
    columns = {"group": roles.group, "arm": roles.arm, "item": roles.item, "index": None}
    status = found.verdict.status.tolist()
    asked = ask(found.problem, found.goal, found.delta, table, columns, status)
    assert values is not None and found.problem.items is not None
    count = found.problem.items.count
    complete = found.problem.items.pool and values.is_complete(int(count or 0))
    by = "given" if order is not None or found.problem.items.pool else "digest"
    means = arm_means(values, found.problem.shape)
    means = np.where(np.isnan(means), -np.inf, means)
    items, clusters = found.problem.items, None
    if items.clusters is not None:
        members = [[items.name(k) for k in items.members[name]] for name in values.names]
        clusters = Clusters(members, items.most, not items.pool and items.most > 1)
    return items_document(
        asked, values.values, values.names, by, complete,
        lambda entry: data_item_selections(asked, entry, values.values, means),
        items.repeats, clusters,
    )  # fmt: skip


def one_origin(problem: Problem, basis: Basis) -> Tally:
    """Return the tally as the tests saw it: sums about one origin where the scale is known."""
    if isinstance(problem.noise, SubGaussian):
        return about_origin(basis.tally, basis.pivots)[0]
    return of_values(basis.tally, basis.pivots)


def data_boxes(asked: Asked, came: list[tuple[int, int]] | None = None) -> BoxMethod:
    """Return the shares of boxes: those of all bounds that an error can rest on."""
    shape, measure = asked.problem.shape, asked.problem.measure
    part, sums = Fraction(1, shape.dims * (shape.total + shape.groups)), Fraction(0)
    if measure is not None:
        part = Fraction(1, measure.errors(shape))
        if rests_on_sums(asked.problem.noise, measure):
            part, sums = part / 2, Fraction(1, 4 * measure.dims * shape.groups)
    return BoxMethod(part, part, came=came, sums=sums if came is None else Fraction(0))
