"""Numba's on-disk cache under a digest that the kernel gives. Imported only when compiling."""

from __future__ import annotations

import os
import time
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: there each process compiles for itself
    fcntl = None

from numba.core import caching

from bestgroup.compile.kernel import cache_folder

WAIT = 600.0  # seconds for which a process waits for another that compiles the same kernel


class _Locator(caching._CacheLocator):
    """Places compiled code in the package's cache folder, under the kernel's digest."""

    def __init__(self, digest: str) -> None:
        self._digest = digest
        self._py_file = digest

    def get_cache_path(self) -> Any:
        return str(cache_folder() / self._digest[:2])

    def get_source_stamp(self) -> Any:
        return self._digest

    def get_disambiguator(self) -> Any:
        return self._digest


class PackageCache(caching.FunctionCache):
    """A function cache that lives in the package's own folder."""

    def __init__(self, body: Any, digest: str) -> None:
        locator = _Locator(digest)
        locator.ensure_cache_path()

        class Impl(caching.CompileResultCacheImpl):
            def __init__(self, py_func: Any) -> None:
                self._lineno = py_func.__code__.co_firstlineno
                self._locator = locator
                name = f"{py_func.__module__.rpartition('.')[2]}.{py_func.__qualname__}"
                self._filename_base = self.get_filename_base(name, "")

        self._impl_class = Impl
        self._held: Any = None
        super().__init__(body)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # Numba takes two named tuples of one name and the same types for equal, whatever the order
        # of their fields.
        return (*super()._index_key(sig, codegen), tuple(_fields(kind) for kind in sig))

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

    def _read(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code from disk, or None; what cannot be read is dropped.

        An index names the types of arguments by their modules: one that another version wrote may
        name a module that has moved.
        """
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code on disk, and let others load it."""
        try:
            super().save_overload(sig, data)
        finally:
            self._release()

    def _hold(self) -> bool:
        """Lock the kernel's index, and return whether somebody else had it."""
        self._release()  # a compilation that failed may have left it
        try:
            self._held = os.open(f"{self._cache_file._index_path}.lock", os.O_RDWR | os.O_CREAT)
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

    def is_warm(self) -> bool:
        """Return whether compiled code of this kernel is on disk."""
        return os.path.exists(self._cache_file._index_path)


def _fields(kind: Any) -> Any:
    """Return the names of a named tuple's fields, however deep, and () for other types."""
    inside = tuple(_fields(entry) for entry in getattr(kind, "types", ()))
    return (tuple(getattr(kind, "fields", ())), inside) if inside else ()
