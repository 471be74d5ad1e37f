"""Proof files of what observations prove: which method, with which shares of delta."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bestgroup.errors import InvalidInput
from bestgroup.files.observations import Table
from bestgroup.proof.build import Asked, ask
from bestgroup.proof.build_boxes import BoxMethod, box_document
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
    found: Certificate, *, table: Table, came: list[tuple[int, int]] | None = None
) -> dict[str, Any]:
    """Return the proof document of a table that `certify` has judged."""
    columns = {"group": table.roles.group, "arm": table.roles.arm, "item": None, "index": None}
    asked = ask(
        found.problem, found.goal, found.delta, table, columns, found.verdict.status.tolist()
    )
    if found.verdict.pairs:
        raise InvalidInput("there is no proof file for evidence on pairs of arms yet")
    return box_document(asked, data_boxes(asked, came))


def data_boxes(asked: Asked, came: list[tuple[int, int]] | None = None) -> BoxMethod:
    """Return the shares of boxes: those of all lower bounds and of one best arm of each group."""
    shape = asked.problem.shape
    part = Fraction(1, shape.dims * (shape.total + shape.groups))
    return BoxMethod(part, part, came=came)
