"""Two versions of the package against each other: the cases of the other benchmarks, in turn.

Each side runs in processes of its own, one after the other and then in the other order, on the same
seeds. Of every case the least CPU time of whole calls of `simulate` counts, which other work on the
machine disturbs least. `--cold` compares what the first call compiles, with an empty cache; `--only`
takes the cases whose names begin with one of some words ("exact te,exact eecb").

    git worktree add ../old COMMIT
    python benchmarks/against.py ../old/src src [--rounds 3] [--cold] [--only WORDS]
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

CASES = "jump te,jump age,jump ge,jump te-plus,jump eecb,exact te,exact age,exact ge,exact eecb"
ADAPTIVE = "exact adaptive,exact adaptive best"


def calls() -> dict[str, tuple[Any, Any, str, int, str]]:
    """Return instance, goal, algorithm, runs and engine of each case."""
    import bestgroup as bg

    first = bg.Instance.random(5, 5, 3, 2, min_gap=0.035, seed=3)
    second = bg.Instance.random(10, 6, 3, 3, min_gap=0.03, seed=1)
    easy = bg.Instance.random(5, 5, 3, 2, min_gap=0.1, seed=3)
    pareto, best = bg.ParetoGroups(0.01), bg.BestGroup((1.0, 2.0, 3.0))
    made: dict[str, tuple[Any, Any, str, int, str]] = {}
    for case in CASES.split(","):
        engine, name = case.split(" ")
        goal = best if name == "eecb" else pareto
        instances = [(first, 64), (second, 64)] if engine == "jump" else [(easy, 2)]
        for instance, runs in instances:
            label = f"{case} N={instance.shape.groups}"
            made[label] = (instance, goal, name, 8 if name == "eecb" else runs, engine)
    for weights in ((0.1, 0.1, 1.0), (1.0, 1.0, 1.0)):
        made[f"jump eecb {weights}"] = (first, bg.BestGroup(weights), "eecb", 8, "jump")
    for groups, runs in ((100, 6), (1000, 1)):
        sparse = bg.Instance.sparse(groups, 6, 3, 10, 0.06, seed=0)
        made[f"jump te N={groups}"] = (sparse, pareto, "te", runs, "jump")
    for case in ADAPTIVE.split(","):
        goal = best if case.endswith("best") else pareto
        made[case] = (first, goal, "adaptive", 6, "exact")
    return made


def measure(repeats: int, only: str) -> None:
    """Print the least CPU seconds of each case in this process; the first call compiles."""
    import bestgroup as bg

    for label, (instance, goal, name, runs, engine) in calls().items():
        if not label.startswith(tuple(only.split(","))):
            continue
        options: dict[str, Any] = {"engine": engine, "progress": False}
        start = time.process_time()
        bg.simulate(instance, goal, name, 0.01, 1, seed=99, **options)
        least = time.process_time() - start
        for k in range(repeats):
            start = time.process_time()
            bg.simulate(instance, goal, name, 0.01, runs, seed=1, **options)
            spent = time.process_time() - start
            least = spent if k == 0 else min(least, spent)
        print(f"{label}\t{least}", flush=True)


def times_of(source: str, repeats: int, only: str, cache: str | None) -> dict[str, float]:
    """Return the seconds of each case on one side."""
    env = {**os.environ, "PYTHONPATH": source, **({"BESTGROUP_CACHE": cache} if cache else {})}
    line = [sys.executable, __file__, "--measure", str(repeats), "--only", only]
    found = subprocess.run(line, env=env, capture_output=True, text=True, check=True).stdout
    return {case: float(value) for case, value in (row.split("\t") for row in found.splitlines())}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", nargs="*", help="the old src folder and the new one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure is not None:
        measure(args.measure, args.only)
        return
    sides = [os.path.abspath(source) for source in args.sources]
    least: list[dict[str, float]] = [{}, {}]
    for turn in range(args.rounds):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            with tempfile.TemporaryDirectory() as empty:
                cache, repeats = (empty, 0) if args.cold else (None, 3)
                for case, spent in times_of(sides[side], repeats, args.only, cache).items():
                    least[side][case] = min(spent, least[side].get(case, math.inf))
    found: dict[str, list[tuple[float, float]]] = {}
    for case, old in least[0].items():
        new = least[1][case]
        print(f"{case:28} {old * 1e3:10.2f} ms {new * 1e3:10.2f} ms {new / old:7.3f}")
        kind = "adaptive" if "adaptive" in case else case.split(" ")[0]
        found.setdefault(kind, []).append((old, new))
    for kind, times in found.items():
        # What cases share is compiled with the first of them: only sums can be compared.
        old, new = (sum(side) for side in zip(*times, strict=True))
        mean = math.exp(sum(math.log(b / a) for a, b in times) / len(times))
        said = f"sum {new / old:.3f}" if args.cold else f"geometric mean {mean:.3f}"
        print(f"{kind:28} {old:10.2f} s  {new:10.2f} s  {said}")


if __name__ == "__main__":
    main()
