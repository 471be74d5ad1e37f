"""Check a bestgroup proof file against its table of observations, independently of bestgroup.

    python verify_proof.py proof.json rows.csv

Written from docs/proof-format.md alone; needs Python 3.10 and mpmath. Sums of doubles are exact, special
functions are mpmath's at 40 digits and must reach a level by 1e-20; wealth of bets is computed in
doubles and must reach it by 1e-9.
"""

import csv
import hashlib
import json
import math
import struct
import sys
from fractions import Fraction as F

import mpmath as mp

mp.mp.dps = 40
ROOM = mp.mpf(10) ** -20
BETS = [2.0**k for k in (-8, -7, -6, -5, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3)]
PARTS = [math.exp(-(((k + 0.5) / 4) ** 2) / 2) for k in range(12)]
WEIGHTS = [0.95 * part / sum(PARTS) for part in PARTS] + [0.005] * 8
CASH, SYMMETRIC = 0.01, [(1, 0.9), (0.25, 0.04), (4, 0.03), (1 / 64, 0.02)]


class Wrong(Exception):
    """A check failed."""


def need(holds, check, why, claim=None):
    if not holds:
        raise Wrong(f"{check}{'' if claim is None else f' at claim {claim}'}: {why}")


def real(x):
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, F) else mp.mpf(x)


def total(values):
    """Return the exact sum of doubles: what fsum rounds off is summed again until nothing is left."""
    values, result = list(values), F()
    while (part := math.fsum(values)) != 0.0:
        result += F(part)
        values.append(-part)
    return result


def psi(x):
    return x * x / 2 + mp.log(2 * mp.ncdf(x)), x + mp.npdf(x) / mp.ncdf(x)


def index(value, below, claim=None):
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below
    need(good, "claims", f"{value!r} is no index below {below}", claim)
    return value


def share_of(pair):
    top, bottom = pair
    need(isinstance(top, int) and isinstance(bottom, int) and 0 <= top <= bottom > 0, "shares", "?")
    return F(top, bottom)


def digest(document):
    kept = {k: v for k, v in document.items() if k not in ("digest", "signature")}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def unguarded(name):
    begins = ("=", "+", "-", "@", "\t", "\r")
    return name[1:] if name.startswith("'") and name.lstrip("'").startswith(begins) else name


class Proof:
    """The file, and the rows of each arm (i, j) in their order."""

    def __init__(self, document, table):
        need(document["format"] == "bestgroup-proof" and document["version"] == 1, "format", "?")
        need(document["digest"] == digest(document), "digest", "the file was changed")
        problem, goal, self.doc = document["problem"], document["goal"], document
        self.groups, self.arms = zip(*((g, list(a)) for g, a in problem["groups"]))
        self.dims = [d for d, _ in problem["dims"]]
        self.signs = [{"max": 1, "min": -1}[s] for _, s in problem["dims"]]
        self.noise, self.method = document["noise"]["dims"], document["method"]
        self.claims, self.delta = document["claims"], F(document["delta"])
        self.pareto = {"pareto": True, "best": False}[goal["kind"]]
        self.epsilon = [F(e) for e in (goal["epsilon"] if self.pareto else [goal["epsilon"]])]
        self.weights = [] if self.pareto else [F(w) for w in goal["weights"]]
        self.sizes = [len(a) for a in self.arms]
        self.A, self.N, self.D = sum(self.sizes), len(self.groups), len(self.dims)
        names = [*self.arms, self.groups, self.dims]
        need(all(0 < len(set(part)) == len(part) for part in names), "format", "names")
        need(0 < self.delta < 1 and min(self.epsilon) >= 0, "format", "delta or epsilon")
        need(all(w > 0 for w in self.weights) and len(self.noise) == self.D, "format", "goal or noise")
        need(len(self.epsilon if self.pareto else self.weights) == self.D, "format", "goal")
        self.low = [F(noise.get("low", 0)) for noise in self.noise]
        self.high = [F(noise.get("high", 1)) for noise in self.noise]
        self.scale = [F(noise["scale"]) if noise["kind"] == "subgaussian" else (b - a) / 2
                      for noise, a, b in zip(self.noise, self.low, self.high)]
        need(min(self.scale) > 0, "format", "scales and ranges")
        self.rows, self.sums = {}, {}
        self.read(table, document["data"])

    def read(self, table, data):
        names, count, numbers = data["columns"], 0, {}
        place = {(g, a): (i, j) for i, g in enumerate(self.groups) for j, a in enumerate(self.arms[i])}
        columns = [*self.dims, *([names["index"]] if names.get("index") else [])]
        link = hashlib.sha256("\x1f".join(("bestgroup-rows-1", *self.dims)).encode()).digest()
        with open(table, newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            header = [unguarded(name) for name in next(reader)]
            at = [header.index(name) for name in columns]
            keys = [header.index(names[k]) for k in ("group", "arm", "item") if names.get(k)]
            for row in filter(None, reader):
                text, values = [unguarded(row[k]) for k in keys], [float(row[k]) for k in at]
                need(all(map(math.isfinite, values)), "data", f"row {count}: not a finite number")
                packed = struct.pack(f">{len(values)}d", *values)
                link = hashlib.sha256(link + "\x1f".join(text).encode() + b"\x1e" + packed).digest()
                need(tuple(text[:2]) in place, "data", f"row {count}: an unknown arm")
                arm = place[tuple(text[:2])]
                self.rows.setdefault(arm, []).append(values[: self.D])
                numbers.setdefault(arm, []).append(values[-1])
                count += 1
        need(count == data["rows"], "data", f"{count} rows, the proof is about {data['rows']}")
        need(link.hex() == data["digest"], "data", "not the rows, or not in the order, of the proof")
        for arm in self.rows if names.get("index") else ():
            order = sorted(range(len(numbers[arm])), key=numbers[arm].__getitem__)
            whole = [numbers[arm][k] for k in order] == list(range(len(order)))
            need(whole, "data", "indices are not 0, 1, ...")
            self.rows[arm] = [self.rows[arm][k] for k in order]
        for d, noise in enumerate(self.noise):
            for rows in self.rows.values() if noise["kind"] in ("bounded", "bernoulli") else ():
                good = all(self.low[d] <= row[d] <= self.high[d] for row in rows)
                coins = noise["kind"] == "bounded" or all(row[d] in (0, 1) for row in rows)
                need(good and coins, "data", f"{self.dims[d]}: a value outside of its range")

    def column(self, arm, d, n, claim):
        rows = self.rows.get(arm, [])
        need(1 <= n <= len(rows), "claims", f"an arm has fewer than {n} rows", claim)
        return [row[d] for row in rows[:n]]

    def mean(self, arm, d, n):
        if (arm, d, n) not in self.sums:
            self.sums[arm, d, n] = total(row[d] for row in self.rows[arm][:n]) / n
        return self.sums[arm, d, n]

    def processes(self, serves):
        """Check that there is a process for each dim, that is a proof for its noise, fixed before."""
        need(len(self.method["process"]) == self.D, "parameters", "one process for each dim")
        for process, noise in zip(self.method["process"], self.noise):
            known = serves.get(process["name"], ())
            need(noise["kind"] in known, "parameters", f"{process['name']} is no proof here")
            need(process["fixed_at"] == 0, "parameters", "not fixed before the first row")
            parts = process.get("parts", process.get("precisions", [1]))
            need(parts and 0 < min(parts) and max(parts) < math.inf, "parameters", "not positive")


# ---------------------------------------------------------------- bounds of single arms


def reached(proof, d, z, m, alpha, process, sign):
    """Return whether "the mean of z is at most m" is refuted at alpha; z are mirrored by `sign`."""
    n, level, name = len(z), mp.log(real(1 / alpha)), process["name"]
    least = proof.low[d] if sign > 0 else -proof.high[d]
    over, parts = total(z) - n * F(m), []
    s, width = real(over / proof.scale[d]), proof.high[d] - proof.low[d]
    if name == "mixture":
        for q in map(mp.mpf, process["precisions"]):
            parts.append(mp.sqrt(q / (n + q)) * mp.exp(psi(s / mp.sqrt(n + q))[0]))
        return mp.log(sum(parts) / len(parts)) >= level + ROOM
    if name == "union":
        return s >= mp.sqrt(2 * n * (level + mp.log(2 * n * n))) + ROOM
    if name == "stitched":
        inner = mp.log(mp.log(2 * n)) + mp.mpf("0.72") * (level + mp.log(mp.mpf("5.2")))
        return s >= mp.mpf("1.7") * mp.sqrt(n * inner) + ROOM
    if name == "fixed":
        return n == process["count"] and s >= mp.sqrt(2 * n * level) + ROOM
    if name == "betting":
        v = real((F(m) - least) / width)
        if v <= 0:
            return v < 0
        u = [real((F(x) - least) / width) for x in z]
        wealth = sum(mp.fprod(1 + bet * (x - v) for x in u) for bet in BETS if bet * v < 0.99)
        return wealth > 0 and mp.log(wealth / len(BETS)) >= level + ROOM
    if name == "jeffreys":
        p, s = real(F(m) - least), sum(1 for x in z if F(x) - least == 1)
        if p <= 0 or p >= 1:
            return p < 0
        a, b = s + mp.mpf(0.5), n - s + mp.mpf(0.5)
        above = mp.log(mp.beta(a, b)) + mp.log(mp.betainc(a, b, p, 1, regularized=True))
        prior = mp.log(mp.pi - 2 * mp.asin(mp.sqrt(p)))
        return above - prior - s * mp.log(p) - (n - s) * mp.log(1 - p) >= level + ROOM
    s, square = real(over), real(sum((F(x) - F(m)) ** 2 for x in z))
    for q in (8, 128, 2048, 32768):
        rest = square - s * s / (n + q)
        if n < 2 or s <= 0 or rest <= 0:
            return False
        y = s * s / ((n + q) * rest)
        cdf = 1 + mp.betainc(0.5, mp.mpf(n) / 2, 0, y / (1 + y), regularized=True)
        parts.append(mp.sqrt(mp.mpf(q) / (n + q)) * (square / rest) ** (mp.mpf(n) / 2) * cdf)
    return mp.log(sum(parts) / 4) >= level + ROOM


def boxes(proof, bar):
    """Return the statuses that bounds of single arms give."""
    method, D, N, A, known = proof.method, proof.D, proof.N, proof.A, ("subgaussian", "bounded", "bernoulli")
    proof.processes({"mixture": known, "union": known, "stitched": known, "fixed": known,
                     "betting": known[1:], "jeffreys": known[2:], "t-mixture": ("gaussian",)})
    need(method["budget"] in ("fixed", "as they came"), "shares", "unknown budget")
    if method["budget"] == "as they came":
        shares = {arm: (F(1, 2 * D * k * (k + 1)),) * 2 for k, arm in enumerate(proof.rows, start=1)}
    else:
        low, high = share_of(method["low"]), share_of(method["high"])
        used = A * D * low + N * D * high if proof.pareto else (A - min(proof.sizes)) * D * low + D * high
        need(used <= 1 and low and high, "shares", f"they add up to {used} of delta")
        shares = {(i, j): (low, high) for i in range(N) for j in range(proof.sizes[i])}
    for process in method["process"]:
        if process["name"] == "fixed":
            need(proof.pareto and min(proof.epsilon) > 0, "parameters", "a count needs epsilon > 0")
            counts = [mp.ceil(32 * real(s / e) ** 2 * mp.log(real(2 * A * D / proof.delta)))
                      for s, e in zip(proof.scale, proof.epsilon)]
            need(process["count"] == max(counts), "parameters", "not the count of uniform sampling")
    ends, inf = ({}, {}), math.inf
    for k, claim in enumerate(proof.claims):
        need(len(claim) == 6, "claims", "[group, arm, dim, side, n, m]", k)
        i, d, side, n = (index(claim[c], b, k) for c, b in ((0, N), (2, D), (3, 2), (4, 10**15)))
        j, m, turn = index(claim[1], proof.sizes[i], k), float(claim[5]), -1 if side else 1
        need(math.isfinite(m) and (i, j, d) not in ends[side], "claims", "twice, or no number", k)
        sign, alpha = turn * proof.signs[d], proof.delta * shares.get((i, j), (1, 1))[side]
        z = [sign * x for x in proof.column((i, j), d, n, k)]
        good = reached(proof, d, z, turn * m, alpha, method["process"][d], sign)
        need(good, "claims", "the process has not reached its level", k)
        ends[side][i, j, d] = m
        bar(k + 1, len(proof.claims))
    lower, upper = ([[max(end.get((i, j, d), none) for j in range(proof.sizes[i])) for d in range(D)]
                     for i in range(N)] for end, none in zip(ends, (-inf, inf)))
    if not proof.pareto:
        return best_by_boxes(proof, lower, upper)
    out = {k for k in range(N) for i in range(N)
           if i != k and -inf not in lower[i] and all(a >= b for a, b in zip(lower[i], upper[k]))}
    return settle_pareto(proof, out, lambda i, j: any(
        a > -inf and b < inf and F(a) + e >= F(b) for a, e, b in zip(lower[i], proof.epsilon, upper[j])))


def settle_pareto(proof, out, holds):
    rest = [i for i in range(proof.N) if i not in out]
    inside = [i for i in rest if all(i == j or holds(i, j) for j in rest)]
    return {"in": inside, "out": sorted(out), "not_needed": []}


def best_by_boxes(proof, lower, upper):
    def weigh(ends):
        known = all(map(math.isfinite, ends))
        return sum((w * F(e) for w, e in zip(proof.weights, ends)), F()) if known else None

    least, most, groups = [weigh(e) for e in lower], [weigh(e) for e in upper], range(proof.N)
    slack = proof.epsilon[0] * sum(proof.weights)
    behind = {k for k in groups for i in groups
              if i != k and None not in (least[i], most[k]) and least[i] >= most[k]}
    good = [i for i in groups if least[i] is not None and all(
        k == i or (most[k] is not None and least[i] + slack >= most[k]) for k in groups)]
    return settle_best(proof, behind, max(good, key=lambda i: least[i]) if good else None)


def settle_best(proof, behind, first):
    if first is None:
        return {"in": [], "out": sorted(behind), "not_needed": []}
    rest = [k for k in range(proof.N) if k != first]
    out = [k for k in rest if k in behind or proof.epsilon[0] == 0]
    return {"in": [first], "out": out, "not_needed": [k for k in rest if k not in out]}


# ---------------------------------------------------------------- pairs of arms


def normal_pair(gap, counts, q):
    """Return min_u psi(s_a u) + psi(s_b (gap - u)) less the costs: a convex function's minimum."""
    s = [n / mp.sqrt(n + p) for n, p in zip(counts, q)]
    low, high = -1 / s[1], gap + 1 / s[0]
    for _ in range(90):
        u = (low + high) / 2
        a, b = psi(s[0] * u), psi(s[1] * (gap - u))
        slope = s[0] * a[1] - s[1] * b[1]
        low, high = (low, u) if slope > 0 else (u, high)
    cost = sum(mp.log(1 + n / p) / 2 for n, p in zip(counts, q))
    return a[0] + b[0] - abs(slope) * (high - low) * 2 - cost


class Arm:
    """Values that count, mirrored for the lower arm of a pair, with their bets."""

    def __init__(self, gaussian, values, scale, most=math.inf):
        self.gaussian, self.values, self.scale = gaussian, values, scale
        self.bets = [min(scale * (k + 0.5) / 4, most) for k in range(12)] + [2.0**-k for k in range(1, 9)]

    def data(self, m):
        """Return the logs of the products of all bets at m; for symmetric noise two sums."""
        if self.gaussian:
            return [math.fsum(z - m for z in self.values), math.fsum((z - m) ** 2 for z in self.values)]
        return [math.fsum(math.log1p(bet * (u - m)) for u in self.values) if bet * m < 0.99 else None
                for bet in self.bets]

    def wealth(self, data, rates=None):
        """Return log K and its slope where the data change at these rates."""
        rates, terms = rates or [0.0] * len(data), []
        if self.gaussian:
            for scale, weight in SYMMETRIC:
                q = (self.scale * scale) ** -2
                both = data[1] + q
                z = data[0] / math.sqrt(both)
                value, slope = map(float, psi(mp.mpf(z)))
                drift = -rates[1] / both / 2 + slope * (rates[0] / math.sqrt(both) - z * rates[1] / both / 2)
                terms.append((value - math.log(both / q) / 2 + math.log(weight), drift))
        else:
            terms = [(value + math.log(weight), rate) for value, weight, rate
                     in zip(data, WEIGHTS, rates) if value is not None and rate is not None]
        most = max([math.log(CASH), *(value for value, _ in terms)])
        parts = [(math.exp(value - most), rate) for value, rate in terms]
        whole = math.exp(math.log(CASH) - most) + math.fsum(part for part, _ in parts)
        return most + math.log(whole) - 1e-9, math.fsum(p * r for p, r in parts) / whole


def wealth_pair(a, b, shift, level):
    """Return whether log K_a(x) + log L_b(x + s) reaches the level at every x, cell by cell."""
    alone, seen, left, right = level - math.log(CASH), {}, 0.0, 1.0 - shift

    def at(x):
        if x not in seen:
            seen[x] = a.data(x), b.data(-(x + shift) + (0 if a.gaussian else 1))
        return seen[x]

    def outwards(arm, side, way):
        mean = math.fsum(arm.values) / len(arm.values)
        reach, start = math.sqrt(arm.data(mean)[1]) / len(arm.values), -way * mean - shift * side
        tries = (start + way * reach * 1.25**k for k in range(60))
        return next((x for x in tries if arm.wealth(at(x)[side])[0] >= alone), way * math.inf)

    if a.gaussian:
        left, right = outwards(a, 0, -1), outwards(b, 1, 1)
    if math.isinf(left) or math.isinf(right) or not left < right:
        return math.isfinite(left - right) if a.gaussian else shift > 1
    cells, looked = [(left, right)], 0
    while cells:
        (x, y), looked = cells.pop(), looked + 1
        if a.wealth(at(y)[0])[0] >= alone or b.wealth(at(x)[1])[0] >= alone:
            continue
        rates = [[None if None in (p, q) else (q - p) / (y - x) for p, q in zip(*both)]
                 for both in zip(at(x), at(y))]
        (low, fall), (high, rise) = ([sum(pair) for pair in zip(*(arm.wealth(data, rate) for arm, data, rate
                                      in zip((a, b), at(end), rates)))] for end in (x, y))
        bound = min(low, high)
        if fall < 0 < rise:  # between the ends it lies above where the tangents cross
            t = (low - high + rise * (y - x)) / (rise - fall)
            bound = min(bound, low + fall * min(max(t, 0), y - x))
        if bound < level:
            middle = (x + y) / 2
            here = a.wealth(at(middle)[0])[0] + b.wealth(at(middle)[1])[0]
            if here < level or looked > 3000 or y - x < 1e-9 * (right - left):
                return False
            cells += [(middle, y), (x, middle)]
    return True


def unit_of(column):
    n = 4
    while n <= len(column) and len(set(column[:n])) == 1:
        n += 1
    need(n < len(column), "claims", "no value of an arm counts yet")
    mean = total(column[:n]) / n
    return n, float(mp.sqrt(real(sum((F(x) - mean) ** 2 for x in column[:n]) / (n - 1))))


def pair_reaches(proof, d, columns, gap, shift, level, g, claim):
    """Return whether part g of the process of a dim refutes mu_a + shift <= mu_b."""
    process, parts = proof.method["process"][d], proof.method["process"][d]["parts"]
    counts, name, width = [len(c) for c in columns], process["name"], proof.high[d] - proof.low[d]
    if name == "difference":
        need(counts[0] == counts[1], "claims", "differences need equal counts", claim)
        n, s = 2 * counts[0], real(counts[0] * gap / proof.scale[d])
        values = [mp.sqrt(q / (n + q)) * mp.exp(psi(s / mp.sqrt(n + q))[0]) for q in map(mp.mpf, parts)]
        return mp.log(sum(values) / len(parts)) >= level + ROOM
    need(g < len(parts), "claims", "no such part", claim)
    level += mp.log(len(parts))
    if name == "normal":
        scaled = real(gap / proof.scale[d])
        return gap > 0 and normal_pair(scaled, counts, [mp.mpf(parts[g])] * 2) >= level + ROOM
    arms = []
    for column, sign in zip(columns, (proof.signs[d], -proof.signs[d])):
        if name == "symmetric":
            before, unit = unit_of(column)
            arms.append(Arm(True, [sign * x for x in column[before:]], parts[g] / unit))
        else:
            arms.append(Arm(False, shares(proof, d, column, sign), parts[g]))
    return wealth_pair(*arms, float(shift if name == "symmetric" else shift / width), float(level))


class Scouting:
    """What the warm-up, the first values of each arm, fixed: shares, precisions, bets."""

    def __init__(self, proof):
        self.before, self.proof = proof.method["before"], proof
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

    def reaches(self, a, b, d, counts, exact, level, claim):
        """Return whether evidence from the values after the warm-up reaches the level."""
        proof, kind, shift = self.proof, self.proof.noise[d]["kind"], float(exact / self.unit[d])
        columns = []
        for arm, n in zip((a, b), counts):
            need(n > self.n[arm], "claims", "counts values of the warm-up", claim)
            columns.append(proof.column(arm, d, n, claim)[int(self.n[arm]) :])
        seen, sizes = abs(float(self.mean[a, d] - self.mean[b, d]) + shift), [len(c) for c in columns]
        if kind != "gaussian":
            scale = 1 if kind == "subgaussian" else F(1, 2)
            means = [total(c) / len(c) for c in columns]
            gap = (proof.signs[d] * (means[0] - means[1]) + exact) / self.unit[d] / scale
            q = mp.mpf(4.5 / max((seen / float(scale)) ** 2, 1 / self.n[a] + 1 / self.n[b]))
            known = normal_pair(real(gap), sizes, [q, q]) if gap > 0 else -mp.inf
            left = mp.exp(level) - mp.exp(known) / 20
            if kind == "subgaussian" or left <= 1:
                return known >= level + ROOM if kind == "subgaussian" else True
            level = mp.log(left / mp.mpf("0.95"))
        gap, arms = max(seen, math.sqrt(self.error(a, b, d))), []
        roots = [math.sqrt(self.var[arm, d]) for arm in (a, b)]
        for side, (arm, column) in enumerate(zip((a, b), columns)):
            own = gap * roots[side] / sum(roots)
            bet, sign = 2.3 / math.sqrt(4.5) * own / (self.var[arm, d] + own**2), 1 - 2 * side
            if kind == "gaussian":
                arms.append(Arm(True, [sign * proof.signs[d] * x for x in column], bet))
                continue
            centre = 1 - self.centre[arm, d] if side else self.centre[arm, d]
            most = 0.95 / (centre + roots[side] / math.sqrt(self.n[arm]))
            arms.append(Arm(False, shares(proof, d, column, sign * proof.signs[d]), bet, most))
        return wealth_pair(*arms, shift, float(level))


def part(weights, k):
    return 0.2 / len(weights) + 0.8 * weights[k] / sum(weights)


def shares(proof, d, column, sign):
    least = proof.low[d] if sign > 0 else -proof.high[d]
    return [float((sign * F(x) - least) / (proof.high[d] - proof.low[d])) for x in column]


def pairs(proof, bar):
    """Return the statuses that evidence on pairs of arms gives."""
    method, D, A, N, known = proof.method, proof.D, proof.A, proof.N, ("subgaussian", "bounded", "bernoulli")
    need(proof.pareto and proof.doc["noise"]["arms"] == "independent", "format", "not for pairs")
    scouting = method["budget"] == "scouted" and Scouting(proof)
    if scouting:
        good = [process["name"] for process in method["process"]] == ["scouted"] * D
        need(good, "parameters", "not those of a warm-up")
    else:
        proof.processes({"normal": known[:1], "difference": known, "bets": known[1:], "symmetric": ("gaussian",)})
        over, won, stale = ([share_of(p) for p in method[key]] for key in ("over", "won", "stale"))
        need(len(over) == len(won) == len(stale) == N, "shares", "one for each group")
        used = sum(max(D * k * w, (A - k) * o + D * (k - 1) * s)
                   for k, o, w, s in zip(proof.sizes, over, won, stale))
        need(used <= 1, "shares", f"they add up to {used} of delta")
    covered = set(), set(), set()
    for c, claim in enumerate(proof.claims):
        need(len(claim) == 10, "claims", "ten numbers", c)
        limits = 3, N, 10**9, N, 10**9, D, 10**15, 10**15, 10**9
        kind, i, m, j, k, d, n_a, n_b, g = (index(x, limit, c) for x, limit in zip(claim, limits))
        need(m < proof.sizes[i] and k < proof.sizes[j], "claims", "no such arm", c)
        need((i == j) == (kind == 2) and (i, m) != (j, k), "claims", "the wrong arms", c)
        columns = [proof.column(arm, d, n, c) for arm, n in (((i, m), n_a), ((j, k), n_b))]
        share = F(scouting.share(kind, i, m, j, d)) if scouting and kind < 2 else (
            F() if scouting else (over[j], won[i], stale[j])[kind])
        need(share > 0, "claims", "no share", c)
        shift = proof.epsilon[d] if kind == 1 else F(0)
        gap = shift + proof.signs[d] * (proof.mean((i, m), d, n_a) - proof.mean((j, k), d, n_b))
        level = max(mp.log(real(1 / proof.delta / share)), mp.mpf(claim[9]))
        if scouting:
            good = scouting.reaches((i, m), (j, k), d, (n_a, n_b), shift, level, c)
        else:
            good = pair_reaches(proof, d, columns, gap, shift, level, g, c)
        need(good, "claims", "the e-process has not reached its level", c)
        covered[kind].add((i, j, d, k))
        bar(c + 1, len(proof.claims))
    dropped = {(j, d, k) for _, j, d, k in covered[2]}
    left = {(j, d): {k for k in range(proof.sizes[j]) if (j, d, k) not in dropped}
            for j in range(N) for d in range(D)}
    need(all(left.values()), "answer", "all arms of a group are dropped")

    def every(claims, i, j, d):
        return all((i, j, d, k) in claims for k in left[j, d])

    beats = {(i, j) for i, j, *_ in covered[0] if all(every(covered[0], i, j, d) for d in range(D))}
    return settle_pareto(proof, {j for _, j in beats},
                         lambda i, j: any(every(covered[1], i, j, d) for d in range(D)))


# ---------------------------------------------------------------- the whole


METHODS = {"boxes": boxes, "pairs": pairs}


def verify(document, table, bar=lambda done, of: None):
    """Return None, or what failed in words."""
    try:
        proof = Proof(document, table)
        need(proof.method["kind"] in METHODS, "format", "unknown method")
        found = METHODS[proof.method["kind"]](proof, bar)
        same = all(sorted(document["answer"][key]) == sorted(found[key]) for key in found)
        need(same, "answer", "the claims give another answer")
    except Wrong as wrong:
        return str(wrong)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        return f"format: an entry is missing or not what it must be ({error!r})"
    return None


def show(done, of):
    if done == of or done % max(of // 50, 1) == 0:
        end = "\n" if done == of else ""
        print(f"\r[{'#' * (40 * done // of):<40}] claim {done} of {of}", end=end, file=sys.stderr)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip())
        return 2
    with open(arguments[0], encoding="utf-8") as stream:
        document = json.load(stream)
    failed = verify(document, arguments[1], show)
    if failed is not None:
        print(f"FAILED {failed}\nNOT verified")
        return 1
    for key in ("in", "out", "not_needed"):
        names = [document["problem"]["groups"][i][0] for i in document["answer"][key]]
        print(f"{key}: {', '.join(names) or 'none'}")
    print(f"proven for the goal {document['goal']} with error probability at most {document['delta']},")
    print(f"under the noise {document['noise']}; the file says in its own words:")
    print("\n".join(f"  {words}" for words in (document["statement"], *document["assumptions"])))
    print(f"verified {document['digest']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
