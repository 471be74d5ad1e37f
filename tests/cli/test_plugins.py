"""Algorithms that a user brings to the command line: by module, and by entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = """
from dataclasses import dataclass
import numpy as np
import bestgroup as bg

@dataclass(frozen=True)
class Once(bg.Algorithm):
    name = "once"
    goals = (bg.ParetoGroups,)

    def init(self, rule):
        return {"answer": None}

    def plan(self, state, tally, rule):
        return rule.shape.exists.astype(int)

    def step(self, state, tally, rule):
        return {"answer": frozenset(range(rule.shape.groups))}

    def is_done(self, state, rule):
        return state["answer"] is not None

    def answer(self, state, rule):
        return state["answer"] or frozenset()
"""
PROBLEM = """
name = "p"
[goal]
kind = "pareto"
[dims]
x = "max"
[noise]
kind = "subgaussian"
scale = 1.0
[groups]
A = ["a"]
B = ["b"]
[means]
A = [[0.0]]
B = [[1.0]]
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bestgroup", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=_path(folder)
    )


def _path(folder: Path) -> dict[str, str]:
    kept = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{kept}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.toml").write_text(PROBLEM)
    (tmp_path / "plain_once.py").write_text(PLUGIN)
    (tmp_path / "once_here.py").write_text(PLUGIN + "\nbg.register(Once)\n")
    return tmp_path


SIMULATE = ("simulate", "p.toml", "--algorithm", "once", "--runs", "3", "--json")


def test_a_module_is_imported_before_the_command_runs(folder: Path) -> None:
    assert run(folder, *SIMULATE).returncode == 2
    done = run(folder, "--import", "once_here", *SIMULATE)
    assert done.returncode == 0, done.stderr


def test_a_module_that_cannot_be_imported_is_named(folder: Path) -> None:
    (folder / "broken.py").write_text("1 / 0")
    for name in ("nowhere", "broken"):
        done = run(folder, "--import", name, *SIMULATE)
        assert done.returncode == 2 and done.stderr.startswith(f"error: --import {name}")


def test_a_file_in_place_of_a_module_is_refused_with_what_to_give(folder: Path) -> None:
    for name in ("once_here.py", "./once_here.py"):
        done = run(folder, "--import", name, *SIMULATE)
        assert done.returncode == 2 and "give --import once_here" in done.stderr


def test_an_installed_package_brings_an_algorithm(folder: Path) -> None:
    meta = folder / "once-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: once\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text("[bestgroup.algorithms]\nonce = plain_once:Once\n")
    done = run(folder, *SIMULATE)
    assert done.returncode == 0, done.stderr
    (meta / "entry_points.txt").write_text("[bestgroup.algorithms]\nonce = plain_once:Twice\n")
    done = run(folder, *SIMULATE)
    assert done.returncode == 2 and "cannot be loaded" in done.stderr
