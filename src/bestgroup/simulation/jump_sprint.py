"""Short windows of TE, looked at round by round with every value that a live item reads.

For each live item the first round at which it may fire is found from the means themselves; the earliest, in the
order of the phases of a round, is then judged by the margins of the algorithm, and fires or is looked for
further on.
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
from bestgroup.core.arrays import Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_calendar import NEVER, UNUSED, first_live, move
from bestgroup.simulation.jump_cells import (
    NOBODY,
    REJECT,
    RESOLVE,
    STALE,
    fill_row,
    note_efficiency,
    value_at,
)
from bestgroup.simulation.jump_layout import (
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
    TO,
    TWO,
    VALUES,
    WHEN,
    box_at,
    column_of,
    dense_at,
    group_at,
    item_at,
    row_at,
    unit_of,
)
from bestgroup.simulation.jump_near import is_dead
from bestgroup.simulation.jump_walks import reveal_stretch


@kernel
def next_candidate(Z: Ints, F: Floats, item: int, start: int, beta: float) -> int:
    """Return the first round from `start` on, in the sprint, at which an item may fire.

    `beta` is below the radii of the sprint. A watch that has left G makes every round a candidate.
    """
    if start > Z[TO]:
        return NEVER
    row, k = item_at(Z, item), start - Z[FROM] - 1
    kind, one, two, three = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    if kind == REJECT:
        k = _scan_rejection(Z, F, one, two, three, k, beta)
    elif kind == STALE:
        k = _scan_stale_arm(Z, F, one, two, three, k, beta)
    elif two == NOBODY or not Z[group_at(Z, two) + ACTIVE]:
        return start
    elif kind == RESOLVE:
        k = _scan_resolution(Z, F, one, two, three, k, beta)
    elif three == 0:
        k = _scan_acceptance(Z, F, one, two, k, beta)
    else:
        k = _scan_acceptance(Z, F, two, one, k, beta)
    return Z[FROM] + 1 + k if k >= 0 else NEVER


@kernel
def _scan_rejection(Z: Ints, F: Floats, i: int, j: int, d: int, start: int, beta: float) -> int:
    own, other, scale = fill_row(Z, F, i, d), fill_row(Z, F, j, d), F[Z[SCALES] + d]
    for k in range(start, Z[TO] - Z[FROM]):
        if reject_margin_in(F[own + k], F[other + k], beta, scale) >= 0.0:
            return k
    return -1


@kernel
def _scan_resolution(Z: Ints, F: Floats, i: int, j: int, d: int, start: int, beta: float) -> int:
    own, other = fill_row(Z, F, i, d), fill_row(Z, F, j, d)
    wanted = apart_wanted(beta, F[Z[SCALES] + d], F[Z[EPSILONS] + d])
    for k in range(start, Z[TO] - Z[FROM]):
        if apart_margin(F[own + k], F[own + k], F[other + k], F[other + k], wanted) >= 0.0:
            return k
    return -1


@kernel
def _scan_stale_arm(Z: Ints, F: Floats, i: int, j: int, d: int, start: int, beta: float) -> int:
    best, u, scale = fill_row(Z, F, i, d), unit_of(Z, i, j, d), F[Z[SCALES] + d]
    reveal_stretch(Z, F, u, Z[FROM], Z[TO])
    means = dense_at(Z, u, column_of(Z, d))
    for k in range(start, Z[TO] - Z[FROM]):
        if stale_margin(F[best + k], F[means + k], beta, scale) >= 0.0:
            return k
    return -1


@kernel
def _scan_acceptance(Z: Ints, F: Floats, one: int, two: int, start: int, beta: float) -> int:
    first, stop = -1, Z[TO] - Z[FROM]
    for d in range(Z[DIM_COUNT]):
        scale, epsilon = F[Z[SCALES] + d], F[Z[EPSILONS] + d]
        high, low = F[box_at(Z, one, d) + HIGH], F[box_at(Z, two, d) + LOW]
        if excess_margin_in(high, low, beta, scale, epsilon) < 0.0:
            continue
        own, other = fill_row(Z, F, one, d), fill_row(Z, F, two, d)
        for k in range(start, stop):
            if excess_margin_in(F[own + k], F[other + k], beta, scale, epsilon) >= 0.0:
                first, stop = k, k
                break
    return first


@kernel
def fires(Z: Ints, F: Floats, rule: Rule, item: int, when: int, beta: float) -> bool:
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
def _rejects(Z: Ints, F: Floats, rule: Rule, item: int, when: int, beta: float) -> bool:
    row, D = item_at(Z, item), Z[DIM_COUNT]
    i, j = Z[row + ONE], Z[row + TWO]
    for step in range(D):
        d = (Z[row + THREE] + step) % D
        own, other = note_efficiency(Z, F, i, d, when), note_efficiency(Z, F, j, d, when)
        if reject_margin_in(own, other, beta, F[Z[SCALES] + d]) < 0.0:
            Z[row + THREE] = d
            return False
    R = F[Z[VALUES] : Z[VALUES] + Z[GROUP_COUNT] * D].reshape((Z[GROUP_COUNT], D))
    return reject_margin(R, R, i, j, beta, rule) >= 0.0


@kernel
def _resolves(Z: Ints, F: Floats, item: int, when: int, beta: float) -> bool:
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
def _accepts(Z: Ints, F: Floats, rule: Rule, item: int, when: int, beta: float) -> bool:
    row, D = item_at(Z, item), Z[DIM_COUNT]
    R = F[Z[VALUES] : Z[VALUES] + Z[GROUP_COUNT] * D].reshape((Z[GROUP_COUNT], D))
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


@kernel
def _separate(Z: Ints, F: Floats, i: int, j: int, beta: float) -> bool:
    """Return whether j blocks i, whose efficiencies are noted, on neither side, anywhere in j's box."""
    above, below = False, False
    for d in range(Z[DIM_COUNT]):
        scale, epsilon = F[Z[SCALES] + d], F[Z[EPSILONS] + d]
        own, box = F[value_at(Z, i, d)], box_at(Z, j, d)
        above = above or excess_margin_in(own, F[box + HIGH], beta, scale, epsilon) >= 0.0
        below = below or excess_margin_in(F[box + LOW], own, beta, scale, epsilon) >= 0.0
    return above and below


@kernel
def earliest(Z: Ints) -> int:
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
