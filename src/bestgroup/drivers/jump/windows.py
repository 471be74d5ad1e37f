"""Windows of the engine of TE and TE+: cleared, halved or sprinted, whatever the tests are."""

from __future__ import annotations

from bestgroup.compile.records import bare
from bestgroup.drivers.jump.guards import clears, is_dead, next_candidate
from bestgroup.drivers.jump.memory import (
    SPRINT,
    UNUSED,
    Memory,
    cell_at,
    item_at,
    radii_at,
    window_at,
)
from bestgroup.drivers.jump.pairs import FOUND, NOT_ALONE, duel
from bestgroup.drivers.jump.queue import (
    end_window,
    first_live,
    halve_window,
    move,
    schedule,
    top_end,
)
from bestgroup.drivers.jump.radii import (
    inherit_radii,
    level_place,
    set_radii,
)
from bestgroup.drivers.jump.risk import guard_risk


@bare
def outer_length(m: Memory, now: int) -> int:
    """Return the length of the next outer window: after one without items it is as long as can be."""
    return max(1, now // m.pace if m.used > 0 else now)


@bare
def start_window(m: Memory, now: int, end: int) -> None:
    """Make (now, end] the outer window."""
    m.now, m.level, window_at(m, 0).end = now, 0, end
    guard_risk(m)
    set_radii(m, radii_at(m, 0), now, end)


@bare
def find_sprint(m: Memory) -> bool:
    """Go on in the outer window until the one on top must be sprinted; False if it is over."""
    while m.level >= 0:
        live = first_live(m)
        if live >= 0:
            if item_at(m, live).after < 0:
                code = duel(m, live)
                if code == FOUND:
                    return True
                if code != NOT_ALONE:
                    continue
            _clear_live(m, m.now, top_end(m))
        if first_live(m) < 0:
            end_window(m)
        elif top_end(m) - m.now > SPRINT:
            halve_window(m)
            inherit_radii(m)
        else:
            return True
    return False


@bare
def _clear_live(m: Memory, now: int, end: int) -> None:
    """Move the live items that cannot fire up to `end` to its list."""
    place = level_place(m, end)
    item = first_live(m)
    while item >= 0:
        after = item_at(m, item).after
        if is_dead(m, item):
            move(m, item, UNUSED)
        elif clears(m, item, now, end, place):
            move(m, item, m.level)
        item = after


@bare
def begin_sprint(m: Memory) -> None:
    """Begin to go through the window on top round by round."""
    m.stretch += 1
    m.start, m.stop = m.now, top_end(m)
    guard_risk(m)
    find_candidates(m, m.now + 1)


@bare
def find_candidates(m: Memory, start: int) -> None:
    """Set for every live item the first round at which it may fire."""
    item = first_live(m)
    while item >= 0:
        after = item_at(m, item).after
        schedule(m, item, next_candidate(m, item, start))
        item = after


@bare
def end_sprint(m: Memory) -> None:
    """Clear all items up to the end of the sprint."""
    m.stretch += 1
    item = first_live(m)
    while item >= 0:
        after = item_at(m, item).after
        move(m, item, m.level)
        item = after


@bare
def forget_rows(m: Memory) -> None:
    """Forget the efficiencies at the rounds of a sprint: their rivals may change."""
    for i in range(m.N):
        for d in range(m.D):
            cell_at(m, i, d).row = -1
