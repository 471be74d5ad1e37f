"""The certificate of a study: its algorithm's decisions, and what its observations prove beyond them.

The decisions, at delta, are the study's own; page, plots, `explain` and `solve` show them alike. The
observations prove things by themselves, too, by a proof that does not know the algorithm (`judge`),
at a delta of its own. Where the algorithm has not decided, what they prove is marked as beyond its
decisions: both together hold with probability at least 1 - 2 delta.

Two proofs that hold cannot contradict each other. If they do, an assumption that both rest on has
failed (a drift, a wrong scale), or one of two rare events has happened; the certificate says so.
"""

from __future__ import annotations

import numpy as np

from bestgroup.analysis.certify import Certificate, data_guarantee
from bestgroup.inference.certificate.judge import Verdict
from bestgroup.problem.guarantee import Guarantee, decisions_statement
from bestgroup.problem.status import Status
from bestgroup.studies.observer import Picture
from bestgroup.studies.reasons import Outlook, decided_verdict
from bestgroup.studies.report import guarantee_of, statuses
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.records import Head


def make_certificate(
    spec: StudySpec, head: Head, picture: Picture, look: Outlook | None
) -> Certificate:
    """Return the certificate of a study; without a look its algorithm cannot be run here."""
    problem, goal, data, tally = spec.problem, spec.goal, picture.verdict, picture.tally
    decided = np.array(statuses(spec, head), np.int64)
    own = guarantee_of(spec, head)
    if look is None:
        pairs = spec.problem.noise.arms == "independent"
        look = Outlook.blank(len(decided), pairs)
    verdict = decided_verdict(spec, tally, decided, look, (data.low, data.high), data)
    plans = look.reach, look.forecast
    found = Certificate(
        problem,
        goal,
        spec.delta,
        tally,
        verdict,
        own,
        item_values=picture.items,
        data=data,
        outlook=plans,
        own_proof=own.level == "proven",
        basis=picture.basis,
    )
    against = () if own.level == "none" else contradictions(found, spec.algorithm)
    return found.with_data(together(spec, own, data), against)


def together(spec: StudySpec, own: Guarantee, data: Verdict) -> Guarantee:
    """Return what the algorithm's decisions and those of the observations hold with together."""
    alone = data_guarantee(spec.problem, spec.goal, spec.delta, data)
    if own.level == "none":
        return alone
    if 2 * spec.delta >= 1:
        return own.void("two proofs at this delta guarantee nothing together")
    words = decisions_statement(
        spec.goal,
        2 * spec.delta,
        f" (the error of {spec.algorithm} and that of the proof from the observations added up)",
    )
    more = [word for word in alone.assumptions if word not in own.assumptions]
    return Guarantee("proven", words, (*own.assumptions, *more))


def contradictions(found: Certificate, algorithm: str) -> tuple[str, ...]:
    """Return a sentence for each group of which decision and observations cannot both be right."""
    data = found.data
    assert data is not None
    with np.errstate(invalid="ignore"):
        beaten, best = found.goal.against(*data.interval())
    sentences = []
    for i, name in enumerate(found.problem.groups):
        status = found.verdict.status[i]
        opposite = beaten[i] if status == Status.IN else best[i] and status == Status.OUT
        if opposite:
            sentences.append(
                f"{name} is {Status(status).word} by {algorithm}, and the observations prove the "
                f"opposite: an assumption fails, unless an event of probability below "
                f"{2 * found.delta:g} has happened; look for drift, wrong scales or mixed-up rows"
            )
    return tuple(sentences)
