"""The clocks of EECB in the jump engine: n^d is a function of the round alone.

Each round adds 1 to the n^d with the largest effect w^d beta(n^d), the first of equals. Effects
decrease, so after r - 1 rounds the effects that were used are the r - 1 largest of all (d, n): the
clock of a round is the vector with the right sum of which no unused effect comes before a used one.
It is solved for near its neighbours and then put right one by one.

An arm has been pulled max(n^d over the dims it is active in) times, or as often as it was when it
was last left out of a dim, if that is more.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.memory import (
    ARM_COUNT,
    CLOCKS,
    DIM_COUNT,
    GROUP_COUNT,
    OWN,
    PRESENT,
    RADII,
    Reals,
    Words,
    arm_at,
)
from bestgroup.inference.radii import radius_at, radius_below

_TRIES = 30


@bare
def clock_of(Z: Words, row: int) -> int:
    """Return the place in Z of a clock."""
    return Z[CLOCKS] + row * Z[DIM_COUNT]


@bare
def radii_of(Z: Words, row: int) -> int:
    """Return the place in F of numbers below the radii at a clock, times the scales."""
    return Z[RADII] + row * Z[DIM_COUNT]


@bare
def count_at(Z: Words, i: int, j: int, row: int) -> int:
    """Return how often an arm has been pulled at a clock, with the sets of now."""
    count, clock = Z[Z[OWN] + i * Z[ARM_COUNT] + j], clock_of(Z, row)
    for d in range(Z[DIM_COUNT]):
        if Z[arm_at(Z, i, j, d)]:
            count = max(count, Z[clock + d])
    return count


@bare
def pulls_at(Z: Words, row: int) -> int:
    """Return the pulls of all arms at a clock; those of groups outside G are in OWN."""
    total = 0
    for i in range(Z[GROUP_COUNT]):
        for j in range(Z[ARM_COUNT]):
            total += count_at(Z, i, j, row)
    return total


@kernel
def effect_of(rule: Rule, d: int, n: int) -> float:
    """Return w^d beta(n), as EECB compares it."""
    return rule.weights[d] * rule.scale[d] * radius_at(rule.radius, n)


@kernel
def set_clock(Z: Words, F: Reals, rule: Rule, row: int, when: int, near: int, share: float) -> None:
    """Set a clock to that of round `when`; its guess lies `share` of the way from now to `near`."""
    clock, now, far = clock_of(Z, row), clock_of(Z, PRESENT), clock_of(Z, near)
    for d in range(Z[DIM_COUNT]):
        Z[clock + d] = max(1, Z[now + d] + int(share * (Z[far + d] - Z[now + d])))
    total = when - 1 + Z[DIM_COUNT]
    _approach(Z, F, rule, row, total)
    _put_right(Z, rule, row, total)
    set_radii(Z, F, rule, row)


@kernel
def _approach(Z: Words, F: Reals, rule: Rule, row: int, total: int) -> None:
    """Move a clock close to that with this sum whose effects are alike: beta(n) is about n^(-1/2)."""
    clock, effects, D = clock_of(Z, row), radii_of(Z, row), Z[DIM_COUNT]
    for _ in range(_TRIES):
        missing, weighted, widths = float(total), 0.0, 0.0
        for d in range(D):
            n = Z[clock + d]
            F[effects + d] = effect_of(rule, d, n)
            missing -= n
            weighted += 2.0 * n
            widths += 2.0 * n / F[effects + d]
        level, moved = (weighted - missing) / widths, 0
        for d in range(D):
            n = Z[clock + d]
            step = 2.0 * n * (1.0 - level / F[effects + d])
            there = max(1, n + round(min(max(step, -0.5 * n), 2.0 * n + 2.0)))
            moved = max(moved, abs(there - n))
            Z[clock + d] = there
        if moved <= 1:
            return


@kernel
def _put_right(Z: Words, rule: Rule, row: int, total: int) -> None:
    """Move a clock to the one with this sum of which no unused effect comes before a used one."""
    clock, D = clock_of(Z, row), Z[DIM_COUNT]
    missing = total
    for d in range(D):
        missing -= Z[clock + d]
    while True:
        first, most, last, least = -1, -1.0, -1, math.inf
        for d in range(D):
            n = Z[clock + d]
            unused = effect_of(rule, d, n)
            if unused > most:
                first, most = d, unused
            if n > 1:
                used = effect_of(rule, d, n - 1)
                if used <= least:
                    last, least = d, used
        wrong = last >= 0 and (most > least or (most == least and first < last))
        if missing > 0 or (missing == 0 and wrong):
            Z[clock + first] += 1
            missing -= 1
        elif missing < 0:
            Z[clock + last] -= 1
            missing += 1
        else:
            return


@kernel
def next_clock(Z: Words, F: Reals, rule: Rule, row: int, before: int) -> None:
    """Set a clock to that of the round after another one's."""
    D, clock, old = Z[DIM_COUNT], clock_of(Z, row), clock_of(Z, before)
    focus, most = 0, -1.0
    for d in range(D):
        Z[clock + d] = Z[old + d]
        if Z[old + d] == 0:
            focus = -1
        elif focus >= 0 and effect_of(rule, d, Z[old + d]) > most:
            focus, most = d, effect_of(rule, d, Z[old + d])
    for d in range(D):
        if focus < 0 or d == focus:
            Z[clock + d] += 1
    set_radii(Z, F, rule, row)


@kernel
def set_radii(Z: Words, F: Reals, rule: Rule, row: int) -> None:
    """Set the radii of a clock."""
    clock, radii = clock_of(Z, row), radii_of(Z, row)
    for d in range(Z[DIM_COUNT]):
        F[radii + d] = rule.scale[d] * radius_below(rule.radius, max(1, Z[clock + d]))


@bare
def copy_clock(Z: Words, F: Reals, source: int, target: int) -> None:
    """Copy a clock with its radii."""
    for d in range(Z[DIM_COUNT]):
        Z[clock_of(Z, target) + d] = Z[clock_of(Z, source) + d]
        F[radii_of(Z, target) + d] = F[radii_of(Z, source) + d]
