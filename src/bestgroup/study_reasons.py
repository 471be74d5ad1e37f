"""The rival, the dims, the arms and the margins behind a group's status in a study.

The algorithm decides; this says what its decision rests on. For `adaptive` the rival of a rejected
group is the one of its proof; otherwise rivals are found by the estimates, and the text says about
how large the differences are. Forecasts are those of `explain`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.conductor import Conductor
from bestgroup.core.arrays import Ints
from bestgroup.core.certificate import IN, OUT, UNDECIDED, Verdict, boxes
from bestgroup.core.goals import ParetoGroups
from bestgroup.core.noise import SubGaussian
from bestgroup.core.tally import Tally
from bestgroup.explain import Explainer, Explanation
from bestgroup.study_spec import StudySpec

_FEW = 40  # arms times dims for which boxes are worked out on the way


def reasons(spec: StudySpec, conductor: Conductor, group: int) -> Explanation | None:
    """Return why a group has its status; None before every arm of the study was pulled."""
    moment = conductor.moment()
    shape, noise = spec.problem.shape, spec.problem.noise
    if not (moment.counts[shape.exists] > 0).all():
        return None
    tally = Tally(moment.counts, moment.sums, moment.extra)
    pairs = isinstance(noise, SubGaussian) and noise.arms == "independent"
    low = np.full((shape.groups, shape.arms, shape.dims), -np.inf)
    high = np.where(shape.exists[:, :, None], np.inf, -np.inf) * np.ones(shape.dims)
    if not pairs and shape.total * shape.dims <= _FEW:
        low, high = boxes(tally, shape, noise, spec.delta)
    status = _status(conductor)
    explainer = Explainer(
        spec.problem, spec.goal, spec.delta, tally, _bare(status, low, high, pairs)
    )
    ahead = explainer.best[:, None, :] - explainer.best[None, :, :]
    beats = (ahead > 0) & (status == OUT)[None, :, None]
    holds = (ahead + explainer.epsilon >= 0) & (status == IN)[:, None, None]
    by = _proven_rival(moment.state, spec, group) if status[group] == OUT else None
    if by is not None:
        beats[:, group] = False
        beats[by, group] = True
    explainer.verdict = Verdict(status, low, high, beats, holds, pairs)
    try:
        return explainer.group(group)
    except ValueError:  # the estimates have moved since the decision: no rival shows in them
        return None


def _status(conductor: Conductor) -> Ints:
    record = conductor.record()
    N = len(conductor.counts)
    status = np.full(N, UNDECIDED)
    nobody = np.zeros(N, bool)
    pareto = isinstance(conductor.setting.goal, ParetoGroups)
    outside = np.asarray(record.get("rejected", nobody), bool)
    status[outside] = OUT
    if pareto:
        status[np.asarray(record.get("accepted", nobody), bool)] = IN
    if conductor.done:
        answer = conductor.answer()
        status[:] = [IN if i in answer else OUT for i in range(N)]
    return status


def _bare(status: Ints, low: Any, high: Any, pairs: bool) -> Verdict:
    N, D = len(status), low.shape[2]
    nothing = np.zeros((N, N, D), bool)
    return Verdict(status, low, high, nothing, nothing.copy(), pairs)


def _proven_rival(state: Any, spec: StudySpec, group: int) -> int | None:
    """Return the group that `adaptive` has proven to beat this one."""
    if spec.algorithm != "adaptive" or not isinstance(spec.goal, ParetoGroups):
        return None
    by = int(state.ledger.beaten_by[group])
    return by if by >= 0 else None
