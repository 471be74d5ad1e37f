"""Limits, other worths and the m best groups on shared items (the method "item units").

A unit of a group is an arm, the average of all its arms, or a selection of one for each dim. A
group is worth its unit of a certain rank, and units are compared item by item.
"""

from fractions import Fraction as F
from itertools import product

from proof_items import differences, in_clusters, pool_of, table_of
from proof_worths import settle_top
from verify_proof import need, statuses


def units_of(proof):
    """Return the units of each group, a list of arms for each dim, and the rank of its worth."""
    found, ranks = [], []
    for size, rank in zip(proof.sizes, proof.ranks):
        need(proof.pareto or proof.D == 1 or rank in (0, 1, size), "format", "no such units")
        arms = range(size)
        found.append([[list(arms)] * proof.D] if rank == 0 else
                     [[[j]] * proof.D for j in arms] if proof.pareto else
                     [[[j] for j in chosen] for chosen in product(arms, repeat=proof.D)])
        ranks.append(1 if rank < 2 else len(found[-1]) if rank == size else rank)
    return found, ranks


def settle(proof, bar):
    """Return the statuses that claims on units and on limits give."""
    pool, table, N, dims = pool_of(proof), table_of(proof), proof.N, range(proof.D)
    need(proof.goal != "map" and proof.version > 2 and not proof.gone, "format", "no such proof")
    placed, count = (lambda *claim: claim), pool
    if "clusters" in proof.method:
        placed, count = in_clusters(proof, pool), len(proof.sizes_of_units) if pool else 0
    (units, ranks), part = units_of(proof), 2 if proof.limits else 1
    spare = [len(own) - rank + 1 for own, rank in zip(units, ranks)]
    slack = proof.epsilon if proof.pareto else [proof.epsilon[0] * sum(proof.weights)]
    claimed = set(), set(), set(), set()

    def share(kind, i, j):
        if proof.pareto:
            others = sum(spare) - spare[j]
            many = ranks[j] * (others if kind == 0 else proof.D * spare[i])
            return F(1, part * N * many)
        both = F(1, part * max(proof.top * (N - proof.top), 1) * spare[i] * ranks[j])
        return both * (F(1, 4) if kind == 0 else F(3, 4)) if slack[0] else both

    def value(i, u, q, t):
        """Return value q of a unit on the first t places of the order."""
        own = units[i][u]
        need(all(len(table[i, j]) >= t > 0 for arms in own for j in arms), "claims", "items")
        return [sum((1 if proof.pareto else proof.weights[d]) * sum(table[i, j][p][d]
                    for j in own[d]) / len(own[d]) for d in ([q] if proof.pareto else dims))
                for p in range(t)]

    def refutes(values, shift, reach, of, strict):
        sizes = proof.sizes_of_units
        good = all(abs(x) <= size * reach for x, size in zip(values, sizes))
        need(good, "claims", "two units differ by too much on an item")
        return differences(count, *placed(values, shift, reach), proof.level(of), strict)

    def proves(kind, *rest):
        need(kind < 4 and len(rest) == (6 if kind < 2 else 4), "claims", "no such claim")
        claimed[kind].add(rest[:-1])
        if kind < 2:
            i, u, j, v, q, t = rest
            need(i != j, "claims", "units of two groups")
            reach = (proof.noise[q].reach if proof.pareto else
                     sum(w * noise.reach for w, noise in zip(proof.weights, proof.noise)))
            values = [y - z for y, z in zip(value(i, u, q, t), value(j, v, q, t))]
            return refutes(values, slack[q] * kind, reach, share(kind, i, j), kind == 0)
        i, j, number, t = rest
        d, sign, at, tolerance = proof.limits[number]
        noise, rows = proof.noise[d], table[i, j]
        middle, half = noise.least + noise.width / 2, noise.width / 2
        need(len(rows) >= t > 0, "claims", "too few items")
        values = [sign * (row[d] - middle * size)
                  for row, size in zip(rows[:t], proof.sizes_of_units)]
        edge, of = sign * (at - middle), F(1, 2 * proof.A * len(proof.limits))
        if kind == 3:
            return refutes(values, -edge, half, of, True)
        return refutes([-x for x in values], edge + tolerance, half, of, False)

    proof.check_claims(proves, bar)
    return conclude(proof, units, ranks, len(slack), claimed)


def conclude(proof, units, ranks, values, claimed):
    """Return the statuses: who covers whom, by units that count and those that may."""
    groups, limits = range(proof.N), range(len(proof.limits))
    counts = {(i, j): all((i, j, n) in claimed[2] for n in limits) for i, j in proof.every_arm}
    barred = {(i, j): not counts[i, j] and any((i, j, n) in claimed[3] for n in limits)
              for i, j in proof.every_arm}
    sure = [[u for u, unit in enumerate(own) if all(counts[i, j] for arms in unit for j in arms)]
            for i, own in enumerate(units)]
    left = [[u for u, unit in enumerate(own)
             if not any(barred[i, j] for arms in unit for j in arms)]
            for i, own in enumerate(units)]

    def covers(kind, i, j):
        """Return of each value whether i is above j, or not below it by the slack."""
        free = [sum(sum((i, u, j, v, q) in claimed[kind] for u in sure[i]) < ranks[i]
                    for v in left[j]) for q in range(values)]
        return [len(sure[i]) >= ranks[i] and many < ranks[j] for many in free]

    pairs = [(i, j) for i in groups for j in groups if i != j]
    beats = {pair for pair in pairs if all(covers(0, *pair))}
    holds = {pair for pair in pairs if any(covers(1, *pair))}
    if proof.goal == "top":
        return settle_top(proof, [None] * proof.N, [None] * proof.N, beats | holds, beats)
    lost = {i for i in groups if len(left[i]) < ranks[i]}
    out = lost | {j for _, j in beats}
    aside = lost if any(tolerance > 0 for *_, tolerance in proof.limits) else out
    safe = [i for i in groups if i not in out and len(sure[i]) >= ranks[i]
            and all(j == i or j in aside or (i, j) in holds for j in groups)]
    if proof.pareto:
        return {"in": safe, "out": sorted(out), "not_needed": []}
    return statuses(proof, [i for i in safe if i in proof.stated][:1], out)
