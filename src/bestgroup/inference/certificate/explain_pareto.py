"""Why a group is in, out or undecided among Pareto groups: it is compared dim by dim."""

from __future__ import annotations

import math

import numpy as np

from bestgroup.inference.certificate.explain import Explainer, Explanation, Reason, foreseen
from bestgroup.inference.certificate.forecast import group_needs, need_pareto
from bestgroup.problem.arrays import Floats
from bestgroup.problem.status import Status


class ParetoExplainer(Explainer):
    """Explains which groups are Pareto optimal."""

    def _by_goal(self, i: int) -> Explanation:
        explain = {Status.OUT: self._out, Status.IN: self._in}
        return explain.get(Status(self.verdict.status[i]), self._open)(i)

    def raise_needs(self, need: Floats) -> None:
        """Raise what each arm needs in all, [N, K], to what every undecided group takes."""
        for i in np.flatnonzero(self.verdict.status == Status.UNDECIDED):
            need_pareto(self, int(i), need)

    def _slack(self) -> Floats:
        return self.goal.epsilons(len(self.names))

    def _out(self, i: int) -> Explanation:
        beaten = [j for j in np.flatnonzero(self.verdict.beats[:, i].all(axis=1)) if j != i]
        if not beaten:  # the estimates have moved since an algorithm decided
            return self._made(i, "out", "though no group is ahead in every dim by now", [])
        j = int(max(beaten, key=lambda j: (self.best[j] - self.best[i]).min()))
        reasons = [self.reason(i, j, d, self.verdict.single) for d in range(len(self.names))]
        least = min(reasons, key=lambda r: -r.margin)
        others = [r.dim for r in reasons if r is not least]
        rest = f", no less in {others[0] if len(others) == 1 else 'the rest'}" if others else ""
        seen = "by the estimates " if self.verdict.estimated else ""
        return self._made(i, "out", f"{seen}{self._gap(least)}{rest}", reasons)

    def _in(self, i: int) -> Explanation:
        reasons: list[Reason] = []
        for j in self._rivals(i):
            dims = np.flatnonzero(self.verdict.holds[i, j])
            if not len(dims):  # the estimates have moved since an algorithm decided
                dims = np.arange(len(self.names))
            d = int(max(dims, key=lambda d: self.best[i, d] - self.best[j, d] + self.epsilon[d]))
            reasons.append(self.reason(i, j, d, self.verdict.single))
        if not reasons:
            return self._made(i, "in", "every other group is out", [])
        closest = min(reasons, key=lambda r: r.margin)
        side = "behind" if closest.margin >= 0 else "ahead, within epsilon,"
        told = (
            f"{self._rival(closest)} comes closest, ~{abs(closest.margin):.3g} {side} "
            f"in {closest.dim}"
        )
        return self._made(i, "in", told, reasons)

    def _rival(self, reason: Reason) -> str:
        """Return a rival, with the arm that stands for it if there is a choice."""
        arms = self.problem.arms[self.problem.groups.index(reason.rival)]
        return reason.rival if len(arms) == 1 else f"{reason.rival} ({reason.rival_arm})"

    def _gap(self, reason: Reason) -> str:
        """Return how far a group is from a rival in a dim, by the estimates."""
        side = "ahead of" if reason.margin >= 0 else "behind"
        return f"~{abs(reason.margin):.3g} {side} {self._rival(reason)} in {reason.dim}"

    def _rivals(self, i: int) -> list[int]:
        status = self.verdict.status
        return [j for j in range(len(status)) if j != i and status[j] != Status.OUT]

    def _open(self, i: int) -> Explanation:
        D = len(self.names)
        unpulled = [
            arm for j, arm in enumerate(self.problem.arms[i]) if self.tally.counts[i, j] == 0
        ]
        if unpulled:
            told = f"its arm {unpulled[0]} was never measured"
            return self._made(i, "undecided", told, [], None)
        keep: list[Reason] = []
        total = 0.0
        for j in self._rivals(i):
            if self.verdict.holds[i, j].any():
                continue
            needs = [self.more(i, j, d, float(self.epsilon[d])) for d in range(D)]
            d = (
                int(np.argmin(needs))
                if math.isfinite(min(needs))
                else int(np.argmax(self.best[i] - self.best[j] + self.epsilon))
            )
            total += needs[d]
            keep.append(self.reason(i, j, d, False, needs[d]))
        fall, rival = math.inf, -1
        for j in range(len(self.verdict.status)):
            if j != i:
                needs = [
                    self.more(j, i, d, 0.0) for d in range(D) if not self.verdict.beats[j, i, d]
                ]
                if sum(needs) < fall:
                    fall, rival = sum(needs), j
        more = group_needs(self, i)
        if fall < total:
            open_dims = [d for d in range(D) if not self.verdict.beats[rival, i, d]]
            reasons = [
                self.reason(i, rival, d, False, self.more(rival, i, d, 0.0)) for d in open_dims
            ]
            hardest = max(reasons, key=lambda r: math.inf if r.more is None else r.more)
            told = f"{self._gap(hardest)}; {foreseen(more)}"
            known = more if math.isfinite(more) else None
            return self._made(i, "undecided, likely out", told, reasons, known)
        keep.sort(key=lambda r: -(r.more if r.more is not None else math.inf))
        worst = keep[0]
        if not math.isfinite(worst.margin):
            told = f"{worst.rival} has arms that were never measured"
            return self._made(i, "undecided", told, keep, None)
        others = f"; {len(keep) - 1} more may beat it" if len(keep) > 1 else ""
        only = "only " if worst.margin >= 0 else ""
        told = f"{only}{self._gap(worst)}{others}; {foreseen(more)}"
        return self._made(i, "undecided", told, keep, more if math.isfinite(more) else None)
