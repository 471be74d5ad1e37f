"""The best group on shared items (the method "item selections").

A selection names an arm of a group for each dim. A group is out when all its selections are.
"""

import math
from collections import Counter
from fractions import Fraction as F

from proof_items import certain, differences, grows, in_clusters, pool_of, table_of
from verify_proof import need, statuses


def settle(proof, bar):
    """Return the statuses that selections give which are out on a part of shared items."""
    method, table, pool, refuted = proof.method, table_of(proof), pool_of(proof), {}
    first, rank, terms = method["first"], method["rank"], method["terms"]
    budget, placed, count = method["budget"], (lambda *claim: claim), pool
    half = {"terms": F(1), "table": F(1, 2), "pairs": F(1)}[budget]
    if "clusters" in method:
        placed, count = in_clusters(proof, pool), len(proof.sizes_of_units) if pool else 0
    slack, reach = (sum(w * x for w, x in zip(proof.weights, own)) for own in (
        [proof.epsilon[0]] * proof.D, [noise.reach for noise in proof.noise]))
    everyone = sum(size**proof.D for size in proof.sizes) * (2 if slack else 1)
    whole = type(rank) is type(first) is int and 0 < rank <= proof.N > first >= 0
    begins = [term[0] for term in terms]
    good = whole and proof.goal == "best" and proof.plain
    good = good and (budget != "table" or "clusters" not in method)
    good = good and (budget != "pairs" or (not terms and proof.version > 2))
    good = good and begins == sorted({max(b, 0) for b in begins})
    need(good and all(term[1] != term[3] for term in terms), "parameters", "not such terms")
    for _, one, own, two, theirs, front in terms:
        for g, arms in ((one, own), (two, theirs), (first, front)):
            good = 0 <= g < proof.N and len(arms) == proof.D and min(arms) >= 0
            need(good and max(arms) < proof.sizes[g], "parameters", "no such arms")
    near = 3 * half / (4 * rank * sum(F(1, h + 1) for h in range(proof.N)))
    pairs, by_terms = half / everyone * (budget != "terms"), budget != "pairs"
    shares = [by_terms * (half / 4 if slack else half), near * (slack > 0) * by_terms, F(1), pairs,
              pairs * (slack > 0)]
    if budget == "table":
        table_makes(proof, table, terms, first, rank)

    def apart(one, two, t):
        """Return by how much a selection is above another one on the first t units."""
        need(all(len(table[g, j]) >= t for g, arms in (one, two) for j in arms), "claims", "items")
        pairs = [(d, table[one[0], a], table[two[0], b])
                 for d, (a, b) in enumerate(zip(one[1], two[1]))]
        for d, a, b in pairs:
            close = all(abs(y[d] - z[d]) <= size * proof.noise[d].reach
                        for y, z, size in zip(a[:t], b, proof.sizes_of_units))
            need(close, "claims", "two arms differ by too much on an item")
        return [sum(proof.weights[d] * (a[u][d] - b[u][d]) for d, a, b in pairs) for u in range(t)]

    def proves(kind, k, t, *arms):
        chosen, other = (k, arms[: proof.D]), (first, arms[proof.D :])
        good = len(arms) == (1 + (kind > 1)) * proof.D and t > 0 and (kind == 0 or k != first)
        need(good and kind < 5, "claims", "no such claim")
        refuted.setdefault(chosen, set()).add(kind)
        shift, level = slack if kind in (1, 2, 4) else F(), proof.level(shares[kind])
        if kind > 1:
            claim = placed(apart(other, chosen, t), shift, reach)
            return (certain(count, *claim, False) if kind == 2
                    else differences(count, *claim, level, kind == 3))
        wealth, spans = [1.0] * 25, []
        for (begin, one, own, two, theirs, front), end in zip(terms, [*begins[1:], t]):
            rival = (first, front) if kind else (two, theirs) if one == k else (one, own)
            if begin < min(end, t):
                spans.append((begin, placed(apart(rival, chosen, min(end, t)), shift, reach)))
        return any(grows(count, *claim, level, wealth, begin) for begin, claim in spans)

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
