"""Writes schema_1.db, a study of schema 1 in the middle of its work. Run once, at the release."""

import sqlite3
from pathlib import Path

import numpy as np

import bestgroup as bg
from bestgroup.problem.problem import Problem

FILE = Path(__file__).parent / "schema_1.db"
PROBLEM = Problem({"A": ["a1", "a2"], "B": ["b1"]}, {"x": "max", "w": "watch", "y": "min"})


def main():
    FILE.unlink(missing_ok=True)
    goal = bg.ParetoGroups(0.5)
    options = {"algorithm": "te", "horizon": 2, "seed": 7}
    study = bg.create_study("kept", PROBLEM, goal, 0.1, f"sqlite:///{FILE}", **options)
    for _ in range(6):
        for ticket in study.ask(3, 2):
            rng = np.random.default_rng(ticket.seed)
            study.tell(ticket, rng.random((ticket.repeats, 3)))
    study.fail(study.ask(1)[0], "an example of a failure")
    study.ask(1, lease=1.0, owner="somebody")
    study.import_observations([{"group": "A", "arm": "a2", "x": 0.5, "w": 0, "y": 0.25}])
    study.close()
    with sqlite3.connect(FILE) as connection:  # one file, without a -wal beside it
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()


if __name__ == "__main__":
    main()
