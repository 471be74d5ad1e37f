"""What the core needs: not the command line's libraries, not the storage's, nothing slow."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names!r}:
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
"""
CORE = """
import bestgroup as bg

problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, bg.SubGaussian(0.2))
found = bg.solve(problem, bg.BestGroup([1]), lambda group, arm: float(arm == "a"))
assert found.answer.groups == ("A",)
rows = [{"group": g, "arm": "x", "score": s} for g, s in [("A", 0.9), ("B", 0.1)] * 50]
assert bg.certify(rows, bg.BestGroup([1]), noise=bg.Bounded(0, 1)).accepted == ("A",)
instance = bg.Instance([[[0.0]], [[2.0]]])
assert bg.simulate(instance, bg.BestGroup([1]), "eecb", 0.05, 2).errors == 0
"""


def python(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("names", [["sqlalchemy", "typer", "rich", "pydantic"], ["matplotlib"]])
def test_the_core_runs_without(names):
    found = python(BLOCKED.replace("{names!r}", repr(names)) + CORE)
    assert found.returncode == 0, found.stderr


def test_importing_the_package_imports_nothing_large():
    found = python("import sys, bestgroup; print(len(sys.modules), 'numpy' in sys.modules)")
    number, numpy = found.stdout.split()
    assert int(number) < 250 and numpy == "False"
