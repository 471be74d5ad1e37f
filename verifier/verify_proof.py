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
    need(isinstance(top, int) and isinstance(bottom, int) and 0 < top <= bottom, "shares", "unreadable")
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


# ---------------------------------------------------------------- the whole


METHODS = {"boxes": boxes}


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
