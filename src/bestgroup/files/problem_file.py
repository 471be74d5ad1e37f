"""Problem files: `load_spec` reads the TOML that every command takes.

::

    name = "bundles"               # optional: the file's name without .toml
    delta = 0.05                   # optional: 0.01
    worth = "best"                 # optional: of a group; "mean", "worst", ["kth", 2], ["quantile", 0.9]
    algorithm = "auto"             # optional: the one that an expert would pick
    [options]                      # optional: options of the algorithm
    [goal]
    kind = "pareto"                # or "best", with weights
    epsilon = 0.02                 # a number, a list, or a table by dim
    [dims]
    profit = "max"                 # or { direction = "max", unit = "EUR", low = 0, high = 100 }
    returns = "min"
    latency = "watch"              # measured and stored; enters no decision
    [require]                      # optional: limits that the mean of an arm must keep for it to count
    latency = ["<=", 2.0, 0.1]     # a tolerance as third entry; also of a watched dim
    [noise]
    kind = "subgaussian"           # or "bounded" (low, high), "gaussian", "bernoulli"
    scale = 0.5                    # a number, a list, or a table by dim
    [groups]
    "bundle A" = ["a1", "a2"]
    [cost]                         # optional: a number for each arm, or a table of them by group
    [items]                        # optional: all arms are scored on the same items
    count = 797                    # none for an endless stream; target = "pool" or "population"
    file = "items.txt"             # optional: their names, one a line; or names = [...]
    [table]                        # optional: names of the columns group, arm, item; ignore = [...]
    [evaluate]                     # optional: python = "module:function", or command = "..."
    [law]                          # optional: normal, fully-dependent, bernoulli, beta; scale or cov
    [means]                        # for simulation and theory: a row of numbers an arm
    "bundle A" = [[0.2, 0.9], [0.4, 0.1]]

The library knows only dims that are better when larger. So `Spec.instance` and `Spec.goal` speak of
the *decided* dims, in the order of the file, without the watched ones, and a dim to be minimised is
mirrored: its means are negated (or taken from low + high where values have a range, so that they
stay in it; a shift changes no decision). Lists by dim, and rows of [means], follow the decided dims, then
watched ones with a limit; a row of [means] may also hold all dims.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.selection import pick
from bestgroup.errors import InvalidInput
from bestgroup.files.columns import Columns, check_columns
from bestgroup.files.parts import (
    measured_dims,
    named,
    read_algorithm,
    read_costs,
    read_dims,
    read_evaluator,
    read_goal,
    read_groups,
    read_items,
    read_law,
    read_means,
    read_noise,
)
from bestgroup.files.schema import Tables, read_tables
from bestgroup.problem.arrays import Floats, probability
from bestgroup.problem.goals import Goal
from bestgroup.problem.instance import Instance
from bestgroup.problem.items import Items
from bestgroup.problem.laws import Bernoulli, Law
from bestgroup.problem.noise import Noise
from bestgroup.problem.problem import Dim, Problem, check_reserve
from bestgroup.problem.require import Limit, plain_require
from bestgroup.problem.shape import Shape
from bestgroup.problem.worth import BEST, Worth, check_worth


@dataclass(frozen=True)
class Spec:
    """A problem file, checked. Groups, arms and dims are names, in the order of the file."""

    path: Path
    name: str
    delta: float
    algorithm: Algorithm
    goal: Goal
    dims: tuple[Dim, ...]
    noise: Noise
    law: Law
    groups: tuple[str, ...]
    arms: tuple[tuple[str, ...], ...]
    costs: tuple[tuple[float, ...], ...] | None = None  # one for each arm; 1 where none is given
    evaluate: dict[str, str] = field(default_factory=dict)  # {"python": ...} or {"command": ...}
    means: tuple[Floats, ...] | None = None  # [K_i, D] a group, decided dims, as in the file
    why: str | None = None  # why "auto" picked the algorithm
    items: Items | None = None  # that all arms are scored on
    reserve: int = 0  # arms that may join a study later
    options: dict[str, Any] = field(default_factory=dict)  # of the algorithm, as in the file
    law_table: dict[str, Any] | None = None  # [law] as in the file
    columns: Columns = field(default_factory=Columns)  # what the columns of tables are called
    limits: tuple[Limit, ...] = ()  # that the mean of an arm must keep
    worth: Worth = BEST  # of a group

    @property
    def decided(self) -> tuple[Dim, ...]:
        """The dims that decide, in the order of the goal and of the instance."""
        return tuple(dim for dim in self.dims if dim.direction != "watch")

    @cached_property
    def problem(self) -> Problem:
        """What the file says of the experiment itself."""
        return Problem(
            dict(zip(self.groups, self.arms, strict=True)),
            {dim.name: dim for dim in self.dims},
            self.noise,
            None
            if self.costs is None
            else {
                group: dict(zip(arms, row, strict=True))
                for group, arms, row in zip(self.groups, self.arms, self.costs, strict=True)
            },
            items=self.items,
            reserve=self.reserve,
            require=plain_require(self.limits),
            worth=self.worth,
        )

    def instance(self) -> Instance:
        """Return the instance that [means] describes: min dims mirrored, watched dims dropped."""
        if self.means is None:
            raise InvalidInput(
                f"{self.path}: means: is missing; simulation and theory need the mean of every arm"
            )
        dims = [dim.name for dim in self.problem.measured]
        try:
            made = Instance(
                [self.mirror(rows) for rows in self.means],
                law=self.law,
                noise=self.noise,
                groups=self.groups,
                arms=self.arms,
                dims=dims,
                require=self._mirrored_limits(),
                worth=self.worth,
                watch=dims[len(self.decided) :],
            )
        except InvalidInput as error:
            raise InvalidInput(f"{self.path}: {error}") from None
        if made.measure is not None:  # limits are told as the file has them
            made.measure = replace(made.measure, limits=self.limits)
        return made

    def _mirrored_limits(self) -> dict[str, Any]:
        """Return the limits in the library's view."""
        dims = self.problem.measured
        names = [dim.name for dim in dims]
        turned: list[Limit] = []
        for limit in self.limits:
            d, at = names.index(limit.dim), np.full(len(dims), limit.at)
            sense = limit.sense
            if dims[d].direction == "min":
                sense = ">=" if sense == "<=" else "<="
            turned.append(replace(limit, sense=sense, at=float(self.mirror(at)[d])))
        return plain_require(turned)

    def mirror(self, values: Any) -> Floats:
        """Return values [..., D] of decided dims from the file's view to the library's, or back."""
        # Means of successes must stay in [0, 1] whatever the noise model is.
        return self.problem.mirror(values, 1.0 if isinstance(self.law, Bernoulli) else None)


def load_spec(path: str | os.PathLike[str]) -> Spec:
    """Return the problem that a TOML file describes; mistakes are named with their key.

    >>> load_spec("no-such-file.toml")
    Traceback (most recent call last):
    ...
    bestgroup.errors.InvalidInput: no-such-file.toml: there is no such file
    """
    file = Path(path)
    try:
        return _build(file, read_tables(file))
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error}") from None


def _as_given(law: Any) -> dict[str, Any] | None:
    """Return [law] as it stands in the file: one table, or one for each dim."""
    if isinstance(law, dict):
        return {name: table.model_dump(exclude_none=True) for name, table in law.items()}
    return None if law is None else law.model_dump(exclude_none=True)


def _build(path: Path, tables: Tables) -> Spec:
    dims, groups = read_dims(tables), read_groups(tables)
    limits, measured, ranked = measured_dims(tables, dims)
    worth = named("worth", lambda: check_worth(tables.worth))
    goal = read_goal(tables, dims)
    noise = read_noise(tables, ranked)
    items, shared = read_items(tables, path.parent), None
    if items is not None:
        noise = named("items", noise.on_shared_items)
        reach = named("items", lambda: noise.reaches(len(measured)))
        shared = items.shared(reach.tolist())
    sizes, delta = (
        tuple(map(len, groups.values())),
        named("delta", lambda: probability(tables.delta)),
    )
    reserve = named("reserve", lambda: check_reserve(tables.reserve))
    room = sum(sizes) + reserve if reserve else 0
    asked = Problem(
        groups, {d.name: d for d in dims}, noise, items=items, require=tables.require, worth=worth
    )
    shape = Shape(sizes, len(measured), room)
    setting = Setting(shape, goal, noise, delta, None, shared, asked.measure)
    return Spec(
        path=path,
        name=tables.name or path.stem,
        delta=delta,
        algorithm=read_algorithm(tables, setting),
        goal=goal,
        dims=dims,
        noise=noise,
        law=read_law(tables, ranked, noise),
        groups=tuple(groups),
        arms=tuple(groups.values()),
        costs=read_costs(tables),
        evaluate=read_evaluator(tables),
        means=read_means(tables, dims, measured),
        why=pick(setting, tables.options.get("batch"))[1] if tables.algorithm == "auto" else None,
        items=items,
        reserve=reserve,
        options=dict(tables.options),
        law_table=_as_given(tables.law),
        limits=limits,
        worth=worth,
        columns=check_columns(None if tables.table is None else tables.table.model_dump()),
    )
