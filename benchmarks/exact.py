"""The exact engine against the time that numpy takes to draw as many normals.

Both sides run in one process, interleaved; the medians of 15 repetitions are compared. The work of a run is
counted as pulls x D normals, drawn by `numpy.random.Generator.standard_normal` in blocks of 10^6.
Also prints how long `import bestgroup` and `bestgroup --help` take in a fresh process.

    python benchmarks/exact.py [--repeats 15]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import numpy as np

import bestgroup as bg

BLOCK = 1_000_000


def seconds_of_normals(rng: np.random.Generator, count: int) -> float:
    start = time.process_time()
    left = count
    while left > 0:
        rng.standard_normal(min(left, BLOCK))
        left -= BLOCK
    return time.process_time() - start


def compare(instance: bg.Instance, goal: object, name: str, repeats: int) -> None:
    rng = np.random.default_rng(0)
    ours, theirs, ratios = [], [], []
    bg.simulate(instance, goal, name, runs=1, seed=99, engine="exact")
    for seed in range(repeats):
        start = time.process_time()
        sim = bg.simulate(instance, goal, name, runs=1, seed=seed, engine="exact")
        ours.append(time.process_time() - start)
        count = int(sim.pulls[0]) * instance.shape.dims
        theirs.append(seconds_of_normals(rng, count))
        ratios.append(ours[-1] / theirs[-1])
    print(
        f"  {name:5} {np.median(ours) * 1e3:9.1f} ms   numpy normals {np.median(theirs) * 1e3:9.1f} ms"
        f"   ratio {np.median(ratios):5.2f}   ({count:,} normals in the last run)"
    )


def cold(arguments: list[str], label: str, repeats: int = 7) -> None:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    print(f"  {label:24} {np.median(times) * 1e3:6.0f} ms (median of {repeats}, whole process)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    for groups, arms, pareto in ((5, 5, 2), (10, 6, 3)):
        instance = bg.Instance.random(groups, arms, 3, pareto, min_gap=0.03, seed=1)
        print(f"N={groups}, K={arms}, D=3, epsilon=delta=0.01")
        for name in ("ge", "age", "te"):
            compare(instance, bg.ParetoGroups(0.01), name, repeats)
        compare(instance, bg.BestGroup([1, 1, 1]), "eecb", repeats)
    print("start-up")
    cold(["-c", "pass"], "python alone")
    cold(["-c", "import bestgroup"], "import bestgroup")
    cold(["-m", "bestgroup", "--help"], "bestgroup --help")


if __name__ == "__main__":
    main()
