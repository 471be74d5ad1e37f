"""Numba's internals are in one file, and without them everything gives the same, more slowly."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bestgroup

SOURCE = Path(bestgroup.__file__).parent
# A study's worth of compiled code: hooks bound to kernels, records at addresses, a simulation.
RUNS = """
import json, sys, warnings
if "lame" in sys.argv:
    import numba.core.codegen
    del numba.core.codegen.JITCodeLibrary
import numpy as np
from bestgroup.compile.kernel import backend, kernel
from bestgroup.compile.records import Layout, array, bare, head_at, record
@record
class Head:
    rows: int
    columns: int
layout, head = Layout(Head), head_at(Head)
numbers, cell = layout.numbers(float, "rows", "columns"), layout.table(Head, 2, "rows", "columns")
@bare
def total_of(m):
    total = 0.0
    for i in range(m.rows):
        for j in range(m.columns):
            cell(m, 1, i, j).columns = 2 * j
            total += numbers(m, i)[j] + cell(m, 1, i, j).columns / 2
    return total
@kernel
def both(address):
    m = head(address)
    array(numbers(m, 1), 2)[1] = 3.5
    return total_of(m) + array(numbers(m, 1), 2).sum()
block, m = layout.make(rows=3, columns=2)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sum_of_both = both.compiled(block.ctypes.data)
if "lame" in sys.argv:
    names = [str(entry.message) for entry in caught]
    backend_name = backend().__name__.rpartition(".")[2]
    print(json.dumps({"backend": backend_name, "sum": sum_of_both, "warnings": names}))
    sys.exit()
import bestgroup as bg
instance = bg.Instance([[[0.0, 0.5], [1.0, 0.0]], [[2.0, 1.0]], [[0.5, 2.5]]])
sim = bg.simulate(instance, bg.ParetoGroups(0.3), "unis", 0.1, 3, engine="exact")
print(json.dumps({
    "backend": backend().__name__.rpartition(".")[2],
    "warnings": [str(entry.message) for entry in caught],
    "sum": sum_of_both,
    "counts": sim.counts.tolist(),
    "answers": [sorted(answer) for answer in sim.answers],
}))
"""


def run(*arguments, **variables):
    env = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", RUNS, *arguments],
        capture_output=True,
        text=True,
        env=env,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_plain_backend_gives_the_same_bits():
    quick, plain = run(), run(BESTGROUP_NUMBA="plain")
    assert (quick["backend"], plain["backend"]) == ("internals", "plain")
    assert quick["sum"] == plain["sum"] == 10.0
    assert quick["counts"] == plain["counts"] and quick["answers"] == plain["answers"]
    assert not plain["warnings"] and not quick["warnings"]


def test_missing_internals_are_noticed_and_done_without():
    lame = run("lame")
    assert lame["backend"] == "plain" and lame["sum"] == 10.0
    assert len(lame["warnings"]) == 1 and "compiled by public means" in lame["warnings"][0]


def private_names(path):
    """Return names with one leading underscore that the file takes from objects it did not make."""
    tree = ast.parse(path.read_text())
    own = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    own |= {
        n.attr
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self"
    } - {"_finalized"}
    used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    used |= {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    names = {name for name in used if isinstance(name, str) and name.isidentifier()}
    hidden = {name for name in names if name[0] == "_" and name.strip("_") and name[1] != "_"}
    return hidden - own - {"_replace", "_fields", "_fields_"}


def imports_numba(path):
    tree = ast.parse(path.read_text())
    modules = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    modules += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    return [name for name in modules if name.split(".")[0] == "numba"]


def test_only_one_file_knows_what_numba_hides():
    public = {"numba", "numba.extending", "numba.types"}
    users = {path: set(imports_numba(path)) for path in SOURCE.rglob("*.py")}
    assert {path.parent.name for path, names in users.items() if names} == {"compile"}
    hidden = {path.name for path, names in users.items() if names - public}
    hidden |= {path.name for path, names in users.items() if names and private_names(path)}
    assert hidden == {"internals.py"}
    assert len(private_names(SOURCE / "compile" / "internals.py")) <= 6


@pytest.mark.verify
def test_the_newest_numba_that_can_be_had_gives_the_same(tmp_path):
    """Installed beside ours, whatever our upper bound says; skipped where ours is the newest."""
    place = str(tmp_path / "newest")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-qq",
        "--upgrade",
        "--target",
        place,
        "numba",
    ]
    if subprocess.run(command, check=False, capture_output=True, timeout=600).returncode:
        pytest.skip("no package index can be reached")
    import numba

    path = os.pathsep.join([place, str(SOURCE.parent)])
    cache = str(tmp_path / "cache")
    ask = [sys.executable, "-c", "import numba; print(numba.__version__)"]
    env = {**os.environ, "PYTHONPATH": path}
    newest = subprocess.run(ask, capture_output=True, text=True, env=env, check=True).stdout.strip()
    if newest == numba.__version__:
        pytest.skip(f"numba {newest}, which all tests run on, is the newest")
    theirs, ours = run(PYTHONPATH=path, BESTGROUP_CACHE=cache), run()
    assert theirs["counts"] == ours["counts"] and theirs["answers"] == ours["answers"]
