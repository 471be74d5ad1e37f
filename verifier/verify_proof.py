"""Check a bestgroup proof file against its table of observations, independently of bestgroup.

    python verify_proof.py proof.json rows.csv

Written from docs/proof-format.md alone; needs Python 3.10 and mpmath. Sums of doubles are exact, special
functions are mpmath's at 40 digits and must reach a level by 1e-20. Evidence on pairs of arms, what a
warm-up fixed, and shared items are in three small files beside this one: bets, warm_up, items.
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
WIDE = [8, 128, 2048, 32768]
USUAL = {"mixture": (WIDE, [256, 4096, 65536]), "difference": (WIDE,), "normal": ([32, 256, 2048, 16384, 131072],),
         "bets": ([0.25, 1, 0.0625, 0.015625, 4],), "symmetric": ([0.125, 0.5, 0.03125, 0.0078125, 2],)}
BETS = [2.0**k for k in (-8, -7, -6, -5, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3)]


class Wrong(Exception): ...


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
        self.low, self.high = ([F(noise.get(key, end)) for noise in self.noise] for key, end in (("low", 0), ("high", 1)))
        self.scale = [F(noise["scale"]) if noise["kind"] == "subgaussian" else (b - a) / 2
                      for noise, a, b in zip(self.noise, self.low, self.high)]
        sound = all(0 < len(set(names)) == len(names) for names in (*self.arms, self.groups, self.dims))
        sound = sound and 0 < self.delta < 1 and min(*self.epsilon, *self.scale, 1) >= 0 < min(self.scale)
        sound = sound and all(w > 0 for w in self.weights) and len(self.noise) == self.D
        need(sound and len(self.epsilon if self.pareto else self.weights) == self.D, "format", "numbers")
        self.rows, self.items, self.sums = {}, {}, {}
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
                packed = struct.pack(f">{len(values)}d", *values)
                link = hashlib.sha256(link + "\x1f".join(text).encode() + b"\x1e" + packed).digest()
                good = all(map(math.isfinite, values)) and tuple(text[:2]) in place
                need(good, "data", f"row {count}: an unknown arm, or no finite number")
                arm = place[tuple(text[:2])]
                for kept, new in ((self.rows, values[: self.D]), (numbers, values[-1]), (self.items, text[-1])):
                    kept.setdefault(arm, []).append(new)
                count += 1
        need(count == data["rows"], "data", f"{count} rows, the proof is about {data['rows']}")
        need(link.hex() == data["digest"], "data", "not the rows, or not in the order, of the proof")
        for arm in self.rows if names.get("index") else ():
            order = sorted(range(len(numbers[arm])), key=numbers[arm].__getitem__)
            need([numbers[arm][k] for k in order] == list(range(len(order))), "data", "rows were left out")
            for kept in (self.rows, self.items):
                kept[arm] = [kept[arm][k] for k in order]
        for d, noise in enumerate(self.noise):
            for rows in self.rows.values() if noise["kind"] in ("bounded", "bernoulli") else ():
                good = all(self.low[d] <= row[d] <= self.high[d] for row in rows)
                good = good and (noise["kind"] == "bounded" or all(row[d] in (0, 1) for row in rows))
                need(good, "data", f"{self.dims[d]}: a value outside of its range")
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
            parts = process.get("parts", process.get("precisions"))
            good = process["fixed_at"] == 0 and (parts in USUAL[process["name"]] if parts else True)
            need(good, "parameters", "not what is fixed before the first row")


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
    for q in WIDE:
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
        need(used <= 1, "shares", f"they add up to {used} of delta")
        usual = [F(1, D * (A + N)), F(1, 2 * A * D)] + [F(1, D * (A - min(proof.sizes) + 1))] * (not proof.pareto)
        need(low == high and low in usual, "parameters", "shares that are not fixed beforehand")
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


def pair_reaches(proof, d, columns, shift, level, g, claim):
    """Return whether part g of the process of a dim refutes mu_a + shift <= mu_b."""
    process, parts = proof.method["process"][d], proof.method["process"][d]["parts"]
    if process["name"] == "difference":
        need(len(columns[0]) == len(columns[1]), "claims", "differences need equal counts", claim)
        n = 2 * len(columns[0])
        over = proof.signs[d] * (total(columns[0]) - total(columns[1])) + n // 2 * shift
        s = real(over / proof.scale[d])
        values = [mp.sqrt(q / (n + q)) * mp.exp(psi(s / mp.sqrt(n + q))[0]) for q in map(mp.mpf, parts)]
        return mp.log(sum(values) / len(parts)) >= level + ROOM
    need(g < len(parts), "claims", "no such part", claim)
    level += mp.log(len(parts))
    from bets import by_bets, by_scale, unit_of

    if process["name"] == "normal":
        return by_scale(proof, d, columns, shift, proof.scale[d], mp.mpf(parts[g])) >= level + ROOM
    bets = [parts[g]] * 2
    if process["name"] == "symmetric":
        units = [unit_of(column) for column in columns]
        columns = [column[before:] for column, (before, _) in zip(columns, units)]
        bets = [parts[g] / unit for _, unit in units]
    return by_bets(proof, d, columns, shift, level, bets)


def shares_of_groups(proof):
    """Return the shares of over, won and stale claims, by group."""
    parts = [[share_of(p) for p in proof.method[key]] for key in ("over", "won", "stale")]
    need(all(len(part) == proof.N for part in parts), "shares", "one for each group")
    used = sum(max(proof.D * k * w, (proof.A - k) * o + proof.D * (k - 1) * s)
               for k, o, w, s in zip(proof.sizes, *parts))
    need(used <= 1, "shares", f"they add up to {used} of delta")
    from bets import usual_shares

    need(parts in usual_shares(proof), "parameters", "shares that are not fixed beforehand")
    return parts


def pairs(proof, bar):
    """Return the statuses that evidence on pairs of arms gives."""
    D, N, known, scouting = proof.D, proof.N, ("subgaussian", "bounded", "bernoulli"), None
    need(proof.pareto and proof.doc["noise"]["arms"] == "independent", "format", "not for pairs")
    if proof.method["budget"] == "scouted":
        from warm_up import Scouting

        scouting = Scouting(proof)
    else:
        proof.processes({"normal": known[:1], "difference": known, "bets": known[1:], "symmetric": ("gaussian",)})
        over, won, stale = shares_of_groups(proof)
    covered = set(), set(), set()
    for c, claim in enumerate(proof.claims):
        need(len(claim) == 10, "claims", "ten numbers", c)
        limits = 2 if scouting else 3, N, 10**9, N, 10**9, D, 10**15, 10**15, 10**9
        kind, i, m, j, k, d, n_a, n_b, g = (index(x, limit, c) for x, limit in zip(claim, limits))
        need(m < proof.sizes[i] and k < proof.sizes[j], "claims", "no such arm", c)
        need((i == j) == (kind == 2) and (i, m) != (j, k), "claims", "the wrong arms", c)
        columns = [proof.column(arm, d, n, c) for arm, n in (((i, m), n_a), ((j, k), n_b))]
        shift = proof.epsilon[d] if kind == 1 else F(0)
        if scouting:
            columns = [col[int(scouting.n[arm]) :] for col, arm in zip(columns, ((i, m), (j, k)))]
            need(all(columns), "claims", "counts values of the warm-up", c)
            share = F(scouting.share(kind, i, m, j, d))
        else:
            share = (over[j], won[i], stale[j])[kind]
        need(share > 0, "claims", "no share", c)
        level = max(mp.log(real(1 / proof.delta / share)), mp.mpf(claim[9]))
        good = (scouting.reaches((i, m), (j, k), d, columns, shift, level) if scouting
                else pair_reaches(proof, d, columns, shift, level, g, c))
        need(good, "claims", "the e-process has not reached its level", c)
        covered[kind].add((i, j, d, k))
        bar(c + 1, len(proof.claims))
    return cover(proof, covered)


def cover(proof, covered):
    """Return the statuses that claims (i, j, d, k) give: over, won, stale."""
    left = {(j, d): {k for k in range(proof.sizes[j]) if (j, j, d, k) not in covered[2]}
            for j in range(proof.N) for d in range(proof.D)}
    need(all(left.values()), "answer", "all arms of a group are dropped")

    def every(claims, i, j, d):
        return all((i, j, d, k) in claims for k in left[j, d])

    dims = range(proof.D)
    out = {j for i, j, *_ in covered[0] if all(every(covered[0], i, j, d) for d in dims)}
    return settle_pareto(proof, out, lambda i, j: any(every(covered[1], i, j, d) for d in dims))


def verify(document, table, bar=lambda done, of: None):
    """Return None, or what failed in words."""
    try:
        proof = Proof(document, table)
        kind = proof.method["kind"]
        if kind in ("items", "pool"):
            import items

            found = getattr(items, kind)(proof, bar)
        else:
            found = {"boxes": boxes, "pairs": pairs}[kind](proof, bar)
        same = all(sorted(document["answer"][key]) == sorted(found[key]) for key in found)
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
        print(__doc__.strip())
        return 2
    with open(arguments[0], encoding="utf-8") as stream:
        document = json.load(stream)
    failed = verify(document, arguments[1], show)
    if failed is not None:
        print(f"FAILED {failed}\nNOT verified")
        return 1
    for key, found in document["answer"].items():
        print(f"{key}: {', '.join(document['problem']['groups'][i][0] for i in found) or 'none'}")
    print(f"proven for the goal {document['goal']} with error probability at most {document['delta']},")
    print(f"under the noise {document['noise']}; the file says in its own words:")
    print("\n".join(f"  {words}" for words in (document["statement"], *document["assumptions"])))
    print(f"verified {document['digest']}")
    return 0


if __name__ == "__main__":
    sys.modules["verify_proof"] = sys.modules[__name__]  # for the files beside this one
    sys.exit(main(sys.argv[1:]))
