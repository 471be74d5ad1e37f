"""Who is compared with whom in proofs from selections, at which level, and what follows.

`OneBest`: *leaders*, each compared with all other groups, for the best group; `MeasuredBest`: leaders that
are groups and no selections of them. `SeveralBest`: pairs of groups, each with a share of delta, for the m
best groups.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from bestgroup.proof.answers import known_worths
from bestgroup.proof.boxes import BoxClaims
from bestgroup.proof.format import Proof, Refused, integers, number
from bestgroup.proof.goals import Best, Status, Top
from bestgroup.proof.intervals import Interval, interval, log
from bestgroup.proof.measurements import MeasuredView, read_courses
from bestgroup.proof.noise import RANGED, SCALED, SYMMETRIC
from bestgroup.proof.observations import Observations
from bestgroup.proof.selection_evidence import (
    AND_SUMS,
    BY_SYMMETRY,
    Compared,
    Leader,
    Moment,
    View,
    fineness,
)
from bestgroup.proof.shares_of_arms import arm_share
from bestgroup.proof.symmetric_evidence import SymmetricView, tail_claims

MEASURED = "measured"  # the budget of leaders that are groups
_NEAR = Fraction(1, 10**9)  # of the largest worth: what rounding may do to a comparison of means

Whole = set[tuple[int, int, int]]  # (leader, rival, slack): all selections of the rival are refuted


class Contest:
    """Levels of the claims of a proof, and the conclusion from those that hold."""

    budgets: ClassVar[tuple[str, ...]]
    has_boxes = False  # whether bounds of single arms have half of delta

    def __init__(self, proof: Proof, rows: Observations, leaders: list[Leader]) -> None:
        self.proof, self.rows, self.leaders = proof, rows, leaders
        if any(noise.kind in SYMMETRIC for noise in proof.noise) and not self.symmetric:
            raise ValueError("there is no such process for normal noise of unknown variance")

    @property
    def symmetric(self) -> bool:
        """Whether evidence is by symmetry of the noise, within bounds of single arms."""
        return False

    def boxes(self) -> BoxClaims | None:
        """Return the bounds of single arms that a proof has besides, none of which is checked yet."""
        if not self.has_boxes:
            return None
        return BoxClaims(self.proof, self.rows, self.proof.method.get("boxes", {}))

    def view(self, moment: Moment, by: Compared, bounds: BoxClaims | None) -> View:
        """Return the arms of a moment as a process sees them."""
        leader = self.leaders[moment.leader]
        if by.kind == BY_SYMMETRY:
            assert bounds is not None
            return SymmetricView(self.proof, self.rows, leader, moment, by, bounds)
        return View(self.proof, self.rows, leader, moment, by)

    def process(self) -> dict[str, Any]:
        """Return the process that the noise and the budget ask for."""
        return {"name": "normal", "fixed_at": 0}

    def processes(self) -> list[dict[str, Any]]:
        """Return the processes that are taken."""
        return [self.process()]

    def compared(self, kind: int) -> Compared:
        """Return by which weights groups are compared, with a process."""
        weights = [Fraction(w) for w in self.proof.weights]
        return Compared(weights, kind, fineness(self.proof), self.expected())

    def expected(self) -> Interval | None:
        """Return about what evidence takes in a run that scouted: precisions are fixed by it."""
        return None

    def level(self, moment: Moment) -> Interval:
        """Return the log of 1 over the share of delta of a comparison."""
        raise NotImplementedError

    def conclude(self, whole: Whole, bounds: BoxClaims | None) -> Status:
        """Return the statuses."""
        raise NotImplementedError


class OneBest(Contest):
    """Leaders, one after the other, or one by all values of a table."""

    budgets = ("union", "leaders")

    def __init__(self, proof: Proof, rows: Observations, leaders: list[Leader]) -> None:
        self.union = proof.method["budget"] == "union"
        # The first version of the format with weighted sums, and with evidence by symmetry.
        self.since = 4 if self.union else 3
        super().__init__(proof, rows, leaders)
        self.ranges = all(noise.kind in RANGED for noise in proof.noise)

    @property
    def symmetric(self) -> bool:
        """Whether evidence is by symmetry of the noise, within bounds of single arms."""
        proof = self.proof
        normal = all(noise.kind in SYMMETRIC for noise in proof.noise)
        return normal and proof.document["version"] >= self.since

    def boxes(self) -> BoxClaims | None:
        """Return the bounds within which evidence by symmetry is."""
        return tail_claims(self.proof, self.rows) if self.symmetric else None

    def process(self) -> dict[str, Any]:
        """Return the process that the noise and the budget ask for."""
        if self.symmetric:
            return {"name": "symmetric", "fixed_at": 0}
        if self.ranges:
            return {"name": "normal and bets" if self.union else "bets", "fixed_at": 0}
        if not self.union and any(noise.kind not in SCALED for noise in self.proof.noise):
            raise ValueError("leaders need one kind of noise")
        return super().process()

    def processes(self) -> list[dict[str, Any]]:
        """Return the process, and that in which an arm that serves all dims bets on their sum."""
        process = self.process()
        late = self.proof.document["version"] >= self.since and self.proof.D > 1
        if process["name"] == "normal" or not late:
            return [process]
        return [process, {**process, "name": process["name"] + AND_SUMS}]

    def level(self, moment: Moment) -> Interval:
        """Return the log of 1 over the share of delta of a leader."""
        proof, leader = self.proof, moment.leader
        delta = proof.delta * Fraction(3, 4) if self.symmetric else proof.delta
        if self.union:
            pairs = sum(size**proof.D for size in proof.sizes)
            return log(interval((2 if self.ranges else 1) * pairs / delta))
        return log(interval((leader + 1) * (leader + 2) / delta))

    def conclude(self, whole: Whole, bounds: BoxClaims | None) -> Status:
        """Return the statuses, by who is behind whom."""
        if not self.union:
            self._check_names(whole)
            self._check_order()
        proof, leaders = self.proof, self.leaders
        behind = sorted({k for _, k, slack in whole if slack == 0})
        near: dict[int, set[int]] = {}
        for m, k, _ in whole:
            near.setdefault(leaders[m].group, set()).add(k)
        if proof.epsilon[0] == 0.0:
            # A group that is behind anyone is not the only best one.
            near = {i: set(behind) for i in near}
        good = [
            leader.group
            for leader in leaders
            if len(near.get(leader.group, set()) - {leader.group}) == len(proof.groups) - 1
            and (proof.epsilon[0] > 0.0 or leader.group not in behind)
        ]
        return proof.goal.settle_first(len(proof.groups), behind, good[-1] if good else None)

    def _check_names(self, whole: Whole) -> None:
        """Refuse a leader that the means of the values before it was named do not name."""
        proof, weights = self.proof, [Fraction(w) for w in self.proof.weights]
        named = proof.method["leaders"]
        for turn, (leader, given) in enumerate(zip(self.leaders, named, strict=True)):
            gone = {k for m, k, _ in whole if m < turn}
            worth = self._worths(turn, given[2])
            values = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in worth]
            top = max(value for i, value in enumerate(values) if i not in gone or i == leader.group)
            if values[leader.group] < top - _NEAR * abs(top):
                raise Refused("parameters", f"leader {turn} is not the group that led")

    def _check_order(self) -> None:
        """Refuse leaders whose counts fall from one to the next."""
        for a, b in pairwise(self.proof.method["leaders"]):
            pairs = (zip(x, y, strict=True) for x, y in zip(a[2], b[2], strict=True))
            if any(n > m for pair in pairs for n, m in pair):
                raise Refused("parameters", "leaders must be named one after the other")

    def _worths(self, turn: int, counts: list[list[int]]) -> list[list[Fraction]]:
        """Return the largest means of all groups by the values up to some counts, [N][D]."""
        proof, leader, worth = self.proof, self.leaders[turn], list[list[Fraction]]()
        for i, size in enumerate(proof.sizes):
            worth.append([])
            for d, sign in enumerate(proof.signs):
                sums = [_sum(proof, self.rows, i, j, d, counts[i][j]) for j in range(size)]
                means = [sign * s / n for s, n in zip(sums, counts[i], strict=True)]
                worth[i].append(max(means))
                if i == leader.group and "costs" not in proof.method:
                    if means[leader.arms[d]] < worth[i][d] - _NEAR * abs(worth[i][d]):
                        raise Refused(
                            "parameters", f"leader {turn} has other arms than the best ones"
                        )
        return worth


def _sum(proof: Proof, rows: Observations, i: int, j: int, d: int, n: int) -> Fraction:
    arm = proof.groups[i], proof.arms[i][j]
    if n > len(rows.values.get(arm, [[]])[0]):
        raise Refused("parameters", "a leader was named by values that are not in the table")
    return rows.sum_of(arm, d, n)


class MeasuredBest(OneBest):
    """Leaders that are groups, each named once with a share of delta, and their measurements."""

    budgets = (MEASURED,)

    def __init__(self, proof: Proof, rows: Observations, leaders: list[Leader]) -> None:
        super().__init__(proof, rows, leaders)
        if proof.document["version"] < 4:
            raise ValueError("there are no measurements in this version of the format")
        self.shares = [Fraction(number(given[3])) for given in proof.method["leaders"]]
        if min(self.shares, default=1) <= 0 or sum(self.shares) > 1:
            raise ValueError("the shares of leaders add up to more than delta, or one has none")
        if len({leader.group for leader in leaders}) != len(leaders):
            raise ValueError("a group is named once")
        self.courses = read_courses(proof, rows, leaders, fineness(proof))

    @property
    def symmetric(self) -> bool:
        """Whether evidence is by symmetry of the noise: measurements need a known scale."""
        return False

    def process(self) -> dict[str, Any]:
        """Return the process that the noise asks for."""
        if any(noise.kind not in SCALED for noise in self.proof.noise):
            raise ValueError("measurements need noise of a known scale")
        return Contest.process(self)

    def view(self, moment: Moment, by: Compared, bounds: BoxClaims | None) -> View:
        """Return the arms of a moment, the leader being one number for each measurement."""
        leader, course = self.leaders[moment.leader], self.courses[moment.leader]
        return MeasuredView(self.proof, self.rows, leader, moment, by, course)

    def level(self, moment: Moment) -> Interval:
        """Return the log of 1 over the share of delta of a leader."""
        return log(interval(1 / (self.proof.delta * self.shares[moment.leader])))

    def _check_names(self, whole: Whole) -> None:
        """Take a leader as it is named: that later values did not choose it is an assumption."""


class SeveralBest(Contest):
    """Pairs of groups, each with a share of delta."""

    budgets = ("equal", "scouted")

    def __init__(self, proof: Proof, rows: Observations, leaders: list[Leader]) -> None:
        super().__init__(proof, rows, leaders)
        self.has_boxes = any(noise.kind not in SCALED for noise in proof.noise)
        self.part = Fraction(1, 2 if self.has_boxes else 1)
        N, method, m = len(proof.groups), proof.method, proof.goal.m
        self.scouted = method["budget"] == "scouted"
        self.equal = Fraction(1, m * max(N - m, 1))
        self.pairs: dict[tuple[int, int], Fraction] = {}
        if self.scouted:
            self.equal = Fraction(number(method["shares"]["rest"]))
            for i, k, share in method["shares"]["pairs"]:
                i, k = integers([i, k], (N, N))
                self.pairs[i, k] = Fraction(number(share))
            self._check(N)

    def _check(self, N: int) -> None:
        rest = N * (N - 1) - len(self.pairs)
        if (
            min([self.equal, *self.pairs.values()]) < 0
            or sum(self.pairs.values()) + rest * self.equal > 1
        ):
            raise ValueError("the shares of comparisons add up to more than delta")
        if any(i == k for i, k in self.pairs) or len(self.pairs) != len(
            self.proof.method["shares"]["pairs"]
        ):
            raise ValueError("a comparison is of two groups, and has one share")

    def expected(self) -> Interval | None:
        """Return the level of one of m (N - m) comparisons, and 3 more."""
        m = self.proof.goal.m
        pairs = m * max(len(self.proof.groups) - m, 1)
        return log(interval(pairs / (self.part * self.proof.delta))) + 3.0

    def level(self, moment: Moment) -> Interval:
        """Return the log of 1 over the share of a comparison, by the arms of the leader."""
        leader = self.leaders[moment.leader]
        i, share = leader.group, self.part * self.proof.delta
        share *= self.pairs.get((i, moment.rival), self.equal)
        for d in range(self.proof.D):
            size = self.proof.sizes[i]
            own = arm_share(self.proof, self.rows, leader, d) if self.scouted else Fraction(1, size)
            share *= own
        if share <= 0:
            raise ValueError("a comparison has no share of delta")
        return log(interval(1 / share))

    def conclude(self, whole: Whole, bounds: BoxClaims | None) -> Status:
        """Return the statuses, by comparisons and, where there are, by bounds."""
        proof = self.proof
        above = {(self.leaders[m].group, k) for m, k, slack in whole if slack == 0}
        near = {(self.leaders[m].group, k) for m, k, _ in whole}
        low, high = ({}, {}) if bounds is None else (bounds.low, bounds.high)
        close, over = proof.goal.compared(known_worths(proof, low, high))
        return proof.goal.settle_compared(
            proof,
            lambda i, k: (i, k) in near or close(i, k),
            lambda i, k: (i, k) in above or over(i, k),
        )


CONTESTS: dict[str, type[Contest]] = {Best.kind: OneBest, Top.kind: SeveralBest}
