"""Kernels by numba's public names only: the fallback of `internals`, slower with the same bits.

Every function is optimised by itself, arrays are counted at each call, and nothing is kept on disk,
so each process compiles what it uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types

from bestgroup.compile.kernel import Kernel


def entry(kernel: Kernel[Any, Any]) -> Any:
    """Return the dispatcher of a kernel that Python calls."""
    return numba.njit(kernel.body)


def is_warm(dispatcher: Any) -> bool:
    """Return False: no code is kept on disk."""
    return False


def callee(kernel: Kernel[Any, Any]) -> Any:
    """Return a dispatcher of a kernel for compiled code to refer to."""
    return numba.njit(kernel.body, error_model=kernel.error_model)


def array_at() -> Any:
    """Return a function of a pointer and a count that returns an array."""
    carray: Any = vars(numba)["carray"]  # documented, and missing from the stubs

    def make(pointer: Any, count: Any) -> Any:
        return carray(pointer, (count,))

    return numba.njit(make)


def typed(build: Callable[[], Any], arguments: int) -> tuple[Any, Any]:
    """Return a function that calls an intrinsic, and its type; whoever has the type keeps it."""
    made = build()

    def one(a: Any) -> Any:
        return made(a)

    def two(a: Any, b: Any) -> Any:
        return made(a, b)

    def three(a: Any, b: Any, c: Any) -> Any:
        return made(a, b, c)

    def four(a: Any, b: Any, c: Any, d: Any) -> Any:
        return made(a, b, c, d)

    caller = numba.njit((one, two, three, four)[arguments - 1])
    return caller, types.Dispatcher(caller)
