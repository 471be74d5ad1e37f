"""Short windows of TE, looked at round by round with every value that a live item reads.

For each live item the first round at which it may fire is found from the means themselves; the
earliest, in the order of the phases of a round, is then judged by the margins of the algorithm, and
fires or is looked for further on.
"""

from __future__ import annotations

from bestgroup.algorithms.protocol import Rule
from bestgroup.algorithms.triple_elimination import (
    apart_margin,
    apart_wanted,
    excess_margin,
    excess_margin_in,
    reject_margin,
    reject_margin_in,
    stale_margin,
)
from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare, part
from bestgroup.drivers.jump.envelopes import (
    REJECT,
    RESOLVE,
    STALE,
    note_efficiency,
    value_at,
)
from bestgroup.drivers.jump.guards import is_dead
from bestgroup.drivers.jump.memory import (
    ACTIVE,
    AFTER,
    DIM_COUNT,
    EPSILONS,
    FROM,
    GROUP_COUNT,
    HIGH,
    KIND,
    LOW,
    ONE,
    SCALES,
    THREE,
    TWO,
    VALUES,
    WHEN,
    Reals,
    Words,
    box_at,
    column_of,
    dense_at,
    group_at,
    item_at,
    row_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import NEVER, UNUSED, first_live, move


@kernel
def fires(Z: Words, F: Reals, rule: Rule, item: int, when: int, beta: float) -> bool:
    """Return whether an item fires at a round; if not, it now watches what blocks it there."""
    row = item_at(Z, item)
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    if kind == REJECT:
        return _rejects(Z, F, rule, item, when, beta)
    if kind == RESOLVE:
        return _resolves(Z, F, item, when, beta)
    if kind == STALE:
        k = when - Z[FROM] - 1
        mean = F[dense_at(Z, unit_of(Z, i, j, d), column_of(Z, d)) + k]
        return stale_margin(F[row_at(Z, i, d) + k], mean, beta, F[Z[SCALES] + d]) >= 0.0
    return _accepts(Z, F, rule, item, when, beta)


@kernel
def _rejects(Z: Words, F: Reals, rule: Rule, item: int, when: int, beta: float) -> bool:
    row, D = item_at(Z, item), Z[DIM_COUNT]
    i, j = Z[row + ONE], Z[row + TWO]
    for step in range(D):
        d = (Z[row + THREE] + step) % D
        own, other = note_efficiency(Z, F, i, d, when), note_efficiency(Z, F, j, d, when)
        if reject_margin_in(own, other, beta, F[Z[SCALES] + d]) < 0.0:
            Z[row + THREE] = d
            return False
    R = part(F, Z[VALUES], Z[GROUP_COUNT] * D).reshape((Z[GROUP_COUNT], D))
    return reject_margin(R, R, i, j, beta, rule) >= 0.0


@bare
def _resolves(Z: Words, F: Reals, item: int, when: int, beta: float) -> bool:
    row = item_at(Z, item)
    i, d = Z[row + ONE], Z[row + THREE]
    own = note_efficiency(Z, F, i, d, when)
    wanted = apart_wanted(beta, F[Z[SCALES] + d], F[Z[EPSILONS] + d])
    for j in range(Z[GROUP_COUNT]):
        if not Z[group_at(Z, j) + ACTIVE] or j == i:
            continue
        box = box_at(Z, j, d)
        if apart_margin(own, own, F[box + HIGH], F[box + LOW], wanted) >= 0.0:
            continue  # apart anywhere in the box of j
        other = note_efficiency(Z, F, j, d, when)
        if apart_margin(own, own, other, other, wanted) < 0.0:
            Z[row + TWO] = j
            return False
    return True


@kernel
def _accepts(Z: Words, F: Reals, rule: Rule, item: int, when: int, beta: float) -> bool:
    row, D = item_at(Z, item), Z[DIM_COUNT]
    R = part(F, Z[VALUES], Z[GROUP_COUNT] * D).reshape((Z[GROUP_COUNT], D))
    i = Z[row + ONE]
    for d in range(D):
        note_efficiency(Z, F, i, d, when)
    for j in range(Z[GROUP_COUNT]):
        if not Z[group_at(Z, j) + ACTIVE] or j == i or _separate(Z, F, i, j, beta):
            continue
        for d in range(D):
            note_efficiency(Z, F, j, d, when)
        for side in range(2):
            one, two = (i, j) if side == 0 else (j, i)
            if not excess_margin(R, R, one, two, beta, rule) >= 0.0:
                Z[row + TWO], Z[row + THREE] = j, side
                return False
    return True


@bare
def _separate(Z: Words, F: Reals, i: int, j: int, beta: float) -> bool:
    """Return whether j blocks i, whose efficiencies are noted, on neither side, anywhere in j's box."""
    above, below = False, False
    for d in range(Z[DIM_COUNT]):
        scale, epsilon = F[Z[SCALES] + d], F[Z[EPSILONS] + d]
        own, box = F[value_at(Z, i, d)], box_at(Z, j, d)
        above = above or excess_margin_in(own, F[box + HIGH], beta, scale, epsilon) >= 0.0
        below = below or excess_margin_in(F[box + LOW], own, beta, scale, epsilon) >= 0.0
    return above and below


@bare
def earliest(Z: Words) -> int:
    """Return the live item that may fire first, in the order of rounds and phases, or -1."""
    item, best, round_, kind = first_live(Z), -1, NEVER, 0
    while item >= 0:
        row = item_at(Z, item)
        after = Z[row + AFTER]
        if is_dead(Z, item):
            move(Z, item, UNUSED)
        elif Z[row + WHEN] < round_ or (Z[row + WHEN] == round_ < NEVER and Z[row + KIND] < kind):
            best, round_, kind = item, Z[row + WHEN], Z[row + KIND]
        item = after
    return best
