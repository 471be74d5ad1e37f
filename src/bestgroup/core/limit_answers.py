"""The limit over all correct answers: the best of several games, by branch and bound where they are many.

With epsilon > 0 several answers may be right. An algorithm may aim for the one that is easiest to
prove, so 1 / T* is the largest value among the games of the correct answers (Degenne & Koolen
2019).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from bestgroup.core.arrays import Bools, Floats
from bestgroup.core.limit_arms import Arms
from bestgroup.core.limit_game import maximise
from bestgroup.core.limit_linear import BeatenBest
from bestgroup.core.limit_pareto import Question, WrongSet

NODES = 300  # games solved in one search over answers; the answers left enter by their bound


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
    arms: Arms, weights: Floats, slack: float, dependent: bool, tolerance: float
) -> Best:
    """Return the limit over all groups i with R_i . w + slack >= max R . w."""
    score = arms.best @ weights
    right = np.flatnonzero(score + slack >= score.max())
    best = Best(answers=len(right))
    for i in right[np.argsort(-score[right], kind="stable")]:
        oracle = BeatenBest(arms, weights, slack, int(i), dependent)
        found = maximise(oracle, len(arms.mean), tolerance, best.lower)
        best.offer(found.lower, found.allocation, frozenset({int(i)}))
        best.upper = max(best.upper, found.upper)
    return best


@dataclass(order=True)
class _Node:
    """Answers that hold `inside`, lack `outside`, and are free in the rest; `bound` is minus their worth."""

    bound: float
    inside: list[int] = field(compare=False)
    outside: list[int] = field(compare=False)
    free: list[int] = field(compare=False)
    cuts: Floats | None = field(compare=False, default=None)


class ParetoAnswers:
    """Search over the sets S between G*_0 and G*_epsilon.

    A node fixes some of the groups in question. Its game has only alternatives that are wrong for
    all its answers, so its value bounds theirs, and its allocation suggests, for each group left,
    whether to take it in. If that answer is worth as much, the node is done; otherwise it is split
    at the group that stands in the way most.
    """

    def __init__(self, question: Question, tolerance: float) -> None:
        self.question, self.tolerance = question, tolerance
        self.every = np.arange(question.arms.groups)

    def search(self) -> Best:
        """Return the limit over all correct answers."""
        inside, allowed = self._undominated(0.0), self._undominated(self.question.epsilon)
        free = np.flatnonzero(allowed & ~inside).tolist()
        best = Best(answers=2 ** len(free))
        outside = np.flatnonzero(~allowed).tolist()
        heap = [_Node(-np.inf, np.flatnonzero(inside).tolist(), outside, free)]
        for _ in range(NODES):
            if not heap or self._is_settled(best, -heap[0].bound):
                break
            for child in self._branch(heapq.heappop(heap), best):
                heapq.heappush(heap, child)
        best.upper = max([best.upper, best.lower, *(-node.bound for node in heap)])
        return best

    def _undominated(self, epsilon: Floats | float) -> Bools:
        best = self.question.arms.best
        return ~np.array([(row + epsilon < best).all(axis=1).any() for row in best])

    def _is_settled(self, best: Best, upper: float) -> bool:
        return upper * (1.0 - self.tolerance) <= best.lower

    def _branch(self, node: _Node, best: Best) -> list[_Node]:
        """Solve the node's game, offer an answer, and return the children if the node is not done."""
        # Half of the tolerance for the game leaves half for the answer that it suggests.
        tolerance = self.tolerance * (0.5 if node.free else 1.0)
        game = self._game(node.inside, node.outside)
        arms = len(self.question.arms.mean)
        found = maximise(game, arms, tolerance, best.lower, node.cuts)
        upper = min(-node.bound, found.upper)
        inside, hardest = self._complete(node, found.allocation)
        value = found.lower
        if node.free:
            outside = np.setdiff1d(self.every, inside).tolist()
            value = self._game(inside, outside)(found.allocation)[0]
        best.offer(value, found.allocation, frozenset(inside))
        if not node.free or self._is_settled(best, upper):
            best.upper = max(best.upper, upper)
            return []
        rest = [u for u in node.free if u != hardest]
        return [
            _Node(-upper, [*node.inside, hardest], node.outside, rest, found.cuts),
            _Node(-upper, node.inside, [*node.outside, hardest], rest, found.cuts),
        ]

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
