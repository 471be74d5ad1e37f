"""Compiled kernels for a live study, without anybody waiting for the compiler.

Plain Python steps a study from its first pull. Once that has taken a while, a process of its own
compiles what the study's algorithm needs (`python -m bestgroup.studies.warming`) and leaves it in the
cache on disk, from where a thread of this process loads it; then the study goes on with compiled
kernels. Both forms give the same bits, so only the clock can tell when that happens.
With hundreds of arms a plain step may take a second: then a process that tells again and again has
them compiled from the start, and a study that steps by turns (`Study.turns`, as a server's does)
waits for them, handing out nothing, rather than let anybody wait in a call.

What is compiled depends on the types of the arguments and on the rule's kernels. So process and thread
run the algorithm for a few plans on the study's problem cut down to its first groups and arms, as few
as have the same kernels.

Weak points: an algorithm that was registered in this process only is unknown to the other one, and a
cache that cannot be written keeps nothing; such studies go on in plain Python. `BESTGROUP_WARM=off`
in the environment turns all of it off.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from bestgroup.algorithms.protocol import Kernels
from bestgroup.compile.kernel import cache_folder
from bestgroup.drivers.bodies import digests
from bestgroup.drivers.session import LiveSession
from bestgroup.inference.confidence_sequences.boxes import take_values
from bestgroup.problem.items import Items
from bestgroup.problem.problem import Problem, value_ends
from bestgroup.problem.require import plain_require
from bestgroup.studies.spec import StudySpec

_MOST = 3  # groups, and arms of a group, of the problem that is run to compile, if they do
_ITEMS = 20
_PLANS = 3
_PATIENCE = 900.0  # seconds that a compilation may take

State = Literal["compiling", "ready", "failed"]
_states: dict[str, State] = {}
_lock = threading.Lock()
log = logging.getLogger("bestgroup")


def key_of(spec: StudySpec) -> str:
    """Return what names the kernels of a study; studies of other sizes share it."""
    return cut(spec).to_json()


def is_ready(key: str) -> bool:
    """Return whether the kernels of a key are loaded; the first call has them prepared."""
    if os.environ.get("BESTGROUP_WARM") == "off":
        return False
    with _lock:
        if key not in _states:
            _states[key] = "compiling"
            threading.Thread(target=_prepare, args=(key,), name="compiling", daemon=True).start()
        return _states[key] == "ready"


def is_coming(key: str) -> bool:
    """Return whether the kernels of a key are being compiled."""
    return _states.get(key) == "compiling"


def _prepare(key: str) -> None:
    """Compile in another process, then load what it left."""
    state: State = "failed"
    try:  # all of it: who waits for kernels must hear that they do not come
        spec = StudySpec.from_json(key)
        if not mark(spec).exists():
            _compile_elsewhere(key)
        if mark(spec).exists():
            warm(spec)
            state = "ready"
    except Exception as error:  # plain Python does as well, more slowly
        log.debug("nothing was compiled: %r", error)
    finally:
        _states[key] = state


def _compile_elsewhere(key: str) -> None:
    command = [sys.executable, "-m", "bestgroup.studies.warming"]
    done = subprocess.run(
        command, input=key.encode(), capture_output=True, timeout=_PATIENCE, check=False
    )
    if done.returncode != 0:
        log.debug("nothing was compiled: %s", done.stderr.decode(errors="replace")[-500:])


def mark(spec: StudySpec) -> Path:
    """Return the file that says that the kernels of a small study, as they are now, are on disk."""
    algorithm = spec.make_algorithm()
    code = digests(algorithm, algorithm.rule(spec.setting()))
    parts = (spec.to_json(), take_values.digest, *code)
    return cache_folder() / f"study-{hashlib.sha256(repr(parts).encode()).hexdigest()[:20]}"


def warm(spec: StudySpec) -> None:
    """Run the algorithm of a small study for a few plans with compiled kernels."""
    problem = spec.problem
    live = LiveSession(spec.setting(), spec.make_algorithm(), keep=False)
    live.compile()
    rng = np.random.default_rng(0)
    low, high = value_ends(problem)
    step = high - low if problem.shared is None else np.array(problem.shared.reach)
    for _ in range(_PLANS):
        for pulls, end in list(live.wanted()):
            ones = rng.integers(0, 2, (end - pulls.first, problem.shape.dims))
            live.feed(*pulls.start, low + step * ones)
        if not live.advance(1):
            return


def cut(spec: StudySpec) -> StudySpec:
    """Return the study on so few of its first groups and arms that it still runs the same kernels.

    Some are for many groups, or for costs that differ. Nothing is left that kernels do not see.
    """
    most, kernels = _MOST, _kernels(spec)
    while True:
        small = _first(spec, most)
        if most >= max(*spec.problem.shape.sizes, len(spec.problem.arms)):
            return small
        if _kernels(small) == kernels:
            return small
        most *= 2


def _kernels(spec: StudySpec) -> Kernels | None:
    algorithm = spec.make_algorithm()
    return algorithm.kernels_for(algorithm.rule(spec.setting()))


def _first(spec: StudySpec, most: int) -> StudySpec:
    """Return the study on its first groups and arms, and nothing that kernels do not see."""
    problem = spec.problem
    groups = {
        str(i): [str(j) for j in range(min(len(arms), most))]
        for i, arms in enumerate(problem.arms[:most])
    }
    costs = None
    if problem.costs is not None:
        costs = {
            name: dict(zip(arms, row, strict=False))
            for (name, arms), row in zip(groups.items(), problem.costs, strict=False)
        }
    items = problem.items
    if items is not None:
        pairs = None if items.clusters is None else tuple(str(k // 2) for k in range(_ITEMS))
        items = Items(None if items.count is None else _ITEMS, items.target, clusters=pairs)
    dims = {dim.name: dim for dim in problem.measured}
    # Kernels see no rank but as a number, and a small group may not have an arm of that rank.
    worth = problem.worth.kind if problem.worth.kind in ("best", "mean") else "worst"
    kept = {"require": plain_require(problem.limits), "worth": "best" if problem.limits else worth}
    small = Problem(groups, dims, problem.noise, costs, items, **kept)
    return replace(spec, name="", problem=small, horizon=0, seed=0, guarantee=None)


if __name__ == "__main__":
    asked = StudySpec.from_json(sys.stdin.read())
    warm(asked)
    mark(asked).touch()
