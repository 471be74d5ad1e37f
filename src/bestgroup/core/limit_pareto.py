"""The inner problem of the limit for ParetoGroups: the cheapest alternatives that make an answer wrong.

An answer S is wrong when (a) some i in S is beaten by a group j by more than epsilon in every dim, or (b) some k
outside S is strictly beaten by nobody. In (a) arms of j rise and arms of i fall; in (b) (`limit_reject`) arms of k rise
and arms of its dominators fall. Nothing else can pay, so no other shifts are considered.
"""

from __future__ import annotations

import numpy as np

from bestgroup.core.arrays import Floats
from bestgroup.core.limit_arms import KEEP, Arms, worth_cutting
from bestgroup.core.limit_beaten import Beaten, BeatenTogether
from bestgroup.core.limit_reject import Rejected


class WrongSet:
    """Oracle of the game for an answer: `inside` groups must not become beaten, `outside` not unbeaten.

    Groups in neither set bring no alternatives: that is the relaxation from which answers are searched.
    """

    def __init__(self, arms: Arms, epsilon: Floats, dependent: bool) -> None:
        self.arms, self.epsilon, self.dependent = arms, epsilon, dependent
        self.inside: list[int] = []
        self.outside: list[int] = []
        self._rejected: dict[int, Rejected] = {}

    def answer(self, inside: list[int], outside: list[int]) -> WrongSet:
        """Return the oracle for other groups of the same arms."""
        other = WrongSet(self.arms, self.epsilon, self.dependent)
        other.inside, other.outside, other._rejected = inside, outside, self._rejected
        return other

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """Return a lower bound of the inner minimum at an allocation [A], and cuts [C, A]."""
        low, cost, cuts = self._beaten(weight)
        cutoff = min(cost, default=np.inf)
        roots = []
        for k in self.outside:
            group = self._group(k)
            root = group.start(weight)
            roots.append((group.bound(root), group, root))
        for bound, group, root in sorted(roots, key=lambda item: item[0]):
            if bound > KEEP * cutoff:
                break  # the bounds of the rest are larger still
            value, least, cut = group.search(root, cutoff)
            low, cutoff = min(low, least), min(cutoff, value)
            cost.append(value)
            cuts.append(cut)
        chosen = worth_cutting(np.array(cost))
        return min(low, cutoff), np.array(cuts)[chosen]

    def _group(self, k: int) -> Rejected:
        if k not in self._rejected:
            self._rejected[k] = Rejected(self.arms, k, self.dependent)
        return self._rejected[k]

    def _beaten(self, weight: Floats) -> tuple[float, list[float], list[Floats]]:
        """Return a lower bound, costs and cuts of alternatives (a)."""
        if not self.inside:
            return np.inf, [], []
        if self.dependent:
            pairs = BeatenTogether(self.arms, self.epsilon, self.inside, weight)
            chosen = worth_cutting(pairs.cost)
            return float(pairs.low.min()), pairs.cost[chosen].tolist(), list(pairs.cuts[chosen])
        groups = [Beaten(self.arms, self.epsilon, i, weight) for i in self.inside]
        cost = np.array([group.cost for group in groups])  # [I, N]
        chosen = worth_cutting(cost.ravel())
        pairs = [divmod(int(at), self.arms.groups) for at in chosen]
        cuts = [groups[one].cut(j) for one, j in pairs]
        return float(cost.min()), [float(cost[pair]) for pair in pairs], cuts
