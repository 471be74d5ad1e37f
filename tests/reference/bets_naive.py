"""Evidence on the best group by bets, from its definition: at any means, from the values themselves.

A claim that a leader is ahead of a rival is false if some means of the null have less evidence than
its level. `least_evidence` looks for such means: many points of the null's boundary, then a descent from
the best of them. What it finds is never below the infimum.
"""

from __future__ import annotations

import itertools

import numpy as np

SCALES = [4.0 * 2.0 ** (-1.5 * g) for g in range(10)]
PRIOR = np.array([2.0, 3.0, 3.0, 3.0, 2.0, 1.0, 0.5, 0.25, 0.15, 0.1])
PRIOR /= PRIOR.sum()
STEPS = (np.arange(12) + 0.5) / 4
SHARES = np.exp(-(STEPS**2) / 2)
WEIGHTS = np.concatenate([0.95 * SHARES / SHARES.sum(), np.full(8, 0.04 / 8)])
RESERVE = 2.0 ** -np.arange(1.0, 9.0)


def log_wealth(x, m, scale, most):
    """Return log K(m) of values in [0, 1], against "the mean is at most m"."""
    lam = np.concatenate([np.minimum(scale * STEPS, most), RESERVE])
    legal = lam * m < 0.99
    logs = np.log1p(np.outer(lam[legal], x - m)).sum(axis=1) + np.log(WEIGHTS[legal])
    return np.logaddexp.reduce(np.append(logs, np.log(0.01)))


class Claim:
    """A leader's selection against one of a rival: values [n, D] by arm, in [0, 1].

    `lead` and `rival` name an arm for each dim; `most` is the largest bet on the leader by dim. With
    `most_of_sum`, that on the weighted sum of all dims, an arm that serves all of them bets on it.
    """

    def __init__(self, own, lead, theirs, rival, heft, slack, independent, most, most_of_sum=None):
        self.sides = [(own, lead, 0), (theirs, rival, 1)]
        self.heft, self.slack, self.independent, self.most = heft, slack, independent, most
        self.most_of_sum = most_of_sum
        self.means = [
            [values[arm][:, d].mean() for d, arm in enumerate(chosen)]
            for values, chosen, _ in self.sides
        ]

    def evidence(self, nu):
        """Return log sum_g p_g E_g at means nu [2, D] of the two selections."""
        parts = []
        for scale, prior in zip(SCALES, PRIOR, strict=True):
            total = np.log(prior)
            for values, chosen, side in self.sides:
                if self.most_of_sum is not None and len(chosen) > 1 and len(set(chosen)) == 1:
                    share = np.array(self.heft) / np.sum(self.heft)
                    x, m = values[chosen[0]] @ share, np.dot(nu[side], share)
                    x, m = (1 - x, 1 - m) if side else (x, m)
                    total += log_wealth(x, m, scale, np.inf if side else self.most_of_sum)
                    continue
                for d, arm in enumerate(chosen):
                    block = sum(h for h, a in zip(self.heft, chosen, strict=True) if a == arm)
                    theta = 1.0 if self.independent else self.heft[d] / block
                    x, m = values[arm][:, d], nu[side][d]
                    x, m = (1 - x, 1 - m) if side else (x, m)
                    total += theta * log_wealth(x, m, scale, np.inf if side else self.most[d])
            parts.append(total)
        return np.logaddexp.reduce(parts)

    def on_boundary(self, split):
        """Return means of the null: the observed ones, moved together by shares [2, D]; or None."""
        gap = self.slack + np.dot(self.heft, self.means[0]) - np.dot(self.heft, self.means[1])
        nu = np.array(self.means)
        moved = split / split.sum() * gap
        nu[0] -= moved[0] / self.heft
        nu[1] += moved[1] / self.heft
        return nu if ((nu >= 0) & (nu <= 1)).all() else None


def least_evidence(claim, rng, tries=60, steps=40):
    """Return the least evidence found at means of the null; infinity if none was found in [0, 1]."""
    shape = (2, len(claim.heft))
    best, at = np.inf, None
    splits = [np.ones(shape), *(rng.gamma(0.7, size=shape) + 1e-9 for _ in range(tries))]
    for split in splits:
        nu = claim.on_boundary(split)
        if nu is not None and (value := claim.evidence(nu)) < best:
            best, at = value, split
    for _ in range(steps if at is not None else 0):
        split = at * np.exp(rng.normal(scale=0.3, size=shape))
        nu = claim.on_boundary(split)
        if nu is not None and (value := claim.evidence(nu)) < best:
            best, at = value, split
    return best


def selections(size, dims):
    """Return all selections of a group."""
    return itertools.product(range(size), repeat=dims)
