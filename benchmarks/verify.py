"""Time of writing and verifying a proof, by `bestgroup verify` and by the independent verifier.

The table has 1,000 groups of 3 arms in 2 dims, all arms with as many rows; a few groups contend. Each
step is a process of its own on one core; its CPU time is printed, and the size of the proof.

    python benchmarks/verify.py [--rows 1000000] [--groups 1000] [--noise normal,bets] [--ours]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ARMS, CONTENDERS = 3, 5
NOISE = {"normal": "SubGaussian(0.2)", "bets": "Bounded(-1, 1)"}
INDEPENDENT = Path(__file__).parents[1] / "verifier" / "verify_proof.py"


def write_rows(path: Path, rows: int, groups: int) -> None:
    """Write a table in which the first groups are not beaten, and all others are by far."""
    rng = np.random.default_rng(0)
    count = max(rows // (groups * ARMS), 1)
    mean = rng.uniform(-0.6, -0.3, (groups, ARMS, 2))
    angle = np.linspace(0.2, 1.4, CONTENDERS)
    mean[:CONTENDERS, 0] = 0.6 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    values = np.clip(rng.normal(mean, 0.2, (count, groups, ARMS, 2)), -1, 1).round(6)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["group", "arm", "x", "y"])
        for round_ in values.tolist():
            for i, group in enumerate(round_):
                writer.writerows([f"g{i}", f"a{j}", *row] for j, row in enumerate(group))


def write_proof(table: str, proof: str, noise: str, goal: str) -> None:
    """Certify a table and write its proof."""
    import bestgroup as bg

    goals = {"pareto": bg.ParetoGroups(0.1), "best": bg.BestGroup([1.0, 1.0], 0.1)}
    found = bg.certify(table, goals[goal], noise=eval(f"bg.{NOISE[noise]}", {"bg": bg}))
    found.save_proof(proof)


def spent(command: list[str]) -> tuple[float, str]:
    """Return the CPU seconds of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    one = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=one, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.stdout + done.stderr


def main() -> None:
    """Print a line for each kind of evidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--noise", default="normal,bets")
    parser.add_argument("--goal", default="pareto,best")
    parser.add_argument("--ours", action="store_true", help="without the independent verifier")
    parser.add_argument("--write", nargs=4, metavar=("TABLE", "PROOF", "NOISE", "GOAL"))
    given = parser.parse_args()
    if given.write:
        write_proof(*given.write)
        return
    with tempfile.TemporaryDirectory() as folder:
        table, proof = Path(folder) / "rows.csv", Path(folder) / "proof.json"
        write_rows(table, given.rows, given.groups)
        for noise in given.noise.split(","):
            for goal in given.goal.split(","):
                report(table, proof, noise, goal, given.ours)


def report(table: Path, proof: Path, noise: str, goal: str, ours: bool) -> None:
    """Print the seconds of writing a proof and of verifying it, and whether it was verified."""
    files = [str(proof), str(table)]
    again = [sys.executable, __file__, "--write", str(table), str(proof), noise, goal]
    seconds, words = spent(again)
    if not proof.exists():
        print(f"{noise}, {goal}: {words.strip().splitlines()[-1]}", flush=True)
        return
    document = json.loads(proof.read_text())
    kind, claims = document["method"]["kind"], len(document["claims"])
    size = proof.stat().st_size
    line = f"{noise}, {goal}: {kind}, {claims:,} claims, {size:,} bytes; written in {seconds:.1f} s"
    commands = {"ours": [sys.executable, "-m", "bestgroup", "verify"]}
    if not ours:
        commands["independent"] = [sys.executable, str(INDEPENDENT)]
    for name, command in commands.items():
        seconds, words = spent([*command, *files])
        good = any(row.startswith("verified") for row in words.splitlines())
        line += f"; {name} {seconds:.1f} s, {'verified' if good else 'NOT verified'}"
    print(line, flush=True)
    proof.unlink()


if __name__ == "__main__":
    main()
