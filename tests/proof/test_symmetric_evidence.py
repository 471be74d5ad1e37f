"""Evidence on normal values of unknown scale: chains are above the exact suprema, closely; hard runs."""

import json
import math

import numpy as np
import pytest
from cases import proof_of, write
from sources import source
from stranger import stranger_says

import bestgroup as bg
from bestgroup.proof.format import digest_of
from bestgroup.proof.intervals import interval
from bestgroup.proof.symmetric_evidence import cell_ends
from bestgroup.proof.verify import verify_document
from bestgroup.proof.wealth_pairs import LOG_CASH, Bets, Values, hull_of

from verify_proof import Noise, Side, psi  # isort: skip
from proof_symmetric import chain  # isort: skip

LAWS = [(0.9, 1.0), (0.04, 0.25), (0.03, 4.0), (0.02, 1 / 64)]


def log_wealth(values, scale, m):
    """Return log K(m) in plain floating point."""
    s, v = (values - m).sum(), ((values - m) ** 2).sum()
    total = 0.01
    for weight, c in LAWS:
        q = (scale * c) ** -2
        total += weight * math.sqrt(q / (v + q)) * math.exp(psi(s / math.sqrt(v + q)))
    return math.log(total)


@pytest.mark.parametrize("end", [-3.0, 0.3, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_suprema_are_bounded_from_above_and_tightly(seed, end):
    rng = np.random.default_rng(seed)
    values = rng.normal(0.5, 0.7, int(rng.integers(15, 80)))
    scale = float(rng.choice([0.3, 1.0, 2.0]))
    arm = Values("gaussian", values.tolist(), Bets(interval(scale)))
    ends = cell_ends(arm.centre, math.sqrt(arm.powers[1].high) / len(values), end)
    ours = [*hull_of(arm, ends), (ends[-1], LOG_CASH.low)]
    side = Side(Noise({"kind": "gaussian"}, "max"), values.tolist(), 1)
    theirs = chain(side, end, [(w, (scale * c) ** -2) for w, c in LAWS])
    grid = end + np.linspace(0, 6, 4000)
    for t in (0.5, 5.0, 40.0):
        exact = max(-t * m - log_wealth(values, scale, m) for m in grid)
        found = [max(-t * m - value for m, value in corners) for corners in (ours, theirs)]
        assert found[0] == pytest.approx(found[1], abs=1e-9)
        # Right of two standard errors above the mean only the cash counts.
        beyond = -t * ends[-1] - math.log(0.01)
        assert exact <= found[0] <= max(exact + 0.1, beyond + 1e-9)


def run(seed, offset, epsilon):
    """Return the answer of a run whose leader is not clear at first."""
    rng = np.random.default_rng(seed)
    means, spread = rng.normal(size=(4, 3, 2)), np.exp(rng.normal(size=(4, 3, 2)) * 0.5)
    groups = {f"g{i}": [f"a{j}" for j in range(3)] for i in range(4)}
    problem = bg.Problem(groups, {"u": "max", "v": "min"}, noise=bg.Gaussian())

    def evaluate(group, arm):
        own = int(group[1:]), int(arm[1:])
        u, v = offset + rng.normal(means[own], spread[own])
        return [float(u), float(-v)]

    return bg.solve(problem, bg.BestGroup([1.0, 2.0], epsilon), evaluate, delta=0.1)


@pytest.mark.parametrize(
    ("seed", "offset", "epsilon"), [(1, 0.0, 0.0), (2, 1e6, 0.1), (5, -1e3, 0.2)]
)
def test_runs_with_several_arms_and_an_offset(seed, offset, epsilon, tmp_path):
    found = run(seed, offset, epsilon)
    found.save(tmp_path / "rows.csv")
    document = proof_of(found, tmp_path)
    assert document["version"] == 3
    assert document["method"]["process"]["name"] == "symmetric and sums"
    assert verify_document(document, tmp_path / "rows.csv").verified
    assert stranger_says(document, tmp_path / "rows.csv") is None
    assert max(len(json.dumps(row, separators=(",", ":"))) for row in document["claims"]) <= 64


def test_without_a_bound_there_is_no_evidence(tmp_path):
    document, rows, _ = source("selections, adaptive, gaussian")
    table = [dict(row) for row in rows]
    for change in ("drop a bound", "last", "version", "share"):
        other = json.loads(json.dumps(document))
        if change == "drop a bound":
            other["claims"].pop(0)
        elif change == "last":  # a bound stands before what rests on it
            other["claims"].append(other["claims"].pop(0))
        elif change == "version":
            other["version"] = 2
        else:
            other["method"]["boxes"]["high"] = other["method"]["boxes"]["low"]
        other["digest"] = digest_of(other)
        assert not verify_document(other, table).verified, change
        assert stranger_says(other, write(rows, tmp_path / "rows.csv")) is not None, change
