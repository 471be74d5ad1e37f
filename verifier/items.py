"""Proofs on shared items, and of complete pools; used by verify_proof.py (docs/proof-format.md)."""

import hashlib
from fractions import Fraction as F

import mpmath as mp
from verify_proof import ROOM, cover, index, need, real, settle_best, settle_pareto, shares_of_groups


def table_of(proof):
    """Return each arm's values on the items of the order, up to the first one that it lacks."""
    order, by, table = proof.method["order"], proof.method["ordered_by"], {}
    need(len(set(order)) == len(order) and by in ("given", "digest"), "data", "the order of items")
    if by == "digest":
        def key(name):
            return hashlib.sha256(name.encode()).digest()

        named = {item for items in proof.items.values() for item in items} | set(order)
        whole = sorted(named, key=key)
        need(order == whole[: len(order)], "data", "not the order of the digests of all items")
    for i, size in enumerate(proof.sizes):
        for j in range(size):
            items = proof.items.get((i, j), [])
            need(len(set(items)) == len(items), "data", "an arm has two rows for one item")
            rows, passed = dict(zip(items, proof.rows.get((i, j), []))), []
            for item in order:
                if item not in rows:
                    break
                passed.append(rows[item])
            table[i, j] = passed
    return table


def rounding(n, shift, reach):
    return (reach * n * (n + 32) + 8 * n * abs(shift)) / F(2**52)


def proves(proof, pool, values, shift, reach, wanted, strict):
    """Return whether differences refute that their mean is at most -shift, at some item or for certain."""
    given, D, square = proof.method["process"], F(), F()
    main, cap, plug = given["main"], F(given["cap"]), F(given["plug"])
    kept = main if pool else main + 12
    bets = [F(given["largest"]) / F(given["ratio"]) ** k / reach for k in range(kept)]
    weights = [F(1, main)] * main if pool else [F(95, 100) / main] * main + [F(5, 1200)] * 12
    weights, wealth = [(1 - plug) * w for w in weights] + [plug], [mp.mpf(1)] * (kept + 1)
    for done, value in enumerate(values):
        mean = (-pool * shift - D) / (pool - done) if pool else -shift
        if mean < -reach:
            return True
        if mean < reach:
            top = cap / max(reach + mean, reach / 10**9)
            gap = (D - 10 * shift) / (done + 10) - mean
            spread = (reach**2 / 20 + max(F(), square - D * D / max(1, done))) / (done + 10)
            follows = gap / (spread + gap * gap) if gap > 0 else F()
            stretch, away = F(pool, pool - done) if pool else 1, value - mean
            sizes = [min(bet * stretch, top) for bet in bets] + [min(follows, top)]
            wealth = [w * (1 + real(size * away)) for w, size in zip(wealth, sizes)]
            if sum(real(w) * x for w, x in zip(weights, wealth)) >= real(wanted) * (1 + ROOM):
                return True
        D, square = D + value, square + value * value
    if pool and len(values) == pool:
        slack = rounding(pool, shift, reach)
        return D + pool * shift > slack if strict else D + pool * shift >= -slack
    return bool(pool) and -pool * shift - D < -reach * (pool - len(values))


def reach_of(proof, d):
    need(proof.noise[d]["kind"] in ("bounded", "bernoulli"), "format", "items need a range")
    width = proof.high[d] - proof.low[d]
    return min(width, F(proof.noise[d].get("difference") or width))


def items(proof, bar):
    """Return the statuses that differences on shared items give."""
    method, covered, given = proof.method, (set(), set(), set()), proof.method["process"]
    need(proof.pareto and method["target"] in ("pool", "population"), "format", "not for items")
    (over, won, _), table = shares_of_groups(proof), table_of(proof)
    pool = index(method["count"], 10**12) if method["target"] == "pool" else 0
    usual = {"largest": 32, "ratio": 2, "main": 12, "cap": 0.98, "plug": 0.7, "fixed_at": 0}
    need(given == usual and (pool or method["target"] != "pool"), "parameters", "bets that are not fixed")
    for c, claim in enumerate(proof.claims):
        need(len(claim) == 7, "claims", "seven numbers", c)
        limits = 2, proof.N, 10**9, proof.N, 10**9, proof.D, 10**12
        kind, i, m, j, k, d, t = (index(x, limit, c) for x, limit in zip(claim, limits))
        good = i != j and m < proof.sizes[i] and k < proof.sizes[j] and t > 0
        need(good, "claims", "no such pair of arms", c)
        upper, lower = table[i, m][:t], table[j, k][:t]
        share = won[i] if kind else over[j]
        need(len(upper) == len(lower) == t and share > 0, "claims", "too few items, or no share", c)
        values = [proof.signs[d] * (F(a[d]) - F(b[d])) for a, b in zip(upper, lower)]
        reach, shift = reach_of(proof, d), proof.epsilon[d] if kind else F()
        need(all(abs(value) <= reach for value in values), "claims", "arms differ by too much", c)
        need(not pool or t <= pool, "claims", "more items than the pool has", c)
        good = proves(proof, pool, values, shift, reach, 1 / proof.delta / share, kind == 0)
        need(good, "claims", "the pair process has not reached its level", c)
        covered[kind].add((i, j, d, k))
        bar(c + 1, len(proof.claims))
    return cover(proof, covered)


def pool(proof, bar):
    """Return the statuses that a complete pool gives by definition."""
    need(not proof.claims, "claims", "a complete pool needs no claims")
    table, n, D, groups = table_of(proof), proof.method["count"], range(proof.D), range(proof.N)
    whole = len(proof.method["order"]) == n and all(len(passed) == n for passed in table.values())
    need(whole, "data", "not every arm has passed every item of the pool")
    best = [[max(sum(proof.signs[d] * F(row[d]) for row in table[i, j]) for j in range(proof.sizes[i]))
             for d in D] for i in groups]
    if not proof.pareto:
        worth = [sum(w * r for w, r in zip(proof.weights, row)) for row in best]
        first = max(groups, key=worth.__getitem__)
        return settle_best(proof, {k for k in groups if k != first}, first)
    slack = [rounding(n, 0, reach_of(proof, d)) for d in D]
    out = {j for j in groups for i in groups
           if i != j and all(best[i][d] > best[j][d] + slack[d] for d in D)}
    return settle_pareto(proof, out, lambda i, j: any(best[i][d] >= best[j][d] - slack[d] for d in D))
