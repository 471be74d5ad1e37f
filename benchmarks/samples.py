"""How many pulls each algorithm needs, next to the limit: geometric means over fresh random instances.

Paper settings (delta = 0.01; epsilon = 0.01 for Pareto, 0 for best; unit Gaussian noise with
independent dims; least gap above 0.03), two sizes, both goals; ratios against the paper's algorithm
with bootstrap intervals over instances, and times the limit T* kl(delta, 1 - delta).

    python benchmarks/samples.py [--instances 12] [--runs 20] [--seed 1000]
        [--goal both] [--plot FILE] [--quick]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import bestgroup as bg

Case = tuple[bg.Instance, bg.ParetoGroups | bg.BestGroup]

DELTA = 0.01
WEIGHTS = [(0.1, 0.1, 1), (1, 1, 0.1), (0.1, 1, 1), (1, 1, 1), (1, 2, 3)]
SIZES = ((5, 5, 2), (10, 6, 3))
# The first is the reference of the ratios.
PARETO = ("te", "age", "ge", "unis", "te-plus", "adaptive")
BEST = ("eecb", "tel", "adaptive")
UNPROVEN = ("tel", "unis")


def interval(logs: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a geometric mean."""
    draws = rng.choice(logs, size=(4000, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(draws, [0.025, 0.975]))
    return float(low), float(high)


def measure(label: str, cases: list[Case], names: tuple[str, ...], runs: int) -> dict[str, float]:
    """Run the algorithms on all cases and print their table; returns mean pulls by algorithm."""
    pulls: dict[str, list[float]] = {name: [] for name in names}
    wrong = dict.fromkeys(names, 0)
    seconds = dict.fromkeys(names, 0.0)
    tail = dict.fromkeys(names, 0.0)
    limits: list[float] = []
    for number, (instance, goal) in enumerate(cases):
        limits.append(bg.characteristic_time(instance, goal).samples(DELTA))
        for name in names:
            start = time.process_time()
            sim = bg.simulate(instance, goal, name, DELTA, runs, seed=number)
            seconds[name] += time.process_time() - start
            pulls[name].append(float(sim.pulls.mean()))
            wrong[name] += sim.errors
            tail[name] = max(tail[name], sim.pulls.max() / sim.pulls.mean())
    rng = np.random.default_rng(0)
    print(f"{label}: {len(cases)} instances, {runs} runs each")
    base = np.log(pulls[names[0]])
    for name in names:
        logs = np.log(pulls[name])
        gain, times = base - logs, logs - np.log(limits)
        low, high = interval(gain, rng)
        print(
            f"  {name:9} {np.exp(logs.mean()):12,.0f} pulls   "
            f"{np.exp(gain.mean()):6.2f} x fewer than {names[0]} [{low:.2f}, {high:.2f}] "
            f"(least {np.exp(gain.min()):.2f}, most {np.exp(gain.max()):.2f})   "
            f"{np.exp(times.mean()):6.2f} x limit   errors {wrong[name]}   "
            f"largest max/mean {tail[name]:.2f}   {seconds[name]:.1f} s CPU"
        )
    print(f"  {'limit':9} {np.exp(np.log(limits).mean()):12,.0f} pulls", flush=True)
    means = {name: float(np.exp(np.log(pulls[name]).mean())) for name in names}
    return means | {"the limit": float(np.exp(np.log(limits).mean()))}


def pareto_cases(size: tuple[int, int, int], count: int, seed: int) -> list[Case]:
    groups, arms, pareto = size
    return [
        (bg.Instance.random(groups, arms, 3, pareto, 0.03, seed + k), bg.ParetoGroups(0.01))
        for k in range(count)
    ]


def best_cases(size: tuple[int, int, int], count: int, seed: int) -> list[Case]:
    groups, arms, pareto = size
    cases: list[Case] = []
    for k in range(count):
        instance = bg.Instance.random(
            groups, arms, 3, pareto, 0.03, seed + k, weights=WEIGHTS, linear_gap=0.03
        )
        cases.append((instance, bg.BestGroup(WEIGHTS[k % len(WEIGHTS)])))
    return cases


def _against(ratio: float) -> str:
    return f"{ratio:.2g} x fewer" if ratio >= 1.0 else f"{1.0 / ratio:.2g} x more"


def draw(rows: dict[str, dict[str, float]], path: str) -> None:
    """Write a plot of the mean pulls by setting."""
    from bestgroup.plots import pulls as plots

    panels = []
    for label, row in rows.items():
        means = {name: value for name, value in row.items() if name != "the limit"}
        first = next(iter(means))
        bars = [
            plots.Bar(
                name if name == first else f"{name}\n({_against(means[first] / value)})",
                value,
                0.0,
                name not in UNPROVEN,
            )
            for name, value in means.items()
        ]
        panels.append(plots.Panel(label, bars, row["the limit"]))
    figure = plots.pulls(panels, "Pulls until the answer")
    figure.axes[-1].set_xlabel("geometric mean over instances (log scale)", fontsize=12)
    figure.savefig(path)
    print(f"plot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--instances", type=int, default=12)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--goal", choices=["pareto", "best", "both"], default="both")
    parser.add_argument("--plot")
    parser.add_argument("--quick", action="store_true", help="the small size only, 3 runs")
    options = parser.parse_args()
    sizes = SIZES[:1] if options.quick else SIZES
    runs = 3 if options.quick else options.runs
    rows = {}
    for size in sizes:
        label = f"N={size[0]}, K={size[1]}, D=3"
        if options.goal != "best":
            cases = pareto_cases(size, options.instances, options.seed)
            rows[f"Pareto, {label}"] = measure(f"Pareto groups, {label}", cases, PARETO, runs)
        if options.goal != "pareto":
            cases = best_cases(size, options.instances, options.seed)
            rows[f"best, {label}"] = measure(f"best group, {label}", cases, BEST, runs)
    if options.plot:
        draw(rows, options.plot)


if __name__ == "__main__":
    main()
