"""`replay` equals the naive reference, round by round, on tapes full of ties and equalities."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bestgroup as bg
from bestgroup.errors import TapeTooShort
from reference import naive
from reference.strategies import PULLS, Case, cases, outcome

MANY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
HUGE = settings(max_examples=4000, deadline=None, suppress_health_check=list(HealthCheck))


def run(case: Case, goal, name, compiled, **options):
    """Our trace, or None if the tape ends first or the values tie for ever."""
    algorithm = bg.algorithm(name, radius=case.beta, **options)
    try:
        return bg.replay(
            case.ragged(),
            goal,
            algorithm,
            case.delta,
            noise=bg.SubGaussian(case.scale),
            compiled=compiled,
        )
    except TapeTooShort:
        return None
    except bg.InvalidInput as error:
        assert "stuck" in str(error)
        return None


def mask(members, *shape):
    out = np.zeros(shape, bool)
    for member in members:
        out[member] = True
    return out


def arms_of(entry, case):
    out = np.zeros((len(case.sizes), case.dims, max(case.sizes)), bool)
    for i, rows in enumerate(entry.arms):
        out[i, :, : len(rows)] = rows.T
    return out


def pulled_of(entry, case):
    return {
        (i, j) for i, row in enumerate(entry.pulled) for j, pulls in enumerate(row) if pulls == 1
    }


def check_pulls(trace, reference, case):
    assert trace.answer == reference.answer
    for (i, j), pulls in reference.pulls.items():
        assert trace.pulls_by_arm[i][j] == pulls


def check_elimination(case, name, reference, compiled):
    trace = run(case, bg.ParetoGroups(case.epsilon), name, compiled)
    if reference is None or trace is None:
        assert reference is None and trace is None
        return
    check_pulls(trace, reference, case)
    assert len(trace.rounds) == len(reference.log)
    N, D = len(case.sizes), case.dims
    for entry, row in zip(trace.rounds, reference.log, strict=True):
        groups = mask(row["G"], N)
        assert np.array_equal(entry.groups, groups)
        assert np.array_equal(entry.accepted, mask(row["P"], N))
        assert np.array_equal(entry.standing, mask(row["P1"], N))
        assert np.array_equal(entry.dims, mask(row["dims"], N, D) & groups[:, None])
        expected = mask(row["arms"], N, D, max(case.sizes)) & groups[:, None, None]
        assert np.array_equal(arms_of(entry, case), expected)
        assert np.array_equal(entry.efficiency, np.array(row["Rhat"]))
        assert entry.radius == row["beta"] and pulled_of(entry, case) == row["pulled"]


def check_equal_effect(case, reference, compiled, **options):
    goal = bg.BestGroup(case.weights, epsilon=case.epsilon[0])
    trace = run(case, goal, "eecb", compiled, **options)
    if reference is None or trace is None:
        assert reference is None and trace is None
        return
    check_pulls(trace, reference, case)
    assert len(trace.rounds) == len(reference.log)
    N = len(case.sizes)
    for entry, row in zip(trace.rounds, reference.log, strict=True):
        assert np.array_equal(entry.groups, mask(row["G"], N))
        assert entry.focus == row["focus"] and entry.threshold == row["threshold"]
        assert entry.clock.tolist() == row["n"] and pulled_of(entry, case) == row["pulled"]
        assert np.array_equal(
            arms_of(entry, case), mask(row["arms"], N, case.dims, max(case.sizes))
        )
        assert np.array_equal(entry.efficiency, np.array(row["Rhat"]))
    assert np.array_equal(trace.efficiency, np.array(reference.efficiency))


def check_successive(case, reference, compiled):
    goal = bg.BestGroup(case.weights, epsilon=case.epsilon[0])
    trace = run(case, goal, "se", compiled)
    if reference is None or trace is None:
        assert reference is None and trace is None
        return
    check_pulls(trace, reference, case)
    assert len(trace.rounds) == len(reference.log)
    N = len(case.sizes)
    for entry, row in zip(trace.rounds, reference.log, strict=True):
        assert np.array_equal(entry.groups, mask(row["G"], N))
        assert entry.threshold == row["threshold"] and pulled_of(entry, case) == row["pulled"]
        expected = mask(row["arms"], N, case.dims, max(case.sizes))
        assert np.array_equal(arms_of(entry, case), expected)
        assert np.array_equal(entry.efficiency, np.array(row["Rhat"]))


ALL_KINDS = st.sampled_from(["positive", "positive", "zero", "any", "large"]).flatmap(cases)
SWITCHES = {
    "te": {},
    "age": {"dimension_phase": False},
    "ge": {"dimension_phase": False, "arm_phase": False},
}


def elimination(case, compiled):
    for name, options in SWITCHES.items():
        check_elimination(case, name, outcome(naive.triple_elimination, case, **options), compiled)


def successive(case, compiled):
    one = Case(**{**vars(case), "epsilon": (case.epsilon[0],) * case.dims})
    reference = outcome(naive.successive_elimination, one, weights=case.weights)
    check_successive(one, reference, compiled)


def equal_effect(case, compiled):
    one = Case(**{**vars(case), "epsilon": (case.epsilon[0],) * case.dims})
    for early in (False, True):
        reference = outcome(naive.eecb, one, weights=case.weights, early_exit=early)
        check_equal_effect(one, reference, compiled, early_exit=early)


def others(case, compiled):
    if min(case.epsilon) > 0:
        tel = outcome(naive.tel, case, weights=case.weights, pareto_epsilon=case.epsilon[0])
        trace = run(
            case, bg.BestGroup(case.weights), "tel", compiled, pareto_epsilon=case.epsilon[0]
        )
        assert (tel is None) == (trace is None)
        if tel is not None:
            check_pulls(trace, tel, case)
        for name, corrected in (("unis", False), ("unis-corrected", True)):
            reference = outcome(naive.uniform_sampling, case, corrected=corrected)
            try:
                noise = bg.SubGaussian(case.scale)
                goal = bg.ParetoGroups(case.epsilon)
                trace = bg.replay(case.ragged(), goal, name, case.delta, noise=noise)
            except TapeTooShort:
                trace = None
            assert (reference is None) == (trace is None)
            if trace is not None:
                check_pulls(trace, reference, case)
                assert max(row.max() for row in trace.pulls_by_arm) <= PULLS


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("check", [elimination, equal_effect, successive, others])
def test_equals_the_naive_reference(check, compiled):
    @MANY
    @given(ALL_KINDS)
    def body(case):
        check(case, compiled)

    body()


@pytest.mark.verify
@pytest.mark.parametrize("check", [elimination, equal_effect, successive, others])
def test_equals_the_naive_reference_on_many_more(check):
    @HUGE
    @given(ALL_KINDS)
    def body(case):
        check(case, True)

    body()
    print(f"{check.__name__}: {HUGE.max_examples} random tapes, no difference")
