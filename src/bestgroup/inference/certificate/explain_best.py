"""Why a group is the best, out or undecided: its weighted worth against that of the nearest rival."""

from __future__ import annotations

import math

from bestgroup.inference.certificate.explain import (
    Explainer,
    Explanation,
    Reason,
    about,
    difference,
)
from bestgroup.inference.certificate.forecast import need_best
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import BestGroup
from bestgroup.problem.status import Status


class BestExplainer(Explainer):
    """Explains which group is best for given weights."""

    goal: BestGroup

    def _by_goal(self, i: int) -> Explanation:
        weights = self.goal.weight_vector(len(self.names))
        value = self.best @ weights
        status = Status(self.verdict.status[i])
        others = [j for j in range(len(value)) if j != i]
        if not others:
            return self._made(i, "the best", "there is no other group", [])
        rival = int(max(others, key=lambda j: value[j]))
        reasons = [
            self.reason(i, rival, d, self._told_apart(i, rival, d)) for d in range(len(weights))
        ]
        other = self.problem.groups[rival]
        gap = difference(value[i], value[rival])
        lead = "ahead of" if gap > 0 else "behind"
        told = f"weighted ~{abs(gap):.3g} {lead} {other}{self._arms_of(rival, reasons)}"
        if not math.isfinite(gap):
            told = "it or a rival was never measured"
        if status == Status.NOT_NEEDED:
            return self._made(i, "not needed", f"maybe better, though {told}", reasons)
        if status != Status.UNDECIDED:
            return self._made(i, self._best_words(status), told, reasons)
        words, more = self._best_missing(i, rival, gap)
        return self._made(i, "undecided", f"{told}{words}", reasons, more)

    def _best_missing(self, i: int, rival: int, gap: float) -> tuple[str, float | None]:
        """Return what a group lacks to be decided, in words and in pulls.

        The group ahead must be shown good enough, those behind it to be behind without any slack.
        """
        slack = self.goal.epsilon * sum(self.goal.weights)
        lead = gap + slack if gap > 0 else -gap
        width = self.spread(i, rival)
        if not (lead > 0 and math.isfinite(width) and math.isfinite(gap)):
            return "", None
        pulled = float(self.tally.counts[[i, rival]].sum())
        more = max(((width / lead) ** 2 - 1) * pulled, 1.0)
        whole = self.forecast()  # until one group is proven: then the others are not needed
        if whole is not None and (gap > 0 or whole < more):
            more = whole
        return f"; {about(more)}", more

    def _arms_of(self, j: int, reasons: list[Reason]) -> str:
        """Return the arm that a group is compared by, where it is one in all dims."""
        arms = {r.rival_arm for r in reasons}
        return f" ({arms.pop()})" if len(arms) == 1 and len(self.problem.arms[j]) > 1 else ""

    def _told_apart(self, i: int, j: int, d: int) -> bool:
        """Return whether the better one of two groups in dim d is proven."""
        beats = self.verdict.beats
        return self.verdict.single and bool(beats[i, j, d] or beats[j, i, d])

    def _best_words(self, status: Status) -> str:
        if status == Status.IN:
            return "within epsilon of the best group" if self.goal.epsilon > 0 else "the best group"
        return "out"

    def spread(self, *groups: int, counted: bool = True) -> float:
        """Return the half-width of the weighted efficiencies of groups together, or their reach."""
        weights = self.goal.weight_vector(len(self.names))
        total = 0.0
        for i in groups:
            for m in set(self.leader[i].tolist()):
                n, dims = int(self.tally.counts[i, m]) if counted else 1, self.leader[i] == m
                part = (
                    float(weights[dims] @ self.reach[i, m, dims]) / math.sqrt(n) if n else math.inf
                )
                total += part**2 if self.verdict.pairs else part
        return math.sqrt(total) if self.verdict.pairs else total

    def raise_needs(self, need: Floats) -> None:
        """Raise what each arm needs in all, [N, K], to what shows the group ahead to be the best."""
        if (self.verdict.status == Status.IN).any():
            return
        weights = self.goal.weight_vector(len(self.names))
        need_best(self, weights, self.goal.epsilon * float(weights.sum()), need)
