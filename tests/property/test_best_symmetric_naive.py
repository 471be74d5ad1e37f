"""The best group of normal values of unknown scale: no allowed means of the null have too little evidence."""

import math

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.best.algorithm import AdaptiveLinear
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.bodies import bodies
from bestgroup.inference.certificate.best_by_symmetry import find_behind_by_symmetry, tail_levels
from bestgroup.inference.certificate.best_group import kept
from bestgroup.inference.confidence_sequences.boxes import take_values
from bestgroup.inference.confidence_sequences.gaussian import box_gaussian
from bestgroup.inference.tally import empty_tally
from reference.bets_naive import least_evidence, selections
from reference.symmetric_naive import SymmetricClaim

DELTA = 0.2


def random_case(rng):
    """Return a goal, noise, means and standard deviations by arm and dim, far from 0 at times."""
    D = int(rng.integers(1, 4))
    sizes = rng.integers(1, 3, size=int(rng.integers(2, 4))).tolist()
    dependence = "independent" if rng.random() < 0.3 else "arbitrary"
    unit = 10.0 ** rng.uniform(-3, 3, size=D)
    offset = unit * float(rng.choice([0.0, 1e6]))
    means = [rng.uniform(0.0, 1.0, size=(size, D)) for size in sizes]
    means[0] += 1.0
    means = [offset + unit * own for own in means]
    spread = [unit * rng.uniform(0.5, 1.5, size=(size, D)) for size in sizes]
    weights = rng.choice([0.5, 1.0, 2.0], size=D) / unit
    goal = bg.BestGroup(weights.tolist(), 0.0 if D > 1 else float(rng.choice([0, 0.1])) * unit[0])
    return goal, bg.Gaussian(dependence=dependence), means, spread


def draw(rng, mean, spread, n, independent):
    """Return n values [n, D], dims depending on each other unless they are independent."""
    own, shared = rng.normal(size=(n, len(mean))), rng.normal(size=(n, 1))
    mix = 0.0 if independent else 0.8
    return mean + spread * (math.sqrt(1 - mix * mix) * own + mix * shared)


def check_run(seed, compiled):
    """Run `adaptive` and check every group that goes out; returns how many did."""
    rng = np.random.default_rng([15, seed])
    goal, noise, means, spread = random_case(rng)
    instance = bg.Instance(means, noise=noise, law=bg.laws.Normal(1.0))
    setting = Setting.for_instance(instance, goal, DELTA)
    algorithm = AdaptiveLinear(0.05)
    rule, shape = algorithm.rule(setting), instance.shape
    assert rule.bets and not rule.boxes
    state, keep = algorithm.init(rule), algorithm.statistics(setting)
    assert (len(keep.weights) > 0) == (shape.dims > 1)
    tally = empty_tally(shape.groups, shape.arms, shape.dims, keep.start, shape.dims > 1)
    plan, step = bodies(algorithm, rule, compiled)
    seen = [[np.zeros((0, shape.dims)) for _ in range(size)] for size in shape.sizes]
    named, before, checked, leader = 0, None, 0, -1
    while state.answer[0] < 0 and sum(len(x) for row in seen for x in row) < 3_000:
        pulls = plan(state, tally, rule)
        for i, j in np.argwhere(pulls):
            new = draw(rng, means[i][j], spread[i][j], int(pulls[i, j]), rule.independent)
            take_values(keep, tally, i, j, new)
            seen[i][j] = np.concatenate([seen[i][j], new])
        out = state.out.copy()
        state = step(state, tally, rule)
        if state.named[0] != named:
            named, before = int(state.named[0]), [[len(x) for x in row] for row in seen]
            if goal.epsilon and state.leader[0] != leader:
                out[:] = False
            leader = int(state.leader[0])
        for k in np.flatnonzero(state.out & ~out):
            check_claim(rng, state, seen, before, goal, noise, named, int(k))
            checked += 1
    return checked


def ends_of(x, level, side):
    """Return the lower or the upper ends of an arm's boxes, [D]."""
    found = []
    for column in x.T:
        away = column - column[0]
        extra = np.array([column[0], away.sum(), (away**2).sum()])
        found.append(box_gaussian(float(len(column)), extra, level)[side])
    return np.array(found)


def check_claim(rng, state, seen, before, goal, noise, named, k):
    """Look for means that would make a claim false."""
    i, lead, weights = int(state.leader[0]), state.lead.tolist(), np.array(goal.weights)
    arms, D = sum(map(len, seen)), len(weights)
    level = math.log(named * (named + 1) / (0.75 * DELTA))
    old = [x[:n] for x, n in zip(seen[i], before[i], strict=True)]
    new = [x[n:] for x, n in zip(seen[i], before[i], strict=True)]
    ours = [x.std(axis=0, ddof=1) for x in old]
    theirs = [x[:4].std(axis=0, ddof=1) for x in seen[k]]
    low, high = math.log(8 * arms * D / DELTA), math.log(8 * D / DELTA)
    below = np.array([ends_of(seen[i][arm], low, 0)[d] for d, arm in enumerate(lead)])
    for rival in selections(len(seen[k]), D):
        above = np.array([ends_of(seen[k][arm], high, 1)[d] for d, arm in enumerate(rival)])
        units = [ours, theirs]
        sums = [
            [(y @ weights, (x @ weights).std(ddof=1)) for x, y in zip(old, new, strict=True)],
            [(x[4:] @ weights, (x[:4] @ weights).std(ddof=1)) for x in seen[k]],
        ]
        claim = SymmetricClaim(
            new, lead, [x[4:] for x in seen[k]], list(rival), weights, goal.epsilon * weights.sum(),
            noise.dependence == "independent", units,
            [[weights * unit for unit in side] for side in units], [below, above], sums,
        )  # fmt: skip
        assert least_evidence(claim, rng, tries=25, steps=15) >= level - 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_no_claim_of_a_run_has_less_evidence_than_its_level(seed):
    assert check_run(seed, compiled=True) >= 1


@pytest.mark.verify
def test_claims_of_hundreds_of_runs():
    assert sum(check_run(seed, compiled=True) for seed in range(10, 310)) > 300


def check_certificate(seed):
    """Check every group that a table shows behind the first one; returns how many it does."""
    rng = np.random.default_rng([16, seed])
    goal, noise, means, spread = random_case(rng)
    shape = bg.Instance(means, noise=noise, law=bg.laws.Normal(1.0)).shape
    rule, weights, D = kept(shape, goal, noise, DELTA), np.array(goal.weights), shape.dims
    assert (len(rule.weights) > 0) == (D > 1)
    tally = empty_tally(shape.groups, shape.arms, D, rule.start, D > 1)
    independent, seen = noise.dependence == "independent", []
    for i, rows in enumerate(means):
        counts = rng.integers(12, 120, len(rows)).tolist()
        seen.append(
            [
                draw(rng, m, s, n, independent)
                for m, s, n in zip(rows, spread[i], counts, strict=True)
            ]
        )
        for j, x in enumerate(seen[-1]):
            take_values(rule, tally, i, j, x)
    lead = np.array([np.argmax([x[:, d].mean() for x in seen[0]]) for d in range(D)])
    tails, level = tail_levels(shape.total, D, DELTA), 5.0
    behind, slack = np.zeros(shape.groups, np.bool_), goal.epsilon * weights.sum()
    sizes = np.array(shape.sizes)
    find_behind_by_symmetry.compiled(
        tally, rule, sizes, weights, independent, tails, 0, lead, slack, level, behind
    )
    below = np.array([ends_of(seen[0][arm], tails[0], 0)[d] for d, arm in enumerate(lead)])
    for k in np.flatnonzero(behind):
        units = [[x[:4].std(axis=0, ddof=1) for x in seen[i]] for i in (0, k)]
        sums = [[(x[4:] @ weights, (x[:4] @ weights).std(ddof=1)) for x in seen[i]] for i in (0, k)]
        for rival in selections(shape.sizes[k], D):
            above = np.array([ends_of(seen[k][arm], tails[1], 1)[d] for d, arm in enumerate(rival)])
            claim = SymmetricClaim(
                [x[4:] for x in seen[0]], lead.tolist(), [x[4:] for x in seen[k]], list(rival),
                weights, slack, independent, units,
                [[weights * unit for unit in side] for side in units], [below, above], sums,
            )  # fmt: skip
            assert least_evidence(claim, rng, tries=25, steps=15) >= level - 1e-6
    return int(behind.sum())


def test_nothing_is_certified_with_less_evidence_than_its_level():
    assert sum(check_certificate(seed) for seed in range(4)) >= 3


@pytest.mark.verify
def test_certificates_of_hundreds_of_tables():
    assert sum(check_certificate(seed) for seed in range(10, 310)) > 200


def test_plain_and_compiled_runs_agree():
    values = np.random.default_rng(4).normal([[0.6, 0.5], [0.2, 0.1]], 0.3, size=(900, 2, 2))
    tape = [values[:, :1], values[:, 1:]]
    goal, noise = bg.BestGroup([1.0, 1.0]), bg.Gaussian()
    found = [bg.replay(tape, goal, "adaptive", 0.05, noise=noise, compiled=c) for c in (0, 1)]
    assert found[0].answer == found[1].answer == {0} and found[0].pulls == found[1].pulls
    assert "normal with one mean and one variance" in str(found[0].guarantee)


def test_an_offset_changes_nothing():
    """Means of a million standard deviations: what counts is not drowned."""
    values = np.random.default_rng(5).normal([[0.6], [0.2]], 0.3, size=(900, 2, 1))
    pulls = []
    for offset in (0.0, 2.0**18):
        tape = [values[:, :1] + offset, values[:, 1:] + offset]
        run = bg.replay(tape, bg.BestGroup([1.0]), "adaptive", 0.05, noise=bg.Gaussian())
        pulls.append((run.answer, run.pulls))
    assert pulls[0] == pulls[1]
