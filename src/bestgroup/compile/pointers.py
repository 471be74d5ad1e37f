"""`bare`: kernels for the inside of the jump engine, which compiled code calls by the ten thousand.

They make no arrays, so they are compiled without reference counts (`borrowing`), which cost them a
third of their time, and without the test for a zero divisor. Two arrays hold a run; `memory` hands
them over as pointers.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Generic, cast

from bestgroup.compile.borrowing import Borrowing
from bestgroup.compile.kernel import P, T


class Bare(Borrowing[P, T]):
    """A borrowing kernel that does not test for a zero divisor."""

    options: ClassVar[dict[str, Any]] = {**Borrowing.options, "error_model": "numpy"}


def bare(body: Callable[P, T]) -> Bare[P, T]:
    """Return `body` as a bare kernel."""
    return Bare(body)


class Primitive(Generic[P, T]):
    """A function with a Python body, of which `build` makes numba's form when it is first needed."""

    def __init__(self, body: Callable[P, T], build: Callable[[], Any]) -> None:
        functools.update_wrapper(cast(Any, self), body)
        self.body, self.build = body, build

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the Python body."""
        return self.body(*args, **kwargs)

    @functools.cached_property
    def digest(self) -> str:
        """What code that uses this depends on."""
        return hashlib.sha256(inspect.getsource(self.build).encode()).hexdigest()

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """How numba sees this in compiled code."""
        from numba.core.registry import cpu_target

        made = self.build()
        context: Any = cpu_target.typing_context
        context.refresh()
        return context.resolve_value_type(made)


def _memory(array: Any) -> Any:
    return array


def _build_memory() -> Any:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def memory(_: Any, array: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return types.CPointer(array.dtype)(array), code

    return memory


def _part(values: Any, place: int, count: int) -> Any:
    return values[place : place + count]


def _build_part() -> Any:
    from numba import types
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    @intrinsic
    def part(_: Any, values: Any, place: Any, count: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = args[0]
            if isinstance(signature.args[0], types.Array):
                data = context.make_array(signature.args[0])(context, builder, data).data
            made = context.make_array(signature.return_type)(context, builder)
            size = context.get_constant(types.intp, values.dtype.bitwidth // 8)
            first = builder.gep(data, [args[1]])
            populate_array(made, first, [args[2]], [size], size, None)
            return made._getvalue()

        return types.Array(values.dtype, 1, "C")(values, types.intp, types.intp), code

    return part


# The memory of an array, for `bare` kernels to index: in compiled code a pointer, one word where an
# array is seven, and without the test for a negative index. The caller keeps the array.
memory = Primitive(_memory, _build_memory)
# An array of so many values from a place on, of a memory or an array.
part = Primitive(_part, _build_part)
