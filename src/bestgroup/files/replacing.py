"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bestgroup.errors import InvalidInput


def check_writable(path: Path) -> Path:
    """Return `path` if a file can be written there; refuses before any work is done."""
    folder = path.parent
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; give the name of a file to write")
    if not folder.is_dir():
        raise InvalidInput(f"{path} cannot be written: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidInput(f"{path} cannot be written: permission denied")
    return path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path` that takes its place if all goes well."""
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=path.suffix, dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
    try:
        yield Path(name)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
    finally:
        Path(name).unlink(missing_ok=True)
