"""The best group, and the m best groups, of independent arms (the method "selections").

A selection names an arm of a group for each dim. Leaders bet against all selections of a group at
once: the evidence is bounded from below by weak duality, for a tilt y that the file states.
"""

import math
from fractions import Fraction as F
from functools import cache
from importlib import import_module
from math import log, log1p, sqrt
from types import SimpleNamespace

from proof_pairs import CASH, costs_of, twenty_bets
from verify_proof import INF, RANGE, Side, log_sum, need, psi, squares, statuses, total, weighted

SEVERAL = ([w / 12 for w in (1, 3, 3, 3, 1, 1)],
           [w / 300 for w in (40, 60, 60, 60, 40, 20, 10, 5, 3, 2)])  # normal parts, bets


def conjugate(t):
    """Return psi*(t), the largest t x - psi(x), by halving where that concave function is."""
    low, high = -1 / t, t
    for _ in range(120):
        a, b = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (a, high) if t * a - psi(a) < t * b - psi(b) else (low, b)
    return t * low - psi(low) + 1e-12


def corners(side, bets):
    """Return points (v, value) of a chain below log K, K the wealth at v in [0, 1].

    On a cell the log of a product is above its chord, the log of a sum of exponentials of chords is
    convex, and so above its tangents at both ends, which cross once.
    """
    mean, found = float(side.share(side.mean)), []
    p, spread = (mean * side.n + 1) / (side.n + 2), 0.01
    spread += sum(k * (u - mean) ** 2 for u, k in side.kept.items())
    error = sqrt(p * (1 - p) / side.n if set(side.kept) <= {0, 1} else spread / side.n**2)
    ends = sorted({0.0, 1.0, *(min(max(mean + k * error / 2, 0.0), 1.0) for k in range(-17, 5))})
    logs = [[log(CASH), *side.products(v, bets)] for v in ends]
    for x, y, left, right in zip(ends, ends[1:], logs, logs[1:]):
        chords = [(a, b) for a, b in zip(left, right) if min(a, b) > -INF]
        (v0, s0), (v1, s1) = ((top, sum(math.exp(pair[end] - top) * (pair[1] - pair[0])
                              for pair in chords) / (y - x)) for end in (0, 1)
                              for top in [log_sum([pair[end] for pair in chords])])
        t = min(max((v0 - v1 + s1 * (y - x)) / (s1 - s0), 0.0), y - x) if s1 > s0 else 0.0
        found += [(x, v0), (x + t, min(v0 + s0 * t, v1 - s1 * (y - x - t))), (y, v1)]
    return found


def largest_bet(noise, column):
    """Return the largest tuned bet on an arm of a leader, from its values before it was named."""
    n = len(column)
    mean = float((total(column) / n - noise.least) / noise.width)
    p, spread = (mean * n + 1) / (n + 2), squares(column) / float(noise.width) ** 2
    error = p * (1 - p) / n if noise.kind == "bernoulli" else (spread + 0.01) / n**2
    return 0.95 / (mean + sqrt(error))


def sums(proof, arm, n):
    """Return the weighted sums of the dims of an arm's first n values, each rounded once."""
    columns = [list(map(F, proof.column(arm, d, n))) for d in range(proof.D)]
    return [float(sum(w * y for w, y in zip(proof.weights, row))) for row in zip(*columns)]


def sum_noise(proof):
    """Return what is known of weighted sums: their range."""
    least = sum(w * n.least for w, n in zip(proof.weights, proof.noise))
    width = sum(w * n.width for w, n in zip(proof.weights, proof.noise))
    return SimpleNamespace(kind="bounded", least=least, width=width, scale=width / 2)


def against(proof, leader, moment, kind, fine, weights, usual, bounds=None, measured=None):
    """Return the evidence of a leader at a moment, by part, tilt, slack and box of selections.

    Dims without weight do not count; `usual` is about what evidence takes, where a run scouted;
    `bounds` are those within which evidence by symmetry is; `measured` are leaders that are groups.
    """
    (_, k, own, other), (i, arms, *rest) = moment, leader
    dims, scouted = [d for d, w in enumerate(weights) if w > 0], proof.method["budget"] == "scouted"
    starts = proof.method["before"] if scouted else [[0] * size for size in proof.sizes]
    before = rest[0][i] if rest else starts[i]
    need(i != k and len(other) == proof.sizes[k], "claims", "no moment")
    spans = {(k, j): (a, n) for j, (a, n) in enumerate(zip(starts[k], other))}
    if measured is None:
        need(len(own) == proof.D, "claims", "no moment")
        spans.update({(i, arms[d]): (before[arms[d]], own[d]) for d in dims})
        need(all(spans[i, arms[d]][1] == own[d] for d in dims), "claims", "two counts of an arm")
    need(all(type(a) is int and 0 <= a < b for a, b in spans.values()), "claims", "no values")
    summed = proof.method["process"]["name"].endswith(" and sums")
    hefts = [w * (n.width if kind else n.scale) for w, n in zip(weights, proof.noise)]
    mean = {(arm, d): total(proof.column(arm, d, b)[a:]) / (b - a) * weights[d]
            for arm, (a, b) in spans.items() for d in dims}
    lead_term, centre = measured.at(moment) if measured else (
        lambda part, y: sum(term(part, y, (i, j), tuple(d for d in dims if arms[d] == j))
                            for j in {arms[d] for d in dims}),
        {d: mean[(i, arms[d]), d] for d in dims})
    ranked = {d: sorted(range(proof.sizes[k]), key=lambda j: (-mean[(k, j), d], j)) for d in dims}

    @cache
    def chain(part, arm, d):
        """Return the corners of an arm in a dim, or in the weighted sum of all dims (d = D)."""
        (a, b), turn = spans[arm], 1 if arm[0] == i else -1
        noise, column = ((sum_noise(proof), sums(proof, arm, b)) if d == proof.D
                         else (proof.noise[d], proof.column(arm, d, b)))
        most = largest_bet(noise, column[:a]) if a else INF
        return corners(Side(noise, column[a:], turn), twenty_bets(4 * 2 ** (-1.5 * part), most))

    def term(part, y, arm, served):
        turn, (a, b), q = 1 if arm[0] == k else -1, spans[arm], 8 ** (part + 1) * fine[arm]
        q = max(1.0, 8 * a / usual) if scouted else q
        whole = sum(hefts[d] for d in served)
        if kind == 0:
            size = sqrt(sum(hefts[d] ** 2 for d in served)) if proof.independent_dims else whole
            ahead = sum(mean[arm, d] - centre[d] for d in served)
            steep = y * float(size) * sqrt(b - a + q) / (b - a)
            return turn * y * float(ahead) + conjugate(steep) + log1p((b - a) / q) / 2
        found = 0.0
        if summed and len(served) == proof.D:
            t = y * float(whole)
            return max(-t * v - value for v, value in chain(part, arm, proof.D)) + t * (turn > 0)
        for d in served:
            t = y * float(hefts[d] if proof.independent_dims else whole)
            worst = max(-t * v - value for v, value in chain(part, arm, d))
            found += (worst + t * (turn > 0)) * y * float(hefts[d]) / t
        return found

    if kind == 2:
        term = import_module("proof_symmetric").terms(proof, i, spans, bounds)

    def evidence(part, y, slack, box):
        left_over = {d: ranked[d][slice(*box[n])] for n, d in enumerate(dims)}
        bound = [(d, e) for d in dims for e in dims  # one arm must serve both
                 if (summed or proof.version > 3) and len(left_over[d]) == 1
                 and left_over[d] == left_over[e]]

        def can_serve(j, served):
            """Return whether a selection of the box can have arm j for these dims and no others."""
            together = all((d in served) == (e in served) for d, e in bound)
            return together and all(j in left_over[d] for d in served)

        best = cache(lambda served: max((term(part, y, (k, j), served) for j, _ in enumerate(other)
                                         if can_serve(j, served)), default=-INF))

        @cache
        def worst(left):
            """Return the largest sum over splits of dims into sets, each with its worst arm."""
            sets = [(left[0], *(d for n, d in enumerate(left[1:]) if mask >> n & 1))
                    for mask in range(1 << len(left) >> 1)]
            sums = (best(s) + worst(tuple(d for d in left if d not in s)) for s in sets)
            return max(sums) if left else 0.0

        return y * float(slack) - lead_term(part, y) - worst(tuple(dims))
    return cache(evidence)


def arm_share(proof, i, d, j):
    """Return the share of an arm among those of its group: alike, or by the values of scouting."""
    if proof.method["budget"] != "scouted":
        return F(1, proof.sizes[i])
    counts = proof.method["before"][i]
    need(all(type(n) is int and n > 0 for n in counts), "parameters", "an arm without values")
    means = [total(proof.column((i, k), d, n)) / n for k, n in enumerate(counts)]
    behind = [float((max(means) - mean) / proof.noise[d].scale) for mean in means]
    logs = [-n * z * z / 2 for n, z in zip(counts, behind)]
    return F(0.9 * math.exp(logs[j] - log_sum(logs)) + 0.1 / len(counts))


def apart(boxes, size):
    """Return whether boxes do not overlap and hold all selections of a group of so many arms."""
    volume = sum(math.prod(b - a for a, b in box) for box in boxes)
    return volume == size ** len(boxes[0]) and all(
        any(b <= c or d <= a for (a, b), (c, d) in zip(one, two))
        for n, one in enumerate(boxes) for two in boxes[:n])


def top_shares(proof, part):
    """Return the share of a comparison of a leader, by its arms, with a group."""
    method, N = proof.method, proof.N
    share, rest = {}, F(1, proof.top * max(N - proof.top, 1))
    if method["budget"] == "scouted":
        share = {(i, k): F(q) for i, k, q in method["shares"]["pairs"]}
        rest = F(method["shares"]["rest"])
        good = sum(share.values()) + (N * (N - 1) - len(share)) * rest <= 1
        good = good and len(share) == len(method["shares"]["pairs"])
        good = good and min([0, *share.values()]) >= 0
        good = good and all(0 <= i != k >= 0 for i, k in share) and rest >= 0
        need(good, "shares", "those of comparisons add up to more than 1")

    def of(l, k):
        i, chosen, *_ = method["leaders"][l]
        own = math.prod(arm_share(proof, i, d, j) for d, j in enumerate(chosen))
        return own * share.get((i, k), rest) / part
    return of


def check_leaders(proof, behind):
    """Refuse a leader that did not lead by the values up to the counts when it was named."""
    last = [[1] * size for size in proof.sizes]
    for l, (i, arms, *counts) in enumerate(proof.method["leaders"]):
        good = len(arms) == proof.D and 0 <= min(arms) <= max(arms) < proof.sizes[i]
        need(good, "parameters", "a leader has an arm for each dim")
        if proof.method["budget"] != "leaders":
            continue
        need(all(type(n) is int and n >= m for own, least in zip(counts[0], last)
                 for n, m in zip(own, least)), "parameters", "leaders are not one after the other")
        means = [[[w * total(proof.column((k, j), d, counts[0][k][j])) / counts[0][k][j]
                   for j in range(size)] for d, w in enumerate(proof.weights)]
                 for k, size in enumerate(proof.sizes)]
        worth, last = [sum(map(max, own)) for own in means], counts[0]
        gone = {k for m, k in behind if m < l} - {i}
        left = [w for k, w in enumerate(worth) if k not in gone]
        best = all(own[j] >= max(own) - abs(max(own)) / 10**9 for own, j in zip(means[i], arms))
        good = worth[i] >= max(left) - abs(max(left)) / 10**9 and (best or "costs" in proof.method)
        need(good, "parameters", f"leader {l} is not the one that led")


def settle(proof, bar):
    """Return the statuses that evidence of leaders against all selections of groups gives."""
    method, weights, found, shared = proof.method, proof.weights, {}, {}
    ranges, union = all(n.kind in RANGE for n in proof.noise), method["budget"] == "union"
    kinds, top = {n.kind for n in proof.noise}, proof.goal == "top"
    good = proof.goal in ("best", "top") and proof.plain and proof.independent
    known = kinds == {"subgaussian"} and proof.version > 3  # noise that is measured
    budgets = ("equal", "scouted") if top else ("union", "leaders", *["measured"] * known)
    late = proof.version > (3 if union else 2)
    symmetric = kinds == {"gaussian"} and not top and late
    good = good and ("gaussian" not in kinds or symmetric)
    good = good and (union or top or ranges or symmetric or kinds == {"subgaussian"})
    need(good and method["budget"] in budgets, "format", "no proof for this problem")
    name = ("normal and bets" if union else "bets") if ranges and not top else "normal"
    name = "symmetric" if symmetric else name
    if not top and name != "normal" and proof.D > 1 and late:
        name += " and sums" * (method["process"]["name"] == name + " and sums")
    bounds = (import_module("proof_worths").Worths(proof, method["boxes"])
              if top and kinds != {"subgaussian"} else
              import_module("proof_symmetric").Tails(proof) if symmetric else None)
    share_of = top_shares(proof, 1 if bounds is None else 2) if top else lambda l, k: (
        F(3 if symmetric else 4, 4 * (everyone if union else (l + 1) * (l + 2))))
    need(method["process"] == {"name": name, "fixed_at": 0}, "parameters", "another process")
    costs = costs_of(proof)
    mean = math.exp(sum(map(log, costs.values())) / proof.A)
    fine = {arm: mean / cost for arm, cost in costs.items()}
    pairs = proof.top * max(proof.N - proof.top, 1)  # about what evidence takes:
    usual = log((1 if kinds == {"subgaussian"} else 2) * pairs / proof.delta) + 3
    measured = None
    if method["budget"] == "measured":
        measured = import_module("proof_measured").Leaders(proof, fine)
        share_of = lambda l, k: measured.shares[l]
    everyone = sum(size**proof.D for size in proof.sizes) * (2 if ranges else 1)

    def proves(e, slack, kind, g, *rest):
        moment, ranks = method["moments"][e], rest[3:]
        l, k, size = moment[0], moment[1], proof.sizes[moment[1]]
        good = ("normal", "bets", "symmetric")[kind] in name
        good = good and type(l) is int and l >= 0 and slack < 2
        need(good and len(ranks) in (0, 2 * proof.D), "claims", "no such claim")
        box = tuple(zip(ranks[::2], ranks[1::2])) or ((0, size),) * proof.D
        need(all(a < b <= size for a, b in box), "claims", "an empty box")
        found.setdefault((l, k, slack, e), []).append(box)
        if (e, kind) not in shared:
            shared.clear()
            shared[e, kind] = against(
                proof, method["leaders"][l], moment, kind, fine, weights, usual, bounds, measured)
        level = proof.level(share_of(l, k))
        room = proof.epsilon[0] * sum(weights) * slack
        tilts = [(g - 1 + n, y) for n, y in enumerate(rest[:3]) if y != 0]
        good = all(part >= 0 and 0 < y < INF for part, y in tilts)
        need(good and g < 10, "claims", "no such part of the process, or no tilt")
        parts = [1] if method["budget"] == "scouted" else SEVERAL[min(kind, 1)]
        parts = measured.parts if measured else parts
        return log_sum([log(parts[part]) + shared[e, kind](part, y, room, box)
                        for part, y in tilts]) >= level

    either = lambda *row: bounds.proves(*row) if bounds and len(row) == 6 else proves(*row)
    proof.check_claims(either, bar)
    whole = set()
    for (l, k, slack, _), boxes in found.items():
        if apart(boxes, proof.sizes[k]):
            whole.add((l, k, slack))
    check_leaders(proof, {(l, k) for l, k, _ in whole})
    behind = {k for _, k, slack in whole if slack == 0}
    lead = [i for i, *_ in method["leaders"]]
    if top:
        rows = bounds.worths() if bounds else ([[INF] * proof.D] * proof.N,) * 2
        least, most = (weighted(proof, ends) for ends in rows[:2])
        near, above = ({(lead[l], k) for l, k, s in whole if s <= slack} for slack in (1, 0))
        return import_module("proof_worths").settle_top(proof, least, most, near, above)
    near = {i: {k for l, k, _ in whole if lead[l] == i} for i in lead}
    if proof.epsilon[0] == 0:  # a group that is behind anyone is not the only best one
        lead, near = [i for i in lead if i not in behind], dict.fromkeys(lead, behind)
    good = [i for i in lead if len(near[i] - {i}) == proof.N - 1]
    return statuses(proof, good[-1:], behind)
