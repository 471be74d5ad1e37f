"""The loop that asks, evaluates and tells, with a source that hands out what one has already."""

import threading
import time

import pytest

import bestgroup as bg
from bestgroup.studies.evaluators import Pull
from bestgroup.studies.loop import Job, Loop, Pace, Reply

PROBLEM = bg.Problem({"A": ["a"]}, {"x": "max"}, bg.Bounded(0, 1))
SLOW, QUICK = (Job("A", "a", k, (Pull(k, None),), None) for k in range(2))


class Twice:
    """Gives a job again while it is under way, as a server does when a lease has run out."""

    problem = PROBLEM

    def __init__(self):
        self.told, self.again = [], threading.Event()

    def ask(self, n):
        return Reply([SLOW, QUICK])

    def tell(self, results, n):
        self.told += [job.key for job, _ in results]
        if len(self.told) > 1:
            return Reply([], "done")
        self.again.set()
        return Reply([SLOW])

    def fail(self, job, reason):
        raise AssertionError(reason)

    def hold(self, jobs, lease):
        return []


def test_a_job_that_is_handed_out_twice_is_done_once():
    source, calls = Twice(), []

    def evaluate(group, arm, seed):
        calls.append(seed)
        if seed == SLOW.first:
            assert source.again.wait(10)
        return 0.5

    Loop(source, evaluate, Pace(threads=2, ahead=3)).run()
    assert sorted(calls) == [0, 1] and source.told == [QUICK.key, SLOW.key]


class Broken(Twice):
    """Ctrl-C falls into the first tell, before or after it was stored."""

    def ask(self, n):
        return Reply([SLOW, QUICK])

    def tell(self, results, n):
        self.told += [job.key for job, _ in results]
        if not self.again.is_set():
            self.again.set()
            raise KeyboardInterrupt
        return Reply([], "done")


def test_nothing_that_was_measured_is_lost_when_ctrl_c_falls_into_a_tell():
    source = Broken()
    loop = Loop(source, lambda group, arm, seed: 0.5, Pace(threads=0, ahead=2))
    with pytest.raises(KeyboardInterrupt):
        loop.run()
    first = list(source.told)
    loop.close()
    assert first and source.told == 2 * first


def test_what_has_ended_meanwhile_is_told_when_ctrl_c_falls_between():
    source, ended = Broken(), threading.Event()
    source.again.set()

    def evaluate(group, arm, seed):
        ended.set()
        return 0.5

    loop = Loop(source, evaluate, Pace(threads=1, ahead=1))

    def interrupted():
        assert ended.wait(10)
        while loop._hands._done.empty():
            time.sleep(0.001)
        raise KeyboardInterrupt

    loop._collect = interrupted
    with pytest.raises(KeyboardInterrupt):
        loop.run()
    loop.close()
    assert source.told == [SLOW.key]
