"""Completes the walks of a jump run: every round that was not revealed is filled in by bridges."""

from __future__ import annotations

import numpy as np

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.registry import resolve
from bestgroup.drivers.jump.engine import Engine
from bestgroup.problem.laws import FullyDependent, Normal


def completed_tape(engine, length, rng):
    """Return a tape of `length` pulls that goes through all points of the engine's last run."""
    log, shape = engine.logged(), engine.shape
    assert len(log) < engine.log, "the log was too short"
    units, width = engine.drifts.shape
    N, K, D = shape.groups, shape.arms, shape.dims
    sums = np.zeros((length, units, width))
    log = log[np.lexsort((log[:, 1], log[:, 0]))]
    starts = np.searchsorted(log[:, 0], np.arange(units + 1))
    for u in range(units):
        points = log[starts[u] : starts[u + 1], 1:]
        assert (np.diff(points[:, 0]) > 0).all(), "a point was drawn twice"
        points = points[points[:, 0] <= length]
        factor = engine.factor if width > 1 else engine.factor[[u % D]]
        sums[:, u] = _walk(points, engine.drifts[u], factor, length, rng)
    padded = sums.reshape(length, N, K, D)
    return bg.Tape(cumulative=[padded[:, i, :k] for i, k in enumerate(shape.sizes)])


def _walk(points, drift, factor, length, rng):
    """Return the sums of a walk through the points, [length, W]; bridges between, steps after."""
    times = np.concatenate([[0], points[:, 0].astype(int)])
    values = np.concatenate([np.zeros((1, len(drift))), points[:, 1:]])
    noise = rng.standard_normal((length, factor.shape[1])) @ factor.T
    path = np.cumsum(noise, axis=0)
    out = np.empty((length, len(drift)))
    for k, (start, base) in enumerate(zip(times, values, strict=True)):
        stop = times[k + 1] if k + 1 < len(times) else length
        if stop == start:
            continue
        own = path[start:stop] - (path[start - 1] if start else 0.0)
        steps = np.arange(1, stop - start + 1)[:, None]
        if k + 1 < len(times):
            share = steps / (stop - start)
            own = own - share * own[-1] + share * (values[k + 1] - base)
        else:
            own = own + steps * drift
        out[start:stop] = base + own
        if k + 1 < len(times):
            out[stop - 1] = values[k + 1]
    return out


def engine_for(instance, goal, algorithm, delta, log=0):
    """Return the engine of a setting."""
    setting = Setting(instance.shape, goal, instance.noise, delta)
    return Engine(instance, setting, resolve(algorithm, setting), log)


def same_as_replay(instance, goal, algorithm, delta, seed, max_rounds=1500):
    """Assert that a replay of the completed run does the same; returns its rounds, None if long."""
    engine = engine_for(instance, goal, algorithm, delta, log=1_000_000)
    runs = engine.run(seed, 0, 1, max_rounds * instance.shape.total)
    if not runs.finished[0] or runs.rounds[0] > max_rounds:
        return None
    tape = completed_tape(engine, int(runs.counts.max()) + 8, np.random.default_rng(seed))
    trace = bg.replay(tape, goal, engine.algorithm, delta, noise=instance.noise, compiled=True)
    assert trace.answer == frozenset(np.flatnonzero(runs.answers[0]).tolist())
    ours = instance.shape.rows(runs.counts[0])
    for group, (mine, theirs) in enumerate(zip(ours, trace.pulls_by_arm, strict=True)):
        assert mine.tolist() == theirs.tolist(), f"pulls of group {group}"
    assert rounds_of(trace, engine.algorithm) == runs.rounds[0]
    return int(runs.rounds[0])


def rounds_of(trace, algorithm):
    """Return the round counter of the state at the end of a replay."""
    if algorithm.name != "eecb":
        return len(trace.rounds)
    last = trace.rounds[-1] if trace.rounds else None
    return len(trace.rounds) + int(last is None or last.focus >= 0)


def random_law(rng, dims, kind):
    """Return a Gaussian law of this kind."""
    if kind == "independent":
        return Normal(rng.uniform(0.3, 1.2, dims).tolist() if rng.random() < 0.5 else 1.0)
    if kind == "covariance":
        root = rng.standard_normal((dims, dims))
        return Normal(cov=(root @ root.T / dims + 0.05 * np.eye(dims)).tolist())
    return FullyDependent(rng.uniform(0.5, 1.2, dims).tolist())


def random_case(seed, name, law, groups=None):
    """Return a case with lowered constants: wrong decisions, ties in time, long freezes happen."""
    rng = np.random.default_rng([seed, len(name), len(law)])
    groups = int(rng.integers(1, 7)) if groups is None else groups
    dims = int(rng.integers(1, 4))
    spread = rng.choice([0.3, 1.0, 2.0])
    means = [spread * rng.random((int(k), dims)) for k in rng.integers(1, 5, size=groups)]
    if rng.random() < 0.2:
        means = [np.round(4 * rows) / 4 for rows in means]
    noise = bg.SubGaussian(rng.uniform(0.4, 1.2, dims).tolist() if rng.random() < 0.4 else 1.0)
    instance = bg.Instance(means, random_law(rng, dims, law), noise)
    epsilon = float(rng.choice([0.0, 0.02, 0.1, 0.3]))
    factor = float(rng.choice([0.1, 0.15, 0.2, 0.3, 0.4]))
    if groups > 10:  # many pairs: make the runs short
        epsilon, factor = max(epsilon, 0.1), min(factor, 0.2)
    options = {"radius": str(rng.choice(["paper", "mixture", "stitched"])), "radius_scale": factor}
    if name == "te-plus":
        del options["radius"]
    if name in ("eecb", "se", "tel"):
        weights = rng.choice([0.1, 0.5, 1.0, 2.0, 5.0], dims)
        goal = bg.BestGroup(weights.tolist(), 0.0 if name == "tel" else epsilon)
        if name == "eecb":
            options["early_exit"] = bool(rng.random() < 0.3)
        elif name == "tel":
            options["pareto_epsilon"] = max(epsilon, 0.02)
    else:
        several = tuple((epsilon * rng.uniform(0.5, 1.5, dims)).tolist())
        goal = bg.ParetoGroups(several if rng.random() < 0.3 else epsilon)
    return instance, goal, bg.algorithm(name, **options), float(rng.choice([0.01, 0.3, 0.9]))


def crowded_case(seed, law):
    """Return a case of TE+ with many groups, in which most rounds have events first, then few."""
    rng = np.random.default_rng([seed, len(law)])
    groups, dims = int(rng.integers(17, 24)), int(rng.integers(1, 4))
    means = [1.5 * rng.random((int(k), dims)) for k in rng.integers(1, 4, size=groups)]
    instance = bg.Instance(means, random_law(rng, dims, law), bg.SubGaussian(1.0))
    algorithm = bg.algorithm("te-plus", radius_scale=float(rng.choice([0.3, 0.5, 0.7])))
    return instance, bg.ParetoGroups(float(rng.choice([0.1, 0.3]))), algorithm, 0.1
