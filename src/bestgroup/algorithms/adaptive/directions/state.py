"""Rule and state of the adaptive algorithm for maps of weights and for the m best groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.evalues.directions import Directions
from bestgroup.problem.arrays import Bools, Floats, Ints


class DirectionsRule(NamedTuple):
    """A setting."""

    exists: Bools  # [N, K]
    sizes: Ints  # [N]
    cost: Floats  # [N, K]   of a pull, in units of the least one
    scale: Floats  # [D]
    independent: bool  # the dims of a pull
    directions: Directions
    own: int  # the first directions, which are the vertices of the set of weights
    cells: Ints  # [C, E]    corners (numbers of directions) of each cell of the weights
    points: Floats  # [P, D]  grid weights, with sum 1
    place: Ints  # [P]       the cell of each
    mix: Floats  # [P, E]    its shares of the cell's corners
    volume: Floats  # [P]
    epsilon: float
    share: float  # of the weights that are to be mapped
    top: int  # how many best groups are asked for; 0: a map
    level: float  # about that of a comparison: sampling goes by it
    budget: float  # the part of delta that evidence on several arms has
    batch: int  # pulls of a plan
    grow: float  # pulls of one arm as a share of its count
    linear: bool  # evidence on several arms at once proves
    boxed: bool  # boxes of single arms do
    box: BoxRule


class State(NamedTuple):
    """What is proven, and what to pull for."""

    bound: Floats  # [V, N, N]  R_i . v - R_k . v is at least that; while scouting, a guess
    counting: Bools  # [1]     whether scouting has ended, and bounds are proven
    start: Ints  # [N, K]      pulls that do not count
    start_sums: Floats  # [N, K, D]
    level: Floats  # [V, N, N]  that of each bound
    price: Floats  # [N, K, D]  of an arm that is to show its group ahead
    precision: Floats  # [1, N, K]  of each arm's mixture, from the end of scouting on
    named: Bools  # [N]        proven to be best for some weight, or among the best
    out: Bools  # [N]          best for no weight, or not among the best
    colour: Ints  # [P]        the group that a grid weight is mapped to, -1 for none
    covered: Floats  # [1]     the share of the weights that are mapped
    ratio: Floats  # [P]       what is proven of what is needed there, about
    rivals: Ints  # [P, 2]     the leading group there, and the one that it is least ahead of
    pair: Ints  # [2]          the two groups to pull for
    target: Floats  # [D]      at these weights
    aim: Ints  # [2, D]        by these arms
    trial: Ints  # [D]         scratch
    first: Bools  # [N]        the groups that are to be shown ahead
    lead: Ints  # [N, D]       the arms of a group that is to be shown ahead
    efficiency: Floats  # [N, D]
    low: Floats  # [N, K, D]   for boxes: their ends, the tightest so far
    high: Floats  # [N, K, D]
    boxed: Ints  # [N, K]      pulls when they were computed
    short: Bools  # [1]        whether an arm was pulled less than t / (25 A) times
    next: Ints  # [1]          pulls in all at the next check
    round: Ints  # [1]
    done: Bools  # [1]


def init(rule: DirectionsRule) -> State:
    """Return the state before any pull."""
    V, D = rule.directions.weights.shape
    N, K = rule.exists.shape
    P, ends = len(rule.points), (N, K, D) if rule.boxed else (0, 0, 0)
    alone = N == 1
    return State(
        bound=np.full((V, N, N), -np.inf),
        counting=np.full(1, not rule.linear),
        start=np.zeros((N, K), np.int64),
        start_sums=np.zeros((N, K, D)),
        level=rule.directions.level.copy(),
        price=rule.directions.price.copy(),
        precision=np.ones((1, N, K)),
        named=np.full(N, alone),
        out=np.zeros(N, np.bool_),
        colour=np.full(P, 0 if alone else -1, np.int64),
        covered=np.full(1, 1.0 if alone else 0.0),
        ratio=np.zeros(P),
        rivals=np.zeros((P, 2), np.int64),
        pair=np.zeros(2, np.int64),
        target=rule.points[0].copy(),
        aim=np.zeros((2, D), np.int64),
        trial=np.zeros(D, np.int64),
        first=np.ones(N, np.bool_),
        lead=np.zeros((N, D), np.int64),
        efficiency=np.zeros((N, D)),
        low=np.full(ends, -np.inf),
        high=np.full(ends, np.inf),
        boxed=np.zeros((N, K), np.int64),
        short=np.zeros(1, np.bool_),
        next=np.zeros(1, np.int64),
        round=np.zeros(1, np.int64),
        done=np.full(1, alone),
    )
