"""Equalities that no recorded trace meets: the acceptance test P2, EECB's epsilon, UniS's gap.

Tapes are constant, radii are injected, and the outcomes are worked out by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reference import naive


def constant(values: Sequence[Sequence[float]], pulls: int = 8) -> list[list[list[list[float]]]]:
    """A tape of groups of one arm whose every reward is the given vector."""
    return [[[list(x)] for x in values]] * pulls


def table(*values: float):
    return lambda r: values[r - 1]


def test_p2_accepts_at_equality():
    """Group 0 spares group 1 by exactly 2 beta = 2 in round 1; 1 falls to 2 at equality in 2."""
    tape = constant([(10.0, -2.0), (0.0, 0.0), (1.0, 1.0)])
    s = naive.setting([1, 1, 1], 2, beta=table(1.0, 0.5))
    end = naive.replay(naive.triple_elimination, s, tape)
    assert end.log[0]["P1"] == end.log[0]["P2"] == {0}
    assert end.log[1]["G1"] == {2}
    assert end.answer == {0, 2} and end.left_round == [1, 2, 2]


@pytest.mark.parametrize("early_exit", [False, True])
def test_epsilon_stop_of_eecb_is_strict(early_exit: bool):
    """Lead 1 and epsilon 1 against 2 beta = 2 in round 1 (not enough) and 3/2 in round 2."""
    s = naive.setting([1, 1], 1, epsilon=1.0, beta=table(1.0, 0.75))
    options = {"weights": [1.0], "early_exit": early_exit}
    end = naive.replay(naive.eecb, s, constant([(0.0,), (1.0,)]), **options)
    assert end.answer == {1} and [row["G"] for row in end.log] == [{0, 1}, {1}]
    assert [row["focus"] for row in end.log] == [0, -1]
    assert end.pulls == {(0, 0): 2, (1, 0): 2} and end.clock == [2]


def test_epsilon_stop_weighs_epsilon_and_scale_of_each_dim():
    """w = (1, 2), epsilon = (1, 1/4), sigma = (1, 1/2): lead 0 + 3/2 against 2 (beta + beta)."""
    s = naive.setting(
        [1, 1], 2, epsilon=(1.0, 0.25), scale=(1.0, 0.5), beta=table(1.0, 0.5, 0.25, 0.125)
    )
    end = naive.replay(naive.eecb, s, constant([(2.0, 0.0), (0.0, 1.0)]), weights=(1.0, 2.0))
    # thresholds 4, 3, 2, 3/2 (equality), 1
    assert [row["threshold"] for row in end.log] == [4.0, 3.0, 2.0, 1.5, 1.0]
    assert [row["focus"] for row in end.log] == [0, 1, 0, 1, -1]
    assert end.answer == {0}


@pytest.mark.parametrize(
    ("corrected", "gap", "answer", "pulls"),
    [
        (False, 4.0, {1}, 2),
        (False, 3.9375, {0, 1}, 2),
        (True, 2.0, {1}, 5),
        (True, 1.9375, {0, 1}, 5),
    ],
)
def test_a_gap_of_exactly_epsilon_is_out(corrected: bool, gap: float, answer: set[int], pulls: int):
    """8 / 16 log 8 = 1.04 and 32 / 16 log 8 = 4.16 pulls, rounded up."""
    s = naive.setting([1, 1], 1, delta=0.5, epsilon=4.0)
    tape = constant([(0.0,), (gap,)])
    end = naive.replay(naive.uniform_sampling, s, tape, corrected=corrected)
    assert end.answer == answer and end.repeats == pulls
    assert end.pulls == {(0, 0): pulls, (1, 0): pulls}
