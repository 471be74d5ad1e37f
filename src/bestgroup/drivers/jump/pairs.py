"""The only live item of a window: two walks, followed down to the round at which it may fire.

Near its firing an item is looked at in thousands of windows, in nearly all of which it is alone. Then
the sums of the two walks that its atom compares are kept on a ladder, a rung for each end of a
window, and go into the lists of the walks only when the duel is over. Every end of a window that is
known for a walk is on the stack of ends, so a walk is never known between NOW and the next end.
"""

from __future__ import annotations

import math

from bestgroup.compile.records import bare
from bestgroup.drivers.jump.envelopes import (
    NOBODY,
    ROUNDING,
    front,
    others_stay_below,
)
from bestgroup.drivers.jump.guards import atom, atoms_of, has_watch, is_dead
from bestgroup.drivers.jump.memory import (
    SPARE,
    UNUSED,
    Memory,
    cell_at,
    dim_at,
    factors,
    item_at,
    member_at,
    radii_at,
    rung_at,
    unit_of,
    values_at,
    window_at,
)
from bestgroup.drivers.jump.queue import (
    move,
)
from bestgroup.drivers.jump.radii import is_coarse, level_place, set_radii
from bestgroup.drivers.jump.risk import add_risk
from bestgroup.drivers.jump.walks import ends, log_value, reserve_noise, settle

NOT_ALONE, WENT, FOUND = 0, 1, 2  # no duel, or not here; time went on; the next round may fire


@bare
def duel(m: Memory, item: int) -> int:
    """Go on in time as long as an item is the only live one, and return what stopped it."""
    if is_dead(m, item):
        move(m, item, UNUSED)
        return WENT
    if not _choose(m, item) or not _load(m, item):
        return NOT_ALONE
    item_at(m, item).reach = 2**60
    now, level, known = m.now, m.level, m.level
    rung = rung_at(m, level)
    up, low = m.sum_up, m.sum_low
    spread = m.spread
    while True:
        end = window_at(m, level).end
        length, theta = end - now, rung.theta
        guard = ROUNDING * (abs(rung.up) + abs(rung.low) + end * abs(theta))
        before = low - up + now * theta - guard
        after = rung.low - rung.up + end * theta - guard
        if after > 0.0 and (length == 1 or (before > 0.0 and before * after > spread * length)):
            if length > 1:
                add_risk(m, before * after / (spread * length))
            now, up, low = end, rung.up, rung.low
            if window_at(m, level).first >= 0:
                _leave(m, now, (known + 1, level), up, low)
                m.level = level
                move(m, item, level)
                return WENT
            level -= 1
            rung = rung_at(m, max(level, 0))
            if level < known:
                _leave(m, now, (0, 0), up, low)
                m.level = known = level
                if level < 0:
                    return WENT
                if not _load(m, item):
                    return NOT_ALONE
        elif length == 1:
            _leave(m, now, (known + 1, level + 1), up, low)
            m.level = level
            return FOUND
        else:
            level += 1
            rung = rung_at(m, level)
            window_at(m, level).end = now + length // 2
            _halve(m, item, now, level, up, low)


@bare
def _choose(m: Memory, item: int) -> bool:
    """Set what a duel is about, if only one atom of the item may fail and its dim is drawn alone."""
    if m.columns > 1 or m.now == 0 or not has_watch(m, item):
        return False
    m.guard = _only_atom(m, item)
    if m.guard < 0:
        return False
    i, j, d, arm, _ = atom(m, item, m.guard, radii_at(m, SPARE))
    m.upper = m.lower = m.champion = -1
    if cell_at(m, i, d).open:
        m.champion = front(m, i, d, arm)
        if m.champion < 0:
            return False
        m.upper = unit_of(m, i, m.champion, d)
    if arm != NOBODY:
        m.lower = unit_of(m, j, arm, d)
    elif cell_at(m, j, d).open:
        m.lower = unit_of(m, j, front(m, j, d, NOBODY), d)
    m.value_up, m.value_low = values_at(m, i)[d], values_at(m, j)[d]
    m.step = factors(m)[d]
    m.spread = dim_at(m, d).spread * ((m.upper >= 0) + (m.lower >= 0))
    return m.spread > 0.0


@bare
def _only_atom(m: Memory, item: int) -> int:
    """Return the only atom of an item that may fail in the outer window; -1 if there are more."""
    place, found = level_place(m, window_at(m, m.level).end), -1
    for k in range(atoms_of(m, item)):
        i, j, d, arm, threshold = atom(m, item, k, place)
        low = cell_at(m, j, d).low if arm == NOBODY else member_at(m, j, arm, d).low
        if cell_at(m, i, d).high - low >= threshold:
            if found >= 0:
                return -1
            found = k
    return found


@bare
def _load(m: Memory, item: int) -> bool:
    """Set the rung of the window on top from the lists; whether no other rival matters there."""
    now, end = m.now, window_at(m, m.level).end
    place = level_place(m, end)
    i, _, d, arm, theta = atom(m, item, m.guard, place)
    up, low = now * m.value_up, now * m.value_low
    up_end, low_end = end * m.value_up, end * m.value_low
    if m.upper >= 0:
        up, up_end = ends(m, m.upper, 0, now, end)
    if m.lower >= 0:
        low, low_end = ends(m, m.lower, 0, now, end)
    rung = rung_at(m, m.level)
    rung.up, rung.low, rung.theta, rung.until = up_end, low_end, theta, place.until
    m.sum_up, m.sum_low = up, low
    if m.upper < 0 or cell_at(m, i, d).rivals == 1:
        return True
    first = low + now * theta - ROUNDING * (abs(low) + now * abs(theta))
    last = low_end + end * theta - ROUNDING * (abs(low_end) + end * abs(theta))
    moves = m.lower >= 0
    return others_stay_below(m, i, d, m.champion, arm, first, last, moves, now, end) == math.inf


@bare
def _halve(m: Memory, item: int, now: int, level: int, up: float, low: float) -> None:
    """Draw the rung of a level in the middle of the window below it."""
    middle, end = window_at(m, level).end, window_at(m, level - 1).end
    rung, under, normals = rung_at(m, level), rung_at(m, level - 1), reserve_noise(m, 2)
    share = (middle - now) / (end - now)
    deviation = m.step * math.sqrt((middle - now) * (1.0 - share))
    rung.up, rung.low = middle * m.value_up, middle * m.value_low
    if m.upper >= 0:
        rung.up = up + share * (under.up - up) + deviation * normals[0]
        log_value(m, m.upper, middle, rung.up)
    if m.lower >= 0:
        rung.low = low + share * (under.low - low) + deviation * normals[1]
        log_value(m, m.lower, middle, rung.low)
    window_at(m, level).first = -1
    radii_at(m, level).beta = 0.0
    theta, until = under.theta, under.until
    if is_coarse((until - middle) * theta, (middle - now) * m.step**2):
        set_radii(m, radii_at(m, SPARE), now, middle)
        theta, until = atom(m, item, m.guard, radii_at(m, SPARE))[4], middle
    rung.theta, rung.until = theta, until


@bare
def _leave(m: Memory, now: int, levels: tuple[int, int], up: float, low: float) -> None:
    """Set NOW, and put the two walks' points there and at the ends of some levels into their lists."""
    m.now = now
    if m.upper >= 0:
        settle(m, m.upper, True, levels, up)
    if m.lower >= 0:
        settle(m, m.lower, False, levels, low)
