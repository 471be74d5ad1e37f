"""The face of the jump engine: what it supports, caps, seeds, the choice of an engine."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms import equal_effect as eecb
from bestgroup.algorithms import triple_elimination as te
from bestgroup.algorithms.effect_clock import clock_after
from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.te_plus import signs as te_plus
from bestgroup.algorithms.te_plus.radii import radii_at
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.engine import run_many, supports
from bestgroup.drivers.jump.families.te_plus import set_radii
from bestgroup.drivers.jump.memory import SPARE
from bestgroup.errors import InvalidInput
from bestgroup.problem.laws import Bernoulli, FullyDependent, Normal
from bestgroup.simulation.simulate import choose_engine
from reference.jump_paths import engine_for

MEANS = np.random.default_rng(5).random((4, 3, 2))
GOALS = {
    "te": bg.ParetoGroups(0.05),
    "te-plus": bg.ParetoGroups(0.05),
    "eecb": bg.BestGroup([1.0, 0.4]),
}


@pytest.mark.parametrize("name", list(GOALS))
def test_results_depend_on_the_run_alone_and_keep_the_tolerance(name):
    instance, goal = bg.Instance(MEANS), GOALS[name]
    setting = Setting(instance.shape, goal, instance.noise, 0.05)
    algorithm = bg.algorithm(name)
    whole = run_many(instance, setting, algorithm, 7, 0, 12, 2**62)
    parts = [run_many(instance, setting, algorithm, 7, k, 4, 2**62) for k in (0, 4, 8)]
    assert whole.finished.all() and (whole.distance < 1e-9).all() and (whole.distance > 0).all()
    assert (whole.counts == np.concatenate([part.counts for part in parts])).all()
    assert (whole.rounds == np.concatenate([part.rounds for part in parts])).all()
    assert len(set(whole.rounds.tolist())) > 1
    assert (whole.rejected == ~whole.answers).all() and whole.rejected.any()


@pytest.mark.parametrize("name", list(GOALS))
def test_tiny_gaps_keep_the_tolerance_and_leave_nothing_to_the_next_run(name):
    # So many certificates that more is asked of the later ones; a new run begins as the first did.
    goal = bg.ParetoGroups(0.05e-4) if name != "eecb" else GOALS[name]
    instance = bg.Instance(MEANS * 1e-4)
    setting = Setting(instance.shape, goal, instance.noise, 0.05)
    algorithm = bg.algorithm(name)
    whole = run_many(instance, setting, algorithm, 7, 0, 3, 2**62)
    assert (whole.distance > 5e-10).any() and (whole.distance < 1e-9).all()
    last = run_many(instance, setting, bg.algorithm(name), 7, 2, 1, 2**62)
    assert (whole.counts[2] == last.counts[0]).all() and whole.distance[2] == last.distance[0]


@pytest.mark.parametrize("name", list(GOALS))
def test_a_cap_stops_where_the_exact_engine_stops(name):
    # A cap cuts windows, so noise would be drawn in another order: without noise all is known.
    instance, goal = bg.Instance(MEANS, Normal(0.0)), GOALS[name]
    needed = int(bg.simulate(instance, goal, name, runs=1, engine="jump").pulls[0])
    total = instance.shape.total
    for cap in (total - 1, total, total + 1, 500, needed // 2, needed - 1, needed):
        ours = bg.simulate(instance, goal, name, runs=1, engine="jump", max_pulls=cap)
        theirs = bg.simulate(instance, goal, name, runs=1, engine="exact", max_pulls=cap)
        assert (ours.counts == theirs.counts).all() and (ours.rounds == theirs.rounds).all()
        assert ours.answers == theirs.answers
        assert ours.finished[0] == theirs.finished[0] == (cap == needed)


def test_without_noise_both_engines_do_the_same():
    for name, goal in GOALS.items():
        instance = bg.Instance(MEANS, Normal(0.0))
        ours = bg.simulate(instance, goal, name, runs=1, engine="jump", max_pulls=10**6)
        theirs = bg.simulate(instance, goal, name, runs=1, engine="exact", max_pulls=10**6)
        assert (ours.counts == theirs.counts).all() and ours.answers == theirs.answers
        assert (ours.rounds == theirs.rounds).all() and ours.finished.all()


def test_one_group_alone():
    for name, goal in GOALS.items():
        instance = bg.Instance([[[0.0, 1.0], [1.0, 0.0]]])
        ours = bg.simulate(instance, goal, name, runs=2, engine="jump")
        theirs = bg.simulate(instance, goal, name, runs=2, engine="exact")
        assert ours.answers == theirs.answers == [frozenset({0})] * 2
        assert (ours.counts == theirs.counts).all() and (ours.rounds == theirs.rounds).all()


@pytest.mark.parametrize(
    "law", [Normal(0.7), FullyDependent(1.0), Normal(cov=[[1, 0.5], [0.5, 1]])]
)
def test_uniform_sampling_is_drawn_at_once(law):
    instance = bg.Instance(MEANS, law)
    goal = bg.ParetoGroups(0.05)
    sim = bg.simulate(instance, goal, "unis-corrected", runs=50, seed=1)
    assert sim.engine == "jump" and (sim.distance == 0).all()
    assert sim.finished.all() and sim.errors == 0
    rule = bg.algorithm("unis-corrected").rule(
        Setting(instance.shape, goal, instance.noise, sim.delta)
    )
    assert (sim.counts == rule.pulls).all() and (sim.rounds == 1).all()
    short = bg.simulate(instance, goal, "unis", runs=2, max_pulls=10)
    assert not short.finished.any() and short.pulls.sum() == 0


def test_what_the_engine_cannot_do_it_says():
    means, goal = [[[0.2]], [[0.8]]], bg.ParetoGroups(0.1)
    assert supports(bg.Instance(means), bg.algorithm("te")) is None
    with pytest.raises(InvalidInput, match=r"Gaussian rewards only.*exact"):
        bg.simulate(bg.Instance(means, Bernoulli()), goal, "te", engine="jump")
    with pytest.raises(InvalidInput, match="named radius"):
        bg.simulate(bg.Instance(means), goal, bg.algorithm("te", radius=[1.0, 0.5]), engine="jump")
    with pytest.raises(InvalidInput, match="'exact', 'jump' or 'auto'"):
        bg.simulate(bg.Instance(means), goal, engine="quick")
    sim = bg.simulate(bg.Instance(means, Bernoulli()), goal, "te", runs=1)
    assert sim.engine == "exact"


def test_auto_takes_the_engine_with_less_work():
    hard = bg.Instance([[[0.0, 0.0]], [[0.01, 0.01]], [[0.5, -1.0]]])
    easy = bg.Instance([[[0.0, 0.0]], [[3.0, 3.0]], [[5.0, -6.0]]])
    for name in ("te", "age", "ge", "te-plus"):
        for instance, wanted in ((hard, "jump"), (easy, "exact")):
            setting = Setting(instance.shape, bg.ParetoGroups(0.001), instance.noise, 0.01)
            assert choose_engine("auto", instance, setting, bg.algorithm(name)) == wanted
    # Among hundreds of groups jumps pay off only where runs are long.
    for groups, epsilon, wanted in ((20, 0.1, "jump"), (300, 0.1, "jump"), (300, 0.5, "exact")):
        many = bg.Instance(np.random.default_rng(0).random((groups, 3, 2)))
        setting = Setting(many.shape, bg.ParetoGroups(epsilon), many.noise, 0.05)
        assert choose_engine("auto", many, setting, bg.algorithm("te-plus")) == wanted
    for instance, wanted in ((hard, "jump"), (easy, "exact")):
        setting = Setting(instance.shape, bg.BestGroup([1.0, 0.5]), instance.noise, 0.01)
        assert choose_engine("auto", instance, setting, bg.algorithm("eecb")) == wanted


@pytest.mark.parametrize("name", ["te", "age", "ge", "te-plus", "eecb"])
def test_predicted_draws_have_the_right_order(name):
    instance = bg.Instance.random(5, 4, 2, 2, min_gap=0.05, seed=2)
    goal = bg.BestGroup([1.0, 0.5]) if name == "eecb" else bg.ParetoGroups(0.02)
    algorithm = bg.algorithm(name)
    guess = algorithm.work(instance, Setting(instance.shape, goal, instance.noise, 0.01)).draws
    sim = bg.simulate(instance, goal, algorithm, runs=20, engine="jump")
    pulls = sim.pulls.mean()
    assert pulls / 4 < guess < 4 * 2 * pulls


def test_pair_margins_make_up_the_margins_of_the_algorithm():
    rng = np.random.default_rng(0)
    setting = Setting(
        bg.Instance(rng.random((4, 1, 3))).shape, bg.ParetoGroups(0.1), bg.SubGaussian(), 0.1
    )
    rule = bg.algorithm("te").rule(setting)
    for _ in range(200):
        low = rng.normal(size=(4, 3))
        high = low + rng.random((4, 3)) * (rng.random() < 0.5)
        beta = rng.random() / 4
        everybody = np.ones(4, bool)
        rejects = [
            te.reject_margin_in(low[0, d], high[1, d], beta, rule.scale[d]) for d in range(3)
        ]
        excesses = [
            te.excess_margin_in(high[0, d], low[1, d], beta, rule.scale[d], rule.epsilon[d])
            for d in range(3)
        ]
        wanted = te.apart_wanted(beta, rule.scale[0], rule.epsilon[0])
        aparts = [
            te.apart_margin(low[0, 0], high[0, 0], low[j, 0], high[j, 0], wanted)
            for j in range(1, 4)
        ]
        whole = te.reject_margin(low, high, 0, 1, beta, rule)
        assert (whole >= 0) == (min(rejects) >= 0) and (whole < 0 or whole == min(rejects))
        whole = te.excess_margin(low, high, 0, 1, beta, rule)
        assert (whole >= 0) == (max(excesses) >= 0) and (whole >= 0 or whole == max(excesses))
        whole = te.resolve_margin(low, high, everybody, 0, 0, beta, rule)
        assert (whole >= 0) == (min(aparts) >= 0) and (whole < 0 or whole == min(aparts))


def test_accepted_groups_are_those_that_nothing_blocks_on_either_side():
    rng = np.random.default_rng(1)
    for _ in range(300):
        R = np.round(rng.normal(size=(5, 2)) * 3) / 4
        setting = Setting(
            bg.Instance(R[:, None, :]).shape, bg.ParetoGroups(0.25), bg.SubGaussian(), 0.1
        )
        rule = bg.algorithm("te").rule(setting)
        G = rng.random(5) < 0.8
        beta = float(rng.choice([0.125, 0.25]))
        standing = np.array([G[i] and te.stands(R, R, G, i, beta, rule) for i in range(5)])
        for i in np.flatnonzero(G):
            settled = standing[i] and te.settles(R, R, G, standing, i, beta, rule)
            free = all(
                te.excess_margin(R, R, i, j, beta, rule) >= 0
                and te.excess_margin(R, R, j, i, beta, rule) >= 0
                for j in np.flatnonzero(G)
                if j != i
            )
            assert settled == free


def test_signs_of_a_pair_are_those_of_its_margins():
    rng = np.random.default_rng(2)
    shape = bg.Instance(rng.random((2, 1, 3))).shape
    setting = Setting(shape, bg.ParetoGroups(0.1), bg.SubGaussian([1.0, 0.5, 2.0]), 0.1)
    rule = bg.algorithm("te-plus").rule(setting)
    seen = set()
    for _ in range(200):
        state, R = te_plus.init(rule), rng.normal(size=(2, 3)) * 0.3
        radii = rng.random(3) / 4
        te_plus.record_pair(state, R, R, 0, 1, radii, rule, True)
        for d in range(3):
            behind, scale, epsilon = R[1, d] - R[0, d], rule.scale[d], rule.epsilon[d]
            signs = (
                te_plus.above_margin(behind, radii[0] * scale) >= 0,
                te_plus.near_margin(-behind, radii[1] * scale, epsilon) >= 0,
                te_plus.far_margin(behind, radii[0] * scale, epsilon) >= 0,
            )
            recorded = (state.above[1, 0, d], state.near[0, 1, d], state.far[1, 0, d])
            assert signs == tuple(map(bool, recorded))
            seen.add(signs)
    assert len(seen) > 3


def test_radii_of_a_window_are_below_all_its_rounds_and_tight():
    instance = bg.Instance([[[0.0]], [[1.0]]])
    engine = engine_for(instance, bg.ParetoGroups(0.1), bg.algorithm("te-plus"), 0.01)
    m, rule = engine.memory, engine.rule
    edges, radii = np.zeros(4), np.zeros(3)
    rng = np.random.default_rng(3)
    for now in [*range(140), *rng.integers(140, 5000, 60).tolist()]:
        end = now + int(rng.integers(1, 70))
        edges[0], least = 0.0, np.full(3, np.inf)
        for r in range(now + 1, end + 1):
            radii_at(edges, rule, r, radii)
            least = np.minimum(least, radii)
        set_radii(m, rule, SPARE, now, end)
        ours = np.array(at.radii(m, SPARE)[:3])
        assert (ours <= least).all() and (ours > 0.999999 * least).all()


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [0.1, 1.0, 2.0], [1.0, 5.0], [0.001, 1.0]])
def test_the_clock_of_a_round_is_where_the_algorithm_gets_one_by_one(weights):
    D = len(weights)
    instance = bg.Instance([[[0.0] * D], [[1.0] * D]])
    engine = engine_for(instance, bg.BestGroup(weights), "eecb", 0.01)
    rule, state = engine.rule, engine.algorithm.init(engine.rule)
    clock, found = np.ones(D, np.int64), np.zeros(D, np.int64)
    clock_after(state, rule, 1, found)
    assert found.tolist() == clock.tolist()
    state.round[0], state.clock[:] = 1, 1
    for r in range(2, 3000):
        before = clock.copy()
        clock[eecb.focus_at(clock, rule)] += 1
        if r % 37 == 0 or r < 40:
            for guess in (7 * clock, clock // 3, before):
                found[:] = guess
                clock_after(state, rule, r - 1, found)
                assert found.tolist() == clock.tolist()
            clock_after(state._replace(clock=before), rule, 1, found)
            assert found.tolist() == clock.tolist()
