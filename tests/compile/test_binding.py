"""Hooks: one loop, bound to the kernels of different algorithms."""

import pickle
import sys

import numpy as np
import pytest

from bestgroup.compile.binding import bind, hook, left_out
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel


@hook
def weight(x):
    """Return the weight of a number."""


@kernel
def add_weights(values):
    total = 0.0
    for x in values:
        total += weight(x)
    return total


@kernel
def twice(values):
    return 2.0 * add_weights(values)


@kernel
def square(x):
    return x * x


@kernel
def cube(x):
    return x * x * x


VALUES = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(("given", "expected"), [(square, 28.0), (cube, 72.0)])
def test_a_hook_is_replaced_however_deep(given, expected):
    loop = bind(twice, {weight: given})
    assert loop(VALUES) == loop.compiled(VALUES) == expected


@hook
def base(x):
    """Return what is weighed of a number."""


@kernel
def square_of_base(x):
    return base(x) * base(x)


@kernel
def half(x):
    return x / 2.0


def test_what_is_bound_may_call_hooks_too():
    loop = bind(twice, {weight: square_of_base, base: half})
    assert loop(VALUES) == loop.compiled(VALUES) == 7.0


this = sys.modules[__name__]


@kernel
def by_module(values):
    return this.twice(values) + this.half(1.0)


def test_a_kernel_may_be_called_as_an_attribute_of_its_module():
    loop = bind(by_module, {weight: square})
    assert loop(VALUES) == loop.compiled(VALUES) == 28.5
    assert by_module.body.__globals__["this"] is this and this.twice is twice


def test_an_unbound_hook_refuses_to_run():
    with pytest.raises(TypeError, match="weight is a hook"):
        twice(VALUES)


def test_the_same_hooks_give_the_same_kernel_and_others_another_name():
    one, other = bind(twice, {weight: square}), bind(twice, {weight: cube})
    assert bind(twice, {weight: square}) is one
    assert one.body.__qualname__ != other.body.__qualname__
    assert one.digest != other.digest


def test_a_kernel_without_hooks_stays_what_it_is():
    assert bind(square, {weight: cube}) is square


def test_a_bound_kernel_travels_to_another_process():
    loop = bind(twice, {weight: square})
    assert pickle.loads(pickle.dumps(loop)) is loop


@kernel
def is_asked(x):
    return x > 0.0


@borrowing
def is_never(x):
    return False


@borrowing
def steep(x):
    return max(x, 2.0 * x)


@borrowing
def seldom(x):
    return steep(x) + 1.0


@borrowing
def always(x):
    return steep(x) - 1.0


@kernel
def climb(x):
    if is_asked(x):
        return seldom(x)
    return always(x)


def test_what_a_bound_kernel_cuts_off_is_not_missed_elsewhere():
    # `seldom` is never called then, and brings `steep`, which `always` needs.
    loop = bind(climb_twice, {is_asked: is_never})
    assert loop(3.0) == loop.compiled(3.0) == 10.0


@kernel
def climb_twice(x):
    return climb(x) + climb(x)


@pytest.mark.parametrize("result", [0.0, 0, False, -1.5])
def test_what_is_left_out_does_nothing(result):
    loop = bind(twice, dict([left_out(weight, result)]))
    assert loop(VALUES) == loop.compiled(VALUES) == 6.0 * result
    assert pickle.loads(pickle.dumps(loop)) is loop


def test_what_is_left_out_goes_by_kernel_and_result():
    (hooked, no), (_, zero) = left_out(weight, False), left_out(weight, 0)
    assert hooked is weight and no is not zero and no.digest != zero.digest
    assert left_out(weight, False)[1] is no
    assert left_out(square)[1](2.0) is left_out(square)[1].compiled(2.0) is None
    assert isinstance(left_out(steep)[1], type(steep))
