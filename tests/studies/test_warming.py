"""A study goes over to compiled kernels by itself, and nobody can tell but by the clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.drivers.session import LiveSession
from bestgroup.studies import runner, warming

DIMS = {"x": "max", "y": "min"}


def walk(name: str, seconds: float, until: Any) -> tuple[list[Any], bg.Study]:
    """Run a study until `until` of it is true or time is up; return what happened, pull by pull."""
    problem = bg.Problem({"A": ["a", "b"], "B": ["c"]}, DIMS, bg.SubGaussian(1.0))
    study = bg.create_study(name, problem, bg.ParetoGroups(0.01), 0.05, "memory", algorithm="te")
    rng = np.random.default_rng(0)
    story: list[Any] = []
    begun = time.monotonic()
    while len(story) < 200 or (not until(study) and time.monotonic() - begun < seconds):
        for ticket in study.ask(4):
            study.tell(ticket, rng.normal(0.0, 1.0, 2))
            story.append((ticket.group, ticket.arm, ticket.index))
    for _ in range(50):
        for ticket in study.ask(4):
            study.tell(ticket, rng.normal(0.0, 1.0, 2))
            story.append((ticket.group, ticket.arm, ticket.index))
    bg.delete_study(name, "memory")
    return story, study


def test_a_study_turns_to_compiled_kernels_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BESTGROUP_WARM", raising=False)
    monkeypatch.setattr(runner, "WARM_AFTER", 0.0)

    def compiled(study: Any) -> bool:
        return study._runner._compiled

    story, study = walk("warm", 240.0, compiled)
    assert compiled(study)
    monkeypatch.setenv("BESTGROUP_WARM", "off")
    plain, other = walk("cold", 0.0, compiled)
    assert not compiled(other)
    shared = min(len(story), len(plain))
    assert shared > 200 and story[:shared] == plain[:shared]


def test_what_kernels_do_not_see_makes_no_other_compilation() -> None:
    def cut(arms: int, name: str) -> str:
        groups = {f"{name}{i}": [f"a{j}" for j in range(arms)] for i in range(5)}
        problem = bg.Problem(groups, DIMS, bg.Bounded(0, 1), costs={f"{name}0": {"a0": 2}})
        study = bg.create_study(name, problem, bg.ParetoGroups(0.1), 0.05, "memory")
        bg.delete_study(name, "memory")
        return warming.cut(study.spec).to_json()

    assert cut(4, "one") == cut(7, "two")


@pytest.mark.parametrize("items", [None, 50, bg.Items()], ids=str)
@pytest.mark.parametrize("noise", [bg.Bounded(0, 2), bg.Bernoulli()], ids=str)
def test_every_kind_of_study_can_be_cut(noise: Any, items: Any) -> None:
    problem = bg.Problem({"A": ["a"] * 1, "B": ["b", "c", "d", "e"]}, DIMS, noise, items=items)
    study = bg.create_study("cut", problem, bg.ParetoGroups(0.1), 0.05, "memory")
    bg.delete_study("cut", "memory")
    small = warming.cut(study.spec)
    assert small.problem.shape.sizes == (1, 3) and small.algorithm == study.spec.algorithm
    assert warming.StudySpec.from_json(small.to_json()) == small


@pytest.mark.parametrize("groups, costs", [(200, None), (5, {"g4": {"b": 2.0}})])
def test_what_is_compiled_for_the_cut_study_serves_the_whole(groups: int, costs: Any) -> None:
    """Many groups and costs that differ have loops of their own, which the first three may not show."""
    names = {f"g{i}": ["a", "b"] for i in range(groups)}
    problem = bg.Problem(names, DIMS, bg.SubGaussian(1.0), costs=costs)
    study = bg.create_study("whole", problem, bg.ParetoGroups(0.1), 0.05, "memory")
    bg.delete_study("whole", "memory")
    warming.warm(warming.cut(study.spec))
    live = LiveSession(study.spec.setting(), study.spec.make_algorithm(), keep=False)
    live.compile()
    rng, loops = np.random.default_rng(0), plans_of(live)
    before = [loop.dispatcher.signatures for loop in loops]
    assert all(before)
    for _ in range(3):
        for pulls, end in list(live.wanted()):
            live.feed(*pulls.start, rng.normal(size=(end - pulls.first, 2)))
        assert live.advance(1) == 1
    assert [loop.dispatcher.signatures for loop in loops] == before


def plans_of(live: LiveSession) -> tuple[Any, ...]:
    """The kernels that a session runs."""
    plan: Any = live._bodies[0]
    return plan.__self__.compiles


def test_a_large_study_that_steps_by_turns_waits_for_its_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states: dict[str, warming.State] = {}
    asked: list[str] = []

    def ready(key: str) -> bool:
        asked.append(key)
        return states.setdefault(key, "compiling") == "ready"

    monkeypatch.setattr(warming, "_states", states)
    monkeypatch.setattr(runner, "is_ready", ready)
    monkeypatch.setattr(runner, "LARGE", 3)
    monkeypatch.setattr(runner, "LONG_LIVED", 2)
    problem = bg.Problem({"A": ["a", "b"], "B": ["c"]}, DIMS, bg.SubGaussian(1.0))
    study = bg.create_study("large", problem, bg.ParetoGroups(0.1), 0.05, "memory", algorithm="te")
    study.turns = 1
    first = study.ask(3)
    study.tell(first[0], [0.0, 0.0])
    assert not asked  # a process that tells once must not compile
    study.tell_many([(ticket, [0.0, 0.0]) for ticket in first[1:]])
    assert asked and study.ask(3) == [] and study.status(forecast=False).state == "running"
    states[asked[0]] = "failed"  # plain Python goes on then
    assert len(study.ask(3)) == 3
    bg.delete_study("large", "memory")
