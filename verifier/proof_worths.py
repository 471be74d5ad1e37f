"""What is beside the plain problem: limits, other worths, arms that come and go, the m best groups.

With verify_proof.py, this checks proofs of the method "boxes" for such problems; proof_pairs.py
and proof_selections.py need it where limits or the m best groups go with their methods.
"""

import math
from fractions import Fraction as F
from importlib import import_module

from verify_proof import (INF, KNOWN, WIDE, Bounds, Side, need, settle_best, settle_bounds,
                          statuses, weighted)


def measure(proof, problem):
    """Read which arms count, and the rank of the arm that a group is worth; 0: the average."""
    given, sizes = problem.get("worth", "best"), proof.sizes
    name, n = (given, 0) if isinstance(given, str) else given

    def rank(size):
        of_quantile = size + 1 - max(1, math.ceil(n * size - 1e-9)) if name == "quantile" else 0
        return {"best": 1, "mean": 0, "worst": size, "kth": n, "quantile": of_quantile}[name]

    proof.ranks, proof.mean = [rank(size) for size in sizes], name == "mean"
    proof.gone = [(group, arm) for group, arms in problem.get("gone", []) for arm in arms]
    signs = [-1 if way == "min" else 1 for way in proof.ways]
    proof.limits = [(d, {"<=": 1, ">=": -1}[sense] * signs[d], signs[d] * F(at), F(tolerance))
                    for d, sense, at, tolerance in problem.get("limits", [])]
    proof.plain = set(proof.ranks) == {1} and not proof.limits
    good = type(n) is not bool and all(0 <= k <= size for k, size in zip(proof.ranks, sizes))
    good = good and (not proof.limits or name in ("best", "kth"))
    good = good and {d for d, *_ in proof.limits} >= set(range(proof.D, len(proof.ways)))
    good = good and (proof.plain or proof.goal not in ("top", "map"))
    good = good and all(t >= 0 for *_, t in proof.limits)
    need(good, "format", "no such worth or limits")
    named = {(proof.groups[i], proof.arms[i][j]) for i, j in proof.every_arm}
    good = len(named | set(proof.gone)) == len(proof.gone) + proof.A
    good = good and (not proof.gone or proof.method.get("budget") == "room")
    need(good, "format", "arms that have left")


def shares_of_bounds(proof, method):
    """Return the share of delta that a bound of each arm has; the average is arm number K_i."""
    if method["budget"] == "as they came":
        every = 2 * len(proof.dims)
        return {arm: F(1, every * k * (k + 1)) for k, arm in enumerate(proof.values, start=1)}
    if method["budget"] == "room":
        room = method["room"]
        good = type(room) is int and proof.A + len(proof.gone) <= room
        need(good, "shares", "more arms took part than delta is for")
        return dict.fromkeys(proof.every_arm, F(1, 2 * len(proof.dims) * room))
    part = 1 if method is proof.method else 2  # half of delta is for pairs or selections
    low, high, sums = (F(*method.get(key, (0, 1))) for key in ("low", "high", "sums"))
    used, usual = (of_averages if proof.mean else of_arms)(proof, part, low, high, sums)
    need(part * used <= 1, "shares", f"they add up to {part * used} of delta")
    good = method["budget"] == "fixed" and low == high and (low, sums) in usual
    need(good, "parameters", "shares that are not fixed beforehand")
    return {**dict.fromkeys(proof.every_arm, low),
            **{(i, size): sums for i, size in enumerate(proof.sizes)}}


def of_averages(proof, part, low, high, sums):
    """Return how much of delta is used, and the shares of bounds and of averages that may be."""
    D, A, N = proof.D, proof.A, proof.N
    known = proof.independent and all(noise.kind in KNOWN for noise in proof.noise)
    usual = [(F(1, 4 * D * A), F(1, 4 * D * N)), (0, F(1, 2 * D * N))]
    return 2 * D * (A * low + N * sums), usual if known else [(F(1, 2 * D * A), 0)]


def of_arms(proof, part, low, high, sums):
    """Return the same where a group is worth one of its arms."""
    D, A, N, L = proof.D, proof.A, proof.N, len(proof.limits)
    if L:
        of_arm = max(D + L, 2 * D) if any(slack > 0 for *_, slack in proof.limits) else D + L
        bounds = A * L if part == 2 else of_arm * A + D * sum(proof.ranks)
        return bounds * low, [(F(1, part * bounds), 0)]
    single, less = proof.goal == "best" and proof.plain, A - min(proof.sizes)
    usual = [F(1, part * D * (A + N))]
    if part == 1:
        usual += [F(1, 2 * A * D)] + [F(1, D * (less + 1))] * single
    used = D * (less * low + high) if single else D * (A * low + N * high)
    return used, [(share, 0) for share in usual]


class Worths(Bounds):
    """Bounds of single arms and of averages of all arms of a group, and what they say of groups."""

    def __init__(self, proof, method):
        super().__init__(proof, method, shares_of_bounds(proof, method))

    def proves(self, i, j, d, side, n, m):
        proof, turn = self.proof, (1, -1)[side]
        if not proof.mean or j != proof.sizes[i]:
            return super().proves(i, j, d, side, n, m)
        need((i, j, d) not in self.ends[side], "claims", "two claims of one bound")
        self.ends[side][i, j, d] = float(m)
        column = [y for k in range(j) for y in proof.column((i, k), d, n)]
        process, level = {"name": "mixture", "precisions": WIDE}, proof.level(self.shares[i, j])
        return Side(proof.noise[d], column, turn).refutes(turn * F(m), process, level)

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
        found, barred = ([], []), []
        for i, rank in enumerate(self.proof.ranks):
            arms = self.standing(i)
            barred += [i] * (len(arms[1]) < rank)
            for side in (0, 1):
                found[side].append([self.worth(i, d, side, arms[side], rank)
                                    for d in range(self.proof.D)])
        return *found, barred

    def worth(self, i, d, side, arms, rank):
        """Return the bound of the arm of a rank or, if better, the average or its bound."""
        ends, none = self.ends[side], (-INF, INF)[side]
        own = sorted((ends.get((i, j, d), none) for j in arms), reverse=True)
        if not self.proof.mean:
            return own[rank - 1] if len(own) >= rank else -INF
        whole = ends.get((i, len(own), d), none)
        average = whole if none in own else sum(map(F, own)) / len(own)
        return min(whole, average) if side else max(whole, average)


def settle(proof, bar):
    """Return the statuses that bounds give."""
    bounds = Worths(proof, proof.method)
    proof.check_claims(bounds.proves, bar)
    lower, upper, barred = bounds.worths()
    if proof.goal == "map":
        maps = import_module("proof_maps")
        return maps.settle_map(proof, maps.by_arms(proof, lower, upper))
    if proof.goal == "top":
        return settle_top(proof, weighted(proof, lower), weighted(proof, upper))
    if proof.pareto:
        found = settle_bounds(proof, lower, upper)
        found["in"] = [i for i in found["in"] if not proof.limits or -INF not in lower[i]]
    else:  # no group is behind a barred one
        most = [-INF if k in barred else end for k, end in enumerate(weighted(proof, upper))]
        found = settle_best(proof, weighted(proof, lower), most)
    return {**found, "out": sorted({*found["out"], *barred})}


def settle_top(proof, least, most, near=(), above=()):
    """Return the statuses for the m best groups; near, above: pairs of which more is known."""
    groups, m, chosen = range(proof.N), proof.top, sorted(set(proof.stated))
    slack = proof.epsilon[0] * sum(proof.weights)

    def over(i, k, by, known):
        ends = least[i], most[k]
        return (i, k) in known or (i != k and None not in ends and ends[0] + by >= ends[1])

    rest = [k for k in groups if k not in chosen]
    beaten = [k for k in groups if sum(over(i, k, 0, above) for i in groups if i != k) >= m]
    if len(chosen) == m and all(over(i, k, slack, near) for i in chosen for k in rest):
        out = rest if proof.epsilon[0] == 0 else [k for k in rest if k in beaten]
        return {"in": chosen, "out": out, "not_needed": [k for k in rest if k not in out]}
    inside = [i for i in groups
              if sum(over(i, k, slack, near) for k in groups if k != i) >= proof.N - m]
    return {"in": inside, "out": [k for k in beaten if k not in inside], "not_needed": []}


def pairs_with_limits(proof, bounds, covered, leading):
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
