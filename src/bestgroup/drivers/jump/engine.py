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
   not, the window is passed over for that item. A window whose items are all cleared is over;
   otherwise it is halved, and windows of at most 16 rounds are *sprinted*: gone through round by
   round, with every value that a live item reads.
4. In a sprint each live item has the first round at which it may fire, found from the means
   themselves; the earliest, in the order of the algorithm's tests within a round, is judged by the
   algorithm's margins, and fires or is looked for further on. `families` says, for each kind of
   algorithm, what its items and guards are and what follows when one fires.
5. Where nearly all rounds have events a family may go through them one by one (`rush`), in blocks
   of a sprint, with all walks that are read, until windows pay off.
6. `certificates` bounds the error: a run differs from the algorithm's only if something that was
   taken for certain is false, which has a known probability that is added up.

**Weak points.** The sets live in `memory` during a run, not in the algorithm's state, so a change of
what fires must be made in the algorithm and in the loops of its family, which the pathwise tests
(`tests/property/test_jump_paths.py`) hold against each other. Radii must decrease and laws must be
Gaussian. With N groups screening costs up to N^2 comparisons a window. A run that finds its memory
too small begins again with four times as much.
"""

from __future__ import annotations

import importlib
import threading
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting, kernels_of
from bestgroup.compile.binding import bind
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import array, bare, view
from bestgroup.drivers.jump import families, guards, windows
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import count_risk, doubt_for, guard_risk, reset_risk
from bestgroup.drivers.jump.envelopes import note_counts, pulls_at
from bestgroup.drivers.jump.memory import FEW, NOBODY, PRESENT, SPRINT, UNUSED, Memory, make_memory
from bestgroup.drivers.jump.walks import OutOfRoom, keep_stretch, reset_walks
from bestgroup.drivers.outcomes import Outcomes, room_for
from bestgroup.drivers.rewards import gaussian
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.instance import Instance
from bestgroup.problem.laws import FullyDependent, Normal

_MANY_PACE = 4  # of many groups outer windows are shorter: they make more envelopes
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
) -> Outcomes:
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
        return at_once(instance, algorithm, rule, (seed, first, count, max_pulls))
    engine = Engine(*made)
    _LAST.kept = (made, engine) if engine.block.size <= _SMALL else None
    return engine.run(seed, first, count, max_pulls)


def family_of(algorithm: Algorithm, rule: Any) -> families.Family:
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
        kernels = kernels_of(algorithm, self.rule)
        assert kernels is not None and kernels.lockstep is not None
        hooks = {families.clock_after: kernels.lockstep.clock, **self.family.hooks}
        self.loop = bind(_run_many, hooks)
        self.drifts, self.factor, joint = gaussian(instance)
        # Dims that depend on each other are revealed together.
        if not joint:
            self.drifts = self.drifts.reshape(-1, 1)
            self.factor = self.factor.sum(axis=1, keepdims=True)
        walks, pairs = self.shape.total * self.shape.dims, self.family.pairs(self.shape)
        self.doubt = doubt_for(2000.0 + 500.0 * (walks + pairs))
        self.rooms, self.log = {"cells": self.family.cells(self.shape)}, log
        self.rooms["item_room"] = 2 * walks + 64 * self.shape.groups + 64 + pairs
        self.rooms["point_room"] = 6 * len(self.drifts) + 2048
        self._make()

    def _make(self) -> None:
        shape, rule = self.shape, self.rule
        sizes = (shape.groups, shape.arms, shape.dims)
        law = self.drifts, self.factor
        self.block, m = make_memory(sizes, law, log_room=self.log, **self.rooms)
        dims = view(at.dim(m, 0), shape.dims)
        dims["scale"], dims["epsilon"] = rule.scale, rule.epsilon
        self.family.load(m, rule)
        m.pace = self.family.pace(rule) if shape.groups <= FEW else _MANY_PACE
        m.first_doubt = self.doubt
        self.memory = m

    def run(self, seed: int, first: int, count: int, max_pulls: int) -> Outcomes:
        """Return runs first, ..., first + count - 1; each depends on (seed, run) alone."""
        shape = self.shape
        out = room_for(count, (shape.groups, shape.arms, shape.dims))
        keys, done = np.array([seed, first, max_pulls, 0], np.int64), np.zeros(1, np.int64)
        state = self.algorithm.init(self.rule)
        while done[0] < count:
            keys[3] = min(count, done[0] + _SLICE)
            try:
                self.loop.compiled(self.block.ctypes.data, self.rule, state, keys, out, done)
            except OutOfRoom:
                # The run begins again, so room grows by much at once.
                self.rooms = {table: _MORE * room for table, room in self.rooms.items()}
                self._make()
        answers = np.zeros_like(out.answers)
        # The answer is P, or what is left of G where nobody is accepted before the end.
        answered = "accepted" if "accepted" in state._fields else "groups"
        for k in range(count):
            final = state._replace(**{answered: out.answers[k], "efficiency": out.efficiency[k]})
            answers[k, list(self.algorithm.answer(final, self.rule))] = True
        return out._replace(answers=answers)

    def logged(self) -> Floats:
        """Return the points of the last run, as far as there was room, [points, 2 + W].

        Each row has the unit, the count and the sums.
        """
        m = self.memory
        return array(at.log(m, 0), m.logged * m.point_size).reshape(m.logged, m.point_size).copy()


# The loops. Hooks and kernels that a family puts in the place of others are bound to them.


@kernel
def _run_many(address: int, rule: Any, state: Any, keys: Ints, out: Outcomes, done: Ints) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    # One word to hand on, which is five times as fast as a named tuple of arrays.
    m = at.memory(address)
    while done[0] < keys[3]:
        k = done[0]
        _begin(m, rule.exists, keys[0], keys[1] + k)
        families.begin_run(m, rule, state)
        # If room runs out in a run, done[0] still counts the whole ones, and the next call goes on
        # with this one.
        finished = _run(m, rule, state, keys[2])
        for i in range(m.N):
            note_counts(m, i, m.round)
        out.finished[k] = families.end_run(m, rule, state, keys[2], finished)
        _keep_result(m, out, k)
        done[0] = k + 1


@bare
def _begin(m: Memory, existing: Bools, seed: int, index: int) -> None:
    reset_walks(m, seed, index)
    reset_risk(m)
    for d in range(m.D):
        at.clock(m, PRESENT, d).count = 0
    m.now = m.again = m.round = m.pending = m.ended = m.used = 0
    for i in range(m.N):
        group = at.group(m, i)
        group.active, group.accepted, group.cover = 1, 0, 0
        for d in range(m.D):
            at.envelope(m, i, d).open, at.envelope(m, i, d).row = 1, -1
        for k in range(m.watches):
            at.watch(m, i, k).blocker = NOBODY
        for j in range(m.K):
            at.pulls(m, i)[j] = 0
            for d in range(m.D):
                # Arms that only pad a smaller group are neither pulled nor read.
                at.member(m, i, j, d).active = 1 if existing[i, j] else 0


@kernel
def _run(m: Memory, rule: Any, state: Any, limit: int) -> bool:
    """Do a run with at most so many pulls, and return whether it came to an end."""
    before = 0
    while m.ended == 0:
        # By what has happened so far: windows never look at points beyond their ends.
        rush = families.is_busy(m, before)
        before = m.now
        if families.is_stuck(m, rule, state) or not _begin_window(m, rule, state, limit, rush):
            m.round = m.now
            return False
        guard_risk(m)
        if rush:
            families.rush(m, rule, state)
        else:
            families.screen(m, rule, state, m.now)
            _go_through(m, rule, state)
    return True


@bare
def _begin_window(m: Memory, rule: Any, state: Any, limit: int, rush: bool) -> bool:
    """Begin the next outer window, within the limit of pulls; whether that allows a round."""
    # Means move little once they rest on many pulls, so the length grows with the round: a run of r
    # rounds has about pace times log(r) outer windows. After one without items it is as long as can
    # be.
    length = max(1, m.now // m.pace if m.used > 0 else m.now)
    if rush:
        length = SPRINT
    while length > 0:
        m.level, at.window(m, 0).end = 0, m.now + length
        guards.enter_window(m, rule, state)
        # Pulls up to the end are known beforehand, with the sets of now, which only shrink.
        pulls = 0
        for i in range(m.N):
            for j in range(m.K):
                pulls += pulls_at(m, i, j, 0)
        if pulls <= limit:
            return True
        length //= 2
    return False


@bare
def _keep_result(m: Memory, out: Outcomes, k: int) -> None:
    out.rounds[k], out.distance[k] = m.round, count_risk(m)
    for i in range(m.N):
        out.answers[k, i] = at.group(m, i).accepted != 0
        out.rejected[k, i] = at.group(m, i).accepted == 0 and at.group(m, i).active == 0
        for j in range(m.K):
            out.counts[k, i, j] = at.pulls(m, i)[j]
        for d in range(m.D):
            out.efficiency[k, i, d] = at.envelope(m, i, d).value


@bare
def _go_through(m: Memory, rule: Any, state: Any) -> None:
    """Go through the outer window, which was screened, or up to the end of the run."""
    while m.level >= 0 and m.ended == 0:
        # Certificates may draw points, and whoever is cleared leaves the list, so what is left is
        # what keeps the window open.
        _clear_live(m, state)
        if windows.first_live(m) < 0:
            windows.end_window(m)
        elif at.window(m, m.level).end - m.now > SPRINT:
            # Halving, not stepping: how far an item is from firing is not known, and halves cost
            # the logarithm of it.
            windows.halve_window(m)
            guards.enter_window(m, rule, state)
        else:
            _sprint(m, rule, state)


@bare
def _clear_live(m: Memory, state: Any) -> None:
    """Move the live items that cannot fire in the window on top to its list."""
    item = windows.first_live(m)
    while item >= 0:
        # Taken before the item may move to another list.
        after = at.item(m, item).after
        if families.is_dead(m, state, item):
            windows.move(m, item, UNUSED)
        elif guards.clears(m, item):
            windows.move(m, item, m.level)
        item = after


@bare
def _sprint(m: Memory, rule: Any, state: Any) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    # A new number makes all rows and stretches of earlier sprints invalid at once.
    m.stretch += 1
    m.stop = at.window(m, m.level).end
    families.begin_sprint(m, rule, state)
    _find_candidates(m, state, m.now + 1)
    while True:
        item = _earliest(m, state)
        when = at.item(m, item).when if item >= 0 else windows.NEVER
        # Tests of one round see the sets as they were in the algorithm's order; what waits for the
        # end of a round (acceptances) must not be seen by tests of the same round.
        if when > m.round:  # all of the last round with events is done
            if families.end_round(m, state):
                continue
            if m.ended != 0:
                return
            if m.again != 0:
                _screen_again(m, rule, state)
                continue
        if when > m.stop:
            break
        families.judge(m, rule, state, item, when)
    # What was sprinted is over, and no later window may read it.
    m.stretch += 1
    item = windows.first_live(m)
    while item >= 0:
        after = at.item(m, item).after
        windows.move(m, item, m.level)
        item = after


@bare
def _screen_again(m: Memory, rule: Any, state: Any) -> None:
    """Screen the rest of the outer window anew, within a sprint."""
    m.again = 0
    if m.round < at.window(m, 0).end:
        # The envelopes change, so who attains an efficiency may, too: rows of the sprint are made
        # again. Points stay known, so that none is drawn a second time.
        for u in range(m.units):
            keep_stretch(m, u)
        for i in range(m.N):
            for d in range(m.D):
                at.envelope(m, i, d).row = -1
        families.screen(m, rule, state, m.round)
        _find_candidates(m, state, m.round + 1)


@bare
def _find_candidates(m: Memory, state: Any, start: int) -> None:
    """Set for every live item the first round at which it may fire."""
    item = windows.first_live(m)
    while item >= 0:
        after = at.item(m, item).after
        if not families.is_dead(m, state, item):
            windows.schedule(m, item, guards.candidate(m, item, start))
        item = after


@bare
def _earliest(m: Memory, state: Any) -> int:
    """Return the live item that may fire first, in the order of rounds and tests, or -1."""
    item, best, round_, kind = windows.first_live(m), -1, windows.NEVER, 0
    while item >= 0:
        test = at.item(m, item)
        after = test.after
        if families.is_dead(m, state, item):
            windows.move(m, item, UNUSED)
        elif test.when < round_ or (test.when == round_ < windows.NEVER and test.kind < kind):
            best, round_, kind = item, test.when, test.kind
        item = after
    return best
