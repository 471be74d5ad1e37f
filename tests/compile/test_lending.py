"""Large named tuples go from compiled function to compiled function by one address."""

import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

from bestgroup.compile import lending
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel


class Same(NamedTuple):
    """All fields of one type: no structure but an array in compiled code."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


class Mixed(NamedTuple):
    on: bool
    table: np.ndarray
    count: int
    same: Same
    share: float


@borrowing
def read(mixed: Mixed, i: int) -> float:
    found = mixed.same.b[i] * mixed.share + mixed.table[i, 0]
    return found + mixed.count if mixed.on else -found


@borrowing
def pass_on(mixed: Mixed, same: Same) -> float:
    total = 0.0
    for i in range(len(same.a)):
        same.c[i] += read(mixed, i)
        total += read(mixed, i) + mixed.same.c[i]
    return total


@kernel
def ask(mixed: Mixed) -> float:
    return pass_on(mixed, mixed.same)


@borrowing
def by_place(mixed: Mixed, i: int) -> float:
    other = Mixed(*mixed[:3], mixed[3], 2.0 * mixed[-1])
    return read(other, i) - read(mixed, i) + mixed.same[0][i]


@kernel
def in_turn(mixed: Mixed, n: int) -> float:
    """What is lent changes from call to call."""
    total = 0.0
    for k in range(n):
        now = Mixed(k % 2 == 0, mixed.table, k, mixed.same, mixed.share)
        total = 2.0 * total + read(now, k % 3) + by_place(now, k % 3)
    return total


@kernel
def give_back(mixed: Mixed) -> Mixed:
    return mixed


@kernel
def wrap(same: Same, share: float) -> Mixed:
    """A result that holds the argument, whose frame may be gone by then."""
    return Mixed(True, np.full((3, 1), share), 3, same, share)


@kernel
def make_and_ask(mixed: Mixed, n: int) -> float:
    made = mixed
    for k in range(n):
        made = give_back(wrap(made.same, 0.5 * k))
    return ask(made) + ask(mixed)


class Wide(NamedTuple):
    """Large without the tuple in it, too."""

    one: np.ndarray
    same: Same
    two: np.ndarray
    share: float


@borrowing
def read_wide(wide: Wide, i: int) -> float:
    return wide.same.b[i] * wide.share + wide.one[i] - wide.two[i]


@borrowing
def remade(wide: Wide, i: int) -> float:
    """A tuple that is lent and holds the address of another one."""
    return read_wide(Wide(wide.two, wide.same, wide.one, 2.0 * wide.share), i)


@kernel
def ask_remade(wide: Wide) -> float:
    return remade(wide, 1)


@kernel
def perhaps(same: Same, wanted: bool) -> Same | None:
    if wanted:
        return same
    return None


@kernel
def keep_one(same: Same, n: int) -> float:
    """What is kept is that of one call, whatever the calls after it are given."""
    kept, total = perhaps(same, False), 0.0
    for k in range(n):
        found = perhaps(Same(same.a, same.b * k, same.c), True)
        if k == 1:
            kept = found
        if found is not None:
            total += found.b[0]
    if kept is not None:
        total += 100.0 * kept.b[0]
    return total


@borrowing
def either(one: Mixed, two: Mixed, first: bool) -> float:
    chosen = one if first else two
    return read(chosen, 1)


@kernel
def ask_either(mixed: Mixed) -> float:
    other = Mixed(False, mixed.table, 9, mixed.same, 7.0)
    return 3.0 * either(mixed, other, True) + either(mixed, other, False)


def mixed() -> Mixed:
    rng = np.random.default_rng(3)
    return Mixed(True, rng.random((3, 2)), 4, Same(*rng.random((3, 3))), 0.25)


def test_fields_are_read_and_written_where_they_are():
    one, two = mixed(), mixed()
    assert ask.compiled(two) == ask(one)
    assert (two.same.c == one.same.c).all()
    assert (two.same.c != mixed().same.c).all()


def test_places_and_slices_are_read_by_value():
    @kernel
    def outer(given: Mixed) -> float:
        return by_place(given, 2)

    assert outer.compiled(mixed()) == outer(mixed())


def test_every_call_gets_the_tuple_of_that_call():
    assert in_turn.compiled(mixed(), 7) == in_turn(mixed(), 7)


def test_a_result_never_holds_an_address():
    one, two = mixed(), mixed()
    assert make_and_ask.compiled(two, 5) == make_and_ask(one, 5)
    assert (two.same.c == one.same.c).all()


def test_a_tuple_that_holds_an_address_is_lent():
    rng = np.random.default_rng(4)
    wide = Wide(rng.random(3), Same(*rng.random((3, 3))), rng.random(3), 0.5)
    assert ask_remade.compiled(wide) == ask_remade(wide)


def test_a_result_that_may_be_none_holds_no_address():
    same = Same(*np.random.default_rng(5).random((3, 3)))
    assert keep_one.compiled(same, 4) == keep_one(same, 4)


def test_llvm_is_told_by_words_that_it_knows():
    assert lending._WORDS == ["noalias", "captures(none)"] or lending._WORDS == [
        "noalias",
        "nocapture",
    ]
    assert not lending._known(("no such word",))


def test_a_tuple_may_be_chosen():
    assert ask_either.compiled(mixed()) == ask_either(mixed())


@kernel
def unpack(mixed: Mixed) -> float:
    on, table, count, same, share = mixed
    return table[0, 0] * len(mixed) + count + same.a[1] * share


@kernel
def ask_unpack(mixed: Mixed) -> float:
    return unpack(mixed) + read(mixed, 0)


def test_a_tuple_may_be_unpacked():
    assert ask_unpack.compiled(mixed()) == ask_unpack(mixed())


@kernel
def wrong(mixed: Mixed) -> float:
    return mixed.nothing + 1.0


@kernel
def ask_wrong(mixed: Mixed) -> float:
    return wrong(mixed)


@kernel
def ask_ask_wrong(mixed: Mixed) -> float:
    return ask_wrong(mixed)


def test_what_is_wrong_anyway_is_said_of_its_function():
    @kernel
    def outer(given: Mixed) -> float:
        return ask_ask_wrong(given)

    for _ in range(2):
        with pytest.raises(numba.TypingError, match="nothing"):
            outer.compiled(mixed())


def test_no_reference_is_kept_or_lost():
    given = mixed()
    held = [sys.getrefcount(array) for array in (given.table, *given.same)]
    for _ in range(50):
        make_and_ask.compiled(given, 3)
        in_turn.compiled(given, 3)
    assert [sys.getrefcount(array) for array in (given.table, *given.same)] == held


def test_a_function_gets_one_address_for_a_large_tuple(monkeypatch, tmp_path):
    monkeypatch.setenv("BESTGROUP_CACHE", str(tmp_path))  # code on disk needs no inner function

    @kernel
    def anew(given: Mixed) -> float:
        return pass_on(given, given.same)

    anew.compiled(mixed())
    ((kinds, result),) = pass_on.inner.overloads.items()
    assert [kind.name.partition(" ")[0] for kind in kinds] == ["lent", "lent"]
    assert [kind.whole.instance_class for kind in kinds] == [Mixed, Same]
    made = str(result.library._get_module_for_linking())
    (line,) = [line for line in made.splitlines() if line.startswith("define")]
    assert line.count("noalias") == 4  # where results and errors go, and two tuples


@kernel
def end_of(same: Same) -> np.ndarray:
    """A result that is one of the arrays that were given."""
    return same.c[1:]


def test_arrays_are_given_back_when_a_call_is_over():
    given = mixed()
    ask.compiled(given)
    users = [sys.getrefcount(array) for array in (given.table, *given.same)]
    for _ in range(3):
        ask.compiled(given)
    end = end_of.compiled(given.same)
    assert end.tolist() == given.same.c[1:].tolist()
    given.same.c[2] = 7.0
    assert end[1] == 7.0
    del end
    assert [sys.getrefcount(array) for array in (given.table, *given.same)] == users
