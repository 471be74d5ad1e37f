"""Finds the best groups among many noisy options, with a proof, from as few samples as possible.

Everything public is listed in `__init__.pyi`, which type checkers read; the names are loaded from
there, each module when one of its names is first used.
"""

import ast
import importlib
from pathlib import Path
from typing import Any

from bestgroup._version import __version__ as __version__


def _homes() -> dict[str, str]:
    """Return the module of every public name, as the stub beside this file lists them."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {
        alias.name: node.module
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


_HOMES = _homes()
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bestgroup' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    # A public module, such as `laws`, is listed as a name of the package that it lives in.
    missing = home is importlib.import_module(__name__) or not hasattr(home, name)
    value = importlib.import_module(f"{_HOMES[name]}.{name}") if missing else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
