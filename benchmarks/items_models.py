"""Share of a table of made scores that look like those of language models: Pareto groups of families.

41 models of 12 families on 797 prompts: a judge's score in tenths (ability of family and model,
difficulty of the prompt, tastes of family and model) and the brevity of the answer. Prints the share
of the table that `adaptive` evaluates, and how closely the scores of two models go together.

    python benchmarks/items_models.py [--tables 8] [--orders 50] [--epsilon 0.05]
"""

from __future__ import annotations

import argparse

import numpy as np

import bestgroup as bg

PROMPTS, MODELS, FAMILIES = 797, 41, 12


def make_table(seed: int) -> tuple[np.ndarray, list[str]]:
    """Return scores and brevity in [0, 1], [prompts, models, 2], and the family of each model."""
    rng = np.random.default_rng(seed)
    more = rng.integers(0, FAMILIES, MODELS - FAMILIES)
    family = np.sort(np.concatenate([np.arange(FAMILIES), more]))
    ability = rng.normal(0.0, 0.6, FAMILIES)[family] + rng.normal(0.0, 0.35, MODELS)
    taste = rng.normal(0.0, 0.5, (PROMPTS, FAMILIES))[:, family]
    taste += rng.normal(0.0, 0.7, (PROMPTS, MODELS))
    hard = rng.normal(0.0, 1.2, (PROMPTS, 1))
    score = np.round(10.0 / (1.0 + np.exp(hard - 0.8 - ability - taste))) / 10.0
    wordy = rng.normal(0.0, 0.5, FAMILIES)[family] + rng.normal(0.0, 0.3, MODELS)
    words = 5.3 + wordy + rng.normal(0.0, 0.6, (PROMPTS, 1))
    words = words + rng.normal(0.0, 0.35, (PROMPTS, MODELS))
    brevity = np.clip(1.0 - words / np.log(1e4), 0.0, 1.0)
    return np.stack([score, brevity], axis=2), [f"family {k}" for k in family]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--orders", type=int, default=50)
    parser.add_argument("--epsilon", type=float, default=0.05)
    options = parser.parse_args()
    goal = bg.ParetoGroups(options.epsilon)
    for seed in range(options.tables):
        values, groups = make_table(seed)
        instance = bg.Instance.from_table(values, groups, items="pool", noise=bg.Bounded(0, 1))
        sim = bg.simulate(instance, goal, "adaptive", 0.05, options.orders, seed=seed)
        assert sim.share is not None
        together = np.corrcoef(values[:, :, 0].T).mean()
        print(
            f"table {seed}: share {sim.share.mean():.3f}, at most {sim.share.max():.3f}, "
            f"errors {sim.errors}, correlation of scores {together:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
