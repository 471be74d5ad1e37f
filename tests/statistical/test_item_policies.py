"""Policies that try to make a study on shared items say something false.

Two arms score the same sum on a pool, on different items: with epsilon = 0 neither beats the other. A
policy sees every score as soon as it is told, chooses which result is told next, looks at the certificate
after every one, and stops as soon as a group is out. It may do so in at most delta of all orders.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

import bestgroup as bg
from bestgroup.problem.status import Status
from bestgroup.studies.storage.memory import MemoryStore

DELTA, N = 0.1, 45
# What (a, b) score on the items: as often one alone as the other.
TABLE = np.repeat([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], N // 3, axis=0)


def b_where_a_did_badly(scores, told):
    """Tell b's result only on items where a has failed, as long as that can be done."""
    a, b = told
    if b < a and scores["a"][b] == 0.0:
        return "b"
    return "a"


def a_until_it_is_lucky(scores, told):
    """Tell a until it is ahead of its mean, then b."""
    a, b = told
    if a > b and np.mean(scores["a"][:a]) > TABLE[:, 0].mean() + 0.05:
        return "b"
    return "a" if a <= b + 8 else "b"


def every_item(scores, told):
    """Tell both on every item."""
    a, b = told
    return "a" if a <= b else "b"


POLICIES = {"b where a did badly": b_where_a_did_badly, "a until lucky": a_until_it_is_lucky}
POLICIES["every item"] = every_item


def is_fooled(policy, seed):
    """Return whether a policy makes a study call one of two equal groups beaten."""
    problem = bg.Problem(
        {"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.Bounded(0, 1), items=bg.Items(N)
    )
    study = bg.create_study(
        "fool",
        problem,
        bg.ParetoGroups(0.0),
        DELTA,
        MemoryStore(),
        algorithm="adaptive",
        horizon=N,  # so that the policy, not the plan, says what comes next
        seed=seed,
    )
    waiting = {"a": [], "b": []}
    scores, told = {"a": [], "b": []}, [0, 0]
    while True:
        for ticket in study.ask(2 * N):
            waiting[ticket.arm].append(ticket)
        arm = POLICIES[policy](scores, tuple(told))
        if not waiting[arm]:
            arm = "b" if arm == "a" else "a"
        if not waiting[arm]:
            return False
        ticket = waiting[arm].pop(0)
        value = TABLE[int(ticket.item), "ab".index(arm)]
        study.tell(ticket, [value])
        scores[arm].append(value)
        told["ab".index(arm)] += 1
        shown = study.certificate().data
        if min(told) < N and shown is not None and (shown.status == Status.OUT).any():
            return True
        if study.status().state != "running":
            return False


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_do_not_fool_a_study(policy):
    # At a rate of .1, five or more of eight have a probability below 5e-4.
    assert sum(is_fooled(policy, seed) for seed in range(8)) < 5


@pytest.mark.verify
@pytest.mark.parametrize("policy", POLICIES)
def test_policies_do_not_fool_many_studies(policy):
    runs = 400
    fooled = sum(is_fooled(policy, seed) for seed in range(1000, 1000 + runs))
    print(f"{policy}: {fooled} of {runs} at delta {DELTA}")
    assert binomtest(fooled, runs, DELTA, "greater").pvalue > 1e-3
