"""How many random tapes a long comparison with a naive reference takes, and which."""

import os


def tape_seeds(first, count):
    """Return the seeds of a long run: these, or `BESTGROUP_TAPES="first:count"`."""
    if told := os.environ.get("BESTGROUP_TAPES"):
        first, count = map(int, told.split(":"))
    return range(first, first + count)
