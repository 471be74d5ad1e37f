"""The adaptive rule for maps and the m best groups: pull by pull like its naive reference, contracts."""

from types import SimpleNamespace

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.directions import algorithm as al
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.bodies import bodies
from bestgroup.inference.confidence_sequences.boxes import take_values
from bestgroup.inference.tally import empty_tally
from reference.directions_run_naive import NaiveDirections
from tapes import tape_seeds

DELTA = 0.2
STEP = 2.0**-20  # values are multiples of it, so that shifts by powers of 2 lose nothing


def random_case(seed, top):
    """A small problem, groups of unequal size, whose run takes some hundred pulls."""
    rng = np.random.default_rng((seed, top))
    sizes = rng.integers(1, 4, size=int(rng.integers(2, 5))).tolist()
    dims = int(rng.integers(1, 4)) if top else 2
    kind = rng.integers(6)
    dependence = "independent" if rng.random() < 0.5 else "arbitrary"
    if kind < 3:
        noise = bg.SubGaussian(rng.choice([0.3, 0.5], size=dims).tolist(), dependence)
    elif kind == 3:
        noise = bg.SubGaussian(0.3, dependence, "arbitrary")
    else:
        noise = bg.Bounded(-1, 2, dependence=dependence) if kind == 4 else bg.Gaussian()
    epsilon = float(rng.choice([0.0, 0.125]))
    if top:
        goal = bg.TopGroups(
            int(rng.integers(1, len(sizes))), (0.5 + rng.random(dims)).tolist(), epsilon
        )
    else:
        vertices = None if rng.random() < 0.5 else [[1.0, 0.25], [0.5, 1.0]]
        goal = bg.WeightMap(vertices, epsilon, share=None if epsilon else 0.5)
    means = [rng.random((size, dims)) for size in sizes]
    tape = [
        np.round((mean + rng.uniform(-0.5, 0.5, (1500, *mean.shape))) / STEP) * STEP
        for mean in means
    ]
    return SimpleNamespace(
        shape=bg.Instance(means).shape,
        noise=noise,
        goal=goal,
        tape=tape,
        batch=[0.01, 0.1, 1, 5][seed % 4],
        costs=[10 ** rng.random(size) for size in sizes] if seed % 3 == 0 else None,
    )


def setting_of(case):
    return Setting(case.shape, case.goal, case.noise, DELTA, costs=case.costs)


def feed(case, boxes, tally, pulls):
    """Add the planned pulls; returns whether the tape holds them."""
    for i, j in np.argwhere(pulls > 0):
        n = int(tally.counts[i, j])
        rows = case.tape[i][n : n + pulls[i, j], j]
        if len(rows) < pulls[i, j]:
            return False
        take_values(boxes, tally, i, j, np.ascontiguousarray(rows))
    return True


def thinned(rule, every=16):
    """Return a rule with fewer grid weights, which a reference in Python takes up sooner."""
    kept = np.flatnonzero((np.arange(len(rule.points)) % every == every // 2) | (rule.volume == 0))
    return rule._replace(
        points=rule.points[kept],
        place=rule.place[kept],
        mix=rule.mix[kept],
        volume=rule.volume[kept] * every,
    )


def lockstep(seed, top, most=1500):
    """Run kernels and reference side by side; returns how it ended, and in how many checks."""
    case = random_case(seed, top)
    algorithm, setting = al.AdaptiveDirections(case.batch), setting_of(case)
    rule, boxes = algorithm.rule(setting), algorithm.statistics(setting)
    rule = rule if top else thinned(rule)
    state, naive = algorithm.init(rule), NaiveDirections(rule, DELTA)
    shape = case.shape
    tally = empty_tally(shape.groups, shape.arms, shape.dims, boxes.start)
    plan, step = bodies(algorithm, rule, True)
    while not naive.done and tally.counts.sum() < most:
        pulls = plan(state, tally, rule)
        assert np.array_equal(pulls, naive.plan(tally.counts)), (seed, top, naive.round)
        if not feed(case, boxes, tally, pulls):
            return "long"
        step(state, tally, rule)
        naive.step(tally)
        assert bool(state.done[0]) == naive.done, (seed, top, naive.round)
        assert set(np.flatnonzero(state.named).tolist()) == naive.named, (seed, top, naive.round)
        assert set(np.flatnonzero(state.out).tolist()) == naive.out, (seed, top, naive.round)
        if not top:
            mapped = {p: int(i) for p, i in enumerate(state.colour) if i >= 0}
            assert mapped == naive.colour, (seed, naive.round)
    return "ended" if naive.done else "long"


@pytest.mark.parametrize("top", [False, True])
def test_equals_its_reference_pull_by_pull(top):
    ends = [lockstep(seed, top, 500) for seed in range(16 if top else 8)]
    assert ends.count("ended") >= len(ends) // 4


@pytest.mark.verify
@pytest.mark.parametrize("top", [False, True])
def test_equals_its_reference_on_thousands_of_tapes(top):
    seeds = tape_seeds(1000, 2000)
    ends = [lockstep(seed, top) for seed in seeds]
    what = "the m best groups" if top else "maps of weights"
    ended = ends.count("ended")
    print(f"{what}: {len(ends):,} random tapes, {ended:,} ended, no difference at any pull")
    assert ended >= 0.3 * len(ends)


def play(case, compiled=True):
    """Return the answer, the pulls of each arm and the map of a whole run; None if it is too long."""
    algorithm, setting = al.AdaptiveDirections(case.batch), setting_of(case)
    rule, boxes = algorithm.rule(setting), algorithm.statistics(setting)
    state, shape = algorithm.init(rule), case.shape
    tally = empty_tally(shape.groups, shape.arms, shape.dims, boxes.start)
    plan, step = bodies(algorithm, rule, compiled)
    while not state.done[0] and tally.counts.sum() < 1000:
        if not feed(case, boxes, tally, plan(state, tally, rule)):
            break
        step(state, tally, rule)
    return state, tally.counts


@pytest.mark.parametrize("top", [False, True])
def test_permutations_of_groups_and_arms_change_nothing(top):
    for seed in range(8):
        case = random_case(seed, top)
        state, counts = play(case)
        rng = np.random.default_rng(seed)
        order = rng.permutation(case.shape.groups)
        inside = [rng.permutation(case.shape.sizes[i]) for i in order]
        other = SimpleNamespace(**vars(case))
        other.tape = [case.tape[i][:, own] for i, own in zip(order, inside, strict=True)]
        other.shape = bg.Instance([rows[0] for rows in other.tape]).shape
        if case.costs is not None:
            other.costs = [case.costs[i][own] for i, own in zip(order, inside, strict=True)]
        turned, moved = play(other)
        assert (turned.named == state.named[order]).all() and (turned.out == state.out[order]).all()
        for place, (i, own) in enumerate(zip(order, inside, strict=True)):
            assert moved[place, : len(own)].tolist() == counts[i, own].tolist(), (seed, top)


@pytest.mark.parametrize("top", [False, True])
def test_a_shift_of_all_values_changes_no_answer(top):
    for seed in range(8):
        case = random_case(seed, top)
        if isinstance(case.noise, bg.Bounded):
            continue
        state, counts = play(case)
        other = SimpleNamespace(**vars(case))
        other.tape = [rows + 64.0 for rows in case.tape]
        moved, again = play(other)
        assert (moved.named == state.named).all() and (moved.out == state.out).all()
        assert abs(int(again.sum()) - int(counts.sum())) <= 0.05 * counts.sum(), (seed, top)


@pytest.mark.parametrize("top", [False, True])
def test_plain_and_compiled_bodies_agree(top):
    for seed in range(2):
        case = random_case(seed, top)
        case.tape = [rows[:60] for rows in case.tape]
        runs = [play(case, compiled) for compiled in (True, False)]
        assert np.array_equal(runs[0][1], runs[1][1])
        for one, other in zip(runs[0][0], runs[1][0], strict=True):
            assert np.array_equal(one, other)
