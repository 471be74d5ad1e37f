"""Proofs from evidence on pairs of arms of different groups, for Pareto groups (docs/theory.md 5, 7).

A claim is [kind, i, m, j, k, d, n_a, n_b, g, value]. Kind 0, "over": arm m of group i is above arm k of
group j in dim d. Kind 1, "won": it is not below it by epsilon_d. Kind 2, "stale": i = j, and arm m is
above arm k. n_a and n_b are the counts at which the e-process number g of the dim reached e^value.

**Shares.** `won[i]`, `over[i]`, `stale[i]` are those of one claim that may wrongly let i in, wrongly put i
out, or wrongly drop a best arm of i. If i is wrongly in, one of D K_i claims is wrong, for the best arms
of the group that beats i are fixed by the means; if i is wrongly out, one of A - K_i "over" claims or of
D (K_i - 1) "stale" ones is. No group is both. So

    sum_i max(D K_i won_i, (A - K_i) over_i + D (K_i - 1) stale_i) <= 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from bestgroup.proof.answers import standing
from bestgroup.proof.boxes import BOX_CLAIM, BoxClaims, Tick
from bestgroup.proof.format import (
    Proof,
    Refused,
    check_processes,
    fraction,
    integers,
    number,
)
from bestgroup.proof.goals import Status
from bestgroup.proof.intervals import Interval, interval, log, sqrt
from bestgroup.proof.noise import RANGED, SCALED, SUB_GAUSSIAN, SYMMETRIC
from bestgroup.proof.normal_pairs import difference_value
from bestgroup.proof.observations import Observations, exact_sum
from bestgroup.proof.pair_evidence import Pair, pair_reaches, pays
from bestgroup.proof.scouted import Scouting, largest_bet

OVER, WON, STALE = 0, 1, 2
Shares = tuple[list[Fraction], list[Fraction], list[Fraction]]  # of over, won, stale, by group
SERVES = {
    "normal": SCALED,
    "difference": SUB_GAUSSIAN,
    "bets": RANGED,
    "symmetric": SYMMETRIC,
}


PARTS = {
    "normal": [2.0**5, 2.0**8, 2.0**11, 2.0**14, 2.0**17],
    "difference": [2.0**3, 2.0**7, 2.0**11, 2.0**15],
    "bets": [0.25, 1.0, 0.0625, 0.015625, 4.0],
    "symmetric": [0.125, 0.5, 0.03125, 0.0078125, 2.0],
}


class Claim(NamedTuple):
    """What a row says."""

    kind: int
    i: int
    m: int
    j: int
    k: int
    d: int
    n_a: int
    n_b: int
    g: int
    value: float


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what the claims of a proof from pairs say, once each of them is checked."""
    if not (proof.goal.by_pairs(proof) and proof.worth.is_best and proof.independent_arms):
        raise Refused("format", "pairs of arms are for Pareto groups and independent arms")
    scouting, shares = None, ((), (), ())
    budget = proof.method.get("budget")
    named = budget == "named" and proof.document["version"] >= 4 and not proof.limits
    if budget not in ("fixed", "scouted") and not named:
        raise Refused("shares", f"there is no budget {budget!r} for pairs of arms")
    if budget != "fixed":
        scouting = _scouting(proof, rows)
        if scouting.expected:
            scouting.expected.note(_decided(proof))
    else:
        shares = shares_of_groups(proof)
        check_processes(proof, SERVES, _check_process)
    bounds = BoxClaims(proof, rows, _boxes(proof)) if proof.limits else None
    fast = pays(len(proof.claims), rows.rows // max(len(rows.values), 1))
    covered: tuple[set[tuple[int, ...]], ...] = (set(), set(), set())
    leading: list[tuple[int, int, int]] = []
    for number_, row in enumerate(proof.claims):
        tick(number_ + 1)
        if bounds is not None and len(row) == BOX_CLAIM:
            bounds.take(row, number_)
            continue
        try:
            claim = read_claim(proof, row)
            if scouting is not None:
                good = _reaches_after(proof, rows, claim, scouting, fast)
            else:
                part = shares[claim.kind][claim.i if claim.kind == WON else claim.j]
                good = part > 0 and _reaches(proof, rows, claim, proof.delta * part, fast)
        except (ValueError, ZeroDivisionError) as error:
            raise Refused("claims", str(error), number_) from None
        if not good:
            raise Refused("claims", "the e-process has not reached its level", number_)
        covered[claim.kind].add((claim.i, claim.j, claim.d, claim.k))
        leading.append((number_, claim.i, claim.m))
    if bounds is not None:
        return _conclude_limits(proof, covered, leading, bounds)
    found = conclude(proof, covered)
    return scouting.expected.standing(found) if scouting and scouting.expected else found


def _decided(proof: Proof) -> Iterator[tuple[bool, int]]:
    """Yield which groups there are claims about, and whether these put them out."""
    for number_, row in enumerate(proof.claims):
        try:
            claim = read_claim(proof, row)
        except ValueError as error:
            raise Refused("claims", str(error), number_) from None
        yield claim.kind == OVER, claim.j if claim.kind == OVER else claim.i


def _boxes(proof: Proof) -> dict[str, Any]:
    """Return the shares and processes of the bounds that tell which arms count."""
    found = proof.method.get("boxes")
    if not isinstance(found, dict):
        raise Refused("shares", "there are no bounds that tell which arms keep the limits")
    return found


def _conclude_limits(
    proof: Proof,
    covered: tuple[set[tuple[int, ...]], ...],
    leading: list[tuple[int, int, int]],
    bounds: BoxClaims,
) -> Status:
    """Return the statuses that claims give where arms must keep limits (docs/theory.md)."""
    known = [standing(proof, bounds.low, bounds.high, i) for i in range(len(proof.groups))]
    for c, i, m in leading:
        if m not in known[i][0]:
            raise Refused("claims", "the arm is not known to keep the limits", c)
    if covered[STALE]:
        raise Refused("claims", "no arm is dropped where limits are kept")
    groups, dims = range(len(proof.groups)), range(proof.D)
    barred = [j for j in groups if not known[j][1]]

    def has(kind: int, i: int, j: int, d: int) -> bool:
        return all((i, j, d, k) in covered[kind] for k in known[j][1])

    out = {
        j for j in groups for i in groups if i != j and all(has(OVER, i, j, d) for d in dims)
    } | set(barred)  # fmt: skip
    safe = [
        i for i in groups
        if known[i][0] and i not in out
        and all(i == j or j in barred or any(has(WON, i, j, d) for d in dims) for j in groups)
    ]  # fmt: skip
    return proof.goal.of_safe(proof, safe, sorted(out))


def read_claim(proof: Proof, row: list[Any]) -> Claim:
    """Return a claim whose numbers name what there is."""
    N, D = len(proof.groups), proof.D
    if len(row) != 10:
        raise ValueError("a claim must be [kind, i, m, j, k, d, n_a, n_b, g, value]")
    most = 10**15
    whole = integers(row, (3, N, most, N, most, D, most, most, most))
    claim = Claim._make([*whole, number(row[9])])
    if claim.m >= proof.sizes[claim.i] or claim.k >= proof.sizes[claim.j]:
        raise ValueError("there is no such arm")
    if (claim.i == claim.j) != (claim.kind == STALE) or (claim.i, claim.m) == (claim.j, claim.k):
        raise ValueError("a claim is about arms of two groups, a stale arm about two of one group")
    return claim


def shares_of_groups(proof: Proof) -> Shares:
    """Return the shares of over, won and stale, by group; refuses if they exceed 1 together."""
    N, D, A = len(proof.groups), proof.D, proof.total
    try:
        over, won, stale = (
            [fraction(part) for part in proof.method[key]] for key in ("over", "won", "stale")
        )
        if not len(over) == len(won) == len(stale) == N:
            raise ValueError("there must be one for each group")
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("shares", f"the shares cannot be read ({error})") from None
    used = Fraction(0)
    for i, size in enumerate(proof.sizes):
        out = (A - size) * over[i] + D * (size - 1) * stale[i]
        used += max(D * size * won[i], out)
    part = 2 if proof.limits else 1
    if part * used > 1:
        raise Refused("shares", f"the shares add up to {used} of delta")
    usual = [equal_shares(proof, part)]
    if part == 1:
        usual.append(difference_shares(proof.sizes, D))
    if (over, won, stale) not in usual:
        raise Refused("parameters", "the shares are not among those that are fixed beforehand")
    return over, won, stale


def equal_shares(proof: Proof, part: int) -> Shares:
    """Return the shares of a proof without a warm-up: all claims that may wrong a group are alike."""
    N, D, A = len(proof.groups), proof.D, proof.total
    over = [Fraction(1, part * N * max(A - size, 1)) for size in proof.sizes]
    return over, [Fraction(1, part * N * D * size) for size in proof.sizes], [Fraction(0)] * N


def difference_shares(sizes: Sequence[int], dims: int) -> Shares:
    """Return the shares of TE+: a tenth for dropping arms; rounded down to 40 binary digits."""
    total, spare = sum(sizes), sum(dims * (size - 1) for size in sizes)
    part = Fraction(0.1) if spare else Fraction(0)
    over = (1 - part) / max(sum(total - size for size in sizes), 1)
    won, stale = Fraction(1, dims * total), part / max(spare, 1)
    used = sum(
        max(dims * size * won, (total - size) * over + dims * (size - 1) * stale) for size in sizes
    )
    parts = [Fraction(math.floor(p / used * 2**40), 2**40) for p in (over, won, stale)]
    return tuple([p] * len(sizes) for p in parts)  # type: ignore[return-value]


def _check_process(proof: Proof, process: dict[str, Any]) -> None:
    """Refuse parameters that are not fixed beforehand."""
    if process["parts"] != PARTS[process["name"]]:
        raise ValueError("its parameters are not those that are fixed beforehand")


def _scouting(proof: Proof, rows: Observations) -> Scouting:
    """Return what the warm-up fixed; refuses if the shares of groups exceed 1 together."""
    try:
        names = [process["name"] for process in proof.method["process"]]
        if names != ["scouted"] * len(proof.dims):
            raise ValueError("the processes are not those of a warm-up")
        found = Scouting(proof, rows, proof.method["before"])
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("parameters", f"the warm-up cannot be read ({error})") from None
    used = sum((Fraction(part.low) for part in found.group_shares), Fraction(0))
    if used > 1:
        raise Refused("shares", f"the shares of the groups add up to {used}")
    return found


def _reaches_after(
    proof: Proof, rows: Observations, claim: Claim, scouting: Scouting, fast: bool
) -> bool:
    """Return whether evidence from the values after the warm-up has reached its level."""
    if claim.kind == STALE:
        raise ValueError("the warm-up has no share for stale arms")
    d, noise = claim.d, proof.noise[claim.d]
    columns, seen = [], []
    for g, a, n in ((claim.i, claim.m, claim.n_a), (claim.j, claim.k, claim.n_b)):
        column = rows.values[proof.groups[g], proof.arms[g][a]][d]
        if not scouting.before[g][a] < n <= len(column):
            raise ValueError("a claim counts values after the warm-up, that are in the table")
        columns.append(column[scouting.before[g][a] : n])
        seen.append(scouting.seen[g, a, d])
    # With limits, half of delta is for what tells which arms count.
    alpha = proof.delta * scouting.share(claim.kind, claim.i, claim.m, claim.j, d)
    alpha = alpha / 2 if proof.limits else alpha
    level = max(log(interval(1 / alpha)).high, claim.value)
    exact = Fraction(proof.epsilon[d]) if claim.kind == WON else Fraction(0)
    shift = interval(exact / scouting.unit(d))
    q = scales = most = None
    if noise.kind != "gaussian":
        scale = 1.0 if noise.kind == "subgaussian" else 0.5
        q = scouting.precisions(seen[0], seen[1], shift, scale)
    if noise.kind != "subgaussian":
        scales = scouting.bet(seen[0], seen[1], shift), scouting.bet(seen[1], seen[0], -shift)
    if noise.kind in RANGED:
        most = largest_bet(seen[0], False), largest_bet(seen[1], True)
    pair = Pair((columns[0], columns[1]), exact, q, scales, most)
    return pair_reaches(noise, proof.signs[d], pair, level, fast)


def _reaches(proof: Proof, rows: Observations, claim: Claim, alpha: Fraction, fast: bool) -> bool:
    """Return whether the e-process of a claim has reached 1 / alpha and what the claim says."""
    arms = [
        (proof.groups[g], proof.arms[g][a]) for g, a in ((claim.i, claim.m), (claim.j, claim.k))
    ]
    for arm, n in zip(arms, (claim.n_a, claim.n_b), strict=True):
        if not 1 <= n <= len(rows.values.get(arm, [[]])[claim.d]):
            raise ValueError(f"the table has fewer than {n} values of an arm")
    process = proof.method["process"][claim.d]
    level = max(log(interval(1 / alpha)).high, claim.value)
    shift = Fraction(proof.epsilon[claim.d]) if claim.kind == WON else Fraction(0)
    if process["name"] == "difference":
        return _difference(proof, rows, claim, arms, process, shift) >= level
    parts = process["parts"]
    if claim.g >= len(parts):
        raise ValueError("there is no such part of the process")
    level = (level + log(interval(float(len(parts))))).high
    part = interval(float(parts[claim.g]))
    noise, columns = proof.noise[claim.d], []
    for arm, n in zip(arms, (claim.n_a, claim.n_b), strict=True):
        columns.append(rows.values[arm][claim.d][:n])
    scales = part, part
    if noise.kind == "gaussian":
        (before_a, unit_a), (before_b, unit_b) = map(unit_of, columns)
        columns = [columns[0][before_a:], columns[1][before_b:]]
        scales = part / unit_a, part / unit_b
        if not (columns[0] and columns[1]):
            raise ValueError("no value counts yet")
    q = (part, part) if noise.kind == "subgaussian" else None
    pair = Pair((columns[0], columns[1]), shift, q, None if q is not None else scales)
    return pair_reaches(noise, proof.signs[claim.d], pair, level, fast)


def _gap(
    proof: Proof, rows: Observations, claim: Claim, arms: list[tuple[str, str]], shift: Fraction
) -> Interval:
    """Return the difference of two means, plus the shift: exact but for one rounding."""
    d, sign = claim.d, proof.signs[claim.d]
    a = rows.sum_of(arms[0], d, claim.n_a) / claim.n_a
    b = rows.sum_of(arms[1], d, claim.n_b) / claim.n_b
    return interval(sign * (a - b) + shift)


def _difference(
    proof: Proof,
    rows: Observations,
    claim: Claim,
    arms: list[tuple[str, str]],
    process: dict[str, Any],
    shift: Fraction,
) -> float:
    """Return the log of the mixture for the sum of n differences, of variance 2 n."""
    if claim.n_a != claim.n_b or claim.g != 0:
        raise ValueError("differences need equal counts, and single out no part")
    noise = proof.noise[claim.d]
    scale = interval(noise.scale)
    if noise.kind != "subgaussian":
        scale = (interval(noise.high) - noise.low) / 2.0
    total = claim.n_a * _gap(proof, rows, claim, arms, shift) / scale
    return difference_value(total, 2 * claim.n_a, [float(q) for q in process["parts"]])


def unit_of(column: list[float]) -> tuple[int, Interval]:
    """Return how many first values an arm's unit is taken from, and that: their standard deviation.

    The first four, and more while all are equal; they do not count.
    """
    n = 4
    while n <= len(column) and len(set(column[:n])) == 1:
        n += 1
    if n > len(column):
        raise ValueError("the values of an arm show no unit yet")
    first = [Fraction(x) for x in column[:n]]
    mean = exact_sum(column[:n]) / n
    return n, sqrt(interval(sum((x - mean) ** 2 for x in first) / (n - 1)))


def conclude(proof: Proof, covered: tuple[set[tuple[int, ...]], ...]) -> Status:
    """Return the statuses that claims give: covered[kind] holds (i, j, d, k)."""
    N, D, over, won, stale = len(proof.groups), proof.D, *covered
    dropped = {(j, d, k) for _, j, d, k in stale}
    arms = [[set(range(size)) for _ in range(D)] for size in proof.sizes]
    for j, d, k in dropped:
        arms[j][d].discard(k)
    if any(not left for group in arms for left in group):
        raise Refused("answer", "all arms of a group are dropped in a dim, which cannot be")

    def all_of(claims: set[tuple[int, ...]]) -> set[tuple[int, int, int]]:
        found: dict[tuple[int, int, int], int] = {}
        for i, j, d, k in claims:
            if (j, d, k) not in dropped:
                found[i, j, d] = found.get((i, j, d), 0) + 1
        return {key for key, count in found.items() if count == len(arms[key[1]][key[2]])}

    beats, holds = all_of(over), all_of(won)
    by_pair: dict[tuple[int, int], int] = {}
    for i, j, _ in beats:
        by_pair[i, j] = by_pair.get((i, j), 0) + 1
    out = {j for (_, j), dims in by_pair.items() if dims == D}
    near = {(i, j) for i, j, _ in holds}
    rest = [i for i in range(N) if i not in out]
    inside = [i for i in rest if all(i == j or (i, j) in near for j in rest)]
    return Status(inside, sorted(out), [])
