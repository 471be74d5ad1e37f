"""Arms that were scored on the same items: the methods "items" (with proof_pairs.py) and "pool".

A claim bets on the differences of two arms, item by item, against what the null lets their mean be
on the items that are left.
"""

import hashlib
import math
from fractions import Fraction as F
from math import log

from proof_pairs import shares_of_groups
from verify_proof import RANGE, need, settle_best, settle_pareto

ITEMS = {"largest": 32, "ratio": 2, "main": 12, "cap": 0.98, "plug": 0.7, "fixed_at": 0}


def table_of(proof):
    """Return each arm's y on the items of the order, up to the first one that it lacks.

    Of clusters it is the sums over their items; units has these, one or several a place.
    """
    order, by, found = proof.method["order"], proof.method["ordered_by"], {}
    clusters, named = proof.method.get("clusters"), {x for own in proof.items.values() for x in own}
    units = [unit[1:] for unit in order] if clusters else [[item] for item in order]
    order = [unit[0] for unit in order] if clusters else order
    every = [item for unit in units for item in unit]
    whole = sorted(order if clusters else named | set(order),
                   key=lambda name: hashlib.sha256(name.encode()).digest())
    good = len(set(order)) == len(order) and (by == "given" or order == whole[: len(order)])
    good = good and len(set(every)) == len(every) and all(units)
    good = good and (not clusters or (named <= set(every) and proof.version > 2))
    need(good and by in ("given", "digest"), "data", "not the order of the items")
    proof.sizes_of_units = [len(unit) for unit in units]
    for arm in proof.every_arm:
        rows = {}
        for item, row in zip(proof.items.get(arm, []), zip(*proof.values.get(arm, []))):
            rows.setdefault(item, []).append(row)
        many = proof.method.get("repeats", 1)
        good = type(many) is int and many > 0 and all(len(own) == many for own in rows.values())
        need(good, "data", "another number of rows for one item than was fixed")
        depth = next((t for t, unit in enumerate(units) if not set(unit) <= set(rows)), len(units))
        found[arm] = [[sum(map(F, ys)) / many for ys in zip(*(y for item in unit
                                                             for y in rows[item]))]
                      for unit in units[:depth]]
    return found


def in_clusters(proof, pool):
    """Return how values, shift and range of a claim on an item become those of one on clusters."""
    sizes, clusters, n = proof.sizes_of_units, proof.method["clusters"], len(proof.sizes_of_units)
    z, slack = clusters["largest"], clusters["slack"]
    good = z == max(sizes) and slack == "apart" and sum(sizes) == pool if pool else (
        z >= max(sizes) and (slack == "within" or (slack == "apart" and set(sizes) == {z})))
    good = good and type(z) is int and set(clusters) == {"largest", "slack"}
    need(good, "parameters", "clusters are not as large as they are said to be")

    def placed(values, shift, reach):
        if slack == "within":
            return [x + size * shift for x, size in zip(values, sizes)], F(), z * (reach + shift)
        return values, shift * (F(pool, n) if pool else z), reach * z
    return placed


def rounding(n, shift, reach):
    return (reach * n * (n + 32) + 8 * n * abs(shift)) / F(2**52)


def pool_of(proof, bets=ITEMS):
    """Return how many items the pool has, 0 for a population; refuses other bets than the usual."""
    method = proof.method
    pool = {"pool": method["count"], "population": 0}[method["target"]]
    good = type(pool) is int and (pool > 0) == (method["target"] == "pool")
    need(good and method["process"] == bets, "parameters", "bets that are not fixed beforehand")
    need(all(noise.kind in RANGE for noise in proof.noise), "format", "items need a range")
    return pool


def claims(proof):
    """Return how a claim is proven by differences on shared items."""
    pool, table, shares = pool_of(proof), table_of(proof), shares_of_groups(proof)
    placed, count = (lambda *claim: claim), pool
    if "clusters" in proof.method:
        placed, count = in_clusters(proof, pool), len(proof.sizes_of_units) if pool else 0

    def proves(kind, a, b, d, shift, t):
        upper, lower, reach = table[a][:t], table[b][:t], proof.noise[d].reach
        need(kind < 2 and len(upper) == len(lower) == t > 0, "claims", "too few items")
        values = [y[d] - z[d] for y, z in zip(upper, lower)]
        good = all(abs(x) <= size * reach for x, size in zip(values, proof.sizes_of_units))
        need(good, "claims", "two arms differ by too much on an item")
        values, shift, reach = placed(values, shift, reach)
        level = proof.level(shares[kind][a[0] if kind else b[0]])
        return differences(count, values, shift, reach, level, kind == 0)
    return proves


def differences(pool, values, shift, reach, level, strict, rule=ITEMS):
    """Return whether differences refute that their mean is at most -shift, at some item."""
    return (grows(pool, values, shift, reach, level, [1.0] * 40, 0, rule)
            or certain(pool, values, shift, reach, strict))


def grows(pool, values, shift, reach, level, wealth, first=0, rule=ITEMS):
    """Return whether the wealth, which goes on in place, is ever enough from an item on."""
    plug, cap, main = F(rule["plug"]), F(rule["cap"]), rule["main"]
    D, square = sum(values[:first], F()), sum((x * x for x in values[:first]), F())
    largest, ratio = F(rule["largest"]) / reach, F(rule["ratio"])
    bets = [largest / ratio**k for k in range(main if pool else main + 12)]
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


def settle(proof, bar):
    """Return the statuses that a complete pool gives by definition."""
    table, n, dims = table_of(proof), proof.method["count"], range(proof.D)
    good = proof.plain and proof.goal in ("pareto", "best") and "clusters" not in proof.method
    need(good, "format", "no proof for this problem")
    whole = len(proof.method["order"]) == n and all(len(rows) == n for rows in table.values())
    need(whole and not proof.claims, "data", "not every arm has passed every item of the pool")
    best = [[max(sum(row[d] for row in table[i, j]) for j in range(size)) for d in dims]
            for i, size in enumerate(proof.sizes)]
    slack = [rounding(n, 0, noise.reach) for noise in proof.noise]
    worth = [sum(w * s for w, s in zip(proof.weights, row)) for row in best]
    return settle_best(proof, worth, worth) if not proof.pareto else settle_pareto(
        proof, lambda i, j, d: best[i][d] > best[j][d] + slack[d],
        lambda i, j, d: best[i][d] >= best[j][d] - slack[d])
