"""Maps of weights on shared items, by bounds of single arms (the method "item bounds")."""

from fractions import Fraction as F

from proof_items import differences, in_clusters, pool_of, table_of
from proof_maps import by_arms, settle_map
from verify_proof import INF, need

# All bets are fixed: then what is refuted of a mean is refuted of all that are less.
LADDER = {"largest": 8, "ratio": 1.6, "main": 16, "cap": 0.95, "plug": 0, "fixed_at": 0}


def settle(proof, bar):
    """Return the statuses that bounds on the items that arms have passed give."""
    pool, table, ends = pool_of(proof, LADDER), table_of(proof), ({}, {})
    need(proof.goal == "map" and proof.plain and not proof.gone, "format", "no such proof")
    placed, count, within = (lambda *claim: claim), pool, False
    if "clusters" in proof.method:
        placed, count = in_clusters(proof, pool), len(proof.sizes_of_units) if pool else 0
        within = proof.method["clusters"]["slack"] == "within"
        need(not within or proof.version > 3, "format", "not in this version")
    level = proof.level(F(1, proof.D * (proof.A + proof.N)))

    def proves(i, j, d, side, t, m):
        need(d < proof.D and side < 2 and (i, j, d) not in ends[side], "claims", "no such bound")
        need(len(table[i, j]) >= t > 0, "claims", "too few items")
        ends[side][i, j, d], noise, turn = float(m), proof.noise[d], (1, -1)[side]
        middle, half = noise.least + noise.width / 2, noise.width / 2
        values = [turn * (row[d] - middle * size)
                  for row, size in zip(table[i, j][:t], proof.sizes_of_units)]
        shift = turn * (middle - F(m))
        if not within:
            return differences(count, *placed(values, shift, half), level, True, LADDER)
        if abs(shift) > half:  # no mean is outside of the range
            return shift > 0
        # Sums less m for each item, in a range that has them whatever m is: so bets are fixed.
        sums = [x + size * shift for x, size in zip(values, proof.sizes_of_units)]
        reach = noise.width * proof.method["clusters"]["largest"]
        return differences(0, sums, F(), reach, level, True, LADDER)

    proof.check_claims(proves, bar)
    lower, upper = ([[max(own.get((i, j, d), none) for j in range(size)) for d in range(proof.D)]
                     for i, size in enumerate(proof.sizes)] for own, none in zip(ends, (-INF, INF)))
    return settle_map(proof, by_arms(proof, lower, upper))
