"""No changed proof is accepted, unless what it still says is true.

Every mutant is judged by both verifiers, which share no code and must agree. One that is accepted must say
nothing that is false of the true means, by the definitions of the naive reference (tests/reference).
"""

import math
from collections import Counter

import pytest
from cases import write
from mutants import mutants
from sources import SOURCES, source
from stranger import stranger_says

from bestgroup.proof import pair_evidence
from bestgroup.proof.verify import verify_document
from reference.definitions import dot, strictly_dominated

TEN_THOUSAND = 10_000
QUICK = 3
SLOW = {  # to make
    "pairs after a warm-up, bounded",
    "pairs after a warm-up, gaussian",
    "pairs with an expected answer, bounded",
    "pairs with an expected answer, gaussian",
    "selections, certify, bounded",
    "selections, certify, gaussian",
    "selections, adaptive, bernoulli",
    "boxes, mean",
    "selections and boxes, top",
}


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    monkeypatch.setattr(pair_evidence, "_PAYS", 0)


def is_true(document, means):
    """Return whether the statuses in a document are right for the true means, as it defines them."""
    sign = [1 if way == "max" else -1 for _, way in document["problem"]["dims"]]
    arms = [
        [[s * x for s, x in zip(sign, means[g][a], strict=True)] for a in own]
        for g, own in document["problem"]["groups"]
    ]
    limits = [
        (d, sign[d] * {"<=": 1, ">=": -1}[sense], sign[d] * at, slack)
        for d, sense, at, slack in document["problem"].get("limits", [])
    ]
    answers = [
        is_true_of(
            document, worths(document, [[kept(arm, limits, t) for arm in g] for g in arms], arms)
        )
        for t in ((0.0, 1.0) if any(slack for *_, slack in limits) else (0.0,))
    ]
    return any(answers)


def kept(arm, limits, tolerance):
    return all(turn * (arm[d] - at) <= tolerance * slack for d, turn, at, slack in limits)


def worths(document, counts, arms):
    """Return what each group is worth in each dim; -inf if too few of its arms count."""
    given, found = document["problem"].get("worth", "best"), []
    name, number = (given, 0) if isinstance(given, str) else given
    for own, group in zip(counts, arms, strict=True):
        left = [arm for arm, keeps in zip(group, own, strict=True) if keeps]
        row = []
        for d in range(len(group[0])):
            column = sorted((arm[d] for arm in left), reverse=True)
            size = len(group)
            rank = {"best": 1, "worst": size, "kth": number, "mean": 1}.get(name)
            rank = rank or size - max(1, math.ceil(number * size - 1e-9)) + 1
            value = column[rank - 1] if len(column) >= rank else -math.inf
            row.append(sum(column) / size if name == "mean" else value)
        found.append(row)
    return found


def is_true_of(document, worth):
    answer, goal = document["answer"], document["goal"]
    gone = [i for i, row in enumerate(worth) if row[0] == -math.inf]
    if set(gone) & set(answer["in"]):
        return False
    if goal["kind"] == "pareto":
        near = [[r + e for r, e in zip(one, goal["epsilon"], strict=True)] for one in worth]
        return all(
            i in gone or any(strictly_dominated(worth[i], two) for two in worth)
            for i in answer["out"]
        ) and not any(strictly_dominated(near[i], two) for two in worth for i in answer["in"])
    if goal["kind"] == "map":
        return is_true_map(answer, goal, worth)
    value = [dot(one, goal["weights"]) for one in worth]
    slack, limit = goal["epsilon"] * sum(goal["weights"]), sorted(value)[-goal.get("m", 1)]
    return all(value[i] < limit or i in gone for i in answer["out"]) and all(
        value[i] + slack >= limit for i in answer["in"]
    )


def is_true_map(answer, goal, worth):
    """Return whether groups that are in are near the best at some weight, and those out at none."""
    steps = [k / 400 for k in range(401)]
    first, last = (goal["weights"][0], goal["weights"][-1])
    weights = [[a + (b - a) * t for a, b in zip(first, last, strict=True)] for t in steps]
    values = [[dot(one, w) for one in worth] for w in weights]
    near = [any(v[i] + goal["epsilon"] >= max(v) for v in values) for i in range(len(worth))]
    best = [any(v[i] >= max(v) for v in values) for i in range(len(worth))]
    counts = dict(answer["mapped"]["groups"])
    shares = [sum(v[i] + goal["epsilon"] >= max(v) for v in values) for i in range(len(worth))]
    enough = all(n <= (shares[i] / 401 + 0.01) * answer["mapped"]["of"] for i, n in counts.items())
    return enough and all(near[i] for i in answer["in"]) and not any(best[i] for i in answer["out"])


def judged(name, count, seed, folder):
    """Judge mutants of a proof by both verifiers; returns how many were refused and how many stand."""
    document, rows, means = source(name)
    found = Counter()
    for what, other, table, renewed in mutants(document, rows, count, seed):
        ours = verify_document(other, table)
        theirs = stranger_says(other, write(table, folder / "mutant.csv"))
        if "in words" not in (ours.why or ""):  # the other one judges no words
            assert (theirs is None) == ours.verified, (what, theirs, ours.lines())
        assert renewed or not ours.verified, (what, ours.lines())
        if ours.verified:
            assert is_true(other, means), (what, other["answer"])
        found["still true" if ours.verified else "refused"] += 1
    return found


@pytest.mark.parametrize("name", [name for name in SOURCES if name not in SLOW])
def test_some_mutants_of_every_proof(name, tmp_path):
    source_of, rows, means = source(name)
    assert verify_document(source_of, rows).verified
    assert stranger_says(source_of, write(rows, tmp_path / "rows.csv")) is None
    assert is_true(source_of, means)
    assert judged(name, QUICK, len(name), tmp_path)["refused"] > 0


@pytest.mark.verify
@pytest.mark.parametrize("name", SOURCES)
def test_ten_thousand_mutants(name, tmp_path):
    """Ten thousand changes in all, each also with all digests computed again."""
    count = -(-TEN_THOUSAND // len(SOURCES))
    found = judged(name, count, 1, tmp_path)
    print(f"{name}: {found['refused']} refused, {found['still true']} accepted and still true")
