"""Records in a block of memory: plain Python and compiled code read and write the same fields."""

import pytest

from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import Layout, after, array, bare, head_at, record, words


@record
class Head:
    """Sizes, and a number."""

    rows: int
    columns: int
    width: int
    total: float


@record
class Entry:
    """An entry of three fields."""

    count: int
    share: float
    next: int


@record
class Short:
    """A record after which numbers follow."""

    length: int


layout = Layout(Head)
head = head_at(Head)
entry = layout.table(Entry, "rows", "columns")
tall = layout.table(Entry, 3, "rows", "columns")
lists = layout.table(Short, "rows", width="width")
numbers = layout.numbers(float, "rows", "columns")
flags = layout.numbers(int, 4)
tail = after(Short)


@bare
def add(m: Head, i: int, j: int, by: float) -> float:
    """Change every field of an entry and return one of them."""
    one = entry(m, i, j)
    one.count += 1
    one.share, one.next = one.share + by / one.count, one.count * j
    return one.share


@kernel
def work(address: int) -> float:
    """Change something everywhere."""
    m = head(address)
    for i in range(m.rows):
        lists(m, i).length = 2
        for j in range(m.columns):
            for _ in range(i + 1):
                m.total += add(m, i, j, 0.1)
            tall(m, 2, i, j).share = entry(m, i, j).share
            numbers(m, i)[j] = 10.0 * i + j
            tail(lists(m, i))[1] += entry(m, i, j).count
    flags(m)[3] = m.columns
    for value in array(numbers(m, 0), m.rows * m.columns):
        m.total += value
    return m.total


def make():
    return layout.make(rows=4, columns=3, width=words(Short) + 2)


def test_both_forms_leave_the_same_bytes():
    (one, m), (two, n) = make(), make()
    assert words(Entry) == 3 and (m.rows, m.columns, m.total) == (4, 3, 0.0)
    plain = work(one.ctypes.data)
    assert work.compiled(two.ctypes.data) == plain > 0
    tables = words(Head) + len(layout.sizes)
    assert one[tables:].tolist() == two[tables:].tolist()
    assert (m.total, entry(n, 3, 2).count, entry(n, 3, 2).next) == (n.total, 4, 8)
    assert entry(n, 3, 2).share == pytest.approx(0.1 * (1 + 1 / 2 + 1 / 3 + 1 / 4))
    assert [tail(lists(n, i))[1] for i in range(4)] == [3, 6, 9, 12]
    assert numbers(n, 3)[2] == 32.0 and flags(n)[3] == 3 and tall(n, 2, 3, 2).share > 0


def test_tables_do_not_overlap():
    block, m = make()
    for i in range(4):
        lists(m, i).length = -1
        tail(lists(m, i))[0] = tail(lists(m, i))[1] = 1.0
    assert sum(value != 0 for value in block[words(Head) + len(layout.sizes) :]) == 12
    assert len(block) == words(Head) + 5 + 4 * 3 * 3 + 3 * 4 * 3 * 3 + 4 * 3 + 4 * 3 + 4


def test_a_field_is_a_number():
    with pytest.raises(KeyError):

        @record
        class Wrong:
            name: str
