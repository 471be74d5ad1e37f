"""`hook`, `bind` and `left_out`: one loop for many algorithms, compiled for each of them.

A driver's loop calls hooks, which say what it asks of an algorithm. `bind(loop, {hook: kernel})`
returns the loop with an algorithm's kernels in their place: every kernel on the way from the loop
to a hook is copied, with other globals and the same code. The copies are ordinary kernels, so their
plain bodies run, and compiled code is kept on disk under a digest that covers what was bound. (A
kernel that is passed as an argument or captured in a closure would be compiled in every process.)

What an algorithm never does for a rule is bound out of its loop: `left_out` is what stands there.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import itertools
import types
from collections.abc import Callable, Mapping
from typing import Any, cast

from bestgroup.compile.kernel import Kernel, P, T


class Hook(Kernel[P, T]):
    """What a loop asks of an algorithm; its body is never run."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Refuse: a loop must be bound before it runs."""
        raise TypeError(f"{self.body.__qualname__} is a hook; bind a kernel to it first")


def hook(body: Callable[P, T]) -> Hook[P, T]:
    """Return `body`, of which only signature and docstring count, as a hook."""
    return Hook(body)


def bind(loop: Kernel[P, T], hooks: Mapping[Kernel[Any, Any], Kernel[Any, Any]]) -> Kernel[P, T]:
    """Return `loop` with a kernel in the place of each hook, however deep it is called.

    Kernels are called by their names, or as attributes of a module. The same hooks give the same
    object, so that a process compiles it once.
    """
    return _bound(loop, frozenset(hooks.items()))


def left_out(item: Kernel[P, T], result: Any = None) -> tuple[Kernel[Any, Any], Kernel[Any, Any]]:
    """Return, for `bind`, a kernel and one of its arguments that does nothing and returns `result`.

    It stands for a kernel that is never called, or that finds nothing to do.
    """
    return item, _idle(item, repr(result))


@functools.cache
def _idle(item: Kernel[Any, Any], result: str) -> Kernel[Any, Any]:
    body = cast(types.FunctionType, item.body)
    # Compiled code calls with the arguments in their places, so the names have to be there.
    made = eval(f"lambda {', '.join(inspect.signature(body).parameters)}: {result}", {})
    tag = hashlib.sha256(result.encode()).hexdigest()[:12]
    made.__name__, made.__qualname__ = body.__name__, f"{body.__qualname__}_{tag}"
    made.__module__, made.__doc__ = body.__module__, f"Return {result}."
    idle: Kernel[Any, Any] = (Kernel if isinstance(item, Hook) else type(item))(made)
    idle.origin = functools.partial(_idle, item, result)
    return idle


@functools.cache
def _bound(item: Kernel[Any, Any], hooks: frozenset[tuple[Any, Any]]) -> Kernel[Any, Any]:
    for asked, given in hooks:
        if asked is item:
            return _bound(given, hooks)  # what is bound may call hooks, too
    body = cast(types.FunctionType, item.body)
    swapped: dict[tuple[str, str], Kernel[Any, Any]] = {}
    for module, name in _names_in(body):
        home = vars(body.__globals__[module]) if module else body.__globals__
        value = home.get(name)
        if isinstance(value, Kernel) and value is not item:
            copy = _bound(cast(Kernel[Any, Any], value), hooks)
            if copy is not value:
                swapped[module, name] = copy
    return _copy(item, body, swapped, hooks) if swapped else item


def _names_in(body: types.FunctionType) -> list[tuple[str, str]]:
    """Return (module, name) of what a body reads, the module empty for a global of its own."""
    found = [("", name) for name in body.__code__.co_names]
    for one, two in itertools.pairwise(dis.get_instructions(body)):
        if isinstance(body.__globals__.get(str(one.argval)), types.ModuleType):
            # Python 3.11 has an instruction of its own for what is called.
            if one.opname == "LOAD_GLOBAL" and two.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                found.append((one.argval, two.argval))
    return found


def _copy(
    item: Kernel[Any, Any],
    body: types.FunctionType,
    swapped: dict[tuple[str, str], Kernel[Any, Any]],
    hooks: frozenset[tuple[Any, Any]],
) -> Kernel[Any, Any]:
    names = {name: copy for (module, name), copy in swapped.items() if not module}
    made = types.FunctionType(
        body.__code__,
        {**body.__globals__, **names, **_modules(body.__globals__, swapped)},
        body.__name__,
        body.__defaults__,
        body.__closure__,
    )
    made.__kwdefaults__, made.__doc__ = body.__kwdefaults__, body.__doc__
    made.__annotations__, made.__module__ = body.__annotations__, body.__module__
    # Compiled code is found by its name, so copies with other hooks need other names.
    digests = sorted(f"{name} {kernel.digest}" for (_, name), kernel in swapped.items())
    tag = hashlib.sha256(" ".join(digests).encode()).hexdigest()[:12]
    made.__qualname__ = f"{body.__qualname__}_{tag}"
    copy = type(item)(made)
    copy.origin = functools.partial(bind, item, dict(hooks))
    return copy


def _modules(
    found: dict[str, Any], swapped: dict[tuple[str, str], Kernel[Any, Any]]
) -> dict[str, types.ModuleType]:
    """Return copies of modules that have other kernels, by the names under which they are found."""
    copies: dict[str, types.ModuleType] = {}
    for (module, name), kernel in swapped.items():
        if module:
            if module not in copies:
                copies[module] = types.ModuleType(found[module].__name__)
                vars(copies[module]).update(vars(found[module]))
            setattr(copies[module], name, kernel)
    return copies
