"""How it is read: the paper's table beside ours, and how often EECB is ahead of TEL."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestgroup.experiments.figures import algorithms
from bestgroup.experiments.pareto_reading import Grid, ours, wrong_answers
from bestgroup.experiments.points import Outcome, Point, Weights, by_point, title
from bestgroup.experiments.table.sweep import WEIGHTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "EECB against TEL for five weight vectors (N = K = 5, D = 3)"
PAPER = {
    "eecb": (225_766, 534_801, 209_423, 124_603, 141_455),
    "tel": (7_176_441, 7_176_441, 7_176_441, 7_176_441, 7_176_441),
}


def ratios(outcomes: Sequence[Outcome]) -> dict[Weights, list[float]]:
    """Return EECB's mean pulls over TEL's, for each weights a number an instance."""
    means = {(o.point, o.weights, o.algorithm): o.mean for o in outcomes}
    return {
        w: [means[p, w, "eecb"] / means[p, w, "tel"] for p in by_point(outcomes)] for w in WEIGHTS
    }


def compared(outcomes: Sequence[Outcome]) -> bool:
    """Return whether both of the paper's algorithms ran."""
    return {"eecb", "tel"} <= set(algorithms(outcomes))


def grids(outcomes: Sequence[Outcome]) -> list[tuple[str, Grid]]:
    """Return the tables, each with a caption."""
    found = [("Pulls, mean ± standard deviation over runs.", _beside(outcomes))]
    if compared(outcomes):
        count = len(by_point(outcomes))
        caption = f"EECB's mean pulls divided by TEL's, over {count} random instances."
        found.append((caption, _survey(outcomes)))
    return found


def _heads() -> tuple[str, ...]:
    return ("", "instance", *(f"({', '.join(f'{x:g}' for x in w)})" for w in WEIGHTS))


def _beside(outcomes: Sequence[Outcome]) -> Grid:
    names = algorithms(outcomes)
    rows: list[tuple[str, ...]] = [
        (title(name), "the paper's", *(f"{pulls:,}" for pulls in PAPER[name]))
        for name in names
        if name in PAPER
    ]
    for point, group in by_point(outcomes).items():
        if point.with_limit:
            rows += _rows(point, group, names)
    return Grid(_heads(), tuple(rows))


def _rows(point: Point, group: Sequence[Outcome], names: Sequence[str]) -> list[tuple[str, ...]]:
    found = {(o.algorithm, o.weights): o for o in group}
    rows = [
        (title(name), point.letter, *(_pulls(found[name, w]) for w in WEIGHTS)) for name in names
    ]
    limits = [found[names[0], w].limit for w in WEIGHTS]
    rows.append(("limit", point.letter, *(_plain(limit.pulls) for limit in limits)))
    if any(math.isfinite(limit.bound) for limit in limits):
        star = "" if all(limit.bound_why_not is None for limit in limits) else " *"
        bounds = [_plain(limit.bound) for limit in limits]
        rows.append((f"theorem{star}", point.letter, *bounds))
    return rows


def _pulls(outcome: Outcome) -> str:
    sd = "" if math.isnan(outcome.sd) else f" ± {outcome.sd:,.0f}"
    return f"{outcome.mean:,.0f}{sd}"


def _plain(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.0f}"


def _survey(outcomes: Sequence[Outcome]) -> Grid:
    found = ratios(outcomes)
    count = len(by_point(outcomes))
    paper = [e / t for e, t in zip(PAPER["eecb"], PAPER["tel"], strict=True)]
    rows = [
        ("EECB below TEL", f"{count}", *(f"{sum(r < 1 for r in found[w])}" for w in WEIGHTS)),
        ("median ratio", f"{count}", *(f"{statistics.median(found[w]):.2f}" for w in WEIGHTS)),
        ("least ratio", f"{count}", *(f"{min(found[w]):.2f}" for w in WEIGHTS)),
        ("largest ratio", f"{count}", *(f"{max(found[w]):.2f}" for w in WEIGHTS)),
        ("ratio", "the paper's", *(f"{ratio:.3f}" for ratio in paper)),
    ]
    heads = _heads()
    return Grid((heads[0], "instances", *heads[2:]), tuple(rows))


def findings(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what the numbers say about the paper's claim."""
    sentences = []
    if compared(outcomes):
        sentences += _claim(outcomes)
    sentences.append(wrong_answers(outcomes))
    sentences += ours(outcomes)
    limits = [o.limit for o in outcomes if o.point.with_limit]
    outside = [limit.bound_why_not for limit in limits if limit.bound_why_not]
    if outside:
        sentences.append(
            "* The bound of the paper's Theorem 4.2, for comparison only; it does not apply: "
            f"{'; '.join(dict.fromkeys(outside))}."
        )
    return sentences


def _claim(outcomes: Sequence[Outcome]) -> list[str]:
    found = ratios(outcomes)
    count = len(by_point(outcomes))
    ahead = [sum(r < 1 for r in found[w]) for w in WEIGHTS]
    always = sum(all(found[w][k] < 1 for w in WEIGHTS) for k in range(count))
    each = ", ".join(str(n) for n in ahead)
    verdict = (
        "EECB is ahead of TEL for all five weights on every instance, as in the paper"
        if always == count
        else "EECB is not ahead of TEL on every instance; the paper shows one on which it is"
    )
    means = {(o.point, o.weights, o.algorithm): o.mean for o in outcomes}
    below = sum(
        means[point, w, "eecb"] <= number
        for point in by_point(outcomes)
        for w, number in zip(WEIGHTS, PAPER["eecb"], strict=True)
    )
    paper = max(e / t for e, t in zip(PAPER["eecb"], PAPER["tel"], strict=True))
    least = min(min(values) for values in found.values())
    return [
        f"{verdict}: of {count} random instances it takes fewer pulls on {each} (in the order of "
        f"the weights), and for all five weights on {always}.",
        f"EECB's mean is at or below the paper's number in {below} of {5 * count} cases (instances "
        f"times weights); the least ratio of EECB's mean to TEL's is {least:.3f}, the paper's "
        f"largest is {paper:.3f}.",
    ]


def figure(outcomes: Sequence[Outcome]) -> Figure:
    """Return the figure: pulls on the first instance, and the ratio over all instances."""
    from bestgroup.experiments.table import drawing

    return drawing.draw(outcomes)
