"""Proofs of every kind, each with its rows and the true means of its arms, small enough to change often."""

import csv
import functools
import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from cases import noise_of, write

import bestgroup as bg
from bestgroup.algorithms.registry import pinned

MEANS = {
    "A": {"x": (1.2, 1.1), "y": (0.7, 0.8)},
    "B": {"x": (-1.0, -0.9), "y": (-1.2, -1.1)},
    "C": {"x": (1.3, -1.0), "y": (0.9, -1.3)},
}
GROUPS = {group: list(arms) for group, arms in MEANS.items()}
PARETO, BEST = bg.ParetoGroups(0.5), bg.BestGroup([1.0, 2.0], 0.2)
TOP = bg.TopGroups(2, [1.0, 2.0], 0.2)
MAP = bg.WeightMap(epsilon=0.4)
PARTED = bg.WeightMap([[1, 0], [1, 1], [0, 1]], 0.4)  # two simplices, one vertex more than ends
LIMITS = {"require": {"v": (">=", -0.2)}}
KINDS = ("subgaussian", "bounded", "bernoulli", "gaussian")
ITEM_MEANS = {"A": (0.75, 0.75), "B": (0.25, 0.3), "C": (0.8, 0.2)}


class Source(NamedTuple):
    """A proof, the rows that it is about, and what is true of the arms."""

    document: dict
    rows: list
    means: dict  # of each group, of each arm: a mean for each dim


def kept(value, kind=""):
    """Return a value as rows have it; tests/proof/vectors.py keeps fewer digits."""
    return float(value)


def turned(kind, mean):
    return 0.5 + mean / 3 if kind == "bernoulli" else mean


def draw(rng, kind, mean):
    if kind == "bernoulli":
        return float(rng.random() < turned(kind, mean))
    spread = 0.4 if kind != "subgaussian" else 1.0
    return kept(np.clip(rng.normal(mean, spread), -4, 4), kind)


def truth(kind):
    return {
        g: {a: tuple(turned(kind, m) for m in own) for a, own in arms.items()}
        for g, arms in MEANS.items()
    }


def table_of(kind, count):
    rng = np.random.default_rng(7)
    return [
        {"group": g, "arm": a, "u": draw(rng, kind, own[0]), "v": draw(rng, kind, own[1])}
        for _ in range(count)
        for g, arms in MEANS.items()
        for a, own in arms.items()
    ]


def saved(found, rows, means):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.json"
        found.save_proof(path)
        return Source(json.loads(path.read_text()), rows, means)


def certified(kind, goal, arms, count=0, measure=None, **rest):
    count = count or {"bernoulli": 110, "bounded": 90}.get(kind, 40)
    rows = table_of(kind, count)
    problem = None
    if measure is not None:
        problem = bg.Problem(GROUPS, {"u": "max", "v": "max"}, noise_of(kind, arms), **measure)
    noise = None if measure else noise_of(kind, arms)
    found = bg.certify(rows, goal, problem, noise=noise, **rest)
    assert found.accepted or found.rejected, (kind, goal, arms)
    return saved(found, rows, truth(kind))


def solved(kind, goal, name, arms="independent", measure=None, **options):
    rng = np.random.default_rng(2)
    noise = noise_of(kind, arms)
    problem = bg.Problem(GROUPS, {"u": "max", "v": "max"}, noise=noise, **(measure or {}))

    def evaluate(group, arm):
        return [draw(rng, kind, mean) for mean in MEANS[group][arm]]

    algorithm = bg.algorithm(name, **options)
    found = bg.solve(problem, goal, evaluate, delta=0.1, algorithm=algorithm)
    return saved(found, found.to_frame().to_dict("records"), truth(kind))


def come_and_gone():
    """Return the proof of a study in which a group came, and an arm and a group have left."""
    rng = np.random.default_rng(4)
    here = {group: GROUPS[group] for group in "AB"}
    noise = noise_of("subgaussian", "arbitrary")
    problem = bg.Problem(here, {"u": "max", "v": "max"}, noise, reserve=3)
    with tempfile.TemporaryDirectory() as folder:
        study = bg.create_study("late", problem, PARETO, 0.1, f"sqlite:///{folder}/late.db")

        def work():
            while tickets := study.ask(4):
                for ticket in tickets:
                    means = MEANS[ticket.group][ticket.arm]
                    study.tell(ticket, [draw(rng, "subgaussian", mean) for mean in means])

        work()
        for change in (
            lambda: study.add_group("C", ["x", "y"]),
            lambda: study.withdraw("A", "y"),
            lambda: study.withdraw("B"),
        ):
            change()
            work()
        path, table = Path(folder) / "proof.json", Path(folder) / "rows.csv"
        study.save_proof(path, rows=table)
        with table.open(newline="") as stream:
            rows = [
                {**row, "u": float(row["u"]), "v": float(row["v"]), "index": int(row["index"])}
                for row in csv.DictReader(stream)
            ]
        return Source(json.loads(path.read_text()), rows, truth("subgaussian"))


def on_items(goal, part, repeats=1, size=0, **given):
    """Return the proof of a table on a part of 60 items; with `size` they make clusters of that size."""
    rng, rows = np.random.default_rng(1), []
    order = [f"q{t}" for t in rng.permutation(60)]
    for item in order:
        hard = rng.normal(0, 0.05)
        for group, means in ITEM_MEANS.items():
            for arm, less in (("x", 0.0), ("y", 0.1)) * repeats:
                u, v = (kept(np.clip(m - less + hard + rng.normal(0, 0.05), 0, 1)) for m in means)
                rows.append({"group": group, "arm": arm, "item": item, "u": u, "v": v})
    means = {}
    for row in rows:
        means.setdefault(row["group"], {}).setdefault(row["arm"], []).append((row["u"], row["v"]))
    means = {g: {a: np.mean(own, axis=0) for a, own in arms.items()} for g, arms in means.items()}
    if "order" in given:
        given["order"] = order
        given["items"] = bg.Items(names=sorted(order), target="pool", repeats=repeats)
    if size:
        label = {item: f"c{k // size}" for k, item in enumerate(order)}
        clusters = [label[item] for item in sorted(order)]
        given["items"] = bg.Items(names=sorted(order), target=given["items"], clusters=clusters)
        if given["items"].pool:
            given["order"] = list(dict.fromkeys(label.values()))
    rows = rows[: 6 * part * repeats]
    with tempfile.TemporaryDirectory() as folder:
        table = write(rows, Path(folder) / "rows.csv")
        found = bg.certify(table, goal, noise=bg.Bounded(0, 1), **given)
        assert found.accepted
        return saved(found, rows, means)


SOURCES = {
    **{
        f"boxes, {goal}, {kind}": functools.partial(
            certified, kind, PARETO if goal == "pareto" else BEST, "arbitrary"
        )
        for kind in KINDS
        for goal in ("pareto", "best")
    },
    "boxes, as they came": lambda: certified(
        "subgaussian", BEST, "arbitrary", 60, arms_fixed=False
    ),
    **{
        f"pairs, {kind}": functools.partial(certified, kind, PARETO, "independent")
        for kind in KINDS
    },
    **{
        f"pairs after a warm-up, {kind}": functools.partial(
            solved, kind, PARETO, pinned("adaptive", 5, {})
        )
        for kind in KINDS
    },
    **{
        f"pairs with an expected answer, {kind}": functools.partial(
            solved, kind, PARETO, "adaptive"
        )
        for kind in KINDS
    },
    "te, paper": lambda: solved("subgaussian", PARETO, "te", radius="paper"),
    "age, stitched": lambda: solved("subgaussian", PARETO, "age", radius="stitched"),
    "ge, mixture": lambda: solved("subgaussian", PARETO, "ge", radius="mixture"),
    "eecb, mixture": lambda: solved("subgaussian", BEST, "eecb", radius="mixture"),
    "se, paper": lambda: solved("subgaussian", BEST, "se", radius="paper"),
    "unis-corrected": lambda: solved("subgaussian", bg.ParetoGroups(1.5), "unis-corrected"),
    "te-plus": lambda: solved("subgaussian", PARETO, "te-plus"),
    "selections, certify, subgaussian": lambda: certified("subgaussian", BEST, "independent"),
    "selections, certify, bounded": lambda: certified("bounded", BEST, "independent"),
    "selections, certify, gaussian": lambda: certified("gaussian", BEST, "independent"),
    "selections, adaptive, subgaussian": lambda: solved(
        "subgaussian", BEST, pinned("adaptive", 6, {})
    ),
    "selections, adaptive, measured": lambda: solved("subgaussian", BEST, "adaptive"),
    "selections, adaptive, bernoulli": lambda: solved("bernoulli", BEST, "adaptive"),
    "selections, adaptive, gaussian": lambda: solved("gaussian", BEST, "adaptive"),
    "boxes, worst": lambda: certified(
        "subgaussian", PARETO, "arbitrary", measure={"worth": "worst"}
    ),
    "boxes, mean": lambda: certified("bounded", BEST, "independent", measure={"worth": "mean"}),
    "boxes, limits": lambda: certified("gaussian", BEST, "arbitrary", measure=LIMITS),
    "boxes, top": lambda: certified("gaussian", TOP, "arbitrary"),
    "averages, adaptive": lambda: solved(
        "subgaussian", PARETO, "adaptive", measure={"worth": "mean"}
    ),
    "pairs, limits": lambda: solved("subgaussian", PARETO, "adaptive", measure=LIMITS),
    "selections, top": lambda: certified("subgaussian", TOP, "independent"),
    "selections and boxes, top": lambda: certified("bounded", TOP, "independent"),
    "selections, top, adaptive": lambda: solved("subgaussian", TOP, "adaptive"),
    "boxes, map": lambda: certified("gaussian", MAP, "arbitrary"),
    "directions": lambda: certified("subgaussian", MAP, "independent"),
    "directions and boxes": lambda: certified("bounded", MAP, "independent"),
    "directions, adaptive": lambda: solved("subgaussian", MAP, "adaptive"),
    "boxes, map of two simplices": lambda: certified("gaussian", PARTED, "arbitrary"),
    "directions, two simplices": lambda: certified("subgaussian", PARTED, "independent"),
    "boxes, arms that come and go": come_and_gone,
    "items, part of a pool": lambda: on_items(bg.ParetoGroups(0.1), 40, order=None),
    "items, population": lambda: on_items(bg.ParetoGroups(0.1), 60, items="population"),
    "item selections, part of a pool": lambda: on_items(
        bg.BestGroup([1.0, 1.0], 0.05), 40, order=None
    ),
    "item selections, population": lambda: on_items(
        bg.BestGroup([1.0, 1.0]), 60, items="population"
    ),
    "items, repeats": lambda: on_items(bg.ParetoGroups(0.1), 40, repeats=2, order=None),
    "items, clusters of a pool": lambda: on_items(bg.ParetoGroups(0.1), 45, size=3, items="pool"),
    "items, clusters of a population": lambda: on_items(
        bg.ParetoGroups(0.3), 60, size=2, items="population"
    ),
    "item selections, clusters of a pool": lambda: on_items(
        bg.BestGroup([1.0, 1.0], 0.05), 45, size=3, items="pool"
    ),
    "item selections, clusters of a population": lambda: on_items(
        bg.BestGroup([1.0, 2.0], 0.1), 60, size=2, items="population"
    ),
    "item units, worst": lambda: on_items(
        bg.ParetoGroups(0.1), 60, items="population", worth="worst"
    ),
    "item units, limits": lambda: on_items(
        bg.BestGroup([1.0, 1.0]), 40, order=None, require={"v": (">=", 0.45)}
    ),
    "item units, top": lambda: on_items(bg.TopGroups(2, [2.0, 1.0], 0.1), 60, items="population"),
    "item bounds, map": lambda: on_items(bg.WeightMap(epsilon=0.3), 60, items="population"),
    "item bounds, clusters of a population": lambda: on_items(
        bg.WeightMap(epsilon=0.6), 60, size=2, items="population"
    ),
    "item units, a pool with a tolerance": lambda: on_items(
        bg.ParetoGroups(0.02), 60, items="pool", require={"v": (">=", 0.72, 0.1)}
    ),
    "pool, pareto": lambda: on_items(bg.ParetoGroups(0.02), 60, items="pool"),
    "pool, best": lambda: on_items(bg.BestGroup([1.0, 1.0], 0.01), 60, items="pool"),
}


@functools.cache
def source(name):
    """Return a proof by its name; made once."""
    return SOURCES[name]()
