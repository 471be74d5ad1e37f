"""The parts of a problem file, checked against each other and turned into the library's objects.

Every refusal is one sentence that begins with the key; `spec` puts the file's name before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import algorithm, resolve
from bestgroup.errors import InvalidInput
from bestgroup.files.schema import NoiseTable, Tables, key_of
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import Goal, goal_from_dict
from bestgroup.problem.items import Items
from bestgroup.problem.laws import Bernoulli, FullyDependent, IndependentDims, Law, Normal
from bestgroup.problem.noise import (
    Noise,
    NoiseByDim,
    beta_law,
    check_kind,
    entries_of,
    in_range,
    noise_by_dim,
)
from bestgroup.problem.problem import Dim, arm_costs, check_dims, check_groups
from bestgroup.problem.require import Limit, check_require

T = TypeVar("T")


def named(key: str, make: Callable[[], T]) -> T:
    """Return make(); a refusal begins with the key instead of the library's name for it."""
    try:
        return make()
    except InvalidInput as error:
        raise InvalidInput(
            f"{key}: {str(error).removeprefix(key.rpartition('.')[2] + ' ')}"
        ) from None


def read_dims(tables: Tables) -> tuple[Dim, ...]:
    """Return the dims, of which at least one decides."""
    return _placed("dims", "the dim", tables.dims, check_dims)


def read_groups(tables: Tables) -> dict[str, tuple[str, ...]]:
    """Return the arms of every group."""
    return _placed("groups", "the group", tables.groups, check_groups)


def _placed(key: str, what: str, given: dict[str, Any], check: Callable[[Any], T]) -> T:
    """Return check(given); a refusal begins with the key in place of the name of what is wrong."""
    try:
        return check(given)
    except InvalidInput as error:
        sentence = str(error)
        for name in given:
            if f"{what} {name!r}" in sentence:
                sentence = sentence.replace(f" of {what} {name!r}", "")
                sentence = sentence.removeprefix(f"{what} {name!r} ")
                raise InvalidInput(f"{key_of([key, name])}: {sentence}") from None
        raise InvalidInput(f"{key}: {sentence.removeprefix(f'{key} ')}") from None


def measured_dims(
    tables: Tables, dims: Sequence[Dim]
) -> tuple[tuple[Limit, ...], tuple[Dim, ...], tuple[Dim, ...]]:
    """Return the limits, the dims that are measured, and all dims with those first.

    A dim that is only watched but has a limit is measured as one that decides is.
    """
    limits = named("require", lambda: check_require(tables.require, [dim.name for dim in dims]))
    limited = {limit.dim for limit in limits}
    decided = [dim for dim in dims if dim.direction != "watch"]
    watched = [dim for dim in dims if dim.direction == "watch"]
    more = [replace(dim, direction="max") for dim in watched if dim.name in limited]
    rest = [dim for dim in watched if dim.name not in limited]
    return limits, (*decided, *more), (*decided, *more, *rest)


def values_by_dim(given: Any, dims: Sequence[Dim], key: str) -> float | list[float]:
    """Return one number, or one for each decided dim."""
    if isinstance(given, float):
        return given
    decided = [dim.name for dim in dims if dim.direction != "watch"]
    if isinstance(given, list):
        if len(given) != len(decided):
            raise InvalidInput(
                f"{key}: must have one entry for each of the {len(decided)} decided dims "
                f"({', '.join(decided)}); got {len(given)}"
            )
        return given
    _check_keys(given, dims, key)
    for name in decided:
        if name not in given:
            raise InvalidInput(f"{key}: the entry for the dim {name!r} is missing")
    return [given[name] for name in decided]


def _check_keys(given: dict[str, float], dims: Sequence[Dim], key: str) -> None:
    """Refuse a table by dim that names a dim which does not decide."""
    known = {dim.name: dim.direction for dim in dims}
    for name in given:
        if known.get(name, "watch") == "watch":
            why = "is only watched and takes none" if name in known else "is not in [dims]"
            raise InvalidInput(f"{key_of([*key.split('.'), name])}: the dim {name!r} {why}")


def read_goal(tables: Tables, dims: Sequence[Dim]) -> Goal:
    """Return the goal, its numbers in the order of the decided dims."""
    given = tables.goal.model_dump(exclude_none=True)
    for key in ("epsilon", "weights"):
        if isinstance(given.get(key), dict):
            _check_keys(given[key], dims, f"goal.{key}")
    if isinstance(given.get("weights"), list):
        for vertex in given["weights"]:
            if isinstance(vertex, dict):
                _check_keys(vertex, dims, "goal.weights")
    return goal_from_dict(given, [dim.name for dim in dims if dim.direction != "watch"])


def configure(name: str, options: dict[str, Any], setting: Setting) -> Algorithm:
    """Return the algorithm of that name, which fits the setting; "auto" picks one for it."""
    if "name" in options:  # it would be taken for the function's own argument
        raise InvalidInput(f"algorithm {name!r} has no option 'name'")
    return resolve(name, setting, **options)


def read_algorithm(tables: Tables, setting: Setting) -> Algorithm:
    """Return the configured algorithm, which answers the goal."""
    name = tables.algorithm
    if name != "auto":
        kind = named("algorithm", lambda: algorithm(name))
        if not isinstance(setting.goal, kind.goals):
            raise InvalidInput(
                f"algorithm: {name!r} does not answer the goal's kind, {tables.goal.kind!r}"
            )
    return named("options", lambda: configure(name, tables.options, setting))


def read_noise(tables: Tables, dims: Sequence[Dim]) -> Noise:
    """Return the noise model; the range of a bounded one may stand with the dims instead."""
    table = tables.noise
    if isinstance(table, dict):
        return _noise_by_dim(table, dims)
    if table is None:
        if not all(dim.range for dim in dims if dim.direction != "watch"):
            raise InvalidInput(
                "noise: is missing; it can be left out only if every decided dim has low and high"
            )
        return _one_noise(NoiseTable(kind=in_range(0.0, 1.0).kind), dims)
    return _one_noise(table, dims)


def _noise_by_dim(table: dict[str, NoiseTable], dims: Sequence[Dim]) -> Noise:
    """Return the models of the decided dims, each from a table of its own."""
    decided = {dim.name: dim for dim in dims if dim.direction != "watch"}
    models: dict[str, Any] = {}
    for name, entry in table.items():
        if name not in decided:
            raise InvalidInput(f"noise.{name}: is no decided dim; those are {', '.join(decided)}")
        models[name] = named(f"noise of {name}", partial(_one_noise, entry, [decided[name]]))
    return named("noise", lambda: noise_by_dim(models, list(decided)))


def _one_noise(table: NoiseTable, dims: Sequence[Dim]) -> Noise:
    """Return the noise model of a table."""
    known = named("noise.kind", lambda: entries_of(table.kind))
    for key in ("scale", "low", "high", "method", "difference"):
        if getattr(table, key) is not None and key not in known:
            raise InvalidInput(f"noise: the kind {table.kind!r} has no {key}")
    model = check_kind(table.kind)
    entries: dict[str, Any] = {"dependence": table.dependence}
    for key in known:
        given = getattr(table, key)
        if key in ("low", "high"):
            entries[key] = _range_end(table, dims, key)
        elif isinstance(given, float | list | dict):
            entries[key] = values_by_dim(given, dims, f"noise.{key}")
        elif given is not None:
            entries[key] = given
        elif key in model.needed:
            raise InvalidInput(f"noise.{key}: is missing; the kind {table.kind!r} needs it")
    return _noise_of(lambda: model(**entries))


def _noise_of(make: Callable[[], Noise]) -> Noise:
    """Return make(); a refusal that begins with an entry begins with its key instead."""
    try:
        return make()
    except InvalidInput as error:
        word, _, rest = str(error).partition(" ")
        is_entry = word in NoiseTable.model_fields and rest.startswith("must")
        raise InvalidInput(f"noise.{word}: {rest}" if is_entry else f"noise: {error}") from None


def read_items(tables: Tables, folder: Path) -> Items | None:
    """Return the items that all arms are scored on; their names may stand in a file, one a line."""
    table = tables.items
    if table is None:
        return None
    names = table.names
    if table.file is not None:
        if names is not None:
            raise InvalidInput("items: give names or file, not both")
        try:
            names = (folder / table.file).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"items.file: {table.file} cannot be read: {error}") from None
        names = [name.strip() for name in names if name.strip()]
    floor = table.floor
    if isinstance(floor, list):
        raise InvalidInput("items.floor: must be a number or a table by dim")
    return named(
        "items",
        lambda: Items(
            count=table.count,
            target=table.target,
            names=None if names is None else tuple(names),
            clusters=None if table.clusters is None else tuple(table.clusters),
            repeats=table.repeats,
            floor=floor,  # type: ignore[arg-type]
            largest=table.largest,
        ),
    )


def _range_end(table: NoiseTable, dims: Sequence[Dim], end: str) -> float | list[float]:
    """Return an end of the range of what is judged, from the noise or from the dims."""
    given = getattr(table, end)
    if given is not None:
        return values_by_dim(given, dims, f"noise.{end}")
    decided = [dim for dim in dims if dim.direction != "watch"]
    if not all(getattr(dim, end) is not None or dim.clip for dim in decided):
        raise InvalidInput(f"noise.{end}: is missing; give it here or with every decided dim")
    ends = [dim.clip[end == "high"] if dim.clip else getattr(dim, end) for dim in decided]
    pairs = zip(decided, ends, strict=True)
    return [float(dim.treat(np.array([value]))[0]) for dim, value in pairs]


def read_law(tables: Tables, dims: Sequence[Dim], noise: Noise) -> Law:
    """Return the law of the mirrored rewards.

    Without [law] it is normal with the scale of the noise, for bounded values a beta law whose
    standard deviation is a sixth of the range, and for successes and failures themselves.
    """
    table = tables.law
    count = sum(dim.direction != "watch" for dim in dims)
    if isinstance(noise, NoiseByDim):
        return _law_by_dim(table, noise)
    if isinstance(table, dict):
        raise InvalidInput("law: a table for each dim goes with a noise model for each dim")
    if table is None:
        return noise.law(count)
    if table.kind == "bernoulli":
        if table.scale is not None or table.cov is not None:
            raise InvalidInput("law: the kind 'bernoulli' has neither scale nor cov")
        return Bernoulli()
    if table.kind == "beta":
        if noise.law_kind != "beta":
            raise InvalidInput("law: the kind 'beta' needs noise of the kind 'bounded'")
        if table.scale is None or table.cov is not None:
            raise InvalidInput("law: the kind 'beta' needs a scale, its standard deviation")
        spread = values_by_dim(table.scale, dims, "law.scale")
        return named("law.scale", lambda: beta_law(spread, noise, count))
    if noise.has_range:
        raise InvalidInput(f"law: {table.kind!r} rewards leave the range that [noise] promises")
    if table.scale is not None and table.cov is not None:
        raise InvalidInput("law: takes a scale or a cov, not both")
    signs = np.array(
        [-1.0 if d.direction == "min" else 1.0 for d in dims if d.direction != "watch"]
    )
    if table.cov is not None:
        if table.kind != "normal":
            raise InvalidInput(
                f"law.cov: only the kind 'normal' has one; the kind is {table.kind!r}"
            )
        return named("law.cov", lambda: _mirrored_cov(table.cov, signs))
    own = noise.law_scale if table.scale is None else values_by_dim(table.scale, dims, "law.scale")
    if table.kind == "normal":
        return named("law.scale", lambda: Normal(own))
    law = named("law.scale", lambda: FullyDependent(own))
    if (signs == signs[0]).all():
        return law
    # The shared variable moves a mirrored dim the other way, which FullyDependent cannot say.
    shared = signs * law.scales(len(signs))
    return Normal(cov=np.outer(shared, shared).tolist())


def _law_by_dim(table: Any, noise: NoiseByDim) -> Law:
    """Return a law for each dim: that of its table, or the one that goes without saying."""
    if table is not None and not isinstance(table, dict):
        raise InvalidInput("law: with noise by dim there must be a table for each dim")
    given: dict[str, Any] = table or {}
    for name in given:
        if name not in noise.names:
            raise InvalidInput(f"{key_of(['law', name])}: is no decided dim")
    laws: list[Any] = []
    for name, model in zip(noise.names, noise.models, strict=True):
        own, key = given.get(name), key_of(["law", name])
        if own is None or own.kind == "bernoulli":
            if own is not None and model.law_kind != own.kind:
                raise InvalidInput(f"{key}: 'bernoulli' rewards need that noise")
            laws.append(model.law(1))
            continue
        if not isinstance(own.scale, float) or own.cov is not None:
            raise InvalidInput(f"{key}: needs a scale, one number")
        if own.kind != model.law_kind:
            raise InvalidInput(f"{key}: {own.kind!r} rewards do not go with {model.kind} noise")
        made = partial(Normal, own.scale)
        if own.kind == "beta":
            made = partial(beta_law, own.scale, model, 1)
        laws.append(named(f"{key}.scale", made))
    return IndependentDims(tuple(laws))


def _mirrored_cov(cov: Any, signs: Floats) -> Law:
    law = Normal(cov=cov)
    law.factor(len(signs))
    return Normal(cov=(np.outer(signs, signs) * np.array(cov)).tolist())


def read_costs(tables: Tables) -> tuple[tuple[float, ...], ...] | None:
    """Return the cost of every arm, 1 where none is given; None without any."""
    return arm_costs(tables.groups, tables.cost, key_of)


def read_evaluator(tables: Tables) -> dict[str, str]:
    """Return {"python": ...} or {"command": ...}, or nothing."""
    if tables.evaluate is None:
        return {}
    given = tables.evaluate.model_dump(exclude_none=True)
    if len(given) != 1:
        raise InvalidInput("evaluate: must have either python or command")
    return given


def read_means(
    tables: Tables, dims: Sequence[Dim], decided: Sequence[Dim]
) -> tuple[Floats, ...] | None:
    """Return the means of the decided dims, [K_i, D] a group, as they stand in the file."""
    if tables.means is None:
        return None
    for group in tables.means:
        if group not in tables.groups:
            raise InvalidInput(
                f"{key_of(['means', group])}: the group {group!r} is not in [groups]"
            )
    names = [dim.name for dim in dims]
    keep = [names.index(dim.name) for dim in decided]
    result: list[Floats] = []
    for group, arms in tables.groups.items():
        key = key_of(["means", group])
        if group not in tables.means:
            raise InvalidInput(f"{key}: is missing; every group needs its means")
        rows = tables.means[group]
        if len(rows) != len(arms):
            raise InvalidInput(
                f"{key}: must have one row for each of the {len(arms)} arms; got {len(rows)}"
            )
        for arm, row in zip(arms, rows, strict=True):
            _check_row(row, f"{key}: the row of {arm!r}", dims, decided)
        result.append(np.array([r if len(r) == len(decided) else np.array(r)[keep] for r in rows]))
        _check_range(result[-1], key, arms, decided)
    return tuple(result)


def _check_row(row: list[float], what: str, dims: Sequence[Dim], decided: Sequence[Dim]) -> None:
    if len(row) not in (len(decided), len(dims)):
        names = ", ".join(dim.name for dim in decided)
        more = "" if len(dims) == len(decided) else f", or of all {len(dims)} with the watched ones"
        raise InvalidInput(
            f"{what} must have {len(decided)} numbers ({names}){more}; got {len(row)}"
        )


def _check_range(rows: Floats, key: str, arms: Sequence[str], decided: Sequence[Dim]) -> None:
    for arm, row in zip(arms, rows, strict=True):
        for value, dim in zip(row.tolist(), decided, strict=True):
            low, high = dim.range or (dim.low, dim.high)
            if dim.transform is not None and dim.range is None:
                continue  # means are of what is judged, one end alone is of what is measured
            if low is not None and value < low:
                raise InvalidInput(
                    f"{key}: {dim.name} of {arm!r} must be at least {low:g}, the low of that "
                    f"dim; got {value:g}"
                )
            if high is not None and value > high:
                raise InvalidInput(
                    f"{key}: {dim.name} of {arm!r} must be at most {high:g}, the high of that "
                    f"dim; got {value:g}"
                )
