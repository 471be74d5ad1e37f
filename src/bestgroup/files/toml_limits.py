"""Limits on TOML text, checked in one pass before it is parsed.

A parser makes a table for each part of a dotted key and goes down into each nested list: a few
kilobytes of dots cost minutes and gigabytes.
"""

from __future__ import annotations

import re

from bestgroup.errors import InvalidInput

MOST_BYTES = 64 * 2**20
MOST_PARTS = 32  # of a dotted key
MOST_DEPTH = 32  # of lists and tables inside each other
# Strings and comments are passed over; what is left are dots, brackets and the ends of keys.
_TOKENS = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[.\[\]{}=,\n]',
    re.DOTALL,
)


def check_toml(text: str) -> None:
    """Raise InvalidInput if a text would take a parser long, with the line of the reason.

    >>> check_toml("a.b.c = [[1.5, 2.5], []]")
    """
    if len(text) > MOST_BYTES:
        raise InvalidInput(f"a problem file may have up to {MOST_BYTES // 2**20} MB")
    dots = depth = 0
    line = 1
    for token in _TOKENS.finditer(text):
        word = token[0]
        if word == ".":
            dots += 1
        elif word in "[{":
            depth, dots = depth + 1, 0
        elif word in "]}":
            depth, dots = depth - 1, 0
        elif word in "=,\n":
            dots = 0
        line += word.count("\n")
        if dots >= MOST_PARTS:
            raise InvalidInput(f"line {line}: a key may have up to {MOST_PARTS} parts")
        if depth > MOST_DEPTH:
            raise InvalidInput(
                f"line {line}: lists are nested too deeply; up to {MOST_DEPTH} levels"
            )
