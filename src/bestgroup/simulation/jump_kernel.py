"""`bare`: kernels for the inside of the jump engine, which compiled code calls by the ten thousand.

They allocate nothing, so they are compiled without reference counts, which cost them a third of
their time, without the test for a zero divisor, and without an entry for Python; the plain body
runs as that of any kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from bestgroup.core.kernel import Kernel

P = ParamSpec("P")
T = TypeVar("T")


class Bare(Kernel[P, T]):
    """A kernel that only compiled code calls in its compiled form, and that allocates nothing."""

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The numba dispatcher of this kernel."""
        import numba

        njit: Any = numba.njit  # its stubs lack some options
        dispatcher = njit(
            self.body,
            _nrt=False,
            error_model="numpy",
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
        )
        template = dispatcher.get_call_template

        def widened(args: Any, kws: Any) -> Any:
            # A constant among the arguments would have the function compiled once more for it.
            return template(tuple(numba.types.unliteral(arg) for arg in args), kws)

        dispatcher.get_call_template = widened
        return dispatcher


def bare(body: Callable[P, T]) -> Bare[P, T]:
    """Return `body` as a bare kernel."""
    return Bare(body)
