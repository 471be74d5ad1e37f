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
from bestgroup.drivers.session import LiveSession
from bestgroup.inference.certificate.deviations import deviations
from bestgroup.inference.certificate.explain import pair_reach
from bestgroup.inference.certificate.explainers import explainer_of
from bestgroup.inference.certificate.forecast import arms_needed
from bestgroup.inference.certificate.judge import Verdict, boxes
from bestgroup.inference.certificate.regions import WeightRegions
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
    regions: WeightRegions | None = None  # of a map of weights

    @classmethod
    def blank(cls, groups: int, pairs: bool = False) -> Outlook:
        """Return the outlook before any pull, or where the algorithm cannot be asked."""
        return cls(None, np.full(groups, -1), pairs, None)


def outlook(spec: StudySpec, live: LiveSession, forecast: bool = True) -> Outlook:
    """Return what the live session's state says; without the forecast, which takes longest, if asked."""
    rivals = _proven_rivals(live)
    pairs = live.algorithm.by_pairs(live.setting) and not _has_radius(live)
    more = foresee(spec, live) if forecast else None
    regions = live.algorithm.regions(live.checkpoint().state, live.rule)
    return Outlook(_reach(spec, live), rivals, pairs, more, regions)


def decided_verdict(
    spec: StudySpec,
    tally: Tally,
    status: Ints,
    look: Outlook,
    ends: tuple[Floats, Floats],
    data: Verdict | None = None,
) -> Verdict:
    """Return an algorithm's statuses with the comparisons that the estimates show.

    `ends` are the boxes of the arms, [N, K, D] each; `data`, what the observations prove, tells which
    arms keep limits.
    """
    judged = len(spec.problem.decided)
    nothing = np.zeros((len(status), len(status), judged), np.bool_)
    bare = Verdict(
        status, *ends, nothing, nothing, look.pairs, estimated=True, regions=look.regions
    )
    if data is not None:
        bare = bare._replace(worths=data.worths, standing=data.standing)
    explainer = explainer_of(spec.problem, spec.goal, spec.delta, tally, bare, look.reach)
    with np.errstate(invalid="ignore"):  # groups that were never pulled
        ahead = explainer.best[:, None, :] - explainer.best[None, :, :]
    beats = (ahead > 0) & (status == Status.OUT)[None, :, None]
    for i in np.flatnonzero(look.rivals >= 0):
        beats[:, i] &= (np.arange(len(status)) == look.rivals[i])[:, None]
    holds = (ahead + explainer.epsilon >= 0) & (status == Status.IN)[:, None, None]
    return bare._replace(beats=beats, holds=holds)


def foresee(spec: StudySpec, live: LiveSession) -> float | None:
    """Return about how many more pulls the algorithm takes; None if no one can say yet."""
    if live.done:
        return 0.0
    checkpoint, shape = live.checkpoint(), spec.problem.shape
    if live.setting.items is not None or live.setting.measure is not None:
        return live.algorithm.remaining(checkpoint.state, live.rule)
    if not (checkpoint.counts[shape.exists] > 0).all():
        return None
    # What the algorithm reckons of its own proof is nearer than what other certificates would take.
    own = live.algorithm.remaining(checkpoint.state, live.rule)
    if own is not None:
        return own
    tally = Tally(checkpoint.counts, checkpoint.sums, checkpoint.extra)
    look = outlook(spec, live, forecast=False)
    ends = _ends(spec, tally, look)
    verdict = decided_verdict(spec, tally, live.status, look, ends)
    explainer = explainer_of(spec.problem, spec.goal, spec.delta, tally, verdict, look.reach)
    need = arms_needed(explainer)
    active = _lockstep(live)
    if active is not None:
        # Lockstep: the active arms of a group are pulled as often as the hardest of them.
        need = np.where(active, need.max(axis=1)[:, None], need)
    total = float(np.maximum(need - checkpoint.counts, 0.0)[shape.exists].sum())
    # Nothing seems to be missing, and yet it goes on: the reckoning is wrong, so nobody can say.
    return total if 0.0 < total < math.inf else None


def _ends(spec: StudySpec, tally: Tally, look: Outlook) -> tuple[Floats, Floats]:
    """Return boxes where the algorithm goes by them; otherwise none are needed."""
    noise, shape = spec.problem.noise, spec.problem.shape
    if look.reach is None and not look.pairs:
        return boxes(tally, shape, noise, spec.delta)
    wide = np.full((shape.groups, shape.arms, shape.dims), np.inf)
    return -wide, np.where(shape.exists[:, :, None], wide, -np.inf)


def _lockstep(live: LiveSession) -> Bools | None:
    """Return the arms that an algorithm in rounds still pulls, [N, K]; None for the others."""
    active = live.record().get("arms")
    kernels = kernels_of(live.algorithm, live.rule)
    if kernels is not None and kernels.lockstep is not None and active is not None:
        return np.any(np.asarray(active, np.bool_), axis=2)
    return None


def _has_radius(live: LiveSession) -> bool:
    return getattr(live.rule, "radius", None) is not None


def _reach(spec: StudySpec, live: LiveSession) -> Floats | None:
    """Return half-widths times the root of the count, [N, K, D]; None where boxes tell.

    For algorithms with a radius, and for evidence on pairs of arms.
    """
    setting = live.setting
    if not _has_radius(live):  # before a scale is asked for, which a noise model need not have
        if not live.algorithm.by_pairs(setting):
            return None
        checkpoint = live.checkpoint()
        tally = Tally(checkpoint.counts, checkpoint.sums, checkpoint.extra)
        spread = deviations(tally, live.algorithm.statistics(setting))
        return pair_reach(setting.shape, spec.delta, spread)
    radius = live.rule.radius
    counts = np.maximum(live.checkpoint().counts, 1)
    scales = live.setting.noise.scales(live.setting.shape.dims)
    beta = np.array([[radius_at(radius, int(n)) for n in row] for row in counts])
    return (beta * np.sqrt(counts))[:, :, None] * scales


def _proven_rivals(live: LiveSession) -> Ints:
    """Return, for each group, the one whose proof has put it out; -1 where the state does not tell."""
    state, rule = live.checkpoint().state, live.rule
    rivals = np.full(len(live.status), -1)
    for i in np.flatnonzero(live.status == Status.OUT).tolist():
        by = live.algorithm.rival(state, rule, i)
        rivals[i] = -1 if by is None else by
    return rivals
