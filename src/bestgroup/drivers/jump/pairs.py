"""The only live item of a window: two walks, followed down to the round at which it may fire.

Near its firing an item is looked at in thousands of windows, in nearly all of which it is alone. Then
the sums of the two walks that its atom compares are kept on a ladder, a rung for each end of a
window, and go into the lists of the walks only when the duel is over. Every end of a window that is
known for a walk is on the stack of ends, so a walk is never known between NOW and the next end.
"""

from __future__ import annotations

import math

from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.envelopes import (
    NOBODY,
    ROUNDING,
    front,
    others_stay_below,
    value_at,
)
from bestgroup.drivers.jump.guards import atom, atoms_of, has_watch, is_dead
from bestgroup.drivers.jump.memory import (
    ARM_LOW,
    CHAMPION,
    COLUMNS,
    DUEL,
    DUEL_ATOM,
    ENDS,
    FACTORS,
    HEADS,
    HIGH,
    LADDER,
    LEVEL,
    LEVEL_RADII,
    LOW,
    LOWER,
    NOW,
    OPEN,
    RADII_SIZE,
    REACH,
    RIVALS,
    RUNG,
    SPREAD,
    SPREADS,
    STEP,
    SUM_LOW,
    SUM_UP,
    UNTIL,
    UPPER,
    VALUE_LOW,
    VALUE_UP,
    Reals,
    Words,
    box_at,
    cell_at,
    item_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import UNUSED, move
from bestgroup.drivers.jump.radii import is_coarse, level_place, set_radii, spare_place
from bestgroup.drivers.jump.risk import add_risk
from bestgroup.drivers.jump.walks import ends, log_value, reserve_noise, settle

NOT_ALONE, WENT, FOUND = 0, 1, 2  # no duel, or not here; time went on; the next round may fire


@bare
def duel(Z: Words, F: Reals, item: int) -> int:
    """Go on in time as long as an item is the only live one, and return what stopped it."""
    if is_dead(Z, item):
        move(Z, item, UNUSED)
        return WENT
    if not _choose(Z, F, item) or not _load(Z, F, item):
        return NOT_ALONE
    Z[item_at(Z, item) + REACH] = 2**60
    now, level, known = Z[NOW], Z[LEVEL], Z[LEVEL]
    rung = Z[DUEL] + LADDER + RUNG * level
    up, low = F[Z[DUEL] + SUM_UP], F[Z[DUEL] + SUM_LOW]
    spread = F[Z[DUEL] + SPREAD]
    while True:
        end = Z[Z[ENDS] + level]
        length, theta = end - now, F[rung + 2]
        guard = ROUNDING * (abs(F[rung]) + abs(F[rung + 1]) + end * abs(theta))
        before = low - up + now * theta - guard
        after = F[rung + 1] - F[rung] + end * theta - guard
        if after > 0.0 and (length == 1 or (before > 0.0 and before * after > spread * length)):
            if length > 1:
                add_risk(Z, F, before * after / (spread * length))
            now, up, low = end, F[rung], F[rung + 1]
            if Z[Z[HEADS] + level] >= 0:
                _leave(Z, F, now, (known + 1, level), up, low)
                Z[LEVEL] = level
                move(Z, item, level)
                return WENT
            level -= 1
            rung -= RUNG
            if level < known:
                _leave(Z, F, now, (0, 0), up, low)
                Z[LEVEL] = known = level
                if level < 0:
                    return WENT
                if not _load(Z, F, item):
                    return NOT_ALONE
        elif length == 1:
            _leave(Z, F, now, (known + 1, level + 1), up, low)
            Z[LEVEL] = level
            return FOUND
        else:
            level += 1
            rung += RUNG
            Z[Z[ENDS] + level] = now + length // 2
            _halve(Z, F, item, now, level, up, low)


@bare
def _choose(Z: Words, F: Reals, item: int) -> bool:
    """Set what a duel is about, if only one atom of the item may fail and its dim is drawn alone."""
    if Z[COLUMNS] > 1 or Z[NOW] == 0 or not has_watch(Z, item):
        return False
    Z[DUEL_ATOM] = _only_atom(Z, F, item)
    if Z[DUEL_ATOM] < 0:
        return False
    i, j, d, arm, _ = atom(Z, F, item, Z[DUEL_ATOM], spare_place(Z))
    Z[UPPER] = Z[LOWER] = Z[CHAMPION] = -1
    if Z[cell_at(Z, i, d) + OPEN]:
        Z[CHAMPION] = front(Z, F, i, d, arm)
        if Z[CHAMPION] < 0:
            return False
        Z[UPPER] = unit_of(Z, i, Z[CHAMPION], d)
    if arm != NOBODY:
        Z[LOWER] = unit_of(Z, j, arm, d)
    elif Z[cell_at(Z, j, d) + OPEN]:
        Z[LOWER] = unit_of(Z, j, front(Z, F, j, d, NOBODY), d)
    own = Z[DUEL]
    F[own + VALUE_UP], F[own + VALUE_LOW] = F[value_at(Z, i, d)], F[value_at(Z, j, d)]
    F[own + STEP] = F[Z[FACTORS] + d]
    F[own + SPREAD] = F[Z[SPREADS] + d] * ((Z[UPPER] >= 0) + (Z[LOWER] >= 0))
    return F[own + SPREAD] > 0.0


@bare
def _only_atom(Z: Words, F: Reals, item: int) -> int:
    """Return the only atom of an item that may fail in the outer window; -1 if there are more."""
    place, found = level_place(Z, F, Z[Z[ENDS] + Z[LEVEL]]), -1
    for k in range(atoms_of(Z, item)):
        i, j, d, arm, threshold = atom(Z, F, item, k, place)
        low = F[box_at(Z, j, d) + (LOW if arm == NOBODY else ARM_LOW + arm)]
        if F[box_at(Z, i, d) + HIGH] - low >= threshold:
            if found >= 0:
                return -1
            found = k
    return found


@bare
def _load(Z: Words, F: Reals, item: int) -> bool:
    """Set the rung of the window on top from the lists; whether no other rival matters there."""
    now, end, own = Z[NOW], Z[Z[ENDS] + Z[LEVEL]], Z[DUEL]
    place = level_place(Z, F, end)
    i, _, d, arm, theta = atom(Z, F, item, Z[DUEL_ATOM], place)
    up, low = now * F[own + VALUE_UP], now * F[own + VALUE_LOW]
    up_end, low_end = end * F[own + VALUE_UP], end * F[own + VALUE_LOW]
    if Z[UPPER] >= 0:
        up, up_end = ends(Z, F, Z[UPPER], 0, now, end)
    if Z[LOWER] >= 0:
        low, low_end = ends(Z, F, Z[LOWER], 0, now, end)
    rung = own + LADDER + RUNG * Z[LEVEL]
    F[rung], F[rung + 1], F[rung + 2], F[rung + 3] = up_end, low_end, theta, F[place + UNTIL]
    F[own + SUM_UP], F[own + SUM_LOW] = up, low
    if Z[UPPER] < 0 or Z[cell_at(Z, i, d) + RIVALS] == 1:
        return True
    first = low + now * theta - ROUNDING * (abs(low) + now * abs(theta))
    last = low_end + end * theta - ROUNDING * (abs(low_end) + end * abs(theta))
    moves = Z[LOWER] >= 0
    return others_stay_below(Z, F, i, d, Z[CHAMPION], arm, first, last, moves, now, end) == math.inf


@bare
def _halve(Z: Words, F: Reals, item: int, now: int, level: int, up: float, low: float) -> None:
    """Draw the rung of a level in the middle of the window below it."""
    own, middle, end = Z[DUEL], Z[Z[ENDS] + level], Z[Z[ENDS] + level - 1]
    rung, normals = own + LADDER + RUNG * level, reserve_noise(Z, F, 2)
    share = (middle - now) / (end - now)
    deviation = F[own + STEP] * math.sqrt((middle - now) * (1.0 - share))
    F[rung], F[rung + 1] = middle * F[own + VALUE_UP], middle * F[own + VALUE_LOW]
    if Z[UPPER] >= 0:
        F[rung] = up + share * (F[rung - RUNG] - up) + deviation * F[normals]
        log_value(Z, F, Z[UPPER], middle, F[rung])
    if Z[LOWER] >= 0:
        F[rung + 1] = low + share * (F[rung - RUNG + 1] - low) + deviation * F[normals + 1]
        log_value(Z, F, Z[LOWER], middle, F[rung + 1])
    Z[Z[HEADS] + level] = -1
    F[Z[LEVEL_RADII] + RADII_SIZE * level] = 0.0
    theta, until = F[rung - RUNG + 2], F[rung - RUNG + 3]
    if is_coarse((until - middle) * theta, (middle - now) * F[own + STEP] ** 2):
        set_radii(Z, F, spare_place(Z), now, middle)
        theta, until = atom(Z, F, item, Z[DUEL_ATOM], spare_place(Z))[4], middle
    F[rung + 2], F[rung + 3] = theta, until


@bare
def _leave(Z: Words, F: Reals, now: int, levels: tuple[int, int], up: float, low: float) -> None:
    """Set NOW, and put the two walks' points there and at the ends of some levels into their lists."""
    Z[NOW] = now
    ladder = Z[DUEL] + LADDER
    if Z[UPPER] >= 0:
        settle(Z, F, Z[UPPER], ladder, levels, up)
    if Z[LOWER] >= 0:
        settle(Z, F, Z[LOWER], ladder + 1, levels, low)
