"""The inner problem of the limit for ParetoGroups: the cheapest alternatives that make an answer wrong.

An answer S is wrong if it holds a group that some other one beats by more than epsilon in every
dim, or lacks a group that is strictly beaten by nobody. That is the same as:

(a) some i in S is beaten by more than epsilon in every dim by some j in S (`limit_beaten`), or
(b) some k outside S is strictly beaten by nobody in S (`limit_reject`).

For if a j outside S beats i, then either a group of S strictly beats j, and it beats i too, or none
does, which is (b). And if nobody in S beats k, then an optimal group above k, or k itself, is
missing in S. In (a) arms of j rise and arms of i fall, in (b) arms of k rise and arms of its
dominators fall; other shifts cannot pay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.problem.arrays import Floats, Ints
from bestgroup.theory.characteristic_time.arms import KEEP, Arms, worth_cutting
from bestgroup.theory.characteristic_time.beaten import Beaten, BeatenTogether
from bestgroup.theory.characteristic_time.reject import Rejected


class Question(NamedTuple):
    """Arms, epsilon [D] in units of the noise scale, and whether dims are fully dependent."""

    arms: Arms
    epsilon: Floats
    dependent: bool


class WrongSet:
    """Oracle of the game for answers S: `inside` <= S <= `rivals`, none of `outside` in S.

    It returns alternatives in which all these answers are wrong. If S is not unique they are not
    all alternatives of one S, and the value of the game is an upper bound for each of them.
    """

    def __init__(
        self, question: Question, inside: list[int], outside: list[int], rivals: Ints
    ) -> None:
        self.arms, self.epsilon, self.dependent = question
        self.inside, self.rivals = inside, rivals
        self.rejected = [Rejected(self.arms, k, rivals, self.dependent) for k in outside]

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """Return a lower bound of the inner minimum at an allocation [A], and cuts [C, A]."""
        low, cost, cuts = self._beaten(weight)
        cutoff = min(cost, default=np.inf)
        bounds = np.array([group.start(weight) for group in self.rejected])
        for at in np.argsort(bounds, kind="stable"):
            if bounds[at] > KEEP * cutoff:
                break  # and so are those after it
            value, least, cut = self.rejected[int(at)].search(cutoff)
            low, cutoff = min(low, least), min(cutoff, value)
            cost.append(value)
            cuts.append(cut)
        return min(low, cutoff), np.array(cuts)[worth_cutting(np.array(cost))]

    def _beaten(self, weight: Floats) -> tuple[float, list[float], list[Floats]]:
        """Return a lower bound, costs and cuts of the alternatives (a)."""
        if len(self.inside) * (len(self.rivals) - 1) == 0:
            return np.inf, [], []
        if self.dependent:
            pairs = BeatenTogether(self.arms, self.epsilon, self.inside, self.rivals, weight)
            near = worth_cutting(pairs.cost)
            return float(pairs.low.min()), pairs.cost[near].tolist(), list(pairs.cuts[near])
        groups = [Beaten(self.arms, self.epsilon, i, weight) for i in self.inside]
        cost = np.array([group.cost[self.rivals] for group in groups])  # [I, J]
        near = [divmod(int(at), len(self.rivals)) for at in worth_cutting(cost.ravel())]
        cuts = [groups[one].cut(int(self.rivals[j])) for one, j in near]
        return float(cost.min()), [float(cost[pair]) for pair in near], cuts
