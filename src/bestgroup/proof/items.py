"""Proofs on shared items: differences of two arms on the same items, in one order (docs/theory.md 9).

*items*, for Pareto groups. A claim is [kind, i, m, j, k, d, t]: kinds and shares are those of `pairs`; by
the first t items of the order, which both arms have passed, the pair process has refuted mu_im + s <=
mu_jk in dim d, or the pool has made it impossible. *pool*: every arm has passed all items; groups are
compared by definition, and no claim is needed.

The order is `given`, and then assumed to have been drawn before there were values, or that of the SHA-256
of the items' names. An arm counts up to the first item of the order that it lacks.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from bestgroup.proof.boxes import Tick
from bestgroup.proof.format import Proof, Refused, integers
from bestgroup.proof.goals import Status
from bestgroup.proof.intervals import Interval, down, interval, up
from bestgroup.proof.item_units import Units, units_of
from bestgroup.proof.noise import RANGED, number
from bestgroup.proof.observations import Observations
from bestgroup.proof.pairs import STALE, WON, conclude, shares_of_groups

DRAWN, UNSEEN = 10, Fraction(5, 1000)
RESERVE, SPARE = 12, Fraction(5, 100)
NEAR = Fraction(1, 10**9)
PROCESS = {"largest": 32.0, "ratio": 2.0, "main": 12, "cap": 0.98, "plug": 0.7, "fixed_at": 0}

# Of arm (i, j): a row of values for each item; means of repeats are exact.
Table = dict[tuple[int, int], list[list[float | Fraction]]]


class Rule(NamedTuple):
    """How differences are bet on."""

    pool: int  # how many items it has; 0 for independent draws
    bets: list[Fraction]  # in units of 1 / r
    weights: list[Fraction]
    cap: Fraction
    plug: Fraction


class Difference(NamedTuple):
    """A claim on differences."""

    values: list[Fraction]
    shift: Fraction
    reach: Fraction
    need: Fraction  # 1 / alpha
    strict: bool


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what the claims on shared items say, once each of them is checked."""
    if not (proof.goal.by_pairs(proof) and proof.plain):
        raise Refused("format", "this method is for Pareto groups, worth their best arms")
    shares = shares_of_groups(proof)
    units = units_of(proof, rows)
    rule = rule_of(proof, units)
    table = table_of(proof, rows, units)
    covered: tuple[set[tuple[int, ...]], ...] = (set(), set(), set())
    for c, row in enumerate(proof.claims):
        try:
            kind, i, m, j, k, d, t = _claim(proof, row)
            share = shares[kind][i if kind == WON else j]
            arms = [table.get(arm, [])[:t] for arm in ((i, m), (j, k))]
            if kind == STALE or not share or min(map(len, arms)) < t:
                raise ValueError("no share, or an arm has passed fewer items")
            need = 1 / (proof.delta * share)
            good = proves(rule, _difference(proof, units, arms, kind, d, need))
        except ValueError as error:
            raise Refused("claims", str(error), c) from None
        if not good:
            raise Refused("claims", "the pair process has not reached its level", c)
        covered[kind].add((i, j, d, k))
        tick(c + 1)
    return conclude(proof, covered)


def _claim(proof: Proof, row: list[Any]) -> list[int]:
    N, D, most = len(proof.groups), len(proof.dims), 10**12
    if len(row) != 7:
        raise ValueError("a claim must be [kind, i, m, j, k, d, t]")
    found = integers(row, (2, N, most, N, most, D, most))
    _, i, m, j, k, _, t = found
    if i == j or m >= proof.sizes[i] or k >= proof.sizes[j] or t < 1:
        raise ValueError("there is no such pair of arms of two groups, or no item")
    return found


def reach_of(proof: Proof, d: int) -> Fraction:
    """Return by how much two values on one item can differ."""
    noise = proof.noise[d]
    if noise.kind not in RANGED:
        raise Refused("format", "shared items need a range of the values")
    width = Fraction(noise.high) - Fraction(noise.low)
    return width if noise.difference is None else min(width, Fraction(noise.difference))


def _difference(
    proof: Proof,
    units: Units,
    arms: list[list[list[float | Fraction]]],
    kind: int,
    d: int,
    need: Fraction,
) -> Difference:
    sign, reach = proof.signs[d], reach_of(proof, d)
    values = [sign * (Fraction(a[d]) - Fraction(b[d])) for a, b in zip(*arms, strict=True)]
    # A declared difference is held to up to the rounding of the values themselves.
    shift = Fraction(proof.epsilon[d]) if kind == WON else Fraction(0)
    return Difference(*units.placed(values, shift, reach), need, kind != WON)


def rule_of(proof: Proof, units: Units, usual: dict[str, float] = PROCESS) -> Rule:
    """Return the bets; refuses what is no proof or not fixed before the first item."""
    try:
        given = proof.method["process"]
        pool = proof.method["count"] if proof.method["target"] == "pool" else 0
        (main,) = integers([given["main"]], (10**4,))
        if proof.method["target"] not in ("pool", "population") or given["fixed_at"] != 0:
            raise ValueError("the target, or that bets are fixed before the first item")
        largest, ratio = Fraction(number(given["largest"])), Fraction(number(given["ratio"]))
        cap, plug = Fraction(number(given["cap"])), Fraction(number(given["plug"]))
        if given != usual:
            raise ValueError("the bets are not those that are fixed beforehand")
        if not (main >= 1 and largest > 0 and ratio > 0 and 0 < cap < 1 and 0 <= plug < 1):
            raise ValueError("bets must be positive, their cap below 1")
        if type(pool) is not int or pool < 0 or (proof.method["target"] == "pool" and not pool):
            raise ValueError("a pool has a number of items")
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("parameters", f"the bets cannot be read ({error})") from None
    pool = len(units.names) if pool and units.clustered else pool
    kept = main if pool else main + RESERVE
    bets = [largest / ratio**k for k in range(kept)]
    weights = [Fraction(1, main)] * main
    if not pool:
        weights = [(1 - SPARE) / main] * main + [SPARE / RESERVE] * RESERVE
    return Rule(pool, bets, [(1 - plug) * w for w in weights], cap, plug)


def proves(rule: Rule, claim: Difference) -> bool:
    """Return whether the differences prove a claim: at some item, or because the pool ends."""
    wealth = [1.0] * (len(rule.bets) + 1)
    return grows(rule, wealth, claim, 0) or certain(rule, claim)


def grows(rule: Rule, wealth: list[float], claim: Difference, first: int) -> bool:
    """Return whether the wealth is ever enough on the items from `first` on; it goes on in place."""
    weights = [interval(w).low for w in (*rule.weights, rule.plug)]
    bets = [interval(b / claim.reach) for b in rule.bets]
    need, before = up(interval(claim.need).high), claim.values[:first]
    total, square = sum(before, Fraction(0)), sum((x * x for x in before), Fraction(0))
    for done, value in enumerate(claim.values[first:], start=first):
        mean = -claim.shift
        if rule.pool:
            if done >= rule.pool:
                raise ValueError("there are more items than the pool has")
            mean = (-rule.pool * claim.shift - total) / (rule.pool - done)
        if mean < -claim.reach:
            return True
        if mean < claim.reach:
            _bet(rule, wealth, bets, value - mean, mean, done, (total, square), claim)
            pooled = sum(down(w * x) for w, x in zip(weights, wealth, strict=True))
            if pooled * (1.0 - 1e-13) >= need:
                return True
        total, square = total + value, square + value * value
    return False


def certain(rule: Rule, claim: Difference) -> bool:
    """Return whether no rest of a pool can make the null true: at its end, or before."""
    count, total = len(claim.values), sum(claim.values, Fraction(0))
    if rule.pool and count == rule.pool:
        slack = rounding(count, claim.shift, claim.reach)
        excess = total + count * claim.shift
        return excess > slack if claim.strict else excess >= -slack
    if rule.pool:
        return -rule.pool * claim.shift - total < -claim.reach * (rule.pool - count)
    return False


def rounding(count: int, shift: Fraction, reach: Fraction) -> Fraction:
    """Return the difference of two sums over a pool that counts as none."""
    return (reach * count * (count + 32) + 8 * count * abs(shift)) / 2**52


def _bet(
    rule: Rule,
    wealth: list[float],
    bets: list[Interval],
    away: Fraction,
    mean: Fraction,
    done: int,
    sums: tuple[Fraction, Fraction],
    claim: Difference,
) -> None:
    """Multiply the wealth of every bet by its factor, rounded down."""
    top = rule.cap / max(claim.reach + mean, NEAR * claim.reach)
    cap, gain = interval(top), interval(away)
    stretch = interval(Fraction(rule.pool, rule.pool - done)) if rule.pool else interval(1.0)
    for k, bet in enumerate(bets):
        size = bet * stretch
        size = Interval(min(size.low, cap.low), min(size.high, cap.high))
        wealth[k] = max(down(wealth[k] * (1.0 + size * gain).low), 0.0)
    if rule.plug:
        size = interval(min(_suggested(done, sums, mean, claim), top))
        wealth[-1] = max(down(wealth[-1] * (1.0 + size * gain).low), 0.0)


def _suggested(
    done: int, sums: tuple[Fraction, Fraction], mean: Fraction, claim: Difference
) -> Fraction:
    """Return the bet that the items before suggest."""
    total, square = sums
    gap = (total - DRAWN * claim.shift) / (done + DRAWN) - mean
    if gap <= 0:
        return Fraction(0)
    rest = max(Fraction(0), square - total * total / max(1, done))
    variance = (DRAWN * UNSEEN * claim.reach**2 + rest) / (done + DRAWN)
    return gap / (variance + gap * gap)


def table_of(proof: Proof, rows: Observations, units: Units) -> Table:
    """Return each arm's sums over the units of the order, up to the first one with an item that it lacks."""
    repeats = proof.method.get("repeats", 1)
    if type(repeats) is not int or repeats < 1:
        raise Refused("format", "it must be told how many rows an arm has for an item")
    found: Table = {}
    for i, names in enumerate(proof.arms):
        for j, name in enumerate(names):
            key = proof.groups[i], name
            at: dict[str, list[int]] = {}
            for n, item in enumerate(rows.items.get(key, [])):
                at.setdefault(item, []).append(n)
            if any(len(own) != repeats for own in at.values()):
                words = "another number of rows for an item than was fixed"
                raise Refused("data", f"{key[0]}, {key[1]} has {words}")
            columns, passed = rows.values.get(key, []), []
            for own in units.members:
                if not all(item in at for item in own):
                    break
                passed.append([_sum_of(column, [at[item] for item in own]) for column in columns])
            found[i, j] = passed
    return found


def _sum_of(column: list[float], items: list[list[int]]) -> float | Fraction:
    """Return the exact sum over items of the means of their rows."""
    if len(items) == 1:
        return _mean(column, items[0])
    return sum((Fraction(_mean(column, rows)) for rows in items), Fraction())


def _mean(column: list[float], rows: list[int]) -> float | Fraction:
    """Return the exact mean of some rows of a column."""
    if len(rows) == 1:
        return column[rows[0]]
    return sum((Fraction(column[n]) for n in rows), Fraction()) / len(rows)


def check_pool(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return the statuses that a complete pool gives by definition."""
    if proof.claims:
        raise Refused("claims", "a complete pool needs no claims", 0)
    if not proof.plain:
        raise Refused("format", "a complete pool is for groups that are worth their best arms")
    units, count = units_of(proof, rows), proof.method.get("count")
    if units.clustered or type(count) is not int or len(units.names) != count:
        raise Refused("data", "the order does not have all items of the pool")
    table = table_of(proof, rows, units)
    if any(len(passed) != count for passed in table.values()):
        raise Refused("data", "not every arm has passed every item of the pool")
    N, D = len(proof.groups), len(proof.dims)
    best = [
        [
            max(
                sum((proof.signs[d] * Fraction(row[d]) for row in table[i, j]), Fraction())
                for j in range(proof.sizes[i])
            )
            for d in range(D)
        ]
        for i in range(N)
    ]
    slack = [rounding(count, Fraction(0), reach_of(proof, d)) for d in range(D)]
    try:
        return proof.goal.of_pool(best, slack)
    except ValueError as error:
        raise Refused("format", str(error)) from None
