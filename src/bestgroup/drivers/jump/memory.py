"""The memory of a run: tables of typed records in one block, reached from one record, `Memory`.

Compiled functions hand on one pointer to it, which is five times as fast as a named tuple of
arrays. This module alone lays out the block and computes addresses; all others import it as `at`
and name records and fields: `at.item(m, k).when`, `at.envelope(m, i, d).low`.

A *unit* is what is revealed at once: one walk (group, arm, dim) for independent dims, one arm with
a column for each dim otherwise. An *item* is a test of the algorithm that may fire.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestgroup.compile.records import (
    WORD,
    Numbers,
    after,
    array,
    bare,
    floats,
    ints,
    record,
    table,
    words,
)
from bestgroup.problem.arrays import Floats, Ints

SPRINT = 16  # the longest stretch of rounds that is revealed completely
BUFFER = 256  # normals drawn ahead
DEPTH = 64  # the most windows in each other
LIVE, UNUSED = DEPTH, DEPTH + 1  # lists of items besides those of the windows
SPARE = DEPTH  # radii that belong to no window
PRESENT = DEPTH  # the row of the clock at `now`; the rows of a sprint follow


@record
class Memory:
    """Sizes, addresses of tables, and what there is one of."""

    # Sizes: groups, arms of the largest group, dims; dims of a unit, normals for a point of it, units.
    N: int
    K: int
    D: int
    columns: int
    noises: int
    units: int
    # Room in tables that may turn out too small, and the size of a point in words.
    item_room: int
    point_room: int
    log_room: int
    boundary_room: int
    point_size: int
    # Addresses of tables.
    groups: int
    envelopes: int
    members: int
    arms: int
    unit_table: int
    walks: int
    means: int
    rows: int
    values: int
    dims: int
    factors: int
    items: int
    windows: int
    radii: int
    rungs: int
    clocks: int
    boundaries: int
    points: int
    log: int
    normals: int
    stream: int
    scratch: int
    # The walks: normals used of the buffer, first free row, first row never used, points drawn,
    # certificates besides those of points, points logged.
    drawn: int
    free: int
    fresh: int
    revealed: int
    passed: int
    logged: int
    # The sprint: its number, and its rounds (start, stop].
    stretch: int
    start: int
    stop: int
    # The event queue: the round that all is known up to, the innermost window, items made, the first
    # item with a blocker, the length of outer windows (rounds before it over pace).
    now: int
    level: int
    used: int
    blocked: int
    pace: int
    # The run: pulls of arms that are done, arms that are pulled, whether the outer window must be
    # screened anew, the round of the last event, whether acceptances wait for its end, whether
    # the run is over and how.
    retired: int
    width: int
    again: int
    round: int
    pending: int
    ended: int
    # The comparison of two walks: the guard that it is about, the units above and below (-1 for a
    # constant), the arm above; the constants, the deviation of a step, the squared band of a step,
    # the sums at `now`.
    guard: int
    upper: int
    lower: int
    champion: int
    value_up: float
    value_low: float
    step: float
    spread: float
    sum_up: float
    sum_low: float
    # The radius: of TE kind and three numbers; of TE+ (paired) only the factor.
    paired: int
    radius_kind: int
    radius_events: float
    radius_delta: float
    radius_factor: float
    # The risk: L of a new run, L now, the risk of a band, L of comparisons of pairs, what a sure one
    # adds, the probability so far that any was wrong, certificates counted; the share of a band that
    # is its expectation.
    first_doubt: float
    doubt: float
    band_risk: float
    pair_doubt: float
    sure_risk: float
    spent: float
    counted: int
    lift: float


@record
class Group:
    """A group: its status, who blocks it, and where its items begin."""

    active: int  # in G
    accepted: int
    blocker: int  # of its acceptance
    side: int  # on which the blocker blocks
    cover: int  # whether it covers others as a possible rejector, or is covered
    own_items: int  # the first item about it
    other_items: int  # the first item about a pair of which it is the other one
    rejector: int  # the k-th group that may have to reject others, whoever k is
    undecided: int  # TE+: before the last round with events
    changed: int  # TE+: whether a `near` of it was recorded since its items were looked through


@record
class Envelope:
    """The efficiency of a group in a dim: who can attain it, and bounds over the outer window."""

    open: int  # in D_i
    rivals: int  # arms that can attain the efficiency in the outer window
    lead: int  # the arm with the largest lower bound
    solid: int  # whether the lower bound outlives the lead
    blocker: int  # of its resolution
    row: int  # the sprint that its row is of
    low: float
    high: float


@record
class Member:
    """An arm as a member of A_{i,d}."""

    active: int
    rival: int  # the k-th rival of the env, whoever k is
    low: float
    high: float


@record
class Arm:
    """An arm: its pulls."""

    count: int  # final pulls; 0 while it is pulled, -1 if there is no such arm
    own: int  # EECB: pulls when one of its dims was last left out


@record
class Unit:
    """A unit in sprints: which it is known in, and from which count on."""

    stamp: int
    base: int


@record
class Walk:
    """A column of a unit: its mean, and that of its rewards at the count where a sprint begins."""

    drift: float
    base_mean: float


@record
class Dim:
    """A dim: what the rule says of it, and what certificates need."""

    scale: float
    epsilon: float
    weight: float
    deviation: float  # of a step
    band: float  # of one step: s sqrt(L / 2)
    spread: float  # its square, in comparisons of pairs
    top: float  # the largest efficiency in it


@record
class Item:
    """A test that may fire: what it is about, when, and its neighbours in lists."""

    kind: int
    group: int
    other: int  # group, or arm
    dim: int  # or the side of a blocker
    when: int  # the round at which it may fire
    reach: int  # the length of window that may clear it
    after: int
    before: int
    list: int
    next_own: int  # the next item about its group
    next_other: int  # the next about the other group, or the next that has a blocker


@record
class Window:
    """A window that ends here, and the first of the items that are cleared up to there."""

    end: int
    first: int


@record
class Radii:
    """Numbers below all radii of some rounds, for scale 1, and the last of these rounds."""

    beta: float  # TE+: of `above` and `far`
    near: float
    stale: float
    until: float


@record
class Rung:
    """The end of a window in a comparison of two walks: both sums, the threshold, its last round."""

    up: float
    low: float
    theta: float
    until: float


@record
class Clock:
    """n^d at a round, and a number below the radius there, times the scale."""

    count: int
    radius: float


@record
class Point:
    """A known point of a unit: its count and the row of the next one; its sums follow."""

    time: float
    next: int


@record
class Logged:
    """A point in the log; its sums follow."""

    unit: float
    time: float


class Rooms(NamedTuple):
    """How much there is room for."""

    items: int
    points: int
    log: int
    boundaries: int


def make_memory(
    sizes: tuple[int, int, int], law: tuple[Floats, Floats], rooms: Rooms
) -> tuple[Ints, Any]:
    """Return the block of memory and its `Memory`, for (N, K, D) and (drifts [U, W], factor [D, M])."""
    N, K, D = sizes
    drifts, factor = law
    units, columns = drifts.shape
    point = words(Point) + columns
    tables = {
        "groups": N * words(Group),
        "envelopes": N * D * words(Envelope),
        "members": N * D * K * words(Member),
        "arms": N * K * words(Arm),
        "unit_table": units * words(Unit),
        "walks": drifts.size * words(Walk),
        "means": drifts.size * SPRINT,
        "rows": N * D * SPRINT,
        "values": N * D,
        "dims": D * words(Dim),
        "factors": factor.size,
        "items": rooms.items * words(Item),
        "windows": (DEPTH + 2) * words(Window),
        "radii": (DEPTH + 1) * words(Radii),
        "rungs": DEPTH * words(Rung),
        "clocks": (DEPTH + SPRINT + 1) * D * words(Clock),
        "boundaries": rooms.boundaries,
        "points": rooms.points * point,
        "log": rooms.log * point,
        "normals": BUFFER,
        "stream": 4,
        "scratch": SPRINT,
    }
    block = np.zeros(words(Memory) + sum(tables.values()), np.int64)
    m = _memory(block.ctypes.data, 0)
    m.N, m.K, m.D, m.columns, m.noises, m.units = N, K, D, columns, factor.shape[1], units
    m.item_room, m.point_room, m.log_room, m.boundary_room = rooms
    m.point_size = point
    address = block.ctypes.data + WORD * words(Memory)
    for name, size in tables.items():
        setattr(m, name, address)
        address += WORD * size
    for k, value in enumerate(factor.ravel()):
        factors(m)[k] = value
    for w, value in enumerate(drifts.ravel()):
        _walk(m.walks, w).drift = value
    return block, m


_memory, _group, _envelope, _member = table(Memory), table(Group), table(Envelope), table(Member)
_arm, _unit, _walk, _dim, _item = table(Arm), table(Unit), table(Walk), table(Dim), table(Item)
_window, _radii, _rung, _clock = table(Window), table(Radii), table(Rung), table(Clock)
_point, _logged = table(Point), table(Logged)
sums, logged_sums = after(Point), after(Logged)  # of a point, one for each column


@bare
def memory(address: int) -> Memory:
    """Return the memory in a block."""
    return _memory(address, 0)


@bare
def group(m: Memory, i: int) -> Group:
    """Return a group."""
    return _group(m.groups, i)


@bare
def envelope(m: Memory, i: int, d: int) -> Envelope:
    """Return the envelope of R_i^d."""
    return _envelope(m.envelopes, i * m.D + d)


@bare
def member(m: Memory, i: int, j: int, d: int) -> Member:
    """Return an arm in A_{i,d}."""
    return _member(m.members, (i * m.D + d) * m.K + j)


@bare
def arm(m: Memory, i: int, j: int) -> Arm:
    """Return an arm."""
    return _arm(m.arms, i * m.K + j)


@bare
def row(m: Memory, i: int, d: int) -> Numbers:
    """Return R_i^d at the rounds of a sprint."""
    return floats(m.rows, (i * m.D + d) * SPRINT)


@bare
def values(m: Memory, i: int) -> Numbers:
    """Return the efficiencies of a group that were last noted, [D]."""
    return floats(m.values, i * m.D)


@bare
def dim(m: Memory, d: int) -> Dim:
    """Return a dim."""
    return _dim(m.dims, d)


@bare
def factors(m: Memory) -> Numbers:
    """Return a root of the covariance, [D, M]; for independent dims a deviation for each."""
    return floats(m.factors, 0)


@bare
def unit(m: Memory, u: int) -> Unit:
    """Return a unit."""
    return _unit(m.unit_table, u)


@bare
def walk(m: Memory, u: int, column: int) -> Walk:
    """Return a column of a unit."""
    return _walk(m.walks, u * m.columns + column)


@bare
def means(m: Memory, u: int, column: int) -> Numbers:
    """Return the means of a walk at the rounds of a sprint."""
    return floats(m.means, (u * m.columns + column) * SPRINT)


@bare
def point(m: Memory, row: int) -> Point:
    """Return a point."""
    return _point(m.points + row * m.point_size * WORD, 0)


@bare
def logged(m: Memory, k: int) -> Logged:
    """Return the k-th point of the log."""
    return _logged(m.log + k * m.point_size * WORD, 0)


@bare
def item(m: Memory, k: int) -> Item:
    """Return an item."""
    return _item(m.items, k)


@bare
def window(m: Memory, level: int) -> Window:
    """Return a window, or a list of items besides."""
    return _window(m.windows, level)


@bare
def radii(m: Memory, level: int) -> Radii:
    """Return the radii of a window."""
    return _radii(m.radii, level)


@bare
def rung(m: Memory, level: int) -> Rung:
    """Return the end of a window in a comparison of two walks."""
    return _rung(m.rungs, level)


@bare
def clock(m: Memory, row: int, d: int) -> Clock:
    """Return n^d in a row of clocks."""
    return _clock(m.clocks, row * m.D + d)


@bare
def boundary(m: Memory, cell: int) -> Numbers:
    """Return the three boundaries of a cell of rounds."""
    return floats(m.boundaries, 3 * cell)


@bare
def normals(m: Memory, k: int) -> Numbers:
    """Return the normals drawn ahead from the k-th on."""
    return floats(m.normals, k)


@bare
def stream(m: Memory) -> Numbers:
    """Return the four words of the noise."""
    return ints(m.stream, 0)


@bare
def scratch(m: Memory) -> Numbers:
    """Return numbers at the rounds of a sprint, for immediate use."""
    return floats(m.scratch, 0)


@bare
def unit_of(m: Memory, i: int, j: int, d: int) -> int:
    """Return the number of the unit of a walk."""
    return i * m.K + j if m.columns > 1 else (i * m.K + j) * m.D + d


@bare
def column_of(m: Memory, d: int) -> int:
    """Return the column of a walk within its unit."""
    return d if m.columns > 1 else 0


def logged_points(m: Memory) -> Floats:
    """Return the points of the last run, [points, 2 + W]: unit, count, sums."""
    size = m.logged * m.point_size
    return array(floats(m.log, 0), size).reshape(-1, m.point_size).copy()
