"""The limit over all correct answers: the best of several games, by branch and bound where they are many.

With epsilon > 0 several answers may be right. An algorithm may aim for the one that is easiest to prove, so
1 / T* is the largest value among the games of the correct answers (Degenne & Koolen 2019).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from bestgroup.problem.arrays import Bools, Floats
from bestgroup.theory.characteristic_time.arms import KEEP, Arms
from bestgroup.theory.characteristic_time.game import Watch, maximise
from bestgroup.theory.characteristic_time.linear import BeatenBest
from bestgroup.theory.characteristic_time.pareto import Question, WrongSet

NODES = 60_000  # games times arms in one search over answers; the answers left enter by their bound
COARSE = 0.05  # tolerance for games that are only to be split


@dataclass
class Best:
    """The best answer found, what it is worth, and an upper bound of what all answers are worth."""

    lower: float = 0.0
    upper: float = 0.0
    allocation: Floats = field(default_factory=lambda: np.empty(0))
    answer: frozenset[int] = frozenset()
    answers: int = 1  # the number of correct answers

    def offer(self, value: float, allocation: Floats, answer: frozenset[int]) -> None:
        """Take over an answer if it is worth more."""
        if value > self.lower or not self.answer:
            self.lower, self.allocation, self.answer = value, allocation, answer


def best_group(
    arms: Arms,
    weights: Floats,
    slack: float,
    dependent: bool,
    tolerance: float,
    watch: Watch | None = None,
) -> Best:
    """Return the limit over all groups i with R_i . w + slack >= max R . w."""
    score = arms.best @ weights
    right = np.flatnonzero(score + slack >= score.max())
    best = Best(answers=len(right))
    for i in right[np.argsort(-score[right], kind="stable")]:
        oracle = BeatenBest(arms, weights, slack, int(i), dependent)
        found = maximise(oracle, len(arms.mean), tolerance, best.lower, watch=watch)
        best.offer(found.lower, found.allocation, frozenset({int(i)}))
        best.upper = max(best.upper, found.upper)
    return best


@dataclass(order=True)
class _Node:
    """Answers that hold `inside`, lack `outside` and are free in the rest; `bound` is minus their worth."""

    bound: float
    inside: list[int] = field(compare=False)
    outside: list[int] = field(compare=False)
    free: list[int] = field(compare=False)
    cuts: Floats | None = field(compare=False, default=None)
    hardest: int = field(compare=False, default=-1)  # the free group that stands in the way most

    def children(self) -> list[_Node]:
        """Return the two halves of the answers, with the hardest group and without it."""
        rest = [u for u in self.free if u != self.hardest]
        return [
            _Node(self.bound, [*self.inside, self.hardest], self.outside, rest, self.cuts),
            _Node(self.bound, self.inside, [*self.outside, self.hardest], rest, self.cuts),
        ]


class ParetoAnswers:
    """Search over the sets S between G*_0 and G*_epsilon.

    A node fixes some of the groups in question. Its game has only alternatives that are wrong for all
    its answers, so its value bounds theirs, and its allocation suggests, for each group left, whether
    to take it in. If that answer is worth as much, the node is done; otherwise it is split at the
    group that stands in the way most.
    """

    def __init__(self, question: Question, tolerance: float, watch: Watch | None = None) -> None:
        self.question, self.tolerance, self.watch = question, tolerance, watch
        self.every = np.arange(question.arms.groups)
        self.best = Best()

    def search(self) -> Best:
        """Return the limit over all correct answers."""
        epsilon = self.question.epsilon
        sure, allowed = self._unbeaten(0.0 * epsilon), self._unbeaten(epsilon)
        free = np.flatnonzero(allowed & ~sure).tolist()
        self.best.answers = 2 ** len(free)
        if free:
            # At half of epsilon a group is about as hard to prove inside as outside.
            near = self._unbeaten(0.5 * epsilon)
            inside, outside = np.flatnonzero(near), np.flatnonzero(~near)
            self._solve(_Node(-np.inf, inside.tolist(), outside.tolist(), []), self.tolerance)
        outside = np.flatnonzero(~allowed)
        heap = [_Node(-np.inf, np.flatnonzero(sure).tolist(), outside.tolist(), free)]
        for _ in range(max(60, NODES // len(self.question.arms.mean))):
            if not heap or self._is_settled(-heap[0].bound):
                break
            node = heapq.heappop(heap)
            self._bound(node)
            if node.free and not self._is_settled(-node.bound):
                for child in node.children():
                    heapq.heappush(heap, child)
            else:
                self.best.upper = max(self.best.upper, -node.bound)
        self.best.upper = max([self.best.upper, *(-node.bound for node in heap)])
        return self.best

    def _unbeaten(self, epsilon: Floats) -> Bools:
        best = self.question.arms.best
        return ~np.array([(row + epsilon < best).all(axis=1).any() for row in best])

    def _is_settled(self, upper: float) -> bool:
        return upper * (1.0 - self.tolerance) <= self.best.lower

    def _bound(self, node: _Node) -> None:
        """Tighten the bound of a node, to no more than what is needed to split it."""
        if not node.free:
            self._solve(node, self.tolerance)
            return
        fine = 0.5 * self.tolerance  # the other half is left for the answer that the game suggests
        found, value = self._solve(node, max(COARSE, fine))
        if value >= (1.0 - 3.0 * COARSE) * found and not self._is_settled(-node.bound):
            self._solve(node, fine)

    def _solve(self, node: _Node, tolerance: float) -> tuple[float, float]:
        """Return what the node's game and the answer that it suggests are worth; updates node and best."""
        game = self._game(node.inside, node.outside)
        arms = len(self.question.arms.mean)
        found = maximise(game, arms, tolerance, self.best.lower, node.cuts, watch=self.watch)
        node.bound = max(node.bound, -found.upper)
        cost = found.cuts @ found.allocation
        node.cuts = found.cuts[cost <= KEEP * cost.min()]
        inside, value = node.inside, found.lower
        if node.free:
            inside, node.hardest = self._complete(node, found.allocation)
            outside = np.setdiff1d(self.every, inside).tolist()
            value = self._game(inside, outside)(found.allocation)[0]
        self.best.offer(value, found.allocation, frozenset(inside))
        return found.lower, value

    def _game(self, inside: list[int], outside: list[int]) -> WrongSet:
        return WrongSet(self.question, inside, outside, np.setdiff1d(self.every, outside))

    def _complete(self, node: _Node, allocation: Floats) -> tuple[list[int], int]:
        """Return `inside` with the free groups that are easier to prove in than out, and the hardest one."""
        inside, hardest, least = list(node.inside), -1, np.inf
        rivals = np.setdiff1d(self.every, node.outside)
        for u in node.free:
            into = WrongSet(self.question, [u], [], rivals)(allocation)[0]
            out = WrongSet(self.question, [], [u], np.setdiff1d(rivals, u))(allocation)[0]
            if into >= out:
                inside.append(u)
            if max(into, out) < least:
                hardest, least = u, max(into, out)
        return inside, hardest
