"""The adaptive rule for maps of weights and for the m best groups, written out over Python sets.

It shares with the package what a bound of one pair in one direction is (`raise_bounds` on two groups and
one direction, which `tests/inference/test_directions` holds against the definition) and the box of an arm
in a dim. Everything else is done again: shares, whom to compare, where, by which arms, what follows, when
it ends.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.inference.confidence_sequences.boxes import cut_box
from bestgroup.inference.evalues.directions import make_directions, raise_bounds


class NaiveDirections:
    """One run; `rule` is read for what the goal and the noise say, not for what a run decides."""

    def __init__(self, rule, delta):
        self.rule, self.delta = rule, delta
        self.N, self.D, self.m = len(rule.sizes), len(rule.scale), rule.top
        self.size = [int(n) for n in rule.sizes]
        self.arms = [(i, j) for i in range(self.N) for j in range(self.size[i])]
        self.corners = [tuple(map(float, row)) for row in rule.directions.weights]
        self.points = [tuple(map(float, row)) for row in rule.points]
        self.mix = [
            [(int(v), float(c)) for v, c in zip(rule.cells[cell], row, strict=True) if c > 0]
            for cell, row in zip(rule.place, rule.mix, strict=True)
        ]
        self.others = {i: [k for k in range(self.N) if k != i] for i in range(self.N)}
        self.asked = {}
        self.bound = {}  # (v, i, k), what is not in it is not known
        self.box = {(a, d): (-math.inf, math.inf) for a in self.arms for d in range(self.D)}
        self.boxed = dict.fromkeys(self.arms, 0)
        self.counting = not rule.linear
        self.start = dict.fromkeys(self.arms, 0)
        self.start_sums = {a: np.zeros(self.D) for a in self.arms}
        self.share = None  # of delta, by (v, i, k), and of arms, by (i, j, d): equal while scouting
        self.named, self.out, self.colour = set(), set(), {}
        self.rated = {}  # weights: how far the proof is, who leads, and against whom it is hardest
        self.round = self.next = 0
        self.short = self.done = False
        if self.N == 1:
            self.named, self.done = {0}, True

    # ---- plans

    def plan(self, counts):
        pulls = np.zeros_like(counts)
        if self.round == 0:
            for a in self.arms:
                pulls[a] = 4
        elif self.short:
            least = math.ceil(self.floor(counts))
            for a in self.arms:
                if a[0] not in self.out:
                    pulls[a] = max(0, least - self.count(counts, a))
        else:
            for _ in range(self.rule.batch):
                a, n = self.choose(counts, pulls)
                pulls[a] += max(1, int(self.rule.grow * n))
        return pulls

    def count(self, counts, a):
        return int(counts[a]) - self.start[a]

    def floor(self, counts):
        total = sum(self.count(counts, a) for a in self.arms)
        return max(4.0, 0.04 * total / len(self.arms))

    def choose(self, counts, pulls):
        best, chosen = -1.0, None
        for group, aim in zip(self.pair, self.aim, strict=True):
            for d in range(self.D):
                a = (group, aim[d])
                n = max(self.count(counts, a) + int(pulls[a]), 1)
                served = [e for e in range(self.D) if aim[e] == aim[d]]
                need = self.square(counts, a, served) / (float(n) * float(n) * self.rule.cost[a])
                if need > best:
                    best, chosen = need, (a, n)
        return chosen

    def square(self, counts, a, dims):
        """The variance of what an arm gives to the worth in the dims that it serves, times its count."""
        parts = [self.target[e] * self.spread(counts, a, e) for e in dims]
        if self.rule.independent:
            return plain_sum(x * x for x in parts)
        total = plain_sum(parts)
        return total * total

    def spread(self, counts, a, d):
        scale = float(self.rule.scale[d])
        if not self.rule.boxed:
            return scale
        low, high = self.box[a, d]
        found = 0.5 * (high - low) * math.sqrt(counts[a] / (2.0 * self.rule.level))
        if not found < math.inf:
            return scale
        return min(found, scale) if self.rule.linear else found

    # ---- a check

    def step(self, tally):
        self.round += 1
        self.short = False
        total = sum(int(tally.counts[a]) for a in self.arms)
        if self.done or total < self.next:
            return
        self.look(tally)
        if self.rule.linear:
            self.raise_linear(tally)
        if self.rule.boxed:
            self.raise_by_boxes(tally)
        if self.counting:
            self.settle_top() if self.m else self.settle_map()
        if not self.done:
            far = self.aim_top() if self.m else self.aim_map()
            self.aim_arms(tally)
            if not self.counting and far >= 0.25:
                self.end_scouting(tally, far)
                self.short = True
        self.next = total + max(1, int(0.03 * total))
        least = self.floor(tally.counts)
        if any(
            i not in self.out and self.count(tally.counts, (i, j)) < least for i, j in self.arms
        ):
            self.short = True

    def look(self, tally):
        """Means, efficiencies, and the arms that are to show a group ahead."""
        self.sums = tally.sums
        self.mean = {
            (a, d): tally.sums[a][d] / tally.counts[a] for a in self.arms for d in range(self.D)
        }
        self.R = [
            [max(self.mean[(i, j), d] for j in range(self.size[i])) for d in range(self.D)]
            for i in range(self.N)
        ]

        def safe(i, j, d):
            n = max(self.count(tally.counts, (i, j)), 1)
            return self.mean[(i, j), d] - self.rule.scale[d] * math.sqrt(6.0 / n)

        self.lead = [
            [max(range(self.size[i]), key=lambda j, i=i, d=d: safe(i, j, d)) for d in range(self.D)]
            for i in range(self.N)
        ]

    def worth(self, w, i):
        return plain_sum(w[d] * self.R[i][d] for d in range(self.D))

    def leader(self, w):
        return max(range(self.N), key=lambda i: self.worth(w, i))

    def ahead(self):
        """The m groups of largest estimated worth."""
        order = sorted(range(self.N), key=lambda i: (-self.worth(self.points[0], i), i))
        return set(order[: self.m])

    def raise_linear(self, tally):
        first = self.ahead() if self.m else {self.leader(w) for w in self.points}
        for v, w in enumerate(self.corners):
            for i in first:
                for k in self.others[i]:
                    self.improve((v, i, k), self.evidence(tally, v, w, i, k))

    def improve(self, key, value):
        if value > self.bound.get(key, -math.inf):
            self.bound[key] = value

    def evidence(self, tally, v, w, i, k):
        """The bound of R_i . w - R_k . w by the arms of i that lead and all arms of k."""
        both, K = (i, k), max(self.size)
        if (v, i, k, self.counting) not in self.asked:
            self.asked[v, i, k, self.counting] = self.ask(v, w, i, k)
        sizes, made = self.asked[v, i, k, self.counting]
        counts, sums = np.zeros((2, K), np.int64), np.zeros((2, K, self.D))
        for row, g in enumerate(both):
            for j in range(self.size[g]):
                counts[row, j] = self.count(tally.counts, (g, j))
                sums[row, j] = tally.sums[g, j] - self.start_sums[g, j]
        bound = np.full((1, 2, 2), -np.inf)
        lead = np.array([self.lead[g] for g in both], np.int64)
        first = np.array([True, False])
        raise_bounds.compiled(counts, sums, sizes, made, first, lead, bound)
        return float(bound[0, 0, 1])

    def ask(self, v, w, i, k):
        """The direction, the level, the arms' shares and precisions of one bound: fixed in a phase."""
        both, K = (i, k), max(self.size)
        price, precision = np.zeros((2, K, self.D)), np.ones((1, 2, K))
        for row, g in enumerate(both):
            for j in range(self.size[g]):
                price[row, j] = [-math.log(x) for x in self.arm_shares(g, j)]
                if self.counting:
                    precision[0, row, j] = self.precision[g, j]
        scale, independent = np.asarray(self.rule.scale, float), bool(self.rule.independent)
        level = np.full((1, 2, 2), -math.log(self.pair_share(v, i, k)))
        sizes = np.array([self.size[g] for g in both], np.int64)
        made = make_directions(np.array([w]), scale, independent, level, sizes)
        made = made._replace(price=price)
        if self.counting:
            return sizes, made._replace(precision=precision, prior=np.zeros(1))
        return sizes, made._replace(precision=np.repeat(made.precision[:, :, :1], K, axis=2))

    # ---- shares

    def pair_share(self, v, i, k):
        """The share of delta that a bound has, times delta; before the end of scouting those of certify."""
        if self.share is not None:
            return self.share[v, i, k]
        part = 2.0 if self.rule.boxed else 1.0
        if self.m:
            return 1.0 / (part * self.m * max(self.N - self.m, 1) / self.delta)
        rest, own = len(self.corners) - self.rule.own, self.rule.own
        corner = 1.0 / own if rest == 0 else 0.5 / own
        if rest and v >= own:
            corner = 0.5 / rest
        return 1.0 / (part * self.N * max(self.N - 1, 1) / (self.delta * corner))

    def arm_shares(self, i, j):
        if self.share is None:
            return [1.0 / self.size[i]] * self.D
        return [self.arm_share[i, j, d] for d in range(self.D)]

    def end_scouting(self, tally, far):
        weight = self.hardness_by_pair(far)
        total, pairs = sum(weight.values()), len(self.corners) * self.N * (self.N - 1)
        budget = self.delta / (2.0 if self.rule.boxed else 1.0)
        self.share = {
            (v, i, k): budget * (0.9 * weight.get((v, i, k), 0.0) / total + 0.1 / pairs)
            for v in range(len(self.corners))
            for i in range(self.N)
            for k in self.others[i]
        }
        self.arm_share = {}
        for i in range(self.N):
            for d in range(self.D):
                near = {}
                for j in range(self.size[i]):
                    n = float(tally.counts[i, j])
                    behind = (self.R[i][d] - self.mean[(i, j), d]) / self.rule.scale[d]
                    near[j] = math.exp(-0.5 * n * behind * behind)
                for j in near:
                    part = 0.9 * near[j] / plain_sum(near.values()) + 0.1 / self.size[i]
                    self.arm_share[i, j, d] = part
        self.precision = {
            a: max(1.0, 16.0 * float(tally.counts[a]) / (2.0 * self.rule.level)) for a in self.arms
        }
        self.start = {a: int(tally.counts[a]) for a in self.arms}
        self.start_sums = {a: tally.sums[a].copy() for a in self.arms}
        self.bound, self.counting = {}, True

    def hardness_by_pair(self, far):
        """Weights of comparisons: 1 for the hardest that is needed, 2^-6 for one of twice its strength."""
        weight = {}

        def note(v, i, k, strength):
            value = (far / strength) ** 6.0 if strength > far else 1.0
            weight[v, i, k] = max(weight.get((v, i, k), 0.0), value)

        if self.m:
            inside = self.ahead()
            for i in inside:
                for k in set(range(self.N)) - inside:
                    gap = self.worth(self.points[0], i) - self.worth(self.points[0], k)
                    note(0, i, k, self.progress(gap, self.bound.get((0, i, k), -math.inf)))
            return weight
        for p, (ratio, i, _) in self.rated.items():
            if ratio < far:
                continue
            for k in self.others[i]:
                gap = self.worth(self.points[p], i) - self.worth(self.points[p], k)
                strength = self.progress(gap, self.bound_at(p, i, k))
                for v, _ in self.mix[p]:
                    note(v, i, k, strength)
        return weight

    # ---- what boxes say

    def raise_by_boxes(self, tally):
        for a in self.arms:
            if self.boxed[a] == tally.counts[a]:
                continue
            self.boxed[a] = int(tally.counts[a])
            for d in range(self.D):
                found = (
                    self.rule.box,
                    float(tally.counts[a]),
                    tally.sums[a][d],
                    tally.extra[a][d],
                    d,
                )
                self.box[a, d] = cut_box(*found, *self.box[a, d])

        def end(side, w, i):
            tops = [
                w[d] * max(self.box[(i, j), d][side] for j in range(self.size[i]))
                for d in range(self.D)
                if w[d] > 0
            ]
            return plain_sum(tops)

        for v, w in enumerate(self.corners):
            for i in range(self.N):
                for k in self.others[i]:
                    self.improve((v, i, k), end(0, w, i) - end(1, w, k))

    # ---- what bounds prove

    def bound_at(self, p, i, k):
        return plain_sum(c * self.bound.get((v, i, k), -math.inf) for v, c in self.mix[p])

    def settle_map(self):
        eps, N = self.rule.epsilon, self.N
        for p in range(len(self.points)):
            margins = {
                i: min((self.bound_at(p, i, k) + eps for k in self.others[i]), default=math.inf)
                for i in range(N)
            }
            safe = [i for i in range(N) if margins[i] >= 0]
            self.named |= set(safe)
            if safe:
                self.colour[p] = max(safe, key=lambda i, m=margins: m[i])
        self.covered = sum(float(self.rule.volume[p]) for p in sorted(self.colour))
        whole = len(self.colour) == len(self.points)
        self.done = whole or (self.rule.share < 1 and self.covered >= self.rule.share - 1e-9)
        for i in set(range(N)) - self.named - self.out:
            if all(
                any(
                    all(self.bound.get((int(v), k, i), -1.0) > 0 for v in cell)
                    for k in self.others[i]
                )
                for cell in self.rule.cells
            ):
                self.out.add(i)

    def settle_top(self):
        eps, known = self.rule.epsilon, self.bound
        for i in range(self.N):
            near = [k for k in self.others[i] if known.get((0, i, k), -math.inf) + eps >= 0]
            above = [k for k in self.others[i] if known.get((0, k, i), -math.inf) > 0]
            if len(near) >= self.N - self.m:
                self.named.add(i)
            if len(above) >= self.m:
                self.out.add(i)
        inside = self.ahead()
        if all(
            known.get((0, i, k), -math.inf) + eps >= 0
            for i in inside
            for k in set(range(self.N)) - inside
        ):
            self.done, self.named = True, inside

    # ---- whom to pull for

    def progress(self, gap, bound):
        if bound == -math.inf:
            return 0.0
        return min((gap + self.rule.epsilon) / max(gap - bound, 1e-300), 2.0)

    def aim_map(self):
        """The hardest of the easiest weights that suffice; the rival against which it is hardest."""
        for p in range(len(self.points)):
            if p in self.colour:
                continue
            w = self.points[p]
            i = self.leader(w)
            ratios = {
                k: self.progress(self.worth(w, i) - self.worth(w, k), self.bound_at(p, i, k))
                for k in self.others[i]
            }
            gaps = {k: self.worth(w, i) - self.worth(w, k) for k in ratios}
            k = min(ratios, key=lambda k, r=ratios, g=gaps: (r[k], g[k]))
            self.rated[p] = (ratios[k], i, k)
        open_ = [p for p in range(len(self.points)) if p not in self.colour]
        ranked = sorted(open_, key=lambda p: -self.rated[p][0])
        covered = sum(float(self.rule.volume[p]) for p in sorted(self.colour))
        chosen, found = min(open_, key=lambda p: self.rated[p][0]), 0.0
        if self.rule.share < 1:
            for p in ranked:
                found += float(self.rule.volume[p])
                if found >= self.rule.share - covered:
                    chosen = min(q for q in open_ if self.rated[q][0] == self.rated[p][0])
                    break
        ratio, i, k = self.rated[chosen]
        self.pair = (i, k)

        def width(v, c):
            gap = self.worth(self.corners[v], i) - self.worth(self.corners[v], k)
            return c * (gap - self.bound.get((v, i, k), -math.inf))

        corner = max(self.mix[chosen], key=lambda entry: width(*entry))[0]
        self.target = self.corners[corner]
        return ratio

    def aim_top(self):
        inside, least = self.ahead(), (math.inf, math.inf)
        for i in sorted(inside):
            for k in sorted(set(range(self.N)) - inside):
                gap = self.worth(self.points[0], i) - self.worth(self.points[0], k)
                ratio = self.progress(gap, self.bound.get((0, i, k), -math.inf))
                if (ratio, gap) < least:
                    least, self.pair = (ratio, gap), (i, k)
        self.target = self.points[0]
        return least[0]

    def aim_arms(self, tally):
        i, k = self.pair
        counts = tally.counts
        total = max(sum(int(counts[a]) for a in self.arms), 2)
        gap = self.worth(self.target, i) - self.worth(self.target, k) + self.rule.epsilon
        self.aim = [[self.probe(counts, i, d, gap, total) for d in range(self.D)], None]
        self.aim[1] = self.contend(counts, k)

    def probe(self, counts, i, d, gap, total):
        """The arm of the leader to pull in a dim: the one that leads, or one that could be better."""
        lead, weight = self.lead[i][d], self.target[d]
        if weight <= 0:
            return lead
        often = self.count(counts, (i, lead))
        values = {lead: self.mean[(i, lead), d] + 0.1 * max(gap, 0.0) / weight}
        for j in range(self.size[i]):
            n = float(counts[i, j])
            if self.count(counts, (i, j)) >= often:
                continue
            bonus = self.spread(counts, (i, j), d) * math.sqrt(0.5 * math.log(float(total)) / n)
            values[j] = math.inf if n * n < often else self.mean[(i, j), d] + bonus
        return max(values, key=lambda j: values[j])

    def contend(self, counts, k):
        """The rival's arms that are hardest to be ahead of, by a local search."""

        def hardness(arms):
            gap = variance = 0.0
            for d in range(self.D):
                gap -= self.target[d] * self.sums[k, arms[d], d] / counts[k, arms[d]]
                for group, chosen in ((k, arms), (self.pair[0], self.aim[0])):
                    if chosen[d] not in chosen[:d]:
                        served = [e for e in range(d, self.D) if chosen[e] == chosen[d]]
                        a = (group, chosen[d])
                        n = float(max(self.count(counts, a), 1))
                        variance += self.square(counts, a, served) / n
            return gap - math.sqrt(2.0 * self.rule.level * variance)

        best = min(range(self.size[k]), key=lambda j: hardness([j] * self.D))
        arms = [best] * self.D
        least = hardness(arms)
        for _ in range(2):
            for d in range(self.D):
                for j in range(self.size[k]):
                    trial = [*arms[:d], j, *arms[d + 1 :]]
                    value = hardness(trial)
                    if value < least:
                        least, arms = value, trial
        return arms


def plain_sum(values):
    """Return the sum from left to right in floating point, which `sum` of later Pythons is not."""
    total = 0.0
    for value in values:
        total += value
    return total
