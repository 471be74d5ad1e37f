"""`borrowing`: a kernel that makes no arrays and hands none out, compiled without reference counts.

Compiled code counts the users of every array, by atomic additions. To hand a named tuple of fifty
arrays to a function costs a hundred of them, more than most functions do with it. A kernel whose
arrays all belong to its caller can do without: its arguments outlive the call. Such a kernel

- makes no array: numba refuses to compile it then;
- returns no array, for nobody would have counted that;
- calls kernels of this kind, or kernels of numbers.

Its `compiled` form counts, as that of any kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from bestgroup.compile.kernel import Kernel, P, T


class Borrowing(Kernel[P, T]):
    """A kernel that counts no references where other kernels call it."""

    counts_references: ClassVar[bool] = False


def borrowing(body: Callable[P, T]) -> Borrowing[P, T]:
    """Return `body` as a kernel that counts no references."""
    return Borrowing(body)
