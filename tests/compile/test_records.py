"""Records at addresses: plain Python and compiled code read and write the same fields."""

import numpy as np
import pytest

from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import WORD, after, array, bare, floats, ints, record, table, words


@record
class Row:
    """A row of three fields, after which numbers follow."""

    count: int
    share: float
    next: int


row_at, numbers_of = table(Row), after(Row)


@bare
def add(address: int, k: int, by: float) -> float:
    """Change every field of a row and return one of them."""
    row = row_at(address, k)
    row.count += 1
    row.share, row.next = row.share + by / row.count, row.count * k
    return row.share


@kernel
def work(address: int, rows: int) -> float:
    """Change all rows, then the numbers after the last."""
    total = 0.0
    for k in range(rows):
        for _ in range(3):
            total += add(address, k, 0.1)
    tail = numbers_of(row_at(address, rows - 1))
    tail[1] = total
    for value in array(tail, 4):
        total += value
    ints(address, rows * 3)[3] = 7
    floats(address, rows * 3)[2] = ints(address, 0)[0] / 2.0
    return total


def test_both_forms_leave_the_same_bytes():
    assert words(Row) == 3
    blocks = [np.zeros(5 * 3 + 4, np.int64) for _ in range(2)]
    plain = work(blocks[0].ctypes.data, 5)
    assert work.compiled(blocks[1].ctypes.data, 5) == plain
    assert blocks[0].tolist() == blocks[1].tolist() and blocks[0].any()
    last = row_at(blocks[1].ctypes.data, 4)
    assert (last.count, last.next) == (3, 12) and last.share == pytest.approx(
        0.1 * (1 + 1 / 2 + 1 / 3)
    )
    assert numbers_of(last)[2] == 1.5 and blocks[1][-1] == 7
    assert row_at(blocks[1].ctypes.data + WORD * 12, 0).count == 3


def test_a_field_is_a_number():
    with pytest.raises(KeyError):

        @record
        class Wrong:
            name: str
