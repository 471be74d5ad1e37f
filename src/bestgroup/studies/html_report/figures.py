"""The figures of the report, as SVG: shares of statuses, two dims, intervals, and the decisions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bestgroup.problem.markup import Markup, tag
from bestgroup.problem.status import Status
from bestgroup.studies.html_report.svg import extent, number, scale, ticks

SHAPES = {
    Status.IN: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
    Status.UNDECIDED: "M0 -5L5 0L0 5L-5 0Z",
    Status.NOT_NEEDED: "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
    Status.OUT: "M-4 -4L4 4M-4 4L4 -4",
}
ORDER = (Status.IN, Status.OUT, Status.NOT_NEEDED, Status.UNDECIDED)
FEW = 40  # groups of which all boxes and names are drawn
WIDTH, RIGHT = 760, 746
LEFT = 62
Range = tuple[float, float, float]  # lower bound, estimate, upper bound
Place = Callable[[float], float]


class Axis(NamedTuple):
    """What is drawn along an axis, and whether less of it is better."""

    title: str
    less: bool = False

    @property
    def words(self) -> str:
        """The title with an arrow to where it is better."""
        return f"← better   {self.title}" if self.less else f"{self.title}   better →"


class Group(NamedTuple):
    """A group in a figure."""

    name: str
    status: Status
    x: Range
    y: Range = (0.0, 0.0, 0.0)


def slug(status: Status) -> str:
    """Return a status as a name for the style sheet."""
    return status.word.replace(" ", "-")


def mark(status: Status, x: float, y: float) -> Markup:
    """Return a status as its shape."""
    place = f"translate({x:.1f} {y:.1f})"
    return tag("path", d=SHAPES[status], class_=f"mark {slug(status)}", transform=place)


def icon(status: Status) -> Markup:
    """Return a status as a small picture."""
    return tag("svg", mark(status, 0, 0), class_="icon", viewBox="-7 -7 14 14", aria_hidden="true")


def shares(counts: dict[Status, int]) -> Markup:
    """Return a bar of what is in, out, not needed and undecided."""
    total, at, parts = sum(counts.values()) or 1, 0.0, []
    for status in ORDER:
        wide = 100.0 * counts[status] / total
        box = {"x": f"{at:.3f}%", "width": f"{wide:.3f}%", "height": "100%"}
        parts.append(tag("rect", class_=f"area {slug(status)}", **box))
        at += wide
    words = ", ".join(f"{counts[status]} {status.word}" for status in ORDER if counts[status])
    return tag("svg", *parts, class_="shares", role="img", aria_label=words)


def plane(
    groups: Sequence[Group], axes: tuple[Axis, Axis], front: Sequence[tuple[float, float]]
) -> Markup:
    """Return the groups in two dims with their boxes and the front of the estimates."""
    height, bottom = 470, 426
    xs, ys = extent(group.x for group in groups), extent(group.y for group in groups)
    sx, sy = scale(*xs, LEFT, RIGHT), scale(*ys, bottom, 12)
    few = len(groups) <= FEW
    drawn: list[Markup] = []
    for group in groups:
        if few or group.status in (Status.IN, Status.UNDECIDED):
            drawn.append(_box(group, sx, sy))
    steps = [
        f"H{sx(a):.1f}V{sy(b):.1f}" if k else f"M{sx(a):.1f} {sy(b):.1f}"
        for k, (a, b) in enumerate(front)
    ]
    drawn.append(tag("path", d="".join(steps) or "M0 0", class_="front"))
    for group in groups:
        x, y = sx(group.x[1]), sy(group.y[1])
        drawn.append(mark(group.status, x, y))
        if few or group.status == Status.IN:
            side = {"x": x - 8, "text_anchor": "end"} if x > 560 else {"x": x + 8}
            drawn.append(tag("text", _short(group.name), class_="label", y=y - 7, **side))
    frame = tag("rect", x=LEFT, y=4, width=RIGHT - LEFT, height=bottom - 4)
    parts = [
        *_across(xs, sx, 12, bottom),
        *_up(ys, sy, RIGHT),
        tag("clipPath", frame, id="plane"),
        tag("g", *drawn, clip_path="url(#plane)"),
        _title(axes[0].words, (LEFT + RIGHT) / 2, height - 8),
        _title(axes[1].words, 0, 0, f"translate(14 {bottom / 2:.0f}) rotate(-90)"),
    ]
    words = f"{len(groups)} groups: {axes[0].title} across and {axes[1].title} up"
    return _figure(height, words, parts)


def intervals(groups: Sequence[Group], axis: Axis) -> Markup:
    """Return one number for each group with its interval, a row each."""
    row, left = 22, 190
    bottom = 14 + row * max(len(groups), 3)
    low, high = extent(group.x for group in groups)
    sx = scale(low, high, left, RIGHT)
    parts = _across((low, high), sx, 8, bottom)
    for k, group in enumerate(groups):
        y, (a, m, b) = 14 + row * (k + 0.5), group.x
        at = {"x": left - 10, "y": y + 4, "text_anchor": "end"}
        parts.append(tag("text", _short(group.name), class_="label", **at))
        if math.isfinite(m):
            ends = {"x1": sx(max(a, low)), "x2": sx(min(b, high)), "y1": y, "y2": y}
            parts += [tag("line", class_=f"range {slug(group.status)}", **ends)]
            parts += [mark(group.status, sx(m), y)]
    parts.append(_title(axis.words, (left + RIGHT) / 2, bottom + 36))
    return _figure(bottom + 44, f"{axis.title} of {len(groups)} groups with intervals", parts)


def course(steps: Sequence[tuple[int, dict[Status, int]]], end: int) -> Markup:
    """Return how many groups had which status after how many pulls, from the decisions."""
    height, bottom = 210, 166
    total = sum(steps[0][1].values()) or 1
    sx, sy = scale(0, end or 1, LEFT, RIGHT), scale(0, total, bottom, 10)
    ends = [*(pulls for pulls, _ in steps[1:]), end]
    parts = [*_across((0, end or 1), sx, 10, bottom)]
    ground = [0] * len(steps)
    for status in (Status.IN, Status.NOT_NEEDED, Status.OUT, Status.UNDECIDED):
        roof = [g + counts[status] for g, (_, counts) in zip(ground, steps, strict=True)]
        for (pulls, _), stop, low, high in zip(steps, ends, ground, roof, strict=True):
            box = {"x": sx(pulls), "width": max(0.0, sx(stop) - sx(pulls)) + 0.3}
            box |= {"y": sy(high), "height": sy(low) - sy(high)}
            parts.append(tag("rect", class_=f"area {slug(status)}", **box))
        ground = roof
    parts.append(_title("pulls that the algorithm has used", (LEFT + RIGHT) / 2, height - 6))
    turned = f"translate(38 {bottom / 2:.0f}) rotate(-90)"
    parts.append(_title(f"{number(total)} groups", 0, 0, turned))
    return _figure(height, "Status of the groups over the course of the study", parts)


def _figure(height: float, words: str, parts: Sequence[Markup]) -> Markup:
    box = f"0 0 {WIDTH} {height:.0f}"
    return tag("svg", *parts, viewBox=box, class_="figure", role="img", aria_label=words)


def _title(words: str, x: float, y: float, transform: str | None = None) -> Markup:
    at = {"x": x, "y": y, "transform": transform, "text_anchor": "middle"}
    return tag("text", words, class_="title", **at)


def _box(group: Group, sx: Place, sy: Place) -> Markup:
    (a, _, b), (c, _, d) = group.x, group.y
    left, right, low, high = sx(a), sx(b), sy(c), sy(d)
    size = {"x": left, "y": high, "width": max(1.0, right - left), "height": max(1.0, low - high)}
    return tag("rect", class_=f"box {slug(group.status)}", **size)


def _across(domain: tuple[float, float], sx: Place, top: float, bottom: float) -> list[Markup]:
    parts = []
    for value in ticks(*domain, 8):
        x = sx(value)
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=top, y2=bottom))
        at = {"x": x, "y": bottom + 16, "text_anchor": "middle"}
        parts.append(tag("text", number(value), **at))
    return parts


def _up(domain: tuple[float, float], sy: Place, right: float) -> list[Markup]:
    parts = []
    for value in ticks(*domain, 8):
        y = sy(value)
        parts.append(tag("line", class_="grid", x1=LEFT, x2=right, y1=y, y2=y))
        parts.append(tag("text", number(value), x=LEFT - 8, y=y + 4, text_anchor="end"))
    return parts


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
