"""Wrap the prose of Markdown pages at 100 columns; tables, code, headings and formulas stay.

python docs/wrap.py README.md docs/*.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

WIDTH = 100
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])\s+")
FENCE = re.compile(r"^\s*(`{3,}|~{3,}|:{3,})")
# One line each: rows of tables, headings, HTML, pictures, addresses of links, code by indentation.
ONE_LINE = re.compile(r"^\s*(\||#|<|>|!\[|\[[^\]]+\]:|\(\w[\w-]*\)=|-{3,}$|={3,}$)")
# What would begin something else at the start of a line stays with the word before it.
STARTS = re.compile(r"^([-*+>#=|].*|\d+[.)]|:{3,}.*)$")


def wrap(text: str) -> str:
    """Return a page with its prose wrapped; what a notebook begins with stays."""
    if text.startswith("---\n") and "\n---\n" in text[4:]:
        end = text.index("\n---\n", 4) + 5
        return text[:end] + wrap(text[end:])
    done: list[str] = []
    words: list[str] = []
    first = rest = ""
    fence, code = "", False

    def flush() -> None:
        if words:
            done.extend(_lines(words, first, rest))
            words.clear()

    for line in text.split("\n"):
        mark, item = FENCE.match(line), ITEM.match(line)
        blank = not line.strip()
        code = not words and line.startswith("    ") and (code or not done or not done[-1].strip())
        if fence or mark or blank or ONE_LINE.match(line) or (code and not item and not rest):
            flush()
            done.append(line)
            if fence:
                fence = "" if mark and mark[1].startswith(fence) else fence
            elif mark:
                fence = mark[1]
            elif not blank:
                rest = ""
        elif item:
            flush()
            first, rest = item[0], " " * len(item[0])
            words.extend(line[item.end() :].split(" "))
        else:
            if not words:
                first = rest = line[: len(line) - len(line.lstrip())]
            words.extend(line.strip().split(" "))
    flush()
    return "\n".join(done)


def _lines(words: list[str], first: str, rest: str) -> list[str]:
    """Return words in lines; those that must not begin a line go with the word before."""
    found: list[str] = []
    line, at = first, len(first)
    for number, word in enumerate(words):
        glued = number > 0 and STARTS.match(word)
        if len(line) > at and len(line) + 1 + len(word) > WIDTH and not glued:
            found.append(line)
            line, at = rest, len(rest)
        line += word if len(line) == at else f" {word}"
    return [*found, line]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name)
        old = page.read_text(encoding="utf-8")
        if any(len(line) > WIDTH for line in old.split("\n")) and (new := wrap(old)) != old:
            page.write_text(new, encoding="utf-8")
            print(name)
