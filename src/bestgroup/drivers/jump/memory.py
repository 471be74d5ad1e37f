"""Where everything lies in the two arrays of the jump engine.

A run lives in one array of integers, `Z`, and one of floats, `F`: compiled functions pass two
arrays instead of thirty, which made them five times as fast. The first entries of `Z` hold sizes,
the places of the tables, and meters; a table is a sequence of records with fixed fields, at
`Z[TABLE] + number * size`.

A *cell* is a pair (group, dim); a *unit* is what is revealed at once, one walk (group, arm, dim)
for independent dims, one arm with a column for each dim otherwise; an *item* is a test that may
fire.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from bestgroup.compile.pointers import bare
from bestgroup.problem.arrays import Bools, Floats, Ints

# Z and F; numpy's stubs would take an entry at a computed place for an array.
Words: TypeAlias = Any
Reals: TypeAlias = Any

SPRINT = 16  # the longest stretch of rounds that is revealed completely
BUFFER = 256  # normals drawn ahead
DEPTH = 64  # the most window ends on the stack
LISTS = DEPTH + 2  # lists of items: one for each end, LIVE and UNUSED

# Sizes.
GROUP_COUNT, ARM_COUNT, DIM_COUNT, COLUMNS, NOISES, UNIT_COUNT = range(6)
# Tables in Z.
GROUPS, CELLS, CELL_SIZE, COUNTS, STAMPS, ITEMS, ITEM_ROOM, HEADS, ENDS, STREAM = range(6, 16)
# Tables in F.
BOXES, BOX_SIZE, VALUES, SCALES, EPSILONS, BANDS, FACTORS, DRIFTS, DENSE = range(16, 25)
POINTS, POINT_ROOM, POINT_SIZE, NORMALS, LOG, LOG_ROOM = range(25, 31)
# Meters: of the walks, of the sprint, of the calendar, of the pulls.
DRAWN, FREE, FRESH, REVEALED, PASSED, LOGGED = range(31, 37)
STRETCH, FROM, TO = range(37, 40)
NOW, LEVEL, USED = range(40, 43)
RETIRED, WIDTH, AGAIN, ROUND = range(43, 47)
TOPS = 47  # a table in F: the largest efficiency of each dim
# Tables of EECB: in Z the clocks at ends of windows and at rounds of a sprint, the counts of arms when
# one of their dims was last left out, the counts from which units are sprinted; in F the radii at the
# clocks, the means at those counts, the weights, the share of a band that is its expectation.
CLOCKS, OWN, BASES, RADII, BASE_MEANS, WEIGHTS, LIFT, ENDED = range(48, 56)
PACE = 56  # an outer window is as long as the rounds before it, divided by this
# Chains of items: by the group they are about, by the rejecting group, and those that watch a group.
ONES, TWOS, WATCHERS = range(57, 60)
# Tables in F: of a duel; for each dim the square of the band of one bridge in comparisons of pairs,
# over one step, and then the deviation of a step; what is risked; radii up to the ends of windows
# and of nothing in particular; the radius; edges of cells of rounds.
DUEL, SPREADS, RISK, LEVEL_RADII, RADIUS, EDGES = range(60, 66)
# Of a duel: the atom, the units above and below, the arm above. Whether radii are those of TE+, and
# room for edges.
DUEL_ATOM, UPPER, LOWER, CHAMPION, PAIRED, EDGE_ROOM = range(66, 72)
COUNTED = 72  # certificates whose risk is counted
REJECTORS = 73  # a table in Z: groups that may have to reject others
HEADER = 74
PRESENT = DEPTH  # the row of the clock at NOW; the rows of a sprint follow

# A group: whether it is in G, was accepted, who blocks its acceptance, and on which side; whether
# it covers others as a possible rejector, or is covered.
ACTIVE, ACCEPTED, GUARD, SIDE, COVER, GROUP_SIZE = range(6)
# A cell: whether it is unresolved, the number of its rivals, the lead, whether its lower bound is
# solid, who blocks its resolution, the stretch that its row is of; then the rivals, then a flag for
# each arm.
OPEN, RIVALS, LEAD, SOLID, WATCH, ROW, RIVAL = range(7)
# The box of a cell: bounds of its efficiency; then a lower bound for each arm, an upper one for
# each arm, and the efficiency at each round of a sprint.
LOW, HIGH, ARM_LOW = range(3)
# An item: its kind, what it is about, the round at which it may fire, the length of window that may
# clear it, its neighbours and its list, and the next ones in its two chains.
KIND, ONE, TWO, THREE, WHEN, REACH, AFTER, BEFORE, LIST, SAME_ONE, SAME_TWO, ITEM_SIZE = range(12)
# A duel in F: values of closed cells, the deviation of a step, the square of the band, sums
# at the beginning, the ladder of ends. A rung: both sums, the threshold, the round whose radius it has.
VALUE_UP, VALUE_LOW, STEP, SPREAD, SUM_UP, SUM_LOW, LADDER = range(7)
RUNG = 4
# Radii of a window: three, and the last round that they hold for.
UNTIL, RADII_SIZE = 3, 4
# What is risked: L of a new run and L now, the risk of a band, L of comparisons of pairs, what a sure
# one adds, the probability so far that any was wrong.
AT_FIRST, DOUBT, BAND_RISK, PAIR_DOUBT, SURELY, SPENT = range(6)
# A point of a walk: its count, the row of the next point, and the sums.
TIME, NEXT, SUM = range(3)


def make_arrays(
    sizes: tuple[int, int, int],
    law: tuple[Floats, Floats],
    exists: Bools,
    rooms: tuple[int, int, int, int],
) -> tuple[Ints, Floats]:
    """Return Z and F for (N, K, D) and (drifts [U, W], factor [D, M]).

    There is room for so many items, points, logged points, edges.
    """
    groups, arms, dims = sizes
    drifts, factor = law
    units, columns = drifts.shape
    cells = groups * dims
    header = np.zeros(HEADER, np.int64)
    header[:6] = groups, arms, dims, columns, factor.shape[1], units
    header[[CELL_SIZE, BOX_SIZE, POINT_SIZE]] = (
        RIVAL + 2 * arms,
        ARM_LOW + 2 * arms + SPRINT,
        SUM + columns,
    )
    header[[ITEM_ROOM, POINT_ROOM, LOG_ROOM, EDGE_ROOM]] = rooms
    ints = {
        GROUPS: groups * GROUP_SIZE, CELLS: cells * header[CELL_SIZE], COUNTS: groups * arms,
        STAMPS: units, ITEMS: rooms[0] * ITEM_SIZE, HEADS: LISTS, ENDS: DEPTH, STREAM: 4, OWN: groups * arms,
        CLOCKS: (DEPTH + SPRINT + 1) * dims, BASES: units, ONES: groups, TWOS: groups,
        REJECTORS: groups,
    }  # fmt: skip
    floats = {
        BOXES: cells * header[BOX_SIZE], VALUES: cells, SCALES: dims, EPSILONS: dims, BANDS: dims,
        FACTORS: factor.size, DRIFTS: drifts.size, DENSE: units * columns * SPRINT,
        POINTS: rooms[1] * header[POINT_SIZE], NORMALS: BUFFER, LOG: rooms[2] * header[POINT_SIZE],
        TOPS: dims, RADII: (DEPTH + SPRINT + 1) * dims, BASE_MEANS: units * columns,
        WEIGHTS: dims, LIFT: 1, DUEL: LADDER + RUNG * DEPTH,
        SPREADS: 2 * dims, RISK: 6, LEVEL_RADII: RADII_SIZE * (DEPTH + 1), RADIUS: 4, EDGES: rooms[3],
    }  # fmt: skip
    Z = np.zeros(_place(header, ints, HEADER), np.int64)
    F = np.zeros(_place(header, floats, 0))
    Z[:HEADER] = header
    F[Z[DRIFTS] : Z[DRIFTS] + drifts.size] = drifts.ravel()
    F[Z[FACTORS] : Z[FACTORS] + factor.size] = factor.ravel()
    Z[Z[COUNTS] : Z[COUNTS] + exists.size] = np.where(exists, 0, -1).ravel()
    return Z, F


def _place(header: Ints, tables: dict[int, int], start: int) -> int:
    """Write where each table begins, and return where the last one ends."""
    for slot, size in tables.items():
        header[slot] = start
        start += int(size)
    return start


@bare
def group_at(Z: Words, i: int) -> int:
    """Return the place of a group in Z."""
    return Z[GROUPS] + i * GROUP_SIZE


@bare
def cell_at(Z: Words, i: int, d: int) -> int:
    """Return the place of a cell in Z."""
    return Z[CELLS] + (i * Z[DIM_COUNT] + d) * Z[CELL_SIZE]


@bare
def box_at(Z: Words, i: int, d: int) -> int:
    """Return the place of the box of a cell in F."""
    return Z[BOXES] + (i * Z[DIM_COUNT] + d) * Z[BOX_SIZE]


@bare
def arm_at(Z: Words, i: int, j: int, d: int) -> int:
    """Return the place in Z of the flag of an arm in A_{i,d}."""
    return cell_at(Z, i, d) + RIVAL + Z[ARM_COUNT] + j


@bare
def row_at(Z: Words, i: int, d: int) -> int:
    """Return the place in F of the efficiencies of a cell in a sprint."""
    return box_at(Z, i, d) + ARM_LOW + 2 * Z[ARM_COUNT]


@bare
def unit_of(Z: Words, i: int, j: int, d: int) -> int:
    """Return the unit of a walk."""
    if Z[COLUMNS] > 1:
        return i * Z[ARM_COUNT] + j
    return (i * Z[ARM_COUNT] + j) * Z[DIM_COUNT] + d


@bare
def column_of(Z: Words, d: int) -> int:
    """Return the column of a walk within its unit."""
    return d if Z[COLUMNS] > 1 else 0


@bare
def dense_at(Z: Words, u: int, column: int) -> int:
    """Return the place in F of the means of a walk in a sprint."""
    return Z[DENSE] + (u * Z[COLUMNS] + column) * SPRINT


@bare
def point_at(Z: Words, row: int) -> int:
    """Return the place of a point in F."""
    return Z[POINTS] + row * Z[POINT_SIZE]


@bare
def item_at(Z: Words, item: int) -> int:
    """Return the place of an item in Z."""
    return Z[ITEMS] + item * ITEM_SIZE
