"""The cache of compiled code tells apart what differs."""

import gc
import os
import subprocess
import sys

import pytest

from bestgroup.compile.collecting import few_collections
from bestgroup.compile.internals import PackageCache
from bestgroup.compile.kernel import kernel

SCRIPT = """
import sys
from typing import NamedTuple
import numpy as np
from bestgroup.compile.kernel import kernel
if sys.argv[1] == "xy":
    class Pair(NamedTuple):
        x: np.ndarray
        y: np.ndarray
else:
    class Pair(NamedTuple):
        y: np.ndarray
        x: np.ndarray
class Outer(NamedTuple):
    inner: Pair
@kernel
def first(outer: Outer) -> float:
    return outer.inner.x[0]
print(first.compiled(Outer(Pair(x=np.array([1.0]), y=np.array([2.0])))))
"""


def test_named_tuples_with_their_fields_in_another_order_are_other_types(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    env = {**os.environ, "BESTGROUP_CACHE": str(tmp_path / "cache")}
    for order in ("xy", "yx", "xy"):
        done = subprocess.run(
            [sys.executable, str(path), order], capture_output=True, text=True, env=env, check=True
        )
        assert done.stdout.strip() == "1.0"


TWO_AT_ONCE = """
import time
from bestgroup.compile.kernel import kernel
@kernel
def inner(x: float) -> float:
    total = 0.0
    for k in range(10):
        total += x ** k if k % 2 else x / (k + 1)
    return total
@kernel
def outer(x: float) -> float:
    return inner(x) + inner(x + 1.0)
outer.dispatcher  # numba is imported
print("ready", flush=True)
input()
assert outer.compiled(2.0) == outer(2.0)
print(sum(outer.dispatcher.stats.cache_misses.values()), flush=True)
"""


def test_processes_that_need_the_same_kernels_compile_them_once(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "script.py"
    path.write_text(TWO_AT_ONCE)
    env = {**os.environ, "BESTGROUP_CACHE": str(tmp_path / "cache")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, str(path)], env=env, **pipes) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    misses = sorted(int(process.communicate(timeout=120)[0]) for process in processes)
    assert misses == [0, 0, 1]


def test_a_compilation_that_fails_keeps_nobody_waiting(tmp_path, monkeypatch):
    from numba.core.errors import NumbaError

    from bestgroup.compile.kernel import kernel

    monkeypatch.setenv("BESTGROUP_CACHE", str(tmp_path))

    @kernel
    def bad(x: float) -> float:
        return x.nothing  # type: ignore[attr-defined]

    for _ in range(2):
        with pytest.raises(NumbaError):
            bad.compiled(1.0)


def test_what_a_kernel_is_compiled_with_counts_in_the_digest():
    from bestgroup.compile.borrowing import borrowing
    from bestgroup.compile.kernel import kernel
    from bestgroup.compile.records import Primitive, bare

    digests = []
    for decorate in (kernel, borrowing, bare, kernel):
        names = {"__name__": "outer"}
        exec("def inner(x): return 1.0 / x\ndef body(x): return inner(x)", names)
        names["inner"] = decorate(names["inner"])
        digests.append(kernel(names["body"]).digest)
    assert digests[0] == digests[3] and len(set(digests)) == 3

    def build():
        return abs

    def build_else():
        return max

    assert Primitive(abs, build).digest != Primitive(abs, build_else).digest


def test_what_makes_code_of_kernels_counts_in_the_digest(monkeypatch):
    """Code on disk that another way of compiling made of the same bodies is not run."""
    from bestgroup.compile import kernel as made

    def body(x):
        return 2.0 * x

    digests = [made.kernel(body).digest]
    monkeypatch.setattr(made, "_maker", lambda: "another way")
    digests.append(made.kernel(body).digest)
    monkeypatch.undo()
    digests.append(made.kernel(body).digest)
    assert digests[0] == digests[2] != digests[1]


def test_a_kernel_taken_from_a_module_counts_in_the_digest():
    import types

    from bestgroup.compile.kernel import kernel

    digests = []
    for text in ("2.0 * x", "x + x", "2.0 * x"):
        inner = types.ModuleType("bestgroup.inner")
        exec(f"def twice(x): return {text}", vars(inner))
        inner.twice = kernel(inner.twice)
        names = {"inner": inner, "__name__": "outer"}
        exec("def body(x): return inner.twice(x)", names)
        digests.append(kernel(names["body"]).digest)
    assert digests[0] == digests[2] != digests[1]


def test_the_garbage_collector_is_as_it_was_after_a_compilation(monkeypatch):
    """It looks rarely meanwhile, also where two threads compile, or one fails."""
    before = gc.get_threshold()
    with few_collections():
        with pytest.raises(ValueError), few_collections():
            assert gc.get_threshold()[0] > before[0]
            raise ValueError
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before
    seen = []
    monkeypatch.setattr(PackageCache, "load_overload", lambda *_: seen.append(gc.get_threshold()))
    monkeypatch.setattr(PackageCache, "save_overload", lambda *_: seen.append(gc.get_threshold()))
    assert kernel(lambda x: x / 2.0).compiled(3.0) == 1.5
    assert len(seen) == 2 and all(rare[0] > before[0] for rare in seen)
    assert gc.get_threshold() == before
