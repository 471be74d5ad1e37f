"""Naive versions of the paper's algorithms: generators over Python sets, copied line by line.

Nothing here is shared with the product and nothing is fast. Numbers at the right are line numbers
of the paper's Algorithm 1 (TE) and Algorithm 2 (EECB). Groups, arms and dims count from 0, rounds
from 1.

Every test is written as `slack >= 0` or `slack > 0`, where the slack is the printed left side minus
the right side: one rounded subtraction, which keeps the sign exact. The least `|slack|` met is
kept: it tells how far a run was from deciding otherwise.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from .runner import (
    Closest,
    Means,
    Outcome,
    Pulls,
    Setting,
    TapeEnd,
    Vector,
    each_dim,
    replay,
    setting,
)

__all__ = [
    "Outcome",
    "Pulls",
    "Setting",
    "TapeEnd",
    "eecb",
    "heaviest",
    "replay",
    "setting",
    "successive_elimination",
    "tel",
    "triple_elimination",
    "uniform_sampling",
]


def m_slack(v: Vector, u: Vector, beta: float, s: Setting) -> float:
    """At least 0 iff m(v, u) >= 2 beta; with scales, iff u^d - v^d >= 2 beta sigma_d for all d."""
    return min(u[d] - v[d] - 2 * beta * s.scale[d] for d in range(s.dims))


def big_m_slack(v: Vector, u: Vector, beta: float, s: Setting) -> float:
    """At least 0 iff M_eps(v, u) >= 2 beta; with scales, iff some d has v - u + eps >= 2 beta."""
    return max(v[d] - u[d] + s.epsilon[d] - 2 * beta * s.scale[d] for d in range(s.dims))


def triple_elimination(
    s: Setting,
    log: list[dict[str, Any]],
    *,
    dimension_phase: bool = True,
    arm_phase: bool = True,
    all_arms: bool = False,
) -> Pulls:
    """TE; AGE has no dimension phase, GE no arm phase either (section 5).

    `all_arms` takes R-hat over all arms of a group, which voids the theorem: for contrast only.
    """
    G = set(s.groups)  # 2
    D = {i: set(range(s.dims)) for i in s.groups}
    A = {(i, d): set(range(s.sizes[i])) for i in s.groups for d in range(s.dims)}
    r = 1
    P: set[int] = set()
    mu, close = Means(s), Closest()
    R = [[0.0] * s.dims for _ in s.groups]
    left = [0 for _ in s.groups]
    resolved = [[0] * s.dims for _ in s.groups]
    while G:  # 3
        start, beta = set(G), s.beta(r)
        arms = [(i, j) for i, j in s.arms if i in G and any(j in A[i, d] for d in D[i])]  # 4
        rewards = yield arms
        mu.add(arms, rewards)
        for i in G:
            for d in D[i]:  # a resolved entry adheres
                among = range(s.sizes[i]) if all_arms else A[i, d]
                R[i][d] = max(mu((i, j), d) for j in among)
        now = [list(row) for row in R]

        for i in sorted(G):  # 5
            if any(close(m_slack(R[i], R[j], beta, s)) >= 0 for j in sorted(G)):  # 6
                G.remove(i)  # 6-7
        G1 = set(G)

        if dimension_phase:
            for i in sorted(G):  # 8
                for d in sorted(D[i]):
                    need = 4 * beta * s.scale[d] + s.epsilon[d]  # Definition 3.2
                    if all(close(abs(R[j][d] - R[i][d]) - need) >= 0 for j in sorted(G - {i})):
                        D[i].remove(d)  # 9-10
                        resolved[i][d] = r

        if arm_phase:
            for i in sorted(G):  # 11
                for d in sorted(D[i]):
                    for j in sorted(A[i, d]):
                        if close(R[i][d] - 2 * beta * s.scale[d] - mu((i, j), d)) >= 0:
                            A[i, d].remove(j)  # 12-13

        P1 = {
            i
            for i in sorted(G)
            if all(close(big_m_slack(R[i], R[j], beta, s)) >= 0 for j in sorted(G - {i}))
        }  # 14
        P2 = {
            i
            for i in sorted(P1)
            if all(close(big_m_slack(R[j], R[i], beta, s)) >= 0 for j in sorted(G - P1))
        }  # 15
        P = P | P2  # 16
        G = G - P2  # 17
        for i in start - G:
            left[i] = r
        log.append(
            {
                "G_start": start,
                "pulled": set(arms),
                "Rhat": now,
                "beta": beta,
                "G1": G1,
                "dims": {(i, d) for i in G1 for d in D[i]},
                "arms": {(i, d, j) for i in G1 for d in D[i] for j in A[i, d]},
                "P1": P1,
                "P2": P2,
                "P": set(P),
                "G": set(G),
            }
        )
        r = r + 1  # 18
    return Outcome(P, R, log, left, resolved, margin=close.margin)  # 20


def tel(
    s: Setting,
    log: list[dict[str, Any]],
    *,
    weights: Vector,
    pareto_epsilon: float | Vector = 0.01,
) -> Pulls:
    """TEL: TE with an epsilon of its own, then the accepted group of the largest R-hat . w."""
    own = replace(s, epsilon=each_dim(pareto_epsilon, s.dims))
    end = yield from triple_elimination(own, log)
    end.answer = {heaviest(end, weights)}
    return end


def heaviest(end: Outcome, weights: Vector) -> int:
    """The lowest of the answer's groups with the largest R-hat . w."""
    return max(sorted(end.answer), key=lambda i: dot(end.efficiency[i], weights))


def dot(v: Vector, w: Vector) -> float:
    """The sum of v^d w^d, added up in the order of the dims."""
    total = 0.0
    for x, y in zip(v, w, strict=True):
        total += x * y
    return total


def eecb(
    s: Setting,
    log: list[dict[str, Any]],
    *,
    weights: Vector,
    early_exit: bool = False,
    all_arms: bool = False,
) -> Pulls:
    """EECB, with the stop for epsilon > 0 and the exit before a last batch that decides nothing.

    `all_arms` takes R-hat over all arms of a group instead of A_d: for contrast only.
    """
    w = [weights[d] * s.scale[d] for d in range(s.dims)]  # scaled: for focus and threshold
    slack_of_epsilon = dot(weights, s.epsilon)
    mu, close = Means(s), Closest()
    G = set(s.groups)  # 2
    A = [set(s.arms) for _ in range(s.dims)]
    R = [[0.0] * s.dims for _ in s.groups]

    def update_efficiency(i: int) -> None:
        for d in range(s.dims):
            group = [(i, j) for j in range(s.sizes[i])]
            R[i][d] = max(mu(arm, d) for arm in group if arm in A[d] or all_arms)

    rewards = yield s.arms
    mu.add(s.arms, rewards)
    for i in s.groups:
        update_efficiency(i)
    n = [1] * s.dims
    while len(G) > 1:  # 3
        beta = [s.beta(n[d]) for d in range(s.dims)]
        threshold = 2 * dot(w, beta)
        value = [dot(R[i], weights) for i in s.groups]
        row: dict[str, Any] = {"Rhat": [list(x) for x in R], "threshold": threshold, "n": list(n)}
        log.append(row)

        for i in sorted(G):  # 4
            if any(close(value[j] - value[i] - threshold) > 0 for j in sorted(G)):
                G.remove(i)  # 5-6
        stop = early_exit and len(G) == 1
        if slack_of_epsilon > 0 and len(G) > 1:
            leader = max(sorted(G), key=lambda i: value[i])
            lead = min(value[leader] - value[j] for j in G - {leader})
            if close(lead + slack_of_epsilon - threshold) > 0:
                G, stop = {leader}, True

        for d in range(s.dims):  # 7
            for i, j in sorted(A[d]):  # 8
                rivals = [(i, l) for l in range(s.sizes[i]) if (i, l) in A[d] and l != j]
                width = 2 * beta[d] * s.scale[d]
                if any(close(mu(arm, d) - (mu((i, j), d) + width)) > 0 for arm in rivals):
                    A[d].remove((i, j))  # 9-11

        row["G"] = set(G)
        row["arms"] = {(i, d, j) for d in range(s.dims) for i, j in A[d] if i in G}
        row["focus"], row["pulled"] = -1, set()
        if stop:
            break
        effect = [w[d] * beta[d] for d in range(s.dims)]
        focus = effect.index(max(effect))  # 12: the lowest of equals
        for other in effect:
            if other < effect[focus]:
                close(effect[focus] - other)
        arms = [a for a in s.arms if a[0] in G and a in A[focus] and mu.count[a] == n[focus]]  # 13
        row["focus"], row["pulled"] = focus, set(arms)
        rewards = yield arms  # 14
        mu.add(arms, rewards)
        for i in G:
            update_efficiency(i)  # 14-15
        n[focus] += 1  # 16-17
    return Outcome(G, R, log, clock=n, margin=close.margin)  # 19


def successive_elimination(s: Setting, log: list[dict[str, Any]], *, weights: Vector) -> Pulls:
    """Even-Dar, Mannor and Mansour's Algorithm 3 for groups: what is left is pulled once a round."""
    w = [weights[d] * s.scale[d] for d in range(s.dims)]
    slack_of_epsilon = dot(weights, s.epsilon)
    mu, close = Means(s), Closest()
    G = set(s.groups)
    A = {(i, d): set(range(s.sizes[i])) for i in s.groups for d in range(s.dims)}
    R = [[0.0] * s.dims for _ in s.groups]
    r = 0
    while len(G) > 1 or r == 0:
        r += 1
        beta = s.beta(r)
        arms = [(i, j) for i, j in s.arms if i in G and any(j in A[i, d] for d in range(s.dims))]
        rewards = yield arms
        mu.add(arms, rewards)
        for i in G:
            for d in range(s.dims):
                R[i][d] = max(mu((i, j), d) for j in A[i, d])
        value = [dot(R[i], weights) for i in s.groups]
        threshold = 2 * dot(w, [beta] * s.dims)
        beaten = {i for i in G if any(close(value[j] - value[i] - threshold) > 0 for j in G)}
        G -= beaten
        for i in sorted(G):
            for d in range(s.dims):
                width = 2 * beta * s.scale[d]
                A[i, d] -= {j for j in A[i, d] if close(R[i][d] - (mu((i, j), d) + width)) > 0}
        if slack_of_epsilon > 0 and len(G) > 1:
            leader = max(sorted(G), key=lambda i: value[i])
            lead = min(value[leader] - value[j] for j in G - {leader})
            if close(lead + slack_of_epsilon - threshold) > 0:
                G = {leader}
        log.append(
            {
                "pulled": set(arms),
                "threshold": threshold,
                "Rhat": [list(row) for row in R],
                "G": set(G),
                "arms": {(i, d, j) for i in G for d in range(s.dims) for j in A[i, d]},
            }
        )
    return Outcome(G, R, log, margin=close.margin)


def uniform_sampling(s: Setting, log: list[dict[str, Any]], *, corrected: bool = False) -> Pulls:
    """UniS as printed, or with the constants that make it (epsilon, delta)-PAC.

    A group's gap is max over all j of m(R_i, R_j); it is in the answer iff that is below epsilon
    (corrected: epsilon / 2). With margins for each dim: iff no j has R_j^d - R_i^d at or above
    epsilon_d in every d; the number of pulls is the largest that a dim asks for.
    """
    factor, part = (32, 2) if corrected else (8, 1)
    spread = max(s.scale[d] / s.epsilon[d] for d in range(s.dims))
    r0 = math.ceil(factor * spread**2 * math.log(2 * len(s.arms) * s.dims / s.delta))
    mu, close = Means(s), Closest()
    for _ in range(r0):
        rewards = yield s.arms
        mu.add(s.arms, rewards)
    R = [[max(mu((i, j), d) for j in range(s.sizes[i])) for d in range(s.dims)] for i in s.groups]

    def gap_slack(i: int) -> float:
        return max(
            min(R[j][d] - R[i][d] - s.epsilon[d] / part for d in range(s.dims)) for j in s.groups
        )

    answer = {i for i in s.groups if close(gap_slack(i)) < 0}
    return Outcome(answer, R, log, repeats=r0, margin=close.margin)
