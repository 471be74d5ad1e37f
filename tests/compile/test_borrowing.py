"""Kernels that count no references compute the same, and cannot make or hand out arrays."""

import importlib
import pkgutil
import sys
import typing
from ctypes import Structure

import numpy as np
import pytest

from bestgroup.compile.borrowing import Borrowing, borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import Numbers


class Pair(typing.NamedTuple):
    x: np.ndarray
    y: np.ndarray


@borrowing
def add_row(pair: Pair, i: int) -> float:
    row, total = pair.x[i], 0.0
    for d in range(len(row)):
        pair.y[i, d] += row[d]
        total += pair.y[i, d]
    return total


@kernel
def add_rows(pair: Pair) -> float:
    total = 0.0
    for i in range(len(pair.x)):
        total += add_row(pair, i)
    return total


@borrowing
def make(n: int) -> float:
    return np.zeros(n)[0]


@kernel
def call_make(n: int) -> float:
    return make(n)


def test_it_computes_what_its_body_does_and_keeps_no_reference():
    rng = np.random.default_rng(1)
    one = Pair(rng.random((4, 3)), rng.random((4, 3)))
    two = Pair(one.x.copy(), one.y.copy())
    held = [sys.getrefcount(array) for array in two]
    assert add_rows.compiled(two) == add_rows(one)
    assert (two.y == one.y).all()
    assert [sys.getrefcount(array) for array in two] == held
    assert add_row.compiled(two, 2) == add_row(one, 2)


def test_an_array_of_its_own_is_refused():
    with pytest.raises(Exception, match=r"Only accept returning of array passed|NRT required"):
        call_make.compiled(3)


def modules():
    for package in ("problem", "theory", "inference", "algorithms", "drivers", "simulation"):
        path = importlib.import_module(f"bestgroup.{package}").__path__
        for info in pkgutil.walk_packages(path, f"bestgroup.{package}."):
            yield importlib.import_module(info.name)


def test_none_hands_out_an_array():
    """Numbers, nothing, tuples of numbers, or pointers into memory of the caller come back."""
    found = {}
    for module in modules():
        for item in vars(module).values():
            if isinstance(item, Borrowing):
                found[item.body] = typing.get_type_hints(item.body)["return"]
    plain = {type(None), bool, int, float}
    assert len(found) > 50
    for body, back in found.items():
        named = typing.get_type_hints(back).values() if hasattr(back, "_fields") else (back,)
        parts = typing.get_args(back) or named
        pointers = {part for part in parts if part is Numbers or issubclass(part, Structure)}
        assert set(parts) <= plain | pointers, f"{body.__qualname__} returns {back}"
