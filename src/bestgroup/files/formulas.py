r"""Names in tables that other programs open: none starts a formula, none turns the text around.

A name that begins like a formula is written with an apostrophe before it, which spreadsheets show as
text. Characters that change the direction of writing, and so what a line seems to say, are written
by their codes, as `\u{202E}`. Reading undoes both.
"""

from __future__ import annotations

import re

_BEGINS = ("=", "+", "-", "@", "\t", "\r")
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\\\\(?=u\\{)")
_CODE = re.compile(r"\\u\{(61C|200E|200F|202[A-E]|206[6-9]|5C)\}")


def guarded(name: str) -> str:
    r"""Return a name that starts no formula and shows what it holds.

    >>> guarded("=1+1"), guarded("plain"), guarded("'=x")
    ("'=1+1", 'plain', "''=x")
    >>> print(guarded("a\u202eb"))
    a\u{202E}b
    """
    if not name.isascii() or "\\" in name:
        name = _TURNS.sub(lambda found: f"\\u{{{ord(found[0]):X}}}", name)
    return f"'{name}" if name.lstrip("'").startswith(_BEGINS) else name


def unguarded(name: str) -> str:
    r"""Return the name that `guarded` was given.

    >>> [unguarded(guarded(name)) for name in ("=1+1", "plain", "'=x", "'s")]
    ['=1+1', 'plain', "'=x", "'s"]
    >>> all(unguarded(guarded(name)) == name for name in ("a\u202eb", r"a\u{202E}b", r"\\u{5C}"))
    True
    """
    if name.startswith("'") and name.lstrip("'").startswith(_BEGINS):
        name = name[1:]
    return _CODE.sub(lambda found: chr(int(found[1], 16)), name) if "\\" in name else name
