"""Every algorithm keeps the contract that `bestgroup.testing` ships."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.skeleton import Skeleton
from bestgroup.testing import ContractBroken, check_algorithm

ALGORITHMS = [
    bg.algorithm("te"),
    bg.algorithm("te", radius="mixture"),
    bg.algorithm("te", radius="stitched"),
    bg.algorithm("age"),
    bg.algorithm("ge"),
    bg.algorithm("eecb"),
    bg.algorithm("eecb", early_exit=True, radius="mixture"),
    bg.algorithm("tel", pareto_epsilon=0.5),
    bg.algorithm("unis"),
    bg.algorithm("unis-corrected"),
    bg.algorithm("te-plus"),
    bg.algorithm("se"),
    bg.algorithm("se", radius="mixture"),
    bg.algorithm("sequential-halving", budget=900),
]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_contract(algorithm):
    check_algorithm(algorithm, cases=5)


@pytest.mark.parametrize("batch", [0.01, 7])
def test_contract_of_adaptive(batch):
    check_algorithm(bg.algorithm("adaptive", batch=batch), cases=3)


@dataclass(frozen=True)
class RoundRobin(bg.Algorithm):
    """Pulls every arm `times` times and names the groups whose estimates nothing dominates."""

    times: int = 50
    name: ClassVar[str] = "round-robin"
    goals: ClassVar[tuple[type, ...]] = (bg.ParetoGroups,)

    def init(self, rule):
        return {"rounds": 0, "answer": frozenset()}

    def plan(self, state, tally, rule):
        return rule.shape.exists.astype(int)

    def step(self, state, tally, rule):
        rounds = state["rounds"] + 1
        if rounds < self.times:
            return {"rounds": rounds, "answer": frozenset()}
        means = [
            tally.sums[i, :k] / tally.counts[i, :k, None] for i, k in enumerate(rule.shape.sizes)
        ]
        mask = bg.pareto_groups(bg.efficiency(means))
        return {"rounds": rounds, "answer": frozenset(np.flatnonzero(mask).tolist())}

    def is_done(self, state, rule):
        return state["rounds"] >= self.times

    def answer(self, state, rule):
        return state["answer"]


def test_a_users_algorithm_passes_and_runs_by_name():
    check_algorithm(RoundRobin)
    bg.register(RoundRobin)
    instance = bg.Instance([[[3.0, 0.0]], [[0.0, 3.0]], [[-3.0, -3.0]]])
    sim = bg.simulate(instance, bg.ParetoGroups(0.1), "round-robin", runs=3)
    assert sim.answers == [frozenset({0, 1})] * 3
    assert (sim.pulls == 150).all()
    assert sim.guarantee.level == "none"
    with pytest.raises(bg.InvalidInput, match="no option 'speed'; its options are times"):
        bg.algorithm("round-robin", speed=2)


@dataclass(frozen=True)
class Forgetful(RoundRobin):
    name: ClassVar[str] = "forgetful"

    def answer(self, state, rule):
        return frozenset({0})


@dataclass(frozen=True)
class Meddling(RoundRobin):
    name: ClassVar[str] = "meddling"

    def plan(self, state, tally, rule):
        state["rounds"] += 1
        return rule.shape.exists.astype(int)


@dataclass(frozen=True)
class Endless(RoundRobin):
    name: ClassVar[str] = "endless"

    def is_done(self, state, rule):
        return False


@dataclass(frozen=True)
class Reaching(RoundRobin):
    name: ClassVar[str] = "reaching"

    def plan(self, state, tally, rule):
        return np.ones((rule.shape.groups, rule.shape.arms + 1), int)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Forgetful, "permuting groups"),
        (Meddling, "plan must not change the state"),
        (Endless, "no end within"),
    ],
)
def test_the_suite_finds_breaches(broken, message):
    with pytest.raises(ContractBroken, match=message):
        check_algorithm(broken)


def test_the_suite_refuses_illegal_plans():
    with pytest.raises(bg.InvalidInput, match="must plan counts of pulls"):
        check_algorithm(Reaching)


def test_register_refuses_taken_names_and_other_things():
    @dataclass(frozen=True)
    class Impostor(RoundRobin):
        name: ClassVar[str] = "te"

    with pytest.raises(bg.InvalidInput, match="already"):
        bg.register(Impostor)
    with pytest.raises(bg.InvalidInput, match="must be a subclass of"):
        bg.register(object())


def test_contract_of_the_skeleton_that_ships():
    check_algorithm(Skeleton(), cases=6)
    instance = bg.Instance([[[0.0, 0.5], [1.0, 0.0]], [[2.0, 1.0]], [[0.5, 2.5]]])
    sim = bg.simulate(instance, bg.BestGroup([1.0, 0.5]), Skeleton(), 0.1, 200)
    assert sim.errors == 0 and sim.guarantee.level == "proven"
