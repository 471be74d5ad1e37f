"""A problem file from pilot data: names, noise, spreads, means and an epsilon to begin with.

What the data cannot say is guessed and marked as such in the file: which dims are to be minimised, and
what the noise may be assumed to be (`guess`). The spreads that were measured go into [law], so that
`plan` and `simulate` draw values like those that were seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.analysis.certify import directions
from bestgroup.analysis.guess import Guess, clipped, guess
from bestgroup.errors import InvalidInput
from bestgroup.files.columns import Columns, check_columns
from bestgroup.files.observations import Table
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import ParetoGroups
from bestgroup.problem.noise import Dependence, Noise, NoiseByDim, of_one_kind
from bestgroup.problem.problem import Problem

Stacks = dict[str, dict[str, Floats]]  # group: arm: [n, dims], NaN where a dim is missing


@dataclass(frozen=True)
class Pilot:
    """What pilot data suggest."""

    problem: Problem
    goal: ParetoGroups
    means: tuple[Floats, ...]  # [K_i, decided dims] for each group, of what is judged
    law: dict[str, Any]  # the table [law]: how values like those that were seen are drawn
    rows: int
    columns: Columns
    guesses: tuple[str, ...]  # what was guessed and why, and what was ignored
    notes: dict[str, str]  # comments for the file, by table


def read_pilot(
    source: Any, minimise: Sequence[str] = (), watch: Sequence[str] = (), columns: Any = None
) -> Pilot:
    """Return the problem that a table of pilot observations suggests.

    `columns` says what the columns are called, as in `certify`.
    """
    wanted = check_columns(columns)
    table = Table(source, None, wanted, keep=(*minimise, *watch), gaps=True)
    way = directions(table, minimise, watch)
    if all(direction == "watch" for direction in way.values()):
        raise InvalidInput(f"{table.name}: at least one dim must not be watched")
    stacks = _stacks(table)
    decided = [dim for dim in table.dims if way[dim] != "watch"]
    found = {dim: guess(_values(stacks, table.dims.index(dim), dim)) for dim in decided}
    noise, found, why = _together(found, table.has_items)
    dims = {dim: _dim(way[dim], found.get(dim)) for dim in table.dims}
    problem = Problem({g: list(arms) for g, arms in stacks.items()}, dims, noise)
    judged = {
        g: {a: problem.judged(x) for a, x in arms.items()} for g, arms in stacks.items()
    }  # [n, decided dims]
    spread, repeats = _spread(judged)
    exact = _means(judged, problem)
    goal, words = _goal(problem, exact, spread)
    means = _rounded(exact, spread)
    rows = sum(len(x) for arms in stacks.values() for x in arms.values())
    guesses = [f"{dim} ({way[dim]}): {found[dim].kind}: {found[dim].why}" for dim in decided]
    law = _law(problem.noise, decided, spread)
    how = (
        "standard deviations within an arm, as measured"
        if repeats
        else ("no arm was measured twice: a sixth of what was seen, a guess")
    )
    return Pilot(
        problem,
        goal,
        means,
        law,
        rows,
        wanted,
        (*table.notes, *guesses, *why),
        {
            "goal": words,
            "dims": 'directions are guesses: "max", "min" or "watch"',
            "noise": "\n".join(("a guess; check it:", *guesses, *why)),
            "law": f"for plan and simulate: {how}",
            "means": f"means of {rows:,} pilot observations: guesses for plan and simulate",
        },
    )


def _stacks(table: Table) -> Stacks:
    parts: dict[str, dict[str, list[Floats]]] = {}
    for portion in table.portions():
        for group, arm, block in portion.by_arm():
            parts.setdefault(group, {}).setdefault(arm, []).append(block)
    if not parts:
        raise InvalidInput(f"{table.name}: there are no observations")
    return {g: {a: np.concatenate(b) for a, b in arms.items()} for g, arms in parts.items()}


def _values(stacks: Stacks, k: int, dim: str) -> list[Floats]:
    """Return what there is of one dim, an array for each arm."""
    result = []
    for group, arms in stacks.items():
        for arm, block in arms.items():
            column = block[:, k]
            result.append(column[np.isfinite(column)])
            if not len(result[-1]):
                raise InvalidInput(
                    f"the arm {arm!r} of {group!r} has no value of {dim}; ignore that dim, or leave "
                    "the arm out"
                )
    return result


def _together(
    found: dict[str, Guess], items: bool
) -> tuple[Noise | dict[str, Noise], dict[str, Guess], tuple[str, ...]]:
    """Return the noise of all dims, what then is done to each, and why."""
    why: tuple[str, ...] = ()
    if items:
        why = (
            "all arms were measured on the same items, so they may depend on each other; a table "
            "[items] would let differences on the same item decide",
        )
        if not all(one.noise.has_range for one in found.values()):
            why = (*why, "differences on items need a range, so dims taken for normal are clipped")
        found = {dim: one if one.noise.has_range else clipped(one) for dim, one in found.items()}
    arms: Dependence = "arbitrary" if items else "independent"
    models = {dim: one.model(arms) for dim, one in found.items()}
    return of_one_kind(list(models.values())) or models, found, why


def _dim(direction: str, found: Guess | None) -> dict[str, Any]:
    entries: dict[str, Any] = {"direction": direction}
    if found is not None and found.log:
        entries["transform"] = "log"
    if found is not None and found.clip:
        entries["clip"] = [found.low, found.high]
    elif found is not None and found.noise.law_kind == "beta":
        entries |= {"low": found.low, "high": found.high}
    return entries


def _spread(judged: Stacks) -> tuple[Floats, bool]:
    """Return the standard deviation within arms, [D], and whether there is one to be measured."""
    blocks = [x for arms in judged.values() for x in arms.values()]
    squares, freedom = 0.0, 0.0
    for x in blocks:
        n = np.isfinite(x).sum(axis=0)
        squares = squares + np.nansum((x - np.nanmean(x, axis=0)) ** 2, axis=0)
        freedom = freedom + np.maximum(n - 1, 0)
    seen = np.concatenate(blocks)
    range_ = np.nanmax(seen, axis=0) - np.nanmin(seen, axis=0)
    measured = np.sqrt(squares / np.maximum(freedom, 1))
    return np.where(freedom > 0, measured, range_ / 6), bool(np.all(freedom > 0))


def _means(judged: Stacks, problem: Problem) -> tuple[Floats, ...]:
    """Return the means; where a beta law will spread values, strictly inside the range."""
    models = problem.noise.each(problem.shape.dims)
    result = []
    for arms in judged.values():
        rows = []
        for x in arms.values():
            mean = np.nanmean(x, axis=0)
            for d, model in enumerate(models):
                if model.law_kind == "beta":
                    low, high = (float(end[0]) for end in model.ends(1))
                    edge = (high - low) * 1e-3
                    mean[d] = min(max(mean[d], low + edge), high - edge)
            rows.append(mean)
        result.append(np.array(rows))
    return tuple(result)


def _rounded(means: Sequence[Floats], spread: Floats) -> tuple[Floats, ...]:
    """Return means of six digits, or as many as tell them apart where all are far from 0."""
    every = np.concatenate(means)
    unit = np.minimum(spread, np.ptp(every, axis=0))
    unit = np.where(unit > 0, unit, np.maximum(spread, np.ptp(every, axis=0)))

    def one(value: float, unit: float) -> float:
        digits = 6
        if unit > 0 and value:
            digits = max(digits, 4 + math.ceil(math.log10(abs(value) / unit)))
        return float(f"{value:.{min(digits, 17)}g}")

    return tuple(
        np.array([[one(v, u) for v, u in zip(row, unit, strict=True)] for row in rows])
        for rows in means
    )


def _goal(problem: Problem, means: Sequence[Floats], spread: Floats) -> tuple[ParetoGroups, str]:
    """Return a slack to begin with, and what it means."""
    efficiency = np.array([problem.mirror(rows).max(axis=0) for rows in means])
    between = efficiency.max(axis=0) - efficiency.min(axis=0)
    size = np.abs(efficiency).max(axis=0)
    wide = np.where(between > 0, between, np.where(size > 0, size, 1.0)) / 20
    epsilon = np.array([float(f"{value:.2g}") for value in np.maximum(wide, spread / 5)])
    shape = problem.shape
    level = math.log(shape.dims * (shape.total + shape.groups) / 0.05)
    pulls = float(f"{max(8 * level * float(((spread / epsilon) ** 2).max()), 1.0):.2g}")
    words = (
        "epsilon: what you would not pay to tell apart. This one is a twentieth of the spread between\n"
        "groups, or a fifth of the standard deviation within arms where that is more: to tell so much\n"
        f"apart takes about {pulls:,.0f} pulls of an arm"
    )
    return ParetoGroups(
        dict(zip([d.name for d in problem.decided], epsilon.tolist(), strict=True))
    ), words


def _law(noise: Noise, dims: Sequence[str], spread: Floats) -> dict[str, Any]:
    """Return the table [law]: values that spread as those that were seen."""
    tables: dict[str, dict[str, Any]] = {}
    models = noise.each(len(dims))
    for dim, model, scale in zip(dims, models, spread.tolist(), strict=True):
        tables[dim] = {"kind": model.law_kind}
        if model.law_kind == "beta":
            low, high = (float(end[0]) for end in model.ends(1))
            tables[dim]["scale"] = _short(max(scale, 1e-3 * (high - low)))
        elif model.law_kind == "normal":
            tables[dim]["scale"] = _short(scale)
    if isinstance(noise, NoiseByDim):
        return tables
    kind = tables[dims[0]]["kind"]
    if "scale" not in tables[dims[0]]:
        return {"kind": kind}
    return {"kind": kind, "scale": {dim: table["scale"] for dim, table in tables.items()}}


def _short(value: float) -> float:
    return float(f"{value:.4g}")
