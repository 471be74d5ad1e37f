"""Names in tables that spreadsheets open: none of them may start a formula.

A name that begins like one is written with an apostrophe before it, which spreadsheets show as text,
and read without it again.
"""

from __future__ import annotations

_BEGINS = ("=", "+", "-", "@", "\t", "\r")


def guarded(name: str) -> str:
    """Return a name that starts no formula.

    >>> guarded("=1+1"), guarded("plain"), guarded("'=x")
    ("'=1+1", 'plain', "''=x")
    """
    return f"'{name}" if name.lstrip("'").startswith(_BEGINS) else name


def unguarded(name: str) -> str:
    """Return the name that `guarded` was given.

    >>> [unguarded(guarded(name)) for name in ("=1+1", "plain", "'=x", "'s")]
    ['=1+1', 'plain', "'=x", "'s"]
    """
    return name[1:] if name.startswith("'") and name.lstrip("'").startswith(_BEGINS) else name
