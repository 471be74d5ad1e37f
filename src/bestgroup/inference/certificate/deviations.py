"""Standard deviations of single pulls, by arm and dim: what the scale is taken for in forecasts.

They are known for sub-Gaussian noise (the scale) and estimated for the other models. No proof rests on
them.
"""

from __future__ import annotations

import numpy as np

from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.evalues.wealth import KEPT
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats


def deviations(tally: Tally, rule: BoxRule) -> Floats:
    """Return about the standard deviation of a pull, [N, K, D]; `rule` says what the tally keeps.

    A little is added to what was seen, so that a few equal values do not look like certainty.
    """
    result = np.empty_like(tally.sums)
    counts = np.maximum(tally.counts, 1)
    for d, kind in enumerate(rule.kind.tolist()):
        if kind == SUBGAUSSIAN:
            result[:, :, d] = rule.scale[d]
        elif kind == BERNOULLI:
            p = (tally.sums[:, :, d] + 1.0) / (counts + 2.0)
            result[:, :, d] = np.sqrt(p * (1.0 - p))
        elif tally.extra.shape[3] == 0:  # nothing is kept: half of the range at most
            result[:, :, d] = rule.scale[d] / 2.0
        else:
            first = 1 if kind == GAUSSIAN else tally.extra.shape[3] - KEPT + 1
            total, square = tally.extra[:, :, d, first], tally.extra[:, :, d, first + 1]
            left = np.maximum(square - total * total / counts, 0.0)
            rare = 0.0 if kind == GAUSSIAN else 0.01
            result[:, :, d] = rule.scale[d] * np.sqrt((left + rare) / counts)
    return result
