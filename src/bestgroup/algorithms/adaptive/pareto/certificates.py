"""The certificates of `adaptive` for Pareto groups: what is proven, and the tests that prove it."""

from __future__ import annotations

import math
from typing import NamedTuple

from bestgroup.algorithms.adaptive.pareto.blocks import (
    COUNT,
    GROUP,
    LEAST_ERROR,
    LEAST_MEAN,
    LEVEL,
    MEAN,
    count_blocks,
    end_of_block,
    group_at,
    put_leader,
)
from bestgroup.algorithms.adaptive.pareto.ledger import (
    BLOCK,
    BY_OVER,
    BY_WON,
    GAIN,
    Ledger,
    Levels,
    kind_at,
)
from bestgroup.algorithms.adaptive.pareto.naming import take_surprises
from bestgroup.algorithms.adaptive.pareto.scores import strength
from bestgroup.algorithms.adaptive.pareto.split import (
    bet_scale,
    dearness,
    largest_bet,
    precision,
    share_of_dim,
    share_of_rival,
)
from bestgroup.algorithms.adaptive.pareto.view import (
    ACCEPTED,
    REJECTED,
    UNDECIDED,
    Duties,
    Room,
    Split,
    keeps_lists,
    spread_at,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.normal import pair_evidence, pair_evidence_above
from bestgroup.inference.evalues.pair_wealth import pair_lack
from bestgroup.inference.kinds import GAUSSIAN, SUBGAUSSIAN
from bestgroup.problem.arrays import Bools, Floats, Ints

_RANGE = 0.05  # the weight of the evidence by the scale that a range gives; bets have the rest
_LOG_RANGE, _LOG_BETS = math.log(_RANGE), math.log(1.0 - _RANGE)
_WORTH = 0.25  # of the level: no test of bets at less strength
_SOONER, _LEAST_GROWTH, _MOST_GROWTH = 0.25, 0.006, 0.25  # by how much counts grow to the next test
_ROUNDING = 1e-9
_SINGLE = 1e-4  # more than single precision takes from a strength
NEARLY = 2.0 * (1.0 - _ROUNDING)
_RETRY = 0.7  # a failed test is repeated when the strength has grown by this share of its lack


NO_NEWS, DECIDED, REOPENED = 0, 1, 2  # what `decide` returns


class Spread(NamedTuple):
    """The part of a view that says how strong a duel is; a whole view is slow to hand over."""

    variance: Floats  # [N, K, D]
    bend: Floats  # [D]


class News(NamedTuple):
    """What has changed since the last step."""

    touched: Bools  # [N, K]  arms with new pulls
    turned: Bools  # [N, D]   dims in which the leader is one of them, or is another one than before
    leader: Ints  # [N, D]    the arm of the largest mean


@borrowing
def lack(
    ledger: Ledger,
    arms: tuple[int, int, int, int],
    d: int,
    shift: float,
    level: float,
    levels: Levels,
    room: Floats,
) -> float:
    """Return what is missing to prove mu_im + shift > mu_jk in dim d; <= 0 if nothing is."""
    kind = levels.box.kind[d]
    if kind == SUBGAUSSIAN:
        return lack_of_scale(ledger, arms, d, shift, level, 1.0)
    if kind == GAUSSIAN:
        return lack_of_bets(ledger, kind, arms, d, shift, level, room)
    # An average of two supermartingales is one: bets, and the scale that the range gives.
    rest = lack_of_scale(ledger, arms, d, shift, level - _LOG_RANGE, 0.5)
    if rest <= 0.0:
        return rest
    level += math.log1p(-math.exp(-rest)) - _LOG_BETS
    return lack_of_bets(ledger, kind, arms, d, shift, level, room)


@borrowing
def lack_of_known(
    ledger: Ledger,
    arms: tuple[int, int, int, int],
    d: int,
    shift: float,
    level: float,
    levels: Levels,
    room: Floats,
) -> float:
    """Return the same where the noise of all dims is sub-Gaussian with a known scale."""
    return lack_of_scale(ledger, arms, d, shift, level, 1.0)


@borrowing
def lack_of_bets(
    ledger: Ledger,
    kind: int,
    arms: tuple[int, int, int, int],
    d: int,
    shift: float,
    level: float,
    room: Floats,
) -> float:
    """Return what is missing by wealth of bets, whose scales follow from what scouting saw."""
    i, m, j, k = arms
    v_a, v_b = ledger.base_variance[i, m, d], ledger.base_variance[j, k, d]
    n_a, n_b = ledger.base_counts[i, m], ledger.base_counts[j, k]
    seen = ledger.base_mean[i, m, d] - ledger.base_mean[j, k, d] + shift
    gap = max(abs(seen), math.sqrt(v_a / n_a + v_b / n_b))
    upper, lower = (ledger.price[i, m], v_a), (ledger.price[j, k], v_b)
    most_a = most_b = math.inf
    if kind != GAUSSIAN:
        most_a = largest_bet(ledger.base_centre[i, m, d], v_a / n_a)
        most_b = largest_bet(1.0 - ledger.base_centre[j, k, d], v_b / n_b)
    bets = (bet_scale(gap, upper, lower), most_a), (bet_scale(gap, lower, upper), most_b)
    errors = math.sqrt(v_a / ledger.counts[i, m]), math.sqrt(v_b / ledger.counts[j, k])
    a, b = ledger.stat[i, m, d], ledger.stat[j, k, d]
    return pair_lack(kind, a, b, bets, errors, shift, level, room)


@borrowing
def lack_of_scale(
    ledger: Ledger,
    arms: tuple[int, int, int, int],
    d: int,
    shift: float,
    level: float,
    scale: float,
) -> float:
    """Return what is missing by half-normal mixtures, where noise is sub-Gaussian with that scale."""
    i, m, j, k = arms
    n_a, n_b = ledger.counts[i, m], ledger.counts[j, k]
    gap = (ledger.mean[i, m, d] - ledger.mean[j, k, d] + shift) / scale
    seen = (ledger.base_mean[i, m, d] - ledger.base_mean[j, k, d] + shift) / scale
    q = precision(seen, ledger.base_counts[i, m], ledger.base_counts[j, k])
    q_a = q * dearness(ledger.price[j, k], ledger.price[i, m])
    q_b = q * dearness(ledger.price[i, m], ledger.price[j, k])
    above = pair_evidence_above(gap, n_a, n_b, q_a, q_b)
    if above < level:
        return level - above
    return level - pair_evidence(gap, n_a, n_b, q_a, q_b)


@borrowing
def note_over(ledger: Ledger, duties: Duties, arms: tuple[int, int, int, int], d: int) -> None:
    """Record that j, by its arm m, beats arm k of i in dim d."""
    j, m, i, k = arms
    duties.over[j, i, k, d] = True
    ledger.over_by[j, i, k, d] = m
    ledger.beaten[j, i] += 1
    if has_fallen(ledger, j, i):
        ledger.fallen[i] = True
        ledger.news[0] = True


@borrowing
def has_fallen(ledger: Ledger, j: int, i: int) -> bool:
    """Return whether j beats all arms of i in all dims."""
    return bool(ledger.beaten[j, i] == ledger.sizes[i] * ledger.mean.shape[2])


@borrowing
def note_won(ledger: Ledger, duties: Duties, arms: tuple[int, int, int, int], d: int) -> None:
    """Record that arm k of j does not beat i, by its arm m, by epsilon in dim d."""
    i, m, j, k = arms
    duties.won[i, j, k, d] = True
    ledger.won_by[i, j, k, d] = m
    ledger.wins[i, j, d] += 1
    if ledger.wins[i, j, d] == ledger.sizes[j] and not duties.settled[i, j]:
        duties.settled[i, j] = True
        duties.unsettled[i] -= 1
        ledger.news[0] = True


@borrowing
def may_beat(duties: Duties, j: int) -> bool:
    """Return whether proofs that j is beaten still matter."""
    return duties.status[j] == UNDECIDED


@borrowing
def may_settle(duties: Duties, i: int, j: int) -> bool:
    """Return whether proofs that j does not beat i by epsilon still matter."""
    if duties.status[i] != UNDECIDED or duties.status[j] == REJECTED:
        return False
    return not duties.settled[i, j]


@borrowing
def note_leaders(ledger: Ledger, split: Split, spread: Spread, leader: Ints, g: int) -> None:
    """Keep what tests read of g side by side with the other groups: leaders, and the easiest arms."""
    for d in range(leader.shape[1]):
        m = leader[g, d]
        mean, count, level = ledger.mean[g, m, d], ledger.counts[g, m], split.arm[g, m, d]
        lowest, error = math.inf, math.inf
        for k in range(ledger.counts.shape[1]):
            if ledger.counts[g, k] > 0.0:
                lowest = min(lowest, ledger.mean[g, k, d])
                error = min(error, spread_at(spread.variance, g, k, d) / ledger.counts[g, k])
        if keeps_lists(ledger.order):
            put_leader(ledger, d, g, (mean, count, level), (lowest, error))
        else:
            ledger.lead_mean[d, g], ledger.lead_count[d, g] = mean, count
            ledger.lead_level[d, g] = level
            ledger.least_mean[d, g], ledger.least_error[d, g] = lowest, error


@borrowing
def try_group(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    spread: Spread,
    news: News,
    room: Room,
    g: int,
) -> None:
    """Do all tests that new pulls of group g can have changed.

    On the upper side the leaders matter, on the lower side the arms that were touched. What may be
    tested in a dim is listed first: no test of another pair changes that.
    """
    leader = news.leader
    (N, K), D = news.touched.shape, leader.shape[1]
    for d in range(D):
        count = 0
        if news.turned[g, d] and ledger.counts[g, leader[g, d]] > 0.0:
            count = list_above(ledger, duties, split, levels, spread, leader, room, g, d)
        for k in range(K):
            if news.touched[g, k] and ledger.counts[g, k] > 0.0:
                arm = g, k, count
                count = list_below(ledger, duties, split, levels, spread, leader, room, arm, d)
        fetch_pairs(ledger, duties, split, room, count, d)
        for at in range(count):
            i, j, k = pair_at(room.found[at], N, K)
            arms = i, int(leader[i, d]), j, k
            try_pair(ledger, duties, split, levels, spread, room.proof, arms, d)


@borrowing
def pair_at(place: int, N: int, K: int) -> tuple[int, int, int]:
    """Return the groups i and j, and the arm k of j, of an entry of a list of pairs."""
    rest = place // K
    return rest // N, rest % N, place % K


@borrowing
def list_above(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    spread: Spread,
    leader: Ints,
    room: Room,
    g: int,
    d: int,
) -> int:
    """List what the leader of g in dim d may be shown above: arms of others; return how many.

    Lists are written at every place and grow where a test holds: branches that nobody can foresee
    would take most of the time.
    """
    counts, mean, status, group = ledger.counts, ledger.mean, duties.status, split.reject
    least_mean, least_error, due = ledger.least_mean[d], ledger.least_error[d], ledger.due[g, d]
    (N, K), found, passed = counts.shape, room.found, room.passed
    m, shift, bend = leader[g, d], levels.epsilon[d], spread.bend[d]
    n_a, v_a, share = counts[g, m], spread_at(spread.variance, g, m, d), split.arm[g, m, d]
    kind, level = kind_at(levels.box.kind, d), levels.level + share
    best, error, own, hold = mean[g, m, d], v_a / n_a, split.accept[g], status[g] == UNDECIDED
    top, near, count, order, bounds = best + shift, 0, 0, ledger.order, ledger.bounds[d]
    for b in range(count_blocks(order)):
        if keeps_lists(order):
            floor = least_strength(kind, level + min(own, bounds[GROUP, b]))
            wide, least = top - bounds[LEAST_MEAN, b], bounds[LEAST_ERROR, b]
            if not wide > 0.0 or wide * wide < NEARLY * floor * (error + least):
                continue
        for at in range(b * BLOCK, end_of_block(order, b, N)):
            o = group_at(order, d, at)
            wide, floor = top - least_mean[at], least_strength(kind, level + min(own, group[o]))
            passed[near] = o
            # No arm of o is further below, or has less of an error.
            far = wide * wide < NEARLY * floor * (error + least_error[at])
            near += wide > 0.0 and not far
    for at in range(near):
        o = passed[at]
        if o == g or status[o] == REJECTED or not (hold or status[o] == UNDECIDED):
            continue
        floor = least_strength(kind, level + min(own, group[o]))
        for k in range(K):
            target = float(due[o, k])
            wide = (best if target < 0.0 else top) - mean[o, k, d]
            target = max(floor, abs(target) + share) if target != 0.0 else floor
            v_b = spread_at(spread.variance, o, k, d)
            found[count] = (g * N + o) * K + k
            count += wide > 0.0 and reaches(wide, bend, n_a, counts[o, k], v_a, v_b, target)
    return count


@borrowing
def list_below(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    spread: Spread,
    leader: Ints,
    room: Room,
    arm: tuple[int, int, int],
    d: int,
) -> int:
    """List whose leaders in dim d may be shown above arm k of g, behind so many entries.

    A group that is rejected may still beat g.
    """
    (g, k, count), (N, K), found, passed = arm, ledger.counts.shape, room.found, room.passed
    status, group, variance = duties.status, split.accept, spread.variance
    counts, means, shares = ledger.lead_count[d], ledger.lead_mean[d], ledger.lead_level[d]
    n_b, v_b = ledger.counts[g, k], spread_at(variance, g, k, d)
    mean, kind, bend = ledger.mean[g, k, d], kind_at(levels.box.kind, d), spread.bend[d]
    base, beat, own, near = mean - levels.epsilon[d], may_beat(duties, g), split.reject[g], 0
    order, bounds = ledger.order, ledger.bounds[d]
    for b in range(count_blocks(order)):
        if keeps_lists(order):
            least = levels.level + bounds[LEVEL, b] + min(own, bounds[GROUP, b])
            wide, floor, most = (
                bounds[MEAN, b] - base,
                least_strength(kind, least),
                bounds[COUNT, b],
            )
            # No leader has less of a variance than none.
            if not (wide > 0.0 and reaches(wide, bend, most, n_b, 0.0, v_b, floor)):
                continue
        for at in range(b * BLOCK, end_of_block(order, b, N)):
            o = group_at(order, d, at)
            wide, v_a = means[at] - base, spread_at(variance, o, leader[o, d], d)
            floor = least_strength(kind, levels.level + shares[at] + min(own, group[o]))
            passed[near] = at
            near += wide > 0.0 and reaches(wide, bend, counts[at], n_b, v_a, v_b, floor)
    for entry in range(near):
        at = passed[entry]
        o = group_at(order, d, at)
        if o == g or not (beat or status[o] == UNDECIDED):
            continue
        floor = least_strength(kind, levels.level + shares[at] + min(own, group[o]))
        target, v_a = due_from(ledger, o, d, g, k), spread_at(variance, o, leader[o, d], d)
        wide = means[at] - (mean if target < 0.0 else base)
        target = max(floor, abs(target) + shares[at]) if target != 0.0 else floor
        found[count] = (o * N + g) * K + k
        count += wide > 0.0 and reaches(wide, bend, counts[at], n_b, v_a, v_b, target)
    return count


@borrowing
def due_from(ledger: Ledger, i: int, d: int, j: int, k: int) -> float:
    """Return when a test of i above arm k of j is due, where i changes from one to the next."""
    if len(ledger.due_back) > 0:
        return float(ledger.due_back[d, j, k, i])
    return float(ledger.due[i, d, j, k])


@borrowing
def fetch_pairs(
    ledger: Ledger, duties: Duties, split: Split, room: Room, count: int, d: int
) -> None:
    """Read once what the tests of listed pairs will read.

    With many groups none of it is in the processor's cache. Here reads follow upon each other, so that
    it waits for all of them at once; within the tests it would wait for each.
    """
    (N, K), total = ledger.counts.shape, 0.0
    for at in range(count):
        i, j, k = pair_at(room.found[at], N, K)
        total += ledger.wait[i, j, k, d, BY_OVER] + ledger.wait[i, j, k, d, BY_WON]
        total += duties.settled[i, j] + ledger.due[i, d, j, k]
        if len(split.pair) > 0:
            total += split.pair[i, j, d] + ledger.due_back[d, j, k, i]
    room.costs[0] = total  # a sum that nobody asks for would not be made


@borrowing
def reaches(
    gap: float, bend: float, n_a: float, n_b: float, v_a: float, v_b: float, floor: float
) -> bool:
    """Return whether a strength is at least about the floor."""
    return n_a > 0.0 and n_b > 0.0 and strength(gap, bend, n_a, n_b, v_a, v_b) >= floor


@borrowing
def reaches_known(
    gap: float, bend: float, n_a: float, n_b: float, v_a: float, v_b: float, floor: float
) -> bool:
    """Return the same where the variances are 1, without a division."""
    return gap * gap * (n_a * n_b) >= 2.0 * floor * (n_a + n_b)


@borrowing
def try_pair(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    spread: Spread,
    room: Floats,
    arms: tuple[int, int, int, int],
    d: int,
) -> None:
    """Do the tests of arm m of i against arm k of j in dim d that matter and may succeed.

    What is proven waits for ever: whether it is need not be read from tables of its own.
    """
    i, m, j, k = arms
    n_a, n_b = ledger.counts[i, m], ledger.counts[j, k]
    if not (n_a > 0.0 and n_b > 0.0):
        return
    v_a, v_b = spread_at(spread.variance, i, m, d), spread_at(spread.variance, j, k, d)
    bend, kind, level = (
        spread.bend[d],
        kind_at(levels.box.kind, d),
        levels.level + split.arm[i, m, d],
    )
    gap = ledger.mean[i, m, d] - ledger.mean[j, k, d]
    if may_beat(duties, j) and gap > 0.0:
        wanted = level + split.reject[j] + share_of_rival(split, j, i)
        z = strength(gap, bend, n_a, n_b, v_a, v_b)
        if is_time(kind, ledger.wait[i, j, k, d, BY_OVER], n_a, n_b, z, wanted):
            test_over(ledger, duties, levels, arms, d, z, wanted, room)
    gap += levels.epsilon[d]
    if may_settle(duties, i, j) and gap > 0.0:
        wanted = level + split.accept[i] + share_of_dim(split, i, j, d)
        z = strength(gap, bend, n_a, n_b, v_a, v_b)
        if is_time(kind, ledger.wait[i, j, k, d, BY_WON], n_a, n_b, z, wanted):
            test_won(ledger, duties, levels, arms, d, z, wanted, room)
    set_due(ledger, duties, split, levels, arms, d)


@borrowing
def set_due(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    arms: tuple[int, int, int, int],
    d: int,
) -> None:
    """Note at which strength a test of i above arm k of j can be of use again."""
    i, _, j, k = arms
    wait, later = ledger.wait[i, j, k, d, BY_OVER], ledger.wait[i, j, k, d, BY_WON]
    over = may_beat(duties, j) and wait != math.inf
    won = may_settle(duties, i, j) and later != math.inf
    least = math.inf
    if over:
        least = split.reject[j] + share_of_rival(split, j, i) + (wait if wait != 0.0 else -GAIN)
    if won:
        rest = split.accept[i] + share_of_dim(split, i, j, d) + (later if later != 0.0 else -GAIN)
        least = min(least, rest)
    least = levels.level + least - _SINGLE
    if (over or won) and kind_at(levels.box.kind, d) != SUBGAUSSIAN:
        least = 0.0  # it goes by counts, too
    due = max(least, 0.0) if won or not over else -max(least, 0.0)
    ledger.due[i, d, j, k] = due
    if len(ledger.due_back) > 0:
        ledger.due_back[d, j, k, i] = due


@borrowing
def least_strength(kind: int, wanted: float) -> float:
    """Return a strength below which `is_time` says no, whatever the last failure was."""
    least = wanted - GAIN if kind == SUBGAUSSIAN else _WORTH * wanted
    return least * (1.0 - _ROUNDING) - _ROUNDING


@borrowing
def try_fronts(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    spread: Spread,
    front: Ints,
    room: Floats,
    g: int,
) -> None:
    """Do the same tests where costs differ: by the front of a group against each other one."""
    counts, mean, variance, kinds = ledger.counts, ledger.mean, spread.variance, levels.box.kind
    for o in range(len(duties.status)):
        for side in range(2):
            i, j = (g, o) if side == 0 else (o, g)
            beat, settle = may_beat(duties, j), may_settle(duties, i, j)
            if o == g or not (beat or settle):
                continue
            for d in range(mean.shape[2]):
                f, m = front[0, i, j, d], front[1, i, j, d]
                bend, kind = spread.bend[d], kind_at(kinds, d)
                for k in range(counts.shape[1]):
                    n_b, v_b = counts[j, k], spread_at(variance, j, k, d)
                    if not n_b > 0.0:
                        continue
                    gap = mean[i, m, d] - mean[j, k, d]
                    if beat and gap > 0.0 and not duties.over[i, j, k, d] and counts[i, m] > 0.0:
                        wanted = levels.level + split.arm[i, m, d]
                        wanted = wanted + split.reject[j] + share_of_rival(split, j, i)
                        z = strength(
                            gap, bend, counts[i, m], n_b, spread_at(variance, i, m, d), v_b
                        )
                        wait = ledger.wait[i, j, k, d, BY_OVER]
                        if is_time(kind, wait, counts[i, m], n_b, z, wanted):
                            test_over(ledger, duties, levels, (i, m, j, k), d, z, wanted, room)
                    gap = mean[i, f, d] - mean[j, k, d] + levels.epsilon[d]
                    if settle and gap > 0.0 and not duties.won[i, j, k, d] and counts[i, f] > 0.0:
                        wanted = levels.level + split.arm[i, f, d]
                        wanted = wanted + split.accept[i] + share_of_dim(split, i, j, d)
                        z = strength(
                            gap, bend, counts[i, f], n_b, spread_at(variance, i, f, d), v_b
                        )
                        wait = ledger.wait[i, j, k, d, BY_WON]
                        if is_time(kind, wait, counts[i, f], n_b, z, wanted):
                            test_won(ledger, duties, levels, (i, f, j, k), d, z, wanted, room)


@borrowing
def is_time(kind: int, wait: float, n_a: float, n_b: float, z: float, wanted: float) -> bool:
    """Return whether a test may succeed, as far as its strength and the last failure tell."""
    if kind == SUBGAUSSIAN:
        return z >= wanted + (wait if wait != 0.0 else -GAIN)
    return z >= _WORTH * wanted and n_a * n_b >= wait * (n_a + n_b)


@borrowing
def next_time(
    ledger: Ledger,
    levels: Levels,
    arms: tuple[int, int, int, int],
    d: int,
    z: float,
    wanted: float,
    rest: float,
) -> float:
    """Return when to repeat a failed test: by strength, or by counts where variances are estimated."""
    if kind_at(levels.box.kind, d) == SUBGAUSSIAN:
        return (z - wanted) + _RETRY * rest
    i, m, j, k = arms
    n_a, n_b = ledger.counts[i, m], ledger.counts[j, k]
    growth = min(max(_SOONER * rest / z, _LEAST_GROWTH), _MOST_GROWTH)
    return n_a * n_b / (n_a + n_b) * (1.0 + growth)


@borrowing
def test_over(
    ledger: Ledger,
    duties: Duties,
    levels: Levels,
    arms: tuple[int, int, int, int],
    d: int,
    z: float,
    wanted: float,
    room: Floats,
) -> None:
    """Test whether arm m of i beats arm k of j in dim d."""
    i, _, j, k = arms
    rest = lack(ledger, arms, d, 0.0, wanted, levels, room)
    wait = next_time(ledger, levels, arms, d, z, wanted, rest)
    ledger.wait[i, j, k, d, BY_OVER] = wait if rest > 0.0 else math.inf
    if rest <= 0.0:
        note_over(ledger, duties, arms, d)


@borrowing
def test_won(
    ledger: Ledger,
    duties: Duties,
    levels: Levels,
    arms: tuple[int, int, int, int],
    d: int,
    z: float,
    wanted: float,
    room: Floats,
) -> None:
    """Test whether arm k of j does not beat arm m of i by epsilon in dim d."""
    i, _, j, k = arms
    rest = lack(ledger, arms, d, levels.epsilon[d], wanted, levels, room)
    wait = next_time(ledger, levels, arms, d, z, wanted, rest)
    ledger.wait[i, j, k, d, BY_WON] = wait if rest > 0.0 else math.inf
    if rest <= 0.0:
        note_won(ledger, duties, arms, d)


@borrowing
def try_boxes(ledger: Ledger, duties: Duties, slack: Floats, exists: Bools, g: int) -> None:
    """Do all tests with boxes that new pulls of group g can have changed."""
    N, K = exists.shape
    for o in range(N):
        for side in range(2):
            i, j = (g, o) if side == 0 else (o, g)
            beat, settle = may_beat(duties, j), may_settle(duties, i, j)
            if i == j or not (beat or settle):
                continue
            for d in range(len(slack)):
                m = 0
                for n in range(1, K):
                    if exists[i, n] and ledger.low[i, n, d] > ledger.low[i, m, d]:
                        m = n
                for k in range(K):
                    if not exists[j, k]:
                        continue
                    apart = ledger.low[i, m, d] - ledger.high[j, k, d]
                    if beat and apart >= 0.0 and not duties.over[i, j, k, d]:
                        note_over(ledger, duties, (i, m, j, k), d)
                    if settle and apart + slack[d] >= 0.0 and not duties.won[i, j, k, d]:
                        note_won(ledger, duties, (i, m, j, k), d)


@borrowing
def decide(ledger: Ledger, duties: Duties, split: Split) -> int:
    """Reject groups that are beaten, then accept groups that are settled against all others.

    Returns NO_NEWS, or DECIDED where a status has changed, or REOPENED where a surprise has also taken
    back what was proven.
    """
    status, N = duties.status, len(duties.status)
    if not ledger.news[0]:
        return NO_NEWS
    ledger.news[0] = False
    news = NO_NEWS
    for i in range(N):
        if status[i] == UNDECIDED and ledger.fallen[i]:
            j = 0
            while j == i or not has_fallen(ledger, j, i):
                j += 1
            status[i] = REJECTED
            ledger.beaten_by[i] = j
            news = DECIDED
            for o in range(N):
                if o != i and not duties.settled[o, i]:
                    duties.unsettled[o] -= 1
    # Before acceptances, which a surprise may put off, and after them, since they may be surprises.
    reopened = split.named[0] and take_surprises(ledger, duties, split)
    for i in range(N):
        if status[i] == UNDECIDED and duties.unsettled[i] == 0:
            status[i] = ACCEPTED
            news = DECIDED
    if split.named[0] and take_surprises(ledger, duties, split):
        reopened = True
    return REOPENED if reopened else news
