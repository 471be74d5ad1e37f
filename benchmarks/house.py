"""How well the house is kept: counts of what a newcomer would stumble over, by the syntax tree.

    python benchmarks/house.py

Speed has its own scripts (`exact.py`, `jump.py`, `adaptive_speed.py`); that draws and answers stay
what they were is `tests/drivers/test_golden.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

import bestgroup as bg
from bestgroup.algorithms.registry import names
from bestgroup.algorithms.triple_elimination import TripleElimination
from bestgroup.problem.goals import KINDS
from bestgroup.testing import check_algorithm

ROOT = Path(bg.__file__).parent
GOALS = {goal.__name__ for goal in KINDS.values()}


def trees(under: str = "") -> Iterator[tuple[str, ast.Module]]:
    """Yield the name and the syntax tree of every module of the package."""
    for path in sorted((ROOT / under).rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())


def lines(under: str = "") -> int:
    """Return the lines of all modules."""
    return sum(len(path.read_text().splitlines()) for path in (ROOT / under).rglob("*.py"))


def names_in(tree: ast.AST) -> set[str]:
    """Return all identifiers and short strings of a tree."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.alias):
            found.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def algorithm_classes() -> set[str]:
    """Return the names of all classes of algorithms."""
    bases = {"Algorithm"}
    found: set[str] = set()
    while bases:
        fresh = {
            node.name
            for _, tree in trees("algorithms")
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            and bases & {base.id for base in node.bases if isinstance(base, ast.Name)}
        }
        bases = fresh - found
        found |= fresh
    return found


def recognitions() -> list[str]:
    """Return the places outside algorithms/ that ask which algorithm they have."""
    classes, known = algorithm_classes(), set(names())
    found = []
    for name, tree in trees():
        if name.startswith(("algorithms/", "testing")):
            continue
        for node in ast.walk(tree):
            if is_class_test(node, classes) or is_name_test(node, known) or is_module_test(node):
                found.append(f"{name}:{getattr(node, 'lineno', 0)}")
    return found


def is_class_test(node: ast.AST, classes: set[str]) -> bool:
    """Return whether a node is isinstance(..., <a class of algorithms>)."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    return node.func.id in ("isinstance", "issubclass") and bool(names_in(node.args[1]) & classes)


def is_name_test(node: ast.AST, known: set[str]) -> bool:
    """Return whether a node compares something's name with that of an algorithm."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    literal = any(isinstance(side, ast.Constant) and side.value in known for side in sides)
    asked = {"name", "algorithm"} & {
        side.attr if isinstance(side, ast.Attribute) else getattr(side, "id", "") for side in sides
    }
    return literal and bool(asked)


def is_module_test(node: ast.AST) -> bool:
    """Return whether a node asks for the module that something comes from."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
    return node.func.attr == "startswith" and any("bestgroup" in str(text) for text in texts)


def goal_branches() -> list[str]:
    """Return the modules that ask which goal they have, apart from those of the goals."""
    return [
        name
        for name, tree in trees()
        if not name.startswith("problem/goals/") and any(map(is_goal_test, ast.walk(tree)))
    ]


def is_goal_test(node: ast.AST) -> bool:
    """Return whether a node asks for the class or the kind of a goal, or is a table by classes."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        kinds = any(isinstance(side, ast.Constant) and side.value in KINDS for side in sides)
        return (kinds and "goal" in ast.unparse(node)) or any(
            isinstance(side, ast.Name) and side.id in GOALS for side in sides
        )
    keys = node.keys if isinstance(node, ast.Dict) else []
    classes = node.cls if isinstance(node, ast.MatchClass) else None
    named = {key.id for key in [*keys, classes] if isinstance(key, ast.Name)}
    return bool(named & GOALS) or is_class_test(node, GOALS)


def files_that_name(*words: str) -> list[str]:
    """Return the modules in which one of the words occurs as a name or a text."""
    return [name for name, tree in trees() if names_in(tree) & set(words)]


def raw_index_expressions() -> int:
    """Return subscripts of flat memory in the jump engine, outside the module that lays it out."""
    return sum(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("Z", "F")
        for name, tree in trees("drivers/jump")
        if not name.endswith("memory.py")
        for node in ast.walk(tree)
    )


def private_numba_names() -> tuple[set[str], set[str]]:
    """Return the names with a leading underscore that belong to numba, and the files with them."""
    wanted = {
        "_cache", "_nrt", "_finalized", "_getvalue", "_numba_type_", "_linking_libraries",
        "_CacheLocator", "_impl_class", "_index_key", "_cache_file", "_index_path", "_locator",
        "_filename_base", "_lineno", "_py_file", "_raise_if_finalized", "_finalize_dynamic_globals",
        "_defn", "_engine", "_codegen", "_compiled_object", "_library", "_get_module_for_linking",
    }  # fmt: skip
    hits = {name: names_in(tree) & wanted for name, tree in trees("compile")}
    return set().union(*hits.values()), {name for name, found in hits.items() if found}


@dataclass(frozen=True)
class EveryArmTwice(TripleElimination):
    """A subclass that overrides only `plan`."""

    name: ClassVar[str] = "every-arm-twice"

    def plan(self, state, tally, rule):  # type: ignore[no-untyped-def]
        """Return two pulls of every arm of TE's plan."""
        return 2 * super().plan(state, tally, rule)


def override_agrees() -> str:
    """Return whether plain and compiled runs of that subclass are the same."""
    check_algorithm(EveryArmTwice(), cases=3)
    tape = np.random.default_rng(0).normal(size=(2000, 3, 2, 2)) + np.arange(3)[:, None, None]
    runs = [
        bg.replay(tape, bg.ParetoGroups(0.5), EveryArmTwice(), 0.1, compiled=compiled).pulls
        for compiled in (False, True)
    ]
    return "agrees" if runs[0] == runs[1] else f"differs: {runs[0]} and {runs[1]} pulls"


def table() -> list[tuple[str, str, str]]:
    """Return (check, now, goal)."""
    places = recognitions()
    added = files_that_name("successive_elimination", "SuccessiveElimination")
    size = len((ROOT / "algorithms/successive_elimination.py").read_text().splitlines())
    noise = files_that_name("Bounded", "BOUNDED", "bounded")
    jump = len(list((ROOT / "drivers/jump").rglob("*.py")))
    private, where = private_numba_names()
    loose = len(list(ROOT.glob("*.py")))
    return [
        ("recognitions of an algorithm outside algorithms/", str(len(places)), "0"),
        ("  where", ", ".join(places) or "nowhere", ""),
        ("an added lockstep algorithm (se): files / lines", f"{len(added)} / {size}", "2 / 250"),
        ("a noise model (bounded): files that name it", str(len(noise)), "3"),
        ("files with goal branches", str(len(goal_branches())), "10"),
        ("  where", ", ".join(goal_branches()), ""),
        ("a subclass that overrides only plan", override_agrees(), "agrees"),
        ("modules directly under the package", str(loose), "5"),
        ("jump: lines / files", f"{lines('drivers/jump'):,} / {jump}", "3,000 / 14"),
        ("jump: index expressions into raw memory", str(raw_index_expressions()), "0"),
        ("lines of src", f"{lines():,}", "30,000 before new features"),
        ("private numba names / files", f"{len(private)} / {len(where)}", "6 / 1"),
    ]


if __name__ == "__main__":
    for check, now, goal in table():
        print(f"{check:52} {now:>28}   {goal}")
