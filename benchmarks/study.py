"""Live studies: observations a second beside Optuna, and what 10^6 observations cost.

Run: python benchmarks/study.py [--observations N] [--seconds S]

Optuna (extra `bench`) is asked and told trial by trial with two objectives, its way of storing an
observation. One by one, every tell is on disk when it returns (an fsync each), so the first line
says how long one takes here. "unis" plans once and shows the machinery alone; "te" also decides
after every round, in plain Python unless `Study.compile` was called.
"""

import argparse
import os
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import bestgroup as bg
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem

PROBLEM = Problem(
    {f"group {i}": [f"arm {j}" for j in range(4)] for i in range(5)},
    {"x": "max", "y": "max", "z": "min"},
    SubGaussian(1.0),
)
ROWS = np.random.default_rng(0).standard_normal((100, 3))
LISTS = ROWS.tolist()


def fsync_seconds(folder):
    with open(f"{folder}/sync", "wb") as file:
        begun = time.perf_counter()
        for _ in range(50):
            file.write(b"x" * 4096)
            file.flush()
            os.fdatasync(file.fileno())
    return (time.perf_counter() - begun) / 50


def make(name, storage, algorithm, horizon=0):
    epsilon = 0.002 if algorithm == "unis" else 1e-6
    goal = bg.ParetoGroups(epsilon)
    return bg.create_study(name, PROBLEM, goal, 0.01, storage, algorithm=algorithm, horizon=horizon)


def rate(loop, seconds):
    """Return observations a second of wall time and microseconds of processor time for each."""
    loop(0.2)
    begun, busy = time.perf_counter(), time.process_time()
    count = loop(seconds)
    wall = time.perf_counter() - begun
    return count / wall, (time.process_time() - busy) / count * 1e6


def one_by_one(study):
    def loop(seconds):
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            (ticket,) = study.ask(1)
            count += study.tell(ticket, LISTS[count % 100])
        return count

    return loop


def in_batches(study):
    def loop(seconds):
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            for ticket in study.ask(8, 100):
                count += study.tell(ticket, ROWS[: ticket.repeats])
        return count

    return loop


def optuna_loop(storage):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.RandomSampler(seed=0)
    options = {"sampler": sampler, "storage": storage, "directions": ["maximize"] * 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(**options)

    def loop(seconds):
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            trial = study.ask()
            trial.suggest_int("arm", 0, 19)
            study.tell(trial, LISTS[count % 100])
            count += 1
        return count

    return loop


def compare(folder, seconds):
    print(f"one fsync takes {fsync_seconds(folder) * 1000:.2f} ms here")
    cases = []
    for algorithm in ("unis", "te"):
        url = f"sqlite:///{folder}/{algorithm}.db"
        ahead = 0 if algorithm == "unis" else 100
        if algorithm == "te":
            fast = make("fast", url, algorithm, ahead)
            fast.compile()
            cases.append(("SQLite, batches of 100, te compiled", in_batches, fast))
        cases += [
            (
                f"SQLite, batches of 100, {algorithm}",
                in_batches,
                make("batch", url, algorithm, ahead),
            ),
            (f"SQLite, one by one, {algorithm}", one_by_one, make("one", url, algorithm)),
            (f"memory, one by one, {algorithm}", one_by_one, make(algorithm, "memory", algorithm)),
        ]
    for words, loop, study in cases:
        speed, busy = rate(loop(study), seconds)
        print(f"{words:34} {speed:10,.0f} a second   {busy:8.1f} us of processor time each")
        study.close()
    try:
        import optuna  # noqa: F401
    except ImportError:
        print("Optuna is not installed: pip install 'bestgroup[bench]'")
        return
    for words, storage in (("SQLite", f"sqlite:///{folder}/optuna.db"), ("memory", None)):
        speed, busy = rate(optuna_loop(storage), seconds)
        line = f"Optuna, {words}, one by one"
        print(f"{line:34} {speed:10,.0f} a second   {busy:8.1f} us of processor time each")


def clock(words, call, times=1):
    begun = time.perf_counter()
    for _ in range(times):
        result = call()
    print(f"{words:46} {(time.perf_counter() - begun) / times * 1000:10,.1f} ms")
    return result


def large(folder, observations):
    path = Path(folder) / "large.db"
    url = f"sqlite:///{path}"
    study = make("large", url, "te", horizon=99)
    begun = time.perf_counter()
    count = 0
    while count < observations:
        tickets = study.ask(20, 100)
        values = np.random.default_rng(count).standard_normal((len(tickets), 100, 3))
        pairs = [(t, v[: t.repeats]) for t, v in zip(tickets, values, strict=True)]
        count += study.tell_many(pairs)
    seconds = time.perf_counter() - begun
    print(f"{count:,} observations told in {seconds:.0f} s, in batches, algorithm te")
    for words, call in (
        ("status", study.status),
        ("answer", study.answer),
        ("explain", lambda: study.explain("group 0")),
    ):
        clock(f"{words}, open study", call, 10)
    study.close()
    size = sum(file.stat().st_size for file in Path(folder).glob("large.db*"))
    print(f"{size / count:.1f} bytes an observation (D = 3)")
    clock(
        "open and explain, from the snapshot",
        lambda: bg.load_study("large", url).explain("group 0"),
    )
    study = bg.load_study("large", url)
    study._store.write(study._key, lambda session: session.set_snapshot(None))
    clock(
        "open and explain, without a snapshot",
        lambda: bg.load_study("large", url).explain("group 0"),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(folder, given.seconds)
        large(folder, given.observations)


if __name__ == "__main__":
    main()
