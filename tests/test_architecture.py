"""Imports go one way, and the pure packages stay pure."""

import ast
from pathlib import Path

import bestgroup

ROOT = Path(bestgroup.__file__).parent
LAYERS = ["errors", "_version", "core", "algorithms", "simulation", "edge"]
# `Instance.random` is part of the public face and draws, so it reaches down by a late import.
EXCEPTIONS = {("problem/instance.py", "bestgroup.problem.random_instances.draw")}
IMPURE = {
    "time",
    "datetime",
    "random",
    "logging",
    "socket",
    "subprocess",
    "sqlite3",
    "pathlib",
    "os",
}
# The compiler's cache is on disk; nothing of it reaches an algorithm.
IO_ALLOWED = {"compile/kernel.py", "compile/cache.py"}


def layer(path):
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return LAYERS.index(first) if first in LAYERS else LAYERS.index("edge")


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path.name != "__init__.py")


def test_imports_go_one_way():
    wrong = []
    for path in modules():
        name = path.relative_to(ROOT).as_posix()
        for target in imports(path):
            if not target.startswith("bestgroup.") or (name, target) in EXCEPTIONS:
                continue
            part = target.split(".")[1]
            rank = LAYERS.index(part) if part in LAYERS else LAYERS.index("edge")
            if rank > layer(path):
                wrong.append(f"{name} imports {target}")
    assert not wrong


def test_core_and_algorithms_do_no_io_and_read_no_clock():
    wrong = []
    for path in modules():
        name = path.relative_to(ROOT).as_posix()
        if name.split("/")[0] not in ("core", "algorithms") or name in IO_ALLOWED:
            continue
        wrong += [f"{name} imports {t}" for t in imports(path) if t.split(".")[0] in IMPURE]
        tree = ast.parse(path.read_text())
        calls = {
            n.func.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        wrong += [f"{name} calls {c}" for c in calls & {"print", "open", "input"}]
        wrong += [
            f"{name} draws"
            for n in ast.walk(tree)
            if isinstance(n, ast.Attribute) and n.attr == "default_rng"
        ]
    assert not wrong


def test_no_module_without_a_name_of_its_own():
    assert not {p.stem for p in modules()} & {"utils", "helpers", "common", "misc"}
