"""Imports go one way, packages of one rank keep apart, and the pure packages stay pure."""

import ast
from pathlib import Path

import pytest

import bestgroup

ROOT = Path(bestgroup.__file__).parent
# From the ground up; what stands in one line may not import its neighbours, but for the second
# line, whose packages are one subject: what is asked, what is known, what data prove, and the
# figures of all that, which take what they draw as it is given.
LAYERS = [
    ["errors", "_version"],
    ["compile", "problem", "theory", "inference", "plots"],
    ["algorithms"],
    ["drivers"],
    ["simulation"],
    ["files", "studies/storage"],
    ["proof"],
    ["analysis"],
    ["studies", "experiments"],
    ["service", "integrations"],
    ["cli", "testing"],
    ["__main__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ONE_SUBJECT = 1
PURE = ("problem", "theory", "inference", "algorithms", "drivers/session.py", "drivers/stack.py")
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
# `Instance.random` is part of the public face: it is given a seed and draws.
DRAWS = {"problem/random_instances/draw.py", "problem/random_instances/search.py"}
# Commands are read by people who wait: a command loads what it needs when it is run.
LATE = {"cli", "testing"}


def home(module: str) -> str:
    """Return the ranked package (or module) that a dotted name or a path belongs to."""
    parts = module.removesuffix(".py").replace("/", ".").split(".")
    return "studies/storage" if parts[:2] == ["studies", "storage"] else parts[0]


def imports(path):
    """Yield (module of ours, whether inside a function) for every import that is executed."""
    tree = ast.parse(path.read_text())
    for test in [n for n in ast.walk(tree) if isinstance(n, ast.If)]:
        if isinstance(test.test, ast.Name) and test.test.id == "TYPE_CHECKING":
            test.body = []
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in late) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", id(node) in late


def ours():
    for path in modules():
        name = path.relative_to(ROOT).as_posix()
        for target, late in imports(path):
            if target.startswith("bestgroup."):
                yield name, target.removeprefix("bestgroup."), late


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in RANK)


def test_every_module_is_ranked():
    loose = {path.name for path in ROOT.glob("*.py")}
    assert loose == {"__init__.py", "__main__.py", "_version.py", "errors.py", "testing.py"}
    assert {home(path.relative_to(ROOT).as_posix()) for path in modules()} == set(RANK)


def test_imports_go_one_way():
    wrong = []
    for name, target, _ in ours():
        here, there = home(name), home(target)
        if here == "cli" and there not in RANK:
            continue  # a public name of the package
        beside = RANK[there] == RANK[here] != ONE_SUBJECT and there != here
        if RANK[there] > RANK[here] or beside:
            wrong.append(f"{name} imports {target}")
    assert not wrong


def test_only_commands_import_other_packages_late():
    wrong = [
        f"{name} imports {target} inside a function"
        for name, target, late in ours()
        if late and home(name) not in LATE and home(target) != home(name)
    ]
    assert not wrong


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pure_packages_do_no_io_and_read_no_clock(path):
    name = path.relative_to(ROOT).as_posix()
    if not name.startswith(PURE):
        return
    wrong = [f"imports {t}" for t, _ in imports(path) if t.split(".")[0] in IMPURE]
    tree = ast.parse(path.read_text())
    calls = {
        n.func.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    wrong += [f"calls {c}" for c in calls & {"print", "open", "input"}]
    if name not in DRAWS:
        wrong += [
            "creates a generator"
            for n in ast.walk(tree)
            if isinstance(n, ast.Attribute) and n.attr == "default_rng"
        ]
    assert not wrong


def test_no_module_without_a_name_of_its_own():
    assert not {p.stem for p in modules()} & {"utils", "helpers", "common", "misc"}


def test_the_map_in_contributing_is_true():
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    drawn = text.split("## The house")[1].split("```")[1].strip("\n").splitlines()
    names = [line[:45].split() for line in drawn if line[0] != " "]
    ranked = [[name for name in layer if not name.startswith("_")] for layer in LAYERS]
    assert [set(line) for line in names] == [set(layer) for layer in ranked if layer]
