"""Vaccines that join a running comparison, and one that is withdrawn.

The means are those of COV-BOOST (see `examples/cov_boost`), one immune response. A study begins with two
vaccines; a third joins when the answer is known, because it looks promising, and later one is withdrawn.
Room for the newcomer's arms was left at the start, so delta holds throughout.

    python examples/late_arms/run.py
"""

from __future__ import annotations

import numpy as np

import bestgroup as bg

FIRST, LATER = ("NVX", "BNT"), "m1273"


def play(delta: float = 0.05, seed: int = 0) -> list[tuple[str, ...]]:
    """Return the answers: of the first vaccines, with the newcomer, and after a withdrawal."""
    truth = bg.datasets.cov_boost(group_by="vaccine")
    arms = dict(zip(truth.groups, truth.arms, strict=True))
    means = {
        (group, arm): truth.means[i][j, 0]
        for i, group in enumerate(truth.groups)
        for j, arm in enumerate(truth.arms[i])
    }
    scale = float(truth.scale[0])
    problem = bg.Problem(
        {group: arms[group] for group in FIRST},
        {"antibodies": "max"},
        bg.SubGaussian(scale),
        reserve=len(arms[LATER]),
    )
    goal = bg.BestGroup(weights=[1], epsilon=0.2)
    study = bg.create_study("late", problem, goal, delta, "memory", seed=seed, batch=16)
    answers = [work(study, means, scale)]
    study.add_group(LATER, arms[LATER])
    answers.append(work(study, means, scale))
    study.withdraw(answers[-1][0])
    answers.append(work(study, means, scale))
    bg.delete_study("late", "memory")
    return answers


def work(study: bg.Study, means: dict[tuple[str, str], float], scale: float) -> tuple[str, ...]:
    """Measure until the answer is known, and return it."""
    while tickets := study.ask(64):
        for ticket in tickets:
            noise = np.random.default_rng(ticket.seed).normal(0.0, scale)
            study.tell(ticket, [float(means[ticket.group, ticket.arm] + noise)])
    known = study.answer()
    print(
        f"{', '.join(study.problem.groups)}: {', '.join(known.groups)} after {known.told:,} pulls"
    )
    return known.groups


if __name__ == "__main__":
    play()
