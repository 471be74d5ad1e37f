"""Whom to pull next: the arms that a decision waits for. No proof rests on it.

A comparison of two groups waits for the lower bound of one and the upper bound of the other. The lower
bound rests on a *witness*, an arm that must be known to count: of the arms that seem to, the one that is
shown to count and to be good enough with the fewest pulls, so that an arm far from its limits may stand
for a slightly better one that is close to one. The upper bound waits for the arm with the largest upper
end that is not barred: pulls of it lower that end, or bar it. Where barring it takes fewer pulls than
comparing it, the witness waits; and while a witness is not known to count, the other arm gets no more
pulls than the comparison will take. For a rank k above 1 the k - 1 arms that
seem to be the best are left alone there, and the witness is the one of the best k whose lower end is
least.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.adaptive.worths.pairs import holds_in, is_left, is_near
from bestgroup.algorithms.adaptive.worths.state import OUT, UNDECIDED, State, WorthRule
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.inference.worths import BARRED, COUNTS
from bestgroup.problem.arrays import Bools, Floats

_EVEN = 0.04  # of all pulls go to all arms that may count alike: no arm stays unlucky for long


@borrowing
def aim(state: State, tally: Tally, rule: WorthRule) -> None:
    """Set the pulls that are wanted next."""
    N, K = rule.exists.shape
    for i in range(N):
        for j in range(K):
            state.want[i, j] = 0
    state.least[0] = math.inf
    if not fill_short(state, tally, rule):
        if rule.pareto:
            for i in range(N):
                if state.status[i] == UNDECIDED:
                    aim_pareto(state, tally, rule, i)
        else:
            aim_best(state, tally, rule)
    else:
        state.least[0] = 0.0  # nothing was looked at
    set_sizes(state, tally, rule)


@borrowing
def fill_short(state: State, tally: Tally, rule: WorthRule) -> bool:
    """Want the arms that have fallen below the floor; returns whether there are any."""
    arms, found = 0, False
    for i in range(len(rule.sizes)):
        arms += rule.sizes[i]
    least = _EVEN * sum_of(tally.counts) / arms
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            open_ = state.status[i] != OUT and state.standing[i, j] != BARRED
            if open_ and tally.counts[i, j] < least:
                want(state, rule, i, j)
                found = True
    return found


@borrowing
def want(state: State, rule: WorthRule, i: int, j: int) -> None:
    """Mark an arm, or all of its group where their counts must stay equal."""
    if rule.sums:
        for k in range(rule.sizes[i]):
            state.want[i, k] = 1
    else:
        state.want[i, j] = 1


@borrowing
def set_sizes(state: State, tally: Tally, rule: WorthRule) -> None:
    """Turn marks into numbers of pulls."""
    marked = max(sum_of(state.want), 1)
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            if state.want[i, j] > 0:
                if rule.share > 0.0:
                    state.want[i, j] = max(1, int(rule.share * tally.counts[i, j]))
                else:
                    state.want[i, j] = max(1, rule.batch // marked)


@borrowing
def reach(state: State, tally: Tally, i: int, j: int, d: int) -> float:
    """Return the half-width of a box times the root of its count; a large number without bounds."""
    wide = state.high[i, j, d] - state.low[i, j, d]
    if not wide < math.inf:
        return 1e30
    return 0.5 * wide * math.sqrt(float(tally.counts[i, j]))


@borrowing
def room_cost(state: State, tally: Tally, rule: WorthRule, i: int, j: int) -> float:
    """Return about how many pulls show that an arm counts."""
    if state.standing[i, j] == COUNTS:
        return 0.0
    most = 0.0
    for k in range(len(rule.limits)):
        d = int(rule.limits[k, 0])
        beyond = rule.limits[k, 1] * (state.means[i, j, d] - rule.limits[k, 2])
        room = rule.limits[k, 3] - beyond
        if not room > 0.0:
            return math.inf
        most = max(most, (reach(state, tally, i, j, d) / room) ** 2)
    return most


@borrowing
def bar_cost(state: State, tally: Tally, rule: WorthRule, i: int, j: int) -> float:
    """Return about how many pulls show that an arm is beyond a limit; inf if it seems to count."""
    least = math.inf
    if state.seems[i, j]:
        return least
    for k in range(len(rule.limits)):
        d = int(rule.limits[k, 0])
        beyond = rule.limits[k, 1] * (state.means[i, j, d] - rule.limits[k, 2])
        if beyond > 0.0:
            least = min(least, (reach(state, tally, i, j, d) / beyond) ** 2)
    return least


@borrowing
def better_arms(state: State, i: int, j: int, d: int, size: int, seeming: bool) -> int:
    """Return how many arms have a larger mean than arm j, of those that seem to count or may."""
    many = 0
    for k in range(size):
        if k == j or (not state.seems[i, k] if seeming else state.standing[i, k] == BARRED):
            continue
        more = state.means[i, k, d] - state.means[i, j, d]
        if more > 0.0 or (more == 0.0 and k < j):
            many += 1
    return many


@borrowing
def witness(
    state: State, tally: Tally, rule: WorthRule, i: int, d: int, lead: float, weight: float
) -> int:
    """Return the arm that the lower bound of group i in dim d waits for; -1 if none seems to count.

    `lead` is how far the group is ahead with its best arm in the dim, which has the given weight.
    """
    rank = rule.ranks[i]
    if rank != 1:
        return lowest(state, rule, i, d, rank)
    best, arm, top, leader = math.inf, -1, -math.inf, -1
    for j in range(rule.sizes[i]):
        if not state.seems[i, j]:
            continue
        mean = state.means[i, j, d]
        if mean > top:
            top, leader = mean, j
        gap = lead - weight * (state.worth[i, d] - mean)
        if gap > 0.0:
            cost = (weight * reach(state, tally, i, j, d) / gap) ** 2
            cost = max(cost, room_cost(state, tally, rule, i, j)) * rule.cost[i, j]
            if cost < best:
                best, arm = cost, j
    return arm if arm >= 0 else leader


@borrowing
def lowest(state: State, rule: WorthRule, i: int, d: int, rank: int) -> int:
    """Return, of the `rank` best arms (of all for rank 0), the one that holds the lower bound back."""
    least, arm = math.inf, -1
    for j in range(rule.sizes[i]):
        if not state.seems[i, j]:
            continue
        if rank > 0 and better_arms(state, i, j, d, rule.sizes[i], True) >= rank:
            continue
        end = state.low[i, j, d] if rank > 0 else state.low[i, j, d] - state.high[i, j, d]
        if len(rule.limits) > 0 and state.standing[i, j] != COUNTS:
            end = -math.inf
        if arm < 0 or end < least:
            least, arm = end, j
    return arm


@borrowing
def highest(state: State, rule: WorthRule, i: int, d: int) -> int:
    """Return the arm that the upper bound of group i in dim d waits for; -1 if all are barred."""
    rank = rule.ranks[i]
    most, arm = -math.inf, -1
    for j in range(rule.sizes[i]):
        if state.standing[i, j] == BARRED:
            continue
        if rank > 1 and better_arms(state, i, j, d, rule.sizes[i], False) < rank - 1:
            continue
        end = state.high[i, j, d] if rank > 0 else state.high[i, j, d] - state.low[i, j, d]
        if arm < 0 or end > most:
            most, arm = end, j
    return arm


@borrowing
def want_open(state: State, tally: Tally, rule: WorthRule, i: int) -> None:
    """Want the least pulled arm of a group that is neither known to count nor barred."""
    arm = -1
    for j in range(rule.sizes[i]):
        if state.standing[i, j] != BARRED and state.standing[i, j] != COUNTS:
            if arm < 0 or tally.counts[i, j] < tally.counts[i, arm]:
                arm = j
    if arm >= 0:
        want(state, rule, i, arm)


@borrowing
def dot(weights: Floats, rows: Floats, i: int) -> float:
    """Return weights . rows[i]."""
    total = 0.0
    for d in range(len(weights)):
        total += weights[d] * rows[i, d]
    return total


@borrowing
def aim_best(state: State, tally: Tally, rule: WorthRule) -> None:
    """Want an arm of the group that leads by the means, or of the one with the largest upper bound."""
    N, D = state.worth.shape
    front, rival, value, top = -1, -1, -math.inf, -math.inf
    for i in range(N):
        if state.status[i] != OUT and dot(rule.weights, state.worth, i) > value:
            front, value = i, dot(rule.weights, state.worth, i)
    if front < 0:
        for i in range(N):
            if state.status[i] != OUT:
                want_open(state, tally, rule, i)
        return
    for i in range(N):
        most = dot(rule.weights, state.upper, i)
        left = state.status[i] != OUT
        if rule.pairs:
            left = is_left(state, i) and not is_near(state, rule, front, i)
        if i != front and left and (rival < 0 or most > top):
            rival, top = i, most
    behind = value
    if rival >= 0:
        behind = dot(rule.weights, state.worth, rival)
    lead = value + rule.slack - behind if behind > -math.inf else math.inf
    most, group, arm = -1.0, -1, -1
    for d in range(D):
        m = witness(state, tally, rule, front, d, lead, rule.weights[d])
        k = -1
        if rival >= 0:
            k = highest(state, rule, rival, d)
            if rule.pairs:
                k = open_arm(state, rule, state.near, front, rival, d)
        # Without arms that are known to count nothing is proven of the front.
        if m >= 0 and len(rule.limits) > 0 and state.standing[front, m] != COUNTS:
            want(state, rule, front, m)
            cost = room_cost(state, tally, rule, front, m)
            note_progress(state, float(tally.counts[front, m]), cost)
        # An arm that is sooner barred than compared needs no pulls of the front.
        if m >= 0 and k >= 0:
            enough = math.inf
            if lead < math.inf:
                behind = state.means[rival, k, d] - state.worth[rival, d]
                behind += state.worth[front, d] - state.means[front, m, d]
                gap = lead / rule.weights[d] - behind
                enough = pulls_to_compare(state, tally, rule, (front, m), (rival, k), d, gap)
            bar = bar_cost(state, tally, rule, rival, k)
            if bar < enough:
                want(state, rule, rival, k)
                note_progress(state, float(tally.counts[rival, k]), bar)
                continue
            note_progress(state, pulls_of_both(tally, (front, m), (rival, k)), enough)
        if m >= 0:
            need = rule.weights[d] * shrinking(state, tally, rule, front, m, d)
            if need > most:
                most, group, arm = need, front, m
        if k >= 0:
            need = rule.weights[d] * shrinking(state, tally, rule, rival, k, d)
            if need > most:
                most, group, arm = need, rival, k
    if arm >= 0:
        want(state, rule, group, arm)


@borrowing
def shrinking(state: State, tally: Tally, rule: WorthRule, i: int, j: int, d: int) -> float:
    """Return by how much one more pull of an arm shortens its box, for each unit of cost."""
    n = float(tally.counts[i, j])
    if rule.sums:  # the bound of a group is that of all its pulls
        wide, cost = state.upper[i, d] - state.lower[i, d], 0.0
        for k in range(rule.sizes[i]):
            cost += rule.cost[i, k]
        return min(wide, 1e30) / (n * cost)
    return reach(state, tally, i, j, d) / (n * math.sqrt(n) * rule.cost[i, j])


@borrowing
def aim_pareto(state: State, tally: Tally, rule: WorthRule, i: int) -> None:
    """Want what decides group i: the dim of its hardest rival in which it holds, or all dims of one."""
    N, D = state.worth.shape
    if not state.worth[i, 0] > -math.inf:
        want_open(state, tally, rule, i)
        return
    loss, winner = -math.inf, -1
    hold, hardest, dim = math.inf, -1, 0
    for j in range(N):
        if j == i or not state.worth[j, 0] > -math.inf:
            continue
        worst, best, at = math.inf, -math.inf, 0
        for d in range(D):
            unit = unit_of(state, tally, rule, i, j, d)
            worst = min(worst, (state.worth[j, d] - state.worth[i, d]) / unit)
            ahead = (state.worth[i, d] + rule.epsilon[d] - state.worth[j, d]) / unit
            if ahead > best:
                best, at = ahead, d
        if worst > loss:
            loss, winner = worst, j
        asked = is_left(state, j) if rule.pairs else state.status[j] != OUT
        if asked and best < hold and not is_settled(state, rule, i, j):
            hold, hardest, dim = best, j, at
    if winner >= 0 and loss > 0.0 and loss > hold:
        dim = open_dim(state, rule, i, winner)
        lead = state.worth[winner, dim] - state.worth[i, dim]
        compare(state, tally, rule, winner, i, dim, lead, 0.0, state.over)
    elif hardest >= 0:
        lead = state.worth[i, dim] + rule.epsilon[dim] - state.worth[hardest, dim]
        compare(state, tally, rule, i, hardest, dim, lead, rule.epsilon[dim], state.near)
    else:
        # All others are out of the way, or seem to have no arms that count.
        aim_alone(state, tally, rule, i)


@borrowing
def aim_alone(state: State, tally: Tally, rule: WorthRule, i: int) -> None:
    """Want what shows that group i has arms that count, and that groups without any have none."""
    for d in range(state.worth.shape[1]):
        j = witness(state, tally, rule, i, d, math.inf, 1.0)
        if j >= 0 and state.standing[i, j] != COUNTS:
            want(state, rule, i, j)
    for k in range(len(rule.sizes)):
        left = is_left(state, k) if rule.pairs else state.status[k] != OUT
        if k != i and left and not state.worth[k, 0] > -math.inf:
            if not is_settled(state, rule, i, k):
                want_open(state, tally, rule, k)


@borrowing
def compare(
    state: State,
    tally: Tally,
    rule: WorthRule,
    i: int,
    j: int,
    d: int,
    lead: float,
    slack: float,
    found: Bools,
) -> None:
    """Want the arm that shows best that group i, plus the slack, is above j in dim d.

    `lead` is by how much it seems to be, and `found` what is known of pairs of arms.
    """
    upper = witness(state, tally, rule, i, d, lead, 1.0)
    lower = open_arm(state, rule, found, i, j, d) if rule.pairs else highest(state, rule, j, d)
    if upper < 0 or lower < 0:
        return
    waits = len(rule.limits) > 0 and state.standing[i, upper] != COUNTS
    gap = state.means[i, upper, d] + slack - state.means[j, lower, d]
    enough = pulls_to_compare(state, tally, rule, (i, upper), (j, lower), d, gap)
    # To bar the arm needs no pulls of the other one.
    bar = bar_cost(state, tally, rule, j, lower)
    if bar < enough:
        want(state, rule, j, lower)
        note_progress(state, float(tally.counts[j, lower]), bar)
        return
    note_progress(state, pulls_of_both(tally, (i, upper), (j, lower)), enough)
    if waits:
        want(state, rule, i, upper)
        note_progress(state, float(tally.counts[i, upper]), room_cost(state, tally, rule, i, upper))
        # Until that arm is known to count more pulls of the other one help nobody.
        if tally.counts[j, lower] >= enough:
            return
    first = shrinking(state, tally, rule, i, upper, d)
    if first >= shrinking(state, tally, rule, j, lower, d):
        want(state, rule, i, upper)
    else:
        want(state, rule, j, lower)


@borrowing
def note_progress(state: State, pulls: float, enough: float) -> None:
    """Note what part of the pulls that it seems to take something aimed at has had."""
    if enough > 0.0:
        state.least[0] = min(state.least[0], pulls / enough)


@borrowing
def pulls_of_both(tally: Tally, above: tuple[int, int], below: tuple[int, int]) -> float:
    """Return how many pulls of both arms alike would tell as much as those that they have had."""
    n_a, n_b = float(tally.counts[above[0], above[1]]), float(tally.counts[below[0], below[1]])
    return 2.0 * n_a * n_b / (n_a + n_b)


@borrowing
def pulls_to_compare(
    state: State,
    tally: Tally,
    rule: WorthRule,
    above: tuple[int, int],
    below: tuple[int, int],
    d: int,
    gap: float,
) -> float:
    """Return about how many pulls of both arms show a gap between them to be positive; inf if none."""
    (i, a), (j, b) = above, below
    if not gap > 0.0:
        return math.inf
    one, other = reach(state, tally, i, a, d), reach(state, tally, j, b, d)
    wide = math.hypot(one, other) if rule.pairs else one + other
    return (wide / gap) ** 2


@borrowing
def open_arm(state: State, rule: WorthRule, found: Bools, i: int, j: int, d: int) -> int:
    """Return the arm of j of largest upper end that is not barred and not yet compared with i."""
    most, arm = -math.inf, -1
    for k in range(rule.sizes[j]):
        if state.standing[j, k] != BARRED and not found[i, j, k, d]:
            if arm < 0 or state.high[j, k, d] > most:
                most, arm = state.high[j, k, d], k
    return arm


@borrowing
def open_dim(state: State, rule: WorthRule, i: int, winner: int) -> int:
    """Return the dim in which it lacks most that group i is below the winner."""
    least, dim = math.inf, 0
    for d in range(state.worth.shape[1]):
        if rule.pairs and holds_in(state, rule, state.over, winner, i, d):
            continue
        margin = state.lower[winner, d] - state.upper[i, d]
        if margin < least:
            least, dim = margin, d
    return dim


@borrowing
def is_settled(state: State, rule: WorthRule, i: int, j: int) -> bool:
    """Return whether group i is proven not to be beaten by j by more than epsilon in every dim."""
    if rule.pairs:
        return is_near(state, rule, i, j)
    for d in range(len(rule.epsilon)):
        low = state.lower[i, d]
        if low > -math.inf and low + rule.epsilon[d] >= state.upper[j, d]:
            return True
    return False


@borrowing
def unit_of(state: State, tally: Tally, rule: WorthRule, i: int, j: int, d: int) -> float:
    """Return the spread of a dim, as the arms that two groups are compared by have it."""
    total = 0.0
    for k in (i, j):
        arm = highest(state, rule, k, d)
        if arm >= 0:
            total += reach(state, tally, k, arm, d)
    return max(total, 1e-30)
