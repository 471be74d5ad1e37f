"""`borrowing`: a kernel that makes no arrays and hands none out, compiled without reference counts.

Compiled code counts the users of every array, by atomic additions. To hand a named tuple of fifty
arrays to a function costs a hundred of them, more than most functions do with it. A kernel whose
arrays all belong to its caller can do without: its arguments outlive the call. Such a kernel

- makes no array: numba refuses to compile it then;
- returns no array, for nobody would have counted that;
- calls kernels of this kind, or kernels of numbers.

It has no entry from Python either, which for such tuples takes longer to compile than the kernel:
`compiled` is a counting form of its own.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

from bestgroup.core.kernel import Kernel, P, T


class Borrowing(Kernel[P, T]):
    """A kernel that counts no references where other kernels call it."""

    @functools.cached_property
    def inner(self) -> Any:
        """The numba dispatcher that compiled code refers to."""
        import numba

        from bestgroup.core._kernel_cache import PackageCache

        # The two forms of one body must not take each other's code from the disk.
        digest = hashlib.sha256(f"borrowing {self.digest}".encode()).hexdigest()[:20]
        options: dict[str, Any] = {
            "_nrt": False,
            "no_cpython_wrapper": True,
            "no_cfunc_wrapper": True,
        }
        dispatcher = numba.njit(**options)(self.body)
        dispatcher._cache = PackageCache(self.body, digest)  # type: ignore[attr-defined]
        return dispatcher

    @property
    def _numba_type_(self) -> Any:
        from numba import types

        return types.Dispatcher(self.inner)


def borrowing(body: Callable[P, T]) -> Borrowing[P, T]:
    """Return `body` as a kernel that counts no references."""
    return Borrowing(body)
