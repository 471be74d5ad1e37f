"""Proof files of a study: which method an algorithm's decisions follow from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats
from bestgroup.problem.guarantee import Guarantee
from bestgroup.proof.build import Asked, ask
from bestgroup.proof.build_boxes import BoxMethod, box_document
from bestgroup.proof.build_differences import differences_document
from bestgroup.proof.build_item_selections import study_item_selections
from bestgroup.proof.build_items import Clusters, items_document
from bestgroup.proof.build_limits import limits_document
from bestgroup.proof.build_map import study_map
from bestgroup.proof.build_scouted import scouted_document
from bestgroup.proof.build_selections import study_selections
from bestgroup.proof.build_top import study_top
from bestgroup.proof.format import read_key, write_proof
from bestgroup.proof.observations import INDEX, Observations, add_row, first_link
from bestgroup.studies.observer import sums_of
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.records import Block

COLUMNS: dict[str, str | None] = {"group": "group", "arm": "arm", "item": None, "index": INDEX}


def save_study_proof(
    spec: StudySpec,
    blocks: Sequence[Block],
    status: Sequence[int],
    worth: Guarantee,
    path: Any,
    key: Any = None,
) -> str:
    """Write the proof of an algorithm's decisions; refuses, with the reason, where there is none."""
    if worth.level != "proven":
        raise InvalidInput(f"nothing is proven, so there is no proof file: {worth.statement}")
    secret = None if key is None else read_key(key)
    columns = COLUMNS if spec.problem.items is None else {**COLUMNS, "item": "item"}
    asked = ask(spec.problem, spec.goal, spec.delta, rows_of(spec, blocks), columns, status)
    asked = replace(asked, gone=_gone(spec))
    if spec.problem.items is not None:
        made = _on_items(spec, asked)
    else:
        made = study_document(asked, spec.make_algorithm(), spec.setting())
    if blocks:
        made["data"]["chain"] = {"tells": blocks[-1].number, "link": blocks[-1].chain.hex()}
    return write_proof(made, path, secret)


def _gone(spec: StudySpec) -> list[tuple[str, str]]:
    """Return the arms that have left a study, whose rows are in its export."""
    everyone, here = spec.everyone, spec.problem
    arms = {(g, a) for g, own in zip(here.groups, here.arms, strict=True) for a in own}
    rows = zip(everyone.groups, everyone.arms, strict=True)
    return [(g, a) for g, own in rows for a in own if (g, a) not in arms]


def _on_items(spec: StudySpec, asked: Asked) -> dict[str, Any]:
    """Return the proof document of a study on shared items, in the order that it drew at its start."""
    items, problem = spec.problem.items, spec.problem
    assert items is not None
    values = [
        [_values(asked, i, j) for j in range(len(names))] for i, names in enumerate(problem.arms)
    ]
    deepest = max(len(arm) for group in values for arm in group)
    least = min(len(arm) for group in values for arm in group)
    names = [items.name(k) for k in spec.item_numbers(0, deepest)]
    clusters = None
    if items.clusters is not None:
        names = items.units(spec.seed)
        members = [[items.name(k) for k in items.members[name]] for name in names]
        sizes = np.array([len(own) for own in members], np.int64)
        values = [[sums_of(arm, np.cumsum(sizes)) for arm in group] for group in values]
        # Where all clusters are as large as any can be the run keeps the slack apart.
        differ = not items.pool and int(sizes.min()) < items.most
        clusters = Clusters(members, items.most, differ)
    return items_document(
        asked, values, names, "given", items.pool and least == items.count,
        lambda entry: study_item_selections(asked, entry, spec.make_algorithm(), spec.setting()),
        clusters=clusters,
    )  # fmt: skip


def _values(asked: Asked, i: int, j: int) -> Floats:
    """Return an arm's values [n, D] as the algorithms see them."""
    columns = asked.columns_of(i, j)
    if columns is None:
        return np.zeros((0, asked.problem.shape.dims))
    return asked.problem.mirror(np.array(columns).T)


def rows_of(spec: StudySpec, blocks: Sequence[Block]) -> Observations:
    """Return the rows that an export of a study has, in its order: by group, arm and index."""
    problem = spec.everyone
    dims = [dim.name for dim in problem.measured]
    kept = [problem.dims.index(dim) for dim in problem.measured]
    found = Observations(tuple(dims), link=first_link(dims))
    for block in sorted(blocks, key=lambda block: block.pulls):
        pulls = block.pulls
        names = problem.groups[pulls.group], problem.arms[pulls.group][pulls.arm]
        items = [""] * pulls.size
        if problem.items is not None:
            items = [problem.items.name(k) for k in spec.item_numbers(pulls.first, pulls.stop)]
        for k, row in enumerate(block.values[:, kept].tolist()):
            keys = (*names, items[k]) if problem.items is not None else names
            add_row(found, keys, [*row, float(pulls.first + k)])
    for arm, index in found.index.items():
        if index != list(range(len(index))):
            raise InvalidInput(
                f"observations of {arm[0]}, {arm[1]} are still missing; ask again when they are there"
            )
    return found


def study_document(asked: Asked, algorithm: Algorithm, setting: Setting) -> dict[str, Any]:
    """Return the proof document of what an algorithm has decided."""
    grounds = algorithm.grounds(setting)
    if grounds is None:
        raise InvalidInput(f"there is no proof file for {algorithm.name!r} yet")
    share, history = grounds.share, grounds.once is None
    method = BoxMethod(
        share, share, grounds.radius, history, once=grounds.once, scaled=grounds.scaled,
        sums=grounds.sums, room=setting.shape.room,
    )  # fmt: skip
    if grounds.kind == "limits":
        return limits_document(asked, algorithm, setting)
    if setting.goal.by_directions:
        made = study_map if setting.goal.maps else study_top
        return made(asked, algorithm, setting)
    if grounds.kind == "bounds":
        return box_document(asked, method)
    if grounds.kind == "differences":
        return differences_document(asked, setting)
    if grounds.kind == "warm-up":
        return scouted_document(asked, algorithm, setting)
    return study_selections(asked, algorithm, setting)
