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
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bestgroup.inference.certificate.deviations import deviations
from bestgroup.inference.certificate.forecast import arms_needed
from bestgroup.inference.certificate.judge import Verdict
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import Goal
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


class Explainer(ABC):
    """Explains the verdict on one tally; what differs between goals is in a subclass for each."""

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
        self.epsilon = self._slack()  # by which a comparison in one dim may fail
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
        return self._by_goal(i)

    @abstractmethod
    def _by_goal(self, i: int) -> Explanation:
        """Return the explanation of a group as the goal asks for it."""

    @abstractmethod
    def raise_needs(self, need: Floats) -> None:
        """Raise what each arm needs in all, [N, K], to what the whole answer takes."""

    def _slack(self) -> Floats:
        return np.zeros(len(self.names))

    def forecast(self) -> float | None:
        """Return about how many more pulls the whole answer takes; None if no one can say."""
        return self._whole

    @cached_property
    def _whole(self) -> float | None:
        more = np.maximum(arms_needed(self) - self.tally.counts, 0.0)
        total = float(more[self.problem.shape.exists].sum())
        if total <= 0.0 and (self.verdict.status == Status.UNDECIDED).any():
            return None  # what is undecided takes something: the reckoning is wrong
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
            margin=difference(self.best[i, d], self.best[j, d]),
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


def about(more: float) -> str:
    """Return a number of pulls in words."""
    return f"~{more:,.0f} more pulls" if more >= 10 else "a few more pulls"


def foreseen(more: float) -> str:
    """Return a number of pulls in words, infinite if no one can say."""
    return about(more) if math.isfinite(more) else "more pulls than can be foreseen"


def difference(one: float, other: float) -> float:
    """Return one - other; infinite if a side was never measured."""
    if math.isinf(one) or math.isinf(other):
        return math.inf if one > other else -math.inf
    return float(one - other)
