"""How delta is shared out after the warm-up where arms must keep limits; see `pareto.split`.

An arm *seems to count* if its mean is beyond no limit by more than half of the tolerance, and a group if
one of its arms does. Groups that seem to count are weighed by their best arms that do, as those of
`pareto` are by theirs: dims, rivals and groups. An arm's weight falls with how far it is behind the best
one, and beyond the limits, in standard errors. Groups that do not seem to count have the part of the
equal shares only; so that every claim has a share, and those about a group add up as the proof asks.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.adaptive.pareto.split import (
    EQUAL,
    least_lead,
    reckon_dim,
    unit_for,
    widest_lead,
)
from bestgroup.algorithms.adaptive.worths.state import State, WorthRule
from bestgroup.compile.borrowing import borrowing


@borrowing
def share_out(state: State, rule: WorthRule) -> None:
    """Set the shares from what the warm-up has seen."""
    split, (N, D) = state.split, state.worth.shape
    for i in range(N):
        state.hopes[i] = False
        for j in range(rule.sizes[i]):
            state.hopes[i] = state.hopes[i] or excess(state, rule, i, j, 0) <= 0.0
        for d in range(D):
            weigh_arms(state, rule, i, d)
    split.shared[0] = True
    total = 0.0
    for i in range(N):
        split.weight[i] = cost_of(state, i)
        total += split.weight[i]
    for i in range(N):
        part = split.weight[i] / total if total > 0.0 else 1.0 / N
        split.accept[i] = split.reject[i] = -math.log(EQUAL / N + (1.0 - EQUAL) * part)
        weigh_rivals(state, i)
        for j in range(N):
            for d in range(D if j != i else 0):
                both = state.hopes[i] and state.hopes[j]
                split.pair[i, j, d] = reckon_dim(split, i, j, d) if both else math.log(D)


@borrowing
def excess(state: State, rule: WorthRule, i: int, j: int, power: int) -> float:
    """Return by how much an arm seems to be beyond a limit, at most; 0 if it seems to count.

    With power 2: the sum over limits of squares over the variances of the means.
    """
    most = 0.0
    for k in range(len(rule.limits)):
        d = int(rule.limits[k, 0])
        beyond = rule.limits[k, 1] * (state.means[i, j, d] - rule.limits[k, 2])
        beyond -= 0.5 * rule.limits[k, 3]
        if beyond > 0.0 and power == 2:
            ratio = beyond / rule.box.scale[d]
            most += ratio * ratio * float(state.boxed[i, j]) / state.variance[i, j, d]
        elif beyond > 0.0:
            most = max(most, beyond)
    return most


@borrowing
def mean_of(state: State, rule: WorthRule, i: int, j: int, d: int) -> float:
    """Return a mean in units of the scale."""
    return state.means[i, j, d] / rule.box.scale[d]


@borrowing
def error_of(state: State, i: int, j: int, d: int) -> float:
    """Return the variance of a mean, in such units."""
    return state.variance[i, j, d] / float(state.boxed[i, j])


@borrowing
def weigh_arms(state: State, rule: WorthRule, i: int, d: int) -> None:
    """Set the shares of the arms of i in dim d, and what the group is weighed by."""
    split, size, leader = state.split, rule.sizes[i], -1
    for j in range(size):
        if not state.hopes[i] or excess(state, rule, i, j, 0) <= 0.0:
            if leader < 0 or state.means[i, j, d] > state.means[i, leader, d]:
                leader = j
    best, error = mean_of(state, rule, i, leader, d), error_of(state, i, leader, d)
    split.best[i, d], split.error[i, d] = best, error
    split.deviation[i, d] = math.sqrt(state.variance[i, leader, d])
    total = 0.0
    for j in range(size):
        behind = max(best - mean_of(state, rule, i, j, d), 0.0)
        both = error_of(state, i, j, d) + error
        weight = math.exp(-0.5 * (behind * behind / both + excess(state, rule, i, j, 2)))
        split.arm[i, j, d] = weight
        total += weight
    for j in range(size):
        part = split.arm[i, j, d] / total if state.hopes[i] else 1.0 / size
        split.arm[i, j, d] = -math.log(EQUAL / size + (1.0 - EQUAL) * part)


@borrowing
def seems_led(state: State, i: int) -> bool:
    """Return whether a group that seems to count is ahead of i by more than epsilon / 2 in all dims."""
    split = state.split
    for j in range(len(split.best)):
        led = j != i and state.hopes[j]
        for d in range(len(split.epsilon)):
            gap = split.best[j, d] - split.best[i, d] - split.epsilon[d] / 2.0
            if not gap / unit_for(split, i, j, d) > 0.0:
                led = False
        if led:
            return True
    return False


@borrowing
def cost_of(state: State, i: int) -> float:
    """Return what evidence on group i seems to cost; 0 if it does not seem to count."""
    split, led = state.split, seems_led(state, i)
    gap, error, found = -math.inf if led else math.inf, 1.0, False
    for j in range(len(split.best)):
        if j == i or not state.hopes[j] or not state.hopes[i]:
            continue
        lead, own = least_lead(split, i, j) if led else widest_lead(split, i, j)
        if not found or (lead > gap if led else lead < gap):
            gap, error, found = lead, own, True
    return 1.0 / (gap * gap + error / 2.0) if found else 0.0


@borrowing
def weigh_rivals(state: State, i: int) -> None:
    """Set the shares of the groups that may put i out."""
    split, (N, D) = state.split, state.split.best.shape
    most, most_error, total = -math.inf, 1.0, 0.0
    for j in range(N):
        if j != i and state.hopes[j]:
            gap, error = least_lead(split, i, j)
            if gap > most:
                most, most_error = gap, error
    for j in range(N):
        split.pair[j, i, D] = 0.0
        if j != i and state.hopes[j]:
            gap, error = least_lead(split, i, j)
            split.pair[j, i, D] = math.exp(
                -0.5 * (most - gap) * (most - gap) / (error + most_error)
            )
            total += split.pair[j, i, D]
    for j in range(N):
        if j != i:
            part = split.pair[j, i, D] / total if total > 0.0 else 1.0 / (N - 1)
            split.pair[j, i, D] = -math.log(EQUAL / (N - 1) + (1.0 - EQUAL) * part)
