"""Evidence on two arms: half-normal mixtures, and wealth of bets; used by verify_proof.py.

Wealth is computed in doubles; a level must be reached by 1e-9 (docs/proof-format.md, "Pairs").
"""

import math
from fractions import Fraction as F

import mpmath as mp
from verify_proof import need, psi, real, total

PARTS = [math.exp(-(((k + 0.5) / 4) ** 2) / 2) for k in range(12)]
WEIGHTS = [0.95 * part / sum(PARTS) for part in PARTS] + [0.005] * 8
CASH, SYMMETRIC = 0.01, [(1, 0.9), (0.25, 0.04), (4, 0.03), (1 / 64, 0.02)]


def normal_pair(gap, counts, q):
    """Return min_u psi(s_a u) + psi(s_b (gap - u)) less the costs: a convex function's minimum."""
    s = [n / mp.sqrt(n + p) for n, p in zip(counts, q)]
    low, high = -1 / s[1], gap + 1 / s[0]
    for _ in range(90):
        u = (low + high) / 2
        a, b = psi(s[0] * u), psi(s[1] * (gap - u))
        slope = s[0] * a[1] - s[1] * b[1]
        low, high = (low, u) if slope > 0 else (u, high)
    cost = sum(mp.log(1 + n / p) / 2 for n, p in zip(counts, q))
    return a[0] + b[0] - abs(slope) * (high - low) * 2 - cost


def by_scale(proof, d, columns, shift, scale, q):
    """Return the log of the evidence against mu_a + shift <= mu_b by half-normal mixtures."""
    means = [total(column) / len(column) for column in columns]
    gap = (proof.signs[d] * (means[0] - means[1]) + shift) / scale
    return normal_pair(real(gap), [len(column) for column in columns], [q, q]) if gap > 0 else -mp.inf


class Arm:
    """Values that count, mirrored for the lower arm of a pair, with their bets."""

    def __init__(self, gaussian, values, scale, most=math.inf):
        self.gaussian, self.values, self.scale = gaussian, values, scale
        self.bets = [min(scale * (k + 0.5) / 4, most) for k in range(12)] + [2.0**-k for k in range(1, 9)]

    def data(self, m):
        """Return the logs of the products of all bets at m; for symmetric noise two sums."""
        if self.gaussian:
            return [math.fsum(z - m for z in self.values), math.fsum((z - m) ** 2 for z in self.values)]
        return [math.fsum(math.log1p(bet * (u - m)) for u in self.values) if bet * m < 0.99 else None
                for bet in self.bets]

    def wealth(self, data, rates=None):
        """Return log K and its slope where the data change at these rates."""
        rates, terms = rates or [0.0] * len(data), []
        if self.gaussian:
            for scale, weight in SYMMETRIC:
                q = (self.scale * scale) ** -2
                both = data[1] + q
                z = data[0] / math.sqrt(both)
                value, slope = map(float, psi(mp.mpf(z)))
                drift = -rates[1] / both / 2 + slope * (rates[0] / math.sqrt(both) - z * rates[1] / both / 2)
                terms.append((value - math.log(both / q) / 2 + math.log(weight), drift))
        else:
            terms = [(value + math.log(weight), rate) for value, weight, rate
                     in zip(data, WEIGHTS, rates) if value is not None and rate is not None]
        most = max([math.log(CASH), *(value for value, _ in terms)])
        parts = [(math.exp(value - most), rate) for value, rate in terms]
        whole = math.exp(math.log(CASH) - most) + math.fsum(part for part, _ in parts)
        return most + math.log(whole) - 1e-9, math.fsum(p * r for p, r in parts) / whole


def wealth_pair(a, b, shift, level):
    """Return whether log K_a(x) + log L_b(x + s) reaches the level at every x, cell by cell."""
    alone, seen, left, right = level - math.log(CASH), {}, 0.0, 1.0 - shift

    def at(x):
        if x not in seen:
            seen[x] = a.data(x), b.data(-(x + shift) + (0 if a.gaussian else 1))
        return seen[x]

    def outwards(arm, side, way):
        mean = math.fsum(arm.values) / len(arm.values)
        reach, start = math.sqrt(arm.data(mean)[1]) / len(arm.values), -way * mean - shift * side
        tries = (start + way * reach * 1.25**k for k in range(60))
        return next((x for x in tries if arm.wealth(at(x)[side])[0] >= alone), way * math.inf)

    if a.gaussian:
        left, right = outwards(a, 0, -1), outwards(b, 1, 1)
    if math.isinf(left) or math.isinf(right) or not left < right:
        return math.isfinite(left - right) if a.gaussian else shift > 1
    cells, looked = [(left, right)], 0
    while cells:
        (x, y), looked = cells.pop(), looked + 1
        if a.wealth(at(y)[0])[0] >= alone or b.wealth(at(x)[1])[0] >= alone:
            continue
        rates = [[None if None in (p, q) else (q - p) / (y - x) for p, q in zip(*both)]
                 for both in zip(at(x), at(y))]
        (low, fall), (high, rise) = ([sum(pair) for pair in zip(*(arm.wealth(data, rate) for arm, data, rate
                                      in zip((a, b), at(end), rates)))] for end in (x, y))
        bound = min(low, high)
        if fall < 0 < rise:  # between the ends it lies above where the tangents cross
            t = (low - high + rise * (y - x)) / (rise - fall)
            bound = min(bound, low + fall * min(max(t, 0), y - x))
        if bound < level:
            middle = (x + y) / 2
            here = a.wealth(at(middle)[0])[0] + b.wealth(at(middle)[1])[0]
            if here < level or looked > 3000 or y - x < 1e-9 * (right - left):
                return False
            cells += [(middle, y), (x, middle)]
    return True


def unit_of(column):
    n = 4
    while n <= len(column) and len(set(column[:n])) == 1:
        n += 1
    need(n < len(column), "claims", "no value of an arm counts yet")
    mean = total(column[:n]) / n
    return n, float(mp.sqrt(real(sum((F(x) - mean) ** 2 for x in column[:n]) / (n - 1))))


def by_bets(proof, d, columns, shift, level, bets, most=(math.inf, math.inf)):
    """Return whether wealth of bets refutes mu_a + shift <= mu_b."""
    gaussian, arms = proof.noise[d]["kind"] == "gaussian", []
    low, high, width = proof.low[d], proof.high[d], 1 if gaussian else proof.high[d] - proof.low[d]
    for column, sign, bet, top in zip(columns, (proof.signs[d], -proof.signs[d]), bets, most):
        least = 0 if gaussian else low if sign > 0 else -high
        values = [sign * x for x in column] if gaussian else [float((sign * F(x) - least) / width) for x in column]
        arms.append(Arm(gaussian, values, bet, top))
    return wealth_pair(*arms, float(shift / width), float(level))


def usual_shares(proof):
    """Return the shares of over, won and stale that are fixed beforehand: equal ones, and those of TE+."""
    sizes, D, A, N = proof.sizes, proof.D, proof.A, proof.N
    equal = [[F(1, N * max(A - k, 1)) for k in sizes], [F(1, N * D * k) for k in sizes], [F(0)] * N]
    spare = sum(D * (k - 1) for k in sizes)
    tenth = F(0.1) if spare else F(0)
    over, won, stale = (1 - tenth) / max(sum(A - k for k in sizes), 1), F(1, D * A), tenth / max(spare, 1)
    used = sum(max(D * k * won, (A - k) * over + D * (k - 1) * stale) for k in sizes)
    return equal, [[F(math.floor(p / used * 2**40), 2**40)] * N for p in (over, won, stale)]
