"""Forms of kernels that only compiled code calls: drafts, optimised where they end up.

For every function that compiled code calls numba optimises that function with all that it calls,
and makes machine code of it. Of functions that call each other ten deep that is most of the work,
done ten times over, and only the outermost result is ever run. A draft stops after lowering: its
code is linked, once, into each kernel that Python calls, and optimised there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _Draft(JITCodeLibrary):
    """The code of one function, neither linked nor optimised nor made ready to run."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True


class _DraftCompiler(Compiler):
    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, library, *rest)
        self.state.flags.no_compile = True
        self.state.library = _Draft(target.codegen(), "draft")


class _Entry:
    """Stands for the entry point that a draft lacks; numba finds its code by this object."""

    def __call__(self) -> None:
        raise TypeError("a draft cannot be called")


def draft(body: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a dispatcher of `body` for compiled code to refer to."""
    njit: Any = numba.njit  # its stubs lack some options
    dispatcher = njit(
        body,
        pipeline_class=_DraftCompiler,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        **options,
    )
    template = dispatcher.get_call_template

    def add_overload(result: Any) -> None:
        entry = _Entry()
        # Whoever calls this links all that it calls, too.
        libraries = list(dict.fromkeys([result.library, *result.library._linking_libraries]))
        dispatcher.targetctx.insert_user_function(entry, result.fndesc, libraries)
        dispatcher.overloads[tuple(result.signature.args)] = result._replace(entry_point=entry)

    def widened(args: Any, kws: Any) -> Any:
        # A constant among the arguments would have the function compiled once more for it.
        return template(tuple(numba.types.unliteral(arg) for arg in args), kws)

    dispatcher.add_overload, dispatcher.get_call_template = add_overload, widened
    return dispatcher
