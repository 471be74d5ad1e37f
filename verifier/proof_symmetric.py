"""Evidence against selections on normal values of which no scale is known.

Bets by symmetry of the noise, within bounds of single arms: of the means that a null allows only
those count that are not below a lower bound of an arm of the leader, nor above an upper one of an
arm of the rival.
"""

from fractions import Fraction as F
from functools import cache
from math import erfc, exp, log, log1p, pi, sqrt

from proof_pairs import CASH, SYMMETRIC, unit_of
from verify_proof import Bounds, Side, log_sum, need, psi, squares, total


class Tails:
    """Bounds of single arms, which have a quarter of delta: an eighth for each side."""
    def __init__(self, proof):
        boxes, all_of_them = proof.method["boxes"], 8 * proof.A * proof.D
        shares = F(1, all_of_them), F(1, 8 * proof.D)
        good = boxes["budget"] == "fixed"
        good = good and (F(*boxes["low"]), F(*boxes["high"])) == shares
        need(good, "parameters", "shares that are not fixed beforehand")
        self.sides = [Bounds(proof, boxes, dict.fromkeys(proof.every_arm, own)) for own in shares]

    def proves(self, i, j, d, side, n, m):
        return self.sides[side].proves(i, j, d, side, n, m)

    def end(self, arm, d, side):
        found = self.sides[side].ends[side]
        need((*arm, d) in found, "claims", "an arm has no bound: that stands before what needs it")
        return found[(*arm, d)]


def log_wealth(s, v, laws, fall, rise):
    """Return log K by the sums s and v of z - m and of its square, and its slope along a cell."""
    logs, slopes = [log(CASH)], [0.0]
    for w, q in laws:
        root = sqrt(v + q)
        z = s / root
        steep = z + sqrt(2 / pi) * exp(-z * z / 2) / erfc(-z / sqrt(2))  # psi'
        logs.append(log(w) + psi(z) - log1p(v / q) / 2)
        slopes.append(-rise / root**2 / 2 + steep * (fall - z * rise / root / 2) / root)
    top = log_sum(logs)
    return top, sum(exp(x - top) * slope for x, slope in zip(logs, slopes))


def chain(side, end, laws):
    """Return corners (m, value) of a chain below log K from `end` on; beyond the last is cash.

    On a cell the sum of squares is below its chord, and with that the log of K is convex: it lies
    above its tangents at both ends, which cross once.
    """
    mean, error = float(side.mean), sqrt(side.spread) / side.n
    far = [9 * 1.5**k for k in range(6, 0, -1)] + [9 - k / 2 for k in range(23)]
    ends = [end, *(x for x in (mean - away * error for away in far) if x > end)]
    sums = [(side.away(x), side.spread + side.away(x) ** 2 / side.n) for x in ends]
    found = [(ends[-1], log(CASH))]
    for x, y, (s, v), (s_y, v_y) in zip(ends, ends[1:], sums, sums[1:]):
        if y > x:
            fall, rise = (s_y - s) / (y - x), (v_y - v) / (y - x)
            (v0, s0), (v1, s1) = (log_wealth(*at, laws, fall, rise) for at in ((s, v), (s_y, v_y)))
            t = min(max((v0 - v1 + s1 * (y - x)) / (s1 - s0), 0.0), y - x) if s1 > s0 else 0.0
            found += [(x, v0), (x + t, min(v0 + s0 * t, v1 - s1 * (y - x - t))), (y, v1)]
    return found


def terms(proof, i, spans, bounds):
    """Return what an arm subtracts that serves some dims, by part and tilt; i is the leader's."""
    weights = [float(w) for w in proof.weights]
    zero = {d: float(total(proof.column(arm, d, b)[a:]) / (b - a))
            for arm, (a, b) in spans.items() if arm[0] == i for d in range(proof.D)}

    @cache
    def known(arm):
        """Return of each dim how many values do not count, the unit they show, and the part."""
        a, b = spans[arm]
        columns = [proof.column(arm, d, b) for d in range(proof.D)]
        if a:  # an arm of a leader that was named on the way
            good = a >= 4 and all(len(set(own[:a])) > 1 for own in columns)
            need(good, "claims", "an arm of the leader showed no unit when it was named")
            found = [(a, sqrt(squares(own[:a]) / (a - 1))) for own in columns]
        else:
            found = [unit_of(own) for own in columns]
        at_once = a or all(n == 4 for n, _ in found)
        return [(n, u, w * (u if at_once else 1)) for (n, u), w in zip(found, weights)]

    @cache
    def corners(part, arm, d):
        n, unit, _ = known(arm)[d]
        rival = arm[0] != i
        turn, laws = -1 if rival else 1, [(w, (unit / (c * 2 ** (-1.5 * part))) ** 2)
                                          for w, c in SYMMETRIC]
        side = proof.side(arm, d, turn, spans[arm][1], n)
        found = chain(side, turn * bounds.end(arm, d, int(rival)), laws)
        return [(m - turn * zero[d], value) for m, value in found]

    @cache
    def corners_of_sums(part, arm):
        """Return the same of the weighted sums of all dims about `zero`, each rounded once."""
        rival, dims = arm[0] != i, range(proof.D)
        turn, (a, b), side = -1 if rival else 1, spans[arm], int(rival)
        columns = [[F(y) - F(zero[d]) for y in proof.column(arm, d, b)] for d in dims]
        sums = [float(sum(w * y for w, y in zip(proof.weights, row))) for row in zip(*columns)]
        need(not a or a >= 4 and len(set(sums[:a])) > 1, "claims", "no unit when it was named")
        n, unit = (a, sqrt(squares(sums[:a]) / (a - 1))) if a else unit_of(sums)
        need(n < b, "claims", "no value of an arm counts yet")
        end = sum(w * (F(bounds.end(arm, d, side)) - F(zero[d]))
                  for d, w in enumerate(proof.weights))
        laws = [(w, (unit / (c * 2 ** (-1.5 * part))) ** 2) for w, c in SYMMETRIC]
        return chain(Side(proof.noise[0], sums[n:], turn), float(turn * end), laws)

    summed = proof.method["process"]["name"].endswith(" and sums")

    def term(part, y, arm, served):
        if summed and len(served) == proof.D:
            return max(-y * m - value for m, value in corners_of_sums(part, arm))
        parts, found = known(arm), 0.0
        for d in served:
            theta = parts[d][2] / sum(parts[e][2] for e in served)
            theta = 1.0 if proof.independent_dims else theta
            t = y * weights[d] / theta
            found += theta * max(-t * m - value for m, value in corners(part, arm, d))
        return found
    return term
