"""Leaders that are groups, and what they were measured to be worth (the budget "measured").

A measurement is a plan that pulled all arms of a selection of the leader's group: one number, whose
mean is at most the worth of the group. All of them count like one arm.
"""

import math
from fractions import Fraction as F
from math import log1p, sqrt

from proof_selections import conjugate
from verify_proof import need, total


class Course:
    """The measurements of a leader: n and n (z - centre) of each, z with the mean at most R . w."""
    def __init__(self, proof, leader, given, fine):
        i, arms, counts, _ = leader
        self.proof, self.i, self.ends = proof, i, list(counts[i])
        need(len(arms) == proof.D, "parameters", "a leader has an arm for each dim")
        self.sizes = [w * noise.scale for w, noise in zip(proof.weights, proof.noise)]
        self.size, self.centre, self.weighed = sum(self.sizes), None, []
        mean = math.fsum(float(c) * fine[i, j] for c, j in zip(self.sizes, arms))
        self.fine = mean / float(self.size)
        for measurement in given:
            self.add(*measurement)

    def add(self, arms, first, last):
        proof, spans = self.proof, dict(zip(arms, zip(first, last)))
        need(all(len(own) == proof.D and all(type(n) is int for n in own)
                 for own in (arms, first, last)), "parameters", "no whole numbers for each dim")
        same = [spans[j] for j in arms] == list(zip(first, last))
        need(same, "parameters", "an arm with two counts")
        variance = 0
        for j, (a, b) in spans.items():
            rows = len(proof.values.get((self.i, j), [[]])[0])
            good = 0 <= j < proof.sizes[self.i] and self.ends[j] <= a < b <= rows
            need(good, "parameters", "a measurement without values, or with old ones")
            self.ends[j] = b
            own = [size for size, arm in zip(self.sizes, arms) if arm == j]
            square = sum(c * c for c in own) if proof.independent_dims else sum(own) ** 2
            variance += square / (b - a)
        means = [w * total(proof.values[self.i, j][d][a:b]) / (b - a) for d, (w, j, a, b) in
                 enumerate(zip(proof.weights, arms, first, last))]
        self.centre = self.centre or [F(float(mean)) for mean in means]
        n = self.size**2 / variance
        self.weighed.append((float(n), float(n * (sum(means) - sum(self.centre)))))

    def first(self, count):
        """Return what the first measurements subtract at a tilt, as a function of it."""
        need(type(count) is int and 0 < count <= len(self.weighed), "claims", "no measurements")
        n, ahead = map(math.fsum, zip(*self.weighed[:count]))

        def term(part, y):
            q = 8 ** (part + 1) * self.fine
            reach = y * float(self.size) * sqrt(n + q) / n
            return conjugate(reach) + log1p(n / q) / 2 - y * ahead / n
        return term


class Leaders:
    """All leaders of a proof, with their shares of delta."""
    parts = [p / 100 for p in (2, 30, 44, 19, 4, 1)]
    def __init__(self, proof, fine):
        leaders, last = proof.method["leaders"], [[1] * size for size in proof.sizes]
        self.shares = [F(share) for *_, share in leaders]
        good = sum(self.shares) <= 1 and min(self.shares, default=1) > 0
        need(good, "shares", "those of leaders add up to more than 1, or one is not positive")
        for _, _, counts, _ in leaders:
            good = [len(own) for own in counts] == proof.sizes
            need(good and all(type(n) is int and n >= m for own, least in zip(counts, last)
                              for n, m in zip(own, least)), "parameters", "no counts, or they fall")
            last = counts
        groups, courses = {i for i, *_ in leaders}, proof.method["measurements"]
        good = len(groups) == len(leaders) == len(courses)
        need(good, "parameters", "a group is named once, and has its measurements")
        self.courses = [Course(proof, *pair, fine) for pair in zip(leaders, courses)]

    def at(self, moment):
        """Return the leader's part of the evidence at a moment, and what means are taken from."""
        l, _, count, _ = moment
        return self.courses[l].first(count), self.courses[l].centre
