"""Share of a full table that a proof takes: boxes, lockstep that knows the truth, and ours.

    python benchmarks/items.py [--runs 200] [--errors 0] [TABLE.npz ...]

A table file holds `X` [items, arms, dims] in [0, 1] and `g`, the group of each arm. Without files two
tables are made here with scikit-learn (wine and breast cancer, out of fold: correct, 1 - Brier / 2).
*Boxes*: `adaptive` for arms that may depend in any way, which draws items with replacement. *Lockstep*
knows the truth: it advances only arms that some comparison of the cheapest certificate still needs,
under the same levels and with the same evidence. *Ours* is `adaptive` on the pool.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

import bestgroup as bg
from bestgroup.inference.evalues.paired import Claim, betting, is_refuted

DELTA = 0.05
# What is asked of the tables that the package was built with; others get the first line.
QUESTIONS: dict[str, list[tuple[Any, Any]]] = {
    "digits": [
        (bg.ParetoGroups(0.02), None),
        (bg.BestGroup([1, 1], 0.02), None),
        (bg.BestGroup([1, 1], 0.0), None),
    ],
    "codec": [
        (bg.ParetoGroups(0.01), None),
        (bg.ParetoGroups(0.01), (0.35, 0.55)),
        (bg.BestGroup([1, 1], 0.01), None),
        (bg.BestGroup([1, 1], 0.0), None),
    ],
}
DEFAULT = [(bg.ParetoGroups(0.03), None), (bg.BestGroup([1, 1], 0.03), None)]


def crossing(values: Any, claim: Claim) -> int:
    """Return after how many items a claim is proven; n + 1 for never."""
    n = len(values)
    rule, low, high = betting(n), 0, n + 1
    while high - low > 1:  # proven at some time before: monotone in the number of items
        middle = (low + high) // 2
        if is_refuted.compiled(rule, values[:middle], claim):
            high = middle
        else:
            low = middle
    return high


def oracle_best(X: Any, g: Any, goal: Any, reach: Any) -> float:
    """Return the share that proving the best group takes if it and its selection are known."""
    n, A, D = X.shape
    w, groups = np.array(goal.weights), range(g.max() + 1)
    arms = [np.flatnonzero(g == i) for i in groups]
    mean = X.mean(axis=0)
    best = int(np.argmax([mean[a].max(axis=0) @ w for a in arms]))
    front = [arms[best][mean[arms[best], d].argmax()] for d in range(D)]
    claims = [Claim(0.0, float(w @ reach), 1.0 / DELTA, False)]
    if goal.epsilon:  # out for good, or out against the group that looked best in the first items
        need = sum(1.0 / (h + 1) for h in groups) / (0.75 * DELTA)
        slack = goal.epsilon * w.sum()
        claims = [claims[0]._replace(need=4.0 / DELTA), Claim(slack, float(w @ reach), need, False)]
    lead = sum(w[d] * X[:, front[d], d] for d in range(D))
    depth = np.zeros(A)
    for k in groups:
        for chosen in itertools.product(arms[k], repeat=D) if k != best else ():
            rest = sum(w[d] * X[:, chosen[d], d] for d in range(D))
            t = min(crossing(lead - rest, claim) for claim in claims)
            for a in {*chosen, *front}:
                depth[a] = max(depth[a], min(t, n))
    return float(depth.sum() / (n * A))


def oracle_pareto(X: Any, g: Any, goal: Any, reach: Any) -> float:
    """Return the share of the cheapest certificate, built group by group with known means."""
    n, A, D = X.shape
    N, eps = int(g.max()) + 1, goal.epsilons(D)
    arms = [np.flatnonzero(g == i) for i in range(N)]
    best = np.array([X.mean(axis=0)[a].max(axis=0) for a in arms])
    lead = [[arms[i][X.mean(axis=0)[arms[i], d].argmax()] for d in range(D)] for i in range(N)]

    def depth_of(m: int, k: int, d: int, shift: float, need: float, strict: bool) -> int:
        return crossing(X[:, m, d] - X[:, k, d], Claim(shift, float(reach[d]), need, strict))

    def fall(i: int, j: int, depth: Any) -> Any:
        new = depth.copy()
        need = N * (A - len(arms[i])) / DELTA
        for d, k in itertools.product(range(D), arms[i]):
            t = depth_of(lead[j][d], k, d, 0.0, need, True)
            new[[lead[j][d], k]] = np.maximum(new[[lead[j][d], k]], t)
        return new

    def stand(i: int, j: int, d: int, depth: Any) -> Any:
        new = depth.copy()
        for k in arms[j]:
            t = depth_of(lead[i][d], k, d, eps[d], N * D * len(arms[i]) / DELTA, False)
            new[[lead[i][d], k]] = np.maximum(new[[lead[i][d], k]], t)
        return new

    beaten = [[j for j in range(N) if (best[j] > best[i]).all()] for i in range(N)]
    shares = []
    options = [i for i in range(N) if beaten[i]]
    forced = [i for i in options if any((best[j] > best[i] + eps).all() for j in beaten[i])]
    falls = {(i, j): fall(i, j, np.zeros(A)) for i in options for j in beaten[i]}
    free = [i for i in options if i not in forced]
    for size in range(len(free) + 1):
        for chosen in itertools.combinations(free, size):
            out = {*forced, *chosen}
            depth = np.zeros(A)
            for i in out:
                ways = [np.maximum(depth, falls[i, j]) for j in beaten[i]]
                depth = min(ways, key=lambda v: v.sum())
            for i, j in itertools.permutations(set(range(N)) - out, 2):
                depth = min((stand(i, j, d, depth) for d in range(D)), key=lambda v: v.sum())
            if depth.max() <= n:
                shares.append(depth.sum() / (n * A))
    return float(min(shares))


def boxes_share(X: Any, g: Any, goal: Any, runs: int) -> float:
    """Return the share of `adaptive` by boxes; each arm's values are drawn with replacement."""

    class Resampled:
        """Draws the values of one arm's column."""

        def sample(self, rng: Any, mean: Any, n: int) -> Any:
            a = int(np.abs(X.mean(axis=0) - mean).sum(axis=1).argmin())
            return X[rng.integers(len(X), size=n), a]

    means = [X.mean(axis=0)[g == i] for i in range(int(g.max()) + 1)]
    noise = bg.Bounded(0, 1, arms="arbitrary")
    instance = bg.Instance(means, law=Resampled(), noise=noise)
    cap = 6 * X.shape[0] * X.shape[1]
    sim = bg.simulate(instance, goal, "adaptive", DELTA, runs, seed=1, max_pulls=cap)
    return float(sim.pulls.mean() / (X.shape[0] * X.shape[1]))


def made_tables() -> dict[str, tuple[Any, Any]]:
    """Return tables of classifiers by family on two data sets of scikit-learn."""
    from sklearn.datasets import load_breast_cancer, load_wine
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    families = [
        [KNeighborsClassifier(k) for k in (1, 5, 15)],
        [DecisionTreeClassifier(max_depth=d, random_state=0) for d in (2, 4, None)],
        [GaussianNB(var_smoothing=v) for v in (1e-9, 1e-2)],
        [LogisticRegression(C=c, max_iter=2000) for c in (0.01, 1.0, 100.0)],
        [RandomForestClassifier(k, random_state=0) for k in (10, 100)],
    ]
    tables = {}
    for name, load in (("wine", load_wine), ("cancer", load_breast_cancer)):
        x, y = load(return_X_y=True)
        truth = np.eye(y.max() + 1)[y]
        columns, groups = [], []
        for i, models in enumerate(families):
            for model in models:
                pipe = make_pipeline(StandardScaler(), model)
                p = cross_val_predict(pipe, x, y, cv=5, method="predict_proba")
                brier = ((p - truth) ** 2).sum(axis=1)
                columns.append(np.stack([p.argmax(axis=1) == y, 1 - brier / 2], axis=1))
                groups.append(i)
        tables[name] = np.stack(columns, axis=1).astype(float), np.array(groups)
    return tables


def report(name: str, X: Any, g: Any, args: argparse.Namespace) -> None:
    n, A, D = X.shape
    order = np.argsort(g, kind="stable")
    X, g = X[:, order], np.asarray(g)[order].astype(int)
    for goal, difference in QUESTIONS.get(name, DEFAULT):
        noise = bg.Bounded(0, 1, difference=difference)
        reach = np.ones(D) if difference is None else np.array(difference)
        instance = bg.Instance.from_table(X, g, noise=noise)
        begun = time.perf_counter()
        sim = bg.simulate(instance, goal, "adaptive", DELTA, args.runs, seed=1)
        seconds = (time.perf_counter() - begun) / args.runs
        oracle = oracle_best if isinstance(goal, bg.BestGroup) else oracle_pareto
        rng = np.random.default_rng(2)
        known = [oracle(X[rng.permutation(n)], g, goal, reach) for _ in range(args.oracle)]
        boxes = math.nan if args.no_boxes else boxes_share(X, g, goal, 5)
        words = "" if difference is None else f", differences {difference}"
        print(f"{name} ({n} items, {A} arms, {g.max() + 1} groups), {goal}{words}")
        print(
            f"  share of the table: boxes {boxes:.2f}, lockstep with the truth {np.mean(known):.3f}, "
            f"ours {sim.share.mean():.3f} +- {sim.share.std() / math.sqrt(args.runs):.3f}, largest "
            f"{sim.share.max():.3f}; {sim.errors} wrong, {(~sim.finished).sum()} undecided; "
            f"{seconds:.3f} s a run",
            flush=True,
        )
        if args.stacked:
            tall = bg.Instance.from_table(np.tile(X, (10, 1, 1)), g, noise=noise)
            ten = bg.simulate(tall, goal, "adaptive", DELTA, max(5, args.runs // 20), seed=1)
            print(f"  stacked ten times: {ten.share.mean():.3f}", flush=True)
        if args.errors:
            many = bg.simulate(instance, goal, "adaptive", 0.1, args.errors, seed=3)
            high = many.error_interval(0.998)[1]
            print(
                f"  {many.errors} wrong of {args.errors:,} at delta .1: below {high:.4f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--oracle", type=int, default=4, help="orders for lockstep with the truth")
    parser.add_argument("--errors", type=int, default=0, help="orders to count wrong answers on")
    parser.add_argument("--no-boxes", action="store_true")
    parser.add_argument("--stacked", action="store_true")
    args = parser.parse_args()
    if not args.tables:
        for name, (X, g) in made_tables().items():
            report(name, X, g, args)
    for path in args.tables:
        data = np.load(path, allow_pickle=True)
        report(path.stem, data["X"], data["g"], args)


if __name__ == "__main__":
    main()
