"""The reward tape, and `replay`: what an algorithm does on it, round by round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import resolve
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.rewards import AHEAD, USER, UserLaw, ensure, make_reservoir, make_source
from bestgroup.errors import InvalidInput, TapeTooShort
from bestgroup.inference.confidence_sequences.boxes import BoxRule, absorb_values
from bestgroup.inference.radii import RadiusEnded, longer, make_radius
from bestgroup.inference.tally import Tally, empty_tally, with_room
from bestgroup.problem.arrays import (
    Bools,
    Floats,
    Ints,
    numbers,
    positive_int,
    probability,
    seed_of,
)
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.instance import Instance
from bestgroup.problem.items import Items, check_items, why_stuck
from bestgroup.problem.measure import Asked, measure_of
from bestgroup.problem.noise import Noise, SubGaussian, check_noise
from bestgroup.problem.shape import Shape

T = TypeVar("T")


class Tape:
    """Rewards known in advance: entry [k, i, j] is the (k + 1)-th pull of arm (i, j).

    `Tape(rewards)` takes an array [R, N, K, D] or a list of N arrays [R, K_i, D];
    `Tape(cumulative=S)` the sums of the first 1, 2, ... pulls, for adding increments again would
    not give back the same bits.

    >>> Tape(np.ones((3, 2, 1, 1))).sums[:, 0, 0, 0]
    array([1., 2., 3.])
    """

    def __init__(self, rewards: Any = None, *, cumulative: Any = None) -> None:
        if (rewards is None) == (cumulative is None):
            raise InvalidInput("a tape takes rewards or cumulative sums, one of the two")
        padded, self.shape = _read(rewards if cumulative is None else cumulative)
        self.sums: Floats = np.cumsum(padded, axis=0) if cumulative is None else padded
        self._rewards: Floats | None = padded if cumulative is None else None

    def values(self, i: int, j: int, first: int, stop: int) -> Floats:
        """Return pulls first, ..., stop - 1 of an arm, [n, D]; of sums, their differences."""
        if self._rewards is not None:
            return np.ascontiguousarray(self._rewards[first:stop, i, j])
        start = self.sums[first - 1, i, j] if first else np.zeros(self.shape.dims)
        return np.diff(self.sums[first:stop, i, j], axis=0, prepend=start[None, :])

    @classmethod
    def draw(cls, instance: Instance, length: int, seed: int = 0, run: int = 0) -> Tape:
        """Return the first `length` rewards of every arm, as the exact engine draws them."""
        size = positive_int(length, "length")
        shape = instance.shape
        source = make_source(instance, seed_of(seed), seed_of(run))
        pool = make_reservoir(instance, source.kind)
        law = UserLaw(instance, seed, run) if source.kind == USER else None
        sums = np.zeros((size, shape.groups, shape.arms, shape.dims))
        need = np.ones(shape.dims, np.bool_)
        counts = np.zeros((shape.groups, shape.arms), np.int64)
        for start in range(0, size, AHEAD):
            stop = min(size, start + AHEAD)
            for i, j in zip(*np.nonzero(shape.exists), strict=True):
                if not ensure.compiled(source, pool, i, j, start, stop, need):
                    assert law is not None
                    law.refill(pool, counts)
                first = start - pool.base[i, j]
                sums[start:stop, i, j] = pool.sums[i, j, :, first : first + stop - start].T
            counts[shape.exists] = stop
        return cls(cumulative=[sums[:, i, :k] for i, k in enumerate(shape.sizes)])

    @property
    def length(self) -> int:
        """The number of pulls that each arm has on the tape."""
        return len(self.sums)


@dataclass(frozen=True)
class Round:
    """What a round left behind: sets as they stand at its end, False for groups that have left.

    An arm is shown as active in a dim only while the dim is active. TE fills `rejected` (all so
    far), `standing` (P_1 of this round), `radius`, `efficiency`; EECB `focus` (-1: it stopped
    before pulling), `clock` and `threshold`, as its eliminations used them, and `efficiency`.
    """

    pulled: list[Ints]  # [K_i] a group
    groups: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))  # [N]
    dims: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))  # [N, D]
    arms: list[Bools] = field(default_factory=list)  # [K_i, D] a group
    accepted: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))  # [N]
    rejected: Bools | None = None  # [N]
    standing: Bools | None = None  # [N]
    radius: float | None = None
    efficiency: Floats | None = None  # [N, D]
    focus: int | None = None
    clock: Ints | None = None  # [D]
    threshold: float | None = None


@dataclass(frozen=True)
class Trace:
    """All that an algorithm did on a tape."""

    answer: frozenset[int]
    pulls: int
    pulls_by_arm: list[Ints]  # [K_i] a group
    rounds: list[Round]
    algorithm: Algorithm
    guarantee: Guarantee
    efficiency: Floats | None = None  # [N, D] estimates at the end


def replay(
    tape: Any,
    goal: Goal,
    algorithm: str | Algorithm = "te",
    delta: float = 0.01,
    *,
    noise: Noise | None = None,
    items: Items | int | None = None,
    compiled: bool | None = None,
    require: Mapping[str, Any] | None = None,
    worth: Any = "best",
    watch: Sequence[str] = (),
) -> Trace:
    """Return what the algorithm does on the tape, deterministically.

    `tape` is a `Tape`, an array [R, N, K, D], or a list of N arrays [R, K_i, D]. `compiled` chooses
    the compiled or the plain Python bodies, which agree to the bit; by default long tapes are
    compiled. With `items` entry k of the tape is item k of the order, the same for all arms. `require`,
    `worth` and `watch` are those of `Instance`, with the dims "dim 0", "dim 1", ...

    >>> from bestgroup.problem.goals import ParetoGroups
    >>> tape = np.broadcast_to([[[1.0]], [[0.0]]], (200, 2, 1, 1))
    >>> trace = replay(tape, ParetoGroups(0.5), "te", delta=0.1)
    >>> trace.answer, trace.pulls, len(trace.rounds)
    (frozenset({0}), 222, 111)
    """
    reel = tape if isinstance(tape, Tape) else Tape(tape)
    names = [f"dim {d}" for d in range(reel.shape.dims)]
    groups = [f"group {i}" for i in range(reel.shape.groups)]
    decided, measure = measure_of(names, groups, reel.shape, Asked(require, worth, watch))
    check_goal(goal, len(decided))
    noise = check_noise(SubGaussian(1.0) if noise is None else noise)
    noise.check_dims(reel.shape.dims)
    own, shared = check_items(items), None
    if own is not None:
        noise = noise.on_shared_items()
        shared = own.shared(noise.reaches(reel.shape.dims).tolist())
        if [k for own_items in own.members.values() for k in own_items] != list(
            range(len(own.clusters or ()))
        ):
            raise InvalidInput("items of a cluster must follow each other on the tape")
    setting = Setting(reel.shape, goal, noise, probability(delta), None, shared, measure)
    chosen = resolve(algorithm, setting)
    bulk = reel.sums.size > 50_000 if compiled is None else compiled
    return with_radius(chosen, setting, lambda rule: _replay(reel, setting, chosen, bulk, rule))


def with_radius(algorithm: Algorithm, setting: Setting, run: Callable[[Any], T]) -> T:
    """Return `run(rule)`; a radius given by a function is tabulated as far as the run needs it.

    Runs are deterministic, so one that outlives its table is repeated with a longer one.
    """
    rule = algorithm.rule(setting)
    while True:
        try:
            return run(rule)
        except RadiusEnded:
            spec = getattr(algorithm, "radius", "")
            radius = make_radius(
                spec, setting.shape, setting.delta, rule.radius.factor, longer(spec, rule.radius)
            )
            rule = rule._replace(radius=radius)


def _replay(reel: Tape, setting: Setting, algorithm: Algorithm, compiled: bool, rule: Any) -> Trace:
    shape = reel.shape
    plan, step = bodies(algorithm, rule, compiled)
    keep = algorithm.statistics(setting)
    summed = len(keep.weights) > 0
    tally = empty_tally(shape.groups, shape.arms, shape.dims, keep.start, summed)
    state = algorithm.init(rule)
    rounds: list[Round] = []
    opened: dict[str, Any] | None = None
    idle = np.zeros((shape.groups, shape.arms), np.int64)
    while not algorithm.is_done(state, rule):
        pulls = check_plan(plan(state, tally, rule), shape, algorithm)
        if not pulls.any() and algorithm.is_stuck(state, rule):
            raise InvalidInput(
                f"{algorithm.name!r} is stuck after {len(rounds)} rounds: "
                f"{why_stuck(setting.items)}; give a larger epsilon"
            )
        if opened is not None:
            rounds.append(_round(opened, pulls, shape))
        if setting.items is not None:
            tally = with_room(tally, int((tally.counts + pulls).max()))
        consume(reel, tally, pulls)
        if len(keep.start):
            keep_values(reel, tally, pulls, keep, compiled)
        state = step(state, tally, rule)
        if algorithm.decides_first:
            opened = algorithm.record(state, rule)
        else:
            rounds.append(_round(algorithm.record(state, rule), pulls, shape))
    if opened is not None and len(setting.shape.sizes) > 1 and _stopped_early(opened, rounds):
        rounds.append(_round(opened, idle, shape))
    return Trace(
        answer=algorithm.answer(state, rule),
        pulls=int(tally.counts.sum()),
        pulls_by_arm=[row.copy() for row in shape.rows(tally.counts)],
        rounds=rounds,
        algorithm=algorithm,
        guarantee=algorithm.guarantee(setting),
        efficiency=getattr(state, "efficiency", None),
    )


def _stopped_early(opened: dict[str, Any], rounds: list[Round]) -> bool:
    """Return whether the last decisions were made in a round that then did not pull.

    The round that follows the last batch of a group that is alone already does nothing and is no
    round.
    """
    return not rounds or int(rounds[-1].groups.sum()) > 1


def check_plan(pulls: Any, shape: Shape, algorithm: Algorithm) -> Ints:
    """Return a plan after checking its shape and signs: users write algorithms too."""
    plan = np.asarray(pulls)
    wanted = (shape.groups, shape.arms)
    if plan.shape != wanted or plan.dtype.kind not in "iu" or (plan < 0).any():
        raise InvalidInput(
            f"{algorithm.name!r} must plan counts of pulls in an integer array {list(wanted)}; "
            f"got {plan.dtype} {list(plan.shape)}"
        )
    if plan[~shape.exists].any():
        raise InvalidInput(f"{algorithm.name!r} planned to pull an arm that does not exist")
    return plan.astype(np.int64)


def consume(reel: Tape, tally: Tally, pulls: Ints) -> None:
    """Add the planned pulls to the tally, each arm's next ones on the tape."""
    tally.counts[...] += pulls
    longest = int(tally.counts.max())
    if longest > reel.length:
        i, j = np.unravel_index(int(tally.counts.argmax()), tally.counts.shape)
        raise TapeTooShort(
            f"the tape holds {reel.length} pulls of each arm, and arm {j} of group {i} "
            f"needs {longest}; give a longer tape"
        )
    groups, arms = np.nonzero(pulls)
    tally.sums[groups, arms] = reel.sums[tally.counts[groups, arms] - 1, groups, arms]


def keep_values(reel: Tape, tally: Tally, pulls: Ints, rule: BoxRule, compiled: bool) -> None:
    """Take up the values of pulls that were just consumed in the extra statistics."""
    body = absorb_values.compiled if compiled else absorb_values
    for i, j in np.argwhere(pulls).tolist():
        stop = int(tally.counts[i, j])
        first = stop - int(pulls[i, j])
        body(rule, tally.extra[i, j], first, reel.values(i, j, first, stop))


def _round(record: dict[str, Any], pulls: Ints, shape: Shape) -> Round:
    entry = dict(record)
    if "arms" in entry:
        entry["arms"] = shape.rows(entry["arms"])
    return Round(pulled=[row.copy() for row in shape.rows(pulls)], **entry)


def _read(values: Any) -> tuple[Floats, Shape]:
    """Return rewards padded to [R, N, K, D], and their shape."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        array = numbers(values, "a tape")
        if array.ndim != 4 or 0 in array.shape:
            raise InvalidInput(
                f"a tape must be an array [R, N, K, D] without empty axes; got {list(array.shape)}"
            )
        return array, Shape((array.shape[2],) * array.shape[1], array.shape[3])
    if not hasattr(values, "__len__") or isinstance(values, str) or len(values) == 0:
        raise InvalidInput("a tape must be an array [R, N, K, D] or a list of N arrays [R, K_i, D]")
    rows = [numbers(group, f"the tape of group {i}") for i, group in enumerate(values)]
    for i, row in enumerate(rows):
        if row.ndim != 3 or 0 in row.shape:
            raise InvalidInput(
                f"the tape of group {i} must be an array [R, K_i, D]; got {list(row.shape)}"
            )
        if row.shape[0] != rows[0].shape[0] or row.shape[2] != rows[0].shape[2]:
            raise InvalidInput(
                "all groups of a tape must have the same number of pulls and of dims; "
                f"group 0 is {list(rows[0].shape)}, group {i} is {list(row.shape)}"
            )
    shape = Shape(tuple(row.shape[1] for row in rows), rows[0].shape[2])
    padded = np.zeros((rows[0].shape[0], shape.groups, shape.arms, shape.dims))
    for i, row in enumerate(rows):
        padded[:, i, : row.shape[1]] = row
    return padded, shape
