"""The version of the library, and of what it stands on."""

__version__ = "0.1.0"

# What results or failures may depend on; extras that are not installed are listed as such.
_PARTS = (
    *("numpy", "scipy", "numba", "llvmlite", "joblib", "sqlalchemy", "pydantic", "typer", "rich"),
    *("matplotlib", "narwhals", "pandas", "pyarrow", "psycopg", "fastapi", "uvicorn", "httpx"),
    *("dask", "ray", "scikit-learn", "optuna", "inspect_ai"),
)


def versions() -> dict[str, str]:
    """Return the versions of bestgroup, Python, the system and every package that matters.

    >>> versions()["bestgroup"] == __version__
    True
    """
    import platform
    import sys
    from importlib import metadata

    found = {
        "bestgroup": __version__,
        "python": sys.version.split()[0],
        "system": platform.platform(),
    }
    for part in _PARTS:
        try:
            found[part] = metadata.version(part)
        except metadata.PackageNotFoundError:
            found[part] = "not installed"
    return found


def show_versions() -> None:
    """Print the versions of bestgroup and of what it stands on, for bug reports."""
    for part, version in versions().items():
        print(f"{part:14} {version}")
