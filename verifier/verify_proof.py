"""Check a bestgroup proof file against its table of observations, independently of bestgroup.

    python verify_proof.py proof.json rows.csv

Written from docs/proof-format.md alone, and in its words; needs Python 3.10 and mpmath. Sums and
shares are exact fractions; logs of e-values are doubles, and must reach their level by 1e-9.
"""

import csv
import hashlib
import json
import math
import struct
import sys
from collections import Counter
from fractions import Fraction as F
from functools import cache
from math import log, log1p, sqrt

import mpmath as mp

mp.mp.dps = 30
ROOM, INF, WIDE = 1e-9, math.inf, [8, 128, 2048, 32768]
RANGE, KNOWN = ("bounded", "bernoulli"), ("subgaussian", "bounded", "bernoulli")
# Of each process: the noise that it is a proof for, and the parameters that it may have.
ONE_ARM = {"mixture": (KNOWN, [WIDE, [256, 4096, 65536]]), "union": (KNOWN, [None]),
           "stitched": (KNOWN, [None]), "betting": (RANGE, [None]),
           "jeffreys": (["bernoulli"], [None]), "t-mixture": (["gaussian"], [None])}
TWO_ARMS = {"normal": (["subgaussian"], [[32, 256, 2048, 16384, 131072]]),
            "difference": (KNOWN, [WIDE]), "bets": (RANGE, [[0.25, 1, 0.0625, 0.015625, 4]]),
            "symmetric": (["gaussian"], [[0.125, 0.5, 0.03125, 0.0078125, 2]])}
SEVERAL = ([w / 12 for w in (1, 3, 3, 3, 1, 1)],
           [w / 300 for w in (40, 60, 60, 60, 40, 20, 10, 5, 3, 2)])  # normal parts, bets
REAL = {"boxes": [5], "pairs": [9], "selections": [4, 5, 6]}  # numbers of a claim, not whole
ITEMS = {"largest": 32, "ratio": 2, "main": 12, "cap": 0.98, "plug": 0.7, "fixed_at": 0}
BETS = [(1 / 15, 2.0**k) for k in (-8, -7, -6, -5, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3)]
HALF_NORMAL = [math.exp(-(((k + 0.5) / 4) ** 2) / 2) for k in range(12)]
WEIGHTS = [0.95 * w / sum(HALF_NORMAL) for w in HALF_NORMAL] + [0.005] * 8
CASH, SYMMETRIC = 0.01, [(0.9, 1), (0.04, 0.25), (0.03, 4), (0.02, 1 / 64)]
MISSING = ("", "None", "<NA>", "NA", "N/A", "n/a", "null", "NULL", "-")  # and all sorts of nan


class Wrong(Exception): ...

def need(holds, check, why):
    if not holds:
        raise Wrong(f"{check}: {why}")

def total(values):
    """Return the exact sum of doubles: what fsum rounds off is summed until nothing is left."""
    values, result = list(values), F()
    while (part := math.fsum(values)) != 0.0:
        result += F(part)
        values.append(-part)
    return result

def digest(document):
    kept = {k: v for k, v in document.items() if k not in ("digest", "signature")}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()

def unguarded(name):
    begins = ("=", "+", "-", "@", "\t", "\r")
    return name[1:] if name.startswith("'") and name.lstrip("'").startswith(begins) else name


class Noise:
    """What is assumed of a dim: y = sign x, and the range of y from `least` on, if it has one."""
    def __init__(self, given, way):
        self.kind, self.sign = given["kind"], {"max": 1, "watch": 1, "min": -1}[way]
        need(self.kind in (*KNOWN, "gaussian"), "format", "no such noise")
        bounded, known = self.kind == "bounded", self.kind == "subgaussian"
        self.low, self.high = (F(given["low"]), F(given["high"])) if bounded else (F(0), F(1))
        self.width, self.least = self.high - self.low, self.low if self.sign > 0 else -self.high
        self.scale = F(given["scale"]) if known else self.width / 2
        self.unit = {"gaussian": F(1), "subgaussian": self.scale}.get(self.kind, self.width)
        apart = given.get("difference") if bounded else None
        self.reach = self.width if apart is None else min(self.width, F(apart))
        need(self.width > 0 < self.scale and self.reach > 0, "format", "noise of no width")


class Proof:
    """The file, and the values[i, j][d] and items[i, j] of each arm in their order."""
    def __init__(self, document, table):
        kind, version = document["format"], document["version"]
        need(kind == "bestgroup-proof" and version in (1, 2), "format", "no such version")
        need(document["digest"] == digest(document), "digest", "the file was changed")
        self.groups, self.arms = zip(*document["problem"]["groups"])
        self.dims, ways = zip(*(entry[:2] for entry in document["problem"]["dims"]))
        self.treatments = [(*entry, {})[2] for entry in document["problem"]["dims"]]
        goal, models, ways = document["goal"], document["noise"]["dims"], list(ways)
        self.noise = [Noise(given, way) for given, way in zip(models, ways)]
        noise = document["noise"]
        self.independent = noise["arms"] == "independent"
        self.independent_dims = noise["dependence"] == "independent"
        self.method, self.claims = document["method"], document["claims"]
        self.goal, self.stated = goal["kind"], document["answer"]["in"]
        self.pareto, self.top = self.goal == "pareto", goal.get("m", 1)
        self.delta = F(document["delta"])
        self.epsilon = [F(e) for e in (goal["epsilon"] if self.pareto else [goal["epsilon"]])]
        self.weights = [] if self.pareto else [F(w) for w in goal["weights"]]
        self.sizes = [len(arms) for arms in self.arms]
        self.D = sum(way != "watch" for way in ways)  # dims that decide come first
        self.A, self.N = sum(self.sizes), len(self.groups)
        self.measure(document["problem"], ways)
        plain = self.plain and self.goal != "top" and not self.gone
        need(version == 2 or plain, "format", "not in version 1")
        self.every_arm = [(i, j) for i, size in enumerate(self.sizes) for j in range(size)]
        names = (*self.arms, self.groups, self.dims)
        good = all(0 < len(set(own)) == len(own) for own in names) and 0 < self.delta < 1
        good = good and min(self.epsilon) >= 0 < min([1, *self.weights])
        good = good and len(models) == len(ways)
        good = good and self.goal in ("pareto", "best", "top") and type(self.top) is int
        good = good and "watch" not in ways[: self.D] and 0 < self.top < max(self.N, 2)
        good = good and len(self.epsilon if self.pareto else self.weights) == self.D
        need(good, "format", "names that stand twice, or numbers that cannot be")
        self.read(table, document["data"])

    def measure(self, problem, ways):
        """Read which arms count, and the rank of the arm that a group is worth; 0: the average."""
        given = problem.get("worth", "best")
        name, n = (given, 0) if isinstance(given, str) else given
        of_quantile = lambda size: size + 1 - max(1, math.ceil(n * size - 1e-9))
        self.gone = problem.get("gone", [])
        self.ranks = [{"best": 1, "mean": 0, "worst": size, "kth": n}.get(name, of_quantile(size))
                      for size in self.sizes]
        signs = [-1 if way == "min" else 1 for way in ways]
        self.limits = [(d, {"<=": 1, ">=": -1}[sense] * signs[d], signs[d] * F(at), F(tolerance))
                       for d, sense, at, tolerance in problem.get("limits", [])]
        self.mean, self.plain = name == "mean", set(self.ranks) == {1} and not self.limits
        good = name in ("best", "mean", "worst", "kth", "quantile") and type(n) is not bool
        good = good and all(0 <= rank <= size for rank, size in zip(self.ranks, self.sizes))
        good = good and (not self.limits or name in ("best", "kth"))
        good = good and {d for d, *_ in self.limits} >= set(range(self.D, len(ways)))
        good = good and (self.plain or self.goal != "top") and all(t >= 0 for *_, t in self.limits)
        need(good and set(ways) <= {"max", "min", "watch"}, "format", "no such worth or limits")

    def read(self, table, data):
        names, count, rows = data["columns"], 0, {}
        place = {(self.groups[i], self.arms[i][j]): (i, j) for i, j in self.every_arm}
        gone = [(group, arm) for group, arms in self.gone for arm in arms]
        good = len({*gone, *place}) == len(gone) + self.A
        good = good and (not gone or self.method.get("budget") == "room")
        need(good, "format", "arms that have left")
        place.update({arm: (-1, number) for number, arm in enumerate(gone)})
        columns = [*self.dims, *([names["index"]] if names.get("index") else [])]
        link = hashlib.sha256("\x1f".join(("bestgroup-rows-1", *self.dims)).encode()).digest()
        with open(table, newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            header = [unguarded(name) for name in next(reader)]
            at = [header.index(name) for name in columns]
            keys = [header.index(names[k]) for k in ("group", "arm", "item") if names.get(k)]
            for row in filter(None, reader):
                cells = ["nan" if data.get("gaps") and row[k] in MISSING else row[k] for k in at]
                text, values = [unguarded(row[k]) for k in keys], [float(x) for x in cells]
                packed = "\x1f".join(text).encode() + b"\x1e" + struct.pack(f">{len(at)}d", *values)
                link = hashlib.sha256(link + packed).digest()
                good = all(map(math.isfinite, values)) or data.get("gaps") is True
                good = good and INF not in map(abs, values) and (text[0], text[1]) in place
                need(good, "data", f"row {count}: an unknown arm, or no finite number")
                rows.setdefault(place[text[0], text[1]], []).append((values, text[-1]))
                count += 1
        need(count == data["rows"], "data", f"{count} rows, the proof is about {data['rows']}")
        need(link.hex() == data["digest"], "data", "not the rows of the proof, in their order")
        for own in rows.values() if names.get("index") else ():
            own.sort(key=lambda row: row[0][-1])
            need([row[0][-1] for row in own] == list(range(len(own))), "data", "rows were left out")
        self.items = {arm: [item for _, item in own] for arm, own in rows.items()}
        every = range(len(self.dims))
        self.values = {arm: [self.treated(d, [row[0][d] for row in own]) for d in every]
                       for arm, own in rows.items()}
        need("gaps" not in data or self.method["kind"] == "boxes", "format", "values are missing")
        for noise, columns in zip(self.noise, zip(*self.values.values())):
            for column in filter(None, columns) if noise.kind in RANGE else ():
                good = noise.low <= min(column) and max(column) <= noise.high
                good = good and (noise.kind == "bounded" or set(column) <= {0, 1})
                need(good, "data", "a value outside of its range")

    def treated(self, d, column):
        """Return the values of a dim that are there, as they are judged: clipped, then logs."""
        low, high = self.treatments[d].get("clip", (-INF, INF))
        found = [min(max(x, low), high) for x in column if x == x]
        return [log(x) for x in found] if self.treatments[d].get("log") else found

    def column(self, arm, d, n):
        """Return y of the first n values of an arm: larger is better."""
        own = self.values.get(arm, [[]] * len(self.dims))[d]
        need(1 <= n <= len(own), "claims", "an arm has fewer rows")
        return [self.noise[d].sign * x for x in own[:n]]

    def check_processes(self, table, processes):
        """Refuse a process that is no proof for the noise, or whose parameters were not fixed."""
        need(len(processes) == len(self.dims), "parameters", "one process for each dim")
        for process, noise in zip(processes, self.noise):
            serves, usual = table.get(process["name"], ((), ()))
            given = process.get("parts", process.get("precisions", process.get("count")))
            good = noise.kind in serves and given in usual and process["fixed_at"] == 0
            need(good, "parameters", f"{process['name']} is no proof here, or was not fixed")

    def weighted(self, rows):
        """Return sum_d w^d of bounds of each group; None if one is missing."""
        return [None if INF in map(abs, row) else sum(w * F(end) for w, end in zip(
                self.weights, row)) for row in rows]

    def level(self, share):
        need(share > 0, "claims", "no share of delta")
        return log(1 / (self.delta * F(share))) + ROOM

    def check_claims(self, proves, bar):
        """Refuse the first claim that does not hold; its numbers are whole but for a few."""
        for c, claim in enumerate(self.claims):
            try:
                real = REAL.get("boxes" if len(claim) == 6 else self.method["kind"], ())
                whole = [x for k, x in enumerate(claim) if k not in real]
                need(all(type(x) is int and x >= 0 for x in whole), "claims", "no whole numbers")
                need(proves(*claim), "claims", "it has not reached its level")
            except (Wrong, LookupError, TypeError, ValueError) as error:
                raise Wrong(f"claims at claim {c}: {error}") from None
            bar(c + 1, len(self.claims))


def log_sum(logs):
    most = max(logs)
    return most + log(math.fsum(math.exp(x - most) for x in logs))

def psi(x):
    twice = math.erfc(-x / sqrt(2))
    return x * x / 2 + (log(twice) if x > -30 else float(mp.log(2 * mp.ncdf(x))))

def mixture(s, v, laws):
    """Return the log of sum w sqrt(q / (v + q)) exp psi(s / sqrt(v + q)) over laws (w, q)."""
    return log_sum([log(w) + psi(s / sqrt(v + q)) - log1p(v / q) / 2 for w, q in laws])

def equal(precisions):
    return [(1 / len(precisions), q) for q in precisions]

def beta_part(a, b, low, high):
    return mp.betainc(a, b, low, high, regularized=True)


class Side:
    """Values z = y or, mirrored, -y: logs of e-values against "the mean of z is at most m"."""
    def __init__(self, noise, column, turn):
        self.n, self.width, self.scale = len(column), noise.width, noise.scale
        self.least = noise.least if turn > 0 else -noise.least - noise.width
        self.mean, self.kept = turn * total(column) / self.n, Counter()
        self.spread = float(squares(column)) if noise.kind == "gaussian" else 0.0
        if noise.kind in RANGE:
            self.kept = Counter(float(self.share(turn * F(y))) for y in column)

    def share(self, x):
        return (F(x) - self.least) / self.width

    def away(self, m):
        return float(self.n * (self.mean - F(m)))

    def normal(self, m, laws):
        return mixture(self.away(m) / float(self.scale), self.n, laws)

    def symmetric(self, m, scale):
        laws, s = [(w, (c * scale) ** -2) for w, c in SYMMETRIC], self.away(m)
        return log_sum([log(CASH), mixture(s, self.spread + s * s / self.n, laws)])

    def logs(self, v, bets):
        """Return log w prod (1 + l (u - v)) of bets (w, l); of one that is too large -inf."""
        return [log(w) + math.fsum(k * log1p(bet * (u - v)) for u, k in self.kept.items())
                if bet * v < 0.99 else -INF for w, bet in bets]

    def bets(self, m, bets, cash=()):
        """Return the log of the cash plus their sum."""
        logs = [*self.logs(float(self.share(m)), bets), *map(log, cash)]
        return log_sum(logs) if max(logs) > -INF else -INF

    def jeffreys(self, m):
        p, ones, zeros = self.share(m), self.kept[1.0], self.kept[0.0]
        a, b, p, q = ones + 0.5, zeros + 0.5, float(p), float(1 - p)
        if q <= 0:
            return -INF
        above = mp.log(mp.beta(a, b) * beta_part(a, b, p, 1) / (mp.pi * beta_part(0.5, 0.5, p, 1)))
        return float(above - ones * mp.log(p) - zeros * mp.log(q))

    def student(self, m):
        n, s, logs = self.n, self.away(m), []
        square = self.spread + s * s / n
        for q in WIDE:
            rest = square - s * s / (n + q)
            if n < 2 or s <= 0 or rest <= 0:
                return -INF
            y = s * s / ((n + q) * rest)
            cdf = 1 + beta_part(0.5, n / 2, 0, y / (1 + y))
            logs.append(float(mp.log(cdf)) + (n * log(square / rest) - log1p(n / q)) / 2)
        return log_sum(logs) - log(len(WIDE))

    def refutes(self, m, process, level):
        """Return whether a process for single arms has refuted that the mean is at most m."""
        name, n = process["name"], self.n
        if name in ("betting", "jeffreys") and self.share(m) <= 0:  # no mean is below the range
            return self.share(m) < 0
        logs = {"mixture": lambda: self.normal(m, equal(process["precisions"])),
                "betting": lambda: self.bets(m, BETS),
                "jeffreys": lambda: self.jeffreys(m), "t-mixture": lambda: self.student(m)}
        if name in logs:
            return logs[name]() >= level
        squares = {"union": 2 * (level + log(2 * n * n)), "fixed": 2 * level,
                   "stitched": 2.89 * (log(log(2 * n)) + 0.72 * (level + log(5.2)))}
        far = self.away(m) / float(self.scale) >= sqrt(n * squares[name])
        return far and n == process.get("count", n)


def settle_pareto(proof, beats, holds, barred=(), known=lambda i: True):
    """Return the statuses: `beats` and `holds` say so of groups i, j in a dim."""
    groups, dims = range(proof.N), range(proof.D)
    out = {j for j in groups for i in groups if i != j and all(beats(i, j, d) for d in dims)}
    rest = [i for i in groups if i not in out and i not in barred]
    inside = [i for i in rest if known(i)
              and all(i == j or any(holds(i, j, d) for d in dims) for j in rest)]
    return {"in": inside, "out": sorted(out | set(barred)), "not_needed": []}

def statuses(proof, first, behind):
    """Return the statuses for the best group: `first` has it, or is empty."""
    rest = [k for k in range(proof.N) if k not in first]
    out = [k for k in rest if k in behind or (first and proof.epsilon[0] == 0)]
    return {"in": first, "out": out, "not_needed": [k for k in rest if first and k not in out]}

def settle_best(proof, least, most, barred=(), near=(), above=()):
    """Return the statuses: worths lie from `least` to `most`; near, above: what else is known."""
    groups, slack = range(proof.N), proof.epsilon[0] * sum(proof.weights)

    def over(i, k, by):
        return i != k and None not in (least[i], most[k]) and least[i] + by >= most[k]

    known = [i for i in groups if least[i] is not None]
    if proof.goal == "top":
        return settle_top(proof, lambda i, k: (i, k) in near or over(i, k, slack),
                          lambda i, k: (i, k) in above or over(i, k, 0))
    good = [i for i in known if all(i == k or k in barred or over(i, k, slack) for k in groups)]
    first = [max(good, key=lambda i: least[i])] if good else []
    behind = [k for k in groups if k in barred or any(over(i, k, 0) for i in known)]
    return statuses(proof, first, behind)

def settle_top(proof, near, above):
    """Return the statuses for the m best groups, by who is near, or above, whom."""
    groups, m, chosen = range(proof.N), proof.top, sorted(set(proof.stated))
    rest = [k for k in groups if k not in chosen]
    beaten = [k for k in groups if sum(above(i, k) for i in groups if i != k) >= m]
    if len(chosen) == m and all(near(i, k) for i in chosen for k in rest):
        out = rest if proof.epsilon[0] == 0 else [k for k in rest if k in beaten]
        return {"in": chosen, "out": out, "not_needed": [k for k in rest if k not in out]}
    inside = [i for i in groups if sum(near(i, k) for k in groups if k != i) >= proof.N - m]
    return {"in": inside, "out": [k for k in beaten if k not in inside], "not_needed": []}

def shares_of_bounds(proof, method, part):
    """Return the share of delta that a bound of each arm has; the average is arm number K_i."""
    D, A, N, L = proof.D, proof.A, proof.N, len(proof.limits)
    if method["budget"] == "as they came":
        every = 2 * len(proof.dims)
        return {arm: F(1, every * k * (k + 1)) for k, arm in enumerate(proof.values, start=1)}
    if method["budget"] == "room":
        room = method["room"]
        good = type(room) is int and proof.A + sum(len(arms) for _, arms in proof.gone) <= room
        need(good, "shares", "more arms took part than delta is for")
        return dict.fromkeys(proof.every_arm, F(1, 2 * len(proof.dims) * room))
    low, high, sums = (F(*method.get(key, (0, 1))) for key in ("low", "high", "sums"))
    of_arm = max(D + L, 2 * D) if any(slack > 0 for *_, slack in proof.limits) else D + L
    of_limits = A * L if part == 2 else of_arm * A + D * sum(proof.ranks)
    single = proof.goal == "best" and proof.plain
    used = (2 * D * (A * low + N * sums) if proof.mean else of_limits * low if L else
            D * ((A - min(proof.sizes)) * low + high) if single else D * (A * low + N * high))
    need(part * used <= 1, "shares", f"they add up to {part * used} of delta")
    usual = [F(1, part * D * (A + N))] + [F(1, 2 * A * D)] * (part == 1)
    usual += [F(1, D * (A - min(proof.sizes) + 1))] * (single and part == 1)
    usual = [(share, 0) for share in ([F(1, part * of_limits)] if L else usual)]
    if proof.mean:
        known = proof.independent and all(noise.kind in KNOWN for noise in proof.noise)
        usual = [(F(1, 4 * D * A), F(1, 4 * D * N)), (0, F(1, 2 * D * N))] if known else [
            (F(1, 2 * D * A), 0)]
    good = method["budget"] == "fixed" and low == high and (low, sums) in usual
    need(good, "parameters", "shares that are not fixed beforehand")
    return {**dict.fromkeys(proof.every_arm, low),
            **{(i, size): sums for i, size in enumerate(proof.sizes)}}

class Bounds:
    """Bounds of single arms, and of averages of all arms of a group."""
    def __init__(self, proof, method):
        self.proof, self.method, self.ends, uniform = proof, method, ({}, {}), []
        self.shares = shares_of_bounds(proof, method, 1 if method is proof.method else 2)
        if proof.pareto and min(proof.epsilon) > 0:
            ratio = max(noise.scale / e for noise, e in zip(proof.noise, proof.epsilon))
            events = log(2 * proof.A * proof.D / proof.delta)
            uniform = [math.ceil(32 * ratio**2 * F(events))]
        proof.check_processes({**ONE_ARM, "fixed": (KNOWN, uniform)}, method["process"])

    def proves(self, i, j, d, side, n, m):
        proof, turn, process = self.proof, (1, -1)[side], self.method["process"][d]
        need((i, j, d) not in self.ends[side], "claims", "two claims of one bound")
        self.ends[side][i, j, d] = float(m)
        arms = [(i, j)]
        if proof.mean and j == proof.sizes[i]:
            process = {"name": "mixture", "precisions": WIDE}
            arms = [(i, k) for k in range(j)]
        column = [y for arm in arms for y in proof.column(arm, d, n)]
        values = Side(proof.noise[d], column, turn)
        return values.refutes(turn * F(m), process, proof.level(self.shares[i, j]))

    def standing(self, i):
        """Return the arms of a group that are known to count, and those that are not barred."""
        sure, left = [], []
        for j in range(self.proof.sizes[i]):
            barred, within = False, True
            for d, sign, at, slack in self.proof.limits:
                near, far = (ends.get((i, j, d)) for ends in self.ends[::sign])
                barred = barred or (near is not None and sign * (F(near) - at) >= 0)
                within = within and far is not None and sign * (F(far) - at) <= slack
            sure += [j] * within
            left += [j] * (within or not barred)
        return sure, left

    def worths(self):
        """Return bounds of what groups are worth in each dim, and groups with too few arms left."""
        proof, found, barred = self.proof, ([], []), []
        for i, rank in enumerate(proof.ranks):
            arms = self.standing(i)
            barred += [i] * (len(arms[1]) < rank)
            for side, none in enumerate((-INF, INF)):
                ends = self.ends[side]
                row = [sorted((ends.get((i, j, d), none) for j in arms[side]), reverse=True)
                       for d in range(proof.D)]
                found[side].append([self.average(own, ends.get((i, len(own), d), none), none)
                                    if proof.mean else own[rank - 1] if len(own) >= rank else -INF
                                    for d, own in enumerate(row)])
        return *found, barred

    @staticmethod
    def average(parts, own, none):
        """Return the better one of the average of bounds and the bound of the average."""
        whole = own if none in parts else sum(map(F, parts)) / len(parts)
        return max(own, whole) if none < 0 else min(own, whole)

def boxes(proof, bar):
    """Return the statuses that bounds of single arms give."""
    bounds = Bounds(proof, proof.method)
    proof.check_claims(bounds.proves, bar)
    lower, upper, barred = bounds.worths()

    def holds(i, j, d):
        ends = lower[i][d], upper[j][d]
        return INF not in map(abs, ends) and F(ends[0]) + proof.epsilon[d] >= F(ends[1])

    if not proof.pareto:
        return settle_best(proof, proof.weighted(lower), proof.weighted(upper), barred)
    return settle_pareto(proof, lambda i, j, d: lower[i][d] >= upper[j][d] and lower[i][d] > -INF,
                         holds, barred, lambda i: not proof.limits or -INF not in lower[i])


def everywhere(parts, left, right, level):
    """Return whether sum w K(x) L(x) reaches e^level from left to right; parts: w, log K, log L.

    K falls and L rises, so that on a cell they are at least K(its right end) and L(its left end).
    """
    parts = [(log(w), cache(falls), cache(rises)) for w, falls, rises in parts]
    cells = [(float(left), float(right))] if left < right else []

    def least(x, y):
        return log_sum([w + falls(y) + rises(x) for w, falls, rises in parts])

    for _ in range(200_000):
        if not cells:
            return True
        x, y = cells.pop()
        if least(x, y) < level:
            middle = (x + y) / 2
            if least(middle, middle) < level:
                return False
            cells += [(middle, y), (x, middle)]
    return False

def refutes_pair(noise, pair, shift, level, q, scales, most=(INF, INF)):
    """Return whether mu_a + shift <= mu_b is refuted; b is mirrored, q and scales are of bets."""
    (a, b), laws, scale = pair, [[(1, own)] for own in q or ()], float(noise.scale)
    known = lambda x: a.normal(x, laws[0]), lambda x: b.normal(-x - shift, laws[1])
    tuned = lambda x: a.symmetric(x, scales[0]), lambda x: b.symmetric(-x - shift, scales[1])
    if noise.kind == "subgaussian":  # log K + log L is convex, and least between these ends
        left, right = (scale * sqrt(side.n + own) / side.n for side, own in zip((a, b), q))
        gap, ends = a.mean + b.mean + shift, (-b.mean - shift - F(left), a.mean + F(right))
        return gap > 0 and everywhere([(1, *known)], *ends, level)
    if noise.kind == "gaussian":  # outside of the ends one arm alone is enough
        def outwards(side, alone, start, way):
            step = way * sqrt(side.spread) / side.n
            tries = (float(start) + step * 1.25**k for k in range(60))
            return next((x for x in tries if alone(x) + log(CASH) >= level), way * INF)

        left = outwards(a, tuned[0], a.mean, -1)
        right = outwards(b, tuned[1], -b.mean - shift, 1)
        return max(abs(left), abs(right)) < INF and everywhere([(1, *tuned)], left, right, level)
    bets = [twenty_bets(scale, top) for scale, top in zip(scales, most)]
    wealth = lambda x: a.bets(x, bets[0], [CASH]), lambda x: b.bets(-x - shift, bets[1], [CASH])
    parts = [(0.95, *wealth), (0.05, *known)] if q else [(1, *wealth)]
    return everywhere(parts, a.least, a.least + a.width - shift, level)

def twenty_bets(scale, most):
    tuned = [min(scale * (k + 0.5) / 4, most) for k in range(12)]
    return list(zip(WEIGHTS, tuned + [2.0**-k for k in range(1, 9)]))

def unit_of(column):
    """Return how many first values give an arm's unit, and that: their standard deviation."""
    n = 4
    while n <= len(column) and len(set(column[:n])) == 1:
        n += 1
    need(n < len(column), "claims", "no value of an arm counts yet")
    return n, sqrt(squares(column[:n]) / (n - 1))

def squares(values):
    mean = sum(map(F, values)) / len(values)
    return sum((F(x) - mean) ** 2 for x in values)

def sides(noise, columns):
    return [Side(noise, column, turn) for column, turn in zip(columns, (1, -1))]

def fixed_pairs(proof):
    """Return how a claim is proven by processes that are fixed before the first row."""
    proof.check_processes(TWO_ARMS, proof.method["process"])
    shares = shares_of_groups(proof)

    def proves(kind, a, b, d, shift, n_a, n_b, g, value):
        noise, process = proof.noise[d], proof.method["process"][d]
        parts, part = process["parts"], process["parts"][g]
        level = max(proof.level(shares[kind][a[0] if kind == 1 else b[0]]), value)
        columns = proof.column(a, d, n_a), proof.column(b, d, n_b)
        if process["name"] == "difference":
            s = float((total(columns[0]) - total(columns[1]) + n_a * shift) / noise.scale)
            return g == 0 and n_a == n_b and mixture(s, 2 * n_a, equal(parts)) >= level
        q, units = (part, part) if noise.kind == "subgaussian" else 0, [(0, 1), (0, 1)]
        if noise.kind == "gaussian":
            units = [unit_of(column) for column in columns]
        pair = sides(noise, [column[n:] for column, (n, _) in zip(columns, units)])
        scales = [part / unit for _, unit in units]
        return refutes_pair(noise, pair, shift, level + log(len(parts)), q, scales)
    return proves

def shares_of_groups(proof):
    """Return the shares of over, won and stale claims, by group: equal ones, or those of TE+."""
    sizes, D, A, N = proof.sizes, proof.D, proof.A, proof.N
    given = [[F(*share) for share in proof.method[key]] for key in ("over", "won", "stale")]

    def used(over, won, stale):
        groups = zip(sizes, over, won, stale)
        return sum(max(D * k * w, (A - k) * o + D * (k - 1) * s) for k, o, w, s in groups)

    part = 2 if proof.limits else 1  # half of delta is for what tells which arms count
    need(part * used(*given) <= 1, "shares", f"they add up to {used(*given)} of delta")
    over = [F(1, part * N * max(A - k, 1)) for k in sizes]
    won = [F(1, part * N * D * k) for k in sizes]
    spare = D * (A - N)  # arms that may be dropped
    tenth = F(0.1) if spare else F(0)
    plus = (1 - tenth) / max(A * (N - 1), 1), F(1, D * A), tenth / max(spare, 1)
    whole = used(*([share] * N for share in plus))
    plus = [[F(math.floor(share / whole * 2**40), 2**40)] * N for share in plus]
    good = given in ([over, won, [F(0)] * N], plus)[: 3 - part]
    need(good, "parameters", "shares that are not fixed beforehand")
    return given

def pairs(proof, bar):
    """Return the statuses that claims on pairs of arms give, also on shared items."""
    items, covered = proof.method["kind"] == "items", (set(), set(), set())
    leading = set()
    good = proof.pareto or (proof.limits and proof.goal == "best" and proof.D == 1)
    good = good and set(proof.ranks) == {1} and (items or proof.independent)
    good = good and (proof.plain or (not items and proof.method["budget"] == "fixed"))
    need(good, "format", "no proof for this problem")
    bounds = Bounds(proof, proof.method["boxes"]) if proof.limits else None
    ways = {"fixed": fixed_pairs, "scouted": warm_up, "items": shared_items}
    way = ways["items" if items else proof.method["budget"]](proof)

    def proves(kind, i, m, j, k, d, *rest):
        if bounds is not None and not rest:
            return bounds.proves(kind, i, m, j, k, d)
        leading.add((i, m))
        need(d < proof.D and (kind < 2 or not bounds), "claims", "no such claim")
        need(m < proof.sizes[i] and k < proof.sizes[j], "claims", "no such arm")
        need((i == j) == (kind == 2) and (i, m) != (j, k), "claims", "the wrong arms")
        covered[kind].add((i, j, d, k))
        return way(kind, (i, m), (j, k), d, proof.epsilon[d] if kind == 1 else F(0), *rest)

    proof.check_claims(proves, bar)
    left = {(j, d): [k for k in range(size) if (j, j, d, k) not in covered[2]]
            for j, size in enumerate(proof.sizes) for d in range(proof.D)}
    need(all(left.values()), "answer", "all arms of a group are dropped")
    if bounds is not None:
        return with_limits(proof, bounds, covered, leading)
    beats, holds = (lambda i, j, d, own=own: all((i, j, d, k) in own for k in left[j, d])
                    for own in covered[:2])
    return settle_pareto(proof, beats, holds)

def with_limits(proof, bounds, covered, leading):
    """Return the statuses: arms that are barred are left out, and those ahead must count."""
    groups, dims = range(proof.N), range(proof.D)
    counting, may = zip(*map(bounds.standing, groups))
    need(all(m in counting[i] for i, m in leading), "claims", "an arm is not known to count")

    def all_of(kind, i, j):
        return [all((i, j, d, k) in covered[kind] for k in may[j]) for d in dims]

    barred = [j for j in groups if not may[j]]
    out = [j for j in groups if j in barred or any(all(all_of(0, i, j)) for i in groups if i != j)]
    safe = [i for i in groups if counting[i] and i not in out
            and all(j in (i, *barred) or any(all_of(1, i, j)) for j in groups)]
    if proof.pareto:
        return {"in": safe, "out": out, "not_needed": []}
    return statuses(proof, [i for i in safe if i in proof.stated][:1], out)


def conjugate(t):
    """Return psi*(t), the largest t x - psi(x), by halving where that concave function is."""
    low, high = -1 / t, t
    for _ in range(120):
        a, b = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (a, high) if t * a - psi(a) < t * b - psi(b) else (low, b)
    return t * low - psi(low) + 1e-12

def corners(side, bets):
    """Return points (v, value) of a chain below log K, K the wealth at v in [0, 1].

    On a cell the log of a product is above its chord, the log of a sum of exponentials of chords is
    convex, and so above its tangents at both ends, which cross once.
    """
    mean, found = float(side.share(side.mean)), []
    p, spread = (mean * side.n + 1) / (side.n + 2), 0.01
    spread += sum(k * (u - mean) ** 2 for u, k in side.kept.items())
    error = sqrt(p * (1 - p) / side.n if set(side.kept) <= {0, 1} else spread / side.n**2)
    ends = sorted({0.0, 1.0, *(min(max(mean + k * error / 2, 0.0), 1.0) for k in range(-17, 5))})
    logs = [[log(CASH), *side.logs(v, bets)] for v in ends]
    for x, y, left, right in zip(ends, ends[1:], logs, logs[1:]):
        chords = [(a, b) for a, b in zip(left, right) if min(a, b) > -INF]
        (v0, s0), (v1, s1) = ((top, sum(math.exp(pair[end] - top) * (pair[1] - pair[0])
                              for pair in chords) / (y - x)) for end in (0, 1)
                              for top in [log_sum([pair[end] for pair in chords])])
        t = min(max((v0 - v1 + s1 * (y - x)) / (s1 - s0), 0.0), y - x) if s1 > s0 else 0.0
        found += [(x, v0), (x + t, min(v0 + s0 * t, v1 - s1 * (y - x - t))), (y, v1)]
    return found

def largest_bet(noise, column):
    """Return the largest tuned bet on an arm of a leader, from its values before it was named."""
    shares, n = [(F(y) - noise.least) / noise.width for y in column], len(column)
    p = (sum(shares) + 1) / (n + 2)
    error = p * (1 - p) / n if noise.kind == "bernoulli" else (squares(shares) + F(1, 100)) / n**2
    return 0.95 / (float(sum(shares) / n) + sqrt(error))

def against(proof, leader, moment, kind, fine):
    """Return the evidence of a leader at a moment, by part, tilt, slack and box of selections."""
    (_, k, own, other), (i, arms, *rest), dims = moment, leader, range(proof.D)
    scouted, pairs = proof.method["budget"] == "scouted", proof.top * max(proof.N - proof.top, 1)
    starts = proof.method["before"] if scouted else [[0] * size for size in proof.sizes]
    usual = log((1 if {n.kind for n in proof.noise} == {"subgaussian"} else 2) * pairs
                / proof.delta) + 3  # about what evidence takes
    before = rest[0][i] if rest else starts[i]
    need(i != k and len(own) == proof.D and len(other) == proof.sizes[k], "claims", "no moment")
    spans = {(k, j): (a, n) for j, (a, n) in enumerate(zip(starts[k], other))}
    spans.update({(i, j): (before[j], n) for j, n in zip(arms, own)})
    need(all(spans[i, j][1] == n for j, n in zip(arms, own)), "claims", "two counts of an arm")
    need(all(type(a) is int and 0 <= a < b for a, b in spans.values()), "claims", "no values")
    hefts = [w * (n.width if kind else n.scale) for w, n in zip(proof.weights, proof.noise)]
    mean = {(arm, d): total(proof.column(arm, d, b)[a:]) / (b - a) * proof.weights[d]
            for arm, (a, b) in spans.items() for d in dims}
    ranked = [sorted(range(proof.sizes[k]), key=lambda j: (-mean[(k, j), d], j)) for d in dims]

    @cache
    def chain(part, arm, d):
        (a, b), noise, turn = spans[arm], proof.noise[d], 1 if arm[0] == i else -1
        most = largest_bet(noise, proof.column(arm, d, a)) if a else INF
        values = Side(noise, proof.column(arm, d, b)[a:], turn)
        return corners(values, twenty_bets(4 * 2 ** (-1.5 * part), most))

    def term(part, y, arm, served):
        turn, (a, b), q = 1 if arm[0] == k else -1, spans[arm], 8 ** (part + 1) * fine[arm]
        q = max(1.0, 8 * a / usual) if scouted else q
        whole = sum(hefts[d] for d in served)
        if kind == 0:
            size = sqrt(sum(hefts[d] ** 2 for d in served)) if proof.independent_dims else whole
            ahead = sum(mean[arm, d] - mean[(i, arms[d]), d] for d in served)
            steep = y * float(size) * sqrt(b - a + q) / (b - a)
            return turn * y * float(ahead) + conjugate(steep) + log1p((b - a) / q) / 2
        found = 0.0
        for d in served:
            t = y * float(hefts[d] if proof.independent_dims else whole)
            worst = max(-t * v - value for v, value in chain(part, arm, d))
            found += (worst + t * (turn > 0)) * y * float(hefts[d]) / t
        return found

    def evidence(part, y, slack, box):
        best = cache(lambda served: max((term(part, y, (k, j), served) for j, _ in enumerate(other)
                     if all(j in ranked[d][slice(*box[d])] for d in served)), default=-INF))

        @cache
        def worst(left):
            """Return the largest sum over splits of dims into sets, each with its worst arm."""
            sets = [(left[0], *(d for n, d in enumerate(left[1:]) if mask >> n & 1))
                    for mask in range(1 << len(left) >> 1)]
            sums = (best(s) + worst(tuple(d for d in left if d not in s)) for s in sets)
            return max(sums) if left else 0.0

        lead = sum(term(part, y, (i, j), tuple(d for d in dims if arms[d] == j)) for j in set(arms))
        return y * float(slack) - lead - worst(tuple(dims))
    return cache(evidence)

def top_shares(proof, part):
    """Return the share of a comparison of a leader, by its arms, with a group."""
    method, N, D = proof.method, proof.N, proof.D
    share, arms, rest = {}, {}, F(1, proof.top * max(N - proof.top, 1))
    if method["budget"] == "scouted":
        share = {(i, k): F(q) for i, k, q in method["shares"]["pairs"]}
        arms = {i: [[F(r) for r in row] for row in rows] for i, rows in method["arms"]}
        rest = F(method["shares"]["rest"])
        good = sum(share.values()) + (N * (N - 1) - len(share)) * rest <= 1
        good = good and len(share) == len(method["shares"]["pairs"]) and min(share.values()) >= 0
        good = good and all(0 <= i != k >= 0 for i, k in share) and rest >= 0
        rows = [(i, row) for i, own in arms.items() for row in own]
        good = good and all(sum(row) <= 1 and min(row) >= 0 for _, row in rows)
        good = good and all(len(own) == D for own in arms.values())
        good = good and all(len(row) == proof.sizes[i] for i, row in rows)
        need(good, "shares", "those of comparisons or of arms add up to more than 1")

    def of(l, k):
        i, chosen, *_ = method["leaders"][l]
        own = [arms[i][d][j] if arms else F(1, proof.sizes[i]) for d, j in enumerate(chosen)]
        return math.prod(own) * share.get((i, k), rest) / part
    return of

def costs_of(proof):
    """Return what a pull of each arm costs."""
    given = proof.method.get("costs", [[1] * size for size in proof.sizes])
    return {(i, j): given[i][j] for i, j in proof.every_arm}

def check_leaders(proof, behind):
    """Refuse a leader that did not lead by the values up to the counts when it was named."""
    last = [[1] * size for size in proof.sizes]
    for l, (i, arms, *counts) in enumerate(proof.method["leaders"]):
        good = len(arms) == proof.D and 0 <= min(arms) <= max(arms) < proof.sizes[i]
        need(good, "parameters", "a leader has an arm for each dim")
        if proof.method["budget"] != "leaders":
            continue
        need(all(type(n) is int and n >= m for own, least in zip(counts[0], last)
                 for n, m in zip(own, least)), "parameters", "leaders are not one after the other")
        means = [[[w * total(proof.column((k, j), d, counts[0][k][j])) / counts[0][k][j]
                   for j in range(size)] for d, w in enumerate(proof.weights)]
                 for k, size in enumerate(proof.sizes)]
        worth, last = [sum(map(max, own)) for own in means], counts[0]
        gone = {k for m, k in behind if m < l} - {i}
        left = [w for k, w in enumerate(worth) if k not in gone]
        best = all(own[j] >= max(own) - abs(max(own)) / 10**9 for own, j in zip(means[i], arms))
        good = worth[i] >= max(left) - abs(max(left)) / 10**9 and (best or "costs" in proof.method)
        need(good, "parameters", f"leader {l} is not the one that led")

def selections(proof, bar):
    """Return the statuses that evidence of leaders against all selections of groups gives."""
    method, weights, found, shared = proof.method, proof.weights, {}, {}
    ranges, union = all(n.kind in RANGE for n in proof.noise), method["budget"] == "union"
    kinds, top = {n.kind for n in proof.noise}, proof.goal == "top"
    good = not proof.pareto and proof.plain and proof.independent and "gaussian" not in kinds
    budgets = ("equal", "scouted") if top else ("union", "leaders")
    good = good and (union or top or ranges or kinds == {"subgaussian"})
    need(good and method["budget"] in budgets, "format", "no proof for this problem")
    name = ("normal and bets" if union else "bets") if ranges and not top else "normal"
    bounds = Bounds(proof, method["boxes"]) if top and kinds != {"subgaussian"} else None
    share_of = top_shares(proof, 1 if bounds is None else 2) if top else lambda l, k: (
        F(1, everyone if union else (l + 1) * (l + 2)))
    need(method["process"] == {"name": name, "fixed_at": 0}, "parameters", "another process")
    costs = costs_of(proof)
    mean = math.exp(sum(map(log, costs.values())) / proof.A)
    fine = {arm: mean / cost for arm, cost in costs.items()}
    everyone = sum(size**proof.D for size in proof.sizes) * (2 if ranges else 1)

    def proves(e, slack, kind, g, *rest):
        moment, ranks = method["moments"][e], rest[3:]
        l, k, size = moment[0], moment[1], proof.sizes[moment[1]]
        good = ("normal", "bets")[kind] in name and type(l) is int and l >= 0 and slack < 2
        need(good and len(ranks) in (0, 2 * proof.D), "claims", "no such claim")
        box = tuple(zip(ranks[::2], ranks[1::2])) or ((0, size),) * proof.D
        need(all(a < b <= size for a, b in box), "claims", "an empty box")
        found.setdefault((l, k, slack, e), []).append(box)
        if (e, kind) not in shared:
            shared.clear()
            shared[e, kind] = against(proof, method["leaders"][l], moment, kind, fine)
        level = proof.level(share_of(l, k))
        room = proof.epsilon[0] * sum(weights) * slack
        tilts = [(g - 1 + n, y) for n, y in enumerate(rest[:3]) if y != 0]
        good = all(part >= 0 and 0 < y < INF for part, y in tilts)
        need(good and g < 10, "claims", "no such part of the process, or no tilt")
        parts = [1] if method["budget"] == "scouted" else SEVERAL[kind]
        return log_sum([log(parts[part]) + shared[e, kind](part, y, room, box)
                        for part, y in tilts]) >= level

    either = lambda *row: bounds.proves(*row) if bounds and len(row) == 6 else proves(*row)
    proof.check_claims(either, bar)
    whole = set()
    for (l, k, slack, _), boxes in found.items():
        volume = sum(math.prod(b - a for a, b in box) for box in boxes)
        apart = all(any(b <= c or d <= a for (a, b), (c, d) in zip(one, two))
                    for n, one in enumerate(boxes) for two in boxes[:n])
        if apart and volume == proof.sizes[k] ** proof.D:
            whole.add((l, k, slack))
    check_leaders(proof, {(l, k) for l, k, _ in whole})
    behind = {k for _, k, slack in whole if slack == 0}
    lead = [i for i, *_ in method["leaders"]]
    if top:
        rows = bounds.worths() if bounds else ([[INF] * proof.D] * proof.N,) * 2
        least, most = (proof.weighted(ends) for ends in rows[:2])
        near, above = ({(lead[l], k) for l, k, s in whole if s <= slack} for slack in (1, 0))
        return settle_best(proof, least, most, (), near, above)
    near = {i: {k for l, k, _ in whole if lead[l] == i} for i in lead}
    if proof.epsilon[0] == 0:  # a group that is behind anyone is not the only best one
        lead, near = [i for i in lead if i not in behind], dict.fromkeys(lead, behind)
    good = [i for i in lead if len(near[i] - {i}) == proof.N - 1]
    return statuses(proof, good[-1:], behind)


def part(weights, k):
    return 0.2 / len(weights) + 0.8 * weights[k] / sum(weights)

def near(gaps, k):
    """Return the part of gap number k; gaps have their variances, the largest has most."""
    most, error = max(gaps)
    return part([math.exp(-((most - gap) ** 2) / 2 / (e + error)) for gap, e in gaps], k)

def warm_up(proof):
    """Return how a claim is proven with shares and bets that the first n_0 values fix."""
    before, mean, var, groups = proof.method["before"], {}, {}, range(proof.N)
    names, lengths = [p["name"] for p in proof.method["process"]], [len(row) for row in before]
    need(names == ["scouted"] * proof.D and lengths == proof.sizes, "parameters", "no warm-up")
    n = {(i, j): before[i][j] for i, j in proof.every_arm}
    need(all(type(k) is int and k >= 8 for k in n.values()), "parameters", "less than 8 values")
    for d, noise in enumerate(proof.noise):
        seen = {arm: [F(y) / noise.unit for y in proof.column(arm, d, n[arm])] for arm in n}
        first = [ys[:8] for ys in seen.values()]
        span = max(map(sum, first)) - min(map(sum, first))
        pooled = max(sum(map(squares, first)) / (7 * proof.A), (span / 8) ** 2 / 10**6)
        for arm, ys in seen.items():
            mean[arm, d] = sum(ys) / n[arm]
            p = (sum(ys) - n[arm] * noise.least / noise.unit + 1) / (n[arm] + 2)
            other = (squares(ys) + 2 * pooled + F(noise.kind == "bounded", 100)) / (n[arm] + 1)
            var[arm, d] = float({"subgaussian": 1, "bernoulli": p * (1 - p)}.get(noise.kind, other))
    leader = {(i, d): max(((i, j) for j in range(proof.sizes[i])), key=lambda arm: mean[arm, d])
              for i in groups for d in range(proof.D)}

    def ahead(a, b, d, shift):
        """Return by how much arm a is ahead of b, in units, and the variance of that."""
        return float(mean[a, d] - mean[b, d] + shift), var[a, d] / n[a] + var[b, d] / n[b]

    @cache
    def gaps(i, j, times):
        """Return the leads of i over j, plus so many epsilons, in standard deviations, by dim."""
        found = []
        for d, noise in enumerate(proof.noise):
            a, b = leader[i, d], leader[j, d]
            gap, error = ahead(a, b, d, times * proof.epsilon[d] / noise.unit)
            unit = (sqrt(var[a, d]) + sqrt(var[b, d])) / 2
            found.append((gap / unit, error / unit**2))
        return found

    def cost(i):
        others = [j for j in groups if j != i]
        led = any(min(gaps(j, i, F(-1, 2)))[0] > 0 for j in others)
        gap, error = (max(min(gaps(j, i, 0)) for j in others) if led
                      else min(max(gaps(i, j, 1)) for j in others))
        return 1 / (gap**2 + error / 2)

    needed, costs = [cost(i) for i in groups], costs_of(proof)

    def share(kind, a, b, d):
        (i, m), j = a, b[0]
        others = [k for k in groups if k != j]
        found = gaps(i, j, 1) if kind else [min(gaps(k, j, 0)) for k in others]
        own = [ahead((i, k), leader[i, d], d, 0) for k in range(proof.sizes[i])]
        arm = part([math.exp(-gap**2 / 2 / error) for gap, error in own], m)
        return part(needed, i if kind else j) * near(found, d if kind else others.index(i)) * arm

    def proves(kind, a, b, d, shift, n_a, n_b, _, value):
        noise, ends, roots, scales, most = proof.noise[d], (n_a, n_b), [], [], []
        need(kind < 2 and n_a > n[a] and n_b > n[b], "claims", "no value after the warm-up counts")
        columns = [proof.column(arm, d, end)[n[arm] :] for arm, end in zip((a, b), ends)]
        level = max(proof.level(share(kind, a, b, d)), value)
        gap, error = ahead(a, b, d, shift / noise.unit)
        scale = float(noise.scale / noise.unit)
        q = 4.5 / max((gap / scale) ** 2, 1 / n[a] + 1 / n[b])
        roots, prices = [sqrt(var[arm, d]) for arm in (a, b)], [sqrt(costs[a]), sqrt(costs[b])]
        qs = [q * (sum(prices) / p / 2) ** 2 for p in prices]
        whole = sum(root * price for root, price in zip(roots, prices))
        for arm, root, turn, price in zip((a, b), roots, (1, -1), prices):
            own = max(abs(gap), sqrt(error)) * root * price / whole
            scales.append(2.3 / sqrt(4.5) * own / (root**2 + own**2))
            centre = float(mean[arm, d] - noise.least / noise.unit)
            most.append(0.95 / ((centre if turn > 0 else 1 - centre) + root / sqrt(n[arm])))
        return refutes_pair(noise, sides(noise, columns), shift, level, qs, scales, most)
    return proves


def table_of(proof):
    """Return each arm's y on the items of the order, up to the first one that it lacks."""
    order, by, found = proof.method["order"], proof.method["ordered_by"], {}
    named = {item for items in proof.items.values() for item in items} | set(order)
    whole = sorted(named, key=lambda name: hashlib.sha256(name.encode()).digest())
    good = len(set(order)) == len(order) and (by == "given" or order == whole[: len(order)])
    need(good and by in ("given", "digest"), "data", "not the order of the items")
    for arm in proof.every_arm:
        rows = {}
        for item, row in zip(proof.items.get(arm, []), zip(*proof.values.get(arm, []))):
            rows.setdefault(item, []).append(row)
        many = proof.method.get("repeats", 1)
        good = type(many) is int and many > 0 and all(len(own) == many for own in rows.values())
        need(good, "data", "another number of rows for one item than was fixed")
        depth = next((t for t, item in enumerate(order) if item not in rows), len(order))
        found[arm] = [[noise.sign * sum(map(F, xs)) / many for noise, xs in zip(
                       proof.noise, zip(*rows[item]))] for item in order[:depth]]
    return found

def rounding(n, shift, reach):
    return (reach * n * (n + 32) + 8 * n * abs(shift)) / F(2**52)

def pool_of(proof):
    """Return how many items the pool has, 0 for a population; refuses other bets than the usual."""
    method = proof.method
    pool = {"pool": method["count"], "population": 0}[method["target"]]
    good = type(pool) is int and (pool > 0) == (method["target"] == "pool")
    need(good and method["process"] == ITEMS, "parameters", "bets that are not fixed beforehand")
    need(all(noise.kind in RANGE for noise in proof.noise), "format", "items need a range")
    return pool

def shared_items(proof):
    """Return how a claim is proven by differences on shared items."""
    pool, table, shares = pool_of(proof), table_of(proof), shares_of_groups(proof)

    def proves(kind, a, b, d, shift, t):
        upper, lower, reach = table[a][:t], table[b][:t], proof.noise[d].reach
        need(kind < 2 and len(upper) == len(lower) == t > 0, "claims", "too few items")
        values = [y[d] - z[d] for y, z in zip(upper, lower)]
        need(max(map(abs, values)) <= reach, "claims", "two arms differ by too much on an item")
        level = proof.level(shares[kind][a[0] if kind else b[0]])
        return differences(pool, values, shift, reach, level, kind == 0)
    return proves

def differences(pool, values, shift, reach, level, strict):
    """Return whether differences refute that their mean is at most -shift, at some item."""
    return (grows(pool, values, shift, reach, level, [1.0] * 25)
            or certain(pool, values, shift, reach, strict))

def grows(pool, values, shift, reach, level, wealth, first=0):
    """Return whether the wealth, which goes on in place, is ever enough from an item on."""
    plug, cap, main = F(ITEMS["plug"]), F(ITEMS["cap"]), ITEMS["main"]
    D, square = sum(values[:first], F()), sum((x * x for x in values[:first]), F())
    bets = [F(32, 2**k) / reach for k in range(main if pool else main + 12)]
    weights = [F(1, main)] * main if pool else [F(95, 100) / main] * main + [F(5, 1200)] * 12
    weights = [float((1 - plug) * w) for w in weights] + [float(plug)]
    need(not pool or len(values) <= pool, "claims", "more items than the pool has")
    for done, value in list(enumerate(values))[first:]:
        mean = (-pool * shift - D) / (pool - done) if pool else -shift
        if mean < -reach:
            return True
        if mean < reach:
            top = cap / max(reach + mean, reach / 10**9)
            gap = (D - 10 * shift) / (done + 10) - mean
            spread = (reach**2 / 20 + max(F(), square - D * D / max(1, done))) / (done + 10)
            stretch = F(pool, pool - done) if pool else 1
            sizes = [*(bet * stretch for bet in bets), gap / (spread + gap * gap) if gap > 0 else 0]
            factors = [float(1 + min(size, top) * (value - mean)) for size in sizes]
            wealth[: len(factors)] = [w * factor for w, factor in zip(wealth, factors)]
            if log(math.fsum(w * x for w, x in zip(weights, wealth))) >= level:
                return True
        D, square = D + value, square + value * value
    return False

def certain(pool, values, shift, reach, strict):
    """Return whether no rest of a pool can make the mean of differences at most -shift."""
    D = sum(values, F())
    if pool and len(values) == pool:
        slack = rounding(pool, shift, reach)
        return D + pool * shift > slack if strict else D + pool * shift >= -slack
    return bool(pool) and -pool * shift - D < -reach * (pool - len(values))

def item_selections(proof, bar):
    """Return the statuses that selections give which are out on a part of shared items."""
    method, table, pool, refuted = proof.method, table_of(proof), pool_of(proof), {}
    first, rank, terms = method["first"], method["rank"], method["terms"]
    half = {"terms": F(1), "table": F(1, 2)}[method["budget"]]
    slack, reach = (sum(w * x for w, x in zip(proof.weights, own)) for own in (
        [proof.epsilon[0]] * proof.D, [noise.reach for noise in proof.noise]))
    everyone = sum(size**proof.D for size in proof.sizes) * (2 if slack else 1)
    whole = type(rank) is type(first) is int and 0 < rank <= proof.N > first >= 0
    begins = [term[0] for term in terms]
    good = whole and proof.goal == "best" and proof.plain
    good = good and begins == sorted({max(b, 0) for b in begins})
    need(good and all(term[1] != term[3] for term in terms), "parameters", "not such terms")
    for _, one, own, two, theirs, front in terms:
        for g, arms in ((one, own), (two, theirs), (first, front)):
            good = 0 <= g < proof.N and len(arms) == proof.D and min(arms) >= 0
            need(good and max(arms) < proof.sizes[g], "parameters", "no such arms")
    near = 3 * half / (4 * rank * sum(F(1, h + 1) for h in range(proof.N)))
    pairs = half / everyone if half < 1 else 0
    shares = [half / 4 if slack else half, near * (slack > 0), F(1), pairs, pairs * (slack > 0)]
    if half < 1:
        table_makes(proof, table, terms, first, rank)

    def apart(one, two, t):
        """Return by how much a selection is above another one on the first t items."""
        need(all(len(table[g, j]) >= t for g, arms in (one, two) for j in arms), "claims", "items")
        pairs = [(d, table[one[0], a], table[two[0], b])
                 for d, (a, b) in enumerate(zip(one[1], two[1]))]
        for d, a, b in pairs:
            close = all(abs(y[d] - z[d]) <= proof.noise[d].reach for y, z in zip(a[:t], b))
            need(close, "claims", "two arms differ by too much on an item")
        return [sum(proof.weights[d] * (a[u][d] - b[u][d]) for d, a, b in pairs) for u in range(t)]

    def proves(kind, k, t, *arms):
        chosen, other = (k, arms[: proof.D]), (first, arms[proof.D :])
        good = len(arms) == (1 + (kind > 1)) * proof.D and t > 0 and (kind == 0 or k != first)
        need(good and kind < 5, "claims", "no such claim")
        refuted.setdefault(chosen, set()).add(kind)
        shift, level = slack if kind in (1, 2, 4) else F(), proof.level(shares[kind])
        if kind > 1:
            values = apart(other, chosen, t)
            return (certain(pool, values, shift, reach, False) if kind == 2
                    else differences(pool, values, shift, reach, level, kind == 3))
        wealth, spans = [1.0] * 25, []
        for (begin, one, own, two, theirs, front), end in zip(terms, [*begins[1:], t]):
            rival = (first, front) if kind else (two, theirs) if one == k else (one, own)
            if begin < min(end, t):
                spans.append((begin, apart(rival, chosen, min(end, t))))
        return any(grows(pool, values, shift, reach, level, wealth, begin)
                   for begin, values in spans)

    proof.check_claims(proves, bar)
    alone = {0, 3} if slack else {0, 2, 3}
    sure = Counter(k for (k, _), kinds in refuted.items() if kinds & alone)
    known = Counter(k for k, _ in refuted)
    full = {k: size**proof.D for k, size in enumerate(proof.sizes)}
    behind = [k for k in full if sure[k] == full[k]]
    good = all(k == first or known[k] == full[k] for k in full)
    best = [first] if good and (slack or first not in behind) else []
    return statuses(proof, best, behind)

def table_makes(proof, table, terms, first, rank):
    """Refuse terms that are not those that the values before them make, up to rounding."""
    begin = 4
    for number, (start, one, own, two, theirs, front) in enumerate(terms):
        need(start == begin <= min(map(len, table.values())), "parameters", "terms begin elsewhere")
        sums = {arm: [w * sum(row[d] for row in rows[:begin]) for d, w in enumerate(proof.weights)]
                for arm, rows in table.items()}
        best = [[max(sums[i, j][d] for j in range(size)) for d in range(proof.D)]
                for i, size in enumerate(proof.sizes)]
        worth = [sum(row) for row in best]
        room = max(map(abs, worth)) / 10**9
        good = all(sums[i, j][d] >= best[i][d] - room for i, arms in
                   ((one, own), (two, theirs), (first, front)) for d, j in enumerate(arms))
        rest = max(value for i, value in enumerate(worth) if i != one)
        good = good and worth[one] >= rest - room and worth[two] >= rest - room
        ahead = sum(value > worth[first] + room for value in worth)
        need(good and (number or rank > ahead), "parameters", "terms that the table does not make")
        begin = max(begin + 1, math.ceil(1.05 * begin))

def pool(proof, bar):
    """Return the statuses that a complete pool gives by definition."""
    table, n, dims = table_of(proof), proof.method["count"], range(proof.D)
    need(proof.plain and proof.goal != "top", "format", "no proof for this problem")
    whole = len(proof.method["order"]) == n and all(len(rows) == n for rows in table.values())
    need(whole and not proof.claims, "data", "not every arm has passed every item of the pool")
    best = [[max(sum(row[d] for row in table[i, j]) for j in range(size)) for d in dims]
            for i, size in enumerate(proof.sizes)]
    slack = [rounding(n, 0, noise.reach) for noise in proof.noise]
    worth = [sum(w * s for w, s in zip(proof.weights, row)) for row in best]
    return settle_best(proof, worth, worth) if not proof.pareto else settle_pareto(
        proof, lambda i, j, d: best[i][d] > best[j][d] + slack[d],
        lambda i, j, d: best[i][d] >= best[j][d] - slack[d])


def verify(document, table, bar=lambda done, of: None):
    """Return None, or what failed in words."""
    try:
        proof = Proof(document, table)
        kinds = {"boxes": boxes, "pairs": pairs, "items": pairs, "pool": pool,
                 "selections": selections, "item selections": item_selections}
        found = kinds[proof.method["kind"]](proof, bar)
        same = all(sorted(document["answer"][key]) == found[key] for key in found)
        need(same, "answer", "the claims give another answer")
    except Wrong as wrong:
        return str(wrong)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        return f"format: an entry is missing or not what it must be ({error!r})"
    return None

def show(done, of):
    if done == of or done % max(of // 50, 1) == 0:
        bar, end = "#" * (40 * done // of), "\n" if done == of else ""
        print(f"\r[{bar:<40}] claim {done} of {of}", end=end, file=sys.stderr)

def main(arguments):
    if len(arguments) != 2:
        print(__doc__)
        return 2
    with open(arguments[0], encoding="utf-8") as stream:
        document = json.load(stream)
    failed = verify(document, arguments[1], show)
    if failed is not None:
        print(f"FAILED {failed}\nNOT verified")
        return 1
    for key, found in document["answer"].items():
        print(f"{key}: {', '.join(document['problem']['groups'][i][0] for i in found) or 'none'}")
    print(f"proven for the goal {document['goal']} with error at most {document['delta']},")
    print(f"under the noise {document['noise']}; the file says in its own words:")
    print("\n".join(f"  {words}" for words in (document["statement"], *document["assumptions"])))
    print(f"verified {document['digest']}")
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
