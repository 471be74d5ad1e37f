"""How the two figures on Pareto groups are read: tables, and sentences that the numbers bear."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bestgroup.experiments.figures import algorithms
from bestgroup.experiments.points import OURS, Outcome, Point, by_point, title


@dataclass(frozen=True)
class Grid:
    """A table of texts."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Return the table in Markdown; all columns but the first two are set to the right."""
        marks = ["---" if k < 2 else "---:" for k in range(len(self.heads))]
        lines = [self.heads, tuple(marks), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def millions(mean: float, sd: float = math.nan) -> str:
    """Return a number of pulls in millions, with its standard deviation if there is one.

    >>> millions(1_234_567.0, 98_765.0), millions(23_456_789.0, 0.0)
    ('1.23 ± 0.099', '23.5')
    """
    if math.isnan(mean):
        return "-"
    text = _digits(mean / 1e6)
    return text if math.isnan(sd) or sd == 0 else f"{text} ± {_digits(sd / 1e6, 2)}"


def _digits(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, without an exponent."""
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def grid(outcomes: Sequence[Outcome], symbol: str, value: Callable[[Point], int]) -> Grid:
    """Return millions of pulls, a row an instance: mean and sd over runs, and the limit."""
    names = algorithms(outcomes)
    rows = []
    for point, group in by_point(outcomes).items():
        found = {outcome.algorithm: outcome for outcome in group}
        cells = [millions(found[name].mean, found[name].sd) for name in names]
        limit = millions(group[0].limit.pulls)
        rows.append((str(value(point)), point.letter, *cells, limit))
    heads = (symbol, "instance", *(title(name) for name in names), "limit")
    return Grid(heads, tuple(rows))


def findings(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what the numbers say about the paper's claims."""
    points = [{o.algorithm: o for o in group} for group in by_point(outcomes).values()]
    names = algorithms(outcomes)
    sentences = []
    papers = [{name: o for name, o in p.items() if name not in OURS} for p in points]
    if "te" in names and len(papers[0]) > 1:
        sentences.append(_least(papers))
    if {"te", "age", "ge"} <= set(names):
        ordered = sum(p["te"].mean <= p["age"].mean <= p["ge"].mean for p in points)
        sentences.append(f"TE <= AGE <= GE in mean pulls on {ordered} of {len(points)} instances.")
    if {"te", "unis"} <= set(names):
        ratios = [p["unis"].mean / p["te"].mean for p in points]
        sentences.append(f"UniS takes {min(ratios):.1f} to {max(ratios):.1f} times TE's pulls.")
    sentences.append(wrong_answers(outcomes))
    if "te" in names:
        above = [p["te"].mean / p["te"].limit.pulls for p in points]
        sentences.append(f"TE takes {min(above):.0f} to {max(above):.0f} times the limit's pulls.")
    return [*sentences, *ours(outcomes), theorem(outcomes)]


def ours(outcomes: Sequence[Outcome]) -> list[str]:
    """Say how far our own algorithms are from the limit, where that is known."""
    sentences = []
    for name in OURS:
        mine = [o for o in outcomes if o.algorithm == name]
        above = [o.mean / o.limit.pulls for o in mine if o.limit.pulls > 0]
        if above:
            sentences.append(
                f"{title(name)} takes {min(above):.1f} to {max(above):.1f} times the limit's pulls."
            )
    return sentences


def _least(points: Sequence[dict[str, Outcome]]) -> str:
    """Say how often TE has the least mean, and by how much it misses where it has not."""
    behind = []
    for point in points:
        te, best = point["te"], min(point.values(), key=lambda outcome: outcome.mean)
        if best.mean < te.mean:
            behind.append((te, best))
    text = f"TE has the least mean on {len(points) - len(behind)} of {len(points)} instances"
    if not behind:
        return f"{text}."
    lost = [
        f"N={te.point.groups} K={te.point.arms} {te.point.letter}: {best.title} takes "
        f"{100 * (1 - best.mean / te.mean):.1f} % less{_noise(te, best)}"
        for te, best in behind
    ]
    return f"{text}; elsewhere: {'; '.join(lost)}."


def _noise(a: Outcome, b: Outcome) -> str:
    """Return a difference in standard errors, as a remark."""
    if not (a.runs > 1 and b.runs > 1):
        return ""
    error = math.sqrt(a.sd**2 / a.runs + b.sd**2 / b.runs)
    return f" ({abs(a.mean - b.mean) / error:.1f} standard errors)" if error > 0 else ""


def wrong_answers(outcomes: Sequence[Outcome]) -> str:
    """Say how many answers were wrong."""
    ran = [outcome for outcome in outcomes if outcome.errors is not None]
    runs = sum(outcome.runs for outcome in ran)
    wrong = {outcome.title: 0 for outcome in ran}
    for outcome in ran:
        wrong[outcome.title] += outcome.errors or 0
    bad = [f"{count:,} by {name}" for name, count in wrong.items() if count]
    if not bad:
        return f"No answer of {runs:,} runs is wrong."
    return f"Wrong answers in {runs:,} runs: {', '.join(bad)}."


def theorem(outcomes: Sequence[Outcome]) -> str:
    """Say where the theorem's bound applies, and why it does not on the first other instance."""
    groups = by_point(outcomes)
    outside = {p: g[0].limit.bound_why_not for p, g in groups.items() if g[0].limit.bound_why_not}
    text = (
        f"The paper's lower bound, Theorem 3.5, applies to {len(groups) - len(outside)} of "
        f"{len(groups)} instances"
    )
    if not outside:
        return f"{text}."
    point, reason = next(iter(outside.items()))
    return f"{text}; N={point.groups} K={point.arms} {point.letter}: {reason}."
