"""What a tally proves if groups and arms were added on the way, because of what was seen.

All other proofs share delta among the arms that there are. If someone adds groups until one is proven
better, the number of arms depends on the values, and no share is small enough. Here arm number k, in
the order in which arms first came, gets delta / (k (k + 1)), fixed before anything is seen, half of
it for its lower bounds and half for its upper ones:

    alpha_k = delta / (2 D k (k + 1)) for each of the 2 D bounds of arm number k.

**Why it is right.** Let F_k be all that is known when arm number k comes. Its mean may depend on F_k;
given F_k each of its bounds fails at any time with probability at most alpha_k, as it speaks of the
arm's own values in their order. So all bounds of all arms hold with probability at least
1 - sum_k 2 D alpha_k = 1 - delta, however many there will be and whatever makes them come. The best
arm of a group is not fixed in advance here, so the upper bounds of all arms are paid for. If all
bounds hold, the efficiency of group i in dim d lies in [max_j low_ij, max_j high_ij], and statuses
follow for every epsilon and all weights, chosen before or after. The same bounds serve limits and other
worths (`worths`), which read nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestgroup.inference.certificate.judge import Verdict, judge_boxes
from bestgroup.inference.certificate.worths import verdict_of, worths_of
from bestgroup.inference.confidence_sequences.boxes import arm_box
from bestgroup.inference.pivots import about_origin, of_values
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import Goal
from bestgroup.problem.measure import Measure
from bestgroup.problem.noise import Noise, SubGaussian
from bestgroup.problem.shape import Shape


def judge_as_they_came(
    tally: Tally,
    pivots: Floats,
    shape: Shape,
    goal: Goal,
    noise: Noise,
    delta: float,
    order: Sequence[tuple[int, int]],
    measure: Measure | None = None,
) -> Verdict:
    """Return what a tally about pivots [N, K, D] proves; `order` has the arms as they first came."""
    origin = np.zeros(shape.dims)
    if isinstance(noise, SubGaussian):
        tally, origin = about_origin(tally, pivots)
    else:
        tally = of_values(tally, pivots)
    low = np.full((shape.groups, shape.arms, shape.dims), -np.inf)
    high = np.where(shape.exists[:, :, None], np.inf, low)
    rule = noise.boxes(shape, delta)
    for k, (i, j) in enumerate(order, start=1):
        alpha = delta / (2.0 * shape.dims * k * (k + 1))
        arm_box(rule._replace(alpha=alpha), tally, i, j, low, high)
    if measure is not None:
        return verdict_of(worths_of(low + origin, high + origin, shape, measure), goal, measure)
    return judge_boxes(low, high, goal).moved(origin)
