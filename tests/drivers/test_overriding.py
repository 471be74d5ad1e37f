"""A subclass is run by its own methods in every driver, compiled or not."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.algorithm import Adaptive
from bestgroup.algorithms.adaptive.pareto.algorithm import AdaptivePareto
from bestgroup.algorithms.equal_effect import EqualEffect
from bestgroup.algorithms.protocol import Setting, kernels_of
from bestgroup.algorithms.triple_elimination import TripleElimination
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.replay import Tape, replay
from bestgroup.drivers.session import LiveSession
from bestgroup.testing import check_algorithm


@dataclass(frozen=True)
class EveryArmTwice(TripleElimination):
    """TE that plans other pulls, and nothing else."""

    name: ClassVar[str] = "every-arm-twice"

    def plan(self, state, tally, rule):
        """Return two pulls of every arm of TE's plan."""
        return 2 * super().plan(state, tally, rule)


@dataclass(frozen=True)
class StopsAtOnce(EqualEffect):
    """EECB that is done after its first round."""

    name: ClassVar[str] = "stops-at-once"

    def is_done(self, state, rule):
        """Return whether a round is over."""
        return bool(state.round[0] > 0)


@dataclass(frozen=True)
class Patient(Adaptive):
    """The adaptive algorithm with a pull of every arm in every plan."""

    name: ClassVar[str] = "patient"

    def plan(self, state, tally, rule):
        """Return the plan and a pull of everything."""
        return super().plan(state, tally, rule) + rule.exists.astype(np.int64)


INSTANCE = bg.Instance([[[0.0, 0.5], [1.0, 0.0]], [[2.0, 1.0]], [[0.5, 2.5]]])
PARETO, BEST = bg.ParetoGroups(0.3), bg.BestGroup([1.0, 0.5], 0.3)
CASES = [
    (EveryArmTwice(), TripleElimination(), PARETO),
    (StopsAtOnce(), EqualEffect(), BEST),
    (Patient(), Adaptive(), PARETO),
    (Patient(), Adaptive(), BEST),
]


def live(algorithm, goal, tape, compiled):
    setting = Setting(tape.shape, goal, bg.SubGaussian(1.0), 0.1)
    session = LiveSession(setting, algorithm)
    if compiled:
        session.compile()
    while not session.done:
        for pulls, end in list(session.wanted()):
            session.feed(*pulls.start, tape.values(*pulls.start, end))
        session.advance()
    return session.pulls


@pytest.mark.parametrize(("algorithm", "parent", "goal"), CASES, ids=lambda case: str(case))
def test_every_driver_runs_the_overriding_method(algorithm, parent, goal):
    tape = Tape.draw(INSTANCE, 6000, seed=3)
    pulls = {replay(tape, goal, algorithm, 0.1, compiled=c).pulls for c in (False, True)}
    pulls |= {live(algorithm, goal, tape, c) for c in (False, True)}
    runs = bg.simulate(INSTANCE, goal, algorithm, 0.1, 1, seed=3, engine="exact")
    assert pulls == {int(runs.pulls[0])}
    assert pulls != {replay(tape, goal, parent, 0.1).pulls}


def test_kernels_count_only_where_no_subclass_overrides_them():
    setting = Setting(INSTANCE.shape, PARETO, bg.SubGaussian(1.0), 0.1)
    own, parent = EveryArmTwice(), TripleElimination()
    rule = own.rule(setting)
    assert kernels_of(parent, rule) is parent.kernels
    assert kernels_of(own, rule) is None
    assert bodies(own, rule, True)[0] == own.plan  # and its step is TE's, compiled
    assert bodies(own, rule, True)[1] != own.step


@dataclass(frozen=True)
class Unsaid(AdaptivePareto):
    """Reads values, and does not say so of its kernels."""

    name: ClassVar[str] = "unsaid"

    def kernels_for(self, rule):
        return super().kernels_for(rule)._replace(values=False)


def test_values_that_an_algorithm_keeps_are_taken_up_whatever_its_kernels_say():
    means = [[[0.2]], [[0.8]]]
    instance = bg.Instance(means, bg.laws.Bernoulli(), bg.Bounded(0, 1))
    found = [
        bg.simulate(instance, bg.ParetoGroups(0.1), chosen, 0.1, 3, seed=3, engine="exact")
        for chosen in (Unsaid(), AdaptivePareto())
    ]
    assert found[0].finished.all() and found[0].pulls.tolist() == found[1].pulls.tolist()


def test_the_jump_engine_refuses_what_it_would_not_run():
    assert TripleElimination().jump_objection() is None
    with pytest.raises(bg.InvalidInput, match="does not know the algorithm 'every-arm-twice'"):
        bg.simulate(INSTANCE, PARETO, EveryArmTwice(), 0.1, 1, engine="jump")
    tiny = bg.Instance([[[0.0]], [[1e-3]]])
    assert bg.simulate(tiny, PARETO, "te", 0.1, 1).engine == "jump"
    assert bg.simulate(tiny, PARETO, EveryArmTwice(), 0.1, 1, max_pulls=100).engine == "exact"


def test_the_contract_suite_compares_plain_and_compiled_bodies():
    check_algorithm(EveryArmTwice(), cases=3)


@dataclass(frozen=True)
class Torn(TripleElimination):
    """An algorithm whose author brings kernels and methods that disagree."""

    name: ClassVar[str] = "torn"
    kernels = TripleElimination.kernels

    def plan(self, state, tally, rule):
        """Return two pulls of every arm of TE's plan."""
        return 2 * super().plan(state, tally, rule)


def test_the_contract_suite_sees_kernels_that_do_something_else():
    with pytest.raises(bg.testing.ContractBroken, match="compiled bodies gives something else"):
        check_algorithm(Torn(), cases=3)
