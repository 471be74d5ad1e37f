"""Time and memory of `bestgroup certify` on a large CSV file, a process for each noise model.

The file has 20 groups of 5 arms and 2 dims with Beta-distributed values, rows in random order. Each
process reports its own time (wall and CPU) and its largest memory; compiled code may be cached.

    python benchmarks/certify.py [--rows 10000000] [--keep FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PORTION = 500_000
MODELS = ("SubGaussian(0.5)", "Gaussian()", "Bounded(0, 1)", "Bounded(0, 1, method='bernstein')")


def write_rows(path: Path, rows: int) -> None:
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    names = np.array([f"g{i:02}" for i in range(20)])
    arms = np.array([f"a{j}" for j in range(5)])
    level = rng.uniform(0.2, 0.8, (20, 5, 2))
    with path.open("wb") as file:
        for start in range(0, rows, PORTION):
            n = min(PORTION, rows - start)
            i, j = rng.integers(0, 20, n), rng.integers(0, 5, n)
            mean = level[i, j]
            values = rng.beta(8 * mean, 8 * (1 - mean)).round(6)
            columns = {"group": names[i], "arm": arms[j], "x": values[:, 0], "y": values[:, 1]}
            options = csv.WriteOptions(include_header=start == 0)
            csv.write_csv(pa.table(columns), file, options)


def certify_once(path: str, model: str) -> None:
    import bestgroup as bg

    begun = time.perf_counter()
    noise = eval(f"bg.{model}", {"bg": bg})  # one of MODELS
    found = bg.certify(path, bg.ParetoGroups(0.01), noise=noise)
    decided = len(found.accepted) + len(found.rejected)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    record = {
        "rows": found.pulls,
        "decided": decided,
        "seconds": time.perf_counter() - begun,
        "cpu": spent.ru_utime + spent.ru_stime,
        "memory": spent.ru_maxrss / 2**20,
    }
    print(json.dumps(record))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--keep", help="write the table here and keep it")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        certify_once(*given.one)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(given.keep or Path(folder) / "rows.csv")
        write_rows(path, given.rows)
        print(f"{given.rows:,} rows, {path.stat().st_size / 2**20:,.0f} MiB")
        for model in MODELS:
            command = [sys.executable, __file__, "--one", str(path), model]
            reply = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            print(
                f"  {model:34} {reply['seconds']:6.1f} s, {reply['cpu']:6.1f} s of CPU, "
                f"{reply['memory']:.2f} GiB, {reply['decided']} of 20 groups decided",
                flush=True,
            )


if __name__ == "__main__":
    main()
