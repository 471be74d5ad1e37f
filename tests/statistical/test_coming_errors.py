"""Adding arms one after another until one looks better: errors stay below delta.

Live sessions are played, as a study plays them when arms come and go (`tests/property/test_coming_naive`
has the studies themselves): the storage would take most of the time.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.session import LiveSession
from bestgroup.problem.status import Status

DELTA = 0.3
GOAL = bg.BestGroup([1.0])
NEWCOMERS, PULLS, BATCH = 6, 400, 40
BEHIND = 1e-4  # by which every newcomer is worse than the arm of the start
KNOWN = np.zeros((2_000, 1))  # that arm, so well known that only newcomers matter


def session_of(reserve):
    """Return a session of the arm of the start and one newcomer."""
    dims = {"score": "max"}
    groups = {"old": ["old"], "new": ["new"]}
    problem = bg.Problem(groups, dims, bg.SubGaussian(1.0), reserve=reserve)
    setting = Setting.of(problem, GOAL, DELTA)
    return LiveSession(setting, bg.algorithm("adaptive", batch=BATCH), keep=False)


def attack(rng, reserve):
    """Return whether a newcomer that is worse was proven better.

    Newcomers join one after another and leave again when they have not looked better for long.
    """
    for _ in range(NEWCOMERS):
        session = session_of(reserve)
        session.feed(0, 0, 0, KNOWN)
        session.begin_with(np.full(2, Status.UNDECIDED, np.int64))
        values = rng.standard_normal((PULLS + 2 * BATCH, 1)) - BEHIND
        while not session.done and session.counts[1][0] < PULLS:
            for pulls, end in list(session.wanted()):
                rows = values[pulls.first : end] if pulls.group else KNOWN[: end - pulls.first]
                session.feed(*pulls.start, rows)
            session.advance(1)
        if session.status[0] == Status.OUT or session.status[1] == Status.IN:
            return True
    return False


def test_a_few_attacks():
    rng = np.random.default_rng(0)
    # All of the arms that ever come count: one of the start, and six newcomers.
    assert sum(attack(rng, NEWCOMERS - 1) for _ in range(6)) <= 5  # all of 6 at .3: below 1e-3


@pytest.mark.verify
def test_adding_arms_until_one_looks_better():
    cases = (
        (NEWCOMERS - 1, 2000, "with a reserve"),
        (1, 500, "as if each newcomer were the only one"),
    )
    for reserve, runs, what in cases:
        rng = np.random.default_rng(1)
        errors = sum(attack(rng, reserve) for _ in range(runs))
        interval = binomtest(errors, runs).proportion_ci(0.999, "exact")
        print(
            f"arms until one looks better, {what}: {errors} errors in {runs} runs "
            f"(99.9 % interval {interval.low:.4f} to {interval.high:.4f}, delta {DELTA})"
        )
        if reserve > 1:
            assert interval.low <= DELTA
