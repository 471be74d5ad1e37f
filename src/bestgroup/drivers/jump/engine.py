"""The jump engine: runs that are exact in law but pass over the rounds in which nothing can happen.

`jump_certify` says what is taken for certain and bounds the error; `jump_walks` reveals walks
lazily; `jump_calendar` orders the tests that may fire; the other modules join them with the margins
of the algorithms.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from bestgroup.algorithms.equal_effect import EqualEffect
from bestgroup.algorithms.pareto_then_weigh import ParetoThenWeigh
from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.te_plus.algorithm import TePlus
from bestgroup.algorithms.triple_elimination import GroupElimination
from bestgroup.algorithms.uniform import Uniform
from bestgroup.drivers.jump.certify import doubt_for
from bestgroup.drivers.jump.families.elimination import Results, make_results
from bestgroup.drivers.jump.families.elimination import run_many as run_elimination
from bestgroup.drivers.jump.families.equal_effect import run_many as run_effect
from bestgroup.drivers.jump.families.te_plus import run_many as run_plus
from bestgroup.drivers.jump.families.uniform import run_uniform
from bestgroup.drivers.jump.memory import Rooms, dim_at, edges_at, logged_points, make_memory
from bestgroup.drivers.jump.radii import FIRST_CELLS, edges_of
from bestgroup.drivers.jump.screen import FEW
from bestgroup.drivers.jump.walks import OutOfRoom
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.instance import Instance
from bestgroup.problem.laws import FullyDependent, Normal

# An outer window is as long as the rounds before it, divided by this: shorter ones make more boxes and
# leave fewer tests to look at.
_PACE, _MANY_PACE = 3, 4
_MORE = 4  # times the room, when it has run out
_SLICE = 64  # runs between two looks at the keyboard
_SMALL = 2**18  # so many words of an engine may be kept for the next piece of work
_LAST = threading.local()


class JumpRuns(NamedTuple):
    """Outcomes of runs; `distance` bounds each one's total variation distance to the exact law."""

    answers: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    distance: Floats  # [runs]


def supports(instance: Instance, algorithm: Algorithm) -> str | None:
    """Return None if the jump engine can run this, else one sentence that says why not.

    >>> from bestgroup.problem.laws import Bernoulli
    >>> from bestgroup.algorithms.triple_elimination import GroupElimination
    >>> supports(Instance([[[0.5]]], Bernoulli()), GroupElimination())
    'the jump engine draws Gaussian rewards only, and the law is Bernoulli()'
    """
    why_not = algorithm.jump_objection()
    if why_not is None and not isinstance(instance.law, Normal | FullyDependent):
        return f"the jump engine draws Gaussian rewards only, and the law is {instance.law}"
    return why_not


def run_many(
    instance: Instance,
    setting: Setting,
    algorithm: Algorithm,
    seed: int,
    first: int,
    count: int,
    max_pulls: int,
) -> JumpRuns:
    """Return runs first, ..., first + count - 1 of an algorithm that the engine supports.

    A run that would need more than `max_pulls` stops unfinished before the round that would pass
    it, as in the exact engine.
    """
    if isinstance(algorithm, Uniform):
        means, roots, _ = law_of(instance)
        rule, keys = algorithm.rule(setting), (seed, first, count)
        return JumpRuns(
            *run_uniform(means, roots, algorithm, rule, keys, max_pulls), np.zeros(count)
        )
    return _engine_for(instance, setting, algorithm).run(seed, first, count, max_pulls)


def _engine_for(instance: Instance, setting: Setting, algorithm: Algorithm) -> Engine:
    """Return an engine: the last one of this thread, if it was made for these very objects.

    The runs of a simulation come in pieces, and a small engine costs as much to make as a tenth of
    a run.
    """
    made = (instance, setting, algorithm)
    kept = getattr(_LAST, "kept", None)
    if kept is not None and all(a is b for a, b in zip(kept[0], made, strict=True)):
        return kept[1]
    engine = Engine(*made)
    _LAST.kept = (made, engine) if engine.block.size <= _SMALL else None
    return engine


class Engine:
    """Arrays and rule of one setting, reused by all runs; `log` keeps so many revealed points."""

    def __init__(
        self, instance: Instance, setting: Setting, algorithm: Algorithm, log: int = 0
    ) -> None:
        self.shape, self.algorithm = instance.shape, algorithm
        self.rule: Any = algorithm.rule(setting)
        self.drifts, self.factor, joint = law_of(instance)
        if not joint:
            self.drifts = self.drifts.reshape(-1, 1)
            self.factor = self.factor.sum(axis=1, keepdims=True)
        walks, pairs = self.shape.total * self.shape.dims, 0
        self.cells = 0  # of rounds, with a radius each
        if isinstance(algorithm, TePlus):
            pairs, self.cells = self.shape.groups**2 * self.shape.dims, FIRST_CELLS
        self.doubt = doubt_for(2000.0 + 500.0 * (walks + pairs))
        self.items = 2 * walks + 64 * self.shape.groups + 64 + pairs
        self.points, self.log = 6 * len(self.drifts) + 2048, log
        self._make()

    def _make(self) -> None:
        shape, rule = self.shape, self.rule
        sizes = (shape.groups, shape.arms, shape.dims)
        rooms = Rooms(self.items, self.points, self.log, 3 * self.cells)
        self.block, m = make_memory(sizes, (self.drifts, self.factor), shape.exists, rooms)
        deviations = np.sqrt((self.factor**2).sum(axis=1))
        weights = getattr(rule, "weights", np.zeros(shape.dims))
        for d in range(shape.dims):
            dim = dim_at(m, d)
            dim.scale, dim.epsilon = rule.scale[d], rule.epsilon[d]
            dim.weight, dim.deviation = weights[d], deviations[d]
        if self.cells:
            m.paired, m.radius_factor = 1, rule.factor
            edges = edges_of(rule.variance, tuple(rule.alphas.tolist()), self.cells)
            for k, edge in enumerate(edges.ravel()):
                edges_at(m, 0)[k] = edge
        else:
            m.radius_kind, m.radius_events, m.radius_delta, m.radius_factor = rule.radius[:4]
        m.pace = _MANY_PACE
        if shape.groups <= FEW:
            m.pace = 1 if isinstance(self.algorithm, EqualEffect | GroupElimination) else _PACE
        m.first_doubt = self.doubt
        self.memory = m

    def run(self, seed: int, first: int, count: int, max_pulls: int) -> JumpRuns:
        """Return runs first, ..., first + count - 1; each depends on (seed, run) alone."""
        shape = self.shape
        out = make_results(count, shape.groups, shape.arms, shape.dims)
        keys, done = np.array([seed, first, max_pulls, 0], np.int64), np.zeros(1, np.int64)
        state = self.algorithm.init(self.rule)
        loop: Any = run_elimination
        if isinstance(self.algorithm, EqualEffect | TePlus):
            loop = run_plus if isinstance(self.algorithm, TePlus) else run_effect
        while done[0] < count:
            keys[3] = min(count, done[0] + _SLICE)
            try:
                loop.compiled(self.block.ctypes.data, self.rule, state, keys, out, done)
            except OutOfRoom:
                # The run begins again, so room grows by much at once.
                self.items, self.points, self.cells = (
                    _MORE * self.items,
                    _MORE * self.points,
                    _MORE * self.cells,
                )
                self._make()
        return JumpRuns(self._answers(out), out.counts, out.rounds, out.finished, out.risk)

    def _answers(self, out: Results) -> Bools:
        """Return what the algorithm answers when it has accepted these groups, [runs, N]."""
        if not isinstance(self.algorithm, ParetoThenWeigh):
            return out.accepted
        answers, state = np.zeros_like(out.accepted), self.algorithm.init(self.rule)
        for k in range(len(answers)):
            state = state._replace(accepted=out.accepted[k], efficiency=out.efficiency[k])
            answers[k, list(self.algorithm.answer(state, self.rule))] = True
        return answers

    def logged(self) -> Floats:
        """Return the points of the last run: unit, count, sums; as far as there was room."""
        return logged_points(self.memory)


def law_of(instance: Instance) -> tuple[Floats, Floats, bool]:
    """Return the means, [N K, D] padded, a root of the covariance, [D, M], and whether dims depend.

    Dims that depend on each other are revealed together.
    """
    shape, law = instance.shape, instance.law
    means = np.nan_to_num(instance.padded_means).reshape(-1, shape.dims)
    if isinstance(law, FullyDependent):
        return means, law.scales(shape.dims)[:, None].copy(), True
    assert isinstance(law, Normal)
    return means, np.ascontiguousarray(law.factor(shape.dims)), law.cov is not None
