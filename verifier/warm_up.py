"""What a warm-up fixed: shares, precisions and bets, from the first values of each arm.

For proofs whose budget is "scouted" (docs/proof-format.md, "After a warm-up"); used by verify_proof.py.
"""

import math
from fractions import Fraction as F

import mpmath as mp
from bets import by_bets, by_scale
from verify_proof import ROOM, index, need


class Scouting:
    """What the warm-up, the first values of each arm, fixed: shares, precisions, bets."""

    def __init__(self, proof):
        self.before, self.proof, names = proof.method["before"], proof, proof.method["process"]
        good = [process["name"] for process in names] == ["scouted"] * proof.D
        need(good, "parameters", "not those of a warm-up")
        counts = [[index(n, 10**15) for n in row] for row in self.before]
        need([len(row) for row in counts] == proof.sizes, "parameters", "one count for each arm")
        arms = [(i, j) for i, size in enumerate(proof.sizes) for j in range(size)]
        for i, j in arms:
            whole = 8 <= counts[i][j] <= len(proof.rows.get((i, j), []))
            need(whole, "parameters", "the warm-up has 8 values or more of each arm")
        self.n = {(i, j): float(counts[i][j]) for i, j in arms}
        self.unit = [1 if noise["kind"] == "gaussian" else s * (1 if noise["kind"] == "subgaussian" else 2)
                     for noise, s in zip(proof.noise, proof.scale)]
        self.mean, self.var, self.centre, self.leader = {}, {}, {}, {}
        for d, noise in enumerate(proof.noise):
            kind, unit, sign = noise["kind"], self.unit[d], proof.signs[d]

            def squares(arm, n):
                middle = proof.mean(arm, d, n)
                return sum((F(row[d]) - middle) ** 2 for row in proof.rows[arm][:n]) / unit**2

            pooled = 0
            if kind in ("bounded", "gaussian"):
                means = [proof.mean(arm, d, 8) / unit for arm in arms]
                pooled = max(sum(squares(arm, 8) for arm in arms) / (7 * len(arms)),
                             (max(means) - min(means)) ** 2 / 10**6)
            least = (proof.low[d] if sign > 0 else -proof.high[d]) / unit
            for i, j in arms:
                n, arm = counts[i][j], (i, j)
                mean = sign * proof.mean(arm, d, n) / unit
                p, rare = ((mean - least) * n + 1) / (n + 2), F(kind == "bounded", 100)
                var = {"subgaussian": lambda: 1, "bernoulli": lambda: p * (1 - p)}.get(
                    kind, lambda: (squares(arm, n) + 2 * pooled + rare) / (n + 1))()
                self.mean[arm, d], self.var[arm, d] = mean, float(var)
                self.centre[arm, d] = float(mean - least)
            for i, size in enumerate(proof.sizes):
                self.leader[i, d] = max(((i, j) for j in range(size)), key=lambda a: self.mean[a, d])
        self.epsilon = [float(e / unit) for e, unit in zip(proof.epsilon, self.unit)]
        costs = [self.cost(i) for i in range(proof.N)]
        self.groups = [part(costs, i) for i in range(proof.N)]

    def error(self, a, b, d):
        return self.var[a, d] / self.n[a] + self.var[b, d] / self.n[b]

    def gap(self, i, j, d, shift):
        a, b = self.leader[i, d], self.leader[j, d]
        unit = (math.sqrt(self.var[a, d]) + math.sqrt(self.var[b, d])) / 2
        return (float(self.mean[a, d] - self.mean[b, d]) + shift) / unit, self.error(a, b, d) / unit**2

    def gaps(self, i, j):
        return [self.gap(i, j, d, e) for d, e in enumerate(self.epsilon)]

    def lead(self, i, j):
        return min(self.gap(j, i, d, 0.0) for d in range(len(self.epsilon)))

    def cost(self, i):
        others = [j for j in range(self.proof.N) if j != i]
        led = any(all(self.gap(j, i, d, -e / 2)[0] > 0 for d, e in enumerate(self.epsilon)) for j in others)
        gap, error = max(self.lead(i, j) for j in others) if led else min(max(self.gaps(i, j)) for j in others)
        return 1 / (gap**2 + error / 2)

    def share(self, kind, i, m, j, d):
        own = [(i, k) for k in range(self.proof.sizes[i])]
        best = self.leader[i, d]
        arm = part([math.exp(-float(self.mean[best, d] - self.mean[a, d]) ** 2 / 2 / self.error(best, a, d))
                    for a in own], m)
        others = [k for k in range(self.proof.N) if k != j]
        found, at = (self.gaps(i, j), d) if kind else ([self.lead(j, k) for k in others], others.index(i))
        most, error = max(found)
        rest = part([math.exp(-((most - g) ** 2) / 2 / (e + error)) for g, e in found], at)
        return self.groups[i if kind else j] * arm * rest * (1 - 1e-12)

    def reaches(self, a, b, d, columns, exact, level):
        """Return whether evidence from the values after the warm-up reaches the level."""
        kind, unit, shift = self.proof.noise[d]["kind"], self.unit[d], float(exact / self.unit[d])
        seen = abs(float(self.mean[a, d] - self.mean[b, d]) + shift)
        if kind != "gaussian":
            half = 1 if kind == "subgaussian" else 2
            q = mp.mpf(4.5 / max((seen * half) ** 2, 1 / self.n[a] + 1 / self.n[b]))
            known = by_scale(self.proof, d, columns, exact, unit / half, q)
            left = mp.exp(level) - mp.exp(known) / 20
            if kind == "subgaussian" or left <= 1:
                return known >= level + ROOM if kind == "subgaussian" else True
            level = mp.log(left / mp.mpf("0.95"))
        gap, bets, most = max(seen, math.sqrt(self.error(a, b, d))), [], [math.inf] * 2
        roots = [math.sqrt(self.var[arm, d]) for arm in (a, b)]
        for side, arm in enumerate((a, b)):
            own = gap * roots[side] / sum(roots)
            bets.append(2.3 / math.sqrt(4.5) * own / (self.var[arm, d] + own**2))
            if kind != "gaussian":
                centre = 1 - self.centre[arm, d] if side else self.centre[arm, d]
                most[side] = 0.95 / (centre + roots[side] / math.sqrt(self.n[arm]))
        return by_bets(self.proof, d, columns, exact, level, bets, most)


def part(weights, k):
    return 0.2 / len(weights) + 0.8 * weights[k] / sum(weights)
