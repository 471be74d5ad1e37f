"""What `solve` tells while it runs: callbacks, and the logger."""

import inspect
import logging
import random

import pytest

import bestgroup as bg

PROBLEM = bg.Problem({"A": ["a1", "a2"], "B": ["b1"]}, {"score": "max"}, bg.SubGaussian(0.2))
MEANS = {"a1": 0.9, "a2": 0.4, "b1": 0.6}


def evaluate(group, arm, seed):
    return random.Random(seed).gauss(MEANS[arm], 0.2)


def solve(function=evaluate, **options):
    return bg.solve(PROBLEM, bg.BestGroup([1]), function, 0.05, **options)


@pytest.mark.parametrize("workers", [1, 3])
def test_callbacks_see_every_step_and_change_nothing(workers):
    seen = []
    found = solve(workers=workers, callbacks=[lambda study, status: seen.append(status.told)])
    assert found.answer == solve(workers=workers).answer
    assert seen == sorted(set(seen)) and seen[-1] == found.answer.told


@pytest.mark.parametrize("workers", [1, 3])
def test_a_callback_that_returns_true_ends_the_call(workers, tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    options = {"storage": url, "name": "s", "workers": workers}
    part = solve(callbacks=[lambda study, status: status.told >= 5, lambda s, t: None], **options)
    assert not part.answer.final and 5 <= part.answer.told <= 5 + 4 * workers
    assert not part.study.leases() or all(lease.seconds <= 0 for lease in part.study.leases())
    assert solve(**options).answer.groups == ("A",)


def test_what_a_callback_raises_comes_out():
    def broken(study, status):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        solve(callbacks=broken)


def test_the_logger_tells_decisions_and_retries(caplog):
    failed = []

    def flaky(group, arm, seed):
        if not failed:
            failed.append(seed)
            raise OSError("no luck")
        return evaluate(group, arm, seed)

    with caplog.at_level(logging.INFO, logger="bestgroup"):
        found = solve(flaky)
    told = [record.getMessage() for record in caplog.records if record.name == "bestgroup"]
    assert "no luck" in told[0] and "is tried again" in told[0]
    assert any("in 1, out" in line for line in told)
    assert told[-1] == str(found)


def test_every_option_is_in_the_signature():
    kinds = {one.kind for one in inspect.signature(bg.solve).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert {"workers", "budget", "callbacks"} <= set(inspect.signature(bg.solve).parameters)
    for name in inspect.signature(bg.solve).parameters:
        assert name in bg.solve.__doc__
