"""`Problem`: what is known of an experiment before any pull.

Groups and arms have names; a dim is to be maximised ("max"), minimised ("min") or only measured
("watch"). The algorithms know neither names nor directions: `Problem.to_internal` turns observations
into what they see, the decided dims with larger being better, and `Problem.to_user` turns their numbers
back. A dim to be minimised is mirrored about the pivot of the noise model: x becomes -x, or low + high
- x for values in a range, which therefore stay in it. A shift changes no decision.

A dim may be clipped and then have its logarithm taken. That happens before anything else: goal, noise
and all numbers that are shown speak of what comes out, and every answer says so. `low`, `high` and
`clip` are in the units of the values as they are measured.

A dim may have a limit (`require`) that an arm's mean must keep for the arm to count. A dim that is only
watched but has a limit is measured for it: it comes after the decided ones in what algorithms see.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.plots.problem import problem_view
from bestgroup.problem.arrays import Bools, Floats, Ints, is_list, is_table, number, numbers
from bestgroup.problem.frames import data_frame
from bestgroup.problem.items import Items, SharedItems, check_items, items_from_dict
from bestgroup.problem.limits import check_name, check_size
from bestgroup.problem.measure import Bound, Measure, check_measure
from bestgroup.problem.noise import Noise, check_noise, in_range, noise_from_dict
from bestgroup.problem.require import Limit, check_require, plain_require
from bestgroup.problem.shape import Shape
from bestgroup.problem.showing import brief, problem_html
from bestgroup.problem.worth import Worth, check_worth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIRECTIONS = ("max", "min", "watch")
TRANSFORMS = ("log",)


@dataclass(frozen=True)
class Dim:
    """One dim of a problem: its name, what is wanted of it, its unit, range and treatment if given."""

    name: str
    direction: str  # "max", "min" or "watch"
    unit: str | None = None
    low: float | None = None
    high: float | None = None
    transform: str | None = None  # "log": the natural logarithm of the values is judged
    clip: tuple[float, float] | None = None  # values are moved into this range first

    @property
    def range(self) -> tuple[float, float] | None:
        """The range of what is judged, if it follows from `clip`, or from `low` and `high`."""
        ends = self.clip or (self.low, self.high)
        if ends[0] is None or ends[1] is None:
            return None
        low, high = self.treat(np.array(ends)).tolist()
        return low, high

    def treat(self, values: Floats) -> Floats:
        """Return values as they are judged: clipped, then transformed."""
        if self.clip is not None:
            values = np.clip(values, *self.clip)
        if self.transform == "log":
            if (values <= 0).any():
                raise InvalidInput(
                    f"{self.name} must be positive, since its logarithm is taken; "
                    f"got {float(values[values <= 0][0]):g}"
                )
            values = np.log(values)
        return values

    def in_words(self) -> str | None:
        """Return what is done to the values before anything else; None if nothing is."""
        parts: list[str] = []
        if self.clip is not None:
            parts.append(f"clipped to {self.clip[0]:.15g} .. {self.clip[1]:.15g}")
        if self.transform == "log":
            parts.append("judged by its natural logarithm, in which all its numbers here are")
        return f"{self.name} is {' and '.join(parts)}" if parts else None


class Problem:
    """Groups of named arms, named dims with a direction, the noise, and what a pull costs.

    `groups` maps a group to its arms (None: each of `arms` is a group of its own), `dims` a dim to
    "max", "min" or "watch" (or to a `Dim`, or to a table such as
    {"direction": "min", "low": 0, "high": 9, "clip": [0, 9], "transform": "log"}).
    Numbers by dim in `noise` follow the decided dims, and a mapping gives each dim a model of its own
    (`noise={"correct": Bernoulli(), "seconds": Gaussian()}`); it may be left out if every decided dim has a
    range, and is `Bounded` then. `costs` maps an arm to the cost of one pull, or a group to such a
    table; arms without one cost 1. `items` says that all arms are scored on the same items (`Items`);
    arms then depend on each other, whatever the noise model would say. `reserve` is the number of
    arms that may join a study later (`Study.add_arm`): delta is shared with them from the start.

    `require` maps dims to limits, for example {"latency": ("<=", 2.0)} or, with a tolerance,
    ("<=", 2.0, 0.1): an arm whose mean does not keep them does not count. Numbers by dim in `noise` then
    follow the decided dims and, after them, watched dims with a limit. `worth` is what a group is worth
    in a dim: "best" (of its arms), "mean", "worst", ("kth", k) or ("quantile", q).

    >>> from bestgroup.problem.noise import SubGaussian
    >>> dims = {"profit": "max", "returns": "min"}
    >>> problem = Problem({"A": ["a1", "a2"], "B": ["b1"]}, dims, SubGaussian(0.5))
    >>> problem.shape
    Shape(sizes=(2, 1), dims=2)
    >>> problem.to_internal([[3.0, 0.25]])
    array([[ 3.  , -0.25]])
    """

    def __init__(
        self,
        groups: Mapping[str, Sequence[str]] | None,
        dims: Mapping[str, Any],
        noise: Noise | Mapping[str, Noise] | None = None,
        costs: Mapping[str, Any] | None = None,
        items: Items | int | None = None,
        *,
        arms: Sequence[str] | None = None,
        require: Mapping[str, Any] | None = None,
        worth: Any = "best",
        reserve: int = 0,
    ) -> None:
        if groups is None:
            groups = groups_of_one(arms)
        elif arms is not None:
            raise InvalidInput("give groups with their arms, or arms alone with groups=None")
        names_of = check_groups(groups)
        check_size(
            [len(names) for names in names_of.values()],
            len(dims) if is_table(dims) else 1,
        )
        self.groups: tuple[str, ...] = tuple(names_of)
        self.arms: tuple[tuple[str, ...], ...] = tuple(names_of.values())
        self.dims: tuple[Dim, ...] = check_dims(dims)
        self.worth: Worth = check_worth(worth)
        self.limits: tuple[Limit, ...] = check_require(require, [dim.name for dim in self.dims])
        check_measure(self.worth, self.limits)
        self.worth.check_sizes([len(own) for own in self.arms], self.groups)
        names = [dim.name for dim in self.measured]
        self.noise: Noise = self._by_ranges() if noise is None else check_noise(noise, names)
        self.costs: tuple[tuple[float, ...], ...] | None = arm_costs(names_of, costs)
        self.items: Items | None = check_items(items)
        if self.items is not None:
            self.noise = self.noise.on_shared_items()
            self.noise.reaches(len(self.measured))
        self.reserve: int = check_reserve(reserve)
        if self.reserve:
            # Bounds of single arms do not mind who joins, or why.
            self.noise = self.noise.with_dependent_arms()
        self.noise.check_dims(len(self.measured))
        self._check_combination()

    def _check_combination(self) -> None:
        """Raise InvalidInput for what is not proven together."""
        if self.reserve and (self.items is not None or self.measure is not None):
            raise InvalidInput(
                "arms can join later where a group is worth its best arm, without limits and without "
                "shared items: leave out reserve, or require, worth and items"
            )

    def _by_ranges(self) -> Noise:
        """Return the noise that the ranges of the dims give; nothing else may be assumed unasked."""
        ranges = [dim.range for dim in self.measured]
        for dim, ends in zip(self.measured, ranges, strict=True):
            if ends is None:
                raise InvalidInput(
                    f"noise must be given: Bounded(low, high), Bernoulli(), SubGaussian(scale) or "
                    f"Gaussian(); it follows by itself only from low and high of every dim, and "
                    f"{dim.name!r} has none"
                )
        lows, highs = zip(*(ends for ends in ranges if ends is not None), strict=True)
        return in_range(lows, highs)

    @property
    def decided(self) -> tuple[Dim, ...]:
        """The dims that decide, in the order of the goal."""
        return tuple(dim for dim in self.dims if dim.direction != "watch")

    @property
    def measured(self) -> tuple[Dim, ...]:
        """The dims that algorithms see: those that decide, then those that only have a limit."""
        limited = {limit.dim for limit in self.limits}
        rest = (dim for dim in self.dims if dim.direction == "watch" and dim.name in limited)
        return (*self.decided, *rest)

    @property
    def shape(self) -> Shape:
        """The shape that the algorithms see: the dims that decide or have a limit."""
        sizes = tuple(len(names) for names in self.arms)
        room = sum(sizes) + self.reserve if self.reserve else 0
        return Shape(sizes, len(self.measured), room)

    @property
    def measure(self) -> Measure | None:
        """Which arms count and what a group is worth; None if all do and it is its best arm."""
        if self.worth.is_best and not self.limits:
            return None
        return Measure(len(self.decided), self.worth, self._bounds(), self.limits)

    def _bounds(self) -> tuple[Bound, ...]:
        """Return the limits as algorithms see them: dims to be minimised are mirrored."""
        names = [dim.name for dim in self.measured]
        found: list[Bound] = []
        for limit in self.limits:
            d = names.index(limit.dim)
            sign = 1.0 if limit.sense == "<=" else -1.0
            at = np.zeros(len(names))
            at[d] = limit.at
            mirrored = bool(self._turned[d])
            where = float(self.mirror(at)[d])
            found.append(Bound(d, -sign if mirrored else sign, where, limit.tolerance))
        return tuple(found)

    @property
    def shared(self) -> SharedItems | None:
        """What an algorithm may know of the items, if arms share any."""
        if self.items is None:
            return None
        return self.items.shared(self.noise.reaches(len(self.measured)).tolist())

    @cached_property
    def _keep(self) -> Ints:
        """The columns of an observation that are measured, in their order."""
        return np.array([self.dims.index(dim) for dim in self.measured])

    @cached_property
    def _keeps_all(self) -> bool:
        return self._keep.tolist() == list(range(len(self.dims)))

    @cached_property
    def _turned(self) -> Bools:
        return np.array([dim.direction == "min" for dim in self.measured])

    @cached_property
    def _turns(self) -> bool:
        return bool(self._turned.any())

    @cached_property
    def _places(self) -> dict[tuple[str, str], tuple[int, int]]:
        return {
            (group, arm): (i, j)
            for i, (group, names) in enumerate(zip(self.groups, self.arms, strict=True))
            for j, arm in enumerate(names)
        }

    def index(self, group: str, arm: str) -> tuple[int, int]:
        """Return the numbers of a group and of its arm."""
        place = self._places.get((group, arm))
        if place is not None:
            return place
        if group not in self.groups:
            raise InvalidInput(f"there is no group {group!r}; the groups are {_list(self.groups)}")
        names = self.arms[self.groups.index(group)]
        raise InvalidInput(f"the group {group!r} has no arm {arm!r}; its arms are {_list(names)}")

    def check_values(self, values: Any, gaps: bool = False) -> Floats:
        """Return observations [n, all dims] as numbers, or refuse them with one sentence.

        With `gaps` a value may be missing (NaN).
        """
        if gaps:
            block = np.asarray(values, dtype=np.float64)
            numbers(np.where(np.isnan(block), 0.0, block), "observations")
        else:
            block = numbers(values, "observations")
        if block.ndim == 1:
            block = block[None, :]
        if block.ndim != 2 or block.shape[1] != len(self.dims):
            names = ", ".join(dim.name for dim in self.dims)
            raise InvalidInput(
                f"an observation must have {len(self.dims)} numbers ({names}); "
                f"got shape {list(block.shape)}"
            )
        self.noise.check_values(self.judged(block), [dim.name for dim in self.measured])
        return block

    @cached_property
    def treated(self) -> bool:
        """Whether values of a decided dim are clipped or transformed."""
        return any(dim.in_words() for dim in self.decided)

    def judged(self, values: Any) -> Floats:
        """Return what is judged of observations [n, all dims]: measured dims, clipped, transformed."""
        array = np.asarray(values, dtype=np.float64)
        kept = array.copy() if self._keeps_all else array[..., self._keep]
        if not self.treated:
            return kept
        return np.stack([d.treat(kept[..., k]) for k, d in enumerate(self.measured)], axis=-1)

    def to_internal(self, values: Any) -> Floats:
        """Return observations [n, all dims] as the algorithms see them, [n, measured dims]."""
        return self.mirror(self.judged(values))

    def to_user(self, decided: Any) -> Floats:
        """Return numbers of the algorithms, [..., dims], in the dims' own orientation.

        The dims are the measured ones, or the decided ones alone.
        """
        return self.mirror(decided)

    def mirror(self, decided: Any, pivot: Any = None) -> Floats:
        """Return [..., dims] with the dims to be minimised mirrored: its own inverse."""
        array = np.asarray(decided, dtype=np.float64)
        if not self._turns and array.shape[-1:] == self._turned.shape:
            return array.copy()
        about = self.noise.pivot(len(self._turned)) if pivot is None else pivot
        turned = self._turned
        if array.shape[-1:] == (len(self.decided),):  # those with a limit only come last
            turned, about = turned[: len(self.decided)], np.broadcast_to(about, turned.shape)
            about = about[: len(self.decided)]
        return np.where(turned, about - array, array)

    def treatment(self) -> tuple[str, ...]:
        """Return what is done to the values before anything else, one sentence for each dim."""
        return tuple(words for dim in self.decided if (words := dim.in_words()))

    def assumptions(self) -> tuple[str, ...]:
        """Return what is done to the values, and what the noise model assumes of single pulls."""
        return (*self.treatment(), *self.noise.assumptions())

    def with_items(self, items: Items) -> Problem:
        """Return the same problem on these items."""
        made = copy.copy(self)
        made.items = check_items(items)
        made.noise = self.noise.on_shared_items() if self.items is None else self.noise
        made.noise.reaches(len(made.measured))
        made._check_combination()
        return made

    def with_dependent_arms(self) -> Problem:
        """Return the same problem with arms that may depend on each other in any way."""
        made = copy.copy(self)
        made.noise = self.noise.on_shared_items()
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain JSON; `from_dict` reads it back."""
        entries: dict[str, Any] = {
            "groups": {g: list(names) for g, names in zip(self.groups, self.arms, strict=True)},
            "dims": {dim.name: dim_dict(dim) for dim in self.dims},
            "noise": self.noise.to_dict(),
            "costs": None
            if self.costs is None
            else {
                group: dict(zip(names, row, strict=True))
                for group, names, row in zip(self.groups, self.arms, self.costs, strict=True)
            },
        }
        if self.items is not None:
            entries["items"] = self.items.to_dict()
        if self.limits:
            entries["require"] = plain_require(self.limits)
        if not self.worth.is_best:
            entries["worth"] = self.worth.plain()
        if self.reserve:
            entries["reserve"] = self.reserve
        return entries

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Problem:
        """Return the problem that `to_dict` wrote."""
        try:
            groups, dims = given["groups"], given["dims"]
            noise = None if given.get("noise") is None else noise_from_dict(given["noise"])
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise InvalidInput(f"noise: {error}") from None
            raise InvalidInput(f"this is not the description of a problem: {error!r}") from None
        items = None if given.get("items") is None else items_from_dict(given["items"])
        rest: dict[str, Any] = {"require": given.get("require"), "worth": given.get("worth")}
        rest["reserve"] = given.get("reserve", 0)
        return cls(groups, dims, noise, given.get("costs"), items, **rest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.groups, self.arms, self.dims))

    def summary(self) -> str:
        """Return the size, the noise and the items in one line."""
        arms = sum(len(names) for names in self.arms)
        shared = ""
        if self.items is not None:
            number = f"{self.items.count:,} " if self.items.count else ""
            shared = f", all on the same {number}items ({self.items.target})"
        noise = brief(self.noise, ("arms",) if shared else ())
        counts = "" if self.measure is None else f"; {self.measure.in_words()}"
        return f"{len(self.groups):,} groups, {arms:,} arms, {noise}{shared}{counts}"

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each arm: group, arm, cost."""
        names = [(g, a) for g, arms in zip(self.groups, self.arms, strict=True) for a in arms]
        costs = [1.0] * len(names) if self.costs is None else [c for row in self.costs for c in row]
        columns = {"group": [g for g, _ in names], "arm": [a for _, a in names], "cost": costs}
        return data_frame(columns)

    def plot(self) -> Figure:
        """Return a picture of the groups with their arms."""
        return problem_view(self)

    def _repr_html_(self) -> str:
        return problem_html(self)

    def __repr__(self) -> str:
        arms = sum(len(names) for names in self.arms)
        dims = ", ".join(f"{dim.name} ({dim.direction})" for dim in self.dims)
        noise = brief(self.noise)
        return f"Problem({len(self.groups)} groups, {arms} arms, dims: {dims}, {noise})"


def check_reserve(reserve: Any) -> int:
    """Return the number of arms that may join later."""
    if isinstance(reserve, bool) or not isinstance(reserve, int) or not 0 <= reserve <= 10**6:
        raise InvalidInput(f"reserve must be a number of arms from 0 to 10**6; got {reserve!r}")
    return reserve


def value_ends(problem: Problem) -> tuple[Floats, Floats]:
    """Return the least and the largest value of each decided dim of a problem with a range, [D]."""
    noise: Any = problem.noise
    D = problem.shape.dims
    return noise.ends(D) if hasattr(noise, "ends") else (np.zeros(D), np.ones(D))


def arm_costs(
    groups: Mapping[str, Sequence[str]],
    given: Mapping[str, Any] | None,
    key: Callable[[list[str]], str] = " of ".join,
) -> tuple[tuple[float, ...], ...] | None:
    """Return the cost of every arm, 1 where none is given; None without any.

    `key` turns ["cost", group, arm] into the name of an entry for error messages.
    """
    if not given:
        return None
    costs = {group: dict.fromkeys(arms, 1.0) for group, arms in groups.items()}
    for name, value in given.items():
        if is_table(value):
            if name not in costs:
                raise InvalidInput(f"{key(['cost', name])}: there is no group {name!r}")
            for arm, cost in value.items():
                if arm not in costs[name]:
                    raise InvalidInput(
                        f"{key(['cost', name, arm])}: the group {name!r} has no arm {arm!r}"
                    )
                costs[name][arm] = _positive(cost, key(["cost", name, arm]))
            continue
        homes = [group for group, arms in groups.items() if name in arms]
        if len(homes) != 1:
            why = "is in no group" if not homes else "is in several groups; give costs by group"
            raise InvalidInput(f"{key(['cost', name])}: the arm {name!r} {why}")
        costs[homes[0]][name] = _positive(value, key(["cost", name]))
    return tuple(tuple(arms.values()) for arms in costs.values())


def _positive(value: Any, what: str) -> float:
    try:
        cost = number(value, "cost")
    except InvalidInput as error:
        raise InvalidInput(f"{what}: {str(error).removeprefix('cost ')}") from None
    if cost <= 0:
        raise InvalidInput(f"{what}: must be positive; got {cost:g}")
    return cost


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{what} must be a text that is not empty; got {value!r}")
    return check_name(value, what.removeprefix("the name of "))


def groups_of_one(arms: Any) -> dict[str, list[str]]:
    """Return every arm as a group of its own, of the same name.

    >>> groups_of_one(["a", "b"])
    {'a': ['a'], 'b': ['b']}
    """
    if not is_list(arms) or not arms:
        raise InvalidInput(f"with groups=None arms must list at least one arm; got {arms!r}")
    twice = [name for name, times in Counter(map(str, arms)).items() if times > 1]
    if twice:
        raise InvalidInput(f"there is the arm {twice[0]!r} twice")
    return {arm: [arm] for arm in arms}


def check_groups(groups: Any) -> dict[str, tuple[str, ...]]:
    """Return the arms of every group; names must differ and not be empty."""
    if not is_table(groups) or not groups:
        raise InvalidInput("groups must map at least one group to its arms; got none")
    check_size([len(arms) for arms in groups.values() if is_list(arms)], 1)
    result: dict[str, tuple[str, ...]] = {}
    for group, arms in groups.items():
        _name(group, "the name of a group")
        if not is_list(arms) or not arms:
            raise InvalidInput(
                f"the group {group!r} must be a list of at least one arm; got {arms!r}"
            )
        names = tuple(_name(arm, f"the name of an arm of the group {group!r}") for arm in arms)
        if len(set(names)) < len(names):
            ((twice, _),) = Counter(names).most_common(1)
            raise InvalidInput(f"the group {group!r} has the arm {twice!r} twice")
        result[group] = names
    return result


def check_dims(dims: Any) -> tuple[Dim, ...]:
    """Return the dims, of which at least one decides."""
    if not is_table(dims) or not dims:
        raise InvalidInput('dims must map at least one dim to "max", "min" or "watch"; got none')
    result = tuple(
        check_dim(_name(name, "the name of a dim"), given) for name, given in dims.items()
    )
    if all(dim.direction == "watch" for dim in result):
        raise InvalidInput('at least one dim must be "max" or "min": there is nothing to decide on')
    return result


def check_dim(name: str, given: Any) -> Dim:
    """Return a dim from its direction, its table or itself."""
    if isinstance(given, str):
        given = {"direction": given}
    elif isinstance(given, Dim):
        given = dim_dict(given)
    if not is_table(given) or given.get("direction") not in DIRECTIONS:
        got = given.get("direction", given) if is_table(given) else given
        raise InvalidInput(
            f'the dim {name!r} must be "max", "min" or "watch", or a table with such a direction; '
            f"got {got!r}"
        )
    extra = set(given) - set(_DIM_ENTRIES)
    if extra:
        known = ", ".join(_DIM_ENTRIES)
        raise InvalidInput(
            f"the dim {name!r} has no entry {sorted(extra)[0]!r}; its entries are {known}"
        )
    transform, clip = _check_treatment(name, given)
    low, high = (
        None if given.get(end) is None else number(given[end], f"{end} of the dim {name!r}")
        for end in ("low", "high")
    )
    if low is not None and high is not None and low >= high:
        raise InvalidInput(f"low of the dim {name!r} must be below high; got {low:g} and {high:g}")
    if transform == "log" and clip is None and low is not None and low <= 0:
        raise InvalidInput(
            f"low of the dim {name!r} must be positive, since its logarithm is taken; got {low:g}"
        )
    return Dim(name, given["direction"], given.get("unit"), low, high, transform, clip)


def _check_treatment(
    name: str, given: Mapping[str, Any]
) -> tuple[str | None, tuple[float, float] | None]:
    """Return the transform and the clip of a dim."""
    transform, clip = given.get("transform"), given.get("clip")
    if transform is None and clip is None:
        return None, None
    if given["direction"] == "watch":
        raise InvalidInput(f"the dim {name!r} is only watched: it takes neither transform nor clip")
    if transform is not None and transform not in TRANSFORMS:
        raise InvalidInput(f"transform of the dim {name!r} must be 'log'; got {transform!r}")
    if clip is None:
        return transform, None
    ends = numbers(clip, f"clip of the dim {name!r}")
    if ends.shape != (2,) or ends[0] >= ends[1]:
        raise InvalidInput(
            f"clip of the dim {name!r} must be [low, high] with low below high; got {clip!r}"
        )
    if transform == "log" and ends[0] <= 0:
        raise InvalidInput(
            f"clip of the dim {name!r} must begin above 0, since its logarithm is taken; "
            f"got {ends[0]:g}"
        )
    return transform, (float(ends[0]), float(ends[1]))


def dim_dict(dim: Dim) -> dict[str, Any]:
    """Return a dim as its table: what is given, the direction first."""
    entries: dict[str, Any] = {key: getattr(dim, key) for key in _DIM_ENTRIES}
    if dim.clip is not None:
        entries["clip"] = list(dim.clip)
    return {key: value for key, value in entries.items() if value is not None}


_DIM_ENTRIES = ("direction", "unit", "low", "high", "transform", "clip")
