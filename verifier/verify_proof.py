"""Check a bestgroup proof file against its table of observations, independently of bestgroup.

    python verify_proof.py proof.json rows.csv

Written from docs/proof-format.md alone; needs Python 3.10 and mpmath. Special functions are mpmath's
at 40 digits, sums of doubles are exact; a level counts as reached if it is by 1e-20 or more.
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
WIDE = [8, 128, 2048, 32768]


class Wrong(Exception):
    """A check failed."""


def need(holds, check, why, claim=None):
    if not holds:
        raise Wrong(f"{check}{'' if claim is None else f' at claim {claim}'}: {why}")


def real(x):
    """Return a rational number to 40 digits."""
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, F) else mp.mpf(x)


def total(values):
    """Return the exact sum of doubles."""
    parts = []  # fsum rounds once; what it left out is summed up again until nothing is
    values = list(values)
    while True:
        value = math.fsum(values)
        if value == 0.0:
            return sum(map(F, parts), F())
        parts.append(value)
        values.append(-value)


# ---------------------------------------------------------------- the file and the table


def digest(document):
    kept = {k: v for k, v in document.items() if k not in ("digest", "signature")}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def unguarded(name):
    begins = ("=", "+", "-", "@", "\t", "\r")
    return name[1:] if name.startswith("'") and name.lstrip("'").startswith(begins) else name


class Proof:
    """The file and the rows, by arm."""

    def __init__(self, document, table):
        self.doc = document
        need(document["format"] == "bestgroup-proof" and document["version"] == 1, "format", "unknown")
        need(document["digest"] == digest(document), "digest", "the file was changed")
        self.groups = [g for g, _ in document["problem"]["groups"]]
        self.arms = [list(a) for _, a in document["problem"]["groups"]]
        self.dims = [d for d, _ in document["problem"]["dims"]]
        self.signs = [{"max": 1, "min": -1}[s] for _, s in document["problem"]["dims"]]
        self.noise = document["noise"]["dims"]
        goal = document["goal"]
        self.pareto = {"pareto": True, "best": False}[goal["kind"]]
        self.epsilon = [F(e) for e in (goal["epsilon"] if self.pareto else [goal["epsilon"]])]
        self.weights = [] if self.pareto else [F(w) for w in goal["weights"]]
        self.delta = F(document["delta"])
        need(0 < self.delta < 1 and min(self.epsilon) >= 0, "format", "delta or epsilon")
        need(len(self.epsilon if self.pareto else self.weights) == len(self.dims), "format", "goal")
        need(len(set(self.groups)) == len(self.groups) > 0 < len(self.dims), "format", "names")
        need(all(len(set(a)) == len(a) > 0 for a in self.arms), "format", "arms")
        need(len(self.noise) == len(self.dims) and all(w > 0 for w in self.weights), "format", "noise")
        for noise in self.noise:
            need(noise["kind"] != "subgaussian" or noise["scale"] > 0, "format", "scale")
            need(noise["kind"] != "bounded" or noise["low"] < noise["high"], "format", "range")
        self.sizes = [len(a) for a in self.arms]
        self.A, self.N, self.D = sum(self.sizes), len(self.groups), len(self.dims)
        self.method, self.claims = document["method"], document["claims"]
        self.rows, self.items, self.order = {}, {}, []
        self.read(table)

    def read(self, table):
        data = self.doc["data"]
        names = data["columns"]
        link = hashlib.sha256("\x1f".join(("bestgroup-rows-1", *self.dims)).encode()).digest()
        place = {(g, a): (i, j) for i, g in enumerate(self.groups) for j, a in enumerate(self.arms[i])}
        columns = [*self.dims, *([names["index"]] if names.get("index") else [])]
        count, index = 0, {}
        with open(table, newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            header = [unguarded(name) for name in next(reader)]
            at = [header.index(name) for name in columns]
            keys = [header.index(names[k]) for k in ("group", "arm", "item") if names.get(k)]
            for row in reader:
                if not row:
                    continue
                text = [unguarded(row[k]) for k in keys]
                values = [float(row[k]) for k in at]
                need(all(map(math.isfinite, values)), "data", f"row {count}: not a finite number")
                packed = struct.pack(f">{len(values)}d", *values)
                link = hashlib.sha256(link + "\x1f".join(text).encode() + b"\x1e" + packed).digest()
                need(tuple(text[:2]) in place, "data", f"row {count}: an unknown arm")
                arm = place[tuple(text[:2])]
                if arm not in self.rows:
                    self.order.append(arm)
                self.rows.setdefault(arm, []).append(values[: self.D])
                self.items.setdefault(arm, []).append(text[2] if len(text) > 2 else None)
                index.setdefault(arm, []).append(values[-1])
                count += 1
        need(count == data["rows"], "data", f"{count} rows, the proof is about {data['rows']}")
        need(link.hex() == data["digest"], "data", "not the rows, or not in the order, of the proof")
        for arm in self.rows if names.get("index") else ():
            order = sorted(range(len(index[arm])), key=index[arm].__getitem__)
            sound = [index[arm][k] for k in order] == list(range(len(order)))
            need(sound, "data", "indices are not 0, 1, ...")
            self.rows[arm] = [self.rows[arm][k] for k in order]
            self.items[arm] = [self.items[arm][k] for k in order]
        for d, noise in enumerate(self.noise):
            low, high = noise.get("low", 0.0), noise.get("high", 1.0)
            for rows in self.rows.values() if noise["kind"] in ("bounded", "bernoulli") else ():
                inside = all(low <= row[d] <= high for row in rows)
                coins = noise["kind"] == "bounded" or all(row[d] in (0.0, 1.0) for row in rows)
                need(inside and coins, "data", f"{self.dims[d]}: a value outside of its range")

    def integer(self, value, below, k):
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below
        need(good, "claims", f"{value!r} is no index below {below}", k)
        return value


# ---------------------------------------------------------------- single arms


def reached(proof, d, z, m, alpha, process, sign):
    """Return whether "the mean of z is at most m" is refuted at alpha; z are mirrored by `sign`."""
    n, level, noise = len(z), mp.log(real(1 / alpha)), proof.noise[d]
    name = process["name"]
    serves = {"betting": ("bounded", "bernoulli"), "jeffreys": ("bernoulli",), "t-mixture": ("gaussian",)}
    known = serves.get(name, ("subgaussian", "bounded", "bernoulli"))
    need(noise["kind"] in known, "parameters", f"{name} is no proof for {noise['kind']} noise")
    low, high = F(noise.get("low", 0)), F(noise.get("high", 1))
    least = low if sign > 0 else -high
    scale = F(noise["scale"]) if noise["kind"] == "subgaussian" else (high - low) / 2
    over = total(z) - n * F(m)
    if name == "mixture":
        s, parts = real(over / scale), []
        for q in map(mp.mpf, process["precisions"]):
            x = s / mp.sqrt(n + q)
            parts.append(mp.sqrt(q / (n + q)) * mp.exp(x * x / 2) * 2 * mp.ncdf(x))
        return mp.log(sum(parts) / len(parts)) >= level + ROOM
    if name in ("union", "stitched", "fixed"):
        square = {
            "union": lambda: 2 * n * (level + mp.log(2 * n * n)),
            "stitched": lambda: mp.mpf("2.89") * n * (
                mp.log(mp.log(2 * n)) + mp.mpf("0.72") * (level + mp.log(mp.mpf("5.2")))),
            "fixed": lambda: 2 * n * level if n == process["count"] else mp.inf,
        }[name]()
        return real(over / scale) >= mp.sqrt(square) + ROOM
    if name == "betting":
        v, wealth = real((F(m) - least) / (high - low)), mp.mpf(0)
        if v <= 0:
            return v < 0
        u = [real((F(x) - least) / (high - low)) for x in z]
        for bet in (b for b in BETS if b * v < 0.99):
            wealth += mp.fprod(1 + bet * (x - v) for x in u)
        return wealth > 0 and mp.log(wealth / len(BETS)) >= level + ROOM
    if name == "jeffreys":
        p, s = real(F(m) - least), sum(1 for x in z if F(x) - least == 1)
        if p <= 0 or p >= 1:
            return p < 0
        a, b, half = s + mp.mpf(0.5), n - s + mp.mpf(0.5), mp.mpf(0.5)
        above = mp.log(mp.beta(a, b)) + mp.log(mp.betainc(a, b, p, 1, regularized=True))
        prior = mp.log(mp.pi) + mp.log(1 - 2 / mp.pi * mp.asin(mp.sqrt(p)))
        return above - prior - s * mp.log(p) - (n - s) * mp.log(1 - p) >= level + ROOM
    need(name == "t-mixture", "parameters", f"there is no process {name!r}")
    s, square, parts = real(over), real(sum((F(x) - F(m)) ** 2 for x in z)), []
    if n < 2 or s <= 0:
        return False
    for q in WIDE:
        rest = square - s * s / (n + q)
        if rest <= 0:
            return False
        t = s * mp.sqrt(n / ((n + q) * rest))
        cdf = mp.mpf(1) / 2 + mp.betainc(0.5, mp.mpf(n) / 2, 0, t * t / (n + t * t), regularized=True) / 2
        parts.append(mp.sqrt(mp.mpf(q) / (n + q)) * (square / rest) ** (mp.mpf(n) / 2) * 2 * cdf)
    return mp.log(sum(parts) / 4) >= level + ROOM


def share_of(pair):
    top, bottom = pair
    need(isinstance(top, int) and isinstance(bottom, int) and 0 <= top <= bottom > 0, "shares", "unreadable")
    return F(top, bottom)


def boxes(proof, bar):
    """Return the statuses that bounds of single arms give."""
    method, D, N, A = proof.method, proof.D, proof.N, proof.A
    if method["budget"] == "as they came":
        rank = {arm: k for k, arm in enumerate(proof.order, start=1)}
        shares = {arm: (F(1, 2 * D * k * (k + 1)),) * 2 for arm, k in rank.items()}
    else:
        need(method["budget"] == "fixed", "shares", "unknown budget")
        low, high = share_of(method["low"]), share_of(method["high"])
        need(low and high, "shares", "one is 0")
        used = A * D * low + N * D * high
        if not proof.pareto:
            used = (A - min(proof.sizes)) * D * low + D * high
        need(used <= 1, "shares", f"they add up to {used} of delta")
        shares = {(i, j): (low, high) for i in range(N) for j in range(proof.sizes[i])}
    need(len(method["process"]) == D, "parameters", "one process for each dim")
    for d, process in enumerate(method["process"]):
        need(process["fixed_at"] == 0, "parameters", "not fixed before the first row")
        if process["name"] == "mixture":
            need(process["precisions"] and min(process["precisions"]) > 0, "parameters", "precisions")
        if process["name"] == "fixed":
            need(proof.pareto and min(proof.epsilon) > 0, "parameters", "a count needs epsilon > 0")
            counts = []
            for e, noise in zip(proof.epsilon, proof.noise):
                s = F(noise["scale"]) if noise["kind"] == "subgaussian" else (
                    F(noise.get("high", 1)) - F(noise.get("low", 0))) / 2
                counts.append(mp.ceil(32 * real(s / e) ** 2 * mp.log(real(2 * A * D / proof.delta))))
            need(process["count"] == max(counts), "parameters", "not the count of uniform sampling")
    ends = ({}, {})
    for k, claim in enumerate(proof.claims):
        need(len(claim) == 6, "claims", "[group, arm, dim, side, n, m]", k)
        i = proof.integer(claim[0], N, k)
        j, d = proof.integer(claim[1], proof.sizes[i], k), proof.integer(claim[2], D, k)
        side, n = proof.integer(claim[3], 2, k), proof.integer(claim[4], 10**15, k)
        m, turn = float(claim[5]), -1 if side else 1
        need(math.isfinite(m) and (i, j, d) not in ends[side], "claims", "twice, or no number", k)
        rows = proof.rows.get((i, j), [])
        need(1 <= n <= len(rows), "claims", f"there are fewer than {n} rows of this arm", k)
        sign = turn * proof.signs[d]
        z = [sign * row[d] for row in rows[:n]]
        alpha = proof.delta * shares[i, j][side]
        good = reached(proof, d, z, turn * m, alpha, method["process"][d], sign)
        need(good, "claims", "the process has not reached its level", k)
        ends[side][i, j, d] = m
        bar(k + 1, len(proof.claims))
    inf = math.inf
    lower = [[max(ends[0].get((i, j, d), -inf) for j in range(proof.sizes[i])) for d in range(D)]
             for i in range(N)]
    upper = [[max(ends[1].get((i, j, d), inf) for j in range(proof.sizes[i])) for d in range(D)]
             for i in range(N)]
    if not proof.pareto:
        return best_by_boxes(proof, lower, upper)
    out = {k for k in range(N) for i in range(N)
           if i != k and -inf not in lower[i] and all(a >= b for a, b in zip(lower[i], upper[k]))}

    def holds(i, j):
        pairs = [(a, e, b) for a, e, b in zip(lower[i], proof.epsilon, upper[j]) if a > -inf and b < inf]
        return any(F(a) + e >= F(b) for a, e, b in pairs)

    return settle_pareto(proof, out, holds)


def settle_pareto(proof, out, holds):
    rest = [i for i in range(proof.N) if i not in out]
    inside = [i for i in rest if all(i == j or holds(i, j) for j in rest)]
    return {"in": inside, "out": sorted(out), "not_needed": []}


def best_by_boxes(proof, lower, upper):
    def weigh(ends):
        known = all(map(math.isfinite, ends))
        return sum((w * F(e) for w, e in zip(proof.weights, ends)), F()) if known else None

    least, most = [weigh(e) for e in lower], [weigh(e) for e in upper]
    slack, groups = proof.epsilon[0] * sum(proof.weights), range(proof.N)
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

PARTS = [math.exp(-(((k + 0.5) / 4) ** 2) / 2) for k in range(12)]
WEIGHTS = [0.95 * part / sum(PARTS) for part in PARTS] + [0.005] * 8
CASH, SYMMETRIC = 0.01, [(1, 0.9), (0.25, 0.04), (4, 0.03), (1 / 64, 0.02)]


def psi(x):
    return x * x / 2 + mp.log(2 * mp.ncdf(x)), x + mp.npdf(x) / mp.ncdf(x)


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

    def __init__(self, kind, values, scale, most=math.inf):
        self.kind, self.values, self.scale = kind, values, scale
        self.bets = [min(scale * (k + 0.5) / 4, most) for k in range(12)]
        self.bets += [2.0**-k for k in range(1, 9)]

    def data(self, m):
        """Return the logs of the products of all bets at m; for symmetric noise two sums."""
        if self.kind == "gaussian":
            away = [z - m for z in self.values]
            return [math.fsum(away), math.fsum(a * a for a in away)]
        return [math.fsum(math.log1p(bet * (u - m)) for u in self.values) if bet * m < 0.99 else None
                for bet in self.bets]

    def wealth(self, data, rates=None):
        """Return log K and its slope where the data change at these rates."""
        terms = []
        if self.kind == "gaussian":
            total, square = data
            fall, rise = rates or (0.0, 0.0)
            for scale, weight in SYMMETRIC:
                q = (self.scale * scale) ** -2
                both = square + q
                z = total / math.sqrt(both)
                value, slope = map(float, psi(mp.mpf(z)))
                drift = -rise / both / 2 + slope * (fall / math.sqrt(both) - z * rise / both / 2)
                terms.append((value - math.log(both / q) / 2 + math.log(weight), drift))
        else:
            rates = rates or [0.0] * len(data)
            terms = [(value + math.log(weight), rate) for value, weight, rate
                     in zip(data, WEIGHTS, rates) if value is not None and rate is not None]
        most = max([math.log(CASH), *(value for value, _ in terms)])
        parts = [(math.exp(value - most), rate) for value, rate in terms]
        whole = math.exp(math.log(CASH) - most) + math.fsum(part for part, _ in parts)
        return most + math.log(whole) - 1e-9, math.fsum(p * r for p, r in parts) / whole


def wealth_pair(a, b, shift, level):
    """Return whether log K_a(x) + log L_b(x + s) reaches the level at every x, cell by cell."""
    gaussian, alone, seen = a.kind == "gaussian", level - math.log(CASH), {}

    def at(x):
        if x not in seen:
            seen[x] = a.data(x), b.data(-(x + shift) + (0 if gaussian else 1))
        return seen[x]

    def outwards(arm, side, way, mean):
        reach = math.sqrt(arm.data(math.fsum(arm.values) / len(arm.values))[1]) / len(arm.values)
        for k in range(60):
            x = mean + way * reach * 1.25**k
            if arm.wealth(at(x)[side])[0] >= alone:
                return x
        return way * math.inf

    left, right = 0.0, 1.0 - shift
    if gaussian:
        left = outwards(a, 0, -1, math.fsum(a.values) / len(a.values))
        right = outwards(b, 1, 1, -math.fsum(b.values) / len(b.values) - shift)
    if math.isinf(left) or math.isinf(right) or not left < right:
        return math.isfinite(left - right) if gaussian else shift > 1
    cells, looked = [(left, right)], 0
    while cells:
        x, y = cells.pop()
        looked += 1
        if a.wealth(at(y)[0])[0] >= alone or b.wealth(at(x)[1])[0] >= alone:
            continue
        rates = [[None if None in (p, q) else (q - p) / (y - x) for p, q in zip(*both)]
                 for both in zip(at(x), at(y))]
        ends = [[sum(pair) for pair in zip(*(arm.wealth(data, rate)
                 for arm, data, rate in zip((a, b), at(end), rates)))] for end in (x, y)]
        (low, fall), (high, rise) = ends
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


def pairs(proof, bar):
    """Return the statuses that evidence on pairs of arms gives."""
    method, D, A, N = proof.method, proof.D, proof.A, proof.N
    need(proof.pareto and proof.doc["noise"]["arms"] == "independent", "format", "not for pairs")
    over, won, stale = ([share_of(p) for p in method[key]] for key in ("over", "won", "stale"))
    need(len(over) == len(won) == len(stale) == N, "shares", "one for each group")
    used = sum(max(D * k * w, (A - k) * o + D * (k - 1) * s)
               for k, o, w, s in zip(proof.sizes, over, won, stale))
    need(used <= 1, "shares", f"they add up to {used} of delta")
    covered, sums = (set(), set(), set()), {}
    for number, claim in enumerate(proof.claims):
        need(len(claim) == 10, "claims", "ten numbers", number)
        kind, i, j = (proof.integer(claim[c], b, number) for c, b in ((0, 3), (1, N), (3, N)))
        m, k = proof.integer(claim[2], proof.sizes[i], number), proof.integer(claim[4], proof.sizes[j], number)
        d, g = proof.integer(claim[5], D, number), proof.integer(claim[8], 10**9, number)
        counts = [proof.integer(n, 10**15, number) for n in claim[6:8]]
        need((i == j) == (kind == 2) and (i, m) != (j, k), "claims", "the wrong arms", number)
        columns = []
        for arm, n in zip(((i, m), (j, k)), counts):
            need(1 <= n <= len(proof.rows.get(arm, [])), "claims", "too few rows", number)
            columns.append([row[d] for row in proof.rows[arm][:n]])
            if (arm, d, n) not in sums:
                sums[arm, d, n] = total(columns[-1]) / n
        alpha = proof.delta * (over[j], won[i], stale[j])[kind]
        need(alpha > 0, "claims", "no share", number)
        shift = proof.epsilon[d] if kind == 1 else F(0)
        gap = shift + proof.signs[d] * (sums[(i, m), d, counts[0]] - sums[(j, k), d, counts[1]])
        level = max(mp.log(real(1 / alpha)), mp.mpf(claim[9]))
        good = pair_reaches(proof, d, columns, gap, shift, level, g, number)
        need(good, "claims", "the e-process has not reached its level", number)
        covered[kind].add((i, j, d, k))
        bar(number + 1, len(proof.claims))
    dropped = {(j, d, k) for _, j, d, k in covered[2]}
    left = {(j, d): {k for k in range(proof.sizes[j]) if (j, d, k) not in dropped}
            for j in range(N) for d in range(D)}
    need(all(left.values()), "answer", "all arms of a group are dropped")

    def every(claims, i, j, d):
        return all((i, j, d, k) in claims for k in left[j, d])

    beats = {(i, j) for i, j, *_ in covered[0] if all(every(covered[0], i, j, d) for d in range(D))}
    return settle_pareto(proof, {j for _, j in beats},
                         lambda i, j: any(every(covered[1], i, j, d) for d in range(D)))


def pair_reaches(proof, d, columns, gap, shift, level, g, number):
    process, noise = proof.method["process"][d], proof.noise[d]
    kinds = {"normal": ("subgaussian",), "difference": ("subgaussian", "bounded", "bernoulli"),
             "bets": ("bounded", "bernoulli"), "symmetric": ("gaussian",)}[process["name"]]
    parts = process["parts"]
    need(noise["kind"] in kinds and process["fixed_at"] == 0 < min(parts), "parameters", "unfit")
    low, high = F(noise.get("low", 0)), F(noise.get("high", 1))
    scale = F(noise["scale"]) if noise["kind"] == "subgaussian" else (high - low) / 2
    counts = [len(column) for column in columns]
    if process["name"] == "difference":
        need(counts[0] == counts[1], "claims", "differences need equal counts", number)
        n, s = 2 * counts[0], real(counts[0] * gap / scale)
        values = [mp.sqrt(q / (n + mp.mpf(q))) * mp.exp(psi(s / mp.sqrt(n + mp.mpf(q)))[0]) for q in parts]
        return mp.log(sum(values) / len(parts)) >= level + ROOM
    need(g < len(parts), "claims", "no such part", number)
    level, part = level + mp.log(len(parts)), parts[g]
    if process["name"] == "normal":
        return gap > 0 and normal_pair(real(gap / scale), counts, [mp.mpf(part)] * 2) >= level + ROOM
    arms = []
    for side, column in enumerate(columns):
        sign = -proof.signs[d] if side else proof.signs[d]
        if process["name"] == "symmetric":
            before, unit = unit_of(column)
            arms.append(Arm("gaussian", [sign * x for x in column[before:]], part / unit))
        else:
            least = low if sign > 0 else -high
            arms.append(Arm("bounded", [float((sign * F(x) - least) / (high - low)) for x in column], part))
    shift = float(shift if process["name"] == "symmetric" else shift / (high - low))
    return wealth_pair(*arms, shift, float(level))


# ---------------------------------------------------------------- the whole


METHODS = {"boxes": boxes, "pairs": pairs}


def verify(document, table, bar=lambda done, of: None):
    """Return None, or what failed in words."""
    try:
        proof = Proof(document, table)
        need(proof.method["kind"] in METHODS, "format", "unknown method")
        found = METHODS[proof.method["kind"]](proof, bar)
        stated = document["answer"]
        same = all(sorted(stated[key]) == sorted(found[key]) for key in found)
        need(same, "answer", "the claims give another answer")
    except Wrong as wrong:
        return str(wrong)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        return f"format: an entry is missing or not what it must be ({error!r})"
    return None


def show(done, of):
    if done == of or done % max(of // 50, 1) == 0:
        bar = "#" * (40 * done // of)
        print(f"\r[{bar:<40}] claim {done} of {of}", end="" if done < of else "\n", file=sys.stderr)


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
    for words in (document["statement"], *document["assumptions"]):
        print(f"  {words}")
    print(f"verified {document['digest']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
