"""TE+ equals its naive reference round by round, and its signs are recorded at equality."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.te_plus import algorithm, signs
from bestgroup.algorithms.te_plus.radii import cell_end, radii_at, radii_below, split
from bestgroup.errors import TapeTooShort
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.shape import Shape
from bestgroup.testing import check_algorithm
from reference.strategies import cases, outcome
from reference.te_plus_naive import levels, served
from reference.te_plus_naive import te_plus as naive

MANY = settings(max_examples=75, deadline=None, suppress_health_check=list(HealthCheck))
HUGE = settings(max_examples=4000, deadline=None, suppress_health_check=list(HealthCheck))
KINDS = st.sampled_from(["positive", "zero", "any", "large"]).flatmap(cases)
# The radii of 64 pulls are wide: smaller scales let runs end on the tape.
SHRINK = st.sampled_from([1.0, 2.0**-3, 2.0**-5, 2.0**-7])
ARMS = st.sampled_from(["independent", "independent", "arbitrary"])


def trace_of(case, arms, factor, compiled):
    try:
        return bg.replay(
            case.ragged(),
            bg.ParetoGroups(case.epsilon),
            bg.algorithm("te-plus", radius_scale=factor),
            case.delta,
            noise=bg.SubGaussian(case.scale, arms=arms),
            compiled=compiled,
        )
    except TapeTooShort:
        return None


def compare(case, arms, factor, compiled):
    reference = outcome(naive, case, arms=arms, factor=factor)
    trace = trace_of(case, arms, factor, compiled)
    assert (reference is None) == (trace is None)
    if reference is None:
        return False
    assert trace.answer == reference.answer
    assert {
        (i, j): int(n) for i, row in enumerate(trace.pulls_by_arm) for j, n in enumerate(row)
    } == reference.pulls
    assert len(trace.rounds) == len(reference.log)
    for entry, row in zip(trace.rounds, reference.log, strict=True):
        assert set(np.flatnonzero(entry.groups)) == row["G"]
        assert set(np.flatnonzero(entry.accepted)) == row["P"]
        assert set(np.flatnonzero(entry.rejected)) == row["rejected"]
        assert {(i, d) for i, d in np.argwhere(entry.dims).tolist()} == row["dims"]
        arms_left = {
            (i, d, j) for i, rows in enumerate(entry.arms) for j, d in np.argwhere(rows).tolist()
        }
        assert arms_left == row["arms"]
        assert np.array_equal(entry.efficiency, np.array(row["Rhat"]))
        assert entry.radius == pytest.approx(row["beta"], rel=1e-15)
    return True


def check_many(limits, compiled):
    ended = []

    @limits
    @given(KINDS, SHRINK, ARMS, st.sampled_from([1.0, 0.5]))
    def body(case, shrink, arms, factor):
        small = replace(case, scale=tuple(s * shrink for s in case.scale))
        ended.append(compare(small, arms, factor, compiled))

    body()
    assert sum(ended) > len(ended) / 4  # most tapes are long enough to compare an end
    return len(ended), sum(ended)


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_equals_the_naive_reference(compiled):
    check_many(MANY, compiled)


@pytest.mark.verify
def test_equals_the_naive_reference_on_many_more():
    tapes, ended = check_many(HUGE, True)
    print(f"te-plus: {tapes} random tapes, {ended} ended, no difference")


def test_signs_are_recorded_at_equality():
    """A lead that equals the radius counts, one bit less does not."""
    setting_of = bg.algorithm("te-plus")
    setting = Setting(Shape((1, 1), 1), bg.ParetoGroups(0.25), bg.SubGaussian(1.0), 0.1)
    rule = setting_of.rule(setting)
    radii = np.array([0.5, 0.75, 0.5])
    for lead, above, far in ((0.5, True, False), (0.75, True, True)):
        for value, expected in ((lead, (above, far)), (lead - 2.0**-40, (lead > 0.5, False))):
            state = signs.init(rule)
            R = np.array([[value], [0.0]])
            signs.record_pair(state, R, R, 1, 0, radii, rule, True)
            assert (state.above[0, 1, 0], state.far[0, 1, 0]) == expected
    for value, near in ((0.5, True), (0.5 - 2.0**-40, False)):
        state = signs.init(rule)
        R = np.array([[value], [0.0]])
        signs.record_pair(state, R, R, 0, 1, radii, rule, True)
        assert state.near[0, 1, 0] == near
    assert signs.stale_margin(0.5, 0.0, 0.5) >= 0 > signs.stale_margin(0.5, 1e-9, 0.5)


def test_what_is_watched_is_all_that_can_be_recorded():
    """With room for no comparison every round looks at all pairs, and decides the same."""
    rng, N, K, D = np.random.default_rng(5), 40, 2, 2
    means, noise = rng.random((N, K, D)), bg.SubGaussian([1.0, 0.5])
    setting = Setting(Shape((K,) * N, D), bg.ParetoGroups(0.3), noise, 0.1)
    rule = bg.algorithm("te-plus").rule(setting)
    watching, looking = signs.init(rule), signs.init(rule)
    looking = looking._replace(watched=np.zeros(0, np.int64))
    tally, few = empty_tally(N, K, D), 0
    while watching.groups.any():
        pulled = (watching.arms & watching.dims[:, None, :]).any(axis=2)
        tally.counts[:] += pulled
        values = means + rng.normal(size=(N, K, D)) * noise.scales(D)
        tally.sums[:] += values * pulled[:, :, None]
        for state in (watching, looking):
            algorithm.step.compiled(state, tally, rule)
        for name in ("groups", "dims", "arms", "accepted", "rejected", "unsettled", "needs"):
            assert np.array_equal(getattr(watching, name), getattr(looking, name))
        assert looking.watch[0] <= 0
        few += 0 < watching.watch[0] < N * N / 8
    assert few > watching.round[0] / 4 > 100


def test_the_levels_add_up_to_delta():
    for sizes, dims in (((5, 5, 5), 3), ((1, 4, 2), 2), ((1, 1, 1), 2), ((3,), 1), ((2, 7), 4)):
        ours = split(Shape(sizes, dims), 0.05)
        assert ours == pytest.approx(list(levels(sizes, dims, 0.05, "independent").values()))
        total = sum(sizes)
        used = sum(
            max(dims * K * ours[1], (total - K) * ours[0] + dims * (K - 1) * ours[2]) for K in sizes
        )
        assert used <= 0.05 * (1 + 1e-12)


def test_radii_of_a_cell_serve_all_its_rounds():
    """Stored edges, whatever round they were stored at, give the radii of a fresh start."""
    setting_of = bg.algorithm("te-plus")
    rule = setting_of.rule(
        Setting(Shape((2, 2), 2), bg.ParetoGroups(0.1), bg.SubGaussian(1.0), 0.1)
    )
    kept, fresh, below = np.zeros(4), np.empty(3), np.empty(3)
    last = np.full(3, np.inf)
    for r in [*range(1, 600), *range(600, 100_000, 977)]:
        assert cell_end(r) == served(r)
        radii, single = np.empty(3), np.zeros(4)
        radii_at(kept, rule, r, radii)
        radii_at(single, rule, r, fresh)
        assert np.array_equal(radii, fresh)
        radii_below(rule, r, below)
        assert (below <= np.minimum(radii, last)).all()
        last = radii


def test_the_contract_suite_passes():
    check_algorithm(bg.algorithm("te-plus"))


def test_the_exact_engine_equals_replay():
    instance = bg.Instance(
        [[[0.9, 0.1], [0.2, 0.7]], [[0.4, 0.3]], [[0.1, 0.9], [0.3, 0.2], [0.0, 0.95]]],
        law=bg.laws.Normal([0.5, 1.0]),
        noise=bg.SubGaussian([0.5, 1.0]),
    )
    goal = bg.ParetoGroups(0.1)
    sim = bg.simulate(instance, goal, "te-plus", 0.05, runs=4, seed=3, engine="exact")
    assert sim.finished.all() and sim.correct.all() and "proven" in str(sim.guarantee)
    for run in range(4):
        tape = bg.Tape.draw(instance, int(sim.rounds[run]), seed=3, run=run)
        trace = bg.replay(tape, goal, "te-plus", 0.05, noise=instance.noise)
        assert trace.answer == sim.answers[run] and trace.pulls == sim.pulls[run]
        for ours, theirs in zip(trace.pulls_by_arm, sim.pulls_by_arm[run], strict=True):
            assert np.array_equal(ours, theirs)


def test_bad_options_are_refused():
    with pytest.raises(bg.InvalidInput, match="radius_scale must be positive"):
        bg.algorithm("te-plus", radius_scale=0)
    with pytest.raises(bg.InvalidInput, match="answers ParetoGroups"):
        bg.simulate(bg.Instance([[[1.0]], [[0.0]]]), bg.BestGroup([1]), "te-plus", runs=1)
    shrunk = bg.simulate(
        bg.Instance([[[1.0]], [[0.0]]]),
        bg.ParetoGroups(0.1),
        bg.algorithm("te-plus", radius_scale=0.5),
        runs=1,
    )
    assert shrunk.guarantee.level == "none"
