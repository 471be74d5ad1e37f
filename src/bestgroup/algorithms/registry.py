"""Algorithms by name: `algorithm` makes a configured one, `register` adds your own.

A package may bring algorithms as entry points of the group "bestgroup.algorithms"; they are looked for
when a name is not known otherwise.

An algorithm that changes its decisions gets a new `version`. The class of the old one stays in
`_OLDER` for at least one minor release: studies are pinned to name and version, and go on with the
code that began them.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import fields, is_dataclass
from typing import Any, cast

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import is_integer

# A name, its module and its class: modules are imported when the name is first used.
_BUILT_IN = {
    "te": ("triple_elimination", "TripleElimination"),
    "age": ("triple_elimination", "ArmGroupElimination"),
    "ge": ("triple_elimination", "GroupElimination"),
    "eecb": ("equal_effect", "EqualEffect"),
    "tel": ("pareto_then_weigh", "ParetoThenWeigh"),
    "unis": ("uniform", "Uniform"),
    "unis-corrected": ("uniform", "UniformCorrected"),
    "te-plus": ("te_plus.algorithm", "TePlus"),
    "se": ("successive_elimination", "SuccessiveElimination"),
    "sequential-halving": ("sequential_halving", "SequentialHalving"),
    "adaptive": ("adaptive.algorithm", "Adaptive"),
}
# Earlier versions of them: (name, version) to module and class.
_OLDER: dict[tuple[str, int], tuple[str, str]] = {
    ("adaptive", 1): ("adaptive.algorithm", "AdaptiveByBoxes"),
    ("adaptive", 2): ("adaptive.algorithm", "AdaptiveByFixedBets"),
    ("adaptive", 6): ("adaptive.algorithm", "AdaptiveBySelections"),
    ("adaptive", 5): ("adaptive.algorithm", "AdaptiveByUnion"),
    ("adaptive", 4): ("adaptive.algorithm", "AdaptiveByDims"),
    ("adaptive", 3): ("adaptive.algorithm", "AdaptiveNormalByBoxes"),
    ("te-plus", 1): ("te_plus.algorithm", "TePlusByFixedBets"),
}
_registered: dict[str, dict[int, type[Algorithm]]] = {}
ENTRY_POINTS = "bestgroup.algorithms"


def names() -> tuple[str, ...]:
    """Return the names of all algorithms, the paper's first.

    >>> names()[:4]
    ('te', 'age', 'ge', 'eecb')
    """
    load_entry_points()
    return (*_BUILT_IN, *_registered)


def algorithm(name: str | Algorithm, /, **options: Any) -> Algorithm:
    """Return a configured algorithm; unknown names and options are refused.

    >>> algorithm("te", radius="mixture")
    TripleElimination(radius='mixture', radius_scale=1.0)
    """
    if isinstance(name, Algorithm):
        if options:
            raise InvalidInput(f"{name} is configured already; give options with its name instead")
        return name
    return _configured(_kind(name), name, options)


def pinned(name: str, version: int, options: dict[str, Any]) -> Algorithm:
    """Return an algorithm of a certain version, for a study that was begun with it.

    >>> pinned("te", 1, {}).version
    1
    """
    if version not in versions(name):
        known = ", ".join(map(str, versions(name))) or "none"
        raise InvalidInput(f"there is no version {version} of {name!r} here; there is: {known}")
    kind = _registered.get(name, {}).get(version)
    if kind is None:
        place = _OLDER.get((name, version)) or _BUILT_IN[name]
        kind = _load(*place)
    return _configured(kind, name, options)


def versions(name: str) -> tuple[int, ...]:
    """Return the versions of an algorithm that can go on with a study; none for unknown names.

    >>> versions("te"), versions("nothing")
    ((1,), ())
    """
    if name not in _BUILT_IN and name not in _registered:
        load_entry_points()
    if name in _registered:
        return tuple(sorted(_registered[name]))
    if name not in _BUILT_IN:
        return ()
    older = {version for other, version in _OLDER if other == name}
    return tuple(sorted({*older, _load(*_BUILT_IN[name]).version}))


def _configured(kind: type[Algorithm], name: str, options: dict[str, Any]) -> Algorithm:
    known = [field.name for field in fields(kind)]
    for option in options:
        if option not in known:
            has = f"its options are {', '.join(known)}" if known else "it has none"
            raise InvalidInput(f"algorithm {name!r} has no option {option!r}; {has}")
    return kind(**options)


def register(kind: type[Algorithm] | Algorithm) -> type[Algorithm] | Algorithm:
    """Make an algorithm known by its name, and return it, so that it can be used as a decorator.

    Several versions may be registered under one name: the name alone means the newest, the others
    go on with the studies that they began.
    """
    cls: Any = type(kind) if isinstance(kind, Algorithm) else kind
    if not (isinstance(cls, type) and issubclass(cls, Algorithm)):
        raise InvalidInput(f"an algorithm must be a subclass of bestgroup.Algorithm; got {kind!r}")
    if not isinstance(cast(object, cls.name), str) or not cls.name:
        raise InvalidInput(f"an algorithm must have a name; {cls.__name__}.name is {cls.name!r}")
    if not is_integer(cls.version) or cls.version < 1:
        raise InvalidInput(f"{cls.__name__}.version must be an integer from 1; got {cls.version!r}")
    taken = _registered.get(cls.name, {}).get(cls.version, cls)
    if cls.name in _BUILT_IN or taken is not cls:
        raise InvalidInput(f"there is an algorithm named {cls.name!r} already; choose another name")
    if not is_dataclass(cls):
        raise InvalidInput(f"{cls.__name__} must be a dataclass, so that its options are known")
    _registered.setdefault(cls.name, {})[cls.version] = cls
    return kind


def resolve(name: str | Algorithm, setting: Setting, **options: Any) -> Algorithm:
    """Return the algorithm for a setting after checking that it fits; "auto" picks one.

    `bestgroup.algorithms.selection.pick` says which one "auto" is, and why.
    """
    if isinstance(name, str) and name == "auto":
        from bestgroup.algorithms.selection import pick

        name = pick(setting, options.get("batch"))[0].name
        if name == "te-plus":  # its batch is a round
            options = {key: value for key, value in options.items() if key != "batch"}
    chosen = algorithm(name, **options)
    chosen.check(setting)
    return chosen


@functools.cache
def load_entry_points() -> None:
    """Register the algorithms that installed packages bring."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS):
        try:
            kind = entry.load()
        except Exception as error:
            raise InvalidInput(
                f"the algorithm {entry.name!r}, which {entry.value!r} should be, cannot be loaded: "
                f"{error}"
            ) from None
        register(kind)


def _kind(name: Any) -> type[Algorithm]:
    if isinstance(name, str) and name not in _BUILT_IN and name not in _registered:
        load_entry_points()
    if isinstance(name, str) and name in _registered:
        return _registered[name][max(_registered[name])]
    if not isinstance(name, str) or name not in _BUILT_IN:
        if name == "auto":
            raise InvalidInput(
                "'auto' depends on the problem: give it to simulate, solve and the like"
            )
        raise InvalidInput(
            f"algorithm must be one of auto, {', '.join(names())}, or an Algorithm object; "
            f"got {name!r}"
        )
    return _load(*_BUILT_IN[name])


def _load(module: str, attribute: str) -> type[Algorithm]:
    return getattr(importlib.import_module(f"bestgroup.algorithms.{module}"), attribute)
