"""What tells cut out of slots, against a model that knows single pulls only."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bestgroup.problem.pull_range import PullRange
from bestgroup.studies.storage.book import Book
from bestgroup.studies.storage.records import Slot, Tell

PULLS = 24
stretches = st.lists(st.integers(1, 6), min_size=1, max_size=8)
tells = st.lists(st.tuples(st.integers(0, PULLS - 1), st.integers(1, 12)), max_size=6)


def slots_of(sizes, holes):
    """Return slots side by side, some of them left out, the first `due` pulls wanted."""
    found, first = [], 0
    for k, size in enumerate(sizes):
        if not holes >> k & 1:
            due = size // 2
            found.append(Slot(PullRange(0, 1, first, size), due, 0 if due else 1, f"w{k}"))
        first += size
    return found


def pulls_of(slots):
    return {
        p: (s.owner, p < s.pulls.first + s.due)
        for s in slots
        for p in range(s.pulls.first, s.pulls.stop)
    }


@settings(max_examples=200, deadline=None, derandomize=True)
@given(stretches, st.integers(0, 255), tells)
def test_a_book_is_a_set_of_pulls(sizes, holes, told):
    slots = slots_of(sizes, holes)
    book, open_ = Book(slots), pulls_of(slots)
    for first, size in told:
        values = np.arange(first, first + size, dtype=float)[:, None]
        under = {
            p
            for s in book.under(PullRange(0, 1, first, size))
            for p in range(s.pulls.first, s.pulls.stop)
        }
        parts = book.take(Tell(PullRange(0, 1, first, len(values)), values))
        taken = [p for part in parts for p in range(part.pulls.first, part.pulls.stop)]
        assert taken == [p for p in range(first, first + size) if p in open_]
        assert set(taken) <= under <= set(open_)
        assert [float(v) for part in parts for v in part.values[:, 0]] == taken
        assert all(a.pulls.stop < b.pulls.first for a, b in itertools.pairwise(parts))
        for pull in taken:
            del open_[pull]
    gone, new = book.removed(), book.added()
    assert set(gone) <= set(slots) and not set(new) & set(slots)
    left = [slot for slot in slots if slot not in gone] + new
    assert pulls_of(left) == open_ and len({s.pulls.first for s in left}) == len(left)
    assert all((slot.rank == 0) == (slot.due > 0) for slot in new)
