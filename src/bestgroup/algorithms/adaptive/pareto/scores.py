"""Where the next pull helps most: the sampling rule for Pareto groups. No proof rests on it.

Everything is in units of the dims' scales. A *duel* (a, m, b, k, d) sets arm m of group a, which
ought to be above, against arm k of group b in dim d. Its strength is z = g |g| / (2 (v_m / n_m + v_k /
n_k)), g the gap of the means, plus epsilon when a is to be accepted, and v the variance of a pull: 1
where the scale is known, else estimated by arm and dim, plus g^2 / 4; its score is z over the level
that its evidence must reach. Where variances are estimated, widths of different dims are compared in
units of the leaders' standard deviations, a bonus is one of so many standard deviations, and of two
arms that one is due whose count over its standard deviation is less.

An undecided group i that another group seems to dominate by more than epsilon / 2 works towards its
rejection: by the j with the largest min_d (U_j - L_i), in all dims, against all arms of i that are
not beaten yet. Any other i works towards its acceptance: for every j that is neither rejected, nor
settled, nor about to be rejected, in the dim with the largest U_i - L_j + epsilon. U_i = max_m
(mean + b) and L_i = max_m (mean - b), with b = sqrt(log t / n). L takes the largest mean - b of all
arms, not that of the arm with the best mean: an arm that has been pulled little and looks too good
would otherwise keep a hopeless dim attractive for ever.

The duel with the least score is pulled for: its arm with fewer pulls, and on the upper side the arm
with the largest mean + b in that dim instead of the one with the best mean.

**Costs.** To prove a gap g between arms of costs c and c' costs (sqrt c + sqrt c')^2 / g^2 times a
constant, with n sqrt c = n' sqrt c'; "fewer pulls" compares n sqrt c. If one arm is to be shown above
all arms k of a group the costs of these add up, those closest to it first: sqrt c' is then the *toll*
sqrt(sum_k c_k (g / g_k)^2), g the gap to the best of them and g_k that to k. Where costs differ, the
leader of i is replaced by its *front* against j, the arm with the largest gap over sqrt c + toll; the
arm with the largest mean + b, the choice of a dim and that of a rival by the same ratio of widths. A
cheap arm serves unless a dear one is so much better that fewer pulls make up for its cost.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.pareto.split import share_of_dim, share_of_rival
from bestgroup.algorithms.adaptive.pareto.view import (
    Duties,
    Split,
    View,
    is_priced,
    spread_at,
    unit_of,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Bools, Floats

_FLOOR = 0.1  # of the average number of pulls, for every arm that may still count


@borrowing
def look_at_dim(view: View, exists: Bools, i: int, d: int) -> None:
    """Refresh the bounds of group i in dim d."""
    best, upper, lower = -np.inf, -np.inf, -np.inf
    for m in range(exists.shape[1]):
        if not exists[i, m]:
            continue
        mean, bonus = view.mean[i, m, d], view.bonus[i, m] * spread_at(view.deviation, i, m, d)
        if mean > best:
            best = mean
            view.leader[i, d] = m
        if mean + bonus > upper:
            upper = mean + bonus
            view.scout[i, d] = m
        lower = max(lower, mean - bonus)
    view.rose[i] = view.rose[i] or upper > view.upper[i, d]
    view.best[i, d], view.upper[i, d], view.lower[i, d] = best, upper, lower
    view.lead_deviation[i, d] = spread_at(view.deviation, i, view.leader[i, d], d)


@borrowing
def strength(gap: float, bend: float, n_a: float, n_b: float, v_a: float, v_b: float) -> float:
    """Return g |g| / (2 (v_a / n_a + v_b / n_b)); a bet on a gap has its square added to variances.

    It takes numbers: a pair of arms costs less than handing over the arrays that it comes from.
    """
    more = bend * gap * gap
    v_a, v_b = v_a + more, v_b + more
    return gap * abs(gap) * (n_a * n_b) / (2.0 * (v_b * n_a + v_a * n_b))


@borrowing
def strength_of_known(
    gap: float, bend: float, n_a: float, n_b: float, v_a: float, v_b: float
) -> float:
    """Return the same where the variances are 1, and nothing is added to them."""
    return gap * abs(gap) * (n_a * n_b) / (2.0 * (n_a + n_b))


@borrowing
def for_price(width: float, price: float) -> float:
    """Return a width for its price: less of a good one that is dear, more of a bad one."""
    return width / price if width > 0.0 else width * price


@borrowing
def look_at_fronts(view: View, epsilon: Floats, exists: Bools, g: int) -> None:
    """Refresh the fronts of g against all other groups, and theirs against g."""
    N, D = view.best.shape
    for o in range(N):
        for side in range(2):
            i, j = (g, o) if side == 0 else (o, g)
            if o == g:
                continue
            for kind in range(2):
                for d in range(D):
                    set_front(view, exists, kind, i, j, d, 0.0 if kind == 1 else epsilon[d])


@borrowing
def set_front(view: View, exists: Bools, kind: int, i: int, j: int, d: int, shift: float) -> None:
    """Set the arm of i whose lead over j, plus the shift, is largest for its price."""
    K = exists.shape[1]
    gap = view.best[i, d] + shift - view.best[j, d]
    toll = view.price[j, view.leader[j, d]] * view.deviation[j, view.leader[j, d], d]
    if gap > 0.0:
        toll = 0.0
        for k in range(K):
            if exists[j, k]:
                near = gap / (gap + view.best[j, d] - view.mean[j, k, d])
                price = view.price[j, k] * view.deviation[j, k, d]
                toll += near * near * price * price
        toll = math.sqrt(toll)
    view.toll[kind, i, j, d] = toll
    most = -np.inf
    for m in range(K):
        if exists[i, m]:
            price = view.price[i, m] * view.deviation[i, m, d] + toll
            lead = for_price(view.mean[i, m, d] + shift - view.best[j, d], price)
            if lead > most:
                most = lead
                view.front[kind, i, j, d] = m


@borrowing
def width_for_price(
    view: View, exists: Bools, kind: int, i: int, j: int, d: int, shift: float
) -> tuple[float, int]:
    """Return the largest U - L + shift for its price of any arm of i, and that arm."""
    toll, most, arm = view.toll[kind, i, j, d], -np.inf, 0
    for m in range(exists.shape[1]):
        if exists[i, m]:
            deviation = view.deviation[i, m, d]
            width = view.mean[i, m, d] + view.bonus[i, m] * deviation - view.lower[j, d] + shift
            width = for_price(width, view.price[i, m] * deviation + toll)
            if width > most:
                most, arm = width, m
    return most, arm


@borrowing
def seems_ahead(view: View, epsilon: Floats, i: int, j: int) -> bool:
    """Return whether i seems to dominate j by more than epsilon / 2: a positive margin."""
    for d in range(len(epsilon)):
        unit = unit_of(view.lead_deviation, i, j, d)
        if not (view.best[i, d] - view.best[j, d] - epsilon[d] / 2.0) / unit > 0.0:
            return False
    return True


@borrowing
def hope_of(view: View, exists: Bools, i: int, j: int) -> float:
    """Return the hope of i of dominating j: min_d (U_i - L_j), each for its price."""
    hope = np.inf
    for d in range(view.best.shape[1]):
        width = view.upper[i, d] - view.lower[j, d]
        if is_priced(view.priced):
            width = width_for_price(view, exists, 1, i, j, d, 0.0)[0]
        hope = min(hope, width / unit_of(view.lead_deviation, i, j, d))
    return hope


@borrowing
def widest_dim(view: View, epsilon: Floats, exists: Bools, i: int, j: int) -> int:
    """Return the dim in which accepting i against j has the widest reach."""
    reach, dim = -np.inf, 0
    for d in range(len(epsilon)):
        wide = view.upper[i, d] - view.lower[j, d] + epsilon[d]
        if is_priced(view.priced):
            wide = width_for_price(view, exists, 0, i, j, d, epsilon[d])[0]
        wide /= unit_of(view.lead_deviation, i, j, d)
        if wide > reach:
            reach, dim = wide, d
    return dim


@borrowing
def score_of(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    i: int,
    j: int,
) -> float:
    """Return the least score of accepting i against j; infinite if nothing is to do."""
    least = np.inf
    if duties.settled[i, j]:
        return least
    dim = widest_dim(view, epsilon, exists, i, j)
    mean = view.mean
    m = view.front[0, i, j, dim] if is_priced(view.priced) else view.leader[i, dim]
    wanted = level + split.accept[i] + split.arm[i, m, dim] + share_of_dim(split, i, j, dim)
    n_a, v_a = view.counts[i, m], spread_at(view.variance, i, m, dim)
    for k in range(exists.shape[1]):
        if exists[j, k] and not duties.won[i, j, k, dim]:
            gap = mean[i, m, dim] + epsilon[dim] - mean[j, k, dim]
            n_b, v_b = view.counts[j, k], spread_at(view.variance, j, k, dim)
            least = min(least, strength(gap, view.bend[dim], n_a, n_b, v_a, v_b) / wanted)
    return least


@borrowing
def pick_for_row(
    view: View, duties: Duties, epsilon: Floats, exists: Bools, i: int, j: int
) -> None:
    """Set the pick to the duel of accepting i against j: with its arm that may be the largest."""
    dim = widest_dim(view, epsilon, exists, i, j)
    threat, arm = -np.inf, 0
    for k in range(exists.shape[1]):
        if exists[j, k] and not duties.won[i, j, k, dim]:
            rise = view.mean[j, k, dim]
            rise = rise + view.bonus[j, k] * spread_at(view.deviation, j, k, dim)
            if rise > threat:
                threat, arm = rise, k
    set_pick(view, epsilon, exists, 0, i, j, arm, dim)


@borrowing
def look_at_fall(
    view: View, duties: Duties, split: Split, level: float, exists: Bools, i: int, j: int
) -> None:
    """Refresh the least score of rejecting i by j."""
    K, D = view.mean.shape[1], view.mean.shape[2]
    view.rival[i] = j
    view.fall[i] = np.inf
    threat = -np.inf
    for d in range(D):
        m = view.front[1, j, i, d] if is_priced(view.priced) else view.leader[j, d]
        wanted = level + split.reject[i] + share_of_rival(split, i, j) + split.arm[j, m, d]
        unit = unit_of(view.lead_deviation, i, j, d)
        for k in range(K):
            if exists[i, k] and not duties.over[j, i, k, d]:
                gap = view.mean[j, m, d] - view.mean[i, k, d]
                n_a, v_a = view.counts[j, m], spread_at(view.variance, j, m, d)
                n_b, v_b = view.counts[i, k], spread_at(view.variance, i, k, d)
                score = strength(gap, view.bend[d], n_a, n_b, v_a, v_b) / wanted
                view.fall[i] = min(view.fall[i], score)
                rise = view.mean[i, k, d] + view.bonus[i, k] * spread_at(view.deviation, i, k, d)
                rise = (rise - view.lower[j, d]) / unit
                if rise > threat:
                    threat = rise
                    view.blow[i, 0], view.blow[i, 1] = k, d


@borrowing
def set_pick(
    view: View, epsilon: Floats, exists: Bools, kind: int, a: int, b: int, k: int, d: int
) -> None:
    """Set the pick to the leader or front of a in dim d against arm k of b."""
    view.pick[0], view.pick[1], view.pick[2] = a, view.leader[a, d], b
    view.pick[3], view.pick[4], view.pick[5] = k, d, view.scout[a, d]
    if is_priced(view.priced):
        view.pick[1] = view.front[kind, a, b, d]
        shift = 0.0 if kind == 1 else epsilon[d]
        view.pick[5] = width_for_price(view, exists, kind, a, b, d, shift)[1]


@borrowing
def count_fewest(view: View, exists: Bools, i: int) -> None:
    """Refresh the least pulls of an arm of group i."""
    least, arm = np.inf, -1
    for j in range(exists.shape[1]):
        if exists[i, j] and view.counts[i, j] < least:
            least, arm = view.counts[i, j], j
    view.fewest[i], view.fewest_at[i] = least, arm


@borrowing
def note_poorest(view: View) -> None:
    """Note the group, not rejected, with the least pulls of an arm.

    Pulls only become more: it stays the same one until it is pulled, or rejected.
    """
    group = view.poorest[0]
    if group < 0 or view.fewest[group] != view.poor[0]:
        least, group = np.inf, -1
        for at in range(view.lives[0]):
            i = view.live[at]
            if view.fewest[i] < least:
                least, group = view.fewest[i], i
        view.poorest[0], view.poor[0] = group, least


@borrowing
def arm_to_pull(view: View) -> tuple[int, int, float]:
    """Return the arm to pull next, and the least count that matters for how often.

    No arm of a group that may still count falls behind a tenth of the average, so that no estimate
    stays wrong for long: an arm with unlucky first pulls, beyond its bonus, may hide the certificate
    that is easy to prove.
    """
    group, least = int(view.poorest[0]), float(view.poor[0])
    a, m, b = view.pick[0], view.pick[1], view.pick[2]
    k, scout = view.pick[3], view.pick[5]
    if a < 0 or least * view.all[1] < _FLOOR * view.all[0]:
        return group, int(view.fewest_at[group]), float(least)
    d = view.pick[4]
    above = view.counts[a, m] * view.price[a, m] / spread_at(view.deviation, a, m, d)
    if above <= view.counts[b, k] * view.price[b, k] / spread_at(view.deviation, b, k, d):
        return a, scout, float(min(view.counts[a, m], view.counts[a, scout]))
    return b, k, float(view.counts[b, k])
