"""Maps of weights: which group is best for which weights of a set (the goal "map").

Bounds of R_i . v - R_k . v at the corners v of fixed cells come from bounds of single arms (the
method "boxes") or from evidence on several arms at once ("directions"); worths are linear.
"""

import math
from fractions import Fraction as F
from itertools import pairwise, permutations, product
from math import log

from proof_selections import SEVERAL, against, apart, arm_share
from proof_worths import Worths
from verify_proof import INF, log_sum, need

PARTS, FINE, NEAR = (1, 4, 4, 2, 2), (1, 64, 8, 4, 3, 3), F(1, 10**9)


def cells_of(rank, parts):
    """Return the cells of a simplex whose edges have so many parts, each a list of its corners."""
    if parts == 1:
        return [[tuple(int(e == n) for e in range(rank + 1)) for n in range(rank + 1)]]
    found = []
    for start in product(range(parts + 1), repeat=rank):
        for turn in permutations(range(rank)):
            path = [start]
            for s in turn:
                path.append(tuple(y + (r == s) for r, y in enumerate(path[-1])))
            ends = [(parts, *y, 0) for y in path]
            if all(a >= b for y in ends for a, b in pairwise(y)):
                found.append([tuple(a - b for a, b in pairwise(y)) for y in ends])
    return found


def grid_of(rank):
    """Return the weights of the grid in a cell, as shares of its corners."""
    if rank < len(FINE):
        return [[sum(column) for column in zip(*part)] for part in cells_of(rank, FINE[rank])]
    marks = [sorted(n * pow(61, k, 509) % 509 for k in range(rank)) for n in range(1, 509)]
    return [[b - a for a, b in pairwise((0, *own, 509))] for own in marks]


def inverse(rows):
    """Return the inverse of a matrix of fractions, and the size of its determinant."""
    n, size = len(rows), F(1)
    work = [[*row, *(F(k == r) for k in range(n))] for r, row in enumerate(rows)]
    for c in range(n):
        pivot = next(r for r in range(c, n) if work[r][c])
        work[c], work[pivot] = work[pivot], work[c]
        size *= abs(work[c][c])
        work[c] = [x / work[c][c] for x in work[c]]
        for r in range(n):
            if r != c:
                work[r] = [x - work[r][c] * y for x, y in zip(work[r], work[c])]
    return [row[n:] for row in work], size


def simplices_of(points):
    """Return simplices, by the numbers of points, that make up their hull, and their volumes."""
    start, columns, rows = [0], [], []
    for n, point in enumerate(points):  # the first ones that are not in the plane of those before
        rest = [x - y for x, y in zip(point, points[0])]
        for c, row in zip(columns, rows):
            rest = [x - rest[c] * y for x, y in zip(rest, row)]
        most = max(range(len(rest)), key=lambda d: abs(rest[d]))
        if abs(rest[most]) > NEAR:
            start, columns = [*start, n], [*columns, most]
            rows.append([x / rest[most] for x in rest])
    flat, found, borders = [[F(1), *(point[c] for c in columns)] for point in points], {}, {}

    def add(simplex):
        inverted, found[simplex] = inverse([flat[n] for n in simplex])
        for e, n in enumerate(simplex):
            facet = tuple(m for m in simplex if m != n)
            if borders.pop(facet, None) is None:  # else it is one of two simplices, and inside
                borders[facet] = [row[e] for row in inverted]

    add(tuple(start))
    for n in [n for n in range(len(points)) if n not in start]:
        for facet in [facet for facet, side in borders.items()
                      if sum(x * y for x, y in zip(side, flat[n])) < -NEAR]:
            add(tuple(sorted((*facet, n))))
    return found


def read_goal(proof, goal):
    """Read the vertices, and fix corners, cells and the shares of corners that make the grid."""
    rows, proof.share = [[F(w) for w in row] for row in goal["weights"]], F(goal["share"])
    good = 0 < len(rows) <= 64 and len(set(map(tuple, rows))) == len(rows)
    good = good and all(len(row) == proof.D and min(row) >= 0 for row in rows)
    good = good and all(abs(sum(row) - 1) <= F(1, 10**9) for row in rows)
    need(good and 0 < proof.share <= 1, "format", "no such set of weights")
    simplices = simplices_of(rows)
    rank = len(next(iter(simplices))) - 1
    parts = PARTS[rank] if rank < len(PARTS) else 1
    good = proof.version > 3 or len(rows) == rank + 1 <= 6
    need(good, "format", "no such set of weights in this version")
    inside, every = cells_of(rank, parts), range(len(rows))
    cells = [[tuple(dict(zip(own, corner)).get(n, 0) for n in every) for corner in cell]
             for own in simplices for cell in inside]
    corners = sorted({corner for cell in cells for corner in cell}, reverse=True)
    proof.cells = [[corners.index(corner) for corner in cell] for cell in cells]
    whole = sum(simplices.values()) * len(inside)
    proof.volumes = [volume / whole for volume in simplices.values() for _ in inside]
    proof.vertices = [c for c, shares in enumerate(corners) if max(shares) == parts]
    proof.corners = [[sum(k * w for k, w in zip(shares, column)) / parts
                      for column in zip(*rows)] for shares in corners]
    proof.grid = grid_of(rank)
    return [1] * proof.D


def by_arms(proof, lower, upper):
    """Return bounds of R_i . v - R_k . v from those of worths in each dim; None where none is."""
    def worths(ends):
        return [[None if any(w and abs(end) == INF for w, end in zip(v, row)) else
                 sum(w * F(end) for w, end in zip(v, row) if w) for row in ends]
                for v in proof.corners]

    least, most = worths(lower), worths(upper)

    def bound(v, i, k):
        low, high = least[v][i], most[v][k]
        return None if low is None or high is None else low - high
    return bound


def settle_map(proof, bound):
    """Return the statuses, once the weights of the grid that are mapped are those of the file."""
    groups, slack, size = range(proof.N), proof.epsilon[0], len(proof.grid)
    mapped = [set() for _ in groups]

    def ends(corners, i, k):
        return [-INF if (x := bound(v, i, k)) is None else x + slack for v in corners]

    for i in groups:
        for c, cell in enumerate(proof.cells):
            sides = []
            for k in groups:
                own = ends(cell, i, k) if k != i else [0]
                sides += [own] if min(own) < 0 else []
                if -INF in own or max(own) < 0:
                    break
            else:
                sides = [[int(x * math.lcm(*(y.denominator for y in side))) for x in side]
                         for side in sides]
                mapped[i].update(c * size + p for p, mix in enumerate(proof.grid) if all(
                    sum(n * x for n, x in zip(mix, side)) >= 0 for side in sides))
        for n, v in enumerate(proof.vertices if proof.share == 1 else ()):
            if all(i == k or ends([v], i, k)[0] >= 0 for k in groups):
                mapped[i].add(len(proof.cells) * size + n)
    above = lambda k, i, cell: all((x := bound(v, k, i)) is not None and x >= 0 for v in cell)
    never = [i for i in groups if all(any(k != i and above(k, i, cell) for k in groups)
                                      for cell in proof.cells)]
    inside = [i for i in groups if mapped[i] and (i not in never or i in proof.stated)]
    out = [i for i in never if i not in inside]
    points, some = len(proof.cells) * size, set().union(*mapped)
    whole = points + (len(proof.vertices) if proof.share == 1 else 0)
    share = sum(proof.volumes[p // size] for p in some if p < points) / size
    enough = len(some) == whole or (proof.share < 1 and share >= proof.share - NEAR)
    rest = [i for i in groups if i not in inside and i not in out]
    many = [[i, len(own)] for i, own in enumerate(mapped) if own]
    found = {"of": whole, "some": len(some), "groups": many}
    need(proof.mapped == found, "answer", f"other weights are mapped: {found}")
    return {"in": inside, "out": out, "not_needed": rest if enough else []}


def shares_of(proof, part):
    """Return the share of a comparison at a corner, and about what evidence takes."""
    N, method, others = proof.N, proof.method, len(proof.corners) - len(proof.vertices)
    counts = [(len(proof.vertices) if v in proof.vertices else others) * (2 if others else 1)
              for v in range(len(proof.corners))]
    alike = [F(1, max(N * (N - 1), 1) * count) for count in counts]
    usual = sum(log(part / (proof.delta * q)) for q in alike) / len(alike) + 3
    if method["budget"] == "equal":
        return lambda v, i, k: alike[v], usual
    some = {(v, i, k): F(q) for v, i, k, q in method["shares"]["some"]}
    rest = F(method["shares"]["rest"])
    good = all(i != k and v in range(len(counts)) and {i, k} <= set(range(N)) for v, i, k in some)
    good = good and len(some) == len(method["shares"]["some"])
    good = good and all(type(x) is int for key in some for x in key)
    used = sum(some.values()) + (len(counts) * N * (N - 1) - len(some)) * rest
    need(good and used <= 1 and min([rest, *some.values()]) >= 0, "shares", "more than delta")
    return lambda v, i, k: some.get((v, i, k), rest), usual


def settle(proof, bar):
    """Return the statuses that bounds in fixed directions give."""
    method, kinds, found, shared = proof.method, {n.kind for n in proof.noise}, {}, {}
    good = proof.goal == "map" and proof.independent and "gaussian" not in kinds
    need(good and method["budget"] in ("equal", "scouted"), "format", "no proof for this problem")
    need(method["process"] == {"name": "normal", "fixed_at": 0}, "parameters", "another process")
    known = kinds == {"subgaussian"}
    bounds = None if known else Worths(proof, method["boxes"])
    share_of, usual = shares_of(proof, 1 if known else 2)
    parts = [1] if method["budget"] == "scouted" else SEVERAL[0]

    def proves(e, v, g, x, y, *ranks):
        moment, weights = method["moments"][e], proof.corners[v]
        l, k = moment[:2]
        i, arms = method["leaders"][l]
        dims, size = [d for d, w in enumerate(weights) if w > 0], proof.sizes[k]
        good = type(l) is int and l >= 0 and 0 <= k < proof.N and len(arms) == proof.D
        good = good and all(type(j) is int and 0 <= j < proof.sizes[i] for j in arms)
        good = good and len(ranks) in (0, 2 * len(dims)) and 0 < y < INF and abs(x) < INF
        need(good, "claims", "no such claim")
        box = tuple(zip(ranks[::2], ranks[1::2])) or ((0, size),) * len(dims)
        need(all(a < b <= size for a, b in box), "claims", "an empty box")
        if (e, v) not in shared:
            shared.clear()
            shared[e, v] = against(proof, [i, arms], moment, 0, dict.fromkeys(
                proof.every_arm, 1), weights, usual)
        share = math.prod(arm_share(proof, i, d, arms[d]) for d in dims) * share_of(v, i, k)
        found.setdefault((e, v, i, k), []).append((box, F(x)))
        reached = log(parts[g]) + shared[e, v](g, y, F(x), box)
        return reached >= proof.level(share / (1 if known else 2))

    proof.check_claims(lambda *row: bounds.proves(*row) if bounds and len(row) == 6
                       else proves(*row), bar)
    best = {}
    for (_, v, i, k), boxes in found.items():
        if apart([box for box, _ in boxes], proof.sizes[k]):
            least = -max(x for _, x in boxes)
            best[v, i, k] = max(least, best.get((v, i, k), least))
    none = [[INF] * proof.D] * proof.N
    alone = by_arms(proof, *(bounds.worths()[:2] if bounds else (none, none)))

    def bound(v, i, k):
        values = [x for x in (best.get((v, i, k)), alone(v, i, k)) if x is not None]
        return max(values, default=None)
    return settle_map(proof, bound)
