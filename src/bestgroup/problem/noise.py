"""What an algorithm may assume about the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias, cast, get_args

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.inference.confidence_sequences.bounded import STATISTICS as SUMS
from bestgroup.inference.confidence_sequences.bounded import WEALTHS
from bestgroup.inference.confidence_sequences.boxes import BoxRule, share
from bestgroup.inference.confidence_sequences.gaussian import STATISTICS as DEVIATIONS
from bestgroup.inference.evalues.wealth import KEPT
from bestgroup.inference.kinds import BERNOULLI, BOUNDED, GAUSSIAN, POWERS, SUBGAUSSIAN
from bestgroup.problem.arrays import Floats, Ints, is_list, is_table, number, numbers
from bestgroup.problem.laws import Bernoulli as BernoulliLaw
from bestgroup.problem.laws import Beta, IndependentDims, Law, Normal
from bestgroup.problem.shape import Shape

Dependence = Literal["arbitrary", "independent"]


class _Unsaid(str):
    """What is assumed where nobody said anything: a problem with shared items may change it."""


_INDEPENDENT: Any = _Unsaid("independent")


class _Model:
    """What all noise models share; a subclass overrides what it knows better."""

    kind: ClassVar[str]
    needed: ClassVar[tuple[str, ...]] = ()  # entries that are never assumed
    has_scale: ClassVar[bool] = True  # a sub-Gaussian scale is known: the lockstep algorithms work
    has_range: ClassVar[bool] = False  # no value lies outside a range that is known
    two_valued: ClassVar[bool] = False  # all values are 0 or 1
    symmetric: ClassVar[bool] = False  # about the mean, of unknown variance
    box_process: ClassVar[str] = "mixture"  # what proves boxes in a proof file (`proof.boxes`)
    law_kind: ClassVar[str] = "normal"  # of the law that simulated values have unless it is said
    law_scale: float | tuple[float, ...] = 1.0  # of a law whose scale nobody says
    dependence: Dependence
    arms: Dependence

    def check_dims(self, dims: int) -> None:
        """Raise InvalidInput if the numbers by dim do not fit."""

    def check_values(self, values: Floats, names: Sequence[str]) -> None:
        """Raise InvalidInput if values [n, D] contradict the model."""

    def pivot(self, dims: int) -> Floats:
        """Return, [D], the number from which a value is taken to mirror a dim."""
        return np.zeros(dims)

    def reaches(self, dims: int) -> Floats:
        """Return, [D], by how much two arms' values on one item can differ; refuses endless ranges."""
        raise InvalidInput(
            f"shared items need values in a range: Bounded(low, high) or Bernoulli(); got {self}"
        )

    def with_dependent_arms(self) -> Noise:
        """Return the model for proofs on single arms, which hold however arms depend."""
        return replace(self, arms="arbitrary")  # type: ignore[type-var]

    def on_shared_items(self) -> Noise:
        """Return the model for arms that are scored on the same items, which makes them depend."""
        if self.arms == "independent" and not isinstance(self.arms, _Unsaid):
            raise InvalidInput(
                "arms that are scored on the same items are not independent; leave out "
                'arms="independent"'
            )
        return replace(self, arms="arbitrary")  # type: ignore[type-var]

    def each(self, dims: int) -> list[Any]:
        """Return a model of one dim for each dim."""
        return [self] * dims

    def at_dim(self, d: int, dims: int) -> dict[str, Any]:
        """Return what is assumed of dim d alone, as plain JSON without what goes without saying."""
        ends = {name: _spread(getattr(self, name), dims, name)[d] for name in self.needed}
        return {"kind": self.kind, **{name: float(value) for name, value in ends.items()}}

    def law(self, dims: int) -> Law:
        """Return the law that simulated values have unless it is said."""
        return Normal(self.law_scale)

    def boxes(self, shape: Shape, delta: float) -> BoxRule:
        """Return the bounds of single arms that this model gives."""
        raise NotImplementedError

    def assumptions(self) -> tuple[str, ...]:
        """Return what this model assumes of single pulls, in words."""
        raise NotImplementedError

    def evidence_assumptions(self) -> tuple[str, ...]:
        """Return what evidence on several arms assumes of single pulls, in words."""
        return self.assumptions()

    def sums(self, shape: Shape, delta: float) -> BoxRule:
        """Return what evidence on pairs of arms keeps of an arm's values: mostly what boxes do."""
        return self.boxes(shape, delta)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain JSON; `noise_from_dict` reads it back."""
        entries: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(cast(Any, self))}
        entries["arms"] = str(entries["arms"])
        if entries.get("difference", 0) is None:  # said by nobody
            del entries["difference"]
        lists = {k: list(v) if is_list(v) else v for k, v in entries.items()}
        return {"kind": self.kind, **lists}


@dataclass(frozen=True)
class SubGaussian(_Model):
    """Noise that is sub-Gaussian with a known scale: E exp(u X) <= exp(u^2 scale^2 / 2).

    `scale` is one number or one for each dim. `dependence` speaks of the dims of one pull:
    "arbitrary" is the paper's assumption. `arms` speaks of pulls of different arms.

    >>> SubGaussian([1.0, 0.5]).scales(2)
    array([1. , 0.5])
    """

    kind: ClassVar[str] = "subgaussian"
    needed: ClassVar[tuple[str, ...]] = ("scale",)
    scale: float | tuple[float, ...] = 1.0
    dependence: Dependence = "arbitrary"
    arms: Dependence = _INDEPENDENT

    def __init__(
        self,
        scale: float | Sequence[float] = 1.0,
        dependence: Dependence = "arbitrary",
        arms: Dependence = _INDEPENDENT,
    ) -> None:
        if np.ndim(scale) == 0:
            checked: float | tuple[float, ...] = number(scale, "scale")
        else:
            checked = tuple(numbers(scale, "scale").tolist())
        if np.size(checked) == 0 or np.ndim(checked) > 1 or np.min(checked) <= 0:
            raise InvalidInput(f"scale must be positive; got {scale}")
        _check_dependence(dependence, arms)
        object.__setattr__(self, "scale", checked)
        object.__setattr__(self, "dependence", dependence)
        object.__setattr__(self, "arms", arms)

    @property
    def law_scale(self) -> float | tuple[float, ...]:  # type: ignore[override]
        """The scale of a law whose scale nobody says."""
        return self.scale

    def scales(self, dims: int) -> Floats:
        """Return the scale of each dim, [D]."""
        if isinstance(self.scale, tuple) and len(self.scale) != dims:
            raise InvalidInput(
                f"scale must be one number or one for each of the {dims} dims; "
                f"got {len(self.scale)}"
            )
        return np.full(dims, self.scale, dtype=np.float64)

    def check_dims(self, dims: int) -> None:
        """Raise InvalidInput if the numbers by dim do not fit."""
        self.scales(dims)

    def assumptions(self) -> tuple[str, ...]:
        """Return what this model assumes of single pulls, in words."""
        scale = list(self.scale) if isinstance(self.scale, tuple) else self.scale
        sub = f"the noise of every dim is sub-Gaussian with scale {scale}"
        return (sub, _dims_in_words(self.dependence))

    def boxes(self, shape: Shape, delta: float) -> BoxRule:
        """Return the bounds of single arms that this model gives."""
        alpha, D = share(shape, delta), shape.dims
        return BoxRule(_kinds(SUBGAUSSIAN, D), alpha, np.zeros(D), self.scales(D), np.zeros(0))


@dataclass(frozen=True)
class Bounded(_Model):
    """Values between `low` and `high`, of any law; the bounds adapt to the variance.

    `low` and `high` are numbers or one for each dim. `method` is "betting", which keeps the
    the wealth of many bets for each arm, or "bernstein", which keeps sums of squares only and is
    wider for the first few hundred pulls (`inference.confidence_sequences.bounded`). Such values
    are sub-Gaussian with scale (high - low) / 2 (Hoeffding's lemma), which is what the lockstep
    algorithms use.
    `difference` says, for shared items, by how much two arms' values on the same item can differ at
    most: one number or one for each dim.

    >>> Bounded(0, [1, 100]).scales(2)
    array([ 0.5, 50. ])
    """

    kind: ClassVar[str] = "bounded"
    needed: ClassVar[tuple[str, ...]] = ("low", "high")
    has_range: ClassVar[bool] = True
    box_process: ClassVar[str] = "betting"
    law_kind: ClassVar[str] = "beta"
    low: float | tuple[float, ...] = 0.0
    high: float | tuple[float, ...] = 1.0
    method: Literal["betting", "bernstein"] = "betting"
    dependence: Dependence = "arbitrary"
    arms: Dependence = _INDEPENDENT
    difference: float | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for end in ("low", "high"):
            object.__setattr__(self, end, _by_dim(getattr(self, end), end))
        sizes = {len(v) for v in (self.low, self.high) if isinstance(v, tuple)}
        if len(sizes) > 1:
            raise InvalidInput("low and high must have one number each, or one for each dim")
        if (np.asarray(self.low) >= np.asarray(self.high)).any():
            raise InvalidInput(f"low must be below high; got {self.low} and {self.high}")
        if self.method not in ("betting", "bernstein"):
            raise InvalidInput(f"method must be 'betting' or 'bernstein'; got {self.method!r}")
        _check_dependence(self.dependence, self.arms)
        if self.difference is not None:
            object.__setattr__(self, "difference", _by_dim(self.difference, "difference"))
            if (np.asarray(self.difference) <= 0).any():
                raise InvalidInput(f"difference must be positive; got {self.difference}")

    def ends(self, dims: int) -> tuple[Floats, Floats]:
        """Return the least and the largest value of each dim, [D] each."""
        return _spread(self.low, dims, "low"), _spread(self.high, dims, "high")

    def scales(self, dims: int) -> Floats:
        """Return a sub-Gaussian scale of each dim, [D]: half the range."""
        low, high = self.ends(dims)
        return (high - low) / 2.0

    def check_dims(self, dims: int) -> None:
        """Raise InvalidInput if the numbers by dim do not fit."""
        self.reaches(dims)

    def reaches(self, dims: int) -> Floats:
        """Return, [D], by how much two arms' values on one item can differ."""
        low, high = self.ends(dims)
        if self.difference is None:
            return high - low
        return np.minimum(_spread(self.difference, dims, "difference"), high - low)

    def check_values(self, values: Floats, names: Sequence[str]) -> None:
        """Raise InvalidInput if a value [n, D] lies outside the range: then nothing is proven."""
        low, high = self.ends(len(names))
        bad = np.argwhere((values < low) | (values > high))
        if len(bad):
            k, d = bad[0]
            raise InvalidInput(
                f"{names[d]} must lie between {low[d]:g} and {high[d]:g}, the bounds that every "
                f"proof here rests on; got {values[k, d]:g}"
            )

    def each(self, dims: int) -> list[Any]:
        """Return a model of one dim for each dim."""
        low, high = self.ends(dims)
        return [Bounded(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]

    def at_dim(self, d: int, dims: int) -> dict[str, Any]:
        """Return what is assumed of dim d alone, with the difference on one item if it was said."""
        most = {} if self.difference is None else {"difference": float(self.reaches(dims)[d])}
        return {**super().at_dim(d, dims), **most}

    def law(self, dims: int) -> Law:
        """Return a beta law whose standard deviation is a sixth of the range."""
        low, high = self.ends(dims)
        return beta_law((high - low) / 6, self, dims)

    def pivot(self, dims: int) -> Floats:
        """Return low + high, [D]: mirrored values stay in the range."""
        low, high = self.ends(dims)
        return low + high

    def assumptions(self) -> tuple[str, ...]:
        """Return what this model assumes of single pulls, in words."""
        low, high = np.broadcast_arrays(np.atleast_1d(self.low), np.atleast_1d(self.high))
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        ends = [f"{a:.15g} and {b:.15g}" for a, b in pairs]
        where = ends[0] if len(set(ends)) == 1 else f"{'; '.join(ends)}, dim by dim"
        words = [f"all values lie between {where}", _dims_in_words(self.dependence)]
        if self.difference is not None:
            most = list(self.difference) if isinstance(self.difference, tuple) else self.difference
            words.append(f"values of two arms on the same item differ by at most {most}")
        return tuple(words)

    def boxes(self, shape: Shape, delta: float) -> BoxRule:
        """Return the bounds of single arms that this model gives."""
        low, high = self.ends(shape.dims)
        start = np.zeros(SUMS)
        if self.method == "betting":
            start = np.concatenate([start, np.ones(2 * WEALTHS)])
        start = np.concatenate([start, np.zeros(KEPT)])
        alpha = share(shape, delta)
        return BoxRule(_kinds(BOUNDED, shape.dims), alpha, low, high - low, start)

    def sums(self, shape: Shape, delta: float) -> BoxRule:
        """Return what evidence on pairs of arms keeps: the sums of six powers."""
        kind = _kinds(POWERS, shape.dims)
        return self.boxes(shape, delta)._replace(kind=kind, start=np.zeros(KEPT))


@dataclass(frozen=True)
class Gaussian(_Model):
    """Normal values of unknown variance, which may differ from arm to arm and dim to dim.

    The bounds are t-type confidence sequences; evidence on pairs of arms needs symmetric noise only.
    """

    kind: ClassVar[str] = "gaussian"
    has_scale: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    box_process: ClassVar[str] = "t-mixture"
    dependence: Dependence = "arbitrary"
    arms: Dependence = _INDEPENDENT

    def __post_init__(self) -> None:
        _check_dependence(self.dependence, self.arms)

    def scales(self, dims: int) -> Floats:
        """Raise InvalidInput: the scale is not known."""
        raise InvalidInput(
            "Gaussian() noise has no known scale; use the algorithm 'adaptive', or SubGaussian(scale)"
        )

    def assumptions(self) -> tuple[str, ...]:
        """Return what this model assumes of single pulls, in words."""
        normal = "the values of an arm are independent and normal with one mean and one variance"
        return (normal, _dims_in_words(self.dependence))

    def evidence_assumptions(self) -> tuple[str, ...]:
        """Return what evidence on several arms assumes of single pulls: less than boxes do."""
        symmetric = (
            "the noise of every dim is symmetric about 0, as normal noise of any variance is"
        )
        return (symmetric, _dims_in_words(self.dependence))

    def boxes(self, shape: Shape, delta: float) -> BoxRule:
        """Return the bounds of single arms that this model gives."""
        D = shape.dims
        zeros, ones = np.zeros(D), np.ones(D)
        start = np.zeros(DEVIATIONS)
        return BoxRule(_kinds(GAUSSIAN, D), share(shape, delta), zeros, ones, start)


@dataclass(frozen=True)
class Bernoulli(_Model):
    """Values that are 0 or 1: successes and failures (`inference.confidence_sequences.bernoulli`)."""

    kind: ClassVar[str] = "bernoulli"
    has_range: ClassVar[bool] = True
    two_valued: ClassVar[bool] = True
    box_process: ClassVar[str] = "jeffreys"
    law_kind: ClassVar[str] = "bernoulli"
    dependence: Dependence = "arbitrary"
    arms: Dependence = _INDEPENDENT

    def __post_init__(self) -> None:
        _check_dependence(self.dependence, self.arms)

    def scales(self, dims: int) -> Floats:
        """Return a sub-Gaussian scale of each dim, [D]: 1/2."""
        return np.full(dims, 0.5)

    def check_values(self, values: Floats, names: Sequence[str]) -> None:
        """Raise InvalidInput if a value [n, D] is neither 0 nor 1."""
        if ((values == 0.0) | (values == 1.0)).all():
            return  # as nearly always
        bad = np.argwhere((values != 0.0) & (values != 1.0) & ~np.isnan(values))
        if len(bad):
            k, d = bad[0]
            raise InvalidInput(f"{names[d]} must be 0 or 1; got {values[k, d]:g}")

    def pivot(self, dims: int) -> Floats:
        """Return 1, [D]: a mirrored success is a failure."""
        return np.ones(dims)

    def law(self, dims: int) -> Law:
        """Return the law of successes and failures."""
        return BernoulliLaw()

    def ends(self, dims: int) -> tuple[Floats, Floats]:
        """Return the least and the largest value of each dim, [D] each."""
        return np.zeros(dims), np.ones(dims)

    def reaches(self, dims: int) -> Floats:
        """Return, [D], by how much two arms' values on one item can differ: 1."""
        return np.ones(dims)

    def assumptions(self) -> tuple[str, ...]:
        """Return what this model assumes of single pulls, in words."""
        return ("all values are 0 or 1", _dims_in_words(self.dependence))

    def boxes(self, shape: Shape, delta: float) -> BoxRule:
        """Return the bounds of single arms that this model gives."""
        D = shape.dims
        alpha = share(shape, delta)
        return BoxRule(_kinds(BERNOULLI, D), alpha, np.zeros(D), np.ones(D), np.zeros(0))


def _kinds(kind: int, dims: int) -> Ints:
    return np.full(dims, kind, np.int64)


def _check_dependence(dependence: Any, arms: Any) -> None:
    for name, value in (("dependence", dependence), ("arms", arms)):
        if value not in get_args(Dependence):
            raise InvalidInput(f"{name} must be 'arbitrary' or 'independent'; got {value!r}")


def _dims_in_words(dependence: str) -> str:
    if dependence == "arbitrary":
        return "the dims of one pull may depend on each other in any way"
    return "the dims of one pull are independent"


def _by_dim(value: Any, name: str) -> float | tuple[float, ...]:
    if np.ndim(value) == 0:
        return number(value, name)
    array = numbers(value, name)
    if array.ndim != 1 or array.size == 0:
        raise InvalidInput(f"{name} must be one number or one for each dim; got {value!r}")
    return tuple(array.tolist())


def _spread(value: float | tuple[float, ...], dims: int, name: str) -> Floats:
    if isinstance(value, tuple) and len(value) != dims:
        raise InvalidInput(
            f"{name} must be one number or one for each of the {dims} dims; got {len(value)}"
        )
    return np.full(dims, value, dtype=np.float64)


@dataclass(frozen=True)
class NoiseByDim(_Model):
    """A noise model for each dim, in their order; `Problem(..., noise={"correct": Bernoulli(), ...})`.

    Every claim about Pareto groups is about one dim of one or two arms, so dims may have different
    models. `dependence` and `arms` are those of the models, which must agree.

    >>> noise = noise_by_dim({"correct": Bernoulli(), "seconds": Gaussian()}, ["correct", "seconds"])
    >>> noise.has_scale, noise.assumptions()[0]
    (False, 'correct: all values are 0 or 1')
    """

    kind: ClassVar[str] = "by-dim"
    names: tuple[str, ...] = ()
    models: tuple[SubGaussian | Bounded | Gaussian | Bernoulli, ...] = ()
    dependence: Dependence = "arbitrary"
    arms: Dependence = _INDEPENDENT

    @property
    def has_scale(self) -> bool:  # type: ignore[override]
        """Whether every dim has a sub-Gaussian scale."""
        return all(model.has_scale for model in self.models)

    def each(self, dims: int) -> list[Any]:
        """Return a model of one dim for each dim."""
        return list(self.models)

    def at_dim(self, d: int, dims: int) -> dict[str, Any]:
        """Return what is assumed of dim d alone."""
        return self.models[d].at_dim(0, 1)

    def law(self, dims: int) -> Law:
        """Return the laws that simulated values have unless they are said."""
        return IndependentDims(tuple(model.law(1) for model in self.models))

    def check_dims(self, dims: int) -> None:
        """Raise InvalidInput if the numbers by dim do not fit."""
        if len(self.models) != dims:
            raise InvalidInput(f"noise must have a model for each of the {dims} decided dims")
        for name, model in zip(self.names, self.models, strict=True):
            try:
                model.check_dims(1)
            except InvalidInput as error:
                raise InvalidInput(f"noise of {name}: {error}") from None

    def scales(self, dims: int) -> Floats:
        """Return a sub-Gaussian scale of each dim, [D]; InvalidInput if one has none."""
        return np.concatenate([model.scales(1) for model in self.models])

    def check_values(self, values: Floats, names: Sequence[str]) -> None:
        """Raise InvalidInput if values [n, D] contradict the models."""
        for d, model in enumerate(self.models):
            model.check_values(values[:, d : d + 1], names[d : d + 1])

    def pivot(self, dims: int) -> Floats:
        """Return, [D], the number from which a value is taken to mirror a dim."""
        return np.concatenate([model.pivot(1) for model in self.models])

    def reaches(self, dims: int) -> Floats:
        """Return, [D], by how much two arms' values on one item can differ; refuses endless ranges."""
        return np.concatenate([model.reaches(1) for model in self.models])

    def ends(self, dims: int) -> tuple[Floats, Floats]:
        """Return the least and the largest value of each dim, [D] each; every dim needs a range."""
        self.reaches(dims)
        models: Any = self.models  # all have a range, or `reaches` would have refused
        low, high = zip(*(model.ends(1) for model in models), strict=True)
        return np.concatenate(low), np.concatenate(high)

    def with_dependent_arms(self) -> Noise:
        """Return the model for proofs on single arms, which hold however arms depend."""
        models = tuple(model.with_dependent_arms() for model in self.models)
        return replace(self, models=models, arms="arbitrary")  # type: ignore[arg-type]

    def on_shared_items(self) -> Noise:
        """Return the model for arms that are scored on the same items, which makes them depend."""
        models = tuple(model.on_shared_items() for model in self.models)
        return replace(self, models=models, arms="arbitrary")  # type: ignore[arg-type]

    def assumptions(self) -> tuple[str, ...]:
        """Return what the models assume of single pulls, in words."""
        words = [f"{n}: {m.assumptions()[0]}" for n, m in zip(self.names, self.models, strict=True)]
        return (*words, _dims_in_words(self.dependence))

    def evidence_assumptions(self) -> tuple[str, ...]:
        """Return what evidence on several arms assumes of single pulls, in words."""
        words = [m.evidence_assumptions()[0] for m in self.models]
        words = [f"{name}: {word}" for name, word in zip(self.names, words, strict=True)]
        return (*words, _dims_in_words(self.dependence))

    def boxes(self, shape: Shape, delta: float) -> BoxRule:
        """Return the bounds of single arms that the models give."""
        return self._joined([m.boxes(Shape((1,), 1), delta) for m in self.models], shape, delta)

    def sums(self, shape: Shape, delta: float) -> BoxRule:
        """Return what evidence on pairs of arms keeps of an arm's values."""
        return self._joined([m.sums(Shape((1,), 1), delta) for m in self.models], shape, delta)

    def _joined(self, rules: list[BoxRule], shape: Shape, delta: float) -> BoxRule:
        # Other kinds than bets on a grid set what they keep with their first value.
        start = max((rule.start for rule in rules), key=len)
        kind, origin, scale = (
            np.concatenate([getattr(rule, name) for rule in rules])
            for name in ("kind", "origin", "scale")
        )
        return BoxRule(kind, share(shape, delta), origin, scale, start)

    def to_dict(self) -> dict[str, Any]:
        """Return the models as plain JSON; `noise_from_dict` reads it back."""
        models = zip(self.names, self.models, strict=True)
        return {"kind": self.kind, "dims": {name: model.to_dict() for name, model in models}}


Noise: TypeAlias = SubGaussian | Bounded | Gaussian | Bernoulli | NoiseByDim
KINDS: dict[str, Any] = {kind.kind: kind for kind in (SubGaussian, Bounded, Gaussian, Bernoulli)}


def in_range(low: Any, high: Any, **entries: Any) -> Noise:
    """Return the model of values of which only a range is known, with other entries if given."""
    return Bounded(low, high, **entries)


def of_one_kind(models: Sequence[Any]) -> Noise | None:
    """Return one model for dims that have each one of these; None if they are of several kinds."""
    first = models[0]
    if any(model.kind != first.kind for model in models):
        return None
    if not all(name in first.needed for name in ("low", "high")):
        return first
    ends = {end: tuple(getattr(model, end) for model in models) for end in ("low", "high")}
    return replace(first, **ends)


def beta_law(scale: Any, noise: Any, dims: int) -> Law:
    """Return a beta law with these standard deviations in the range of a noise model."""
    low, high = noise.ends(dims)
    spread = np.broadcast_to(np.asarray(scale, np.float64), dims)
    return Beta(tuple(spread.tolist()), tuple(low.tolist()), tuple(high.tolist()))


def noise_by_dim(given: Mapping[str, Any], names: Sequence[str]) -> NoiseByDim:
    """Return the noise models of the dims `names`, from a mapping that has one for each."""
    for name in (*names, *given):
        if name not in given:
            raise InvalidInput(f"noise has no model for the dim {name!r}; give one for every dim")
        if name not in names:
            dims = ", ".join(map(repr, names))
            raise InvalidInput(f"noise has a model for {name!r}, which is no decided dim of {dims}")
        if not isinstance(given[name], tuple(KINDS.values())):
            raise InvalidInput(
                f"noise of {name} must be a noise model such as Bernoulli(); got {given[name]!r}"
            )
    models = tuple(given[name] for name in names)
    for word in ("dependence", "arms"):
        if len({str(getattr(model, word)) for model in models}) > 1:
            raise InvalidInput(f"the noise models of all dims must have the same {word}")
    said = [model.arms for model in models if not isinstance(model.arms, _Unsaid)]
    arms = said[0] if said else _INDEPENDENT
    return NoiseByDim(tuple(names), models, models[0].dependence, arms)


def check_noise(noise: Any, names: Sequence[str] = ()) -> Noise:
    """Return `noise` if it is a noise model, or the models of the dims `names` if it is a mapping."""
    if is_table(noise):
        return noise_by_dim(noise, names)
    if isinstance(noise, NoiseByDim):
        return noise
    if not isinstance(noise, tuple(KINDS.values())):
        raise InvalidInput(f"noise must be a noise model such as SubGaussian(1.0); got {noise!r}")
    return noise


def noise_from_dict(given: Any) -> Noise:
    """Return the noise model that `to_dict` wrote.

    >>> noise_from_dict(SubGaussian([1.0, 0.5]).to_dict())
    SubGaussian(scale=(1.0, 0.5), dependence='arbitrary', arms='independent')
    """
    entries = dict(given)
    kind = entries.pop("kind", None)
    if kind == NoiseByDim.kind:
        models = {name: noise_from_dict(entry) for name, entry in dict(entries["dims"]).items()}
        return noise_by_dim(models, list(models))
    known = entries_of(kind)
    for name in entries:
        if name not in known:
            raise InvalidInput(f"the kind {kind!r} has no {name}")
    for name in KINDS[kind].needed:  # what is left out is not assumed
        if entries.get(name) is None:
            raise InvalidInput(f"{name} is missing; the kind {kind!r} needs it")
    return KINDS[kind](**entries)


def noise_from_numbers(text: str) -> Noise:
    """Return the noise model that a word and the numbers that it needs name.

    >>> noise_from_numbers("bounded:0,1").ends(1)
    (array([0.]), array([1.]))
    """
    kind, _, rest = text.partition(":")
    given = [value for value in rest.split(",") if value.strip()]
    known = KINDS.get(kind)
    if known is None or len(given) != len(known.needed):
        raise InvalidInput(f"must be {', '.join(short_forms())}; got {text!r}")
    try:
        entries = {name: float(value) for name, value in zip(known.needed, given, strict=True)}
    except ValueError:
        raise InvalidInput(f"must have numbers after the colon; got {text!r}") from None
    return known(**entries)


def short_forms() -> list[str]:
    """Return how models are named on the command line.

    >>> short_forms()
    ['subgaussian:SCALE', 'bounded:LOW,HIGH', 'gaussian', 'bernoulli']
    """
    parts = {kind: ",".join(name.upper() for name in m.needed) for kind, m in KINDS.items()}
    return [f"{kind}:{needed}" if needed else kind for kind, needed in parts.items()]


def check_kind(kind: Any) -> type[Any]:
    """Return the noise model of this kind; refuses kinds that do not exist."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInput(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    return KINDS[kind]


def entries_of(kind: Any) -> tuple[str, ...]:
    """Return what a noise model of this kind is described by; refuses kinds that do not exist.

    >>> entries_of("subgaussian")
    ('scale', 'dependence', 'arms')
    """
    return tuple(field.name for field in fields(check_kind(kind)))
