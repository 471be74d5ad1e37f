"""Where studies are kept: `open_store` makes a store from "memory" or a database URL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.studies.storage.base import Store


def open_store(storage: Any, create: bool = False, patience: float = 30.0) -> Store:
    """Return the store that `storage` names: "memory", "sqlite:///file.db", "postgresql://...".

    `create` allows a new SQLite file; `patience` is how many seconds a database that is busy or
    away is waited for.
    """
    if isinstance(storage, Store):
        return storage
    if not isinstance(storage, str) or not storage:
        raise InvalidInput(
            'storage must be "memory", "sqlite:///FILE" or "postgresql://..."; '
            f"got {type(storage).__name__}"
        )
    if storage == "memory":
        from bestgroup.studies.storage.memory import shared_memory

        return shared_memory()
    from bestgroup.studies.storage.sql import SqlStore

    return SqlStore(storage, create=create, patience=patience)


def backup(store: Store, path: Path, names: Sequence[str] = ()) -> list[str]:
    """Write studies, all of them or those named, to a new SQLite file; returns their names."""
    from bestgroup.studies.storage.backup import backup as write

    return write(store, path, names)


def restore(
    store: Store, path: Path, names: Sequence[str] = (), replace: bool = False
) -> list[str]:
    """Put the studies of a backup into a storage, all or none; returns their names."""
    from bestgroup.studies.storage.backup import restore as read

    return read(store, path, names, replace)
