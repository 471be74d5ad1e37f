"""Writes schema_N.db, N the newest: studies in the middle of their work. Run once a schema."""

import sqlite3
from pathlib import Path

import numpy as np

import bestgroup as bg
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.studies.storage.migrations import NEWEST

FILE = Path(__file__).parent / f"schema_{NEWEST}.db"
PROBLEM = Problem(
    {"A": ["a1", "a2"], "B": ["b1"]}, {"x": "max", "w": "watch", "y": "min"}, SubGaussian(1.0)
)
ALGORITHMS = ("te", "age", "ge", "eecb", "tel", "unis", "unis-corrected", "te-plus", "adaptive")
PARETO, BEST = bg.ParetoGroups(2.0), bg.BestGroup([1.0, 2.0], 2.0)


def pulled(study, most):
    """Tell up to about `most` pulls that are easy to decide on."""
    told = 0
    while told < most and (tickets := study.ask(6, 2)):
        for ticket in tickets:
            rows = np.random.default_rng(ticket.seed).random((ticket.repeats, 3))
            told += study.tell(ticket, rows + np.array([6.0 * (ticket.group == "A"), 0, 0]))


def main():
    FILE.unlink(missing_ok=True)
    url = f"sqlite:///{FILE}"
    options = {"algorithm": "te", "horizon": 2, "seed": 7}
    study = bg.create_study("kept", PROBLEM, bg.ParetoGroups(0.5), 0.1, url, **options)
    for _ in range(6):
        for ticket in study.ask(3, 2):
            rng = np.random.default_rng(ticket.seed)
            study.tell(ticket, rng.random((ticket.repeats, 3)))
    study.fail(study.ask(1)[0], "an example of a failure")
    study.ask(1, lease=1.0, owner="somebody")
    study.import_observations([{"group": "A", "arm": "a2", "x": 0.5, "w": 0, "y": 0.25}])
    study.close()
    for name in ALGORITHMS:
        goal = BEST if name in ("eecb", "tel") else PARETO
        for word, most in (("running", 12), ("later", 400)):
            study = bg.create_study(
                f"{name} {word}", PROBLEM, goal, 0.1, url, algorithm=name, seed=3
            )
            pulled(study, most)
            print(study.name, study.status(forecast=False).state, study.answer().pulls)
            study.close()
    with sqlite3.connect(FILE) as connection:  # one file, without a -wal beside it
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    connection.close()


if __name__ == "__main__":
    main()
