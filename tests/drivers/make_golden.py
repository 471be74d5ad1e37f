"""Writes golden.json: pulls and answers of every engine on fixed seeds.

Run it, and say in the commit, when results change on purpose: python tests/drivers/make_golden.py
"""

import json
from pathlib import Path

import bestgroup as bg
from bestgroup.algorithms.registry import pinned

PATH = Path(__file__).with_name("golden.json")
PARETO, BEST = bg.ParetoGroups(0.05), bg.BestGroup([1, 2], 0.02)
NAMES = {
    "te": PARETO,
    "age": PARETO,
    "ge": PARETO,
    "te-plus": PARETO,
    "unis-corrected": PARETO,
    "eecb": BEST,
    "se": BEST,
    "tel": BEST,
}
CASES = [(name, goal, engine) for name, goal in NAMES.items() for engine in ("exact", "jump")]
CASES += [("adaptive", PARETO, "exact"), ("adaptive", BEST, "exact")]
# Studies that earlier versions began go on with them.
CASES += [("adaptive version 6", BEST, "exact")]


def outcome(name, goal, engine):
    """Return pulls by arm and answers of three runs, as plain lists."""
    instance = bg.Instance.random(groups=4, arms=3, dims=2, pareto=2, min_gap=0.1, seed=1)
    kind, _, version = name.partition(" version ")
    algorithm = pinned(kind, int(version), {}) if version else kind
    sim = bg.simulate(instance, goal, algorithm, delta=0.05, runs=3, seed=7, engine=engine)
    return {
        "counts": sim.counts.tolist(),
        "rounds": sim.rounds.tolist(),
        "answers": [sorted(answer) for answer in sim.answers],
    }


def label(name, goal, engine):
    """Return the key of a case."""
    return f"{name} {type(goal).__name__} {engine}"


if __name__ == "__main__":
    found = {label(*case): outcome(*case) for case in CASES}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")
