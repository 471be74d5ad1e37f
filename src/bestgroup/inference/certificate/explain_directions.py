"""Why a group is where it is on a map of weights, or among the m best."""

from __future__ import annotations

import math

import numpy as np

from bestgroup.inference.certificate.explain import (
    Explainer,
    Explanation,
    Reason,
    about,
    difference,
)
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.goals import TopGroups, WeightMap
from bestgroup.problem.status import Status

_SOME = 24  # grid weights that a forecast looks at


class DirectionExplainer(Explainer):
    """What maps and the m best groups have in common: worths in a direction."""

    def spread(self, i: int, k: int, weights: Floats, counted: bool = True) -> float:
        """Return the half-width of R_i . w - R_k . w, or its reach."""
        total = 0.0
        for g in (i, k):
            for m in set(self.leader[g].tolist()):
                n, dims = int(self.tally.counts[g, m]) if counted else 1, self.leader[g] == m
                part = float(weights[dims] @ self.reach[g, m, dims])
                part = part / math.sqrt(n) if n else math.inf
                total += part**2 if self.verdict.pairs else part
        return math.sqrt(total) if self.verdict.pairs else total

    def raise_pair(self, i: int, k: int, weights: Floats, slack: float, need: Floats) -> None:
        """Raise `need` [N, K] to what shows group i ahead of k at weights, up to the slack."""
        ahead = float((self.best[i] - self.best[k]) @ weights) + slack
        width = self.spread(i, k, weights, counted=False)
        for d in np.flatnonzero(weights > 0).tolist():
            behind = weights[d] * (self.best[k, d] - self.means[k, :, d])
            row = (width / (ahead + behind)) ** 2 if ahead > 0 else np.full_like(behind, math.inf)
            row = np.where(self.problem.shape.exists[k], row, 0.0)
            need[k] = np.maximum(need[k], row)
            m = int(self.leader[i, d])
            need[i, m] = max(need[i, m], float(row.max()))

    def reasons(self, i: int, k: int) -> list[Reason]:
        """Return the comparisons of two groups by dim, none of which is proven by itself."""
        return [self.reason(i, k, d, False) for d in range(len(self.names))]


class TopExplainer(DirectionExplainer):
    """Explains which groups are the m best ones for given weights."""

    goal: TopGroups

    def _by_goal(self, i: int) -> Explanation:
        weights = self.goal.weight_vector(len(self.names))
        value, status = self.best @ weights, Status(self.verdict.status[i])
        order = np.argsort(-value, kind="stable")
        others = [int(j) for j in order if j != i]
        if not others:
            return self._made(i, "the best", "there is no other group", [])
        # Ahead, the first group outside is what counts; behind, the last one inside.
        inside = i in order[: self.goal.m]
        rival = others[min(self.goal.m if inside else self.goal.m - 1, len(others) - 1)]
        if inside:
            rival = next((j for j in order[self.goal.m :].tolist()), others[-1])
        gap, slack = difference(value[i], value[rival]), self.goal.epsilon * float(weights.sum())
        place = 1 + int(np.flatnonzero(order == i)[0])
        lead = "ahead of" if gap > 0 else "behind"
        told = f"place {place} by the estimates, weighted ~{abs(gap):.3g} {lead} {self.problem.groups[rival]}"
        if not math.isfinite(gap):
            return self._made(i, status.word, "it or a rival was never measured", [], None)
        reasons = self.reasons(i, rival)
        if status == Status.IN:
            near = " within epsilon" if self.goal.epsilon > 0 else ""
            return self._made(i, f"among the {self.goal.m} best{near}", told, reasons)
        if status != Status.UNDECIDED:
            return self._made(i, status.word, told, reasons)
        width = self.spread(i, rival, weights)
        pulled = float(self.tally.counts[[i, rival]].sum())
        more = (
            max(((width / (abs(gap) + slack)) ** 2 - 1) * pulled, 1.0) if gap or slack else math.inf
        )
        told += f"; {about(more)}" if math.isfinite(more) else ""
        return self._made(i, "undecided", told, reasons, more if math.isfinite(more) else None)

    def raise_needs(self, need: Floats) -> None:
        """Raise what each arm needs in all, [N, K], to what shows the first m ahead of the others."""
        weights = self.goal.weight_vector(len(self.names))
        slack = self.goal.epsilon * float(weights.sum())
        order = np.argsort(-(self.best @ weights), kind="stable")
        for i in order[: self.goal.m].tolist():
            for k in order[self.goal.m :].tolist():
                self.raise_pair(i, k, weights, slack, need)


class MapExplainer(DirectionExplainer):
    """Explains for which weights a group is best."""

    goal: WeightMap

    def _by_goal(self, i: int) -> Explanation:
        status = Status(self.verdict.status[i])
        if len(self.best) == 1:
            return self._made(i, "best for all weights", "there is no other group", [])
        if not np.isfinite(self.best).all():
            return self._made(i, status.word, "it or a rival was never measured", [], None)
        point, rival, gap = self._suits(i)
        reasons = self.reasons(i, rival)
        at = ", ".join(
            f"{w:.2g} {name}" for w, name in zip(point, self.names, strict=True) if w > 0.005
        )
        other = self.problem.groups[rival]
        lead = "ahead of" if gap > 0 else "behind"
        told = f"at the weights that suit it most ({at}) ~{abs(gap):.3g} {lead} {other}"
        if status == Status.IN:
            return self._made(i, self._where(i), told, reasons)
        if status == Status.OUT:
            return self._made(i, "out: best for no weights", told, reasons)
        if status == Status.NOT_NEEDED:
            return self._made(i, "not needed", f"no weight had to be mapped to it; {told}", reasons)
        more = self.forecast()
        words = "" if more is None else f"; {about(more)} for the map"
        return self._made(i, "undecided", f"{told}{words}", reasons, more)

    def _where(self, i: int) -> str:
        near = " within epsilon" if self.goal.epsilon > 0 else ""
        regions = self.verdict.regions
        if regions is None:
            return f"best{near} for some weights"
        if regions.always[i]:
            return f"best{near} for all weights"
        return f"best{near} for {100 * regions.shares[i]:.3g} % of the weights"

    def _suits(self, i: int) -> tuple[Floats, int, float]:
        """Return the weights that suit a group most by the estimates, its rival there, and the gap."""
        grid = self.goal.grid(len(self.names))
        weights = np.concatenate([grid.corners, grid.points])
        worth = weights @ self.best.T
        rest = np.where(np.arange(len(self.best)) == i, -np.inf, worth)
        at = int((worth[:, i] - rest.max(axis=1)).argmax())
        rival = int(rest[at].argmax())
        return weights[at], rival, float(worth[at, i] - worth[at, rival])

    def raise_needs(self, need: Floats) -> None:
        """Raise what each arm needs in all, [N, K], to what maps the easiest weights that suffice."""
        grid = self.goal.grid(len(self.names))
        chosen = np.linspace(0, len(grid.points) - 1, min(_SOME, len(grid.points))).astype(np.int64)
        points = np.concatenate([grid.points[chosen], grid.corners[: grid.own]])
        worth = points @ self.best.T
        leaders = worth.argmax(axis=1)
        parts: list[Floats] = []
        for weights, i in zip(points, leaders.tolist(), strict=True):
            part = np.zeros_like(need)
            for k in range(len(self.best)):
                if k != i:
                    self.raise_pair(i, k, weights, self.goal.epsilon, part)
            parts.append(part)
        order: Ints = np.argsort([part.max() for part in parts], kind="stable")
        for n in order[: math.ceil(self.goal.share * len(order))].tolist():
            need[:] = np.maximum(need, parts[int(n)])
