"""What the generated cases promise, and the theorems on them: the oracle is itself tested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from reference import definitions, naive
from reference.strategies import PULLS, UNIT, Case, cases, outcome

quick = settings(max_examples=60, deadline=None, derandomize=True)
TE_FAMILY: list[dict[str, Any]] = [
    {},
    {"dimension_phase": False},
    {"dimension_phase": False, "arm_phase": False},
]


def running_means(case: Case, i: int, j: int) -> list[list[float]]:
    total, found = [0.0] * case.dims, []
    for k in range(PULLS):
        total = [x + y for x, y in zip(total, case.tape[k][i][j], strict=True)]
        found.append([x / (k + 1) for x in total])
    return found


def good_event(case: Case) -> bool:
    """Whether every running mean is within beta sigma_d of its mean, at every count."""
    return all(
        abs(x - mean[d]) < case.beta(k) * case.scale[d]
        for i, group in enumerate(case.means)
        for j, mean in enumerate(group)
        for k, row in enumerate(running_means(case, i, j), 1)
        for d, x in enumerate(row)
    )


@quick
@given(cases("any"))
def test_running_means_are_exact_and_beta_decreases(case: Case):
    for i, size in enumerate(case.sizes):
        for j in range(size):
            for row in running_means(case, i, j):
                assert all((x * UNIT).is_integer() for x in row)
    betas = [case.beta(r) for r in range(1, 200)]
    assert all(x > y > 0 for x, y in pairwise(betas))
    ragged, padded = case.ragged(), case.padded()
    assert [a.shape for a in ragged] == [(PULLS, size, case.dims) for size in case.sizes]
    assert all((padded[:, i, : a.shape[1]] == a).all() for i, a in enumerate(ragged))


@quick
@given(cases("positive"))
def test_positive_epsilon_ends_within_the_tape(case: Case):
    for options in TE_FAMILY:
        assert outcome(naive.triple_elimination, case, **options) is not None
    assert outcome(naive.eecb, case, weights=case.weights) is not None


@quick
@given(cases("large"))
def test_large_epsilon_ends_within_the_tape_for_uniform_sampling(case: Case):
    assert outcome(naive.uniform_sampling, case) is not None
    assert outcome(naive.uniform_sampling, case, corrected=True) is not None


@quick
@given(cases("any"))
def test_on_the_good_event_te_is_right_and_saves_pulls(case: Case):
    assume(good_event(case))
    ends = [outcome(naive.triple_elimination, case, **options) for options in TE_FAMILY]
    finished = [end for end in ends if end is not None]
    assume(len(finished) == 3)
    for end in finished:
        assert definitions.pareto_correct(end.answer, case.means, case.epsilon)
    te, age, ge = (sum(end.pulls.values()) for end in finished)
    assert te <= age <= ge
    assert len({len(end.log) for end in finished}) == 1


@quick
@given(cases("any"), st.booleans())
def test_on_the_good_event_eecb_is_right(case: Case, early_exit: bool):
    assume(good_event(case))
    end = outcome(naive.eecb, case, weights=case.weights, early_exit=early_exit)
    assume(end is not None)
    assert end is not None
    assert definitions.best_group_correct(end.answer, case.means, case.weights, case.epsilon)


@quick
@given(cases("any"))
def test_sets_only_shrink(case: Case):
    end = outcome(naive.triple_elimination, case)
    assume(end is not None)
    assert end is not None
    for before, after in pairwise(end.log):
        for key in ("G", "G1", "dims", "arms"):
            assert after[key] <= before[key]
        assert before["P"] <= after["P"] and after["G_start"] == before["G"]
    assert end.answer == end.log[-1]["P"] and not end.log[-1]["G"]


@quick
@given(cases("any"), st.lists(st.sampled_from([0.25, 0.5, 2.0, 4.0]), min_size=3, max_size=3))
def test_units_of_a_dim_do_not_matter(case: Case, units: list[float]):
    """x -> c x in dim d with epsilon_d, sigma_d times c and w^d over c changes no decision."""

    def times(v: Any) -> Any:
        return tuple(x * c for x, c in zip(v, units, strict=False))

    other = replace(
        case,
        epsilon=times(case.epsilon),
        scale=times(case.scale),
        weights=tuple(x / c for x, c in zip(case.weights, units, strict=False)),
        tape=[[[list(times(x)) for x in group] for group in row] for row in case.tape],
    )
    for options in TE_FAMILY:
        same_sets(naive.triple_elimination, case, other, options, options)
    same_sets(naive.eecb, case, other, {"weights": case.weights}, {"weights": other.weights})


def same_sets(
    algorithm: Callable[..., naive.Pulls],
    case: Case,
    other: Case,
    options: dict[str, Any],
    other_options: dict[str, Any],
) -> None:
    one, two = outcome(algorithm, case, **options), outcome(algorithm, other, **other_options)
    assert (one is None) == (two is None)
    if one is not None and two is not None:
        drop = ("Rhat", "threshold")
        logs = [[{k: v for k, v in r.items() if k not in drop} for r in x.log] for x in (one, two)]
        assert logs[0] == logs[1]
        assert one.answer == two.answer and one.pulls == two.pulls


@quick
@given(cases("any"))
def test_early_exit_only_drops_the_last_batch(case: Case):
    case = replace(case, epsilon=(0.0,) * case.dims)
    literal = outcome(naive.eecb, case, weights=case.weights)
    early = outcome(naive.eecb, case, weights=case.weights, early_exit=True)
    if literal is None or early is None:
        assert literal is None  # the last batch may be the one that the tape does not hold
        return
    assert early.answer == literal.answer
    assert early.log[:-1] == literal.log[:-1]
    if literal.log:
        batch = literal.log[-1]["pulled"]
        assert {arm for arm in batch if literal.pulls[arm] == early.pulls[arm] + 1} == batch
        assert sum(literal.pulls.values()) - sum(early.pulls.values()) == len(batch)


@quick
@given(cases("positive"))
def test_epsilon_stops_eecb_no_later(case: Case):
    plain = outcome(naive.eecb, replace(case, epsilon=(0.0,) * case.dims), weights=case.weights)
    end = outcome(naive.eecb, case, weights=case.weights)
    if plain is not None and end is not None:
        assert len(end.log) <= len(plain.log)
        assert end.log[:-1] == plain.log[: len(end.log[:-1])]


def test_tape_end_carries_the_completed_rounds():
    tape = [[[[0.0]], [[0.0]]]] * 3
    s = naive.setting([1, 1], 1)
    with pytest.raises(naive.TapeEnd) as caught:
        naive.replay(naive.triple_elimination, s, tape)
    assert len(caught.value.log) == 3 and caught.value.arm == (0, 0)


def frozen_group(end: naive.Outcome) -> bool:
    """A group that stays active with no dim left to learn, as can happen off the good event."""
    return any(i not in {g for g, _ in row["dims"]} for row in end.log for i in row["G"])


def idle_round(end: naive.Outcome) -> bool:
    return any(not row["pulled"] and row["focus"] >= 0 for row in end.log)


def test_the_strategy_reaches_the_corners():
    """Plain draws hold ties, endless runs, frozen groups, idle rounds, stale arms, both events."""
    seen: Counter[str] = Counter()

    @settings(max_examples=400, deadline=None, derandomize=True, phases=[Phase.generate])
    @given(cases("any"))
    def look(case: Case) -> None:
        te = outcome(naive.triple_elimination, case)
        eecb = outcome(naive.eecb, case, weights=case.weights)
        te_all = outcome(naive.triple_elimination, case, all_arms=True)
        eecb_all = outcome(naive.eecb, case, weights=case.weights, all_arms=True)
        seen["te-arms"] += te is not None and te_all is not None and te.log != te_all.log
        seen["eecb-arms"] += eecb is not None and eecb_all is not None and eecb.log != eecb_all.log
        seen["te-tie"] += te is not None and te.margin == 0
        seen["eecb-tie"] += eecb is not None and eecb.margin == 0
        seen["endless"] += te is None or eecb is None
        seen["frozen"] += te is not None and frozen_group(te)
        seen["idle"] += eecb is not None and idle_round(eecb)
        seen["good" if good_event(case) else "bad"] += len(case.sizes) > 2 and case.dims > 1
        seen["unequal"] += min(len(set(x)) for x in (case.epsilon, case.scale, case.sizes)) > 1

    look()
    assert min(seen.values()) >= 3 and len(seen) == 10, seen
