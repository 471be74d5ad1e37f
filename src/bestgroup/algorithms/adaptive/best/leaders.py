"""Leaders that are groups: named once, and measured plan by plan with their best arms of the time.

**Rule.** At stopping times groups are named as *leaders*; i gets a share r_i of delta, all shares sum
to at most 1, and both are chosen in any way from what was seen. A plan that pulls all arms of a
selection s of i, arm j m_j times, is a *measurement* of i: with x_d the mean of dim d over the pulls
of arm s(d) in the plan, the number z = sum_d w^d x_d. It weighs n = c^2 / v, v = sum_B c_B^2 / m_B
over the sets B of dims that one arm serves, c = sum_d w^d sigma_d. With the sum n_i of the weights
of the measurements since i was named, and their weighted mean z_i, the leader stands in the
evidence like one arm of coefficient c with n_i pulls and mean z_i: for a group k, a selection s' of
it and a precision q let E_q be the product of

* for an arm that s' uses, the half-normal mixture of `algorithm`, of ALL its pulls;
* for the leader, the half-normal mixture of precision q f_i over eta >= 0 of
  exp(eta U - eta^2 n_i / 2), U = n_i (z_i - rho) / c,

Z_i(k, s') is the log of sum_q p_q inf E_q, each infimum over rho and the means of k's arms with
rho + epsilon ||w||_1 <= L_{s'}(k). Group k is out once Z_i(k, s') >= log(1 / (delta r_i)) for every
s'. For epsilon = 0 it stays out; for epsilon > 0 all groups come back when another group leads.

**Theorem.** The answer is wrong with probability at most delta, whatever rule chooses the pulls, the
leaders, their shares and their selections.

Proof. k*, s* and B are those of `algorithm`. Let i be in B. At rho = R_i . w the numbers satisfy the
null for (k*, s*). Given the past at the time of a plan, s and all m_j are fixed, so z has a mean of
at most sum_d w^d R_i^d = rho (only the best arm of every dim attains it), and its noise is
sub-Gaussian with variance proxy v: pulls of different arms are independent, and one pull of an arm
that serves B adds w^d xi^d over B, of scale c_B, over m_B. U grows by n (z - rho) / c, whose mean
is at most 0 and whose variance proxy is n^2 v / c^2 = n. So for eta >= 0 a measurement multiplies
exp(eta U - eta^2 n_i / 2) by something of conditional mean at most 1, and the mixture over eta, whose
weights are fixed when i is named, is a supermartingale. Pulls of k* move other factors: k* != i. Let F
be the sum over q of p_q times the factors of k*'s arms, M_i the same times the leader's mixture from
the time on at which i is named, and F before. If i is named but not in B let M_i stay what it was.
Then W = sum_i r_i M_i + (1 - sum_i r_i) F, the sums over those named so far, is a nonnegative
supermartingale that starts at 1: naming i moves r_i F from the last term to a new one, where it
stands at the same value. Ville's inequality and the end of the proof there finish it: whoever
eliminates k* is in B, has exp Z_i(k*, s*) <= M_i, and M_i >= 1 / (delta r_i) makes W >= 1 / delta. QED

Against leaders with a selection, each of which is named for good, three things are saved: a change of
selection costs nothing, groups can be named early and several at once, in proportion to how likely
each is the best, and the leader costs one mixture and not one for each of its arms.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.aim import (
    aim,
    copy,
    largest,
    number_of_arms,
    set_means,
    variance,
)
from bestgroup.algorithms.adaptive.best.comparison import scan_groups
from bestgroup.algorithms.adaptive.best.costs import spare
from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State
from bestgroup.algorithms.adaptive.best.stopping_check import (
    ROUNDING,
    compare,
    decide,
    set_worths,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.search import Pairwise
from bestgroup.inference.tally import Tally

# When groups are named; none of these touches the guarantee.
_SETTLED, _SEEN = 2.0, 25  # the first: gap^2 / (2 V) of this, with so many pulls an arm, ...
_SURE = 5.0  # ... or of this
_PLAUSIBLE = 0.01  # groups that are so likely the best, next to the front, are named with it
_AT_ONCE = 0.95  # of delta is for them
_LATER = 1.25  # others, when they are in front and the pulls have grown so many times since


@borrowing
def whole_of(rule: LinearRule) -> float:
    """Return c, the coefficient of a leader: sum_d w^d sigma_d."""
    total = 0.0
    for d in range(len(rule.weights)):
        total += rule.coefficient[1 << d]
    return total


@borrowing
def measure(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> None:
    """Count the plan that is done as a measurement of the leader, if it pulled all arms of its lead."""
    i = state.leader[0]
    if state.share[i] == 0.0:
        return
    v = variance(rule, tally, space.idle, i, state.lead, state.past, space.masks)
    if v == np.inf:
        return
    z = 0.0
    for d in range(len(state.lead)):
        j = state.lead[d]
        new = tally.sums[i, j, d] - state.past_sums[j, d]
        z += rule.weights[d] * new / (tally.counts[i, j] - state.past[j])
    c = whole_of(rule)
    n = c * c / v
    state.counted[i] += n
    state.measured[i] += n * z


@borrowing
def note_past(state: State, tally: Tally) -> None:
    """Note what the leading group has, so that the next plan can be told from it."""
    i = state.leader[0]
    for j in range(len(state.past)):
        state.past[j] = tally.counts[i, j]
        for d in range(len(state.lead)):
            state.past_sums[j, d] = tally.sums[i, j, d]


@borrowing
def level_of_group(state: State, rule: LinearRule) -> float:
    """Return log(1 / (delta r)) of the leading group, infinite while it is not named."""
    share = state.share[state.leader[0]]
    return math.log(1.0 / (rule.delta * share)) if share > 0.0 else np.inf


@borrowing
def check_groups(state: State, tally: Tally, rule: LinearRule, space: Scratch, total: int) -> None:
    """Turn to the group in front, name groups if it is time to, decide, and choose what to pull for."""
    # Scores rest on the gaps and the evidence that are found here.
    space.cache.ranked[0] = False
    set_means(tally, rule, space.means, space.cache)
    set_worths(state, tally, rule, space)
    front = largest(space.worth)
    copy(state.hard[front], space.lead)
    # Where costs differ, a selection that is worth less may prove its lead for less.
    if rule.priced:
        spare(rule, space, front)
    turn_to(state, rule, front)
    copy(space.lead, state.lead)
    ease = compare(state, tally, rule, space, measured_variance(state, tally, rule, space))
    if state.named[0] == 0:
        if ease >= _SURE or (ease >= _SETTLED and total >= _SEEN * number_of_arms(rule)):
            name_likely(state, total)
    elif state.share[front] == 0.0 and total >= _LATER * state.since[0]:
        m = state.named[0]
        name(state, front, (1.0 - _AT_ONCE) / (m * (m + 1)), total)
    # What stands for evidence before there is any proves nothing, however much it is.
    if find_evidence(state, tally, rule, space):
        decide(state, tally, rule, space, level_of_group(state, rule) + ROUNDING)
    # Again: groups may have left, and a leader that was just named has no pulls that count.
    compare(state, tally, rule, space, measured_variance(state, tally, rule, space))
    if state.answer[0] < 0:
        aim(state, tally, rule, space, total)


@borrowing
def turn_to(state: State, rule: LinearRule, front: int) -> None:
    """Let a group lead."""
    # With a slack "out" means behind this leader up to epsilon, which says nothing about another.
    if rule.slack > 0.0 and front != state.leader[0]:
        for k in range(len(state.out)):
            state.out[k] = False
    state.leader[0] = front


@borrowing
def measured_variance(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> float:
    """Return V of the leader by its measurements, or by all pulls while it is not named."""
    i = int(state.leader[0])
    if state.share[i] == 0.0:
        return variance(rule, tally, space.idle, i, state.lead, space.none, space.masks)
    c = whole_of(rule)
    return c * c / state.counted[i] if state.counted[i] > 0.0 else np.inf


@borrowing
def name_likely(state: State, total: int) -> None:
    """Name the group in front and all that may as well be the best, shares as each is likely."""
    front, weight = state.leader[0], 0.0
    for k in range(len(state.out)):
        p = likelihood(state, k, front)
        if p >= _PLAUSIBLE:
            weight += p
    for k in range(len(state.out)):
        p = likelihood(state, k, front)
        if p >= _PLAUSIBLE:
            name(state, k, _AT_ONCE * p / weight, total)
    state.named[0] = 1


@borrowing
def likelihood(state: State, k: int, front: int) -> float:
    """Return about how likely group k is to be better than the one in front, which has 1."""
    if k == front:
        return 1.0
    if state.out[k]:
        return 0.0
    # About erfc(sqrt(x)), without a function that libraries round differently.
    ease = max(state.ease[k], 0.0)
    return math.exp(-ease) / (1.0 + 1.8 * math.sqrt(ease))


@borrowing
def name(state: State, k: int, share: float, total: int) -> None:
    """Name a group as leader with a share of delta: its measurements count from now on."""
    state.named[0] += 1
    state.since[0] = total
    state.share[k] = share
    selection = state.lead if k == state.leader[0] else state.hard[k]
    copy(selection, state.first_lead[k])


@borrowing
def find_evidence(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> bool:
    """Find the evidence against every group; False, with gap |gap| / (2 V) for it, without measurements."""
    if set_leader(state, rule, space.pair):
        scan_groups(state, tally, rule, space, True)
        return True
    for k in range(len(state.out)):
        state.evidence[k] = state.ease[k]
    return False


@borrowing
def set_leader(state: State, rule: LinearRule, pair: Pairwise) -> bool:
    """Enter the leader's side of all comparisons; False while it has no measurement."""
    i, n = state.leader[0], state.counted[state.leader[0]]
    if n == 0.0:
        return False
    c, fine = whole_of(rule), 0.0
    for d in range(len(rule.weights)):
        # Fixed when it was named, so that the mixture does not follow from what it is of.
        fine += rule.coefficient[1 << d] * rule.fine[i, state.first_lead[i, d]] / c
    pair.ahead[0] = rule.slack + state.measured[i] / n
    for g in range(len(rule.precision)):
        q = rule.precision[g] * fine
        pair.lead[g, 0] = c * math.sqrt(n + q) / n
        pair.lead_cost[g] = 0.5 * math.log(1.0 + n / q) - rule.log_prior[g]
    return True


def pulls_left(state: State, rule: LinearRule) -> float | None:
    """Return about how many pulls the proof still takes at present rates; None if that is not known.

    gap^2 / (2 V) grows in proportion to the pulls of both sides, and evidence nearly by as much.
    """
    leader, level = int(state.leader[0]), level_of_group(state, rule)
    open_groups = ~state.out
    open_groups[leader] = False
    ease = state.ease[open_groups]
    if not (level < np.inf and open_groups.any() and (ease > 0.0).all()):
        return None
    growth = np.maximum(level - state.evidence[open_groups], 0.0) / ease
    rivals = float(growth @ state.aimed[open_groups].sum(axis=1))
    left = rivals + float(growth.max()) * float(state.counted[leader])
    return left if 0.0 < left < np.inf else None
