"""The loop that asks, evaluates and tells, with a source that hands out what one has already."""

import threading

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
