"""Evidence on pairs of arms from a tally, for every noise model, without a warm-up.

Against mu_a + s <= mu_b stands an average of e-values with fixed weights, so the largest of them less
the log of its weight is never too large:

- sub-Gaussian noise: half-normal mixtures of the precisions 2^5, 2^8, ..., 2^17 (`evalues.normal`);
- bounded and 0/1 values: wealth of bets (`evalues.pair_wealth`) with half-normal bets of the scales
  2^-6, 2^-4, ..., 4;
- `Gaussian()`: the same by symmetry of the noise, with bets of the scales 2, 2^-1, ..., 2^-7 over the
  standard deviation that the arm's own first values show. Those do not count: its first four, and
  further ones while all are equal. So an arm's bets are known before its first value that counts.
"""

from __future__ import annotations

import math

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.confidence_sequences.gaussian import BEFORE, UNIT
from bestgroup.inference.evalues.normal import pair_evidence, pair_evidence_above
from bestgroup.inference.evalues.pair_wealth import pair_lack
from bestgroup.inference.evalues.wealth import (
    ALL,
    ALL_SECOND,
    ALL_SIXTH,
    CENTRE,
    COUNT,
    FIRST,
    KEPT,
    ORDER,
)
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats

PRECISIONS = (32.0, 256.0, 2048.0, 16384.0, 131072.0)
_GRID = math.log(5.0)  # the weight of each of five
SCALES = (0.25, 1.0, 0.0625, 0.015625, 4.0)
EFFECTS = (0.125, 0.5, 0.03125, 0.0078125, 2.0)


@kernel
def grid_evidence(gap: float, n_a: float, n_b: float, enough: float) -> float:
    """Return the evidence from all precisions; stops at the first that reaches `enough`."""
    most = -math.inf
    for k in range(len(PRECISIONS)):
        q = PRECISIONS[k]
        # The upper bound has no iterations: most precisions are left out by it.
        if pair_evidence_above(gap, n_a, n_b, q, q) - _GRID >= enough:
            most = max(most, pair_evidence(gap, n_a, n_b, q, q) - _GRID)
            if most >= enough:
                return most
    return most


@borrowing
def set_sums(rule: BoxRule, tally: Tally, i: int, j: int, d: int, stat: Floats) -> float:
    """Set what `wealth` takes of an arm and dim; returns the unit of its values, 0 before there is one."""
    kind, every = rule.kind[d], float(tally.counts[i, j])
    stat[COUNT], stat[ALL], stat[CENTRE] = every, every, 0.0
    if kind == BERNOULLI:
        stat[FIRST] = tally.sums[i, j, d]
        return 1.0
    extra = tally.extra[i, j, d]
    if kind == GAUSSIAN:
        set_spread_sums(extra, stat)
        return float(extra[UNIT])
    set_power_sums(extra, stat)
    return 1.0


@borrowing
def set_power_sums(extra: Floats, stat: Floats) -> None:
    """Set what `wealth` takes of sums of powers."""
    at = len(extra) - KEPT
    stat[CENTRE] = extra[at]
    for k in range(ORDER):
        stat[FIRST + k] = extra[at + 1 + k]
    stat[ALL_SECOND], stat[ALL_SIXTH] = extra[at + 2], extra[at + ORDER]


@borrowing
def set_spread_sums(extra: Floats, stat: Floats) -> None:
    """Set what `wealth` takes of values without a range, of which the count is set."""
    # The first values of a Gaussian arm set its unit and its centre; they cannot count as well.
    stat[COUNT] = stat[ALL] - extra[BEFORE]
    stat[CENTRE] = extra[0]
    for k in range(2):
        stat[FIRST + k] = extra[1 + k] - extra[BEFORE + 1 + k]
    stat[ALL_SECOND] = extra[2]


@borrowing
def set_sums_of_sum(rule: BoxRule, tally: Tally, i: int, j: int, stat: Floats) -> float:
    """Set what `wealth` takes of an arm's weighted sums; returns their unit as `set_sums` does."""
    extra = tally.extra[i, j, len(rule.weights)]
    stat[COUNT] = stat[ALL] = float(tally.counts[i, j])
    if rule.kind[0] == GAUSSIAN:
        set_spread_sums(extra, stat)
        return float(extra[UNIT])
    set_power_sums(extra, stat)
    return 1.0


@borrowing
def error_of(kind: int, stat: Floats) -> float:
    """Return about the standard error of the mean of the values that count."""
    n = stat[COUNT]
    if kind == BERNOULLI:
        # Only steers a search: a mean of 0 or 1 must not have an error of 0.
        p = (stat[FIRST] + 1.0) / (n + 2.0)
        return math.sqrt(p * (1.0 - p) / n)
    rare = 0.0 if kind == GAUSSIAN else 0.01
    left = max(stat[FIRST + 1] - stat[FIRST] * stat[FIRST] / n, 0.0) + rare
    return max(math.sqrt(left) / n, 1e-140)


@borrowing
def is_above(
    rule: BoxRule,
    tally: Tally,
    above: tuple[int, int],
    below: tuple[int, int],
    d: int,
    shift: float,
    level: float,
    room: tuple[Floats, Floats],
) -> bool:
    """Return whether the evidence that an arm plus the shift is above another one reaches the level.

    `room` is scratch space: sums of both arms, [2, STATISTICS], and that of `pair_lack`.
    """
    (i, m), (j, b) = above, below
    kind, scale = rule.kind[d], rule.scale[d]
    n_a, n_b = float(tally.counts[i, m]), float(tally.counts[j, b])
    # Without a value there is nothing to bet on.
    if n_a == 0.0 or n_b == 0.0:
        return False
    gap = (tally.sums[i, m, d] / n_a + shift - tally.sums[j, b, d] / n_b) / scale
    if kind == SUBGAUSSIAN:
        return gap > 0.0 and grid_evidence(gap, n_a, n_b, level) >= level
    sums, proof = room
    unit_a = set_sums(rule, tally, i, m, d, sums[0])
    unit_b = set_sums(rule, tally, j, b, d, sums[1])
    if not (unit_a > 0.0 and unit_b > 0.0 and sums[0, COUNT] > 0.0 and sums[1, COUNT] > 0.0):
        return False
    if kind == GAUSSIAN:  # about the first value of one arm, which an offset would drown
        sums[1, CENTRE] -= sums[0, CENTRE]
        sums[0, CENTRE] = 0.0
    errors = error_of(kind, sums[0]), error_of(kind, sums[1])
    # Any of five scales may prove it: the level is raised by log 5 for that.
    for k in range(len(SCALES)):
        size = EFFECTS[k] if kind == GAUSSIAN else SCALES[k]
        bets = (size / unit_a, math.inf), (size / unit_b, math.inf)
        enough = level + _GRID
        if pair_lack(kind, sums[0], sums[1], bets, errors, shift / scale, enough, proof) <= 0.0:
            return True
    return False
