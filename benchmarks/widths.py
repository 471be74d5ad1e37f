"""Widths of the confidence sequences of all noise models, against the one that knows the variance.

For each law the mean width over paths of the two-sided interval of one arm at alpha on each side, after
100, 1,000 and 10,000 values, divided by the width of the sub-Gaussian sequence with the law's own
standard deviation as its scale. That one is valid for normal values only; where a law is not covered by
a model's assumptions, the entry is "-".

    python benchmarks/widths.py [--paths 100] [--alpha 0.001]
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import bestgroup as bg
from bestgroup.inference.confidence_sequences.boxes import box, take_values
from bestgroup.inference.tally import empty_tally

COUNTS = (100, 1000, 10_000)


def two_points(low: float, high: float, p: float):
    scale = (high - low) * math.sqrt(p * (1 - p))
    return lambda rng, n: np.where(rng.random(n) < p, high, low), scale


# name: (draw, standard deviation, models besides Bounded that apply)
LAWS = {
    "coin .5": (*two_points(0, 1, 0.5), ("range", "bernoulli")),
    "coin .1": (*two_points(0, 1, 0.1), ("range", "bernoulli")),
    "coin .01": (*two_points(0, 1, 0.01), ("range", "bernoulli")),
    "uniform": (lambda rng, n: rng.random(n), math.sqrt(1 / 12), ("range",)),
    "beta(50, 50)": (lambda rng, n: rng.beta(50, 50, n), 0.5 / math.sqrt(101), ("range",)),
    "beta(.5, 20)": (
        lambda rng, n: rng.beta(0.5, 20, n),
        math.sqrt(0.5 * 20 / (20.5**2 * 21.5)),
        ("range",),
    ),
    "normal, scale .05": (lambda rng, n: 0.5 + 0.05 * rng.standard_normal(n), 0.05, ("t",)),
}
MODELS = {
    "range": bg.SubGaussian(0.5),
    "betting": bg.Bounded(0, 1),
    "bernstein": bg.Bounded(0, 1, method="bernstein"),
    "bernoulli": bg.Bernoulli(),
    "t": bg.Gaussian(),
}
TITLES = ("sub-Gaussian, range/2", "betting", "empirical Bernstein", "Bernoulli", "Gaussian (t)")


def widths(noise: object, paths: list[np.ndarray], alpha: float) -> list[float]:
    """Return the mean width at each count."""
    shape = bg.Problem({"g": ["a"]}, {"x": "max"}, noise).shape
    rule = noise.boxes(shape, 0.5)._replace(alpha=alpha)  # type: ignore[attr-defined]
    found = np.zeros((len(paths), len(COUNTS)))
    for p, values in enumerate(paths):
        tally = empty_tally(1, 1, 1, rule.start)
        done = 0
        for k, count in enumerate(COUNTS):
            take_values.compiled(rule, tally, 0, 0, np.ascontiguousarray(values[done:count, None]))
            done = count
            low, high = box.compiled(
                rule, float(count), tally.sums[0, 0, 0], tally.extra[0, 0, 0], 0
            )
            found[p, k] = high - low
    return found.mean(axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paths", type=int, default=100)
    parser.add_argument("--alpha", type=float, default=0.001)
    given = parser.parse_args()
    print("| law | values | known variance | " + " | ".join(TITLES) + " |")
    print("|---" * (3 + len(TITLES)) + "|")
    for law, (draw, scale, others) in LAWS.items():
        rng = np.random.default_rng(1)
        paths = [draw(rng, COUNTS[-1]) for _ in range(given.paths)]
        known = widths(bg.SubGaussian(scale), paths, given.alpha)
        own = ("t",) if others == ("t",) else ("betting", "bernstein", *others)
        table = {name: widths(MODELS[name], paths, given.alpha) for name in own}
        for k, count in enumerate(COUNTS):
            cells = [
                f"{table[name][k] / known[k]:.2f}" if name in table else "-" for name in MODELS
            ]
            print(f"| {law} | {count:,} | {known[k]:.4f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
