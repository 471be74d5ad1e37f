"""The memory of a run: tables of typed records in one block, reached from one record, `Memory`.

This module alone lays out the block and computes addresses; all others import it as `at` and name
records and fields: `at.item(m, k).when`, `at.envelope(m, i, d).low`.

A *unit* is what is revealed at once: one walk (group, arm, dim) for independent dims, one arm with
a column for each dim otherwise. An *item* is a test of the algorithm that may fire.
"""

from __future__ import annotations

import numpy as np

from bestgroup.compile.records import Layout, after, array, bare, head_at, record, view, words
from bestgroup.problem.arrays import Floats, Ints

FEW = 16  # so many groups are all compared with each other, and have few events
SPRINT = 16  # the longest stretch of rounds that is revealed completely
BUFFER = 256  # normals drawn ahead, or as many as a sprint of a unit needs
DEPTH = 64  # the most windows in each other
LIVE, UNUSED = DEPTH, DEPTH + 1  # lists of items besides those of the windows
SPARE = DEPTH + 2  # for radii that belong to no window
PRESENT = DEPTH  # the row of the clock at `now`; the rows of a sprint follow
NOBODY = -1  # no group, or no arm
# Kinds of items, in the order of a round: another group rejects the group; a dim of it is resolved; an
# arm leaves a dim; the group is accepted. From SIGN on, what is recorded of a pair of groups in a dim.
REJECT, RESOLVE, STALE, ACCEPT, SIGN = range(5)
OWN, OTHER = range(2)  # sides of an item: which of its two groups would be above when it fires


@record
class Memory:
    """Sizes, addresses of tables, and what there is one of."""

    # Sizes: groups, arms of the largest group, dims, tests of a group against all others; dims of a
    # unit, normals for a point of it, units.
    N: int
    K: int
    D: int
    watches: int
    columns: int
    noises: int
    units: int
    # Room in tables that may turn out too small (cells of rounds with boundaries), and the words of a
    # point.
    item_room: int
    point_room: int
    log_room: int
    cells: int
    point_size: int
    buffer: int
    # The walks: normals used of the buffer, first free row, first row never used, points drawn,
    # certificates besides those of points, points logged.
    drawn: int
    free: int
    fresh: int
    revealed: int
    passed: int
    logged: int
    # The sprint: its number, and its last round; the first is that after `now`.
    stretch: int
    stop: int
    # The event queue: the round that all is known up to, the innermost window, items made, the first
    # item with a blocker, the length of outer windows (rounds before it over pace).
    now: int
    level: int
    used: int
    blocked: int
    pace: int
    # The run: whether the outer window must be screened anew, the round of the last event, whether
    # acceptances wait for its end, whether the run is over and how. EECB: epsilon ||w||_1.
    again: int
    round: int
    pending: int
    ended: int
    slack: float
    # TE+: rounds with events since the last window, and of how many sprints there was one in lately.
    fired: int
    busy: float
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
    cover: int  # whether it covers others as a possible rejector, or is covered
    own_items: int  # the first item about it
    other_items: int  # the first item about a pair of which it is the other one
    rejector: int  # the k-th group that may have to reject others, whoever k is


@record
class Envelope:
    """The efficiency of a group in a dim: who can attain it, and bounds over the outer window."""

    open: int  # in D_i
    rivals: int  # arms that can attain the efficiency in the outer window
    lead: int  # the arm with the largest lower bound
    row: int  # the sprint that its row is of
    low: float
    high: float
    value: float  # as last noted


@record
class Watch:
    """Who keeps a group from passing a test against all others: a resolution, or the acceptance."""

    blocker: int
    side: int  # on which it blocks


@record
class Member:
    """An arm as a member of A_{i,d}."""

    active: int
    rival: int  # the k-th rival of the env, whoever k is
    low: float
    high: float


@record
class Unit:
    """A unit in sprints: which it is known in, from which count on, and for how many further ones."""

    stamp: int
    base: int
    known: int


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
    dim: int
    side: int
    when: int  # the round at which it may fire
    reach: int  # the length of window that may clear it
    after: int
    before: int
    list: int
    next_own: int  # the next item about its group
    next_other: int  # the next about the other group, or the next that has a blocker


@record
class Window:
    """A window: its end, and the items that are cleared up to there."""

    end: int
    first: int  # of its items
    until: int  # the last of the rounds that its radii are for


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


layout = Layout(Memory)
memory = head_at(Memory)  # (address)
group = layout.table(Group, "N")
envelope = layout.table(Envelope, "N", "D")
watch = layout.table(Watch, "N", "watches")  # a resolution for each dim, then the acceptance
member = layout.table(Member, "N", "K", "D")
pulls = layout.numbers(int, "N", "K")  # of an arm when the sets of its group last changed
row = layout.numbers(float, "N", "D", SPRINT + 1)  # R_i^d at `now` and the rounds of a sprint
dim = layout.table(Dim, "D")
factors = layout.numbers(float, "D", "noises")  # a root of the covariance; or deviations, [D, 1]
unit = layout.table(Unit, "units")
drift = layout.numbers(float, "units", "columns")
means = layout.numbers(float, "units", "columns", SPRINT + 1)  # from the base on
point = layout.table(Point, "point_room", width="point_size")
sums = after(Point)  # (point): a sum for each column
log = layout.numbers(float, "log_room", "point_size")  # points as drawn: unit, count, sums
normals = layout.numbers(float, "buffer", 1)  # from the k-th on
stream = layout.numbers(int, 4)  # the state of the noise
item = layout.table(Item, "item_room")
window = layout.table(Window, DEPTH + 3)  # and the lists LIVE and UNUSED, and SPARE
# Of a window: numbers below all radii of its rounds, for scale 1; TE+ has those of `above` and `far`,
# `near`, stale arms.
radii = layout.numbers(float, DEPTH + 3, 3)
clock = layout.table(Clock, DEPTH + SPRINT + 1, "D")
boundary = layout.numbers(float, "cells", 3)  # of TE+, for these radii
scratch = layout.numbers(float, SPRINT + 1)  # for immediate use


@bare
def unit_of(m: Memory, i: int, j: int, d: int) -> int:
    """Return the number of the unit of a walk."""
    return i * m.K + j if m.columns > 1 else (i * m.K + j) * m.D + d


@bare
def column_of(m: Memory, d: int) -> int:
    """Return the column of a walk within its unit."""
    return d if m.columns > 1 else 0


def make_memory(
    sizes: tuple[int, int, int], law: tuple[Floats, Floats], **rooms: int
) -> tuple[Ints, Memory]:
    """Return the block of memory and its `Memory`, for (N, K, D) and (drifts [U, W], factor [D, M])."""
    (N, K, D), (drifts, factor) = sizes, law
    (units, columns), noises = drifts.shape, factor.shape[1]
    size = words(Point) + columns
    law_sizes = {"units": units, "columns": columns, "noises": noises, "point_size": size}
    rooms["buffer"] = max(BUFFER, SPRINT * noises)
    block, m = layout.make(N=N, K=K, D=D, watches=D + 1, **law_sizes, **rooms)
    array(factors(m, 0), factor.size)[:] = factor.ravel()
    view(dim(m, 0), D)["deviation"] = np.sqrt((factor**2).sum(axis=1))
    array(drift(m, 0), drifts.size)[:] = drifts.ravel()
    return block, m
