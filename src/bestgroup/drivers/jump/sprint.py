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
from bestgroup.compile.records import bare
from bestgroup.drivers.jump.envelopes import (
    REJECT,
    RESOLVE,
    STALE,
    note_efficiency,
)
from bestgroup.drivers.jump.guards import is_dead
from bestgroup.drivers.jump.memory import (
    UNUSED,
    Memory,
    cell_at,
    column_of,
    dim_at,
    efficiencies,
    group_at,
    item_at,
    means_at,
    row_at,
    unit_of,
    values_at,
)
from bestgroup.drivers.jump.queue import (
    NEVER,
    first_live,
    move,
)


@kernel
def fires(m: Memory, rule: Rule, item: int, when: int, beta: float) -> bool:
    """Return whether an item fires at a round; if not, it now watches what blocks it there."""
    row = item_at(m, item)
    kind, i, j, d = row.kind, row.one, row.two, row.three
    if kind == REJECT:
        return _rejects(m, rule, item, when, beta)
    if kind == RESOLVE:
        return _resolves(m, item, when, beta)
    if kind == STALE:
        k = when - m.start - 1
        mean = means_at(m, unit_of(m, i, j, d), column_of(m, d))[k]
        return stale_margin(row_at(m, i, d)[k], mean, beta, dim_at(m, d).scale) >= 0.0
    return _accepts(m, rule, item, when, beta)


@kernel
def _rejects(m: Memory, rule: Rule, item: int, when: int, beta: float) -> bool:
    row, D = item_at(m, item), m.D
    i, j = row.one, row.two
    for step in range(D):
        d = (row.three + step) % D
        own, other = note_efficiency(m, i, d, when), note_efficiency(m, j, d, when)
        if reject_margin_in(own, other, beta, dim_at(m, d).scale) < 0.0:
            row.three = d
            return False
    R = efficiencies(m)
    return reject_margin(R, R, i, j, beta, rule) >= 0.0


@bare
def _resolves(m: Memory, item: int, when: int, beta: float) -> bool:
    row = item_at(m, item)
    i, d = row.one, row.three
    own = note_efficiency(m, i, d, when)
    wanted = apart_wanted(beta, dim_at(m, d).scale, dim_at(m, d).epsilon)
    for j in range(m.N):
        if not group_at(m, j).active or j == i:
            continue
        box = cell_at(m, j, d)
        if apart_margin(own, own, box.high, box.low, wanted) >= 0.0:
            continue  # apart anywhere in the box of j
        other = note_efficiency(m, j, d, when)
        if apart_margin(own, own, other, other, wanted) < 0.0:
            row.two = j
            return False
    return True


@kernel
def _accepts(m: Memory, rule: Rule, item: int, when: int, beta: float) -> bool:
    row, D = item_at(m, item), m.D
    R = efficiencies(m)
    i = row.one
    for d in range(D):
        note_efficiency(m, i, d, when)
    for j in range(m.N):
        if not group_at(m, j).active or j == i or _separate(m, i, j, beta):
            continue
        for d in range(D):
            note_efficiency(m, j, d, when)
        for side in range(2):
            one, two = (i, j) if side == 0 else (j, i)
            if not excess_margin(R, R, one, two, beta, rule) >= 0.0:
                row.two, row.three = j, side
                return False
    return True


@bare
def _separate(m: Memory, i: int, j: int, beta: float) -> bool:
    """Return whether j blocks i, whose efficiencies are noted, on neither side, anywhere in j's box."""
    above, below = False, False
    for d in range(m.D):
        scale, epsilon = dim_at(m, d).scale, dim_at(m, d).epsilon
        own, box = values_at(m, i)[d], cell_at(m, j, d)
        above = above or excess_margin_in(own, box.high, beta, scale, epsilon) >= 0.0
        below = below or excess_margin_in(box.low, own, beta, scale, epsilon) >= 0.0
    return above and below


@bare
def earliest(m: Memory) -> int:
    """Return the live item that may fire first, in the order of rounds and phases, or -1."""
    item, best, round_, kind = first_live(m), -1, NEVER, 0
    while item >= 0:
        row = item_at(m, item)
        after = row.after
        if is_dead(m, item):
            move(m, item, UNUSED)
        elif row.when < round_ or (row.when == round_ < NEVER and row.kind < kind):
            best, round_, kind = item, row.when, row.kind
        item = after
    return best
