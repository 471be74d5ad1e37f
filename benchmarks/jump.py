"""The jump engine against the exact one, and against the time of standard normals.

CPU time, both engines interleaved in one process, medians, instances fixed by seed. A time is also
given as the number of standard normals that `numpy.random.Generator.standard_normal` draws in it,
in blocks of 10^5 measured next to the run. "Shrunk" instances are the first one with all means
multiplied by a factor, so that every gap shrinks alike; epsilon is a third of the least gap.

    python benchmarks/jump.py [--repeats 5] [--plot benchmarks/jump.png] [--quick]
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import dataclass

import numpy as np

import bestgroup as bg

WEIGHTS = [(0.1, 0.1, 1), (1, 1, 0.1), (0.1, 1, 1), (1, 1, 1), (1, 2, 3)]
GAPS = [0.09, 0.03, 0.009, 0.003, 0.0009, 0.0003]
SIZES = [10, 100, 1000, 10_000]


@dataclass(frozen=True)
class Cost:
    """Medians: seconds and normals of a jump run, seconds of an exact one (or nan)."""

    jump: float
    normals: float
    exact: float
    distance: float


def seconds_of(instance: bg.Instance, goal: object, name: str, engine: str, runs: int, seed: int):
    start = time.process_time()
    sim = bg.simulate(instance, goal, name, runs=runs, seed=seed, engine=engine, progress=False)
    return (time.process_time() - start) / runs, float(sim.distance.max())


def normal_seconds(rng: np.random.Generator, blocks: int = 5) -> float:
    start = time.process_time()
    for _ in range(blocks):
        rng.standard_normal(100_000)
    return (time.process_time() - start) / (blocks * 100_000)


def measure(
    instance: bg.Instance, goal: object, name: str, repeats: int, runs: int = 64, exact: bool = True
) -> Cost:
    rng = np.random.default_rng(0)
    seconds_of(instance, goal, name, "jump", 1, 99)
    rows = []
    for seed in range(repeats):
        slow = seconds_of(instance, goal, name, "exact", 1, seed)[0] if exact else np.nan
        before = normal_seconds(rng)
        quick, distance = seconds_of(instance, goal, name, "jump", runs, seed)
        normal = (before + normal_seconds(rng)) / 2
        rows.append((quick, quick / normal, slow, distance))
    jump, normals, slow, _ = np.median(rows, axis=0)
    return Cost(jump, normals, slow, max(row[3] for row in rows))


def show(label: str, cost: Cost) -> None:
    ratio = "" if np.isnan(cost.exact) else f"{cost.exact / cost.jump:8.0f}x"
    exact = "" if np.isnan(cost.exact) else f"{cost.exact * 1e3:9.1f} ms"
    print(
        f"  {label:34} jump {cost.jump * 1e3:9.2f} ms  {cost.normals:10.2e} normals"
        f"  exact {exact:>12} {ratio:>9}  distance {cost.distance:.0e}",
        flush=True,
    )


def shrunk(base: bg.Instance, least: float, gap: float) -> tuple[bg.Instance, bg.ParetoGroups]:
    means = [rows * (gap / least) for rows in base.means]
    return bg.Instance(means), bg.ParetoGroups(gap / 3)


def plot(path: str, by_gap: list[Cost], by_size: list[Cost]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    left.loglog(GAPS, [c.jump * 1e3 for c in by_gap], "o-", label="jump")
    known = [(g, c.exact * 1e3) for g, c in zip(GAPS, by_gap, strict=True) if c.exact == c.exact]
    if known:
        left.loglog(*zip(*known, strict=True), "s--", label="exact")
    left.invert_xaxis()
    left.set(xlabel="least gap (N = K = 5, D = 3)", ylabel="CPU time of a TE run in ms")
    left.legend(frameon=False)
    sizes = SIZES[: len(by_size)]
    right.loglog(sizes, [c.jump for c in by_size], "o-", label="jump")
    square = [by_size[0].jump * (n / sizes[0]) ** 2 for n in sizes]
    right.loglog(sizes, square, ":", color="grey", label="slope of $N^2$")
    right.set(xlabel="groups N (K = 6, D = 3, gap .06)", ylabel="CPU time of a TE run in s")
    right.legend(frameon=False)
    for axis in (left, right):
        axis.grid(alpha=0.3, which="major")
    figure.savefig(path, dpi=150)
    print(f"  plot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--plot", default=None)
    parser.add_argument(
        "--quick", action="store_true", help="no exact runs below gap .01, N <= 1000"
    )
    args = parser.parse_args()
    first = bg.Instance.random(5, 5, 3, 2, min_gap=0.035, seed=3)
    second = bg.Instance.random(10, 6, 3, 3, min_gap=0.03, seed=1)
    goal = bg.ParetoGroups(0.01)
    least = float(bg.gaps(first, goal).group.min())
    print(f"TE, AGE, GE, TE+; least gaps {least:.3f} and {bg.gaps(second, goal).group.min():.3f}")
    for label, instance in (("N=K=5 D=3", first), ("N=10 K=6 D=3", second)):
        for name in ("te", "age", "ge", "te-plus"):
            show(f"{name} {label}", measure(instance, goal, name, args.repeats))
    print("EECB, the paper's weights")
    costs = []
    for seed in (3, 4, 5):
        instance = bg.Instance.random(5, 5, 3, 2, min_gap=0.035, seed=seed)
        for weights in WEIGHTS:
            question = bg.BestGroup(weights)
            exact = seed == 3 and not args.quick
            cost = measure(instance, question, "eecb", args.repeats, 4, exact)
            show(f"eecb seed {seed} w={weights}", cost)
            costs.append(cost.normals)
    print(f"  geometric mean: {np.exp(np.mean(np.log(costs))):.2e} normals")
    print("TE against the gap, shrunk instances")
    by_gap = []
    for gap in GAPS:
        exact = gap > 0.02 or (gap > 0.008 and not args.quick)
        cost = measure(*shrunk(first, least, gap), "te", min(3, args.repeats), exact=exact)
        show(f"te gap {gap}", cost)
        by_gap.append(cost)
    print("TE against N, sparse instances (10 Pareto-optimal groups, gap .06)")
    by_size = []
    for size in SIZES[:3] if args.quick else SIZES:
        instance = bg.Instance.sparse(size, 6, 3, 10, 0.06, seed=0)
        runs = max(1, 1000 // size)
        by_size.append(measure(instance, goal, "te", 1, runs, exact=False))
        show(f"te N={size}", by_size[-1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  largest memory of the process: {peak:.2f} GiB")
    if args.plot:
        plot(args.plot, by_gap, by_size)


if __name__ == "__main__":
    main()
