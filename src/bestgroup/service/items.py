"""Shared items of a study: how far arms have come, what was saved, which items tell groups apart."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, Field

from bestgroup.problem.arrays import Floats, Ints
from bestgroup.service.numbers import short
from bestgroup.service.proof import Proof, Standing

MOST_ITEMS = 12
MOST_CONTENDERS = 200


class ItemRow(BaseModel):
    """An item on which contenders differ."""

    item: str
    spread: dict[str, float | None] = Field(description="largest less least value, by dim")
    best: dict[str, str] = Field(description="the group that has the best value, by dim")


class ItemsOut(BaseModel):
    """The items that all arms are scored on."""

    question: str = Field(description="what the means are that the answer speaks of")
    count: int | None = Field(description="how many there are; none for an endless stream")
    deepest: int = Field(description="items that some arm has done")
    complete: int = Field(description="arms that have done all of them")
    share: float | None = Field(description="evaluations over those of the full table")
    common: int = Field(description="items that the leading arms of all contenders have done")
    contenders: int = Field(description="groups that are in or undecided")
    apart: list[ItemRow] = Field(description="items on which contenders differ most")


def items_out(proof: Proof, now: Standing) -> ItemsOut | None:
    """Return what is known of a study's items; None if its arms share none."""
    problem, tally = proof.spec.problem, proof.certificate.tally
    items = problem.items
    if items is None:
        return None
    counts = tally.counts[problem.shape.exists]
    contenders = [i for i, word in enumerate(now.words) if word in ("in", "undecided")]
    contenders = contenders[:MOST_CONTENDERS]
    leaders: Ints = proof.certificate.explainer.leader[contenders]  # [C, D]
    depth = tally.counts[np.array(contenders)[:, None], leaders] if contenders else np.zeros((1, 1))
    common = int(depth.min())
    full = None if items.count is None else items.count * len(counts)
    return ItemsOut(
        question=items.question(),
        count=items.count,
        deepest=int(counts.max(initial=0)),
        complete=0 if items.count is None else int((counts >= items.count).sum()),
        share=None if full is None else short(float(counts.sum()) / full, 4),
        common=common,
        contenders=len(contenders),
        apart=_apart(proof, contenders, leaders, common),
    )


def _apart(proof: Proof, contenders: list[int], leaders: Ints, common: int) -> list[ItemRow]:
    """Return the items on which the leading arms of contenders differ most, in units of the range."""
    spec, items = proof.spec, proof.spec.problem.items
    shared = spec.problem.shared
    if items is None or shared is None or len(contenders) < 2 or not common:
        return []
    kept = proof.certificate.tally.extra  # [N, K, D, M]  the values, in the order of the items
    dims = [dim.name for dim in spec.problem.decided]
    values: Floats = np.stack(
        [
            kept[np.array(contenders), leaders[:, d], d, :common]  # [C, common]
            for d in range(len(dims))
        ]
    )
    spread = values.max(axis=1) - values.min(axis=1)  # [D, common]
    weight = (spread / np.maximum(np.array(shared.reach), 1e-300)[:, None]).sum(axis=0)
    order = np.argsort(-weight, kind="stable")[:MOST_ITEMS]
    order = order[weight[order] > 0]
    winners = values.argmax(axis=1)  # [D, common]; larger is better in the library's view
    numbers = spec.item_numbers(0, common)
    groups = spec.problem.groups
    return [
        ItemRow(
            item=items.name(numbers[t]),
            spread={name: short(spread[d, t], 4) for d, name in enumerate(dims)},
            best={name: groups[contenders[winners[d, t]]] for d, name in enumerate(dims)},
        )
        for t in order.tolist()
    ]
