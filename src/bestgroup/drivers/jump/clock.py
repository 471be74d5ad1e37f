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
from bestgroup.compile.records import bare
from bestgroup.drivers.jump.memory import (
    PRESENT,
    Memory,
    arm_at,
    clock_at,
    member_at,
)
from bestgroup.inference.radii import radius_at, radius_below

_TRIES = 30


@bare
def count_at(m: Memory, i: int, j: int, row: int) -> int:
    """Return how often an arm has been pulled at a clock, with the sets of now."""
    count = arm_at(m, i, j).own
    for d in range(m.D):
        if member_at(m, i, j, d).active:
            count = max(count, clock_at(m, row, d).count)
    return count


@bare
def pulls_at(m: Memory, row: int) -> int:
    """Return the pulls of all arms at a clock; those of groups outside G are in OWN."""
    total = 0
    for i in range(m.N):
        for j in range(m.K):
            total += count_at(m, i, j, row)
    return total


@kernel
def effect_of(rule: Rule, d: int, n: int) -> float:
    """Return w^d beta(n), as EECB compares it."""
    return rule.weights[d] * rule.scale[d] * radius_at(rule.radius, n)


@kernel
def set_clock(m: Memory, rule: Rule, row: int, when: int, near: int, share: float) -> None:
    """Set a clock to that of round `when`; its guess lies `share` of the way from now to `near`."""
    for d in range(m.D):
        clock_at(m, row, d).count = max(
            1,
            clock_at(m, PRESENT, d).count
            + int(share * (clock_at(m, near, d).count - clock_at(m, PRESENT, d).count)),
        )
    total = when - 1 + m.D
    _approach(m, rule, row, total)
    _put_right(m, rule, row, total)
    set_radii(m, rule, row)


@kernel
def _approach(m: Memory, rule: Rule, row: int, total: int) -> None:
    """Move a clock close to that with this sum whose effects are alike: beta(n) is about n^(-1/2)."""
    D = m.D
    for _ in range(_TRIES):
        missing, weighted, widths = float(total), 0.0, 0.0
        for d in range(D):
            n = clock_at(m, row, d).count
            clock_at(m, row, d).radius = effect_of(rule, d, n)
            missing -= n
            weighted += 2.0 * n
            widths += 2.0 * n / clock_at(m, row, d).radius
        level, moved = (weighted - missing) / widths, 0
        for d in range(D):
            n = clock_at(m, row, d).count
            step = 2.0 * n * (1.0 - level / clock_at(m, row, d).radius)
            there = max(1, n + round(min(max(step, -0.5 * n), 2.0 * n + 2.0)))
            moved = max(moved, abs(there - n))
            clock_at(m, row, d).count = there
        if moved <= 1:
            return


@kernel
def _put_right(m: Memory, rule: Rule, row: int, total: int) -> None:
    """Move a clock to the one with this sum of which no unused effect comes before a used one."""
    D = m.D
    missing = total
    for d in range(D):
        missing -= clock_at(m, row, d).count
    while True:
        first, most, last, least = -1, -1.0, -1, math.inf
        for d in range(D):
            n = clock_at(m, row, d).count
            unused = effect_of(rule, d, n)
            if unused > most:
                first, most = d, unused
            if n > 1:
                used = effect_of(rule, d, n - 1)
                if used <= least:
                    last, least = d, used
        wrong = last >= 0 and (most > least or (most == least and first < last))
        if missing > 0 or (missing == 0 and wrong):
            clock_at(m, row, first).count += 1
            missing -= 1
        elif missing < 0:
            clock_at(m, row, last).count -= 1
            missing += 1
        else:
            return


@kernel
def next_clock(m: Memory, rule: Rule, row: int, before: int) -> None:
    """Set a clock to that of the round after another one's."""
    D = m.D
    focus, most = 0, -1.0
    for d in range(D):
        clock_at(m, row, d).count = clock_at(m, before, d).count
        if clock_at(m, before, d).count == 0:
            focus = -1
        elif focus >= 0 and effect_of(rule, d, clock_at(m, before, d).count) > most:
            focus, most = d, effect_of(rule, d, clock_at(m, before, d).count)
    for d in range(D):
        if focus < 0 or d == focus:
            clock_at(m, row, d).count += 1
    set_radii(m, rule, row)


@kernel
def set_radii(m: Memory, rule: Rule, row: int) -> None:
    """Set the radii of a clock."""
    for d in range(m.D):
        clock_at(m, row, d).radius = rule.scale[d] * radius_below(
            rule.radius, max(1, clock_at(m, row, d).count)
        )


@bare
def copy_clock(m: Memory, source: int, target: int) -> None:
    """Copy a clock with its radii."""
    for d in range(m.D):
        clock_at(m, target, d).count = clock_at(m, source, d).count
        clock_at(m, target, d).radius = clock_at(m, source, d).radius
