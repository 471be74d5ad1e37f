"""Texts that show all that is in them: names come from users, and may hold what nobody sees."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Return a text with its control characters, those of writing direction too, shown as such.

    >>> print(visible("a\u202eb\x1b[0m"))
    a\u202eb\x1b[0m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _code(c) for c in text)


def _code(character: str) -> str:
    return character.encode("unicode_escape").decode()
