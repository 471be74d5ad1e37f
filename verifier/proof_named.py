"""Warm-ups after which an answer is expected ("budget": "named"): beliefs, their order, shares.

A group is believed to be out if a rival seems to lead it by more than epsilon / 2 in every dim.
Those who are come first in the order, then the surest. What is decided as believed has most of
delta, less of it after each group that was decided otherwise and stands before it.
"""

import math

from proof_warm_up import WarmUp
from verify_proof import need


def surprise(z):
    """Return about how likely a belief is wrong that is z standard errors from the other one."""
    return math.exp(-z * z / 2) / (2 + 2.5 * z)


class Named(WarmUp):
    """A warm-up with sharper shares and, where little is in doubt, an expected answer."""
    even, sharp = 0.05, 3.0

    def __init__(self, proof):
        need(proof.version == 4 and not proof.limits, "format", "not in this version")
        super().__init__(proof)
        N = proof.N
        margins = [max(min(self.gaps(j, i, -0.5)) for j in range(N) if j != i) for i in range(N)]
        self.is_out = [margin > 1e-9 for margin, _ in margins]
        z = [abs(margin) / math.sqrt(error) for margin, error in margins]
        doubts = [surprise(one) for one in z]
        doubt = math.fsum(doubts)
        self.expects = N <= 128 and doubt < 1
        self.order = sorted(range(N), key=lambda i: (
            not self.is_out[i], -math.floor(z[i] ** 2 * 2**20 + 0.3), i))
        first = 0.88 * (1 - doubt**3)
        second = min(0.3 * (1 - first), first)
        self.parts = [first, second, min(0.1 * (1 - first), second)]
        self.own = [0.6 * (1 - first) * (0.2 / N + 0.8 * own / doubt) for own in doubts]
        about = [(claim[0] == 0, claim[3 if claim[0] == 0 else 1]) for claim in proof.claims]
        self.against = {i for out, i in about if out != self.is_out[i]}

    def share_of_group(self, i, out):
        if not self.expects:
            return super().share_of_group(i, out)
        before = len(self.against & set(self.order[: self.order.index(i)]))
        believed = out == self.is_out[i] and before < len(self.parts)
        return self.own[i] + (self.parts[before] if believed else 0)

    def standing(self, found):
        """Return what stands at any time of what claims decide."""
        if not self.expects:
            return found
        decided, known = {*found["in"], *found["out"]}, set()
        for i in self.order:
            if i not in decided:
                break
            known.add(i)
        inside = [i for i in found["in"] if i in known] if len(known) >= sum(self.is_out) else []
        outside = [j for j in found["out"] if j in known or not self.is_out[j]]
        return {"in": inside, "out": outside, "not_needed": []}


def claims(proof):
    """Return how a claim is proven where an answer was expected."""
    return Named(proof)
