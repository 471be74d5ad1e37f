"""Draws and answers of every engine on fixed seeds are what they were.

Integers only, so that they hold across machines as long as `log` and `sqrt` round alike; a commit
that changes them runs make_golden.py and says so.
"""

import json

import pytest
from make_golden import CASES, PATH, label, outcome

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: label(*case))
def test_runs_are_what_they_were(case):
    assert outcome(*case) == GOLDEN[label(*case)]


def test_no_case_is_forgotten():
    assert GOLDEN.keys() == {label(*case) for case in CASES}
