"""draft"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.evidence_prove import BEATEN, PROVEN, prove
from bestgroup.core.evidence_search import Duel, Work, at_selection, descend, find_blocks, make_work
from bestgroup.core.goals import BestGroup
from bestgroup.core.kernel import kernel
from bestgroup.core.tally import Tally


class LinearRule(NamedTuple):
    sizes: Ints  # [N]
    weights: Floats  # [D]
    scale: Floats  # [D]
    coefficient: Floats  # [2^D]
    slack: float
    log_level: float  # log(1/delta)
    precision: Floats  # [G]
    log_prior: Floats  # [G]
    batch: int
    share: float
    tune: Floats


class State(NamedTuple):
    out: Bools  # [N]
    witness: Ints  # [1]
    lead: Ints  # [D]
    probe: Ints  # [D]
    epoch: Ints  # [1]
    since: Ints  # [1]
    before: Ints  # [K]
    before_sums: Floats  # [K, D]
    rival: Ints  # [1]
    hard: Ints  # [D]
    gauge: Ints  # [N]
    evidence: Floats  # [N]
    next: Ints  # [1]
    round: Ints  # [1]
    answer: Ints  # [1]


# tune indices
FIRST, ZETA, OPT, UCB, UCBEP, REF, ZNEG, STEP, G0, PIK, PIR, FLOOR, EARLY, ZBIG = range(14)
TUNE = np.array([20, 2.5, 0.5, 0.5, 0.1, 2.0, 0.0, 0.005, 10.0, 0, 0.5, 1.0, 20.0, 6.0])


def init(rule: LinearRule) -> State:
    N, K, D = len(rule.sizes), int(rule.sizes.max()), len(rule.weights)
    return State(
        np.zeros(N, np.bool_), np.zeros(1, np.int64), np.zeros(D, np.int64), np.zeros(D, np.int64),
        np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(K, np.int64), np.zeros((K, D)),
        np.zeros(1, np.int64), np.zeros(D, np.int64), np.full(N, len(rule.precision) // 2),
        np.full(N, -np.inf), np.zeros(1, np.int64), np.zeros(1, np.int64),
        np.full(1, 0 if N == 1 else -1),
    )


@kernel
def plan(state: State, tally: Tally, rule: LinearRule) -> Ints:
    N, K = tally.counts.shape
    pulls = np.zeros((N, K), np.int64)
    if state.round[0] == 0:
        for i in range(N):
            for j in range(rule.sizes[i]):
                pulls[i, j] = int(rule.tune[FIRST])
        return pulls
    masks = np.zeros(len(state.lead), np.int64)
    for _ in range(rule.batch):
        i, j = choose_arm(state, tally, rule, pulls, masks)
        count = tally.counts[i, j] + pulls[i, j]
        pulls[i, j] += max(1, int(rule.share * count))
    return pulls


@kernel
def choose_arm(state, tally, rule, pulls, masks):
    best, group, arm = -1.0, 0, 0
    i = state.witness[0]
    find_blocks(state.lead, masks)
    for d in range(len(masks)):
        if masks[d] > 0:
            j = state.lead[d]
            count = tally.counts[i, j] + pulls[i, j] - state.before[j]
            need = rule.coefficient[masks[d]] / max(float(count), 0.5)
            if need > best:
                best, group, arm = need, i, j
                for e in range(d, len(masks)):
                    if state.lead[e] == j and state.probe[e] != j:
                        arm = state.probe[e]
                        break
    k = state.rival[0]
    find_blocks(state.hard, masks)
    for d in range(len(masks)):
        if masks[d] > 0:
            j = state.hard[d]
            need = rule.coefficient[masks[d]] / float(tally.counts[k, j] + pulls[k, j])
            if need > best:
                best, group, arm = need, k, j
    return group, arm


@kernel
def step(state: State, tally: Tally, rule: LinearRule) -> None:
    state.round[0] += 1
    total = tally.counts.sum()
    if total >= state.next[0]:
        look(state, tally, rule, total)
        state.next[0] = total + max(1, int(rule.tune[STEP] * total))


@kernel
def look(state: State, tally: Tally, rule: LinearRule, total: int) -> None:
    N, K, D = tally.sums.shape
    means = np.zeros((N, K, D))
    for i in range(N):
        for j in range(rule.sizes[i]):
            for d in range(D):
                means[i, j, d] = tally.sums[i, j, d] / tally.counts[i, j]
    best, second = -np.inf, -np.inf
    leader = 0
    top = np.zeros((N, D), np.int64)
    worth = np.zeros(N)
    for i in range(N):
        if state.out[i]:
            continue
        for d in range(D):
            for j in range(1, rule.sizes[i]):
                if means[i, j, d] > means[i, top[i, d], d]:
                    top[i, d] = j
            worth[i] += rule.weights[d] * means[i, top[i, d], d]
        if worth[i] > best:
            second = best
            best = worth[i]
            leader = i
        elif worth[i] > second:
            second = worth[i]
    if state.epoch[0] == 0:
        state.witness[0] = leader
        state.lead[:] = top[leader]
    work = make_work(D)
    duel = make_duel(rule, K)
    scan(state, tally, rule, means, top, duel, work)
    level = rule.log_level
    # all-data z of the witness against the worst selections
    z = np.inf
    w = state.witness[0]
    own = 0.0
    for d in range(D):
        own += rule.weights[d] * means[w, state.lead[d], d]
    var = variance(rule, tally, w, state.lead, work.masks)
    hard = np.zeros(D, np.int64)
    worst_k = -1
    least = np.inf
    for k in range(N):
        if k == w or state.out[k]:
            continue
        if state.evidence[k] < least:
            least = state.evidence[k]
            worst_k = k
    for k in range(N):
        if k == w or state.out[k]:
            continue
        gap = own + rule.slack
        for d in range(D):
            gap -= rule.weights[d] * means[k, top[k, d], d]
        zk = gap * abs(gap) / (2.0 * (var + variance(rule, tally, k, top[k], work.masks)))
        z = min(z, zk)
    if new_witness(state, rule, total, z, leader, top, best, second, own, max(0.0, least)):
        state.epoch[0] += 1
        state.since[0] = total
        if rule.slack > 0.0 and state.witness[0] != leader:
            state.out[:] = False
        state.witness[0] = leader
        state.lead[:] = top[leader]
        for j in range(K):
            state.before[j] = tally.counts[leader, j]
            for d in range(D):
                state.before_sums[j, d] = tally.sums[leader, j, d]
        scan(state, tally, rule, means, top, duel, work)
    if state.epoch[0] > 0:
        decide(state, tally, rule, means, top, duel, work)
        if state.answer[0] >= 0:
            return
    aim(state, tally, rule, means, top, total, z, duel, work)


@kernel
def variance(rule, tally, i, selection, masks):
    find_blocks(selection, masks)
    total = 0.0
    for d in range(len(masks)):
        if masks[d] > 0:
            c = rule.coefficient[masks[d]]
            total += c * c / tally.counts[i, selection[d]]
    return total


@kernel
def new_witness(state, rule, total, z, leader, top, best, second, own, least):
    D = len(state.lead)
    if state.epoch[0] == 0:
        return z >= rule.tune[ZETA] and total >= rule.tune[EARLY] * rule.sizes.sum() or z >= rule.tune[ZBIG]
    if leader != state.witness[0] and z <= -2.0:
        return True
    if total < rule.tune[REF] * state.since[0]:
        return False
    same = leader == state.witness[0]
    for d in range(D):
        same = same and top[leader, d] == state.lead[d]
    if same:
        return False
    if leader != state.witness[0]:
        return z <= -rule.tune[ZNEG]
    new = best - second + rule.slack
    old = own - second + rule.slack
    if old <= 0.0:
        return True
    done = min(0.95, least / rule.tune[G0])
    return (1.07 - 0.5 * done) / (new * new) < (1.0 - done) / (old * old)


@kernel
def make_duel(rule: LinearRule, K: int) -> Duel:
    G, D = len(rule.precision), len(rule.weights)
    return Duel(
        np.zeros(1), np.zeros((G, D)), np.zeros(G), np.zeros((K, D)), np.zeros((G, K)),
        np.zeros((G, K)), rule.coefficient,
    )


@kernel
def set_lead(state, tally, rule, means, duel, masks):
    """witness side; False if an arm of it has no pulls yet"""
    i = state.witness[0]
    find_blocks(state.lead, masks)
    duel.ahead[0] = rule.slack
    for g in range(len(rule.precision)):
        duel.lead_cost[g] = -rule.log_prior[g]
    for d in range(len(masks)):
        j = state.lead[d]
        count = tally.counts[i, j] - state.before[j]
        if count <= 0:
            return False
        duel.ahead[0] += rule.weights[d] * (tally.sums[i, j, d] - state.before_sums[j, d]) / count
        for g in range(len(rule.precision)):
            duel.lead[g, d] = 0.0
            if masks[d] > 0:
                q = rule.precision[g]
                duel.lead[g, d] = rule.coefficient[masks[d]] * math.sqrt(count + q) / count
                duel.lead_cost[g] += 0.5 * math.log(1.0 + count / q)
    return True


@kernel
def set_rival(tally, rule, means, duel, k):
    for j in range(rule.sizes[k]):
        n = float(tally.counts[k, j])
        for g in range(len(rule.precision)):
            q = rule.precision[g]
            duel.reach[g, j] = math.sqrt(n + q) / n
            duel.cost[g, j] = 0.5 * math.log(1.0 + n / q)
        for d in range(len(rule.weights)):
            duel.worth[j, d] = rule.weights[d] * means[k, j, d]


@kernel
def scan(state, tally, rule, means, top, duel, work):
    """evidence of each group's hardest selection; top[k] becomes it"""
    N = len(state.out)
    G = len(rule.precision)
    ready = set_lead(state, tally, rule, means, duel, work.masks)
    for k in range(N):
        if k == state.witness[0] or state.out[k]:
            continue
        if not ready:
            state.evidence[k] = -np.inf
            continue
        set_rival(tally, rule, means, duel, k)
        g = state.gauge[k]
        value, tilt = descend(duel, g, rule.sizes[k], top[k], work)
        state.evidence[k] = value
        if value > -np.inf:
            for other in (g - 1, g + 1):
                if 0 <= other < G:
                    more, _ = at_selection(duel, other, top[k], tilt, work)
                    if more > state.evidence[k]:
                        state.evidence[k] = more
                        state.gauge[k] = other


@kernel
def decide(state, tally, rule, means, top, duel, work):
    N = len(state.out)
    m = state.epoch[0]
    if rule.tune[PIK] == 0:
        level = rule.log_level - math.log(1 - rule.tune[PIR]) - (m - 1) * math.log(rule.tune[PIR])
    else:
        level = rule.log_level + math.log(m * (m + 1.0))
    left = 0
    for k in range(N):
        if k == state.witness[0] or state.out[k]:
            continue
        left += 1
        if state.evidence[k] < level - 0.7:
            continue
        set_rival(tally, rule, means, duel, k)
        _, tilt = at_selection(duel, state.gauge[k], top[k], 0.0, work)
        code = prove(duel, state.gauge[k], rule.sizes[k], tilt, level, top[k], work)
        if code == PROVEN:
            state.out[k] = True
            left -= 1
        elif state.evidence[k] > level - 0.5:
            state.evidence[k] = level - 0.5
    if left == 0:
        state.answer[0] = state.witness[0]


@kernel
def aim(state, tally, rule, means, top, total, z, duel, work):
    N, K, D = means.shape
    log_t = math.log(float(total))
    rival, least = -1, np.inf
    w = state.witness[0]
    for k in range(N):
        if k == w or state.out[k]:
            continue
        if rival < 0 or state.evidence[k] < least:
            least = state.evidence[k]
            rival = k
    hard = top[rival]
    state.hard[:] = hard
    best = rule.slack
    for d in range(D):
        best += rule.weights[d] * means[w, state.lead[d], d]
    if rule.tune[OPT] > 0:
        log_o = log_t * rule.tune[OPT]
        trial = np.zeros(D, np.int64)
        for k in range(N):
            if k == w or state.out[k]:
                continue
            height = optimistic(rule, tally, means, k, log_o, trial, work.masks)
            if height > best:
                best = height
                rival = k
                state.hard[:] = trial
    state.rival[0] = rival
    state.probe[:] = state.lead
    gap = np.inf
    for k in range(N):
        if k == w or state.out[k]:
            continue
        own = rule.slack
        for d in range(D):
            own += rule.weights[d] * (means[w, state.lead[d], d] - means[k, top[k, d], d])
        gap = min(gap, own)
    gap = max(gap, 0.0)
    if rule.tune[UCB] > 0:
        for d in range(D):
            lead = state.lead[d]
            high = means[w, lead, d] + rule.tune[UCBEP] * gap / rule.weights[d]
            for j in range(rule.sizes[w]):
                if tally.counts[w, j] >= tally.counts[w, lead]:
                    continue
                if tally.counts[w, j] < rule.tune[FLOOR] * math.sqrt(float(tally.counts[w, lead])):
                    state.probe[d] = j
                    break
                u = means[w, j, d] + rule.scale[d] * math.sqrt(rule.tune[UCB] * log_t / tally.counts[w, j])
                if u > high:
                    high = u
                    state.probe[d] = j


@kernel
def optimistic(rule, tally, means, k, log_t, trial, masks):
    """largest weighted mean plus sqrt(2 log t V), about"""
    D = len(trial)
    pull = 0.0
    kept = np.zeros(D, np.int64)
    height = -np.inf
    for it in range(4):
        for d in range(D):
            best = -np.inf
            c = rule.coefficient[1 << d]
            for j in range(rule.sizes[k]):
                u = rule.weights[d] * means[k, j, d]
                if it == 0:
                    u += c * math.sqrt(log_t / tally.counts[k, j])
                else:
                    u += pull * c * c / tally.counts[k, j]
                if u > best:
                    best = u
                    trial[d] = j
        V = variance(rule, tally, k, trial, masks)
        pull = 0.5 * math.sqrt(2.0 * log_t / V)
        value = math.sqrt(2.0 * log_t * V)
        for d in range(D):
            value += rule.weights[d] * means[k, trial[d], d]
        if value <= height:
            trial[:] = kept
            break
        kept[:] = trial
        height = value
    return height


def make_rule(sizes, weights, scale, epsilon, delta, dependence="arbitrary", batch=1, share=0.0, precision=None, prior=None, **tune):
    D = len(weights)
    weights = np.array(weights, float)
    c = weights * scale
    coef = np.zeros(1 << D)
    for s in range(1, 1 << D):
        part = [c[d] for d in range(D) if s >> d & 1]
        coef[s] = sum(part) if dependence == "arbitrary" else math.sqrt(sum(x * x for x in part))
    precision = np.array([2.0**k for k in (5, 8, 11, 14, 17)] if precision is None else precision, float)
    prior = np.ones(len(precision)) if prior is None else np.array(prior, float)
    t = TUNE.copy()
    for k, v in tune.items():
        t[globals()[k]] = v
    return LinearRule(np.array(sizes, np.int64), weights, np.array(scale, float), coef, epsilon * weights.sum(), math.log(1 / delta),
        precision, np.log(prior / prior.sum()), batch, share, t)
