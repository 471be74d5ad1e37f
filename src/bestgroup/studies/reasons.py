"""What an algorithm's decisions rest on, as far as its estimates tell.

The algorithm decides; its verdict here has its statuses and, as comparisons, what the estimates show.
For `adaptive` the rival of a rejected group is the one of its proof. Forecasts are those of
`explain`: half-widths shrink as the algorithm's own radius does, or as boxes and evidence do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import kernels_of
from bestgroup.drivers.session import Conductor
from bestgroup.inference.certificate.deviations import deviations
from bestgroup.inference.certificate.explain import Explainer, pair_reach
from bestgroup.inference.certificate.forecast import arms_needed
from bestgroup.inference.certificate.judge import Verdict, boxes
from bestgroup.inference.radii import radius_at
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.status import Status
from bestgroup.studies.spec import StudySpec


class Outlook(NamedTuple):
    """What an algorithm's state says of its decisions and of what it takes to end."""

    reach: Floats | None  # [N, K, D]  half-widths times the root of the count, if it has a radius
    rivals: Ints  # [N]  the group whose proof put this one out; -1 where the state does not tell
    pairs: bool  # proofs rest on several arms at once
    forecast: float | None  # more pulls, about; None if no one can say yet

    @classmethod
    def blank(cls, groups: int, pairs: bool = False) -> Outlook:
        """Return the outlook before any pull, or where the algorithm cannot be asked."""
        return cls(None, np.full(groups, -1), pairs, None)


def outlook(spec: StudySpec, conductor: Conductor, forecast: bool = True) -> Outlook:
    """Return what the conductor's state says; without the forecast, which takes longest, if asked."""
    rivals = _proven_rivals(conductor)
    pairs = conductor.algorithm.by_pairs(conductor.setting) and not _has_radius(conductor)
    more = foresee(spec, conductor) if forecast else None
    return Outlook(_reach(spec, conductor), rivals, pairs, more)


def decided_verdict(
    spec: StudySpec, tally: Tally, status: Ints, look: Outlook, ends: tuple[Floats, Floats]
) -> Verdict:
    """Return an algorithm's statuses with the comparisons that the estimates show.

    `ends` are the boxes of the arms, [N, K, D] each.
    """
    nothing = np.zeros((len(status), len(status), spec.problem.shape.dims), np.bool_)
    bare = Verdict(status, *ends, nothing, nothing, look.pairs, estimated=True)
    explainer = Explainer(spec.problem, spec.goal, spec.delta, tally, bare, look.reach)
    with np.errstate(invalid="ignore"):  # groups that were never pulled
        ahead = explainer.best[:, None, :] - explainer.best[None, :, :]
    beats = (ahead > 0) & (status == Status.OUT)[None, :, None]
    for i in np.flatnonzero(look.rivals >= 0):
        beats[:, i] &= (np.arange(len(status)) == look.rivals[i])[:, None]
    holds = (ahead + explainer.epsilon >= 0) & (status == Status.IN)[:, None, None]
    return bare._replace(beats=beats, holds=holds)


def foresee(spec: StudySpec, conductor: Conductor) -> float | None:
    """Return about how many more pulls the algorithm takes; None if no one can say yet."""
    if conductor.done:
        return 0.0
    moment, shape = conductor.moment(), spec.problem.shape
    if conductor.setting.items is not None:
        return conductor.algorithm.remaining(moment.state, conductor.rule)
    if not (moment.counts[shape.exists] > 0).all():
        return None
    tally = Tally(moment.counts, moment.sums, moment.extra)
    look = outlook(spec, conductor, forecast=False)
    ends = _ends(spec, tally, look)
    verdict = decided_verdict(spec, tally, conductor.status, look, ends)
    explainer = Explainer(spec.problem, spec.goal, spec.delta, tally, verdict, look.reach)
    need = arms_needed(explainer)
    active = _lockstep(conductor)
    if active is not None:
        # Lockstep: the active arms of a group are pulled as often as the hardest of them.
        need = np.where(active, need.max(axis=1)[:, None], need)
    total = float(np.maximum(need - moment.counts, 0.0)[shape.exists].sum())
    return max(total, 1.0) if math.isfinite(total) else None


def _ends(spec: StudySpec, tally: Tally, look: Outlook) -> tuple[Floats, Floats]:
    """Return boxes where the algorithm goes by them; otherwise none are needed."""
    noise, shape = spec.problem.noise, spec.problem.shape
    if look.reach is None and not look.pairs:
        return boxes(tally, shape, noise, spec.delta)
    wide = np.full((shape.groups, shape.arms, shape.dims), np.inf)
    return -wide, np.where(shape.exists[:, :, None], wide, -np.inf)


def _lockstep(conductor: Conductor) -> Bools | None:
    """Return the arms that an algorithm in rounds still pulls, [N, K]; None for the others."""
    active = conductor.record().get("arms")
    kernels = kernels_of(conductor.algorithm, conductor.rule)
    if kernels is not None and kernels.lockstep is not None and active is not None:
        return np.any(np.asarray(active, np.bool_), axis=2)
    return None


def _has_radius(conductor: Conductor) -> bool:
    return getattr(conductor.rule, "radius", None) is not None


def _reach(spec: StudySpec, conductor: Conductor) -> Floats | None:
    """Return half-widths times the root of the count, [N, K, D]; None where boxes tell.

    For algorithms with a radius, and for evidence on pairs of arms.
    """
    setting = conductor.setting
    if not _has_radius(conductor):  # before a scale is asked for, which a noise model need not have
        if not conductor.algorithm.by_pairs(setting):
            return None
        moment = conductor.moment()
        tally = Tally(moment.counts, moment.sums, moment.extra)
        spread = deviations(tally, conductor.algorithm.statistics(setting))
        return pair_reach(setting.shape, spec.delta, spread)
    radius = conductor.rule.radius
    counts = np.maximum(conductor.moment().counts, 1)
    scales = conductor.setting.noise.scales(conductor.setting.shape.dims)
    beta = np.array([[radius_at(radius, int(n)) for n in row] for row in counts])
    return (beta * np.sqrt(counts))[:, :, None] * scales


def _proven_rivals(conductor: Conductor) -> Ints:
    """Return, for each group, the one whose proof has put it out; -1 where the state does not tell."""
    state, rule = conductor.moment().state, conductor.rule
    rivals = np.full(len(conductor.status), -1)
    for i in np.flatnonzero(conductor.status == Status.OUT).tolist():
        by = conductor.algorithm.rival(state, rule, i)
        rivals[i] = -1 if by is None else by
    return rivals
