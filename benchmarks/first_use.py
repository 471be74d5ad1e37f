"""What the first use of a rule costs: a replay, then a simulation, from an empty cache.

Each case in a process of its own; seconds of the processor, of which nearly all is compilation. Studies
run what a replay compiles.

    python benchmarks/first_use.py [SOURCES ...]

`SOURCES` are folders of the package to compare, such as the `src` of another work tree; by default
the one that is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

CASES = [(goal, noise) for noise in ("known", "bounded") for goal in ("pareto", "best")]


def measure(goal: str, noise: str) -> None:
    """Print the seconds of a replay and of a simulation after it."""
    import time

    import numpy as np

    import bestgroup as bg

    model = bg.SubGaussian(1.0) if noise == "known" else bg.Bounded(0, 1)
    wanted = bg.ParetoGroups(0.1) if goal == "pareto" else bg.BestGroup([1.0, 1.0], 0.1)
    rng = np.random.default_rng(0)
    tape = rng.random((4000, 3, 2, 2)) * 0.5 + np.linspace(0, 1, 3)[:, None, None] * 0.5
    means = [[[0.3, 0.5], [0.5, 0.6]], [[0.7, 0.6], [0.8, 0.7]], [[0.85, 0.6], [0.7, 0.2]]]
    begun = time.process_time()
    bg.replay(tape, wanted, "adaptive", 0.1, noise=model, compiled=True)
    between = time.process_time()
    instance = bg.Instance(means, noise=model)
    bg.simulate(instance, wanted, "adaptive", 0.1, 2, workers=1)
    print(f"{between - begun:.1f} {time.process_time() - between:.1f}")


def main() -> None:
    if sys.argv[1:2] == ["--case"]:
        measure(*sys.argv[2:4])
        return
    sources = sys.argv[1:] or [""]
    for goal, noise in CASES:
        row = [f"{goal:6} {noise:7}"]
        for source in sources:
            with tempfile.TemporaryDirectory() as folder:
                env = {**os.environ, "BESTGROUP_CACHE": folder}
                if source:
                    env["PYTHONPATH"] = os.path.abspath(source)
                command = [sys.executable, __file__, "--case", goal, noise]
                found = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
            first, second = map(float, found.stdout.split())
            row.append(f"replay {first:.1f} s, then simulate {second:.1f} s")
        print("; ".join(row), flush=True)


if __name__ == "__main__":
    main()
