"""The shares of delta of the arms of a group that a run which scouts fixes when counting begins.

They follow from the values before that, and are computed again here, so that nobody can have chosen
them afterwards: a tenth is for all arms of the group alike, the rest in proportion to exp(-n z^2 / 2), n
the count of an arm and z by how much its mean is behind the largest one of its group, in scales.
"""

from __future__ import annotations

from fractions import Fraction

from bestgroup.proof.format import Proof
from bestgroup.proof.intervals import exp, interval
from bestgroup.proof.noise import SCALED
from bestgroup.proof.observations import Observations
from bestgroup.proof.selection_evidence import Leader

_ALIKE = Fraction(1, 10)


def arm_share(proof: Proof, rows: Observations, leader: Leader, d: int) -> Fraction:
    """Return a lower bound of the share of the arm that a leader has in a dim."""
    i, counts = leader.group, leader.before
    if min(counts) < 1:
        raise ValueError("every arm of a leader has a value before counting begins")
    means = []
    for j, n in enumerate(counts):
        arm = proof.groups[i], proof.arms[i][j]
        if n > len(rows.values.get(arm, [[]])[0]):
            raise ValueError("counting begins after values that are not in the table")
        means.append(proof.signs[d] * rows.sum_of(arm, d, n) / n)
    noise = proof.noise[d]
    scale = Fraction(noise.scale)
    if noise.kind not in SCALED:
        scale = (Fraction(noise.high) - Fraction(noise.low)) / 2
    most = max(means)
    weights = [
        exp(interval(-n * ((most - mean) / scale) ** 2 / 2))
        for n, mean in zip(counts, means, strict=True)
    ]
    total, own = sum(weights[1:], weights[0]), weights[leader.arms[d]]
    part = interval(1 - _ALIKE) * own / total + interval(_ALIKE / len(counts))
    return Fraction(part.low)
