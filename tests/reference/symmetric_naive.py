"""Evidence on the best group for normal values of unknown scale, from its definition.

The wealth of an arm in a dim at a mean m is an integral of products of 1 + tanh(lam (x - m)) over laws of
lam, here a sum over many lam; nothing is bounded, and values are read one by one. The search for means of
the null that have little evidence is that of `bets_naive`, among those that boxes allow.
"""

from __future__ import annotations

import math

import numpy as np

from reference.bets_naive import PRIOR, SCALES

EFFECT, CASH = 0.25, 0.01
LAWS = [(1.0, 0.9), (0.25, 0.04), (4.0, 0.03), (1 / 64, 0.02)]
NODES = (np.arange(600) + 0.5) / 100  # of a half-normal law, in its scale


def log_wealth(x, m, scale):
    """Return log K(m) of values with symmetric noise, against "the mean is at most m"."""
    shares = np.exp(-(NODES**2) / 2)
    shares /= shares.sum()
    parts = [math.log(CASH)]
    for times, weight in LAWS:
        u = np.outer(scale * times * NODES, x - m)
        # log(1 + tanh u) = log 2 - log(1 + exp(-2 u))
        logs = (math.log(2.0) - np.logaddexp(0.0, -2.0 * u)).sum(axis=1) + np.log(shares)
        parts.append(np.logaddexp.reduce(logs) + math.log(weight))
    return np.logaddexp.reduce(parts)


class SymmetricClaim:
    """A leader's selection against one of a rival: values [n, D] by arm that count.

    `units` are by side, arm and dim; `parts`, of the same shape, what exponents are shares of; `ends` by
    side and dim are those of the boxes: lower ones of the leader's arms, upper ones of the rival's.
    """

    def __init__(
        self, own, lead, theirs, rival, weights, slack, independent, units, parts, ends, sums=None
    ):
        self.sides = [(own, lead, 0), (theirs, rival, 1)]
        self.heft, self.slack, self.independent = weights, slack, independent
        self.units, self.parts, self.ends, self.sums = units, parts, ends, sums
        self.means = [
            [values[arm][:, d].mean() for d, arm in enumerate(chosen)]
            for values, chosen, _ in self.sides
        ]

    def evidence(self, nu):
        """Return log sum_g p_g E_g at means nu [2, D] of the two selections."""
        found = []
        for size, prior in zip(SCALES, PRIOR, strict=True):
            total = math.log(prior)
            for values, chosen, side in self.sides:
                if self.sums is not None and len(chosen) > 1 and len(set(chosen)) == 1:
                    (x, unit), sign = self.sums[side][chosen[0]], -1.0 if side else 1.0
                    m = np.dot(nu[side], self.heft)
                    total += log_wealth(sign * x, sign * m, EFFECT * size / unit)
                    continue
                for d, arm in enumerate(chosen):
                    own = self.parts[side][arm]
                    block = sum(own[e] for e, a in enumerate(chosen) if a == arm)
                    theta = 1.0 if self.independent else own[d] / block
                    sign = -1.0 if side else 1.0
                    x, m = sign * values[arm][:, d], sign * nu[side][d]
                    scale = EFFECT * size / self.units[side][arm][d]
                    total += theta * log_wealth(x, m, scale)
            found.append(total)
        return np.logaddexp.reduce(found)

    def on_boundary(self, split):
        """Return means of the null: the observed ones, moved together by shares [2, D]; or None."""
        gap = self.slack + np.dot(self.heft, self.means[0]) - np.dot(self.heft, self.means[1])
        nu = np.array(self.means)
        moved = split / split.sum() * gap
        nu[0] -= moved[0] / self.heft
        nu[1] += moved[1] / self.heft
        return nu if (nu[0] >= self.ends[0]).all() and (nu[1] <= self.ends[1]).all() else None
