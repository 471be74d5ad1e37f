"""The contract that every algorithm must keep, as a suite for your own.

>>> import bestgroup as bg
>>> from bestgroup.testing import check_algorithm
>>> check_algorithm("te", cases=2)
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import algorithm as make_algorithm
from bestgroup.drivers.replay import Tape, Trace, check_plan, replay
from bestgroup.drivers.session import LiveSession
from bestgroup.errors import BestGroupError, TapeTooShort
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.arrays import Floats, positive_int, seed_of
from bestgroup.problem.goals import KINDS, Goal
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.instance import Instance
from bestgroup.problem.noise import SubGaussian
from bestgroup.simulation.simulate import simulate

_ROUNDS = 3000  # pulls of each arm on a test tape


class ContractBroken(BestGroupError, AssertionError):
    """An algorithm does not keep the contract; the message says which part, and on which case."""


@dataclass(frozen=True)
class _Case:
    number: int
    rewards: list[Floats]  # [R, K_i, D] a group
    goal: Goal
    delta: float

    def __str__(self) -> str:
        sizes = [rows.shape[1] for rows in self.rewards]
        return f"case {self.number} (group sizes {sizes}, {self.goal}, delta={self.delta})"


def check_algorithm(
    algorithm: str | Algorithm | type[Algorithm], *, cases: int = 8, seed: int = 0
) -> None:
    """Run the contract suite on an algorithm; raises `ContractBroken` at the first breach.

    On random tapes with groups of unequal size, for each goal that the algorithm answers: plans are
    legal and change nothing; the run ends and names existing groups; a second run is the same; sets
    that a trace shows only shrink; permuting groups, arms or dims permutes the answer; adding a
    constant to a dim changes nothing; plain and compiled bodies agree, in a replay and in a live
    study; simulation and replay of the rewards it drew agree; the guarantee is stated.
    """
    if isinstance(algorithm, type):
        algorithm = algorithm()
    chosen = make_algorithm(algorithm)
    positive_int(cases, "cases")
    rng = np.random.default_rng(seed_of(seed))
    for number in range(cases):
        for kind in KINDS.values():
            if kind in chosen.goals and kind.example(1) is not None:
                _check_case(chosen, _random_case(number, kind, rng), rng)


def _random_case(number: int, kind: type[Goal], rng: np.random.Generator) -> _Case:
    """Return a tape of dyadic rewards, so that sums are exact, whose groups lie well apart."""
    groups = max(int(rng.integers(1, 5)) if number else 1, kind.example_groups)
    dims = int(rng.integers(1, 4))
    sizes = rng.integers(1, 4, size=groups)
    rewards = []
    for size in sizes:
        means = rng.integers(0, 5, size=(size, dims)) + rng.integers(0, 64, size=(size, dims)) / 256
        noise = np.round(rng.standard_normal((_ROUNDS, size, dims)) * 64) / 256
        rewards.append(means + noise)
    goal = kind.example(dims)
    assert goal is not None
    return _Case(number, rewards, goal, 0.1)


def _check_case(algorithm: Algorithm, case: _Case, rng: np.random.Generator) -> None:
    _check_plans(algorithm, case)
    trace = _run(algorithm, case, case.rewards)
    groups = len(case.rewards)
    if not trace.answer <= frozenset(range(groups)):
        raise ContractBroken(f"{algorithm}: the answer {set(trace.answer)} is not a set of groups")
    if case.goal.answers_one and len(trace.answer) != 1:
        kind = type(case.goal).__name__
        raise ContractBroken(f"{algorithm}: the answer to {kind} must be one group; {case}")
    again = _run(algorithm, case, case.rewards)
    _same(algorithm, case, trace, again, "a second run on the same tape")
    _check_sets_shrink(algorithm, case, trace)
    _check_symmetries(algorithm, case, trace, rng)
    _check_compiled(algorithm, case, trace)
    _check_simulation(algorithm, case, rng)
    setting = Setting(Tape(case.rewards).shape, case.goal, SubGaussian(1.0), case.delta)
    if not isinstance(algorithm.guarantee(setting), Guarantee):
        raise ContractBroken(f"{algorithm}: guarantee(setting) must return a Guarantee")


def _run(algorithm: Algorithm, case: _Case, rewards: list[Floats], **options: Any) -> Trace:
    try:
        return replay(rewards, case.goal, algorithm, case.delta, **options)
    except TapeTooShort:
        raise ContractBroken(
            f"{algorithm}: no end within {_ROUNDS} pulls of an arm on groups that lie far apart; "
            f"{case}"
        ) from None


def _check_plans(algorithm: Algorithm, case: _Case) -> None:
    """Check that plans are legal and that making one changes neither state nor tally."""
    tape = Tape(case.rewards)
    setting = Setting(tape.shape, case.goal, SubGaussian(1.0), case.delta)
    algorithm.check(setting)
    rule = algorithm.rule(setting)
    state = algorithm.init(rule)
    tally = empty_tally(tape.shape.groups, tape.shape.arms, tape.shape.dims)
    for _ in range(20):
        if algorithm.is_done(state, rule):
            return
        before = copy.deepcopy((state, tally))
        pulls = check_plan(algorithm.plan(state, tally, rule), tape.shape, algorithm)
        if not _equal(before, (state, tally)):
            raise ContractBroken(f"{algorithm}: plan must not change the state; {case}")
        if (check_plan(algorithm.plan(state, tally, rule), tape.shape, algorithm) != pulls).any():
            raise ContractBroken(f"{algorithm}: two plans from one state differ; {case}")
        tally.counts[...] += pulls
        if tally.counts.max() > tape.length:
            return
        for i, j in zip(*np.nonzero(pulls), strict=True):
            tally.sums[i, j] = tape.sums[tally.counts[i, j] - 1, i, j]
        counts = tally.counts.copy()
        state = algorithm.step(state, tally, rule)
        if (tally.counts != counts).any():
            raise ContractBroken(f"{algorithm}: step must not change the tally; {case}")


def _check_sets_shrink(algorithm: Algorithm, case: _Case, trace: Trace) -> None:
    for before, after in zip(trace.rounds, trace.rounds[1:], strict=False):
        for name in ("groups", "dims"):
            if (getattr(after, name) & ~getattr(before, name)).any():
                raise ContractBroken(f"{algorithm}: the set of active {name} grew; {case}")
        if any((new & ~old).any() for old, new in zip(before.arms, after.arms, strict=True)):
            raise ContractBroken(f"{algorithm}: the set of active arms grew; {case}")
        if (before.accepted & ~after.accepted).any():
            raise ContractBroken(f"{algorithm}: an accepted group was taken back; {case}")


def _check_symmetries(
    algorithm: Algorithm, case: _Case, trace: Trace, rng: np.random.Generator
) -> None:
    order = rng.permutation(len(case.rewards))
    moved = _run(algorithm, case, [case.rewards[i] for i in order])
    if frozenset(int(order[i]) for i in moved.answer) != trace.answer:
        raise ContractBroken(f"{algorithm}: permuting groups does not permute the answer; {case}")
    shuffled = [rows[:, rng.permutation(rows.shape[1])] for rows in case.rewards]
    if _run(algorithm, case, shuffled).answer != trace.answer:
        raise ContractBroken(f"{algorithm}: permuting arms changes the answer; {case}")
    dims = case.rewards[0].shape[2]
    turn = rng.permutation(dims)
    goal = case.goal.turned(turn.tolist())
    turned = _Case(case.number, [rows[:, :, turn] for rows in case.rewards], goal, case.delta)
    if _run(algorithm, turned, turned.rewards).answer != trace.answer:
        raise ContractBroken(f"{algorithm}: permuting dims changes the answer; {case}")
    shift = rng.integers(-8, 9, size=dims).astype(float)
    if _run(algorithm, case, [rows + shift for rows in case.rewards]).answer != trace.answer:
        raise ContractBroken(f"{algorithm}: adding a constant to a dim changes the answer; {case}")


def _check_compiled(algorithm: Algorithm, case: _Case, trace: Trace) -> None:
    """Check that bodies give the same, plain and compiled, in a replay and in a live study."""
    for compiled, word in ((False, "plain"), (True, "compiled")):
        other = _run(algorithm, case, case.rewards, compiled=compiled)
        _same(algorithm, case, trace, other, f"a replay with {word} bodies")
        answer, counts = _live(algorithm, case, compiled)
        if answer != trace.answer or not _equal(counts, trace.pulls_by_arm):
            raise ContractBroken(
                f"{algorithm}: a live study with {word} bodies gives something else; {case}"
            )


def _live(algorithm: Algorithm, case: _Case, compiled: bool) -> tuple[frozenset[int], list[Any]]:
    """Return the answer and the pulls of a study that is told what its plans ask for."""
    tape = Tape(case.rewards)
    session = LiveSession(Setting(tape.shape, case.goal, SubGaussian(1.0), case.delta), algorithm)
    if compiled:
        session.compile()
    while not (session.done or session.stuck):
        for pulls, end in list(session.wanted()):
            session.feed(*pulls.start, tape.values(*pulls.start, end))
        session.advance()
    return session.answer(), session.counts


def _check_simulation(algorithm: Algorithm, case: _Case, rng: np.random.Generator) -> None:
    means = [rows.mean(axis=0) for rows in case.rewards]
    instance = Instance(means)
    seed = int(rng.integers(1000))
    cap = 2000
    sim = simulate(
        instance, case.goal, algorithm, case.delta, 2, seed, engine="exact", max_pulls=cap
    )
    if not sim.finished[1]:
        return
    tape = Tape.draw(instance, cap, seed, run=1)
    trace = replay(tape, case.goal, algorithm, case.delta)
    if trace.answer != sim.answers[1] or not _equal(trace.pulls_by_arm, sim.pulls_by_arm[1]):
        raise ContractBroken(f"{algorithm}: simulation and replay of its rewards differ; {case}")


def _same(algorithm: Algorithm, case: _Case, one: Trace, other: Trace, what: str) -> None:
    if one.answer != other.answer or not _equal(one.pulls_by_arm, other.pulls_by_arm):
        raise ContractBroken(f"{algorithm}: {what} gives something else; {case}")


def _equal(a: Any, b: Any) -> bool:
    """Return whether two nests of arrays and plain values are equal."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and np.array_equal(a, b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal(value, b[key]) for key, value in a.items())
    if hasattr(a, "__dict__"):
        return _equal(vars(a), vars(b))
    return bool(a == b)


__all__ = ["ContractBroken", "check_algorithm"]
