"""Typed records at addresses, and `bare` kernels that work on them: memory for compiled loops.

A run of the jump engine keeps some twenty tables of records. As arrays they would be handed from
function to function, seven words each, with a count of users; as one address they cost one word.
A *record* is a class of numbers,

    @record
    class Item:
        kind: int
        when: float

and `table(Item)` a function of an address and a number k that returns the k-th record from there
on, whose fields are read and set as attributes, in plain Python (by ctypes) as in compiled code
(a pointer, with numba's own access to the fields). `floats` and `ints` return pointers to numbers.
Nothing tests that an address is right or a number within the table: all addresses are computed in
one place, by whoever lays out the memory and keeps it alive.

`bare` kernels make no arrays, so they are compiled without reference counts (`borrowing`), which
cost them a third of their time, and without the test for a zero divisor.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, cast, get_type_hints

from bestgroup.compile.borrowing import Borrowing
from bestgroup.compile.kernel import P, T, backend

R = TypeVar("R")

_FIELDS: dict[type, type[Any]] = {int: ctypes.c_int64, float: ctypes.c_double}
WORD = 8  # bytes of a field


class Numbers(Protocol):
    """A pointer to numbers."""

    def __getitem__(self, k: int, /) -> Any: ...
    def __setitem__(self, k: int, value: float, /) -> None: ...


class Bare(Borrowing[P, T]):
    """A borrowing kernel that does not test for a zero divisor."""

    error_model: ClassVar[Literal["python", "numpy"]] = "numpy"


def bare(body: Callable[P, T]) -> Bare[P, T]:
    """Return `body` as a bare kernel."""
    return Bare(body)


class Primitive(Generic[P, T]):
    """A function with a Python body, of which `build` makes numba's form when it is first needed."""

    def __init__(self, body: Callable[P, T], build: Callable[[], Any], about: str = "") -> None:
        functools.update_wrapper(cast(Any, self), body)
        self.body, self.build, self.about = body, build, about

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the Python body."""
        return self.body(*args, **kwargs)

    @functools.cached_property
    def digest(self) -> str:
        """What code that uses this depends on."""
        return hashlib.sha256((inspect.getsource(self.build) + self.about).encode()).hexdigest()

    @functools.cached_property
    def _made(self) -> tuple[Any, Any]:
        return backend().typed(self.build, len(inspect.signature(self.body).parameters))

    @property
    def numba_type(self) -> Any:
        """How numba sees this in compiled code."""
        return self._made[1]


def record(kind: type[R]) -> type[R]:
    """Return a class of records with the annotated fields of `kind`, each `int` or `float`."""
    fields = [(name, _FIELDS[number]) for name, number in get_type_hints(kind).items()]
    made = type(kind.__name__, (ctypes.Structure,), {"_fields_": fields, "__doc__": kind.__doc__})
    return cast(type[R], made)


def words(kind: type[Any]) -> int:
    """Return how many words a record takes."""
    return ctypes.sizeof(kind) // WORD


def table(kind: type[R]) -> Primitive[[int, int], R]:
    """Return a function of an address and k that returns the k-th record from there on."""
    structure, size = cast(Any, kind), ctypes.sizeof(cast(Any, kind))

    def at(address: int, k: int) -> R:
        return structure.from_address(address + k * size)

    def build() -> Any:
        import numpy as np
        from numba import from_dtype, types
        from numba.extending import intrinsic

        made = from_dtype(np.dtype(structure))

        @intrinsic
        def record_at(_: Any, address: Any, k: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                step = builder.mul(args[1], context.get_constant(types.intp, size))
                return builder.inttoptr(builder.add(args[0], step), context.get_value_type(made))

            return made(types.intp, types.intp), code

        return record_at

    return Primitive(at, build, f"{kind.__name__} {structure._fields_}")


def _numbers(letter: str, number: type[Any]) -> Primitive[[int, int], Numbers]:
    """Return a function of an address and k that returns a pointer to the numbers from there on."""

    def at(address: int, k: int) -> Numbers:
        return cast(Numbers, ctypes.cast(address + WORD * k, ctypes.POINTER(number)))

    def build() -> Any:
        from numba import types
        from numba.extending import intrinsic

        made = types.CPointer(types.float64 if letter == "f" else types.int64)

        @intrinsic
        def numbers_at(_: Any, address: Any, k: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                step = builder.mul(args[1], context.get_constant(types.intp, WORD))
                return builder.inttoptr(builder.add(args[0], step), context.get_value_type(made))

            return made(types.intp, types.intp), code

        return numbers_at

    return Primitive(at, build, letter)


floats = _numbers("f", ctypes.c_double)
ints = _numbers("i", ctypes.c_int64)


def after(kind: type[R]) -> Primitive[[R], Numbers]:
    """Return a function of a record that returns a pointer to the floats that follow it."""
    structure, size = cast(Any, kind), ctypes.sizeof(cast(Any, kind))

    def tail(entry: R) -> Numbers:
        place = ctypes.addressof(cast(Any, entry)) + size
        return cast(Numbers, ctypes.cast(place, ctypes.POINTER(ctypes.c_double)))

    def build() -> Any:
        from numba import types
        from numba.extending import intrinsic

        made = types.CPointer(types.float64)

        @intrinsic
        def tail_of(_: Any, entry: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                pointer = builder.bitcast(args[0], context.get_value_type(made))
                return builder.gep(pointer, [context.get_constant(types.intp, size // WORD)])

            return made(entry), code

        return tail_of

    return Primitive(tail, build, f"{kind.__name__} {structure._fields_}")


def _array(pointer: Any, count: int) -> Any:
    import numpy as np

    return np.ctypeslib.as_array(pointer, (count,))


def _build_array() -> Any:
    return backend().array_at()


# An array of so many numbers at a pointer; whoever owns them keeps them.
array = Primitive(_array, _build_array)
