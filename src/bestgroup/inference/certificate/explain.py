"""Why a group is in, out or undecided, in words and in numbers.

Everything here reads a `Verdict` and the tally behind it; it decides nothing.
Forecasts are plain extrapolations: gaps stay as they look now, half-widths shrink like one over the
root of the count, evidence grows like the count. So every arm has in each dim a reach, its half-width
times the root of its count, and a comparison is proven when the gap exceeds what the reaches of its
arms give together: their sum for boxes and for algorithms with a radius, the root of the sum of their
squares for evidence on pairs.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bestgroup.inference.certificate.deviations import deviations
from bestgroup.inference.certificate.judge import Verdict
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.problem.shape import Shape
from bestgroup.problem.status import Status

_MIXING = 2.0  # what a mixture over one pair costs on top of its level, about


@dataclass(frozen=True)
class Reason:
    """One comparison: the rival, the dim, the arms that stand for both sides, and how clear it is."""

    rival: str
    dim: str
    arm: str
    rival_arm: str
    margin: float  # of the means, in the dim's own units; positive if the group is the better one
    pulls: int  # of the group's arm
    rival_pulls: int
    proven: bool  # whether this comparison by itself is among what holds with probability 1 - delta
    more: float | None = None  # pulls that it would take, about


@dataclass(frozen=True)
class Explanation:
    """Why a group has its status; `str()` gives the words."""

    group: str
    status: str
    text: str
    reasons: tuple[Reason, ...] = ()
    forecast: float | None = None  # more pulls, about; None if nothing is missing or no one can say
    # The arm that seems to attain the efficiency of each dim, and whether that is proven.
    best_arms: dict[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)


def pair_reach(shape: Shape, delta: float, spread: Floats) -> Floats:
    """Return what evidence on pairs of arms has for a half-width, times the root of the count."""
    level = math.log(shape.groups * shape.total / delta) + _MIXING
    return np.sqrt(2 * level) * spread


class Explainer:
    """Explains the verdict on one tally."""

    def __init__(
        self,
        problem: Problem,
        goal: Goal,
        delta: float,
        tally: Tally,
        verdict: Verdict,
        reach: Floats | None = None,
        proven: bool = True,
    ) -> None:
        self.problem, self.goal, self.delta = problem, goal, delta
        self._sure = f" ({100 * (1 - delta):.10g}% sure)" if proven else " (no guarantee)"
        self.tally, self.verdict = tally, verdict
        self.names = [dim.name for dim in problem.decided]
        shape = problem.shape
        counts = tally.counts[:, :, None]
        self.means: Floats = np.where(counts > 0, tally.sums / np.maximum(counts, 1), -np.inf)
        self.means[~shape.exists] = -np.inf
        self.leader: Ints  # [N, D]  the arm that seems to attain the worth
        self.best: Floats  # [N, D]  what the group seems to be worth
        self.leader, self.best = self._leading()
        self.epsilon: Floats = np.zeros(len(self.names))
        if isinstance(goal, ParetoGroups):
            self.epsilon = goal.epsilons(len(self.names))
        self.reach: Floats = self._reach() if reach is None else reach  # [N, K, D]
        # Where spreads are estimated, what is not proven takes a tenth more pulls at least.
        estimated = verdict.pairs and not isinstance(problem.noise, SubGaussian)
        self.least = 0.1 if estimated else 0.0

    def may_count(self, i: int) -> Bools:
        """Return which arms of group i count, as far as is known, [K_i]."""
        return np.ones(len(self.problem.arms[i]), np.bool_)

    def _leading(self) -> tuple[Ints, Floats]:
        """Return the arm that seems to attain each worth, and what that is, [N, D] each."""
        return self.means.argmax(axis=1), self.means.max(axis=1)

    def _reach(self) -> Floats:
        """Return half-widths times the root of the count: of the evidence, or of the boxes."""
        verdict, shape = self.verdict, self.problem.shape
        if verdict.pairs:
            spread = deviations(self.tally, self.problem.noise.boxes(shape, self.delta))
            return pair_reach(shape, self.delta, spread)
        with np.errstate(invalid="ignore"):  # an arm without pulls has no reach
            half = (verdict.high - verdict.low) / 2 * np.sqrt(self.tally.counts)[:, :, None]
        return np.where(shape.exists[:, :, None], half, 0.0)

    def group(self, i: int) -> Explanation:
        """Return the explanation of one group."""
        if isinstance(self.goal, BestGroup):
            return self._best(i)
        explain = {Status.OUT: self._out, Status.IN: self._in}
        return explain.get(Status(self.verdict.status[i]), self._open)(i)

    def forecast(self) -> float | None:
        """Return about how many more pulls the whole answer takes; None if no one can say."""
        return self._whole

    @cached_property
    def _whole(self) -> float | None:
        from bestgroup.inference.certificate.forecast import arms_needed

        more = np.maximum(arms_needed(self) - self.tally.counts, 0.0)
        total = float(more[self.problem.shape.exists].sum())
        if (self.verdict.status == Status.UNDECIDED).any():
            total = max(total, 1.0)  # what is undecided takes something
        return total if math.isfinite(total) else None

    def best_arms(self, i: int) -> dict[str, tuple[str, bool]]:
        """Return, for each dim, the arm that seems to attain the efficiency and whether that is proven."""
        result: dict[str, tuple[str, bool]] = {}
        for d, name in enumerate(self.names):
            m = int(self.leader[i, d])
            size = len(self.problem.arms[i])
            rest = [self.verdict.high[i, j, d] for j in range(size) if j != m]
            proven = self.verdict.low[i, m, d] >= max(rest, default=-math.inf)
            result[name] = (self.problem.arms[i][m], bool(proven))
        return result

    def more(self, i: int, j: int, d: int, shift: float) -> float:
        """Return about how many pulls would prove R_i + shift > R_j in dim d; inf if none may."""
        m, b = int(self.leader[i, d]), int(self.leader[j, d])
        n_a, n_b = int(self.tally.counts[i, m]), int(self.tally.counts[j, b])
        gap = self.best[i, d] + shift - self.best[j, d]
        if not (n_a and n_b and gap > 0):
            return math.inf
        ends = self.reach[i, m, d] / math.sqrt(n_a), self.reach[j, b, d] / math.sqrt(n_b)
        width = math.hypot(*ends) if self.verdict.pairs else sum(ends)
        if not math.isfinite(width):
            return 4.0 * (n_a + n_b)  # too few pulls for any bound yet
        return max((width / gap) ** 2 - 1, self.least) * (n_a + n_b)

    def reason(self, i: int, j: int, d: int, proven: bool, more: float | None = None) -> Reason:
        """Return the comparison of groups i and j in dim d."""
        m, b = int(self.leader[i, d]), int(self.leader[j, d])
        return Reason(
            rival=self.problem.groups[j],
            dim=self.names[d],
            arm=self.problem.arms[i][m],
            rival_arm=self.problem.arms[j][b],
            margin=_difference(self.best[i, d], self.best[j, d]),
            pulls=int(self.tally.counts[i, m]),
            rival_pulls=int(self.tally.counts[j, b]),
            proven=proven,
            more=None if more is None or not math.isfinite(more) else float(more),
        )

    def _made(
        self, i: int, state: str, told: str, reasons: list[Reason], more: float | None = 0.0
    ) -> Explanation:
        name, status = self.problem.groups[i], Status(self.verdict.status[i])
        sure = "" if status == Status.UNDECIDED else self._sure
        text = f"{name} is {state}{sure}: {told}"
        return Explanation(name, status.word, text, tuple(reasons), more, self.best_arms(i))

    def _out(self, i: int) -> Explanation:
        beaten = [j for j in np.flatnonzero(self.verdict.beats[:, i].all(axis=1)) if j != i]
        if not beaten:  # the estimates have moved since an algorithm decided
            return self._made(i, "out", "though no group is ahead in every dim by now", [])
        j = int(max(beaten, key=lambda j: (self.best[j] - self.best[i]).min()))
        reasons = [self.reason(i, j, d, self.verdict.single) for d in range(len(self.names))]
        least = min(reasons, key=lambda r: -r.margin)
        others = [r.dim for r in reasons if r is not least]
        rest = f", more in {others[0] if len(others) == 1 else 'the rest'}" if others else ""
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
        from bestgroup.inference.certificate.forecast import group_needs

        more = group_needs(self, i)
        if fall < total:
            open_dims = [d for d in range(D) if not self.verdict.beats[rival, i, d]]
            reasons = [
                self.reason(i, rival, d, False, self.more(rival, i, d, 0.0)) for d in open_dims
            ]
            hardest = max(reasons, key=lambda r: math.inf if r.more is None else r.more)
            told = f"{self._gap(hardest)}; {_foreseen(more)}"
            foreseen = more if math.isfinite(more) else None
            return self._made(i, "undecided, likely out", told, reasons, foreseen)
        keep.sort(key=lambda r: -(r.more if r.more is not None else math.inf))
        worst = keep[0]
        if not math.isfinite(worst.margin):
            told = f"{worst.rival} has arms that were never measured"
            return self._made(i, "undecided", told, keep, None)
        others = f"; {len(keep) - 1} more may beat it" if len(keep) > 1 else ""
        only = "only " if worst.margin >= 0 else ""
        told = f"{only}{self._gap(worst)}{others}; {_foreseen(more)}"
        return self._made(i, "undecided", told, keep, more if math.isfinite(more) else None)

    def _best(self, i: int) -> Explanation:
        assert isinstance(self.goal, BestGroup)
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
        gap = _difference(value[i], value[rival])
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
        assert isinstance(self.goal, BestGroup)
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
        return f"; {_about(more)}", more

    def _arms_of(self, j: int, reasons: list[Reason]) -> str:
        """Return the arm that a group is compared by, where it is one in all dims."""
        arms = {r.rival_arm for r in reasons}
        return f" ({arms.pop()})" if len(arms) == 1 and len(self.problem.arms[j]) > 1 else ""

    def _told_apart(self, i: int, j: int, d: int) -> bool:
        """Return whether the better one of two groups in dim d is proven."""
        beats = self.verdict.beats
        return self.verdict.single and bool(beats[i, j, d] or beats[j, i, d])

    def _best_words(self, status: Status) -> str:
        assert isinstance(self.goal, BestGroup)
        if status == Status.IN:
            return "within epsilon of the best group" if self.goal.epsilon > 0 else "the best group"
        return "out"

    def spread(self, *groups: int, counted: bool = True) -> float:
        """Return the half-width of the weighted efficiencies of groups together, or their reach."""
        assert isinstance(self.goal, BestGroup)
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


def _about(more: float) -> str:
    return f"~{more:,.0f} more pulls" if more >= 10 else "a few more pulls"


def _foreseen(more: float) -> str:
    return _about(more) if math.isfinite(more) else "more pulls than can be foreseen"


def _difference(one: float, other: float) -> float:
    """Return one - other; infinite if a side was never measured."""
    if math.isinf(one) or math.isinf(other):
        return math.inf if one > other else -math.inf
    return float(one - other)
