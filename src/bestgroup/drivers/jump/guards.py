"""Items of TE as atoms: what keeps a test from firing, one pair of efficiencies at a time.

An atom says that the efficiency of one cell is less than a threshold above that of another cell in
the same dim, or above the mean of an arm. While all atoms of an item hold, the item cannot fire:

* REJECT of i by j, watching dim d: R_j^d is less than 2 beta above R_i^d;
* RESOLVE of dim d of i, watching j: neither of R_i^d and R_j^d is 4 beta + epsilon above the other;
* STALE arm j of i in dim d: R_i^d is less than 2 beta above the arm's mean;
* ACCEPT of i, watching j on side 0 (i does not stand against j): in every dim R_i^d is less than 2
  beta - epsilon above R_j^d; on side 1 the same with i and j exchanged.

Those of TE+, with its own radii:

* ABOVE, the sign that j is above i in dim d: R_j^d is less than rho above R_i^d;
* NEAR, that j does not beat i by epsilon there: R_i^d is less than rho' - epsilon above R_j^d;
* FAR, that j does: R_j^d is less than rho + epsilon above R_i^d.
"""

from __future__ import annotations

from bestgroup.algorithms.triple_elimination import apart_wanted
from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.blockers import beaten_by, may_reject, near_group
from bestgroup.drivers.jump.envelopes import (
    ABOVE,
    ACCEPT,
    FAR,
    NEAR,
    NOBODY,
    REJECT,
    RESOLVE,
    STALE,
    fill_row,
    lower_ends,
    stays_below,
)
from bestgroup.drivers.jump.memory import (
    ACTIVE,
    ARM_LOW,
    DIM_COUNT,
    EPSILONS,
    FROM,
    HIGH,
    KIND,
    LOW,
    ONE,
    OPEN,
    REACH,
    SCALES,
    THREE,
    TO,
    TWO,
    Reals,
    Words,
    arm_at,
    box_at,
    cell_at,
    column_of,
    dense_at,
    group_at,
    item_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import NEVER
from bestgroup.drivers.jump.radii import level_place
from bestgroup.drivers.jump.stretch import reveal_stretch
from bestgroup.drivers.jump.walks import ends


@bare
def is_dead(Z: Words, item: int) -> bool:
    """Return whether the sets keep an item from ever firing."""
    row = item_at(Z, item)
    kind, i = Z[row + KIND], Z[row + ONE]
    if not Z[group_at(Z, i) + ACTIVE]:
        return True
    if kind == REJECT:
        return not Z[group_at(Z, Z[row + TWO]) + ACTIVE]
    if kind >= ABOVE:
        d = Z[row + THREE]
        return not (Z[cell_at(Z, i, d) + OPEN] and Z[cell_at(Z, Z[row + TWO], d) + OPEN])
    if kind == RESOLVE:
        return not Z[cell_at(Z, i, Z[row + THREE]) + OPEN]
    if kind == STALE:
        d = Z[row + THREE]
        return not (Z[cell_at(Z, i, d) + OPEN] and Z[arm_at(Z, i, Z[row + TWO], d)])
    return False


@bare
def has_watch(Z: Words, item: int) -> bool:
    """Return whether the group that an item watches, if it watches one, is in G."""
    row = item_at(Z, item)
    kind, watch = Z[row + KIND], Z[row + TWO]
    if kind in (REJECT, STALE) or kind >= ABOVE:
        return True
    return watch != NOBODY and Z[group_at(Z, watch) + ACTIVE] != 0


@bare
def atoms_of(Z: Words, item: int) -> int:
    """Return the number of atoms of an item."""
    kind = Z[item_at(Z, item) + KIND]
    if kind == ACCEPT:
        return Z[DIM_COUNT]
    return 2 if kind == RESOLVE else 1


@bare
def atom(Z: Words, F: Reals, item: int, k: int, place: int) -> tuple[int, int, int, int, float]:
    """Return the upper group, the lower group, the dim, the arm if the lower one is an arm, the threshold."""
    row = item_at(Z, item)
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    if kind == ACCEPT:
        side, d = d, k
        threshold = 2.0 * F[place] * F[Z[SCALES] + d] - F[Z[EPSILONS] + d]
        return (i, j, d, NOBODY, threshold) if side == 0 else (j, i, d, NOBODY, threshold)
    scale, epsilon = F[Z[SCALES] + d], F[Z[EPSILONS] + d]
    if kind == STALE:
        return i, i, d, j, F[place + 2] * scale
    if kind == NEAR:
        return i, j, d, NOBODY, F[place + 1] * scale - epsilon
    if kind == RESOLVE:
        threshold = apart_wanted(F[place], scale, epsilon)
        return (j, i, d, NOBODY, threshold) if k == 0 else (i, j, d, NOBODY, threshold)
    if kind == REJECT:
        return j, i, d, NOBODY, 2.0 * F[place] * scale
    return j, i, d, NOBODY, F[place] * scale + (epsilon if kind == FAR else 0.0)


@bare
def clears(Z: Words, F: Reals, item: int, now: int, end: int, place: int) -> bool:
    """Return whether an item cannot fire in (now, end]; at `place` are radii below those of these rounds.

    The boxes of the outer window are tried first, which costs no draw. A window much longer than
    what the last attempt made likely is not tried.
    """
    row = item_at(Z, item)
    if end - now > 2 * Z[row + REACH]:
        return False
    beta = F[place]
    if not has_watch(Z, item):
        if Z[row + KIND] == RESOLVE:
            Z[row + TWO] = near_group(Z, F, Z[row + ONE], Z[row + THREE], beta)
        else:
            Z[row + TWO], Z[row + THREE], _ = beaten_by(Z, F, Z[row + ONE], beta)
        if Z[row + TWO] == NOBODY:
            return False
    if Z[row + KIND] == REJECT and not may_reject(Z, F, Z[row + ONE], Z[row + TWO], beta):
        return True
    for k in range(atoms_of(Z, item)):
        i, j, d, arm, threshold = atom(Z, F, item, k, place)
        low = F[box_at(Z, j, d) + (LOW if arm == NOBODY else ARM_LOW + arm)]
        if F[box_at(Z, i, d) + HIGH] - low < threshold:
            continue
        if arm == NOBODY:
            moves, base = Z[cell_at(Z, j, d) + OPEN] != 0, lower_ends(Z, F, j, d, now, end)
        else:
            moves = True
            base = ends(Z, F, unit_of(Z, j, arm, d), column_of(Z, d), now, end)
        reach = stays_below(Z, F, i, d, arm, base, moves, threshold, now, end)
        if reach < NEVER:
            Z[row + REACH] = int(reach)
            return False
    Z[row + REACH] = 4 * (end - now)
    return True


@bare
def next_candidate(Z: Words, F: Reals, item: int, start: int) -> int:
    """Return the first round from `start` on, in the sprint, at which an item may fire.

    A watch that has left G makes every round a candidate.
    """
    place = level_place(Z, F, Z[TO])
    if start > Z[TO]:
        return NEVER
    if not has_watch(Z, item):
        return start
    stop = Z[TO] - Z[FROM]
    found = stop
    for k in range(atoms_of(Z, item)):
        i, j, d, arm, threshold = atom(Z, F, item, k, place)
        low = F[box_at(Z, j, d) + (LOW if arm == NOBODY else ARM_LOW + arm)]
        if F[box_at(Z, i, d) + HIGH] - low < threshold:
            continue
        upper = fill_row(Z, F, i, d)
        if arm == NOBODY:
            lower = fill_row(Z, F, j, d)
        else:
            u = unit_of(Z, j, arm, d)
            reveal_stretch(Z, F, u, Z[FROM], Z[TO])
            lower = dense_at(Z, u, column_of(Z, d))
        level = threshold - 1e-13 * (abs(threshold) + abs(F[upper]) + abs(F[lower]))
        for r in range(start - Z[FROM] - 1, found):
            if F[upper + r] - F[lower + r] >= level:
                found = r
                break
    return Z[FROM] + 1 + found if found < stop else NEVER
