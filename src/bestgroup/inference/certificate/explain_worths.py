"""Why a group is in, out or undecided where arms must keep limits, or groups are worth other things.

An arm that is neither proven to count nor barred is taken for what its mean says. There are no forecasts.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bestgroup.inference.certificate.explain import Explainer, Explanation, Reason
from bestgroup.inference.certificate.explain_best import BestExplainer
from bestgroup.inference.certificate.explain_pareto import ParetoExplainer
from bestgroup.inference.worths import BARRED, COUNTS, OPEN
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.measure import Measure
from bestgroup.problem.status import Status

ALL_ARMS = "average"  # what stands for a group that is worth it
_MOST = 6  # arms that are named


def seems_to_count(means: Floats, standing: Ints, measure: Measure) -> Bools:
    """Return which arms with means [N, K, dims] count, by proof or else by the estimates, [N, K]."""
    with np.errstate(invalid="ignore"):
        beyond, slack = measure.excess(means)
        near = (beyond <= slack / 2).all(axis=2)
    return (standing == COUNTS) | ((standing == OPEN) & near)


class WorthExplainer(Explainer):
    """Explains a verdict by worths of groups."""

    def _leading(self) -> tuple[Ints, Floats]:
        """Return the arm that seems to attain each worth, and what that is, [N, D] each."""
        measure, shape = self.problem.measure, self.problem.shape
        assert measure is not None
        self.measure = measure
        self.standing: Ints = np.zeros((shape.groups, shape.arms), np.int64)
        if self.verdict.standing is not None:
            self.standing = self.verdict.standing
        pulled = (self.tally.counts > 0) & shape.exists
        self.counts: Bools = seems_to_count(self.means, self.standing, measure) & pulled
        leader = np.zeros((shape.groups, measure.dims), np.int64)
        best = np.full((shape.groups, measure.dims), -np.inf)
        for i, (size, rank) in enumerate(zip(shape.sizes, measure.ranks(shape), strict=True)):
            own = self.means[i, :size, : measure.dims]
            if rank == 0:
                best[i] = own.mean(axis=0) if pulled[i, :size].all() else -np.inf
            elif self.counts[i, :size].sum() >= rank:
                own = np.where(self.counts[i, :size, None], own, -np.inf)
                leader[i] = np.argsort(-own, axis=0, kind="stable")[rank - 1]
                best[i] = np.take_along_axis(own, leader[i][None], axis=0)[0]
        return leader, best

    def may_count(self, i: int) -> Bools:
        """Return which arms of group i count, by proof or else by the estimates, [K_i]."""
        return self.counts[i, : len(self.problem.arms[i])]

    def group(self, i: int) -> Explanation:
        """Return the explanation of one group."""
        arms, words = self.problem.arms[i], self._kept_words()
        known = self.standing[i, : len(arms)]
        few = "no arm of it" if self.measure.worth.is_best else "not enough of its arms"
        verb = "keeps" if self.measure.worth.is_best else "keep"
        status = Status(self.verdict.status[i])
        rank = self.measure.worth.rank(len(arms))
        if status == Status.OUT and (known != BARRED).sum() < rank:
            return self._made(i, "out", f"{few} {verb} {words}", [])
        measured = bool((self.tally.counts[i, : len(arms)] > 0).all())
        lost = measured and not np.isfinite(self.best[i]).all()
        if self.measure.bounds and lost:
            return self._made(i, status.word, f"by the estimates {few} {verb} {words}", [], None)
        if status == Status.UNDECIDED and measured and not self._has_rival(i):
            return self._made(i, "undecided", self._open_words(i), [], None)
        return self._by_goal(i)

    def _open_words(self, i: int) -> str:
        """Return what is not known of limits: of the group itself, or of others that may beat it."""
        arms, words = self.problem.arms[i], self._kept_words()
        if (self.standing[i, : len(arms)] == COUNTS).sum() >= self.measure.worth.rank(len(arms)):
            return f"not proven yet that other groups do not keep {words}"
        return f"not proven yet to keep {words}"

    def _has_rival(self, i: int) -> bool:
        """Return whether another group seems to be worth anything."""
        others = np.arange(len(self.best)) != i
        return bool(np.isfinite(self.best[others]).all(axis=1).any())

    def forecast(self) -> float | None:
        """Return 0 if all is decided; nobody says how long limits and other worths take."""
        return None if (self.verdict.status == Status.UNDECIDED).any() else 0.0

    def best_arms(self, i: int) -> dict[str, tuple[str, bool]]:
        """Return, for each dim, the arm that seems to attain the worth, and whether that is proven."""
        if self.measure.worth.kind == "mean" or not np.isfinite(self.best[i]).all():
            return {}
        result: dict[str, tuple[str, bool]] = {}
        arms, known = self.problem.arms[i], self.standing[i]
        for d, name in enumerate(self.names):
            m = int(self.leader[i, d])
            rest = [
                self.verdict.high[i, j, d]
                for j in range(len(arms))
                if j != m and known[j] != BARRED
            ]
            above = bool(self.verdict.low[i, m, d] >= max(rest, default=-math.inf))
            counts = known[m] == COUNTS or not self.measure.bounds
            result[name] = (arms[m], self.measure.worth.is_best and above and bool(counts))
        return result

    def reason(self, i: int, j: int, d: int, proven: bool, more: float | None = None) -> Reason:
        """Return the comparison of groups i and j in dim d."""
        made = super().reason(i, j, d, proven, None)
        if self.measure.worth.kind != "mean":
            return made
        return replace(
            made,
            arm=ALL_ARMS,
            rival_arm=ALL_ARMS,
            pulls=int(self.tally.counts[i].sum()),
            rival_pulls=int(self.tally.counts[j].sum()),
        )

    def _made(
        self, i: int, state: str, told: str, reasons: list[Reason], more: float | None = 0.0
    ) -> Explanation:
        return super()._made(i, state, told + self._standing_words(i), reasons, more)

    def _kept_words(self) -> str:
        return " and ".join(limit.in_words() for limit in self.problem.limits)

    def _standing_words(self, i: int) -> str:
        """Return which arms keep the limits, as far as proven; nothing without limits."""
        if not self.measure.bounds:
            return ""
        arms = self.problem.arms[i]
        parts: list[str] = []
        for kind, what in ((COUNTS, "kept by"), (BARRED, "broken by"), (OPEN, "open for")):
            names = [arm for j, arm in enumerate(arms) if self.standing[i, j] == kind]
            if names:
                parts.append(f"{what} {_some(names)}")
        return f"; limits: {', '.join(parts)}"


class ParetoWorthExplainer(WorthExplainer, ParetoExplainer):
    """Explains which groups are Pareto optimal by their worths."""

    def _open(self, i: int) -> Explanation:
        """Return what a group lacks: who may beat it, or who is not yet proven to."""
        if not (self.tally.counts[i, : len(self.problem.arms[i])] > 0).all():
            return super()._open(i)
        N, D = self.best.shape
        for j in range(N):
            if j != i and (self.best[j] > self.best[i]).all():
                dims = [d for d in range(D) if not self.verdict.beats[j, i, d]] or list(range(D))
                reasons = [self.reason(i, j, d, False) for d in dims]
                hardest = min(reasons, key=lambda r: -r.margin)
                return self._made(i, "undecided, likely out", self._gap(hardest), reasons, None)
        keep: list[Reason] = []
        for j in self._rivals(i):
            if not self.verdict.holds[i, j].any() and np.isfinite(self.best[j]).all():
                d = int(np.argmax(self.best[i] - self.best[j] + self.epsilon))
                keep.append(self.reason(i, j, d, False))
        if not keep:
            return self._made(i, "undecided", self._open_words(i), [], None)
        worst = min(keep, key=lambda r: r.margin)
        others = f"; {len(keep) - 1} more may beat it" if len(keep) > 1 else ""
        only = "only " if worst.margin >= 0 else ""
        return self._made(i, "undecided", f"{only}{self._gap(worst)}{others}", keep, None)


class BestWorthExplainer(WorthExplainer, BestExplainer):
    """Explains which group has the best weighted worth."""

    def _by_goal(self, i: int) -> Explanation:
        status = Status(self.verdict.status[i])
        if status == Status.IN and not self._has_rival(i):
            return self._made(i, self._best_words(status), "no other group seems to be left", [])
        return super()._by_goal(i)

    def _best_missing(self, i: int, rival: int, gap: float) -> tuple[str, float | None]:
        """Return nothing: there are no forecasts."""
        return "", None


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} and {len(names) - _MOST} more"
