"""Typed records at addresses, and `bare` kernels that work on them: memory for compiled loops.

A run of the jump engine keeps some twenty tables of records. As arrays they would be handed from
function to function, seven words each, with a count of users; as one address they cost one word.
A *record* is a class of numbers,

    @record
    class Item:
        kind: int
        when: float

whose fields are read and set as attributes, in plain Python (by ctypes) as in compiled code (a
pointer, with numba's own access to the fields). A `Layout` declares tables of records and rows of
numbers, each once; each declaration is the function that reaches the entries. Nothing tests that an
index is within its table, and whoever makes the block keeps it alive.

`bare` kernels make no arrays, so they are compiled without reference counts (`borrowing`), which
cost them a third of their time, and without the test for a zero divisor.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import inspect
import math
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, cast, get_type_hints

import numpy as np
from numpy.typing import NDArray

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

    def __init__(
        self, body: Callable[P, T], build: Callable[[], Any], about: str = "", arguments: int = 0
    ) -> None:
        functools.update_wrapper(cast(Any, self), body)
        self.body, self.build, self.about = body, build, about
        self.arguments = arguments or len(inspect.signature(body).parameters)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the Python body."""
        return self.body(*args, **kwargs)

    @functools.cached_property
    def digest(self) -> str:
        """What code that uses this depends on."""
        return hashlib.sha256((inspect.getsource(self.build) + self.about).encode()).hexdigest()

    @functools.cached_property
    def _made(self) -> tuple[Any, Any]:
        return backend().typed(self.build, self.arguments)

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


class Layout:
    """Tables in one block of memory, behind a record, the head, that also holds their sizes.

    The dims of a table are numbers or names of fields of the head. In the block the head is followed
    by the addresses of the tables, then by the tables themselves.
    """

    def __init__(self, head: type[Any]) -> None:
        self.head, self.sizes = head, list[Callable[[Any], int]]()

    def table(self, kind: type[R], *dims: int | str, width: str = "") -> Primitive[..., R]:
        """Return a function of the head and an index that returns the record there.

        A record takes the words of its fields, or `width`, a field of the head, if more follows.
        """
        return self._add(kind, dims, width or words(kind))

    def numbers(self, kind: type[Any], *dims: int | str) -> Primitive[..., Numbers]:
        """Return a function of the head and an index without the last dim that returns a pointer.

        It points to as many numbers, ints or floats, as the last dim says.
        """
        return self._add(_FIELDS[kind], dims[:-1] or (1,), dims[-1], len(dims) - 1)

    def make(self, **fields: int) -> tuple[NDArray[np.int64], Any]:
        """Return a block of zeros but for fields of the head, and its head. The caller keeps both."""
        head = self.head(**fields)
        before = words(self.head) + len(self.sizes)
        sizes = [size(head) for size in self.sizes]
        block = np.zeros(before + sum(sizes), np.int64)
        starts = block.ctypes.data + WORD * (before + np.cumsum([0, *sizes]))
        block[: words(self.head)] = np.frombuffer(head, np.int64)
        block[words(self.head) : before] = starts[:-1]
        return block, cast(Any, self.head).from_address(block.ctypes.data)

    def _add(
        self, kind: Any, dims: tuple[int | str, ...], width: int | str, indices: int | None = None
    ) -> Primitive[..., Any]:
        place = words(self.head) + len(self.sizes)
        indices = len(dims) if indices is None else indices
        names = [name for name, _ in cast(Any, self.head)._fields_]

        def size(head: Any, dim: int | str) -> int:
            return getattr(head, dim) if isinstance(dim, str) else dim

        def entry(head: Any, *index: int) -> Any:
            k = 0
            for dim, i in zip(dims, index, strict=False):
                k = k * size(head, dim) + i
            address = _word(head, place) + WORD * size(head, width) * k
            if issubclass(kind, ctypes.Structure):
                return cast(Any, kind).from_address(address)
            return ctypes.cast(address, ctypes.POINTER(kind))

        def build() -> Any:
            shape = [names.index(dim) if isinstance(dim, str) else -dim for dim in dims]
            stride = names.index(width) if isinstance(width, str) else -width
            return _entry(kind, place, shape, stride, indices)

        self.sizes.append(
            lambda head: math.prod(size(head, dim) for dim in dims) * size(head, width)
        )
        about = f"{getattr(kind, '_fields_', kind)} {place} {dims} {width} {indices} {names}"
        return Primitive(entry, build, about, 1 + indices)


def _word(head: Any, k: int) -> int:
    """Return the k-th word from a record on."""
    return ctypes.c_int64.from_address(ctypes.addressof(head) + WORD * k).value


def _entry(kind: Any, place: int, shape: list[int], stride: int, indices: int) -> Any:
    """Return numba's form of an entry of a table: of a dim -n is the number n, else a word's place."""
    from numba import from_dtype, types
    from numba.extending import intrinsic

    structure = issubclass(kind, ctypes.Structure)
    number = types.float64 if kind is ctypes.c_double else types.int64
    made: Any = from_dtype(np.dtype(kind)) if structure else types.CPointer(number)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        integer = context.get_value_type(types.intp)
        head = builder.bitcast(args[0], integer.as_pointer())

        def word(k: int) -> Any:
            return builder.load(builder.gep(head, [integer(k)])) if k >= 0 else integer(-k)

        k = integer(0)
        for dim, index in zip(shape, args[1:], strict=False):
            k = builder.add(builder.mul(k, word(dim)), index)
        step = builder.mul(k, builder.mul(word(stride), integer(WORD)))
        return builder.inttoptr(builder.add(word(place), step), context.get_value_type(made))

    # numba reads the number of arguments from the signature.
    if indices == 0:
        return intrinsic(lambda _, head: (made(head), code))
    if indices == 1:
        return intrinsic(lambda _, head, i: (made(head, types.intp), code))
    if indices == 2:
        return intrinsic(lambda _, head, i, j: (made(head, *2 * [types.intp]), code))
    return intrinsic(lambda _, head, i, j, k: (made(head, *3 * [types.intp]), code))


def head_at(head: type[R]) -> Primitive[[int], R]:
    """Return a function of an address that returns the record there."""
    structure = cast(Any, head)

    def at(address: int) -> R:
        return structure.from_address(address)

    def build() -> Any:
        from numba import from_dtype, types
        from numba.extending import intrinsic

        made: Any = from_dtype(np.dtype(structure))

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(made))

        return intrinsic(lambda _, address: (made(types.intp), code))

    return Primitive(at, build, f"{structure._fields_}")


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


def view(first: Any, count: int) -> NDArray[Any]:
    """Return so many records from one on as an array with fields, in plain Python."""
    kind = type(first)
    room = ctypes.c_byte * (count * ctypes.sizeof(kind))
    memory = cast(Any, room.from_address(ctypes.addressof(first)))
    return np.frombuffer(memory, _dtype_of(kind))


@functools.cache
def _dtype_of(kind: type[Any]) -> np.dtype[Any]:
    # numpy goes through all fields to find it: a third of the time that an engine takes to make.
    return np.dtype(kind)


def _array(pointer: Any, count: int) -> Any:
    return np.ctypeslib.as_array(pointer, (count,))


def _build_array() -> Any:
    return backend().array_at()


# An array of so many numbers at a pointer; whoever owns them keeps them.
array = Primitive(_array, _build_array)
