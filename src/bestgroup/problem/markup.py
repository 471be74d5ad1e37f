"""HTML as text: elements whose texts are escaped, and the cards that notebooks show of an object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from bestgroup.problem.status import Status
from bestgroup.problem.visible import visible

_MOST_ROWS = 20
_CARD = (
    "display:inline-block;border:1px solid #88888855;border-radius:6px;padding:.6em .9em;"
    "line-height:1.45;max-width:64em"
)
_CELL = "padding:.15em .7em .15em 0;text-align:{};vertical-align:top;border:0"
_HEAD = ";border-bottom:1px solid #88888855;font-weight:600"
_COLOURS = {
    Status.IN: "#0072B2",
    Status.OUT: "#888888",
    Status.NOT_NEEDED: "#009E73",
    Status.UNDECIDED: "#B87700",
}


class Markup(str):
    """Text that is markup already."""


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """Return an element; texts are escaped, and `_` in names of attributes stands for `-`.

    >>> tag("p", "1 < 2", tag("b", "&"), class_="x")
    '<p class="x">1 &lt; 2<b>&amp;</b></p>'
    """
    parts = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(_text(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{parts}>{joined(children)}</{name}>")


def joined(children: Iterable[object]) -> Markup:
    """Return children one after another; whatever is no markup yet is escaped."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else escape(visible(str(child)), quote=False)
            for child in children
            if child is not None
        )
    )


def _text(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def card(title: str, facts: str, *parts: object) -> Markup:
    """Return what a notebook shows of an object: a title, a line of facts, tables and notes."""
    head = tag("div", title, style="font-weight:600")
    line = tag("div", facts, style="opacity:.75;margin-bottom:.3em") if facts else None
    return tag("div", head, line, *parts, style=_CARD)


def rows_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    """Return a table of at most 20 rows; a head that begins with ">" sets its column to the right."""
    sides = ["right" if head.startswith(">") else "left" for head in heads]
    cells = [_CELL.format(side) for side in sides]
    first = tag(
        "tr",
        *(
            tag("th", head.removeprefix(">"), style=cell + _HEAD)
            for head, cell in zip(heads, cells, strict=True)
        ),
    )
    body = [
        tag("tr", *(tag("td", x, style=cell) for x, cell in zip(row, cells, strict=True)))
        for row in rows[:_MOST_ROWS]
    ]
    if len(rows) > _MOST_ROWS:
        more = tag("td", f"and {len(rows) - _MOST_ROWS:,} more", colspan=len(heads), style=cells[0])
        body.append(tag("tr", more))
    return tag("table", first, *body, style="border-collapse:collapse;margin:.2em 0")


def status_words(status: Status) -> Markup:
    """Return a status in its colour."""
    return tag("span", f"● {status.word}", style=f"color:{_COLOURS[status]};white-space:nowrap")


def folded(title: str, lines: Sequence[object]) -> Markup | None:
    """Return lines that open at a click; None without any."""
    if not lines:
        return None
    items = tag("ul", *(tag("li", line) for line in lines), style="margin:.2em 0")
    summary = tag("summary", title, style="cursor:pointer;opacity:.75")
    return tag("details", summary, items)
