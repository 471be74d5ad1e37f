"""Share of a pool's table that any method needs to prove the best group, whatever its statistics.

    python benchmarks/items_floor.py [--delta 0.05] TABLE.npz ...

Take a method whose answer is wrong with probability at most delta on every table of values in [0, 1],
where arms go through the items in one uniformly random order. Let changing arm a's values on *any* k
of M items make another group the only best one. While a has not been scored on some k of them, the
method sees what it would see on the changed table, where its answer would be wrong. So, with u the
number of the M items that a was not scored on when the true answer was given (0 for a wrong answer),

    E[C(u, k)] / C(M, k) <= delta,        averaged over which k items are changed,

and the arm's depth is at least the place of the (M - u)-th of the M items in the order. The least
mean depth under that, and with a wrong answer, at no cost, in at most delta of the orders, is bounded
by its Lagrangian; means over random places have a standard error below .002. M and k are chosen to
make the bound large, one arm at a time, and arms add up.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np

DRAWS = 4000
MOST = 40  # changed items, beyond which nothing is gained


def least_depth(n: int, M: int, k: int, delta: float, rng: np.random.Generator) -> float:
    """Return the least mean share of the n items that an arm is scored on."""
    # Of the (M - u)-th item, for each u; 0 for u = M.
    places = np.zeros((1 if n == M else DRAWS, M + 1))
    for draw in places:
        draw[:M] = np.sort(rng.choice(n, M, replace=False) + 1)[::-1]
    u = np.arange(M + 1.0)
    chance = np.prod([np.maximum(u - h, 0.0) / (M - h) for h in range(k)], axis=0)
    best = 0.0
    for price in n * np.geomspace(0.01, 100.0, 60):
        paid = np.min(places + price * chance, axis=1)
        wrong = np.quantile(paid, 1 - delta)  # what a wrong answer is charged: any number bounds
        best = max(best, float(np.minimum(paid, wrong).mean() - price * delta - wrong * delta))
    return best / n


def largest(n: int, k: int, suffices: Any) -> int:
    """Return the largest M up to n for which a test that fails from some M on holds; 0 for none."""
    low, high = k - 1, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if suffices(middle) else (low, middle - 1)
    return low if low >= k else 0


def floor_of(a: int, X: Any, g: Any, w: Any, delta: float, rng: np.random.Generator) -> float:
    """Return the least mean share of the items that arm a must be scored on."""
    n, _, D = X.shape
    mean = X.mean(axis=0)
    worth = np.array([mean[g == i].max(axis=0) @ w for i in range(g.max() + 1)])
    best, second = np.argsort(-worth)[:2]
    own, others = mean[a], mean[(g == g[a]) & (np.arange(len(g)) != a)]
    rest = others.max(axis=0) if len(others) else np.zeros(D)
    leads = g[a] == best
    room = X[:, a] if leads else 1 - X[:, a]
    need = n * (worth[best] - worth[second if leads else g[a]]) + 1e-9
    found = 0.0
    for dims in itertools.chain.from_iterable(
        itertools.combinations(range(D), m + 1) for m in range(D)
    ):
        B = list(dims)
        total = room[:, B] @ w[B]
        order = np.argsort(-total)

        def suffices(
            M: int, k: int, B: list[int] = B, order: Any = order, total: Any = total
        ) -> bool:
            """Return whether any k of the M items with the most room turn the answer."""
            if not leads:  # the sum of all changes, less what other arms of the group have ahead
                behind = np.maximum(rest - own, 0.0)[B] @ w[B]
                return bool(total[order[M - k : M]].sum() - n * behind > need)
            least = np.sort(room[order[:M]][:, B], axis=0)[:k].sum(axis=0)
            return bool(np.minimum(least, n * np.maximum(own - rest, 0.0)[B]) @ w[B] > need)

        for k in range(1, MOST + 1):
            M = largest(n, k, lambda M, k=k: suffices(M, k))
            if M and 1 - delta ** (1 / k) > found:
                found = max(found, least_depth(n, M, k, delta, rng))
    return found


def main() -> None:
    """Print the floor of every table, and the arms that make it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--delta", type=float, default=0.05)
    args = parser.parse_args()
    for path in args.tables:
        table = np.load(path, allow_pickle=False)
        X, g = table["X"].astype(float), table["g"]
        rng = np.random.default_rng(0)
        floors = np.array(
            [floor_of(a, X, g, np.ones(X.shape[2]), args.delta, rng) for a in range(len(g))]
        )
        print(f"{path.stem}, best group with equal weights, epsilon 0, delta {args.delta:g}:")
        print(f"  every method scores at least {floors.mean():.3f} of the table in the mean")
        parts = [f"{a}: {floors[a]:.2f}" for a in np.argsort(-floors) if floors[a] > 0.05]
        print("  arms: " + ", ".join(parts))


if __name__ == "__main__":
    main()
