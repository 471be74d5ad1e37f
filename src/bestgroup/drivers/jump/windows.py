"""Windows of the engine of TE and TE+: cleared, halved or sprinted, whatever the tests are."""

from __future__ import annotations

from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.guards import clears, is_dead, next_candidate
from bestgroup.drivers.jump.memory import (
    AFTER,
    DIM_COUNT,
    ENDS,
    FROM,
    GROUP_COUNT,
    LEVEL,
    NOW,
    PACE,
    ROW,
    SPRINT,
    STRETCH,
    TO,
    USED,
    Reals,
    Words,
    cell_at,
    item_at,
)
from bestgroup.drivers.jump.pairs import FOUND, NOT_ALONE, duel
from bestgroup.drivers.jump.queue import (
    UNUSED,
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
    outer_place,
    set_radii,
)
from bestgroup.drivers.jump.risk import guard_risk


@bare
def outer_length(Z: Words, now: int) -> int:
    """Return the length of the next outer window: after one without items it is as long as can be."""
    return max(1, now // Z[PACE] if Z[USED] > 0 else now)


@bare
def start_window(Z: Words, F: Reals, now: int, end: int) -> None:
    """Make (now, end] the outer window."""
    Z[NOW], Z[LEVEL], Z[Z[ENDS]] = now, 0, end
    guard_risk(Z, F)
    set_radii(Z, F, outer_place(Z), now, end)


@bare
def find_sprint(Z: Words, F: Reals) -> bool:
    """Go on in the outer window until the one on top must be sprinted; False if it is over."""
    while Z[LEVEL] >= 0:
        live = first_live(Z)
        if live >= 0:
            if Z[item_at(Z, live) + AFTER] < 0:
                code = duel(Z, F, live)
                if code == FOUND:
                    return True
                if code != NOT_ALONE:
                    continue
            _clear_live(Z, F, Z[NOW], top_end(Z))
        if first_live(Z) < 0:
            end_window(Z)
        elif top_end(Z) - Z[NOW] > SPRINT:
            halve_window(Z)
            inherit_radii(Z, F)
        else:
            return True
    return False


@bare
def _clear_live(Z: Words, F: Reals, now: int, end: int) -> None:
    """Move the live items that cannot fire up to `end` to its list."""
    place = level_place(Z, F, end)
    item = first_live(Z)
    while item >= 0:
        after = Z[item_at(Z, item) + AFTER]
        if is_dead(Z, item):
            move(Z, item, UNUSED)
        elif clears(Z, F, item, now, end, place):
            move(Z, item, Z[LEVEL])
        item = after


@bare
def begin_sprint(Z: Words, F: Reals) -> None:
    """Begin to go through the window on top round by round."""
    Z[STRETCH] += 1
    Z[FROM], Z[TO] = Z[NOW], top_end(Z)
    guard_risk(Z, F)
    find_candidates(Z, F, Z[NOW] + 1)


@bare
def find_candidates(Z: Words, F: Reals, start: int) -> None:
    """Set for every live item the first round at which it may fire."""
    item = first_live(Z)
    while item >= 0:
        after = Z[item_at(Z, item) + AFTER]
        schedule(Z, item, next_candidate(Z, F, item, start))
        item = after


@bare
def end_sprint(Z: Words) -> None:
    """Clear all items up to the end of the sprint."""
    Z[STRETCH] += 1
    item = first_live(Z)
    while item >= 0:
        after = Z[item_at(Z, item) + AFTER]
        move(Z, item, Z[LEVEL])
        item = after


@bare
def forget_rows(Z: Words) -> None:
    """Forget the efficiencies at the rounds of a sprint: their rivals may change."""
    for i in range(Z[GROUP_COUNT]):
        for d in range(Z[DIM_COUNT]):
            Z[cell_at(Z, i, d) + ROW] = -1
