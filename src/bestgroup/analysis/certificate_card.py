"""What a notebook shows of a certificate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bestgroup.problem.markup import Markup, card, folded, rows_table, status_words, tag
from bestgroup.problem.status import Status

if TYPE_CHECKING:
    from bestgroup.analysis.certify import Certificate


def certificate_html(certificate: Certificate) -> Markup:
    """Return the card of a certificate: a row for each group, then what it rests on."""
    status = certificate.verdict.status
    counts = [f"{int((status == s).sum())} {s.word}" for s in Status if (status == s).any()]
    return card(
        f"Certificate: {', '.join(counts)}", facts(certificate), *certificate_parts(certificate)
    )


def facts(certificate: Certificate) -> str:
    """Return the line below the title."""
    return f"{certificate.pulls:,} observations, {certificate.risk_words()}"


def certificate_parts(certificate: Certificate) -> list[Markup | None]:
    """Return the table of the groups, what it rests on, and the notes."""
    status = certificate.verdict.status
    low, high = certificate.intervals
    best = certificate.problem.to_user(certificate.explainer.best)
    rows = [
        (
            name,
            _status(certificate, i),
            f"{int(certificate.tally.counts[i].sum()):,}",
            *(_worth(best[i, d], low[i, d], high[i, d]) for d in range(best.shape[1])),
        )
        for i, name in enumerate(certificate.problem.groups)
    ]
    order = sorted(range(len(rows)), key=lambda i: (int(status[i]) - 1) % len(Status))
    worths = (certificate.guarantee, certificate.together)
    heads = ["group", "status", ">pulls", *(f">{dim.name}" for dim in certificate.problem.decided)]
    return [
        rows_table(heads, [rows[i] for i in order]),
        folded("What this rests on", [str(worth) for worth in worths if worth is not None]),
        folded("Notes", certificate.notes),
    ]


def _status(certificate: Certificate, i: int) -> Markup:
    """Return a group's status, and what a study's observations prove beyond it."""
    words = status_words(Status(certificate.verdict.status[i]))
    beyond = Status(certificate.beyond[i])
    if beyond == Status.UNDECIDED:
        return words
    return tag("span", words, f" ({beyond.word} by the observations alone)")


def _worth(best: float, low: float, high: float) -> Markup:
    """Return an estimate with its interval."""
    if not math.isfinite(best):
        return Markup("–")
    ends = " to ".join(_number(end) for end in (low, high))
    return tag("span", f"{best:.4g} ", tag("span", f"({ends})", style="opacity:.65"))


def _number(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else ("∞" if value > 0 else "−∞")
