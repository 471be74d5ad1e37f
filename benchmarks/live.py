"""A live study in memory with many groups: observations a second, and how long calls take.

K = 3, D = 3, Pareto groups with epsilon 0.1, `adaptive`, means uniform, asked and told in batches of
8 (`ask(8)`, then one `tell_many`). Seconds are of the clock and, in brackets, of the processor: the
clock counts whatever else the machine does.

    python benchmarks/live.py [--groups 1000] [--noise known bounded] [--seconds 30] [--cold] [--turns]
                              [--scale 1]

By default compiled kernels step from the first plan on; run it twice, so that they are in the cache.
`--cold` begins with an empty cache in a folder of its own: another process compiles, and plain Python
steps meanwhile, in a process of one's own; with `--turns` the study steps by turns, as one of a server
does, so that `ask` may have nothing. `--scale .03` is a known scale at which the first pulls of all
arms end the warm-up. `--solve` measures
something else: what `solve` takes of the processor for a pull at batch 1 with 15 Bernoulli arms, its
certificate included, once its kernels are compiled.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

import numpy as np


def measure(groups: int, noise: str, scale: float, seconds: float, cold: bool, turns: bool) -> None:
    """Print how quickly observations are taken, and how long calls take."""
    import bestgroup as bg

    rng = np.random.default_rng(0)
    means = rng.random((groups, 3, 3))
    kind = bg.Bounded(0, 1) if noise == "bounded" else bg.SubGaussian(scale)
    arms = {f"group {i}": ["a", "b", "c"] for i in range(groups)}
    problem = bg.Problem(arms, dict.fromkeys("xyz", "max"), kind)
    place = {name: i for i, name in enumerate(arms)}
    study = bg.create_study(f"live {noise}", problem, bg.ParetoGroups(0.1), 0.05, "memory",
                            algorithm="adaptive", batch=8)  # fmt: skip
    if turns:
        study.turns = 1  # as a server has it: whoever asks may hear that there is nothing yet
    if not cold:
        study.compile()
    spent: list[tuple[float, float]] = []
    plain = 0  # calls before compiled kernels took over
    told, idle, begun = 0, 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        first = time.perf_counter(), time.process_time()
        tickets = study.ask(8)
        spent.append((time.perf_counter() - first[0], time.process_time() - first[1]))
        if not tickets:
            idle += 1
            time.sleep(0.01)
            continue
        rows = []
        for ticket in tickets:
            mean = means[place[ticket.group], "abc".index(ticket.arm)]
            if noise == "bounded":
                values = (rng.random((ticket.repeats, 3)) < mean).astype(float)
            else:
                values = mean + scale * rng.standard_normal((ticket.repeats, 3))
            rows.append((ticket, values if ticket.repeats > 1 else values[0]))
            told += ticket.repeats
        first = time.perf_counter(), time.process_time()
        study.tell_many(rows)
        spent.append((time.perf_counter() - first[0], time.process_time() - first[1]))
        plain = plain if study._runner._compiled else len(spent)
    report(noise, groups, told, idle, np.array(spent))
    if cold:
        longest = 1e3 * max(clock for clock, _ in spent[:plain])
        after = f"{len(spent) - plain:,} later ones" if study._runner._compiled else "none later"
        print(f"         the longest of {plain:,} calls until compiled kernels took over: "
              f"{longest:.0f} ms; {after}", flush=True)  # fmt: skip


def measure_solve() -> None:
    """Print what a pull of `solve` costs, by a study that is stepped by compiled kernels."""
    import bestgroup as bg
    from bestgroup.studies.warming import is_ready, key_of

    means = np.array([[0.3, 0.5, 0.4], [0.5, 0.6, 0.4], [0.7, 0.6, 0.5], [0.8, 0.7, 0.6],
                      [0.85, 0.6, 0.7]])  # fmt: skip
    arms = {f"group {i}": ["a", "b", "c"] for i in range(5)}
    problem = bg.Problem(arms, {"solved": "max"}, bg.Bernoulli())
    place = {(g, a): means[i, j] for i, g in enumerate(arms) for j, a in enumerate("abc")}

    def evaluate(group: str, arm: str, seed: int) -> float:
        return float(seed % 1_000_003 / 1_000_003 < place[group, arm])

    for goal in (bg.ParetoGroups(0.02), bg.BestGroup([1.0], 0.02)):
        found = bg.solve(problem, goal, evaluate, progress=False, budget=2000)
        while not is_ready(key_of(found.study.spec)):
            time.sleep(0.1)
        begun = time.process_time()
        found = bg.solve(problem, goal, evaluate, progress=False)
        spent, pulls = time.process_time() - begun, found.answer.pulls
        print(f"solve, {goal.kind}: {pulls:,} pulls, {1e3 * spent / pulls:.3f} ms of the processor "
              "each", flush=True)  # fmt: skip


def report(noise: str, groups: int, told: int, idle: int, spent: np.ndarray) -> None:
    """Print a line for the clock and one for the processor."""
    for k, what in enumerate(("clock", "processor")):
        times = spent[:, k]
        middle, high = np.quantile(times, (0.5, 0.99))
        print(
            f"{noise:8} N = {groups}: {told:,} observations, {told / times.sum():,.0f} a second of "
            f"{what}; calls: median {1e3 * middle:.2f} ms, 99 % {1e3 * high:.1f} ms, most "
            f"{1e3 * times.max():.0f} ms; nothing to ask for in {idle} calls",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--noise", nargs="+", default=["known", "bounded"])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--solve", action="store_true")
    given = parser.parse_args()
    if given.solve:
        measure_solve()
        return
    with tempfile.TemporaryDirectory() as folder:
        if given.cold:
            os.environ["XDG_CACHE_HOME"] = folder
            os.environ.pop("BESTGROUP_CACHE", None)
        for noise in given.noise:
            measure(given.groups, noise, given.scale, given.seconds, given.cold, given.turns)


if __name__ == "__main__":
    main()
