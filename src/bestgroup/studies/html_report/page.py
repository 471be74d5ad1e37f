"""The report itself: one HTML file without scripts, to keep, send or print."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bestgroup._version import __version__
from bestgroup.problem.items import why_stuck
from bestgroup.problem.markup import Markup, joined, tag
from bestgroup.problem.status import Status
from bestgroup.studies.estimates import efficiencies, front, weighted_worths
from bestgroup.studies.html_report import figures
from bestgroup.studies.html_report.facts import Facts
from bestgroup.studies.html_report.svg import number
from bestgroup.studies.study import Study

MOST_ROWS = 300  # groups in the table
MOST_DOTS = 40  # groups in the figure of weighted worth
RANK = {Status.IN: 0, Status.UNDECIDED: 1, Status.NOT_NEEDED: 2, Status.OUT: 3}


def report_html(study: Study) -> str:
    """Return a study as one HTML file: answer, assumptions, figures, and a digest of the data."""
    facts = Facts.of(study)
    name = facts.spec.name
    parts = [_verdict(facts), _rests_on(facts)]
    if facts.status.told:
        parts += [_figure(facts), _table(facts), _course(facts)]
    parts += [_pinned(facts), _data(facts)]
    head = [
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", f"{name} – bestgroup report"),
        tag("style", Markup(style())),
    ]
    page = tag("html", tag("head", *head), tag("body", *parts), lang="en")
    return f"<!doctype html>\n{page}\n"


@cache
def style() -> str:
    """Return the report's style sheet."""
    return (Path(__file__).parent / "report.css").read_text("utf-8")


@cache
def policy() -> str:
    """Return the content security policy under which a server may show a report."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'"


def _verdict(facts: Facts) -> Markup:
    spec, counts = facts.spec, facts.counts
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(facts.made))
    listed = [
        tag("li", figures.icon(status), tag("b", number(counts[status])), f" {status.word}")
        for status in figures.ORDER
    ]
    warnings = [tag("p", f"{note}.", class_="warn") for note in facts.certificate.notes]
    return joined(
        [
            tag("p", f"{spec.name} · {spec.goal.question}", class_="soft"),
            tag("h1", f"{headline(facts)}."),
            tag("p", f"Report of {made}, by bestgroup {__version__}.", class_="soft"),
            figures.shares(counts),
            tag("ul", *listed, class_="counts"),
            *warnings,
        ]
    )


def headline(facts: Facts) -> str:
    """Return the answer in one sentence."""
    answer = facts.answer
    if answer.final and not answer.groups:
        return "No group has an arm that keeps the limits"
    if answer.final:
        return facts.spec.goal.headline(_listed(answer.groups), len(answer.groups))
    if facts.status.state == "stuck":
        return f"No further pull can decide this: {why_stuck(facts.spec.problem.items)}"
    open_ = facts.counts[Status.UNDECIDED]
    inside = [
        name
        for name, status in zip(facts.spec.problem.groups, facts.statuses, strict=True)
        if status == Status.IN
    ]
    if not inside:
        return f"No group is in yet; {number(open_)} of {len(facts.statuses)} are undecided"
    verb = "is" if len(inside) == 1 else "are"
    return f"{_listed(inside)} {verb} in; {number(open_)} still undecided"


def _rests_on(facts: Facts) -> Markup:
    found = facts.guarantee
    level = "Proven" if found.level == "proven" else "No guarantee"
    assumptions = [tag("li", words) for words in found.assumptions]
    return joined(
        [
            tag("h2", "What the answer rests on"),
            tag("p", f"{level}: {found.statement}."),
            tag("p", "Provided that", class_="soft") if assumptions else None,
            tag("ul", *assumptions),
        ]
    )


def _figure(facts: Facts) -> Markup:
    spec, found = facts.spec, facts.certificate
    dims, names = spec.problem.decided, spec.problem.groups
    ends, worth = efficiencies(found), weighted_worths(found)
    note = (
        "A mark is an estimate; if the assumptions hold, its box or line holds the truth, for all "
        f"groups together with probability at least {1 - spec.delta:.10g}; one that meets the edge may "
        "go beyond it."
    )
    if worth is None and len(spec.problem.decided) > 1:
        groups = [
            figures.Group(names[i], facts.statuses[i], _range(ends[:, i, 0]), _range(ends[:, i, 1]))
            for i in _ranked(facts)
            if np.isfinite(ends[1, i, :2]).all()
        ]
        axes = (_axis(dims[0]), _axis(dims[1]))
        corners = [(float(row[0]), float(row[1])) for row in front(found, 0, 1)]
        drawn = figures.plane(groups[::-1], axes, corners)
        note += " The line is the front of the estimates."
    else:
        values = ends[:, :, 0] if worth is None else worth
        less = worth is None and dims[0].direction == "min"
        order = np.argsort(values[1] if less else -values[1], kind="stable")[:MOST_DOTS]
        groups = [
            figures.Group(names[i], facts.statuses[i], _range(values[:, i])) for i in order.tolist()
        ]
        axis = _axis(dims[0]) if worth is None else figures.Axis(_weights(facts))
        drawn = figures.intervals(groups, axis)
    return joined([tag("h2", "The groups"), drawn, tag("p", note, class_="soft")])


def _weights(facts: Facts) -> str:
    dims = facts.spec.problem.decided
    return " + ".join(
        f"{weight:g} × {'−' if dim.direction == 'min' else ''}{dim.name}"
        for weight, dim in zip(facts.spec.goal.weight_vector(len(dims)), dims, strict=True)
    )


def _table(facts: Facts) -> Markup:
    spec, ends = facts.spec, efficiencies(facts.certificate)
    dims = spec.problem.decided
    pulls = facts.certificate.tally.counts.sum(axis=1)
    order = _ranked(facts)
    rows = [
        [
            spec.problem.groups[i],
            joined([figures.icon(facts.statuses[i]), facts.statuses[i].word]),
            facts.proven_by(i),
            number(float(pulls[i])),
            *(_interval(ends[:, i, d]) for d in range(len(dims))),
        ]
        for i in order[:MOST_ROWS]
    ]
    heads = ["Group", "Status", "Proven by", "Pulls", *(_titled(dim) for dim in dims)]
    more = len(order) - len(rows)
    cut = f"{number(more)} more groups, those that are out last, are left out of this table."
    return joined([_rows(heads, rows, {3}), tag("p", cut, class_="soft") if more else None])


def _course(facts: Facts) -> Markup:
    counts = dict.fromkeys(Status, 0) | {Status.UNDECIDED: len(facts.statuses)}
    steps = [(0, dict(counts))]
    rows = []
    for decision in facts.decisions:
        if decision["group"] is not None:
            counts[Status.UNDECIDED] -= 1
            counts[Status.read(decision["kind"])] += 1
            steps.append((decision["pulls"], dict(counts)))
        what = "the whole answer" if decision["group"] is None else decision["group"]
        kind = "final" if decision["group"] is None else decision["kind"]
        rows.append([what, kind, number(decision["pulls"]), number(decision["plan"])])
    heads = ["Group", "Decided", "Pulls", "Plan"]
    listed = _rows(heads, rows[:MOST_ROWS], {2, 3}) if rows else tag("p", "Nothing yet.")
    drawn = figures.course(steps, facts.status.pulls) if rows and facts.status.pulls else None
    return joined([tag("h2", "The algorithm's decisions"), drawn, listed])


def _pinned(facts: Facts) -> Markup:
    spec = facts.spec
    dims = ", ".join(f"{_titled(dim)}: {dim.direction}" for dim in spec.problem.dims)
    options = ", ".join(f"{key} {value}" for key, value in spec.options.items())
    terms = {
        **{name: _plain(values) for name, values in spec.goal.terms().items()},
        "Dims": dims,
        "Slack (epsilon)": _plain(spec.goal.epsilon),
        "Error probability (delta)": f"{spec.delta:g}",
        "Noise": str(spec.problem.noise),
        "Groups and arms": f"{len(spec.problem.groups):,} groups, {spec.problem.shape.total:,} arms",
        "Algorithm": f"{spec.algorithm}, version {spec.algorithm_version}"
        + (f" ({options})" if options else ""),
        "Seed": str(spec.seed),
        "Made by": f"bestgroup {spec.library}",
    }
    if spec.problem.measure is not None:
        terms["What counts"] = spec.problem.measure.in_words()
    cells = [part for term, text in terms.items() for part in (tag("dt", term), tag("dd", text))]
    return joined([tag("h2", "What the study is pinned to"), tag("dl", *cells)])


def _data(facts: Facts) -> Markup:
    told, used = number(facts.status.told), number(facts.status.pulls)
    name = facts.spec.name
    how = f"bestgroup study export {_quoted(name)} observations.csv && sha256sum observations.csv"
    return joined(
        [
            tag("h2", "The data"),
            tag("p", f"{told} observations, of which the algorithm has used {used}."),
            tag("p", "SHA-256 of all observations, as exported: ", tag("code", facts.digest)),
            tag("p", "To compare: ", tag("code", how), class_="soft"),
        ]
    )


def _ranked(facts: Facts) -> list[int]:
    return sorted(range(len(facts.statuses)), key=lambda i: RANK[facts.statuses[i]])


def _rows(heads: Sequence[str], rows: Iterable[Sequence[Any]], right: set[int]) -> Markup:
    def style_of(k: int) -> str | None:
        return "number" if k in right else None

    first = [tag("th", text, scope="col", class_=style_of(k)) for k, text in enumerate(heads)]
    body = [
        tag("tr", *(tag("td", cell, class_=style_of(k)) for k, cell in enumerate(row)))
        for row in rows
    ]
    return tag("table", tag("thead", tag("tr", *first)), tag("tbody", *body))


def _axis(dim: Any) -> figures.Axis:
    return figures.Axis(_titled(dim), dim.direction == "min")


def _titled(dim: Any) -> str:
    return f"{dim.name} ({dim.unit})" if dim.unit else dim.name


def _range(ends: Any) -> figures.Range:
    return float(ends[0]), float(ends[1]), float(ends[2])


def _interval(ends: Any) -> str:
    low, middle, high = (number(float(end), 3) for end in ends)
    return f"{middle} ({low} … {high})" if np.isfinite(ends[1]) else "–"


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _plain(value: Any) -> str:
    return ", ".join(f"{x:g}" for x in np.atleast_1d(value))


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "'\\''") + "'"
