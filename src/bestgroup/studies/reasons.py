"""The rival, the dims, the arms and the margins behind a group's status in a study.

The algorithm decides; this says what its decision rests on. For `adaptive` the rival of a rejected
group is the one of its proof; otherwise rivals are found by the estimates, and the text says about
how large the differences are. Forecasts are those of `explain`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import kernels_of
from bestgroup.drivers.session import Conductor
from bestgroup.inference.certificate.explain import Explainer, Explanation
from bestgroup.inference.certificate.forecast import arms_needed
from bestgroup.inference.certificate.judge import Verdict, boxes
from bestgroup.inference.radii import radius_at
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.status import Status
from bestgroup.studies.spec import StudySpec


def reasons(spec: StudySpec, conductor: Conductor, group: int) -> Explanation | None:
    """Return why a group has its status; None before every arm of the study was pulled."""
    explainer = _explainer(spec, conductor)
    if explainer is None:
        return None
    verdict = explainer.verdict
    by = None
    if verdict.status[group] == Status.OUT:
        by = conductor.algorithm.rival(conductor.moment().state, conductor.rule, group)
    if by is not None:
        verdict.beats[:, group] = False
        verdict.beats[by, group] = True
    try:
        return explainer.group(group)
    except ValueError:  # the estimates have moved since the decision: no rival shows in them
        return None


def foresee(spec: StudySpec, conductor: Conductor) -> float | None:
    """Return about how many more pulls the algorithm takes; None if no one can say yet."""
    if conductor.done:
        return 0.0
    explainer = _explainer(spec, conductor)
    if explainer is None:
        return None
    need = arms_needed(explainer)
    counts, active = conductor.moment().counts, conductor.record().get("arms")
    kernels = kernels_of(conductor.algorithm, conductor.rule)
    if kernels is not None and kernels.lockstep is not None and active is not None:
        # Lockstep: the active arms of a group are pulled as often as the hardest of them.
        need = np.where(np.asarray(active).any(axis=2), need.max(axis=1)[:, None], need)
    total = float(np.maximum(need - counts, 0.0)[spec.problem.shape.exists].sum())
    return total if math.isfinite(total) else None


def _explainer(spec: StudySpec, conductor: Conductor) -> Explainer | None:
    """Return what explains the algorithm's own decisions by the estimates."""
    moment = conductor.moment()
    shape, noise = spec.problem.shape, spec.problem.noise
    if not (moment.counts[shape.exists] > 0).all():
        return None
    tally = Tally(moment.counts, moment.sums, moment.extra)
    low = np.full((shape.groups, shape.arms, shape.dims), -np.inf)
    high = np.where(shape.exists[:, :, None], np.inf, -np.inf) * np.ones(shape.dims)
    reach = _reach(conductor)
    pairs = reach is None and isinstance(noise, SubGaussian) and noise.arms == "independent"
    if reach is None and not pairs:
        low, high = boxes(tally, shape, noise, spec.delta)
    status = conductor.status
    explainer = Explainer(
        spec.problem, spec.goal, spec.delta, tally, _bare(status, low, high, pairs), reach
    )
    ahead = explainer.best[:, None, :] - explainer.best[None, :, :]
    beats = (ahead > 0) & (status == Status.OUT)[None, :, None]
    holds = (ahead + explainer.epsilon >= 0) & (status == Status.IN)[:, None, None]
    explainer.verdict = Verdict(status, low, high, beats, holds, pairs, estimated=True)
    return explainer


def _reach(conductor: Conductor) -> Floats | None:
    """Return half-widths times the root of the count for algorithms with a radius, [N, K, D]."""
    rule, counts = conductor.rule, np.maximum(conductor.moment().counts, 1)
    scales = conductor.setting.noise.scales(conductor.setting.shape.dims)
    radius = getattr(rule, "radius", None)
    if radius is None:
        return None
    beta = np.array([[radius_at(radius, int(n)) for n in row] for row in counts])
    return (beta * np.sqrt(counts))[:, :, None] * scales


def _bare(status: Ints, low: Any, high: Any, pairs: bool) -> Verdict:
    N, D = len(status), low.shape[2]
    nothing = np.zeros((N, N, D), bool)
    return Verdict(status, low, high, nothing, nothing.copy(), pairs)
