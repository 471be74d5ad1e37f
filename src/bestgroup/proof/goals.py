"""What a proof file asks: each goal as a value that knows how claims settle it, and what it says in words.

A goal is read from its entry in the file. Everything that differs from goal to goal is here: which bounds
an error can rest on, how bounds of worths, complete pools and comparisons of groups become statuses, and
the statement. Bounds are strict; sums are compared as rational numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bestgroup.proof.noise import number

if TYPE_CHECKING:
    from bestgroup.proof.format import Proof

Compared = Callable[[int, int], bool]  # two groups
Worths = list[Fraction | None]  # a bound of what each group is worth; None: there is none


class Status(NamedTuple):
    """What follows for the groups."""

    inside: list[int]
    outside: list[int]
    not_needed: list[int]
    mapped: dict[str, Any] | None = None  # for maps: at how many weights groups are proven best


class Known(NamedTuple):
    """What bounds of arms say of the groups, [N][D]; barred groups have too few arms that may count."""

    lower: list[list[float]]
    upper: list[list[float]]
    barred: set[int]


@dataclass(frozen=True)
class ProofGoal:
    """The question of a proof file."""

    kind: ClassVar[str] = ""
    entries: ClassVar[frozenset[str]] = frozenset()
    since: ClassVar[int] = 1  # the first version of the format that has such a goal
    answers_one: ClassVar[bool] = False
    maps: ClassVar[bool] = False  # the answer says, too, for which weights a group is best
    several: ClassVar[bool] = False  # so many groups are asked for, whoever they are
    measured: ClassVar[bool] = True  # whether arms may have to keep limits, and groups other worths
    weights: tuple[float, ...]  # of dims; none where they are not weighed
    epsilon: tuple[float, ...]  # one for each dim; where dims are weighed just one
    m: int = 1  # how many best groups are asked for

    @classmethod
    def read(cls, given: dict[str, Any], groups: int) -> ProofGoal:
        """Return the goal of an entry; raises ValueError where a number cannot be."""
        return cls(tuple(map(number, given["weights"])), (number(given["epsilon"]),))

    def first_version(self) -> int:
        """Return the first version of the format that has this goal."""
        return self.since

    def fits(self, dims: int) -> bool:
        """Return whether there is one number for each dim that decides."""
        return len(self.weights) == dims

    def bounds_used(self, proof: Proof) -> tuple[int, int]:
        """Return how many lower and upper bounds of arms an error can rest on."""
        return proof.total * proof.D, len(proof.groups) * proof.D

    def by_pairs(self, proof: Proof) -> bool:
        """Return whether claims on pairs of arms settle it."""
        return False

    def by_bounds(self, proof: Proof, known: Known) -> Status:
        """Return what bounds of the worths of groups in each dim say."""
        raise NotImplementedError

    def of_pool(self, best: list[list[Fraction]], slack: list[Fraction]) -> Status:
        """Return what the largest sums over a complete pool say, [N][D]."""
        raise ValueError("a complete pool is for groups that are worth their best arms")

    def settle_first(self, groups: int, behind: list[int], first: int | None) -> Status:
        """Return the statuses: `behind` are not the only best, `first` is good enough."""
        raise NotImplementedError

    def compared(self, known: Known) -> tuple[Compared, Compared]:
        """Return who is within the slack of whom, and who is above whom, by bounds of worths."""
        raise NotImplementedError

    def settle_compared(self, proof: Proof, near: Compared, above: Compared) -> Status:
        """Return the statuses by who is within the slack of whom, and who is above whom."""
        raise NotImplementedError

    def of_safe(self, proof: Proof, safe: list[int], out: list[int]) -> Status:
        """Return the statuses where `safe` groups are as good as any that may count."""
        return Status(safe, out, [])

    def statement(self, percent: str) -> str:
        """Return what holds, with which probability."""
        raise NotImplementedError

    def weighted(self, ends: list[float]) -> Fraction | None:
        """Return sum_d w^d of the bounds, exactly; None if one is missing."""
        if any(math.isinf(end) for end in ends):
            return None
        pairs = zip(self.weights, ends, strict=True)
        return sum((Fraction(w) * Fraction(e) for w, e in pairs), Fraction())

    def slack(self) -> Fraction:
        """Return what a group may lack of the best one, in weighted worth."""
        return Fraction(self.epsilon[0]) * sum(map(Fraction, self.weights))


class Pareto(ProofGoal):
    """The groups that no other one beats in every dim."""

    kind = "pareto"
    entries = frozenset({"kind", "epsilon"})

    @classmethod
    def read(cls, given: dict[str, Any], groups: int) -> ProofGoal:
        """Return the goal of an entry."""
        return cls((), tuple(map(number, given["epsilon"])))

    def fits(self, dims: int) -> bool:
        """Return whether there is one epsilon for each dim that decides."""
        return len(self.epsilon) == dims

    def by_pairs(self, proof: Proof) -> bool:
        """Return that claims on pairs of arms settle it."""
        return True

    def by_bounds(self, proof: Proof, known: Known) -> Status:
        """Return what bounds of the worths of groups say, dim by dim."""
        lower, upper, N = known.lower, known.upper, len(known.lower)
        strong = [i for i in range(N) if min(lower[i]) > -math.inf]
        out = {
            k for k in range(N) for i in strong
            if i != k and all(a >= b for a, b in zip(lower[i], upper[k], strict=True))
        } | known.barred  # fmt: skip

        def holds(i: int, j: int) -> bool:
            ends = zip(lower[i], self.epsilon, upper[j], strict=True)
            return any(_at_least(low, slack, high) for low, slack, high in ends)

        rest = [i for i in range(N) if i not in out]
        good = [i for i in rest if not proof.limits or min(lower[i]) > -math.inf]
        inside = [i for i in good if all(i == j or holds(i, j) for j in rest)]
        return Status(inside, sorted(out), [])

    def of_pool(self, best: list[list[Fraction]], slack: list[Fraction]) -> Status:
        """Return what the sums over a complete pool say: differences within the slack are none."""
        groups, dims = range(len(best)), range(len(slack))
        out = {
            j for j in groups for i in groups
            if i != j and all(best[i][d] > best[j][d] + slack[d] for d in dims)
        }  # fmt: skip
        rest = [i for i in groups if i not in out]
        inside = [
            i for i in rest
            if all(any(best[i][d] >= best[j][d] - slack[d] for d in dims) for j in rest)
        ]  # fmt: skip
        return Status(inside, sorted(out), [])

    def statement(self, percent: str) -> str:
        """Return what holds, with which probability."""
        slack = " by more than epsilon" if max(self.epsilon) > 0 else ""
        return (
            f"{percent} no group that is out is Pareto optimal, and no group that is in is beaten by "
            f"another one{slack} in every dim"
        )


class Best(ProofGoal):
    """The one best group, by weights of the dims."""

    kind = "best"
    answers_one = True
    entries = frozenset({"kind", "weights", "epsilon"})

    def bounds_used(self, proof: Proof) -> tuple[int, int]:
        """Return the lower bounds of all groups but the best, and the upper ones of that."""
        if not proof.plain:
            return super().bounds_used(proof)
        return (proof.total - min(proof.sizes)) * proof.D, proof.D

    def by_pairs(self, proof: Proof) -> bool:
        """Return whether claims on pairs settle it: in one dim it is a Pareto goal, too."""
        return bool(proof.limits) and proof.D == 1

    def by_bounds(self, proof: Proof, known: Known) -> Status:
        """Return what bounds of the worths of groups say."""
        least, most = ([self.weighted(row) for row in ends] for ends in known[:2])
        return self._by_worths(known.barred, least, most)

    def _by_worths(self, barred: Collection[int], least: Worths, most: Worths) -> Status:
        rest = [k for k in range(len(least)) if k not in barred]
        lows = [(value, -i) for i in rest if (value := least[i]) is not None]
        highs = [(value, k) for k in rest if (value := most[k]) is not None]
        slack, behind, good = self.slack(), set(barred), []
        # Of all others the largest decides: it is among the first two.
        first, last = sorted(lows)[-2:], sorted(highs)[-2:]
        for value, k in highs:
            if any(low >= value for low, i in first if -i != k):
                behind.add(k)
        for value, i in lows:
            unbounded = [k for k in rest if most[k] is None and k != -i]
            if not unbounded and all(value + slack >= high for high, k in last if k != -i):
                good.append((value, i))
        return self.settle_first(len(least), sorted(behind), -max(good)[1] if good else None)

    def settle_first(self, groups: int, behind: list[int], first: int | None) -> Status:
        """Return the statuses: `behind` are not the only best, `first` is good enough."""
        if first is None:
            return Status([], behind, [])
        rest = [k for k in range(groups) if k != first]
        if self.epsilon[0] == 0.0:
            return Status([first], rest, [])
        out = [k for k in rest if k in behind]
        return Status([first], out, [k for k in rest if k not in behind])

    def of_pool(self, best: list[list[Fraction]], slack: list[Fraction]) -> Status:
        """Return the group with the largest weighted sum over a complete pool."""
        weights, N = [Fraction(w) for w in self.weights], len(best)
        worth = [sum(w * r for w, r in zip(weights, row, strict=True)) for row in best]
        first = max(range(N), key=lambda i: worth[i])
        return self.settle_first(N, [k for k in range(N) if k != first], first)

    def of_safe(self, proof: Proof, safe: list[int], out: list[int]) -> Status:
        """Return the statuses, of groups that are all as good as any the one that the file has in."""
        first = [i for i in safe if i in proof.answer["in"]]
        return self.settle_first(len(proof.groups), out, first[0] if first else None)

    def statement(self, percent: str) -> str:
        """Return what holds, with which probability."""
        near = "within epsilon ||w||_1 of the best" if self.epsilon[0] > 0 else "the best"
        return (
            f"{percent} no group that is out is the only best one, and a group that is in is {near}"
        )


class Top(ProofGoal):
    """The m best groups, by weights of the dims."""

    kind = "top"
    entries = frozenset({"kind", "m", "weights", "epsilon"})
    since = 2
    several = True
    measured = False

    @classmethod
    def read(cls, given: dict[str, Any], groups: int) -> ProofGoal:
        """Return the goal of an entry."""
        m = given["m"]
        if not isinstance(m, int) or isinstance(m, bool) or not 0 < m < max(groups, 2):
            raise ValueError(f"{m!r} is no number of groups to ask for")
        return cls(tuple(map(number, given["weights"])), (number(given["epsilon"]),), m)

    def by_bounds(self, proof: Proof, known: Known) -> Status:
        """Return what bounds of the worths of groups say."""
        return self.settle_compared(proof, *self.compared(known))

    def compared(self, known: Known) -> tuple[Compared, Compared]:
        """Return who is within the slack of whom, and who is above whom, by bounds of worths."""
        least, most = ([self.weighted(row) for row in ends] for ends in known[:2])

        def by(room: Fraction) -> Compared:
            def compared(i: int, k: int) -> bool:
                low, high = least[i], most[k]
                return low is not None and high is not None and low + room >= high

            return compared

        return by(self.slack()), by(Fraction(0))

    def settle_compared(self, proof: Proof, near: Compared, above: Compared) -> Status:
        """Return the statuses for the m best groups.

        If the groups that the file has in are m, none of them behind one outside by more than the
        slack, they are the answer. Else a group is in if it is not behind N - m others by more than
        that. It is out if m others are above it.
        """
        N, m = len(proof.groups), self.m
        chosen = sorted(set(proof.answer["in"]))
        rest = [k for k in range(N) if k not in chosen]

        def beaten(k: int) -> bool:
            return sum(above(i, k) for i in range(N) if i != k) >= m

        if len(chosen) == min(m, N) and all(near(i, k) for i in chosen for k in rest):
            out = rest if self.epsilon[0] == 0.0 else [k for k in rest if beaten(k)]
            return Status(chosen, out, [k for k in rest if k not in out])
        inside = [i for i in range(N) if sum(near(i, k) for k in range(N) if k != i) >= N - m]
        return Status(inside, [k for k in range(N) if k not in inside and beaten(k)], [])

    def statement(self, percent: str) -> str:
        """Return what holds, with which probability."""
        near = "within epsilon ||w||_1 of" if self.epsilon[0] > 0 else "not below"
        return (
            f"{percent} no group that is out is among the {self.m} best (unless it ties), and a group "
            f"that is in is {near} the worth of number {self.m}"
        )


def _at_least(low: float, epsilon: float, high: float) -> bool:
    """Return whether low + epsilon >= high, exactly."""
    if math.isinf(low) or math.isinf(high):
        return False
    return Fraction(low) + Fraction(epsilon) >= Fraction(high)
