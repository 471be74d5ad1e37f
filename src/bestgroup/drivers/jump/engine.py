"""The jump engine: runs that are exact in law but pass over the rounds in which nothing can happen.

**Theory of operation.** An algorithm's outcome is a function of random walks, one for each arm and
dim, and hangs on some hundred events: a group is rejected, an arm eliminated. Every event is a test,
a signed margin of efficiencies, and between events a test is far from firing for nearly all rounds.

1. `walks` reveals a walk only where somebody looks, each point from its exact law given all that is
   known. So the walks have the right law, whatever decides where to look.
2. `envelopes` bounds efficiencies over an *outer window* of rounds, from the known points at its
   ends. A test whose margin is negative throughout cannot fire there; the others become *items* of
   the event queue (`windows`).
3. `guards` asks, for each item, whether it can fire in a window, given the walks at its ends. If
   not, the window is passed over for that item. Otherwise it is halved; windows of at most 16 rounds
   are gone through round by round. An item that is alone is followed by the two walks that it
   compares.
4. At the rounds at which an item may fire, the margins of the algorithm decide. `families` says,
   for each kind of algorithm, what its items and guards are and what follows when one fires.
5. `certificates` bounds the error: a run differs from the algorithm's only if something that was
   taken for certain is false, which has a known probability that is added up.

Nothing of an algorithm is written twice: tests are its margins, thresholds of guards come from the
same margins. What a family writes again are the loops over its sets, for one item at a time instead
of all; the pathwise tests (`tests/property/test_jump_paths.py`) hold them against the algorithm.

**Weak points.** The sets live in `memory` during a run, not in the algorithm's state, so a change of
what fires must be made in the algorithm and in its family. Radii must decrease and laws must be
Gaussian. Rounding is not counted. With N groups screening costs up to N^2 comparisons a window. A
run that finds its memory too small begins again with four times as much.
"""

from __future__ import annotations

import importlib
import threading
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting, kernels_of
from bestgroup.compile.binding import bind
from bestgroup.compile.records import view
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import doubt_for
from bestgroup.drivers.jump.families import Family, JumpRuns
from bestgroup.drivers.jump.memory import make_memory
from bestgroup.drivers.jump.walks import OutOfRoom
from bestgroup.drivers.jump.windows import Results, make_results
from bestgroup.drivers.jump.windows import run_many as loop
from bestgroup.problem.arrays import Bools, Floats
from bestgroup.problem.instance import Instance
from bestgroup.problem.laws import FullyDependent, Normal

_FEW, _MANY_PACE = 16, 4  # of more groups outer windows are shorter: they make more envelopes
_MORE = 4  # times the room, when it has run out
_SLICE = 64  # runs between two looks at the keyboard
_SMALL = 2**18  # so many words of an engine may be kept for the next piece of work
_LAST = threading.local()


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
    # The runs of a simulation come in pieces, and a small engine costs as much to make as a tenth of
    # a run: the last one of this thread is used again if it was made for these very objects.
    made = (instance, setting, algorithm)
    kept = getattr(_LAST, "kept", None)
    if kept is not None and all(a is b for a, b in zip(kept[0], made, strict=True)):
        return kept[1].run(seed, first, count, max_pulls)
    rule = algorithm.rule(setting)
    at_once = family_of(algorithm, rule).at_once
    if at_once is not None:
        means, root, _ = law_of(instance)
        return at_once(means, root, algorithm, rule, (seed, first, count, max_pulls))
    engine = Engine(*made)
    _LAST.kept = (made, engine) if engine.block.size <= _SMALL else None
    return engine.run(seed, first, count, max_pulls)


def family_of(algorithm: Algorithm, rule: Any) -> Family:
    """Return the family that an algorithm names."""
    kernels = kernels_of(algorithm, rule)
    assert kernels is not None, "an algorithm of which something is overridden has no family"
    return importlib.import_module(kernels.jump).FAMILY


class Engine:
    """Memory and rule of one setting, reused by all runs; `log` keeps so many revealed points."""

    def __init__(
        self, instance: Instance, setting: Setting, algorithm: Algorithm, log: int = 0
    ) -> None:
        self.shape, self.algorithm = instance.shape, algorithm
        self.rule: Any = algorithm.rule(setting)
        self.family = family_of(algorithm, self.rule)
        self.loop = bind(loop, self.family.hooks)
        self.drifts, self.factor, joint = law_of(instance)
        if not joint:
            self.drifts = self.drifts.reshape(-1, 1)
            self.factor = self.factor.sum(axis=1, keepdims=True)
        walks, pairs = self.shape.total * self.shape.dims, self.family.pairs(self.shape)
        self.cells = self.family.cells
        self.doubt = doubt_for(2000.0 + 500.0 * (walks + pairs))
        self.items = 2 * walks + 64 * self.shape.groups + 64 + pairs
        self.points, self.log = 6 * len(self.drifts) + 2048, log
        self._make()

    def _make(self) -> None:
        shape, rule = self.shape, self.rule
        sizes = (shape.groups, shape.arms, shape.dims)
        law, log = (self.drifts, self.factor), self.log
        rooms = {"item_room": self.items, "point_room": self.points, "log_room": log}
        self.block, m = make_memory(sizes, law, cells=self.cells, **rooms)
        dims = view(at.dim(m, 0), shape.dims)
        dims["scale"], dims["epsilon"] = rule.scale, rule.epsilon
        self.family.load(m, rule, self.cells)
        m.pace = self.family.pace(rule) if shape.groups <= _FEW else _MANY_PACE
        m.first_doubt = self.doubt
        self.memory = m

    def run(self, seed: int, first: int, count: int, max_pulls: int) -> JumpRuns:
        """Return runs first, ..., first + count - 1; each depends on (seed, run) alone."""
        shape = self.shape
        out = make_results(count, shape.groups, shape.arms, shape.dims)
        keys, done = np.array([seed, first, max_pulls, 0], np.int64), np.zeros(1, np.int64)
        state = self.algorithm.init(self.rule)
        while done[0] < count:
            keys[3] = min(count, done[0] + _SLICE)
            try:
                self.loop.compiled(self.block.ctypes.data, self.rule, state, keys, out, done)
            except OutOfRoom:
                # The run begins again, so room grows by much at once.
                self.items, self.points = _MORE * self.items, _MORE * self.points
                self.cells *= _MORE
                self._make()
        answers = self._answers(out)
        return JumpRuns(answers, out.counts, out.rounds, out.finished, out.risk, out.rejected)

    def _answers(self, out: Results) -> Bools:
        """Return what the algorithm answers at the end of each run, [runs, N]."""
        answers, start = np.zeros_like(out.accepted), self.algorithm.init(self.rule)
        for k in range(len(answers)):
            state = self.family.final(start, out.accepted[k], out.efficiency[k])
            answers[k, list(self.algorithm.answer(state, self.rule))] = True
        return answers

    def logged(self) -> Floats:
        """Return the points of the last run: unit, count, sums; as far as there was room."""
        return at.logged_points(self.memory)


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
