"""Check a bestgroup proof file against its table of observations, independently of bestgroup.

    python verify_proof.py proof.json rows.csv

Written from docs/proof-format.md alone, and in its words; needs Python 3.10 and mpmath. Sums and
shares are exact fractions; logs of e-values are doubles, and must reach their level by 1e-9.

This file reads the proof and the rows, judges bounds of single arms (the method "boxes") and draws
the answer from them. What other proofs need is in the files proof_*.py, loaded by these only.
"""

import csv
import hashlib
import json
import math
import struct
import sys
from collections import Counter
from fractions import Fraction as F
from functools import lru_cache
from importlib import import_module
from math import log, log1p, sqrt
from operator import mul

import mpmath as mp

mp.mp.dps = 30
ROOM, INF, WIDE = 1e-9, math.inf, [8, 128, 2048, 32768]
RANGE, KNOWN = ("bounded", "bernoulli"), ("subgaussian", "bounded", "bernoulli")
# Of each process for one arm: the noise that it is a proof for, the parameters that it may have.
ONE_ARM = {"mixture": (KNOWN, [WIDE, [256, 4096, 65536]]), "union": (KNOWN, [None]),
           "stitched": (KNOWN, [None]), "betting": (RANGE, [None]),
           "jeffreys": (["bernoulli"], [None]), "t-mixture": (["gaussian"], [None])}
BETS = [(1 / 15, 2.0**k) for k in (-8, -7, -6, -5, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3)]
MISSING = ("", "None", "<NA>", "NA", "N/A", "n/a", "null", "NULL", "-")  # and all sorts of nan
# In which file each method is, and which numbers of its claims need not be whole.
FILES = {"boxes": "verify_proof", "pairs": "proof_pairs", "items": "proof_pairs",
         "selections": "proof_selections", "directions": "proof_maps", "pool": "proof_items",
         "item selections": "proof_item_selections", "item units": "proof_item_units",
         "item bounds": "proof_item_bounds"}
REAL = {"boxes": [5], "pairs": [9], "selections": [4, 5, 6], "directions": [3, 4]}


class Wrong(Exception):
    """What is wrong with a proof, in words."""

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

def squares(values):
    """Return the sum of squares of doubles about their mean."""
    mean = total(values) / len(values)
    near = float(mean)
    return math.fsum((x - near) ** 2 for x in values) - len(values) * float(mean - F(near))**2

def digest(document):
    kept = {k: v for k, v in document.items() if k not in ("digest", "signature")}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()

def unguarded(name):
    """Return a name without the apostrophe that keeps a spreadsheet from taking it as a formula."""
    return name[1:] if name[:1] == "'" and name.lstrip("'")[:1] in tuple("=+-@\t\r") else name

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
    """The file and, of each arm (i, j) in its order, values[i, j][d] as y and items[i, j]."""
    def __init__(self, document, table):
        version, problem, goal = document["version"], document["problem"], document["goal"]
        good = document["format"] == "bestgroup-proof" and version in (1, 2, 3, 4)
        need(good, "format", "no such version")
        need(document["digest"] == digest(document), "digest", "the file was changed")
        self.method, self.claims = document["method"], document["claims"]
        self.delta, self.stated = F(document["delta"]), document["answer"]["in"]
        self.mapped, self.version = document["answer"].get("mapped"), version
        self.read_problem(problem, document["noise"])
        self.read_goal(goal)
        # All arms count and groups are worth their best ones, unless the problem says more.
        self.gone, self.limits, self.ranks, self.mean, self.plain = [], [], [1] * self.N, 0, True
        if {"gone", "worth", "limits"} & set(problem) or len(self.dims) > self.D:
            import_module("proof_worths").measure(self, problem)
        old = self.plain and self.goal not in ("top", "map") and not self.gone
        need(old or version > 1 + (self.goal == "map"), "format", "not in this version")
        self.side = lru_cache(256)(self.side)
        self.read_rows(table, document["data"])

    def read_problem(self, problem, noise):
        self.groups, self.arms = zip(*problem["groups"])
        self.dims, self.ways = zip(*(entry[:2] for entry in problem["dims"]))
        self.treatments = [(*entry, {})[2] for entry in problem["dims"]]
        self.noise = [Noise(given, way) for given, way in zip(noise["dims"], self.ways)]
        self.independent, self.independent_dims = (
            noise[key] == "independent" for key in ("arms", "dependence"))
        self.sizes = [len(arms) for arms in self.arms]
        self.every_arm = [(i, j) for i, size in enumerate(self.sizes) for j in range(size)]
        self.D = sum(way != "watch" for way in self.ways)  # dims that decide come first
        self.A, self.N = sum(self.sizes), len(self.groups)
        good = all(0 < len(set(own)) == len(own) for own in (*self.arms, self.groups, self.dims))
        good = good and len(noise["dims"]) == len(self.dims) and "watch" not in self.ways[: self.D]
        need(good, "format", "names that stand twice, or numbers that cannot be")

    def read_goal(self, goal):
        self.goal, self.top, self.pareto = goal["kind"], goal.get("m", 1), goal["kind"] == "pareto"
        self.epsilon = [F(e) for e in (goal["epsilon"] if self.pareto else [goal["epsilon"]])]
        self.given_weights = weights = [] if self.pareto else goal["weights"]
        if self.goal == "map":  # it has vertices, and no weights of its own
            weights = import_module("proof_maps").read_goal(self, goal)
        self.weights = [F(w) for w in weights]
        good = self.goal in ("pareto", "best", "top", "map") and type(self.top) is int
        good = good and len(self.epsilon if self.pareto else self.weights) == self.D
        good = good and min(self.epsilon) >= 0 < min([1, *self.weights]) and 0 < self.delta < 1
        need(good and 0 < self.top < max(self.N, 2), "format", "no such goal")

    def read_rows(self, table, data):
        """Read the table, whose rows are a chain: each link commits to all rows before it."""
        names, count, rows, gaps = data["columns"], 0, {}, data.get("gaps") is True
        place = {(self.groups[i], self.arms[i][j]): (i, j) for i, j in self.every_arm}
        place.update({arm: (-1, number) for number, arm in enumerate(self.gone)})
        columns = [*self.dims, *([names["index"]] if names.get("index") else [])]
        link = hashlib.sha256("\x1f".join(("bestgroup-rows-1", *self.dims)).encode()).digest()
        pack = struct.Struct(f">{len(columns)}d").pack
        with open(table, newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            header = [unguarded(name) for name in next(reader, [])]
            named = [names[k] for k in ("group", "arm", "item") if names.get(k)]
            lacks = {*columns, *named} - set(header)
            need(not lacks, "data", f"the table lacks columns {lacks}")
            at, keys = ([header.index(name) for name in own] for own in (columns, named))
            for row in filter(None, reader):
                values = [float("nan" if gaps and row[k] in MISSING else row[k]) for k in at]
                text = [unguarded(row[k]) for k in keys]
                packed = "\x1f".join(text).encode() + b"\x1e" + pack(*values)
                link = hashlib.sha256(link + packed).digest()
                good = all(math.isfinite(x) or (gaps and x != x) for x in values)
                if not good or (text[0], text[1]) not in place:
                    need(False, "data", f"row {count}: an unknown arm, or no finite number")
                rows.setdefault(place[text[0], text[1]], []).append((values, text[-1]))
                count += 1
        need(count == data["rows"], "data", f"{count} rows, the proof is about {data['rows']}")
        need(link.hex() == data["digest"], "data", "not the rows of the proof, in their order")
        need("gaps" not in data or self.method["kind"] == "boxes", "format", "values are missing")
        for own in rows.values() if names.get("index") else ():
            own.sort(key=lambda row: row[0][-1])
            need([row[0][-1] for row in own] == list(range(len(own))), "data", "rows were left out")
        self.items = {arm: [item for _, item in own] for arm, own in rows.items()}
        self.values = {arm: [self.treated(d, [row[0][d] for row in own])
                             for d in range(len(self.dims))] for arm, own in rows.items()}

    def treated(self, d, column):
        """Return y of the values of a dim that are there, as they are judged."""
        noise, treatment = self.noise[d], self.treatments[d]
        low, high = treatment.get("clip", (-INF, INF))
        found = [min(max(x, low), high) for x in column if x == x]
        found = [log(x) for x in found] if treatment.get("log") else found
        if found and noise.kind in RANGE:
            good = noise.low <= min(found) and max(found) <= noise.high
            good = good and (noise.kind == "bounded" or set(found) <= {0, 1})
            need(good, "data", "a value outside of its range")
        return [noise.sign * x for x in found]

    def column(self, arm, d, n):
        """Return y of the first n values of an arm: larger is better."""
        own = self.values.get(arm, [[]] * len(self.dims))[d]
        need(1 <= n <= len(own), "claims", "an arm has fewer rows")
        return own[:n]

    def side(self, arm, d, turn, end, start=0):
        return Side(self.noise[d], self.column(arm, d, end)[start:], turn)

    def check_processes(self, table, processes):
        """Refuse a process that is no proof for the noise, or whose parameters were not fixed."""
        need(len(processes) == len(self.dims), "parameters", "one process for each dim")
        for process, noise in zip(processes, self.noise):
            serves, usual = table.get(process["name"], ((), ()))
            given = process.get("parts", process.get("precisions", process.get("count")))
            good = noise.kind in serves and given in usual and process["fixed_at"] == 0
            need(good, "parameters", f"{process['name']} is no proof here, or was not fixed")

    def level(self, share):
        """Return what the log of an e-value must reach."""
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
    return most + log(math.fsum([math.exp(x - most) for x in logs])) if most > -INF else most

def psi(x):
    twice = math.erfc(-x / sqrt(2))
    return x * x / 2 + (log(twice) if x > -30 else float(mp.log(2 * mp.ncdf(x))))

def mixture(s, v, laws):
    """Return the log of sum w sqrt(q / (v + q)) exp psi(s / sqrt(v + q)) over laws (w, q)."""
    return log_sum([log(w) + psi(s / sqrt(v + q)) - log1p(v / q) / 2 for w, q in laws])

def equal(precisions):
    return [(1 / len(precisions), q) for q in precisions]


class Side:
    """Values z = y or, mirrored, -y: logs of e-values against "the mean of z is at most m"."""
    def __init__(self, noise, column, turn):
        self.n, self.width, self.scale = len(column), noise.width, noise.scale
        self.least = noise.least if turn > 0 else -noise.least - noise.width
        self.mean = turn * total(column) / self.n
        self.spread = squares(column) if noise.kind == "gaussian" else 0.0
        least, width, ranged = float(self.least), float(self.width), noise.kind in RANGE
        self.kept = Counter((turn * y - least) / width for y in column if ranged)  # shares of it

    def share(self, m):
        return (F(m) - self.least) / self.width

    def away(self, m):
        return float(self.n * (self.mean - F(m)))

    def products(self, v, bets):
        """Return log w prod (1 + l (u - v)) of bets (w, l); of one that is too large -inf."""
        logs = (map(log1p, [bet * (u - v) for u in self.kept]) for _, bet in bets)
        return [log(w) + math.fsum(map(mul, self.kept.values(), own)) if bet * v < 0.99 else -INF
                for (w, bet), own in zip(bets, logs)]

    def refutes(self, m, process, level):
        """Return whether a process has refuted, at its level, that the mean is at most m."""
        name, n, s = process["name"], self.n, self.away(m) / float(self.scale)
        if name in ("betting", "jeffreys") and self.share(m) <= 0:  # no mean is below the range
            return self.share(m) < 0
        if name == "mixture":
            return mixture(s, n, equal(process["precisions"])) >= level
        if name == "betting":
            return log_sum(self.products(float(self.share(m)), BETS)) >= level
        if name in ("jeffreys", "t-mixture"):
            return import_module("proof_laws").LOGS[name](self, m) >= level
        squares = {"union": 2 * (level + log(2 * n * n)), "fixed": 2 * level,
                   "stitched": 2.89 * (log(log(2 * n)) + 0.72 * (level + log(5.2)))}
        return s >= sqrt(n * squares[name]) and n == process.get("count", n)

def shares_of_bounds(proof, method):
    """Return the share of delta that a bound of each arm has."""
    D, A, N, single = proof.D, proof.A, proof.N, proof.goal == "best"
    low, high, less = F(*method["low"]), F(*method["high"]), A - min(proof.sizes)
    used = D * (less * low + high) if single else D * (A * low + N * high)
    need(used <= 1, "shares", f"they add up to {used} of delta")
    usual = [F(1, D * (A + N)), F(1, 2 * A * D)] + [F(1, D * (less + 1))] * single
    need(low == high and low in usual, "parameters", "shares that are not fixed beforehand")
    return dict.fromkeys(proof.every_arm, low)

class Bounds:
    """Bounds of single arms: ends[side][i, j, d] is m of a claim that holds."""
    def __init__(self, proof, method, shares):
        self.proof, self.method, self.shares, self.ends = proof, method, shares, ({}, {})
        uniform = []  # the count of "fixed"
        if proof.pareto and min(proof.epsilon) > 0:
            ratio = max(noise.scale / e for noise, e in zip(proof.noise, proof.epsilon))
            events = log(2 * proof.A * proof.D / proof.delta)
            uniform = [math.ceil(32 * ratio**2 * F(events))]
        proof.check_processes({**ONE_ARM, "fixed": (KNOWN, uniform)}, method["process"])

    def proves(self, i, j, d, side, n, m):
        turn = (1, -1)[side]
        need((i, j, d) not in self.ends[side], "claims", "two claims of one bound")
        self.ends[side][i, j, d] = float(m)
        level, values = self.proof.level(self.shares[i, j]), self.proof.side((i, j), d, turn, n)
        return values.refutes(turn * F(m), self.method["process"][d], level)

def settle(proof, bar):
    """Return the statuses that bounds of single arms give."""
    method = proof.method
    plain = proof.plain and proof.goal in ("pareto", "best") and "sums" not in method
    if not plain or method["budget"] != "fixed":
        return import_module("proof_worths").settle(proof, bar)
    bounds = Bounds(proof, method, shares_of_bounds(proof, method))
    proof.check_claims(bounds.proves, bar)
    lower, upper = ([[max(ends.get((i, j, d), none) for j in range(size)) for d in range(proof.D)]
                     for i, size in enumerate(proof.sizes)]
                    for ends, none in zip(bounds.ends, (-INF, INF)))
    return settle_bounds(proof, lower, upper)

def settle_bounds(proof, lower, upper):
    """Return the statuses of groups whose worths in each dim lie between these bounds."""
    if not proof.pareto:
        return settle_best(proof, weighted(proof, lower), weighted(proof, upper))
    over = lambda i, j, d, by: lower[i][d] > -INF and upper[j][d] < INF and (
        F(lower[i][d]) + by >= upper[j][d])
    return settle_pareto(proof, lambda i, j, d: over(i, j, d, 0),
                         lambda i, j, d: over(i, j, d, proof.epsilon[d]))

def weighted(proof, rows):
    """Return sum_d w^d of bounds of each group; None if one is missing."""
    return [None if INF in map(abs, row) else sum(
        w * F(end) for w, end in zip(proof.weights, row)) for row in rows]

def settle_pareto(proof, beats, holds):
    """Return the statuses: `beats` and `holds` say so of groups i, j in a dim."""
    groups, dims = range(proof.N), range(proof.D)
    out = {j for j in groups for i in groups if i != j and all(beats(i, j, d) for d in dims)}
    rest = [i for i in groups if i not in out]
    inside = [i for i in rest if all(i == j or any(holds(i, j, d) for d in dims) for j in rest)]
    return {"in": inside, "out": sorted(out), "not_needed": []}

def settle_best(proof, least, most):
    """Return the statuses of groups whose weighted worths lie from `least` to `most`."""
    groups, slack = range(proof.N), proof.epsilon[0] * sum(proof.weights)

    def over(i, k, by):
        return i != k and None not in (least[i], most[k]) and least[i] + by >= most[k]

    known = [i for i in groups if least[i] is not None]
    good = [i for i in known if all(i == k or over(i, k, slack) for k in groups)]
    first = [max(good, key=lambda i: least[i])] if good else []
    behind = [k for k in groups if any(over(i, k, 0) for i in known)]
    return statuses(proof, first, behind)

def statuses(proof, first, behind):
    """Return the statuses for the best group: `first` has it, or is empty."""
    rest = [k for k in range(proof.N) if k not in first]
    out = [k for k in rest if k in behind or (first and proof.epsilon[0] == 0)]
    return {"in": first, "out": out, "not_needed": [k for k in rest if first and k not in out]}


def verify(document, table, bar=lambda done, of: None, said=None):
    """Return None, or what failed in words; `said` takes up what was proven, in words."""
    try:
        proof = Proof(document, table)
        found = import_module(FILES[proof.method["kind"]]).settle(proof, bar)
        same = all(sorted(document["answer"][key]) == found[key] for key in found)
        need(same, "answer", "the claims give another answer")
        if said is not None:
            said += import_module("proof_words").lines(proof, document, found)
    except (Wrong, csv.Error) as wrong:
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
    try:
        with open(arguments[0], encoding="utf-8") as stream:
            document = json.load(stream)
        failed = verify(document, arguments[1], show, said := [])
    except (OSError, ValueError) as error:
        print(f"no such file, or no proof file: {error}")
        return 2
    if failed is not None:
        print(f"FAILED {failed}\nNOT verified")
        return 1
    print(*said, f"verified {document['digest']}", sep="\n")
    return 0

if __name__ == "__main__":
    from verify_proof import main as run  # under the name by which the other files know it
    sys.exit(run(sys.argv[1:]))
