"""The live session: runs an algorithm on observations that arrive in any order, in any portions.

Pure: no clock, no storage, no draws. Its state is a function of the set of observations told, not
of when or in which order they were told: observations have an identity (group, arm, index) and are
consumed in the order of their index, when the plan that asks for them is complete. If quick results
were used first and speed went with value, the means would be biased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Comparison, Setting, end_of
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.decisions import decided
from bestgroup.drivers.stack import Stack
from bestgroup.errors import InvalidInput, TicketError
from bestgroup.inference.confidence_sequences.boxes import BoxRule, take_values
from bestgroup.inference.confidence_sequences.together import (
    MANY,
    absorb_together,
    can_absorb_together,
)
from bestgroup.inference.tally import Tally, empty_tally, with_room
from bestgroup.problem.arrays import Floats, Ints, numbers
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.pull_range import PullRange
from bestgroup.problem.status import Status


@dataclass(frozen=True)
class Decision:
    """What became certain: `kind` is the word of a group's status, or "answer" (group -1)."""

    plan: int
    pulls: int
    kind: str
    group: int
    evidence: dict[str, Any]


class Checkpoint(NamedTuple):
    """All that a live session is between two tells, apart from what was told ahead."""

    state: Any
    counts: Ints  # [N, K]
    sums: Floats  # [N, K, D]  about the origin
    extra: Floats  # [N, K, D, M]
    plan: Ints  # [N, K]
    plan_number: int
    status: Ints  # [N]  a Status each; what is decided stays
    stuck: bool
    origin: Floats  # [D]  that the algorithm's sums are about
    pivots: Floats  # [N, K, D]  that the deviations are from
    deviations: Floats  # [N, K, D]  their sums


class LiveSession:
    """An algorithm in the middle of a study.

    `horizon` is how many pulls of each planned arm are asked for beyond the plan, so that workers
    need not wait at a round's end. What is told ahead counts in `told`, and in `pulls` only once it
    is consumed. With `keep=False` consumed observations are forgotten; the caller then makes sure
    that nothing is told twice.
    """

    def __init__(
        self, setting: Setting, algorithm: Algorithm, horizon: int = 0, *, keep: bool = True
    ) -> None:
        algorithm.check(setting)
        self.setting, self.algorithm, self.horizon = setting, algorithm, horizon
        self.decisions: list[Decision] = []  # since the start, or since the checkpoint of `resume`
        shape = setting.shape
        self._keep = keep
        self.rule = algorithm.rule(setting)
        self._bodies = (algorithm.plan, algorithm.step)
        self._is_done: Callable[..., bool] = algorithm.is_done
        self._state = algorithm.init(self.rule)
        self._ended: bool | None = None  # whether this state's answer is final, if that was asked
        # Some noise models keep more than sums; what they keep is built up pull by pull.
        boxes = algorithm.statistics(setting)
        self._boxes = boxes if len(boxes.start) else None
        self._take: Any = take_values
        summed = len(boxes.weights) > 0
        self._tally = empty_tally(shape.groups, shape.arms, shape.dims, boxes.start, summed)
        noise = setting.noise
        scales = noise.scales(shape.dims) if noise.has_scale else None
        self._stacks = [[Stack(shape.dims, scales) for _ in range(size)] for size in shape.sizes]
        self._origin = np.zeros(shape.dims)
        self._pivots = np.zeros_like(self._tally.sums)
        self._deviations = np.zeros_like(self._tally.sums)
        self._ready = np.zeros((shape.groups, shape.arms), np.int64)
        self._status = np.full(shape.groups, Status.UNDECIDED, np.int64)
        self._told = 0
        self.stuck = False
        self.plan_number = 0
        self._plan = np.zeros((shape.groups, shape.arms), np.int64)
        self._planned: list[list[int]] = []  # the arms of the plan
        self._carried: Ints | None = None  # what was decided before arms came or went
        self._stepped = False
        if self.done:  # a single group, for some algorithms
            self._note()
        self.advance()

    def begin_with(self, status: Ints) -> None:
        """Take all that is told, and what the first plan asks for beyond; to be called once.

        For a session that goes on where another one, of other arms, ended: `status` [N] is what stays
        decided. An algorithm may not mind that arms begin with unequal counts.
        """
        self.carry(status)
        self._status = status.copy()
        self.decisions = []
        self.stuck = False
        first, told = self._plan, self._ready.copy()
        self._set_plan(told)
        self._consume(told)
        self._set_plan(np.maximum(first - told, 0))
        if self.done:
            self._note()

    def carry(self, status: Ints) -> None:
        """Keep what was decided before arms came or went, [N]; a session that resumes needs it again."""
        self._carried = status.copy()

    @property
    def done(self) -> bool:
        """Whether the answer is final."""
        return self._is_carried() or self._has_ended()

    def _has_ended(self) -> bool:
        """Return whether the algorithm's own answer is final."""
        if self._ended is None:
            self._ended = bool(self._is_done(self._state, self.rule))
        return self._ended

    def _is_carried(self) -> bool:
        """Return whether what was decided before, with what is decided now, leaves nothing open."""
        if self._carried is None:
            return False
        if self.setting.goal.accepts_each:
            return bool((self._status != Status.UNDECIDED).all())
        return bool((self._carried == Status.IN).any())

    @property
    def state(self) -> Any:
        """The state of the algorithm, to look at only."""
        return self._state

    @property
    def tally(self) -> Tally:
        """What the algorithm sees of the observations, to look at only."""
        return self._tally

    @property
    def pulls(self) -> int:
        """Observations that the algorithm has consumed."""
        return int(self._tally.counts.sum())

    @property
    def told(self) -> int:
        """Observations that were told, those ahead of the plan included."""
        return self._told

    @property
    def counts(self) -> list[Ints]:
        """Consumed pulls, one array [K_i] a group."""
        return [row.copy() for row in self.setting.shape.rows(self._tally.counts)]

    @property
    def sums(self) -> list[Floats]:
        """Sums of the consumed observations, one array [K_i, D] a group."""
        values = self._deviations + self._tally.counts[:, :, None] * self._pivots
        return [row.copy() for row in self.setting.shape.rows(values)]

    def answer(self) -> frozenset[int]:
        """Return the groups that the algorithm names so far; final when `done`."""
        if self._carried is not None:
            each = self.setting.goal.accepts_each
            kept = (self._status if each else self._carried) == Status.IN
            if kept.any():
                return frozenset(np.flatnonzero(kept).tolist())
        return self.algorithm.answer(self._state, self.rule)

    def record(self) -> dict[str, Any]:
        """Return what a trace shows of the state; nothing before the first step."""
        if not self._stepped:
            return {}
        record = self.algorithm.record(self._state, self.rule)
        if "efficiency" in record and self._origin.any():
            record["efficiency"] = np.asarray(record["efficiency"]) + self._origin
        return record

    def proof(self, group: int) -> list[Comparison]:
        """Return the comparisons of arms that decided a group, where the algorithm keeps them."""
        return self.algorithm.proof(self._state, self.rule, group)

    def checkpoint(self) -> Checkpoint:
        """Return where the algorithm stands; the arrays are the live session's own."""
        number, status = self.plan_number, self._status
        about = self._origin, self._pivots, self._deviations
        return Checkpoint(self._state, *self._tally, self._plan, number, status, self.stuck, *about)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go to a checkpoint that an equal live session was in; what was told ahead is fed again."""
        self._state, self._ended = checkpoint.state, None
        tally = Tally(checkpoint.counts.copy(), checkpoint.sums.copy(), checkpoint.extra.copy())
        self._tally = tally
        self._set_plan(checkpoint.plan.copy())
        self.plan_number = checkpoint.plan_number
        self._status, self.stuck = checkpoint.status.copy(), checkpoint.stuck
        self._ready = tally.counts.copy()
        self._told = int(tally.counts.sum())
        self._stepped = self.plan_number > 1 or self._has_ended()
        self.decisions = []
        self._origin, self._pivots = checkpoint.origin.copy(), checkpoint.pivots.copy()
        self._deviations = checkpoint.deviations.copy()
        for i, row in enumerate(self._stacks):
            for j, stack in enumerate(row):
                stack.start(int(tally.counts[i, j]), self._deviations[i, j], self._pivots[i, j])

    def compile(self) -> None:
        """Step with compiled bodies from now on; they give the same bits."""
        self._bodies = bodies(self.algorithm, self.rule, True)
        self._is_done = end_of(self.algorithm, self.rule)
        self._take = take_values.compiled

    def wanted(self) -> Iterator[tuple[PullRange, int]]:
        """Yield the pulls of an arm that are wanted, and where those of the plan end: the rest is ahead."""
        if self.done or self.stuck:
            return
        counts, items = self._tally.counts, self.setting.items
        for i, j in self._planned:
            first = int(counts[i, j])
            end = first + int(self._plan[i, j])
            stop = end + self.horizon
            if items and items.count:
                stop = min(stop, items.count)
            yield PullRange(i, j, first, stop - first), end

    def missing(self, pulls: PullRange) -> list[PullRange]:
        """Return what of a range of pulls is not told."""
        stack = self._stacks[pulls.group][pulls.arm]
        return [pulls.cut(a, b) for a, b in stack.missing(pulls.first, pulls.stop)]

    def tell(self, group: int, arm: int, index: int, values: Any) -> int:
        """Take observations index, index + 1, ... of an arm; returns how many were new.

        Told again with the same values they change nothing; with others they are refused. An
        operation that is refused leaves everything as it was.
        """
        sizes = self.setting.shape.sizes
        if not 0 <= group < len(sizes) or not 0 <= arm < sizes[group]:
            raise InvalidInput(f"there is no arm {arm} in group {group}")
        block = np.atleast_2d(numbers(values, "observations"))
        if block.shape[1] != self.setting.shape.dims:
            raise InvalidInput(
                f"an observation must have {self.setting.shape.dims} numbers; got {block.shape[1]}"
            )
        if isinstance(index, bool) or not isinstance(index, int | np.integer) or index < 0:
            raise InvalidInput(f"index must be an integer from 0; got {index!r}")
        if self._stacks[group][arm].differs(int(index), block):
            raise TicketError(
                f"pull {index} of arm {arm} of group {group} was told before with other values"
            )
        fresh = self.feed(group, arm, int(index), block)
        if fresh:
            self.advance()
        return fresh

    def feed(self, group: int, arm: int, index: int, block: Floats) -> int:
        """Keep checked observations [n, D] without stepping; returns how many were new."""
        stack = self._stacks[group][arm]
        fresh = stack.put(index, block)
        self._ready[group, arm] = stack.ready
        self._told += fresh
        return fresh

    def backlog(self) -> float:
        """Return about how many plans can be completed with what is told."""
        told = int((self._ready - self._tally.counts).sum())
        return told / max(1, int(self._plan.sum()))

    def advance(self, most: int | None = None) -> int:
        """Step while plans are complete, at most so often; returns the steps taken."""
        steps = 0
        while not (self.stuck or self.done or steps == most):
            if self.plan_number:
                goal = self._tally.counts + self._plan
                if not (self._ready >= goal).all():
                    break
                self._consume(goal)
                self._state = self._bodies[1](self._state, self._tally, self.rule)
                self._stepped, self._ended = True, None
                steps += 1
                self._note()
                if self.done:
                    break
            self._set_plan(self._bodies[0](self._state, self._tally, self.rule))
            self.plan_number += 1
            if not self._plan.any():
                self.stuck = self.algorithm.is_stuck(self._state, self.rule)
        return steps

    def _set_plan(self, plan: Any) -> None:
        old, self._plan = self._plan, np.asarray(plan, dtype=np.int64)
        if not (old == self._plan).all():  # rounds mostly plan what the last one did
            self._planned = np.argwhere(self._plan).tolist()

    def value_on(self, group: int, arm: int, position: int) -> Floats | None:
        """Return the value of an arm on an item, by its position in the order; None if untold."""
        if position < self._tally.counts[group, arm]:
            return self._tally.extra[group, arm, :, position]
        return self._stacks[group][arm].value(position)

    def check_differences(self, group: int, arm: int, index: int, block: Floats) -> None:
        """Refuse values [n, D] on shared items that are further from another arm's than declared."""
        items = self.setting.items
        if items is None:
            return
        reach = np.array(items.reach) * (1 + 1e-9)
        for i, size in enumerate(self.setting.shape.sizes):
            for j in range(size):
                for k, row in enumerate(block):
                    other = None if (i, j) == (group, arm) else self.value_on(i, j, index + k)
                    if other is not None and (np.abs(row - other) > reach).any():
                        most = ", ".join(f"{r:g}" for r in items.reach)
                        raise InvalidInput(
                            f"arm {arm} of group {group} and arm {j} of group {i} differ on an item "
                            f"by {np.abs(row - other).max():g}; at most {most} was declared, on which "
                            "every proof here rests"
                        )

    def _consume(self, goal: Ints) -> None:
        if self.setting.items is not None and goal.max() > self._tally.extra.shape[3]:
            self._tally = with_room(self._tally, 2 * int(goal.max()))
        counts, sums = self._tally.counts, self._tally.sums
        if self._planned and not counts.any():
            self._set_origin()
        one_by_one = self._boxes is not None and not self._absorb_together(self._boxes, goal)
        moved = bool(self._origin.any())
        for i, j in self._planned:
            stack, stop = self._stacks[i][j], int(goal[i, j])
            if one_by_one:
                rows = stack.rows(int(counts[i, j]), stop)
                self._take(self._boxes, self._tally, i, j, rows)
            sums[i, j] = self._deviations[i, j] = stack.total(stop, self._keep)
            if stack.pivot is not None or moved:
                self._centre(i, j, stack, stop)
        self._tally.counts[...] = goal

    def _absorb_together(self, rule: BoxRule, goal: Ints) -> bool:
        """Take up the values of a plan that pulls many arms alike; returns whether it is one."""
        if self._take is not take_values or len(self._planned) < MANY:
            return False
        i, j = np.array(self._planned).T
        first, stop = self._tally.counts[i, j], goal[i, j]
        start, end = int(first[0]), int(stop[0])
        if (first != start).any() or (stop != end).any() or not can_absorb_together(rule):
            return False
        values = np.stack([self._stacks[i][j].rows(start, end) for i, j in self._planned])
        extra = self._tally.extra[i, j]
        absorb_together(rule, extra, start, values)
        self._tally.extra[i, j] = extra
        return True

    def _set_origin(self) -> None:
        """Take the pivot of the first arm that is ever consumed for the origin, which stays.

        Boxes of other noise models than the sub-Gaussian one are about 0, and so are their sums.
        """
        i, j = self._planned[0]
        pivot = self._stacks[i][j].pivot
        measure = self.setting.measure
        if measure is not None and measure.bounds:
            return  # limits are about 0, too
        if pivot is not None and isinstance(self.setting.noise, SubGaussian):
            self._origin = pivot.copy()

    def _centre(self, i: int, j: int, stack: Stack, count: int) -> None:
        """Turn an arm's sums about its pivot into sums about the origin, which tests can compare."""
        if stack.pivot is not None:
            self._pivots[i, j] = stack.pivot
        self._tally.sums[i, j] += count * (self._pivots[i, j] - self._origin)

    @property
    def status(self) -> Ints:
        """What the algorithm has decided of each group, a Status each, [N]."""
        return self._status.copy()

    def _note(self) -> None:
        """Keep a decision for each group that has become certain, in the order of the groups."""
        record = self.record()
        ended = self._has_ended() or self._is_carried()
        answer = self.answer() if ended else None
        status = decided(record, self.setting.goal, self._status, answer)
        for i in np.flatnonzero(status != self._status).tolist():
            evidence: dict[str, Any] = {"pulls": self._tally.counts[i].tolist()}
            evidence["pulls"] = evidence["pulls"][: self.setting.shape.sizes[i]]
            if "efficiency" in record:
                evidence["efficiency"] = np.asarray(record["efficiency"])[i].tolist()
            self._decide(Status(status[i]).word, i, evidence)
        self._status = status
        if self.done:
            self._decide("answer", -1, {"answer": sorted(self.answer())})

    def _decide(self, kind: str, group: int, evidence: dict[str, Any]) -> None:
        entry = Decision(self.plan_number, self.pulls, kind, group, evidence)
        self.decisions.append(entry)
