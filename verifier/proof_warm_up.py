"""Pairs of arms whose shares and bets were fixed when a warm-up ended ("budget": "scouted").

All of them are functions of the first n_0 values of each arm, and are computed again from these, so
that nobody can have chosen them afterwards; only later values count. Where arms must keep limits
they have half of delta, and arms that seem to break one count less.
"""

import math
from functools import cache
from math import sqrt

from proof_pairs import costs_of, refutes_bets, refutes_normal, refutes_symmetric
from verify_proof import need, squares, total


class WarmUp:
    """What the first n[arm] values of each arm say: means and variances of a pull, in units."""
    even, sharp = 0.2, 1.0  # what is shared equally, and how much less those far behind have

    def __init__(self, proof):
        self.proof, before, self.costs = proof, proof.method["before"], costs_of(proof)
        names = [process["name"] for process in proof.method["process"]]
        good = names == ["scouted"] * len(proof.noise)
        good = good and [len(row) for row in before] == proof.sizes
        need(good, "parameters", "no warm-up")
        self.n = {(i, j): before[i][j] for i, j in proof.every_arm}
        good = all(type(k) is int and k >= 8 for k in self.n.values())
        need(good, "parameters", "less than 8 values")
        self.exact, self.mean, self.share, self.var, self.leader = {}, {}, {}, {}, {}
        for d, noise in enumerate(proof.noise):
            self.measure(d, noise)
        self.find_leaders()
        self.epsilon = [float(e / noise.unit) for e, noise in zip(proof.epsilon, proof.noise)]
        self.lead = cache(lambda i, j: min(self.gaps(i, j, 0)))
        needed = [self.cost(i) for i in range(proof.N)]
        self.needed = needed if any(needed) else [1] * proof.N

    def part(self, weights, k):
        """Return the part of weight number k."""
        return self.even / len(weights) + (1 - self.even) * weights[k] / sum(weights)

    def near(self, gaps, k):
        """Return the part of gap number k; gaps have their variances, the largest has most."""
        most, error = max(gaps)
        return self.part([math.exp(-self.sharp * (most - gap) ** 2 / 2 / (e + error))
                          for gap, e in gaps], k)

    def measure(self, d, noise):
        """Find the means of a dim, from the first one on, and the variances of a pull."""
        seen, unit = {arm: self.proof.column(arm, d, n) for arm, n in self.n.items()}, noise.unit
        first = [ys[:8] for ys in seen.values()]
        ends = [total(ys) / 8 for ys in first]
        pooled = max(math.fsum(map(squares, first)) / (7 * self.proof.A),
                     float(max(ends) - min(ends)) ** 2 / 10**6)
        for arm, ys in seen.items():
            n, mean = len(ys), total(ys) / len(ys)
            self.exact[arm, d] = mean
            self.mean[arm, d] = float((mean - self.exact[(0, 0), d]) / unit)
            self.share[arm, d] = float((mean - noise.least) / noise.width)
            p = (n * self.share[arm, d] + 1) / (n + 2)
            other = (squares(ys) + 2 * pooled) / float(unit) ** 2
            other = (other + 0.01 * (noise.kind == "bounded")) / (n + 1)
            self.var[arm, d] = {"subgaussian": 1.0, "bernoulli": p * (1 - p)}.get(noise.kind, other)

    def find_leaders(self):
        """Find how far arms seem to be beyond limits, and who leads among those that are not."""
        self.beyond = {arm: self.distance(arm) for arm in self.n}
        self.seeming = []
        for i, size in enumerate(self.proof.sizes):
            arms = [(i, j) for j in range(size)]
            self.seeming.append([arm for arm in arms if self.beyond[arm] == 0])
            for d in range(self.proof.D):
                self.leader[i, d] = max(self.seeming[i] or arms, key=lambda a: self.exact[a, d])

    def distance(self, arm):
        """Return how far an arm seems to be beyond limits, in squares of standard errors."""
        found = 0.0
        for d, sign, at, slack in self.proof.limits:
            own = self.exact[arm, d]
            if sign * (float(own) - float(at)) - float(slack) / 2 > 0:
                size = float((sign * (own - at) - slack / 2) / self.proof.noise[d].unit)
                found += max(size * size * self.n[arm] / self.var[arm, d], 1e-300)
        return found

    def ahead(self, a, b, d, shift):
        """Return by how much arm a is ahead of b, in units, and the variance of that."""
        error = self.var[a, d] / self.n[a] + self.var[b, d] / self.n[b]
        return self.mean[a, d] - self.mean[b, d] + shift, error

    def gaps(self, i, j, times):
        """Return the leads of i over j, plus so many epsilons, in standard deviations, by dim."""
        found = []
        for d in range(self.proof.D):
            a, b = self.leader[i, d], self.leader[j, d]
            gap, error = self.ahead(a, b, d, times * self.epsilon[d])
            unit = (sqrt(self.var[a, d]) + sqrt(self.var[b, d])) / 2
            found.append((gap / unit, error / unit**2))
        return found

    def cost(self, i):
        """Return about how many values a group needs until it is out, or in."""
        others = [j for j in range(self.proof.N) if j != i and self.seeming[j]]
        if not (others and self.seeming[i]):
            return 0
        led = any(min(self.gaps(j, i, -0.5))[0] > 0 for j in others)
        gap, error = (max(self.lead(j, i) for j in others) if led
                      else min(max(self.gaps(i, j, 1)) for j in others))
        return 1 / (gap**2 + error / 2)

    def share_of_arm(self, i, m, d):
        if not self.seeming[i]:
            return 1 / self.proof.sizes[i]
        own = [self.ahead((i, k), self.leader[i, d], d, 0) for k in range(self.proof.sizes[i])]
        return self.part([math.exp(-(self.sharp * min(gap, 0) ** 2 / error + self.beyond[i, k]) / 2)
                          for k, (gap, error) in enumerate(own)], m)

    def share_of_rival(self, j, i):
        """Return the share of i among those that may put j out."""
        others = self.proof.N - 1
        hopeful = [k for k in range(self.proof.N) if k != j and self.seeming[k]]
        if not hopeful:
            return 1 / others
        leads = [self.lead(k, j) for k in hopeful]
        own = self.near(leads, hopeful.index(i)) - self.even / len(leads) if i in hopeful else 0
        return self.even / others + own

    def share_of_group(self, i, out):
        """Return the share of group i for being put out, or in: here both are the same."""
        return self.part(self.needed, i)

    def share_of(self, kind, a, b, d):
        """Return the share of delta of a claim that arm a is over, or has won against, arm b."""
        (i, m), j = a, b[0]
        if kind == 0:
            way = self.share_of_rival(j, i)
        elif self.seeming[i] and self.seeming[j]:
            way = self.near(self.gaps(i, j, 1), d)
        else:
            way = 1 / self.proof.D
        group = self.share_of_group(i if kind else j, kind == 0)
        whole = group * way * self.share_of_arm(i, m, d)
        return whole / 2 if self.proof.limits else whole

    def tuned(self, a, b, d, shift):
        """Return precisions, scales of bets and largest bets of both arms, from their distance."""
        noise, n = self.proof.noise[d], self.n
        gap, error = self.ahead(a, b, d, shift)
        q = 4.5 / max((gap / float(noise.scale / noise.unit)) ** 2, 1 / n[a] + 1 / n[b])
        roots = [sqrt(self.var[arm, d]) for arm in (a, b)]
        prices = [sqrt(self.costs[arm]) for arm in (a, b)]
        whole, scales = sum(root * price for root, price in zip(roots, prices)), []
        for root, price in zip(roots, prices):
            own = max(abs(gap), sqrt(error)) * root * price / whole
            scales.append(2.3 / sqrt(4.5) * own / (root**2 + own**2))
        centres = self.share[a, d], 1 - self.share[b, d]
        most = [0.95 / (centre + root / sqrt(n[arm]))
                for centre, root, arm in zip(centres, roots, (a, b))]
        return [q * (sum(prices) / price / 2) ** 2 for price in prices], scales, most

    def proves(self, kind, a, b, d, shift, n_a, n_b, _, value):
        proof, n, noise = self.proof, self.n, self.proof.noise[d]
        need(kind < 2 and n_a > n[a] and n_b > n[b], "claims", "no value after the warm-up counts")
        pair = [proof.side(a, d, 1, n_a, n[a]), proof.side(b, d, -1, n_b, n[b])]
        level = max(proof.level(self.share_of(kind, a, b, d)), value)
        q, scales, most = self.tuned(a, b, d, float(shift / noise.unit))
        if noise.kind == "subgaussian":
            return refutes_normal(pair, shift, level, q)
        if noise.kind == "gaussian":
            return refutes_symmetric(pair, shift, level, scales)
        return refutes_bets(pair, shift, level, scales, most, q)


    def standing(self, found):
        """Return what stands at any time of what claims decide: all of it."""
        return found


def claims(proof):
    """Return how a claim is proven with shares and bets that the first n_0 values fix."""
    return WarmUp(proof)
