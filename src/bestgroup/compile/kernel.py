"""`kernel`: one body that runs as plain Python or compiled by numba.

A kernel called directly runs its Python body, so a live study steps without importing numba. The
same body compiled is `f.compiled`; inside compiled code a kernel stands for its compiled form. Both
must agree to the bit, so bodies are explicit loops over arrays with scalar `math` functions,
without fast-math.

Compiled code is kept on disk under a digest of the kernel and of every kernel and constant that it
refers to, however deep, and of what makes code of them: numba's own cache looks at one function's
file only and would go on using old code after a change in a function that is called from another
file.

How kernels are compiled is up to a backend: `internals`, or, where `BESTGROUP_NUMBA=plain` asks for
it or numba's internals are not what they were, `plain`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_announce: Callable[[str], None] | None = None
_importing = threading.Lock()  # numba fails if two threads import it for the first time at once


def on_compile(callback: Callable[[str], None] | None) -> None:
    """Set what is called, once, with a sentence when code has to be compiled; None for silence."""
    global _announce
    _announce = callback


def cache_folder() -> Path:
    """Return the folder of compiled code: `BESTGROUP_CACHE`, or the user's cache folder."""
    base = os.environ.get("BESTGROUP_CACHE")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bestgroup"


class Kernel(Generic[P, T]):
    """A function with a Python body and, on demand, a compiled one."""

    # Of the form that compiled code calls: whether arrays are counted at every call, and what a zero
    # divisor does ("python" raises).
    counts_references: ClassVar[bool] = True
    error_model: ClassVar[Literal["python", "numpy"]] = "python"
    origin: Callable[[], Any] | None = None  # makes this kernel again, if no module has it

    def __init__(self, body: Callable[P, T]) -> None:
        functools.update_wrapper(cast(Any, self), body)
        self.body = self.plain = body

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the Python body, or what stands for it."""
        return self.plain(*args, **kwargs)

    def plainly(self, plain: Callable[P, T]) -> Callable[P, T]:
        """Have `plain` stand for the body where it is not compiled; it must give the same bits."""
        self.plain = plain
        return plain

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes find the kernel by its name, as they do functions.
        if self.origin is not None:
            return self.origin, ()
        return _find, (self.body.__module__, self.body.__qualname__)

    @functools.cached_property
    def digest(self) -> str:
        """The digest of this kernel and of all that it refers to."""
        return _digest(self, set())

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The numba dispatcher of this kernel."""
        return backend().entry(self)

    @property
    def compiled(self) -> Callable[P, T]:
        """The compiled form; says once that it compiles when nothing usable is on disk."""
        dispatcher = self.dispatcher
        if (
            _announce is not None
            and not dispatcher.signatures
            and not backend().is_warm(dispatcher)
        ):
            _announce("compiling (once; the result is kept on disk)")
            on_compile(None)
        return dispatcher

    @functools.cached_property
    def inner(self) -> Any:
        """The numba dispatcher that compiled code refers to."""
        return backend().callee(self)

    @functools.cached_property
    def numba_type(self) -> Any:
        """How numba sees a kernel that compiled code refers to."""
        from numba import types as numba_types

        return numba_types.Dispatcher(self.inner)


@functools.cache
def backend() -> Any:
    """Return the module that makes dispatchers, after teaching numba what a kernel is."""
    with _importing:
        from numba.extending import typeof_impl

        from bestgroup.compile.records import Primitive

    for kind in (Kernel, Primitive):
        typeof_impl.register(kind, lambda item, _: item.numba_type)
    name = "plain" if os.environ.get("BESTGROUP_NUMBA") == "plain" else "internals"
    try:
        return importlib.import_module(f"bestgroup.compile.{name}")
    except (ImportError, AttributeError) as missing:
        warnings.warn(
            f"this version of numba lacks what fast compilation needs ({missing}): kernels are "
            "compiled by public means, more slowly and in every process anew",
            RuntimeWarning,
            stacklevel=2,
        )
        return importlib.import_module("bestgroup.compile.plain")


def kernel(body: Callable[P, T]) -> Kernel[P, T]:
    """Return `body` as a kernel."""
    return Kernel(body)


def _find(module: str, name: str) -> Any:
    __import__(module)
    return getattr(sys.modules[module], name)


def _digest(root: Kernel[Any, Any], seen: set[str]) -> str:
    """Return the digest of `root`, going through the kernels that it names."""
    import numba

    sha = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {_maker()}".encode())
    pending: list[Kernel[Any, Any]] = [root]
    while pending:
        item = pending.pop()
        label = f"{item.body.__module__}.{item.body.__qualname__}"
        if label in seen:
            continue
        seen.add(label)
        code = cast(types.FunctionType, item.body).__code__
        sha.update(label.encode() + code.co_code + repr(code.co_consts).encode())
        sha.update(
            repr(
                (code.co_names, code.co_varnames, item.counts_references, item.error_model)
            ).encode()
        )
        for name, value in sorted(_globals_of(item.body), key=lambda pair: pair[0]):
            if isinstance(value, Kernel):
                pending.append(value)
            else:
                sha.update(f"{name}={_constant(value)}".encode())
    return sha.hexdigest()[:20]


@functools.cache
def _maker() -> str:
    """Return the digest of the modules that make code: the same bodies may become other code."""
    here = Path(__file__).parent
    made = b"".join(
        (here / name).read_bytes() for name in ("internals.py", "lending.py", "records.py")
    )
    return hashlib.sha256(made).hexdigest()


def _globals_of(body: Any) -> Iterator[tuple[str, Any]]:
    """Yield the module-level names that a body uses, and what they stand for.

    For a module of ours that is what the body may take from it, so that `module.kernel` counts too.
    """
    names = body.__code__.co_names
    for name in names:
        if name in body.__globals__:
            value = body.__globals__[name]
            if not isinstance(value, types.ModuleType):
                yield name, value
            elif value.__name__.partition(".")[0] == __name__.partition(".")[0]:
                for inner in names:
                    if inner in vars(value):
                        yield f"{name}.{inner}", vars(value)[inner]


def _constant(value: Any) -> str:
    if isinstance(value, type):
        return f"{value.__qualname__}{getattr(value, '_fields', ())}"
    if isinstance(getattr(value, "digest", None), str):
        return value.digest
    if hasattr(value, "tobytes"):
        return hashlib.sha256(value.tobytes()).hexdigest()
    return (
        repr(value) if isinstance(value, int | float | str | bool | tuple) else type(value).__name__
    )
