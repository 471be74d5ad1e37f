"""COVID-19 booster vaccines: which are Pareto optimal in three immune responses.

COV-BOOST (Munro et al. 2021, as tabulated by Kone et al.) measured 20 vaccination strategies. Here
vaccines are groups; their doses and the two primary courses are the arms, so groups differ in size.
The published means are the truth of a simulation: a pull draws one participant.

    python examples/cov_boost/run.py [--out FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import bestgroup as bg

GOAL = bg.ParetoGroups(0.1)
DELTA = 0.05


def evaluator(instance: bg.Instance):
    """Return a function that draws one participant of an arm."""
    groups = {name: i for i, name in enumerate(instance.groups)}

    def evaluate(group: str, arm: str, seed: int) -> list[float]:
        i = groups[group]
        mean = instance.means[i][instance.arms[i].index(arm)]
        return instance.law.sample(np.random.default_rng(seed), mean, 1)[0].tolist()

    return evaluate


def solve() -> bg.Solution:
    """Run the study until its answer is proven."""
    instance = bg.datasets.cov_boost(group_by="vaccine")
    groups = dict(zip(instance.groups, instance.arms, strict=True))
    problem = bg.Problem(groups, dict.fromkeys(instance.dims, "max"), instance.noise)
    return bg.solve(problem, GOAL, evaluator(instance), DELTA)


def main() -> None:
    """Solve, say why, and draw where the pulls went."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=Path("."))
    out = arguments.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    found = solve()
    print(found)
    for explanation in found.explanations.values():
        print(f"  {explanation}")
    from bestgroup.plots.certificate import pulls_view

    for name, figure in (
        ("pareto", found.certificate.plot()),
        ("pulls", pulls_view(found.certificate)),
    ):
        path = out / f"cov_boost_{name}.png"
        figure.savefig(path)
        print(path)


if __name__ == "__main__":
    main()
