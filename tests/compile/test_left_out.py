"""What a rule never does is not compiled into its loop."""

import pytest

import bestgroup as bg
from bestgroup.compile.kernel import Kernel, _globals_of
from bestgroup.drivers.exact.plans import loop_for

GOALS = {"best": bg.BestGroup([1.0, 2.0]), "pareto": bg.ParetoGroups(0.1)}
SHAPE = bg.Instance.random(3, 2, 2, seed=1).shape


def functions_of(goal, noise, costs=None):
    """Return module and name of all that is compiled with the loop of a rule."""
    setting = bg.Setting(SHAPE, GOALS[goal], noise, 0.1, costs)
    algorithm = bg.algorithm("adaptive")
    pending = [loop_for(algorithm.kernels_for(algorithm.rule(setting)))]
    found = {}
    while pending:
        item = pending.pop()
        if id(item) not in found:
            found[id(item)] = item.body
            pending += [value for _, value in _globals_of(item.body) if isinstance(value, Kernel)]
    real = [body for body in found.values() if body.__code__.co_name != "<lambda>"]
    return {(body.__module__.rpartition(".")[2], body.__name__) for body in real}


def modules_of(*case):
    return {module for module, _ in functions_of(*case)}


SINGLE = {"boxes", "bernoulli", "bounded", "gaussian", "beta"}
BETS = {"bets", "symmetric", "symmetric_arms", "selection_wealth", "pairs", "wealth"}


@pytest.mark.parametrize("goal", GOALS)
def test_a_known_scale_needs_neither_bets_nor_boxes_nor_costs(goal):
    modules = modules_of(goal, bg.SubGaussian(1.0))
    assert not modules & (SINGLE | BETS | {"pair_wealth"})
    names = {name for _, name in functions_of(goal, bg.SubGaussian(1.0))}
    assert not names & {"spare", "rate_of", "price_of", "look_at_fronts", "try_fronts"}


def test_the_best_group_by_bets_needs_no_boxes():
    modules = modules_of("best", bg.Bounded(0, 1))
    assert modules >= {"bets", "symmetric", "selection_wealth"} and "bernoulli" not in modules
    names = {name for _, name in functions_of("best", bg.Bounded(0, 1))}
    assert not names & {"check_boxes", "box"}


def test_the_best_group_by_boxes_needs_no_evidence_on_several_arms():
    modules = modules_of("best", bg.Bounded(0, 1, arms="arbitrary"))
    assert modules >= SINGLE
    assert not modules & (BETS - {"wealth"} | {"comparison", "prove", "search"})


def test_costs_are_there_where_they_differ():
    costs = ((1.0, 2.0),) * 3
    assert ("costs", "spare") in functions_of("best", bg.SubGaussian(1.0), costs)
    boxes = functions_of("best", bg.SubGaussian(1.0, arms="arbitrary"), costs)
    assert ("boxes", "spare_boxes") in boxes and ("costs", "spare") not in boxes
