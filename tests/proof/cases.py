"""Tables and their proofs, one for each kind of evidence; small, and decided by a fair margin."""

import csv
import json

import numpy as np

import bestgroup as bg

MEANS = {"A": (1.0, 1.0), "B": (-0.2, -0.1), "C": (0.9, -1.0)}
GOALS = {"pareto": bg.ParetoGroups(0.1), "best": bg.BestGroup([1.0, 2.0], 0.05)}


def draw(rng, kind, mean):
    if kind == "bernoulli":
        return float(rng.random() < 0.5 + mean / 5)
    if kind == "bounded":
        return float(np.clip(rng.normal(mean, 0.7), -4, 4))
    return float(rng.normal(mean, 1.0))


def noise_of(kind, arms="arbitrary"):
    models = {
        "subgaussian": bg.SubGaussian(1.0, arms=arms),
        "bounded": bg.Bounded(-4, 4, arms=arms),
        "bernoulli": bg.Bernoulli(arms=arms),
        "gaussian": bg.Gaussian(arms=arms),
    }
    return models[kind]


def rows_of(kind, count=300, seed=0, mirrored=False):
    """Return rows of three groups of two arms; with `mirrored` the second dim is to be minimised."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(count):
        for group, (a, b) in MEANS.items():
            for arm, less in (("x", 0.0), ("y", 0.3)):
                u, v = draw(rng, kind, a - less), draw(rng, kind, b - less)
                if mirrored:
                    v = 1.0 - v if kind == "bernoulli" else -v
                rows.append({"group": group, "arm": arm, "u": u, "v": v})
    return rows


def write(rows, path):
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def proof_of(found, folder):
    """Return the proof document that an answer writes."""
    path = folder / "proof.json"
    digest = found.save_proof(path)
    document = json.loads(path.read_text())
    assert document["digest"] == digest
    return document
