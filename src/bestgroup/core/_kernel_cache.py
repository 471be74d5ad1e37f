"""Numba's on-disk cache under a digest that the kernel gives. Imported only when compiling."""

from __future__ import annotations

import os
from typing import Any

from numba.core import caching

from bestgroup.core.kernel import cache_folder


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
        super().__init__(body)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # Numba takes two named tuples of one name and the same types for equal, whatever the order
        # of their fields.
        return (*super()._index_key(sig, codegen), tuple(_fields(kind) for kind in sig))

    def is_warm(self) -> bool:
        """Return whether compiled code of this kernel is on disk."""
        return os.path.exists(self._cache_file._index_path)


def _fields(kind: Any) -> Any:
    """Return the names of a named tuple's fields, however deep, and () for other types."""
    inside = tuple(_fields(entry) for entry in getattr(kind, "types", ()))
    return (tuple(getattr(kind, "fields", ())), inside) if inside else ()
