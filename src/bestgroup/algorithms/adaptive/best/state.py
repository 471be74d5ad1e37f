"""Rule and state of the adaptive algorithm for the best group, as its kernels see them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.adaptive.best.cache import Cache, make_cache
from bestgroup.compile.kernel import kernel
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.evalues.prove import Stack, make_stack
from bestgroup.inference.evalues.search import Pairwise, Work, make_pairwise, make_work
from bestgroup.inference.evalues.selection_wealth import Hulls, make_hulls
from bestgroup.inference.evalues.wealth import STATISTICS
from bestgroup.problem.arrays import Bools, Floats, Ints


class LinearRule(NamedTuple):
    """A setting."""

    exists: Bools  # [N, K]
    sizes: Ints  # [N]
    cost: Floats  # [N, K]      of a pull, in units of the least one
    priced: bool  # whether costs differ
    fine: Floats  # [N, K]      times a precision: that of the arm's mixture
    weights: Floats  # [D]
    scale: Floats  # [D]
    coefficient: Floats  # [2^D]  c_B; empty for boxes
    slack: float  # epsilon ||w||_1
    delta: float
    precision: Floats  # [G]
    log_prior: Floats  # [G]
    batch: int  # pulls a plan
    share: float  # pulls of one arm as a share of its count
    boxes: bool
    bets: bool  # wealth of bets proves, in place of half-normal mixtures
    independent: bool  # the dims of a pull
    heft: Floats  # [D]         for bets: w^d times the range
    box: BoxRule  # how boxes are computed, or what is kept of values
    first: int  # pulls of every arm before the first check
    tails: Floats  # [2]        for symmetric noise: levels of lower and of upper ends of boxes
    by_group: bool  # leaders are groups, measured plan by plan (`leaders`)


class State(NamedTuple):
    """What is decided, the leader, and what to pull for."""

    out: Bools  # [N]
    leader: Ints  # [1]
    lead: Ints  # [D]           the leader's selection
    named: (
        Ints  # [1]          m, the number of leaders named so far; before the first it only leads
    )
    since: Ints  # [1]          pulls in all when it was named
    before: Ints  # [K]         pulls of its arms that do not count
    before_sums: Floats  # [K, D]
    before_stat: (
        Floats  # [K, D, STATISTICS]  for bets: what they kept; of their sum, too, if that is
    )
    share: Floats  # [N]        of delta, by groups that lead: 0 for one that is not named
    counted: Floats  # [N]      what the measurements of a leader weigh, as pulls, ...
    measured: Floats  # [N]     ... and their sum, so weighed
    first_lead: Ints  # [N, D]  the selection of a leader when it was named
    past: Ints  # [K]           pulls of the leading group at the last step
    past_sums: Floats  # [K, D]
    scale: Floats  # [D]        what sampling takes for the scales: those of the rule, or estimates
    coefficient: Floats  # [2^D]  and for the c_B that follow
    tried: Ints  # [N]          for bets: pulls in all before which no proof is tried again
    probe: Ints  # [D]          the arm to pull when the lead's arm of this dim is due
    rival: Ints  # [1]          the group to pull for, -1 for the one with the least evidence
    chase: Ints  # [D]          the selection of it to pull for
    aimed: Ints  # [N, K]       pulls when `probe` and `rival` were chosen
    hard: Ints  # [N, D]        the selection of each group with the least evidence
    gauge: Ints  # [N]          the precision that suits it
    evidence: Floats  # [N]     its evidence at the last check
    gap: Floats  # [N]          the leader's lead over it
    ease: Floats  # [N]         gap^2 / (2 V) at the last check
    efficiency: Floats  # [N, D]
    spread: Floats  # [N, D]    for boxes: root n times the half-width of the arm in `hard`
    low: Floats  # [N, K, D]    for boxes: their ends, the tightest so far
    high: Floats  # [N, K, D]
    boxed: Ints  # [N, K]       pulls when they were computed
    short: Bools  # [1]         whether an arm was pulled less than t / (25 A) times
    next: Ints  # [1]           pulls in all at the next check
    due: Ints  # [N, K]         pulls of the plan that a driver has still to deliver; plans do not read it
    round: Ints  # [1]
    answer: Ints  # [1]         -1 while undecided


class Scratch(NamedTuple):
    """Scratch space of a check, so that kernels make no arrays."""

    masks: Ints  # [D]
    none: Ints  # [K]         zeros
    idle: Ints  # [N, K]      zeros: nothing is planned
    trial: Ints  # [2, D]     selections of one group
    lead: Ints  # [D]         the leading group's selection
    means: Floats  # [N, K, D]  mean rewards, 0 where there is no arm
    worth: Floats  # [N]      -inf for a group that is out
    low: Floats  # [N]        for boxes: the bounds of worth
    high: Floats  # [N]
    value: Floats  # [K, D]
    price: Floats  # [K, D]
    pair: Pairwise
    work: Work
    stack: Stack
    hulls: Hulls
    origin: Floats  # [D]     for symmetric noise: what means are taken from
    cache: Cache


@kernel
def make_workspace(state: State, rule: LinearRule) -> Scratch:
    """Return what plans and steps write in."""
    N, K = rule.exists.shape
    D = len(rule.weights)
    sets = 0 if rule.boxes else D  # boxes allow any number of dims, and need no sets of them
    return Scratch(
        np.zeros(D, np.int64),
        np.zeros(K, np.int64),
        np.zeros((N, K), np.int64),
        np.zeros((2, D), np.int64),
        np.zeros(D, np.int64),
        np.zeros((N, K, D)),
        np.zeros(N),
        np.zeros(N),
        np.zeros(N),
        np.zeros((K, D)),
        np.zeros((K, D)),
        make_pairwise(len(rule.precision), K, D, state.coefficient),
        make_work(sets),
        make_stack(sets, K),
        make_hulls(
            K if rule.bets else 0,
            D if rule.bets else 0,
            rule.heft,
            D + int(len(rule.box.weights) > 0) if rule.bets else 0,
        ),
        np.zeros(D),
        make_cache(N, K),
    )


def init(rule: LinearRule) -> State:
    """Return the state before any pull."""
    N, K = rule.exists.shape
    D = len(rule.weights)
    one = np.zeros(1, np.int64)
    return State(
        out=np.zeros(N, np.bool_),
        leader=one.copy(),
        lead=np.zeros(D, np.int64),
        named=one.copy(),
        since=one.copy(),
        before=np.zeros(K, np.int64),
        before_sums=np.zeros((K, D)),
        before_stat=np.zeros((K, D + (len(rule.box.weights) > 0), STATISTICS)),
        share=np.zeros(N),
        counted=np.zeros(N),
        measured=np.zeros(N),
        first_lead=np.zeros((N, D), np.int64),
        past=np.zeros(K, np.int64),
        past_sums=np.zeros((K, D)),
        scale=rule.scale.copy(),
        coefficient=rule.coefficient.copy(),
        tried=np.zeros(N, np.int64),
        probe=np.zeros(D, np.int64),
        rival=one.copy(),
        chase=np.zeros(D, np.int64),
        aimed=np.zeros((N, K), np.int64),
        hard=np.zeros((N, D), np.int64),
        gauge=np.full(N, len(rule.precision) // 2),
        evidence=np.full(N, -np.inf),
        gap=np.zeros(N),
        ease=np.zeros(N),
        efficiency=np.zeros((N, D)),
        spread=np.zeros((N, D)),
        low=np.full((N, K, D) if rule.boxes else (0, 0, 0), -np.inf),
        high=np.full((N, K, D) if rule.boxes else (0, 0, 0), np.inf),
        boxed=np.zeros((N, K), np.int64),
        short=np.zeros(1, np.bool_),
        next=one.copy(),
        due=np.zeros((N, K), np.int64),
        round=one.copy(),
        answer=np.full(1, 0 if N == 1 else -1),
    )
