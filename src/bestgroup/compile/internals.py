"""All that touches numba's internals: compiled code on disk under our digests, and drafts.

Six private names are used, and a handful of modules that numba does not document; if one of them
goes, `kernel` falls back to `plain`, which needs public names only and gives the same bits, slower.

**Drafts.** For every function that compiled code calls numba optimises that function with all that
it calls, and makes machine code of it. Of functions that call each other ten deep that is most of
the work, done ten times over, and only the outermost result is ever run. A draft stops after
lowering: its code is linked, once, into each kernel that Python calls, and optimised there.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: there each process compiles for itself
    fcntl = None

import numba
from llvmlite.binding import Linkage
from numba import types
from numba.core.caching import CompileResultCacheImpl, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, signature
from numba.extending import infer, infer_getattr, intrinsic
from numba.np.arrayobj import populate_array

from bestgroup.compile.collecting import few_collections
from bestgroup.compile.kernel import Kernel, cache_folder
from bestgroup.compile.lending import (
    Lent,
    field_type,
    holds_lent,
    item_type,
    lent,
    mark_lent,
    returned,
)

_STORED: Any = CompileResultCacheImpl  # how compiled code becomes bytes, and comes back
# Seconds for which a process waits for another that compiles the same kernel, maybe at low priority.
WAIT = 60.0


class PackageCache:
    """Compiled code of one kernel in the package's own folder; a dispatcher asks it."""

    def __init__(self, kernel: Kernel[Any, Any]) -> None:
        body: Any = kernel.body
        folder = cache_folder() / kernel.digest[:2]
        folder.mkdir(parents=True, exist_ok=True)
        self.cache_path = str(folder)
        name = f"{body.__module__.rpartition('.')[2]}.{body.__qualname__}-{kernel.digest}"
        name = name.replace("<", "").replace(">", "")
        self._index = str(folder / f"{name}.nbi")
        self._file = IndexDataCacheFile(self.cache_path, name, kernel.digest)
        self._held: Any = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code from disk, or None with the right to compile it.

        Of several processes that need a kernel one compiles it and the others wait.
        """
        found = self._read(sig, target_context)
        if found is None and fcntl is not None and self._hold():
            found = self._read(sig, target_context)
            if found is not None:
                self._release()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code on disk, and let others load it."""
        try:
            if not data.library.has_dynamic_globals:
                key = _key(sig, data.codegen)
                self._file.save(key, _STORED.reduce(self, data))
        except OSError:  # a folder that cannot be written: the next process compiles again
            pass
        finally:
            self._release()

    def flush(self) -> None:
        """Forget all compiled code of this kernel."""
        self._file.flush()

    def is_warm(self) -> bool:
        """Return whether compiled code of this kernel is on disk."""
        return os.path.exists(self._index)

    def _read(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code from disk, or None; what cannot be read is dropped.

        An index names the types of arguments by their modules: one that another version wrote may
        name a module that has moved.
        """
        target_context.refresh()
        try:
            data = self._file.load(_key(sig, target_context.codegen()))
            if data is None:
                return None
            return _STORED.rebuild(self, target_context, data)
        except Exception:
            self.flush()
            return None

    def _hold(self) -> bool:
        """Lock the kernel's index, and return whether somebody else had it."""
        self._release()  # a compilation that failed may have left it
        try:
            self._held = os.open(f"{self._index}.lock", os.O_RDWR | os.O_CREAT)
        except OSError:  # a folder that cannot be written: nothing will be kept there either
            return False
        assert fcntl is not None
        until, waited = time.monotonic() + WAIT, False
        while True:
            try:
                fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return waited
            except OSError:
                if time.monotonic() > until:
                    return waited
                waited = True
                time.sleep(0.05)

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None


def _key(sig: Any, codegen: Any) -> Any:
    # Numba takes two named tuples of one name and the same types for equal, whatever the order of
    # their fields.
    return sig, codegen.magic_tuple(), tuple(_fields(kind) for kind in sig)


def _fields(kind: Any) -> Any:
    """Return the names of a named tuple's fields, however deep, and () for other types."""
    inside = tuple(_fields(entry) for entry in getattr(kind, "types", ()))
    return (tuple(getattr(kind, "fields", ())), inside) if inside else ()


def entry(kernel: Kernel[Any, Any]) -> Any:
    """Return the dispatcher of a kernel that Python calls, with its code on disk."""
    njit: Any = numba.njit  # its stubs lack some options
    dispatcher = njit(kernel.body, pipeline_class=_EntryCompiler, no_cfunc_wrapper=True)
    dispatcher._cache = PackageCache(kernel)
    compile_now, make = dispatcher.compile, dispatcher._compiler.compile

    def compile_rarely_disturbed(sig: Any) -> Any:
        _failed.yes = False
        with few_collections():
            return compile_now(sig)

    def make_lent(args: Any, wanted: Any) -> Any:
        # What Python calls fills the frame that large tuples are lent from. By value each would be
        # hundreds of arguments, handed over and put together again.
        given = tuple(map(lent, args))
        try:
            found = make(given, wanted)
            if not holds_lent(found.signature.return_type):
                # Python's arguments choose the code, so it is known by their types.
                return found._replace(signature=signature(found.signature.return_type, *args))
        except NumbaError:
            if given == args:
                raise
        _failed.yes = False
        return make(args, wanted)

    dispatcher.compile, dispatcher._compiler.compile = compile_rarely_disturbed, make_lent
    return dispatcher


def is_warm(dispatcher: Any) -> bool:
    """Return whether code of a dispatcher of `entry` is on disk."""
    return dispatcher._cache.is_warm()


class _Whole(JITCodeLibrary):
    """The code of a kernel that Python calls, with all that it calls, for nobody else.

    Numba has every function kept for others to link. Where only this code calls it, it is written
    out in the place of its only call, or loses the arguments that it does not read: a named tuple of
    a hundred arrays would be handed over as a thousand words.
    """

    def add_ir_module(self, ir_module: Any) -> None:
        mark_lent(ir_module)
        super().add_ir_module(ir_module)

    def _optimize_final_module(self) -> None:
        for item in self._final_module.functions:
            if not item.is_declaration and item.linkage == Linkage.linkonce_odr:
                item.linkage = "internal"
        super()._optimize_final_module()


class _EntryCompiler(Compiler):
    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, library, *rest)
        self.state.library = _Whole(target.codegen(), "whole")
        self.state.library.enable_object_caching()


class _Draft(JITCodeLibrary):
    """The code of one function, neither linked nor optimised nor made ready to run."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.callees: list[Any] = []

    def add_ir_module(self, ir_module: Any) -> None:
        mark_lent(ir_module)
        super().add_ir_module(ir_module)

    def add_linking_library(self, library: Any) -> None:
        super().add_linking_library(library)
        self.callees.append(library)

    def finalize(self) -> None:
        self._finalized = True


def _in_order(draft: _Draft) -> list[Any]:
    """Return a draft and all that it needs, each after something that refers to it.

    The linker drops a function that nobody has asked for yet. So what a draft calls where that can
    never be (behind a kernel that returns False) must not come first.
    """
    makers = {name: library for library in draft.callees for name in _functions_of(library)[0]}
    found: dict[Any, None] = {draft: None}
    pending = [draft]
    while pending:
        for name in _functions_of(pending.pop(0))[1]:
            maker = makers.get(name)
            if maker is not None and maker not in found:
                found[maker] = None
                pending.append(maker)
    return list(found)


@functools.cache
def _functions_of(library: Any) -> tuple[list[str], list[str]]:
    """Return the names of the functions that finished code has, and of those that it asks for."""
    # Kept: a function is linked into all that call it, however far above, and to read its names of
    # LLVM again each time took a tenth of a cold start.
    found: tuple[list[str], list[str]] = ([], [])
    for item in library._get_module_for_linking().functions:
        found[item.is_declaration].append(item.name)
    return found


class _DraftCompiler(Compiler):
    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, library, *rest)
        self.state.flags.no_compile = True
        self.state.library = _Draft(target.codegen(), "draft")


class _Entry:
    """Stands for the entry point that a draft lacks; numba finds its code by this object."""

    def __call__(self) -> None:
        raise TypeError("a draft cannot be called")


# Whether a function of this compilation cannot be compiled at all: those that call it fail for it,
# and would else all be tried twice, each for each of the others.
_failed = threading.local()


def callee(kernel: Kernel[Any, Any]) -> Any:
    """Return a dispatcher of a kernel for compiled code to refer to."""
    njit: Any = numba.njit  # its stubs lack some options
    options: dict[str, Any] = {"error_model": kernel.error_model}
    if not kernel.counts_references:
        options["_nrt"] = False
    dispatcher = njit(
        kernel.body,
        pipeline_class=_DraftCompiler,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        **options,
    )
    template = dispatcher.get_call_template

    def add_overload(result: Any) -> None:
        entry = _Entry()
        # Whoever calls this links all that it calls, too.
        libraries = _in_order(result.library)
        dispatcher.targetctx.insert_user_function(entry, result.fndesc, libraries)
        dispatcher.overloads[tuple(result.signature.args)] = result._replace(entry_point=entry)

    def widened(args: Any, kws: Any) -> Any:
        # A constant among the arguments would have the function compiled once more for it.
        given = tuple(types.unliteral(arg) for arg in args)
        try:
            found = template(
                tuple(map(lent, given)), {name: lent(kind) for name, kind in kws.items()}
            )
            if not holds_lent(dispatcher.overloads[tuple(found[2])].signature.return_type):
                return found
        except NumbaError:
            # A body may do more with a tuple than read fields: unpack it, ask how long it is.
            if getattr(_failed, "yes", False):
                raise
        try:
            return template(
                tuple(map(returned, given)), {name: returned(kind) for name, kind in kws.items()}
            )
        except NumbaError:
            _failed.yes = True
            raise

    dispatcher.add_overload, dispatcher.get_call_template = add_overload, widened
    return dispatcher


@infer_getattr
class _Fields(AttributeTemplate):
    key = Lent

    def generic_resolve(self, typ: Lent, attr: str) -> Any:
        return field_type(typ, attr)


@infer
class _Items(AbstractTemplate):
    key = "static_getitem"

    def generic(self, args: Any, kws: Any) -> Any:
        return signature(item_type(*args), *args) if isinstance(args[0], Lent) else None


def array_at() -> Any:
    """Return a function of a pointer and a count that returns an array, which nobody counts."""

    @intrinsic
    def make(_: Any, pointer: Any, count: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            made = context.make_array(signature.return_type)(context, builder)
            size = context.get_constant(types.intp, pointer.dtype.bitwidth // 8)
            populate_array(made, args[0], [args[1]], [size], size, None)
            return made._getvalue()

        return types.Array(pointer.dtype, 1, "C")(pointer, types.intp), code

    return make


def typed(build: Callable[[], Any], arguments: int) -> tuple[Any, Any]:
    """Return what `build` makes, and its type in compiled code; whoever has the type keeps it."""
    made = build()
    context: Any = cpu_target.typing_context
    context.refresh()
    return made, context.resolve_value_type(made)
