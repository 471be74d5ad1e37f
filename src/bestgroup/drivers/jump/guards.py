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
from bestgroup.compile.records import bare
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
    Memory,
    Radii,
    cell_at,
    column_of,
    dim_at,
    group_at,
    item_at,
    means_at,
    member_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import (
    NEVER,
)
from bestgroup.drivers.jump.radii import level_place
from bestgroup.drivers.jump.stretch import reveal_stretch
from bestgroup.drivers.jump.walks import ends


@bare
def is_dead(m: Memory, item: int) -> bool:
    """Return whether the sets keep an item from ever firing."""
    row = item_at(m, item)
    kind, i = row.kind, row.one
    if not group_at(m, i).active:
        return True
    if kind == REJECT:
        return not group_at(m, row.two).active
    if kind >= ABOVE:
        d = row.three
        return not (cell_at(m, i, d).open and cell_at(m, row.two, d).open)
    if kind == RESOLVE:
        return not cell_at(m, i, row.three).open
    if kind == STALE:
        d = row.three
        return not (cell_at(m, i, d).open and member_at(m, i, row.two, d).active)
    return False


@bare
def has_watch(m: Memory, item: int) -> bool:
    """Return whether the group that an item watches, if it watches one, is in G."""
    row = item_at(m, item)
    kind, watch = row.kind, row.two
    if kind in (REJECT, STALE) or kind >= ABOVE:
        return True
    return watch != NOBODY and group_at(m, watch).active != 0


@bare
def atoms_of(m: Memory, item: int) -> int:
    """Return the number of atoms of an item."""
    kind = item_at(m, item).kind
    if kind == ACCEPT:
        return m.D
    return 2 if kind == RESOLVE else 1


@bare
def atom(m: Memory, item: int, k: int, place: Radii) -> tuple[int, int, int, int, float]:
    """Return the upper group, the lower group, the dim, the arm if the lower one is an arm, the threshold."""
    row = item_at(m, item)
    kind, i, j, d = row.kind, row.one, row.two, row.three
    if kind == ACCEPT:
        side, d = d, k
        threshold = 2.0 * place.beta * dim_at(m, d).scale - dim_at(m, d).epsilon
        return (i, j, d, NOBODY, threshold) if side == 0 else (j, i, d, NOBODY, threshold)
    scale, epsilon = dim_at(m, d).scale, dim_at(m, d).epsilon
    if kind == STALE:
        return i, i, d, j, place.stale * scale
    if kind == NEAR:
        return i, j, d, NOBODY, place.near * scale - epsilon
    if kind == RESOLVE:
        threshold = apart_wanted(place.beta, scale, epsilon)
        return (j, i, d, NOBODY, threshold) if k == 0 else (i, j, d, NOBODY, threshold)
    if kind == REJECT:
        return j, i, d, NOBODY, 2.0 * place.beta * scale
    return j, i, d, NOBODY, place.beta * scale + (epsilon if kind == FAR else 0.0)


@bare
def clears(m: Memory, item: int, now: int, end: int, place: Radii) -> bool:
    """Return whether an item cannot fire in (now, end]; at `place` are radii below those of these rounds.

    The boxes of the outer window are tried first, which costs no draw. A window much longer than
    what the last attempt made likely is not tried.
    """
    row = item_at(m, item)
    if end - now > 2 * row.reach:
        return False
    beta = place.beta
    if not has_watch(m, item):
        if row.kind == RESOLVE:
            row.two = near_group(m, row.one, row.three, beta)
        else:
            row.two, row.three, _ = beaten_by(m, row.one, beta)
        if row.two == NOBODY:
            return False
    if row.kind == REJECT and not may_reject(m, row.one, row.two, beta):
        return True
    for k in range(atoms_of(m, item)):
        i, j, d, arm, threshold = atom(m, item, k, place)
        low = cell_at(m, j, d).low if arm == NOBODY else member_at(m, j, arm, d).low
        if cell_at(m, i, d).high - low < threshold:
            continue
        if arm == NOBODY:
            moves, base = cell_at(m, j, d).open != 0, lower_ends(m, j, d, now, end)
        else:
            moves = True
            base = ends(m, unit_of(m, j, arm, d), column_of(m, d), now, end)
        reach = stays_below(m, i, d, arm, base, moves, threshold, now, end)
        if reach < NEVER:
            row.reach = int(reach)
            return False
    row.reach = 4 * (end - now)
    return True


@bare
def next_candidate(m: Memory, item: int, start: int) -> int:
    """Return the first round from `start` on, in the sprint, at which an item may fire.

    A watch that has left G makes every round a candidate.
    """
    place = level_place(m, m.stop)
    if start > m.stop:
        return NEVER
    if not has_watch(m, item):
        return start
    stop = m.stop - m.start
    found = stop
    for k in range(atoms_of(m, item)):
        i, j, d, arm, threshold = atom(m, item, k, place)
        low = cell_at(m, j, d).low if arm == NOBODY else member_at(m, j, arm, d).low
        if cell_at(m, i, d).high - low < threshold:
            continue
        upper = fill_row(m, i, d)
        if arm == NOBODY:
            lower = fill_row(m, j, d)
        else:
            u = unit_of(m, j, arm, d)
            reveal_stretch(m, u, m.start, m.stop)
            lower = means_at(m, u, column_of(m, d))
        level = threshold - 1e-13 * (abs(threshold) + abs(upper[0]) + abs(lower[0]))
        for r in range(start - m.start - 1, found):
            if upper[r] - lower[r] >= level:
                found = r
                break
    return m.start + 1 + found if found < stop else NEVER
