"""What the group of a leader was measured to be worth, plan by plan (docs/theory.md 6).

A *measurement* of a leader is a plan in which every arm of a selection s of its group gets pulls. With m_j
of arm j the number z, the sum over dims of w^d times the mean of the pulls of the arm for d, has a mean of
at most R_i . w, and is sub-Gaussian with the variance proxy

    v = sum over the sets B of dims that one arm serves of c_B^2 / m_j.

It weighs n = c_L^2 / v, c_L = sum_d w^d sigma_d. All measurements together are like one arm with the count
n_L = sum n, the mean z_L = sum n z / n_L and the coefficient c_L, whose precision is q f_L, f_L being the
mean of the arms' by w^d sigma_d for the selection when the leader was named.

Weights and values of a measurement are exact; sums over many are intervals.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bestgroup.proof.format import Proof, integers
from bestgroup.proof.intervals import Interval, interval, log, sqrt
from bestgroup.proof.normal_pairs import conjugate
from bestgroup.proof.observations import Observations, exact_sum
from bestgroup.proof.selection_evidence import PRECISIONS, Compared, Leader, Moment, View

GROUP_PRIOR = [interval(p) / 100 for p in (2, 30, 44, 19, 4, 1)]  # of precisions

Span = tuple[int, int]  # counts of an arm before a measurement and after it


class Course:
    """The measurements of a leader, and what the first ones of them say together."""

    def __init__(
        self,
        proof: Proof,
        rows: Observations,
        leader: Leader,
        given: list[Any],
        fine: list[Interval],
    ) -> None:
        self.proof, self.rows, self.leader = proof, rows, leader
        pairs = zip(proof.weights, proof.noise, strict=True)
        self.sizes = [Fraction(w) * Fraction(noise.scale) for w, noise in pairs]
        self.size = sum(self.sizes, Fraction())  # c_L
        parts = [c * fine[j] for c, j in zip(map(interval, self.sizes), leader.arms, strict=True)]
        self.fine = sum(parts[1:], parts[0]) / interval(self.size)
        self.origin: list[Fraction] = []  # [D] near the leader's means; what sums are taken from
        self.weights: list[Interval] = []  # n_L after each measurement
        self.sums: list[Interval] = []  # and the sum of n (z - the sum of origins)
        self._add(given)

    def _add(self, given: list[Any]) -> None:
        """Take up all measurements."""
        ends = list(self.leader.before)
        weight = ahead = interval(0.0)
        for arms, first, last in given:
            served = self._spans(arms, first, last, ends)
            means = [self._mean(d, arm, served[arm][0]) for d, arm in enumerate(arms)]
            if not self.origin:
                self.origin = [Fraction(float(mean)) for mean in means]
            n = self.size**2 / self._variance(served)
            z = sum((m - o for m, o in zip(means, self.origin, strict=True)), Fraction())
            weight, ahead = weight + interval(n), ahead + interval(n * z)
            self.weights.append(weight)
            self.sums.append(ahead)

    def _spans(
        self, arms: list[Any], first: list[Any], last: list[Any], ends: list[int]
    ) -> dict[int, tuple[Span, list[int]]]:
        """Return the counts of each arm of a measurement, and the dims that it serves."""
        proof, i, most = self.proof, self.leader.group, (10**15,) * self.proof.D
        if not len(arms) == len(first) == len(last) == proof.D:
            raise ValueError("a measurement has an arm and two counts for each dim")
        integers(arms, (proof.sizes[i],) * proof.D)
        spans = list(zip(integers(first, most), integers(last, most), strict=True))
        served: dict[int, tuple[Span, list[int]]] = {}
        for d, (arm, span) in enumerate(zip(arms, spans, strict=True)):
            if served.setdefault(arm, (span, []))[0] != span:
                raise ValueError("an arm of a measurement has two counts")
            served[arm][1].append(d)
        for arm, (span, _) in served.items():
            columns = self.rows.values.get((proof.groups[i], proof.arms[i][arm]), [[]])
            if not ends[arm] <= span[0] < span[1] <= len(columns[0]):
                raise ValueError("a measurement has no values, or some that count already")
            ends[arm] = span[1]
        return served

    def _mean(self, d: int, arm: int, span: Span) -> Fraction:
        """Return w^d times the mean of the values of a measurement in a dim."""
        i = self.leader.group
        column = self.rows.values[self.proof.groups[i], self.proof.arms[i][arm]][d]
        total = exact_sum(column[span[0] : span[1]])
        return Fraction(self.proof.weights[d]) * self.proof.signs[d] * total / (span[1] - span[0])

    def _variance(self, served: dict[int, tuple[Span, list[int]]]) -> Fraction:
        """Return the variance proxy of a measurement."""
        total = Fraction()
        for (first, last), dims in served.values():
            if self.proof.independent_dims:
                square = sum((self.sizes[d] ** 2 for d in dims), Fraction())
            else:
                square = sum((self.sizes[d] for d in dims), Fraction()) ** 2
            total += square / (last - first)
        return total


def read_courses(
    proof: Proof, rows: Observations, leaders: list[Leader], fine: list[list[Interval]]
) -> list[Course]:
    """Return the measurements of all leaders of a proof."""
    pairs = zip(leaders, proof.method["measurements"], strict=True)
    return [Course(proof, rows, leader, own, fine[leader.group]) for leader, own in pairs]


class MeasuredView(View):
    """The arms of a moment, the leader being one number for each measurement."""

    def __init__(
        self,
        proof: Proof,
        rows: Observations,
        leader: Leader,
        moment: Moment,
        by: Compared,
        course: Course,
    ) -> None:
        self.course, (count,) = course, moment.own
        if not 0 < count <= len(course.weights):
            raise ValueError("a claim counts measurements that are not there, or none")
        self.n = course.weights[count - 1]
        self.ahead = course.sums[count - 1] / self.n
        super().__init__(proof, rows, leader, moment, by)

    def count_lead(self) -> None:
        """Note which values of the leader's arms count: those of measurements, which are known."""

    def origins(self) -> list[Fraction]:
        """Return what the means of the rival's arms are taken from, for each dim."""
        return self.course.origin

    def priors(self) -> list[Interval]:
        """Return the weights of the parts of the mixture."""
        return GROUP_PRIOR

    def lead_terms(self, part: int, y: Interval) -> list[Interval]:
        """Return what the leader subtracts at a tilt."""
        n, q = self.n, PRECISIONS[part] * self.course.fine
        reach = interval(self.course.size) * sqrt(n + q) / n
        return [conjugate(y * reach) + log(1.0 + n / q) / 2.0 - y * self.ahead]
