"""Claims about two arms (the method "pairs", and what "items" has in common with it).

Of arms a and b it is refuted that mu_a + shift <= mu_b, by the product of an e-process of each
against its own mean, at its least over all pairs of means that the null allows.
"""

from fractions import Fraction as F
from functools import cache
from importlib import import_module
from math import exp, floor, inf, log, log1p, sqrt

from verify_proof import (KNOWN, RANGE, WIDE, equal, log_sum, mixture, need, psi, settle_pareto,
                          squares, total)

# Of each process: the noise that it is a proof for, and its parts.
TWO_ARMS = {"normal": (["subgaussian"], [[32, 256, 2048, 16384, 131072]]),
            "difference": (KNOWN, [WIDE]), "bets": (RANGE, [[0.25, 1, 0.0625, 0.015625, 4]]),
            "symmetric": (["gaussian"], [[0.125, 0.5, 0.03125, 0.0078125, 2]])}
HALF_NORMAL = [exp(-(((k + 0.5) / 4) ** 2) / 2) for k in range(12)]
WEIGHTS = [0.95 * w / sum(HALF_NORMAL) for w in HALF_NORMAL] + [0.005] * 8
CASH, SYMMETRIC = 0.01, [(0.9, 1), (0.04, 0.25), (0.03, 4), (0.02, 1 / 64)]


def twenty_bets(scale, most):
    """Return weights and bets: twelve tuned ones, at most `most`, and eight that are not."""
    tuned = [min(scale * (k + 0.5) / 4, most) for k in range(12)]
    return list(zip(WEIGHTS, tuned + [2.0**-k for k in range(1, 9)]))


def least_of(convex, left, right):
    """Return the least value of a convex function, which it has between left and right."""
    for _ in range(100):
        x, y = (2 * left + right) / 3, (left + 2 * right) / 3
        left, right = (x, right) if convex(x) > convex(y) else (left, y)
    return convex((left + right) / 2)


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


def refutes_normal(pair, shift, level, q):
    """Return whether mu_a + shift <= mu_b is refuted for a known scale; b is mirrored."""
    a, b = pair
    gap = float((a.mean + b.mean + shift) / a.scale)
    steep = [side.n / sqrt(side.n + own) for side, own in zip(pair, q)]
    spent = sum(log1p(side.n / own) / 2 for side, own in zip(pair, q))
    return gap > 0 and level + spent <= least_of(
        lambda u: psi(steep[0] * u) + psi(steep[1] * (gap - u)), -1 / steep[1], gap + 1 / steep[0])


def refutes_symmetric(pair, shift, level, scales):
    """Return the same for normal values; x counts from the mean of a."""
    a, b = pair
    gap, laws = float(a.mean + b.mean + shift), [[(w, (c * s) ** -2) for w, c in SYMMETRIC]
                                                 for s in scales]

    def wealth(side, s, own):
        return log_sum([log(CASH), mixture(s, side.spread + s * s / side.n, own)])

    def falls(x):
        return wealth(a, -a.n * x, laws[0])

    def rises(x):
        return wealth(b, b.n * (gap + x), laws[1])

    def outwards(side, alone, start, way):
        """Return an x from which on one arm alone is enough."""
        step = way * sqrt(side.spread) / side.n
        tries = (start + step * 1.25**k for k in range(60))
        return next((x for x in tries if alone(x) + log(CASH) >= level), way * inf)

    left, right = outwards(a, falls, 0.0, -1), outwards(b, rises, -gap, 1)
    return max(abs(left), abs(right)) < inf and everywhere([(1, falls, rises)], left, right, level)


def refutes_bets(pair, shift, level, scales, most=(inf, inf), q=None):
    """Return the same for values in a range, of which x is a share; q: of a part that is normal."""
    (a, b), s = pair, float(shift / pair[0].width)
    bets = [twenty_bets(scale, top) for scale, top in zip(scales, most)]
    means = [float(side.share(side.mean)) for side in pair]

    def wealth(side, v, own):
        return log_sum([log(CASH), *side.products(v, own)])

    def normal(side, mean, v, own):
        return mixture(2 * side.n * (mean - v), side.n, [(1, own)])

    parts = [(0.95 if q else 1, lambda x: wealth(a, x, bets[0]),
              lambda x: wealth(b, 1 - x - s, bets[1]))]
    if q:
        parts += [(0.05, lambda x: normal(a, means[0], x, q[0]),
                   lambda x: normal(b, means[1], 1 - x - s, q[1]))]
    return everywhere(parts, 0.0, 1 - s, level)


def costs_of(proof):
    """Return what a pull of each arm costs."""
    given = proof.method.get("costs", [[1] * size for size in proof.sizes])
    return {(i, j): given[i][j] for i, j in proof.every_arm}


def unit_of(column):
    """Return how many first values give an arm's unit, and that: their standard deviation."""
    n = 4
    while n <= len(column) and len(set(column[:n])) == 1:
        n += 1
    need(n < len(column), "claims", "no value of an arm counts yet")
    return n, sqrt(squares(column[:n]) / (n - 1))


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
        level += log(len(parts))
        units = [(0, 1), (0, 1)]
        if noise.kind == "gaussian":
            units = [unit_of(column) for column in columns]
        pair = [proof.side(a, d, 1, n_a, units[0][0]), proof.side(b, d, -1, n_b, units[1][0])]
        if noise.kind == "subgaussian":
            return refutes_normal(pair, shift, level, (part, part))
        refutes = refutes_symmetric if noise.kind == "gaussian" else refutes_bets
        return refutes(pair, shift, level, [part / unit for _, unit in units])
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
    plus = [[F(floor(share / whole * 2**40), 2**40)] * N for share in plus]
    good = given in ([over, won, [F(0)] * N], plus)[: 3 - part]
    need(good, "parameters", "shares that are not fixed beforehand")
    return given


def settle(proof, bar):
    """Return the statuses that claims on pairs of arms give, also on shared items."""
    items, covered, leading = proof.method["kind"] == "items", (set(), set(), set()), set()
    good = proof.pareto or (proof.limits and proof.goal == "best" and proof.D == 1)
    good = good and set(proof.ranks) == {1} and (items or proof.independent)
    good = good and (proof.plain or not items)
    need(good, "format", "no proof for this problem")
    worths = import_module("proof_worths") if proof.limits else None
    bounds = worths.Worths(proof, proof.method["boxes"]) if worths else None
    budget = "items" if items else proof.method["budget"]
    way = fixed_pairs if budget == "fixed" else import_module(
        {"scouted": "proof_warm_up", "named": "proof_named", "items": "proof_items"}[budget]).claims
    way = way(proof)
    warm_up = budget in ("scouted", "named")
    standing, way = (way.standing, way.proves) if warm_up else (dict, way)

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
    if worths:
        return worths.pairs_with_limits(proof, bounds, covered, leading)
    beats, holds = (lambda i, j, d, own=own: all((i, j, d, k) in own for k in left[j, d])
                    for own in covered[:2])
    return standing(settle_pareto(proof, beats, holds))
